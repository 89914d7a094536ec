"""`gradus learn`: from a table of examples to a model file."""

from __future__ import annotations

import csv
import warnings
from collections import Counter
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import typer

from gradus._cli.console import EndedByUserError, check_file, note, print_json
from gradus._cli.data import FORMATS_HELP, STANDARD, input_file, number_or_word, read_examples
from gradus._cli.learn_report import LearnReport
from gradus._cli.progress_line import Watch
from gradus._core.cells import is_unknown
from gradus._core.checkpoint import Checkpoint
from gradus._core.checks import NOISE_WORDS, check_n_jobs, check_seed, check_time_limit
from gradus._core.kernels.clock import work_clock
from gradus._core.plain import digest_of
from gradus._core.run import Run
from gradus._core.wording import counted
from gradus._tables.column_kinds import column_kinds
from gradus._tables.cuts import Missing
from gradus._tables.dataset import FEWEST_ROWS, usual_folds
from gradus._tables.goals import Goal
from gradus._tables.labels import encode_target, output_names, plain_label
from gradus.errors import DataError, SettingsError

if TYPE_CHECKING:
    from gradus._tables.encoding import TableEncoding
    from gradus._tables.held_out import HeldOutTask, Learned

__all__ = ["command"]

SECONDS_UNASKED = 60.0  # of work after which a checkpoint is written although nobody asked for one
MOST_PLANNED = 60
"""Lines of a plan; of more columns only their kinds are counted, and those that matter are named in the end."""
ORDER_WORDS = ("self-paced", "auto", "entropy", "random", "none")


