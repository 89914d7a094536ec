"""`gradus learn`: from a table of examples to a model file."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from gradus._bits import BoolMatrix
from gradus._cli.console import error_share, note, percent, print_json, print_table
from gradus._cli.data import Examples, names_list, parse_binarize, read_examples, refuse_conflicts
from gradus._cli.model_file import Model
from gradus._cli.output import check_file
from gradus._cli.progress import Watch
from gradus._cli.scores import CrossValidation, cross_validate, majority
from gradus._defaults import DEFAULT_ATTEMPTS, DEFAULT_MAX_ITER, DEFAULT_RESTARTS, DEFAULT_SHRINK
from gradus._encoding.conflicts import settle_by_majority
from gradus._encoding.features import Binarize, encode_features
from gradus._encoding.labels import encode_target, order_of_outputs
from gradus._search.learner import SearchResult, search
from gradus._wording import counted
from gradus.errors import SettingsError

__all__ = ["command"]

SHORT_FORMULA = 60  # characters
ADVICE = "so that no network fits; use --on-conflict majority to learn what most rows say."
ORDER_WORDS = ("auto", "entropy", "random", "none")


def command(
    data: Annotated[Path, typer.Argument(help="A .csv, .tsv, .parquet, .npz, .arff or .pla file.", show_default=False)],
    targets: Annotated[
        str | None, typer.Option(help="Columns to learn, with commas between; if the file does not say.")
    ] = None,
    inputs: Annotated[str | None, typer.Option(help="Columns to learn from; all others if not given.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where to write the model (.json).")] = None,
    loss: Annotated[str, typer.Option(help="How strictly the order is kept: lgh, llh, lw or l1.")] = "lgh",
    order: Annotated[
        str, typer.Option(help="auto, entropy, random, none (as in the file), or the targets with commas between.")
    ] = "auto",
    gates: Annotated[int, typer.Option(help="Gates for each target.")] = 21,
    history: Annotated[int, typer.Option(help="Length of the late-acceptance history.")] = 250,
    max_iter: Annotated[int, typer.Option(help="Steps before a fresh start.")] = DEFAULT_MAX_ITER,
    restarts: Annotated[int, typer.Option(help="Fresh starts.")] = DEFAULT_RESTARTS,
    shrink: Annotated[int, typer.Option(help="Steps spent on a smaller network.")] = DEFAULT_SHRINK,
    attempts: Annotated[int, typer.Option(help="Searches, the smallest network wins.")] = DEFAULT_ATTEMPTS,
    time_limit: Annotated[float | None, typer.Option(help="Seconds for the search.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same network.")] = 0,
    backend: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    binarize: Annotated[
        str, typer.Option(help="Cells other than 0 and 1: none (an error), quantile, or a threshold.")
    ] = "none",
    on_conflict: Annotated[
        str, typer.Option(help="Equal inputs with different targets: raise (an error) or majority.")
    ] = "raise",
    cv: Annotated[int | None, typer.Option(help="Cross-validate in this many parts.")] = None,
    keep_best: Annotated[bool, typer.Option("--keep-best", help="On Ctrl-C, keep the best network so far.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results for machines.")] = False,
) -> None:
    """Learn a network from a table of examples and say how good it is, target by target.

    Example: gradus problems write add3 add3.csv

    Then: gradus learn add3.csv --targets z0,z1,z2 -o model.json
    """
    settings = {
        "loss": loss,
        "gates_per_target": gates,
        "history": history,
        "max_iter": max_iter,
        "n_restarts": restarts,
        "shrink": shrink,
        "attempts": attempts,
        "time_limit": time_limit,
        "backend": backend,
    }
    if output is not None:
        check_file(output, [".json"])
    cut = parse_binarize(binarize)
    examples = read_examples(data, names_list(targets), names_list(inputs), cut)
    task = _prepare(examples, cut, _parse_order(order, examples.target_names), on_conflict)
    begin = time.monotonic()
    learned = _search(task, settings, seed, keep_best)
    seconds = time.monotonic() - begin
    validated = None
    if cv is not None:
        validated = cross_validate(examples, cv, {**settings, "order": task.order}, binarize=cut, seed=seed)
    outcome = _Outcome(task, learned, seconds, validated, loss)
    if output is not None:
        outcome.model(settings, seed, data).save(output)
    if as_json:
        print_json({"model": None if output is None else str(output), **outcome.document})
    else:
        outcome.show(output)


@dataclass(frozen=True, eq=False)
class _Task:
    """Examples as bits, with the way there."""

    examples: Examples
    features: Any
    targets: tuple[Any, ...]
    inputs: BoolMatrix
    outputs: BoolMatrix
    order: Any
    """Of the targets, as the user gave it."""
    outvoted: int
    """Rows whose targets are not those that are learned, since more rows with the same inputs have others."""


@dataclass(frozen=True, eq=False)
class _Outcome:
    """A learned network, and what there is to say about it."""

    task: _Task
    learned: SearchResult
    seconds: float
    validated: CrossValidation | None
    loss: str

    def model(self, settings: dict[str, Any], seed: int, data: Path) -> Model:
        about = {
            "learned_from": data.name,
            "order": [self._network.output_names[k] for k in self.learned.order],
            "settings": {**settings, "seed": seed, "order": self.task.order},
            "majority": [_plain(majority(column)) for column in self.task.examples.targets],
            "scores": self.document["targets"],
            "converged": self.learned.converged,
            "iterations": self.learned.iterations,
        }
        return Model(self._network, self.task.features, self.task.targets, about)

    @cached_property
    def _network(self) -> Any:
        names = [name for encoding in self.task.targets for name in encoding.output_names]
        return self.learned.network.with_names(self.task.features.input_names, names)

    @cached_property
    def document(self) -> dict[str, Any]:
        """Everything, for machines."""
        return {
            "converged": self.learned.converged,
            "stopped": self.learned.stopped,
            "order": [self._network.output_names[k] for k in self.learned.order],
            "iterations": self.learned.iterations,
            "restarts": self.learned.restarts,
            "gates": self.learned.live_gates,
            "seconds": round(self.seconds, 3),
            "rows": len(self.task.inputs),
            "outvoted": self.task.outvoted,
            "targets": [self._target(k) for k in range(len(self.task.targets))],
        }

    def _target(self, k: int) -> dict[str, Any]:
        network, column = self._network, self.task.examples.targets[k]
        model = Model(network, self.task.features, self.task.targets, {})
        predicted = model.decode(network.predict(self.task.inputs))[k]
        start = sum(encoding.n_outputs for encoding in self.task.targets[:k])
        outputs = range(start, start + self.task.targets[k].n_outputs)
        entry = {
            "name": self.task.targets[k].name,
            "training_errors": int((predicted != column).sum()),
            "majority_errors": int((column != majority(column)).sum()),
            "gates": int(network.cone(outputs)[network.n_inputs :].sum()),
            "feature_set": self._feature_set(outputs),
            "formula": _short_formula(network, start) if len(outputs) == 1 else None,
        }
        if self.validated is not None:
            entry["cv_accuracy"] = self.validated.accuracy[k]
            entry["cv_majority_accuracy"] = self.validated.baseline[k]
        return entry

    def _feature_set(self, outputs: range) -> list[str] | None:
        curriculum = self.learned.curriculum
        if curriculum is None:
            return None
        chosen = sorted({column for k in outputs for column in curriculum.feature_sets[k].features})
        return [self._network.input_names[column] for column in chosen]

    def show(self, output: Path | None) -> None:
        """Print everything for people."""
        headings = ["target", "training errors", "if always the majority", "gates", "minimum feature set", "formula"]
        if self.validated is not None:
            headings[3:3] = [f"accuracy, {self.validated.folds}-fold", "if always the majority"]
        rows = [self._row(entry) for entry in self.document["targets"]]
        print_table(headings, rows)
        print(
            f"{self._how_right()}; {counted(self.learned.iterations, 'step')}, "
            f"{counted(self.learned.live_gates, 'gate')} in use, {self.seconds:.1f} s; "
            f"taught in the order {', '.join(self.document['order'])}"
        )
        if output is not None:
            print(f"wrote {output}")
        if not self.learned.converged and not self.learned.stopped:
            note("gradus: the search ended with errors left; try more --gates, --max-iterations or --restarts.")
            if self.loss == "lgh" and len(self.task.targets) > 1:
                note("gradus: with --loss lgh the targets after the first wrong one are hardly learned; try --loss lw.")
        if self.validated is not None and self.validated.unfitted:
            verb = "was" if self.validated.unfitted == 1 else "were"
            note(f"gradus: {self.validated.unfitted} of {self.validated.folds} folds {verb} learned with errors left.")

    def _how_right(self) -> str:
        """Say which examples are right, as the table's training errors have it."""
        right = "every example is right" if self.learned.converged else "NOT every example is right"
        if not self.task.outvoted:
            return right
        outvoted = counted(self.task.outvoted, "that differs", "that differ")
        join = "but" if self.learned.converged else "even without"
        return f"{right} {join} the {outvoted} from the majority of rows with the same inputs"

    def _row(self, entry: dict[str, Any]) -> list[str]:
        rows = len(self.task.inputs)
        features = entry["feature_set"]
        cells = [
            entry["name"],
            error_share(entry["training_errors"], rows),
            error_share(entry["majority_errors"], rows),
            str(entry["gates"]),
            "–" if features is None else "{" + ", ".join(features) + "}",
            entry["formula"] or "long",
        ]
        if self.validated is not None:
            cells[3:3] = [percent(entry["cv_accuracy"]), percent(entry["cv_majority_accuracy"])]
        return cells


