"""`gradus learn`: from a table of examples to a model file."""

from __future__ import annotations

import csv
import warnings
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gradus._cli.console import EndedByUserError, note, print_json
from gradus._cli.data import FORMATS_HELP, STANDARD, input_file, number_or_word, read_examples
from gradus._cli.learn_report import LearnReport
from gradus._cli.output import check_file
from gradus._cli.progress_line import Watch
from gradus._core.checks import NOISE_WORDS, check_n_jobs, check_seed, check_time_limit
from gradus._core.kernels.clock import work_clock
from gradus._core.run import Run
from gradus._core.wording import counted
from gradus._tables.column_kinds import column_kinds
from gradus._tables.labels import output_names, refuse_quantity
from gradus.errors import SettingsError

if TYPE_CHECKING:
    from gradus._tables.dataset import Dataset
    from gradus._tables.encoding import TableEncoding
    from gradus._tables.fit import FitSettings
    from gradus._tables.held_out import HeldOutScore
    from gradus._tables.model import Model

__all__ = ["command"]

ORDER_WORDS = ("self-paced", "auto", "entropy", "random", "none")
SMALL_TABLE = 500
"""Rows, up to which every row is held out once; of larger tables a quarter is."""
FOLDS = 5
MIN_ROWS = 10
FIT_TIME = 0.5
"""Share of a time limit in which the model is learned, if it is also scored."""


class Gates(StrEnum):
    """Choices of ``--gates``."""

    any = "any"
    nand = "nand"


class MissingCells(StrEnum):
    """Choices of ``--missing``."""

    category = "category"
    median = "median"
    drop = "drop"


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
    order: Annotated[
        str, typer.Option(help="self-paced, auto, entropy, random, none (as in the file), or the targets in order.")
    ] = "self-paced",
    gates: Annotated[Gates, typer.Option(help="Gates: any function of two bits, or NAND only.")] = Gates.any,
    noise: Annotated[
        str, typer.Option(metavar="|".join((*NOISE_WORDS, "NUMBER")), help="Share of wrong labels to expect.")
    ] = "auto",
    n_tries: Annotated[int | None, typer.Option(help="Tries per lesson, of which the smallest circuit is kept.")] = None,
    n_circuits: Annotated[int | None, typer.Option(help="Circuits that vote; if not given, the table decides.")] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds in all, half of them to score; the best so far is kept.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same model.")] = 0,
    n_jobs: Annotated[int, typer.Option(help="Threads; the model is the same for any number, -1 is all cores.")] = 1,
    missing: Annotated[
        MissingCells, typer.Option(help="A missing cell is a category of its own, the median, or drops its row.")
    ] = MissingCells.category,
    types: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMNS",
            help="Kinds of columns, as in zip=category,age=number: number, category, bit or date; "
            "drop leaves a column out, and keep uses it even if it looks like an id or free text.",
        ),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse every cell but 0 and 1.")] = False,
    header: Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="The first row of a text table holds names, or not; if not given, guessed."),
    ] = None,
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
    with input_file(data) as file:
        categories = [name for name, kind in kinds.items() if kind == "category"]
        examples = read_examples(file, targets, inputs, header=header, strict=strict, categories=categories)
    options = {
        "order": _parse_order(order, examples.targets),
        "gates": gates.value,
        "noise": number_or_word("--noise", noise, {word: word for word in NOISE_WORDS}),
        **({} if n_tries is None else {"n_tries": n_tries}),
        "n_circuits": n_circuits,
        "missing": missing.value,
        "seed": check_seed(seed),
    }
    work = _Work(examples, kinds, options, _folds(cv, examples.n_rows))
    work.learn(_run(begin, time_limit, n_jobs, work.watch))
    if data != STANDARD:
        work.model.about["learned_from"] = data.name
    report = LearnReport(examples, work.model, work.seconds, work.score)
    if output is not None and output != STANDARD:
        with work.watch:  # Ctrl-C waits until both files are there
            work.model.save(output)
            report.save_page(output.with_suffix(".html"))
    if output == STANDARD:
        print(work.model.to_json())
    elif as_json:
        print_json({"model": None if output is None else str(output), **report.document})
    else:
        report.show(output)
    work.say_how_it_ended(output)


def _run(begin: float, time_limit: float | None, n_jobs: int, watch: Watch) -> Run:
    """Return a run of the seconds that are left; writing the model and its page takes half as long as reading did."""
    limit = check_time_limit(time_limit)
    left = None if limit is None else max(limit - 1.5 * (work_clock() - begin), 0.0)
    return Run(left, watch, n_jobs=check_n_jobs(n_jobs))