def command(
    data: Annotated[Path, typer.Argument(help=FORMATS_HELP, show_default=False)],
    targets: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMNS",
            help="Columns to learn, with commas between or one by one; if the file does not say, the last one.",
        ),
    ] = None,
    inputs: Annotated[
        list[str] | None, typer.Option(metavar="COLUMNS", help="Columns to learn from; all others if not given.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write the model (.json), or - for standard output.")
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="Where what is done is written now and then; the same command goes on from there. If not given, beside "
            "the model, once the work has taken a minute. Removed at the end.",
            show_default=False,
        ),
    ] = None,
    order: Annotated[
        str, typer.Option(help="self-paced, auto, entropy, random, none (as in the file), or the targets in order.")
    ] = "self-paced",
    gates: Annotated[Literal["any", "nand"], typer.Option(help="Gates: any function of two bits, or NAND only.")] = "any",
    noise: Annotated[
        str, typer.Option(metavar="|".join((*NOISE_WORDS, "NUMBER")), help="Share of wrong labels to expect.")
    ] = "auto",
    n_tries: Annotated[int | None, typer.Option(help="Tries per lesson, of which the smallest circuit is kept.")] = None,
    n_circuits: Annotated[int | None, typer.Option(help="Circuits that vote; if not given, the table decides.")] = None,
    max_gates: Annotated[
        int | None,
        typer.Option(
            help="The most gates of the circuit that is shown; if not given, rows held out decide. The vote predicts."
        ),
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds in all, half of them to score; the best so far is kept.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same model.")] = 0,
    n_jobs: Annotated[int, typer.Option(help="Threads; the model is the same for any number, -1 is all cores.")] = -1,
    goal: Annotated[
        Goal, typer.Option(help="What predictions make large; the cut of the vote for it is chosen on rows held out.")
    ] = "accuracy",
    class_weight: Annotated[
        str | None,
        typer.Option(
            metavar="balanced|LABEL=NUMBER,…", help="How much each class counts: all classes alike in all, or as listed."
        ),
    ] = None,
    missing: Annotated[
        Missing, typer.Option(help="A missing cell is a category of its own, the median, or drops its row.")
    ] = "category",
    types: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMNS",
            help="Kinds of columns, as in zip=category,age=number: number, category, bit or date; decimal-comma, "
            "decimal-point, day-first or month-first say how it is written, exact tells New York from new york, "
            "drop leaves a column out, and keep uses it even if it looks like an id or free text.",
        ),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse every cell but 0 and 1.")] = False,
    header: Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="The first row of a text table holds names, or not; if not given, guessed."),
    ] = None,
    cut: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TARGETS",
            help="Cut targets of numbers into classes, as in price=median: median, terciles or values (10/20).",
        ),
    ] = None,
    number_repeats: Annotated[
        bool, typer.Option("--number-repeats", help="Number columns that share a name instead of refusing them.")
    ] = False,
    cv: Annotated[
        int | None,
        typer.Option(
            help="Models that score this one: 0 none, 1 on a quarter of the rows, k on every row in k folds. "
            "If not given, 5 up to 500 rows, else 1.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Learn a circuit from a table, and say first how good it is on rows that it has not seen.

    Example: gradus problems write add3 add3.csv

    Then: gradus learn add3.csv --targets z0,z1,z2 -o model.json
    """
    begin = work_clock()
    if output is not None and output != STANDARD:
        check_file(output, [".json"])
    if as_json and output == STANDARD:
        raise SettingsError("--json and the model cannot both go to standard output; write the model to a file.")
    kinds = _parse_types(types)
    texts = [name for name, kind in kinds.items() if kind in ("category", "exact", "decimal-comma")]
    with input_file(data) as file:
        examples = read_examples(
            file,
            targets,
            inputs,
            header=header,
            number_repeats=number_repeats,
            strict=strict,
            categories=texts,
            cut=_parse_types(cut, "--cut", "price=median,size=10/20"),
        )
    for name, labels in examples.targets.items():
        if kinds.pop(name, "category") not in ("category", "exact"):
            raise SettingsError(
                f"--types names {name!r}, which is the target and holds classes; --cut makes classes of numbers."
            )
        if len(np.unique(labels[~is_unknown(labels)].astype(str))) == 1 and len(examples.targets) == 1:
            raise DataError(f"target {name!r} is the same in every row, so that there is nothing to learn; name another one.")
    # scikit-learn and the kernels take a second to import: only once the arguments are known to be good.
    from gradus._lessons.learn import N_TRIES
    from gradus._tables.fit import FitSettings
    from gradus._tables.held_out import HeldOutTask, learn_and_score

    settings = FitSettings(
        order=_parse_order(order, examples.targets),
        gates=gates,
        noise=number_or_word("--noise", noise, {word: word for word in NOISE_WORDS}),
        missing=missing,
        seed=check_seed(seed),
        kinds=column_kinds(examples.columns, types=kinds),
        n_circuits=n_circuits,
        n_tries=N_TRIES if n_tries is None else n_tries,
        max_gates=max_gates,
        goal=goal,
        class_weight=_parse_weights(class_weight, examples.targets),
    )
    folds = _folds(cv, examples.n_rows)
    watch, task = Watch(output_names(examples.targets)), HeldOutTask(examples.columns, examples.targets, settings, folds)
    with watch, _checkpoint(checkpoint, output, task) as kept, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        learned = learn_and_score(task, _run(begin, time_limit, n_jobs, watch, kept), _show_plan)
        if kept is not None and not watch.stopped and learned.model.about["stopped"] != "interrupted":
            kept.remove()
    if data != STANDARD:
        learned.model.about["learned_from"] = data.name
    if examples.cuts:
        learned.model.about["cuts"] = examples.cuts
    report = LearnReport(examples, learned)
    if output is not None and output != STANDARD:
        with watch:  # Ctrl-C waits until both files are there
            learned.model.save(output)
            report.save_page(output.with_suffix(".html"))
    if output == STANDARD:
        print(learned.model.to_json())
    elif as_json:
        print_json({"model": None if output is None else str(output), **report.document})
    else:
        report.show(output)
    again = "go on" if kept is not None and kept.is_there else "learn from the start"
    _say_how_it_ended(learned, output, again, watch.stopped, folds > 0)


def _checkpoint(path: Path | None, output: Path | None, task: HeldOutTask) -> AbstractContextManager[Checkpoint | None]:
    """Return the checkpoint that was asked for, or one beside the model."""
    if path is None and output in (None, STANDARD):
        return nullcontext()

    def identity() -> tuple[str, str]:
        return digest_of(dict(task.columns), dict(task.targets)), digest_of(task.settings, task.folds)

    if path is None:
        return Checkpoint(f"{output}.checkpoint", identity, SECONDS_UNASKED)
    return Checkpoint(path, identity, 0)


def _run(begin: float, time_limit: float | None, n_jobs: int, watch: Watch, checkpoint: Checkpoint | None) -> Run:
    """Return a run of the seconds that are left; writing the model and its page takes half as long as reading did."""
    limit = check_time_limit(time_limit)
    left = None if limit is None else max(limit - 1.5 * (work_clock() - begin), 0.0)
    return Run(left, watch, n_jobs=check_n_jobs(n_jobs), checkpoint=checkpoint)


def _say_how_it_ended(learned: Learned, output: Path | None, again: str, stopped: bool, scored: bool) -> None:
    """Say what ended the work early, and where the model is."""
    early = learned.model.about["stopped"]
    if stopped or early == "interrupted":
        place = "shown above; with -o FILE it would have been kept" if output is None else f"kept in {output}"
        unscored = "" if learned.score or not scored else ", but not scored,"
        what = "the best model so far" if early else f"the model is complete{unscored} and"
        raise EndedByUserError(f"interrupted; {what} is {place}. Run the command again to {again}.")
    if early:
        note("gradus: the time limit ended learning; this is the best model so far.")
    if scored and learned.score is None:
        note("gradus: there was no time to score the model on rows held out.")


def _folds(wanted: int | None, n_rows: int) -> int:
    """Return how many models are learned for the score."""
    if wanted is None and n_rows < FEWEST_ROWS:
        note(f"gradus: {counted(n_rows, 'row')}: too few for a score on rows not seen, which takes {FEWEST_ROWS}.")
    if wanted is not None and (not 0 <= wanted <= n_rows or (wanted and n_rows < 4)):
        raise SettingsError(f"--cv is {wanted}; it must be from 0 to the number of rows, {n_rows}.")
    return usual_folds(n_rows) if wanted is None else wanted


def _show_plan(features: TableEncoding) -> None:
    """Say what becomes of each column, unless all are 0/1; columns of one fate share a line."""
    if features.is_plain:
        return
    fates: dict[str, list[str]] = {}
    for column, line in zip(features.columns, features.plan(), strict=True):
        fates.setdefault(line.removeprefix(f"{column.name}: "), []).append(column.name)
    if len(fates) > MOST_PLANNED:
        kinds = Counter(
            line.removeprefix(f"{column.name}: ").split(",")[0].split(";")[0]
            for column, line in zip(features.columns, features.plan(), strict=True)
        )
        note(f"{len(features.columns):,} columns: {', '.join(f'{count:,} {kind}' for kind, count in kinds.most_common())}")
        fates = {}
    for fate, names in fates.items():
        note(f"{', '.join(names)}: {fate}")
    if any(column.kind in ("above", "after") for column in features.columns):
        note("Where several circuits vote, each of them may cut elsewhere.")


def _parse_types(texts: list[str] | None, option: str = "--types", example: str = "zip=category,age=number") -> dict[str, str]:
    """Split pairs of a column and what is said of it."""
    kinds = {}
    for pair in chain.from_iterable(csv.reader(texts or (), skipinitialspace=True)):
        name, _, kind = pair.rpartition("=")
        if not (name and kind):
            raise SettingsError(f"{option} has {pair!r}; write each column with its kind, as in {example}.")
        kinds[name.strip()] = kind.strip()
    return kinds


def _parse_weights(text: str | None, targets: dict[str, Any]) -> Any:
    """Return the weights of classes: a word, or numbers by label, for every target that has all of these labels."""
    if text is None or text == "balanced":
        return text
    weights: dict[str, float] = {}
    for pair in next(csv.reader([text], skipinitialspace=True), []):
        label, _, number = pair.rpartition("=")
        try:
            weights[label.strip()] = float(number)
        except ValueError:
            label = ""
        if not label:
            raise SettingsError(
                f"--class-weight has {pair!r}; write balanced, or each label with its weight, as in yes=5,no=1."
            )
    found = {}
    for name, labels in targets.items():
        classes = {str(plain_label(label)): plain_label(label) for label in encode_target(labels, name)[1]}
        if classes.keys() >= weights.keys():
            found[name] = {classes[label]: weight for label, weight in weights.items()}
    if not found:
        raise SettingsError(
            f"--class-weight names {next(iter(weights))!r}; no target has all of the labels {', '.join(weights)}."
        )
    return found if len(targets) > 1 else next(iter(found.values()))


def _parse_order(text: str, targets: dict[str, Any]) -> Any:
    if text in ORDER_WORDS and text not in targets:
        return None if text == "none" else text
    names = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    unknown = [name for name in names if name not in targets]
    if unknown or not names:
        words = ", ".join(ORDER_WORDS)
        raise SettingsError(f"--order has {(unknown or [text])[0]!r}, which is neither a target nor one of {words}.")
    return [list(targets).index(name) for name in names]