def _parse_order(text: str, targets: tuple[str, ...]) -> Any:
    if text in ORDER_WORDS and text not in targets:
        return None if text == "none" else text
    names = names_list(text) or []
    unknown = [name for name in names if name not in targets]
    if unknown:
        words = ", ".join(ORDER_WORDS)
        raise SettingsError(f"--order has {unknown[0]!r}, which is neither a target nor one of {words}.")
    return [targets.index(name) for name in names]


def _prepare(examples: Examples, binarize: Binarize, order: Any, on_conflict: str) -> _Task:
    if on_conflict not in ("raise", "majority"):
        raise SettingsError(f"--on-conflict is {on_conflict!r}; use raise or majority.")
    features = encode_features(examples.features, examples.feature_names, binarize=binarize)
    encoded = [encode_target(column, name) for column, name in zip(examples.targets, examples.target_names, strict=True)]
    inputs = features.encode(examples.features)
    codes = np.column_stack([column for _, _, column in encoded])
    if on_conflict == "raise":
        refuse_conflicts(inputs, codes, examples.target_names, ADVICE)
    settled, outvoted = settle_by_majority(inputs, codes)
    if outvoted:
        rows = counted(outvoted, "row has", "rows have")
        note(f"gradus: {rows} the inputs of others and different targets; the majority is learned.")
    targets = tuple(encoding for encoding, _, _ in encoded)
    outputs = np.hstack([encoding.encode(column) for encoding, column in zip(targets, settled.T, strict=True)])
    return _Task(examples, features, targets, inputs, outputs, order, outvoted)


def _search(task: _Task, settings: dict[str, Any], seed: int, keep_best: bool) -> SearchResult:
    order = order_of_outputs(task.order, task.targets)
    with Watch(task.outputs.shape[1], settings["attempts"]) as callback:
        learned = search(task.inputs, task.outputs, **settings, order=order, seed=seed, callback=callback)
    if callback.stopped:
        if not keep_best:
            note("gradus: nothing is written; with --keep-best, Ctrl-C keeps the best network so far.")
            raise KeyboardInterrupt
        note("gradus: stopped; this is the best network so far.")
    elif learned.stopped:
        note("gradus: the time limit ended the search; this is the best network so far.")
    return learned


def _short_formula(network: Any, output: int) -> str | None:
    from gradus._logic.formula import formulas
    from gradus.errors import FormatError

    alone = type(network)(
        network.n_inputs, network.sources, network.outputs[[output]], input_names=network.input_names
    ).prune()
    try:
        text = next(iter(formulas(alone).values())).text
    except FormatError:  # far too long to write at all
        return None
    return text if len(text) <= SHORT_FORMULA else None


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
