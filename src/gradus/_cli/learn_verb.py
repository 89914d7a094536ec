"""`gradus learn`: from a table of examples to a model file."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from gradus._checks import check_seed
from gradus._cli.console import error_share, note, percent, print_json, print_table
from gradus._cli.data import Dataset, names_list, read_examples
from gradus._cli.output import check_file
from gradus._cli.progress_line import Steps, Watch
from gradus._encoding.column_kinds import ColumnKind, column_kinds
from gradus._encoding.labels import encode_target, is_unknown, majority, side_by_side
from gradus._encoding.table_encoding import TableEncoding
from gradus._wording import counted
from gradus.errors import SettingsError

if TYPE_CHECKING:
    from gradus._estimator import BooleanNetworkClassifier

__all__ = ["command"]

SHORT_FORMULA = 60  # characters
ORDER_WORDS = ("self-paced", "auto", "entropy", "random", "none")
EXIT_INTERRUPTED = 130


def command(
    data: Annotated[Path, typer.Argument(help="A .csv, .tsv, .parquet, .npz, .arff or .pla file.", show_default=False)],
    targets: Annotated[
        str | None, typer.Option(help="Columns to learn, separated by commas; if the file does not say, the last one.")
    ] = None,
    inputs: Annotated[str | None, typer.Option(help="Columns to learn from; all others if not given.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where to write the model (.json).")] = None,
    order: Annotated[
        str, typer.Option(help="self-paced, auto, entropy, random, none (as in the file), or the targets in order.")
    ] = "self-paced",
    gates: Annotated[str, typer.Option(help="any function of two bits, or nand.")] = "any",
    noise: Annotated[str, typer.Option(help="Share of wrong labels to expect; auto decides by description length.")] = "auto",
    n_tries: Annotated[int | None, typer.Option(help="Tries per lesson, of which the smallest circuit is kept.")] = None,
    n_circuits: Annotated[
        int | None, typer.Option(help="Independent circuits; equally good ones vote. If not given, the work decides.")
    ] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds, after which the best so far is kept.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same model.")] = 0,
    n_jobs: Annotated[int, typer.Option(help="Threads; the model is the same for any number, -1 is all cores.")] = 1,
    missing: Annotated[
        str, typer.Option(help="A missing cell is a category of its own, the median, or a reason to drop the row.")
    ] = "category",
    drop: Annotated[str | None, typer.Option(help="Columns to leave out, separated by commas.")] = None,
    keep: Annotated[str | None, typer.Option(help="Columns to use even if they look like ids or free text.")] = None,
    types: Annotated[
        str | None, typer.Option(help="Kinds of columns, as in zip=category,age=number; also bit and date.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse every cell but 0 and 1.")] = False,
    cv: Annotated[int | None, typer.Option(help="Cross-validate in this many folds.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results for machines.")] = False,
) -> None:
    """Learn a circuit from a table of examples and say how good it is, target by target.

    Example: gradus problems write add3 add3.csv

    Then: gradus learn add3.csv --targets z0,z1,z2 -o model.json
    """
    if output is not None:
        check_file(output, [".json"])
    kinds_asked = _parse_types(types)
    texts = [name for name, kind in kinds_asked.items() if kind == "category"]
    examples = read_examples(data, names_list(targets), names_list(inputs), strict=strict, texts=texts, unknown_labels=True)
    left_out, kept = names_list(drop) or (), names_list(keep) or ()
    kinds = column_kinds(examples.features, examples.feature_names, drop=left_out, keep=kept, types=kinds_asked)
    settings = {
        "order": _parse_order(order, examples.target_names),
        "gates": gates,
        "noise": _parse_noise(noise),
        **({} if n_tries is None else {"n_tries": n_tries}),
        "n_circuits": n_circuits,
        "time_limit": time_limit,
        "missing": missing,
        "n_jobs": n_jobs,
        "random_state": check_seed(seed),
    }
    n_rows = len(examples.features)
    if cv is not None and not 2 <= cv <= n_rows:
        raise SettingsError(f"--cv is {cv}; it must be from 2 to the number of rows, {n_rows}.")
    # scikit-learn takes a second to import: only once the arguments are known to be good.
    from gradus._estimator import BooleanNetworkClassifier

    estimator = BooleanNetworkClassifier(**settings)
    begin = time.monotonic()
    with Watch(_output_names(examples)) as watch:
        _fit(estimator, examples, kinds, np.arange(n_rows), callback=watch, show_plan=_show_plan)
    seconds = time.monotonic() - begin
    interrupted = watch.stopped or estimator.stopped_ == "interrupted"
    validated = None if cv is None or interrupted else _cross_validate(estimator, examples, kinds, cv, check_seed(seed))
    report = _Report(examples, estimator, seconds, validated)
    if output is not None:
        estimator.model_.about.update({"learned_from": data.name, **({} if validated is None else validated.about())})
        estimator.save(output)
        report.save_page(output.with_suffix(".html"))
    if as_json:
        print_json({"model": None if output is None else str(output), **report.document})
    else:
        report.show(output)
    if interrupted:
        place = "shown above; with -o FILE it would have been kept" if output is None else f"kept in {output}"
        note(f"gradus: interrupted; the best model so far is {place}. Run the command again to learn from the start.")
        raise typer.Exit(EXIT_INTERRUPTED)
    if estimator.stopped_:
        note("gradus: the time limit ended learning; this is the best model so far.")


def _fit(
    estimator: BooleanNetworkClassifier, examples: Dataset, kinds: tuple[ColumnKind, ...], rows: Any, **watchers: Any
) -> None:
    from sklearn.exceptions import ConvergenceWarning

    columns = [column[rows] for column in examples.targets]
    labels = columns[0] if len(columns) == 1 else side_by_side(columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        names: dict[str, Any] = {"feature_names": examples.feature_names, "target_names": examples.target_names}
        estimator._fit(examples.features[rows], labels, **names, kinds=kinds, **watchers)


@dataclass(frozen=True)
class _CrossValidation:
    """Accuracy on held-out rows, by target; `baseline` is that of the majority of the rows trained on."""

    folds: int
    accuracy: tuple[float, ...]
    baseline: tuple[float, ...]

    def about(self) -> dict[str, Any]:
        return {"cross_validation": {"folds": self.folds, "accuracy": self.accuracy, "majority": self.baseline}}


def _cross_validate(
    estimator: Any, examples: Dataset, kinds: tuple[ColumnKind, ...], folds: int, seed: int
) -> _CrossValidation:
    """Fit the same estimator without each part of the rows in turn, and score it on that part."""
    from sklearn.base import clone

    rows = np.random.default_rng(seed).permutation(len(examples.features))
    right = np.zeros((2, len(examples.targets)))
    with Steps("cross-validation, folds", folds) as step:
        for part in np.array_split(rows, folds):
            train = np.setdiff1d(rows, part)
            copy = clone(estimator)
            _fit(copy, examples, kinds, train)
            predicted = np.asarray(copy.predict(examples.features[part]), dtype=object).reshape(len(part), -1)
            for k, column in enumerate(examples.targets):
                right[0, k] += sum(a == b for a, b in zip(predicted[:, k], column[part].tolist(), strict=True))
                right[1, k] += sum(label == majority(column[train]) for label in column[part].tolist())
            step()
    known = np.array([int((~is_unknown(column)).sum()) for column in examples.targets])
    return _CrossValidation(folds, tuple((right[0] / known).tolist()), tuple((right[1] / known).tolist()))


@dataclass(frozen=True, eq=False)
class _Report:
    """A fitted estimator, and what there is to say about it."""

    examples: Dataset
    estimator: BooleanNetworkClassifier
    seconds: float
    validated: _CrossValidation | None

    @cached_property
    def document(self) -> dict[str, Any]:
        """Everything, for machines."""
        model = self.estimator.model_
        return {
            "converged": self.estimator.converged_,
            "stopped": self.estimator.stopped_,
            "order": model.about["order"],
            "gates": model.network.n_gates,
            "circuits": len(model.networks),
            "seconds": round(self.seconds, 3),
            "rows": len(self.examples.features),
            "targets": [self._target(k) for k in range(len(model.targets))],
            "rules": model.rules(),
        }

    def _target(self, k: int) -> dict[str, Any]:
        model, column = self.estimator.model_, self.examples.targets[k]
        known = column[~is_unknown(column)]
        start = sum(target.n_outputs for target in model.targets[:k])
        cone = model.network.cone(range(start, start + model.targets[k].n_outputs))
        entry = {
            "name": model.targets[k].name,
            "examples": len(known),
            "training_errors": self.estimator.errors_[k],
            "majority_errors": int((known != majority(known)).sum()),
            "constant": self.estimator.constant_[k],
            "gates": int(cone[model.network.n_inputs :].sum()),
            "inputs": [name for name, used in zip(model.network.input_names, cone, strict=False) if used],
        }
        if self.validated is not None:
            entry["cv_accuracy"] = self.validated.accuracy[k]
            entry["cv_majority_accuracy"] = self.validated.baseline[k]
        return entry

    def save_page(self, path: Path) -> None:
        """Write the page that shows the model, with the rows that it was learned from."""
        entries = self.document["targets"]
        scores = {"rows learned from": [1 - entry["training_errors"] / entry["examples"] for entry in entries]}
        if self.validated is not None:
            scores = {f"rows not seen, {self.validated.folds}-fold": list(self.validated.accuracy), **scores}
        scores["always the majority"] = [1 - entry["majority_errors"] / entry["examples"] for entry in entries]
        labels = np.array([column.tolist() for column in self.examples.targets], dtype=object).T
        table = dict(zip(self.examples.feature_names, self.examples.features.T, strict=True))
        self.estimator.model_.save_page(path, table=table, labels=labels, scores=scores)

    def show(self, output: Path | None) -> None:
        """Print everything for people."""
        headings = ["target", "training errors", "if always the majority", "gates", "inputs"]
        if self.validated is not None:
            headings[3:3] = [f"accuracy, {self.validated.folds}-fold", "if always the majority"]
        print_table(headings, [self._row(entry) for entry in self.document["targets"]])
        for statement, formula in self.document["rules"].items():
            if len(formula) <= SHORT_FORMULA:
                print(f"{statement}: {formula}")
        wrong = sum(entry["training_errors"] for entry in self.document["targets"])
        right = "every example is right" if not wrong else f"{counted(wrong, 'training error')} left"
        gates = counted(self.document["gates"], "gate")
        print(f"{right}; {gates}, {self.seconds:.1f} s; taught in the order {', '.join(self.document['order'])}")
        if output is not None:
            print(f"wrote {output}, and {output.with_suffix('.html')} to look at")

    def _row(self, entry: dict[str, Any]) -> list[str]:
        cells = [
            entry["name"],
            error_share(entry["training_errors"], entry["examples"]),
            error_share(entry["majority_errors"], entry["examples"]),
            "0 (constant)" if entry["constant"] else str(entry["gates"]),
            ", ".join(entry["inputs"]) or "–",
        ]
        if self.validated is not None:
            cells[3:3] = [percent(entry["cv_accuracy"]), percent(entry["cv_majority_accuracy"])]
        return cells


def _show_plan(features: TableEncoding) -> None:
    """Say what becomes of each column, unless all are 0/1; columns of one fate share a line."""
    if all(column.kind == "bit" and not column.missing for column in features.columns):
        return
    fates: dict[str, list[str]] = {}
    for column, line in zip(features.columns, features.plan(), strict=True):
        fates.setdefault(line.removeprefix(f"{column.name}: "), []).append(column.name)
    for fate, names in fates.items():
        note(f"{', '.join(names)}: {fate}")


def _output_names(examples: Dataset) -> list[str]:
    pairs = zip(examples.targets, examples.target_names, strict=True)
    return [name for column, target in pairs for name in encode_target(column, target)[0].output_names]


def _parse_noise(text: str) -> Any:
    try:
        return "auto" if text == "auto" else float(text)
    except ValueError:
        raise SettingsError(f"--noise is {text!r}; use auto or a number.") from None


def _parse_types(text: str | None) -> dict[str, str]:
    pairs = [pair.rpartition("=") for pair in names_list(text) or ()]
    wrong = next((name + sign + kind for name, sign, kind in pairs if not (name and kind)), None)
    if wrong is not None:
        raise SettingsError(f"--types has {wrong!r}; write each column with its kind, as in zip=category,age=number.")
    return {name.strip(): kind.strip() for name, _, kind in pairs}


def _parse_order(text: str, targets: tuple[str, ...]) -> Any:
    if text in ORDER_WORDS and text not in targets:
        return None if text == "none" else text
    names = names_list(text) or []
    unknown = [name for name in names if name not in targets]
    if unknown:
        words = ", ".join(ORDER_WORDS)
        raise SettingsError(f"--order has {unknown[0]!r}, which is neither a target nor one of {words}.")
    return [targets.index(name) for name in names]