@dataclass(eq=False)
class _Work:
    """Learns a model from all rows, then scores others like it on rows held out, while a line shows how far this is."""

    examples: Dataset
    kinds: dict[str, str]
    options: dict[str, Any]
    folds: int
    watch: Watch = field(init=False)
    model: Model = field(init=False)
    seconds: float = 0.0
    score: HeldOutScore | None = None

    def __post_init__(self) -> None:
        for name, labels in self.examples.targets.items():
            refuse_quantity(labels, name)
        self.watch = Watch(output_names(self.examples.targets))

    def learn(self, run: Run) -> None:
        """Learn and score."""
        types = {name: kind for name, kind in self.kinds.items() if name not in self.examples.targets}
        kinds = column_kinds(self.examples.columns, types=types)
        # scikit-learn takes a second to import: only once the arguments are known to be good.
        from gradus._tables.fit import FitSettings, fit_table

        settings = FitSettings(**self.options, kinds=kinds)
        left = run.seconds_left()
        self.folds = self.folds if left is None else min(self.folds, 1)
        run.expect(1 + self.folds)
        fitting = run.part(seconds=None if left is None or not self.folds else FIT_TIME * left, weight=1)
        with self.watch, warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
            begin = work_clock()
            self.model = fit_table(self.examples.columns, self.examples.targets, settings, fitting, _show_plan)
            self.seconds = work_clock() - begin
            if self.folds and not self.interrupted:
                self.score = self._scored(settings, run)
        if self.score is not None:
            self.model.about["held_out"] = self.score.to_json()

    def _scored(self, settings: FitSettings, run: Run) -> HeldOutScore | None:
        from gradus._tables.held_out import HeldOutTask, score_held_out

        task = HeldOutTask(self.examples.columns, self.examples.targets, settings, self.folds)
        return score_held_out(task, run.part(weight=self.folds))

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the work."""
        return self.watch.stopped or self.model.about["stopped"] == "interrupted"

    def say_how_it_ended(self, output: Path | None) -> None:
        """Say what ended the work early, and where the model is."""
        stopped = self.model.about["stopped"]
        if self.interrupted:
            place = "shown above; with -o FILE it would have been kept" if output is None else f"kept in {output}"
            scored = "" if self.score or not self.folds else ", but not scored,"
            what = "the best model so far" if stopped else f"the model is complete{scored} and"
            raise EndedByUserError(f"interrupted; {what} is {place}. Run the command again to learn from the start.")
        if stopped:
            note("gradus: the time limit ended learning; this is the best model so far.")
        if self.folds and self.score is None:
            note("gradus: there was no time to score the model on rows held out.")


def _folds(wanted: int | None, n_rows: int) -> int:
    """Return how many models are learned for the score."""
    if wanted is None and n_rows < MIN_ROWS:
        note(f"gradus: {counted(n_rows, 'row')}: too few for a score on rows not seen, which takes {MIN_ROWS}.")
    if wanted is None:
        return 0 if n_rows < MIN_ROWS else FOLDS if n_rows <= SMALL_TABLE else 1
    if not 0 <= wanted <= n_rows or (wanted and n_rows < 4):
        raise SettingsError(f"--cv is {wanted}; it must be from 0 to the number of rows, {n_rows}.")
    return wanted


def _show_plan(features: TableEncoding) -> None:
    """Say what becomes of each column, unless all are 0/1; columns of one fate share a line."""
    if all(column.kind == "bit" and not column.missing for column in features.columns):
        return
    fates: dict[str, list[str]] = {}
    for column, line in zip(features.columns, features.plan(), strict=True):
        fates.setdefault(line.removeprefix(f"{column.name}: "), []).append(column.name)
    for fate, names in fates.items():
        note(f"{', '.join(names)}: {fate}")
    if any(column.kind in ("above", "after") for column in features.columns):
        note("Where several circuits vote, each of them may cut elsewhere.")


def _parse_types(texts: list[str] | None) -> dict[str, str]:
    pairs = [pair.rpartition("=") for row in csv.reader(texts or (), skipinitialspace=True) for pair in row]
    wrong = next((name + sign + kind for name, sign, kind in pairs if not (name and kind)), None)
    if wrong is not None:
        raise SettingsError(f"--types has {wrong!r}; write each column with its kind, as in zip=category,age=number.")
    return {name.strip(): kind.strip() for name, _, kind in pairs}


def _parse_order(text: str, targets: dict[str, Any]) -> Any:
    if text in ORDER_WORDS and text not in targets:
        return None if text == "none" else text
    names = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    unknown = [name for name in names if name not in targets]
    if unknown or not names:
        words = ", ".join(ORDER_WORDS)
        raise SettingsError(f"--order has {(unknown or [text])[0]!r}, which is neither a target nor one of {words}.")
    return [list(targets).index(name) for name in names]
