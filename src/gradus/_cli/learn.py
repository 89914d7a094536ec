"""`gradus learn`: from a table of examples to a model file."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from gradus._cli.console import EndedByUserError, check_file, note, print_json
from gradus._cli.data import FORMATS_HELP, STANDARD, input_file, number_or_word, read_examples
from gradus._cli.learn_report import LearnReport, say_merged, show_plan
from gradus._cli.progress_line import Watch
from gradus._core.checkpoint import Checkpoint
from gradus._core.checks import NOISE_WORDS, check_n_jobs, check_seed, check_time_limit
from gradus._core.kernels.clock import work_clock
from gradus._core.plain import digest_of
from gradus._core.run import Run
from gradus._core.wording import counted
from gradus._tables.column_kinds import column_kinds
from gradus._tables.cuts import Missing
from gradus._tables.dataset import FEWEST_ROWS, checked_folds
from gradus._tables.goals import Goal
from gradus._tables.labels import output_names, refuse_constant
from gradus._tables.options import named_order, named_weights, pairs_in
from gradus.errors import SettingsError

if TYPE_CHECKING:
    from gradus._tables.held_out import HeldOutTask, Learned

__all__ = ["command"]

SECONDS_UNASKED = 60.0  # of work after which a checkpoint is written although nobody asked for one

DataArgument: TypeAlias = Annotated[Path, typer.Argument(help=FORMATS_HELP, show_default=False)]
TargetsOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMNS", help="Columns to learn, separated by commas or one by one; by default the file's own, or the last."
    ),
]
InputsOption: TypeAlias = Annotated[
    list[str] | None, typer.Option(metavar="COLUMNS", help="Columns to learn from; all others if not given.")
]
OutputOption: TypeAlias = Annotated[
    Path | None, typer.Option("--output", "-o", help="Where to write the model (.json), or - for standard output.")
]
CheckpointOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Where progress is saved; the same command continues from there. By default beside "
        "the model, once the work has taken a minute. Removed at the end.",
        show_default=False,
    ),
]
OrderOption: TypeAlias = Annotated[
    str, typer.Option(help="self-paced, auto, entropy, random, none (as in the file), or the targets in order.")
]
GatesOption: TypeAlias = Annotated[Literal["any", "nand"], typer.Option(help="Gates: any function of two bits, or NAND only.")]
NoiseOption: TypeAlias = Annotated[
    str, typer.Option(metavar="|".join((*NOISE_WORDS, "NUMBER")), help="Share of wrong labels to expect.")
]
NTriesOption: TypeAlias = Annotated[int | None, typer.Option(help="Tries per lesson, of which the smallest circuit is kept.")]
NCircuitsOption: TypeAlias = Annotated[int | None, typer.Option(help="Circuits that vote; by default the table decides.")]
MaxGatesOption: TypeAlias = Annotated[
    int | None, typer.Option(help="The most gates of the circuit shown; by default held-out rows decide. The vote predicts.")
]
TimeLimitOption: TypeAlias = Annotated[
    float | None, typer.Option(help="Seconds in all, half of them to score; the best so far is kept.")
]
SeedOption: TypeAlias = Annotated[int, typer.Option(help="The same seed gives the same model.")]
NJobsOption: TypeAlias = Annotated[int, typer.Option(help="Threads; the model is the same for any number, -1 is all cores.")]
GoalOption: TypeAlias = Annotated[
    Goal, typer.Option(help="What predictions maximise; the threshold of the vote is chosen on held-out rows.")
]
ClassWeightOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="balanced|LABEL=NUMBER,…", help="How much each class counts: all classes the same in total, or as listed."
    ),
]
MissingOption: TypeAlias = Annotated[
    Missing, typer.Option(help="A missing cell is a category of its own, the median, or drops its row.")
]
TypesOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMNS",
        help="Kinds of columns, as in zip=category,age=number: number, category, bit or date; decimal-comma, "
        "decimal-point, day-first or month-first say how it is written, exact distinguishes New York and new york, "
        "drop leaves a column out, and keep uses it even if it looks like an id or free text.",
    ),
]
StrictOption: TypeAlias = Annotated[bool, typer.Option("--strict", help="Refuse every cell but 0 and 1.")]
HeaderOption: TypeAlias = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="The first row of a text table holds names, or not; if not given, guessed."),
]
CutOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TARGETS", help="Cut targets of numbers into classes, as in price=median: median, terciles or values (10/20)."
    ),
]
NumberRepeatsOption: TypeAlias = Annotated[
    bool, typer.Option("--number-repeats", help="Number columns that share a name instead of refusing them.")
]
CvOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        help="Models that score this one: 0 none, 1 on a quarter of the rows, k on every row in k folds. "
        "If not given, 5 up to 500 rows, else 1.",
        show_default=False,
    ),
]
AsJsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Print the results as JSON.")]


def command(
    data: DataArgument,
    targets: TargetsOption = None,
    inputs: InputsOption = None,
    output: OutputOption = None,
    checkpoint: CheckpointOption = None,
    order: OrderOption = "self-paced",
    gates: GatesOption = "any",
    noise: NoiseOption = "auto",
    n_tries: NTriesOption = None,
    n_circuits: NCircuitsOption = None,
    max_gates: MaxGatesOption = None,
    time_limit: TimeLimitOption = None,
    seed: SeedOption = 0,
    n_jobs: NJobsOption = -1,
    goal: GoalOption = "accuracy",
    class_weight: ClassWeightOption = None,
    missing: MissingOption = "category",
    types: TypesOption = None,
    strict: StrictOption = False,
    header: HeaderOption = None,
    cut: CutOption = None,
    number_repeats: NumberRepeatsOption = False,
    cv: CvOption = None,
    as_json: AsJsonOption = False,
) -> None:
    """Learn a circuit from a table, and first print its accuracy on rows that it has not seen.

    Example: gradus problems write add3 add3.csv

    Then: gradus learn add3.csv --targets z0,z1,z2 -o model.json
    """
    begin = work_clock()
    _check_output(output, as_json)
    kinds = pairs_in(types, "--types", "each column with its kind, as in zip=category,age=number")
    cuts = pairs_in(cut, "--cut", "each target with its cuts, as in price=median,size=10/20")
    with input_file(data) as file:
        examples = read_examples(
            file, targets, inputs, header=header, number_repeats=number_repeats, strict=strict, types=kinds, cut=cuts
        )
    refuse_constant(examples.targets)
    say_merged(examples)
    # scikit-learn and the kernels take a second to import: only once the arguments are known to be good.
    from gradus._lessons.learn import N_TRIES
    from gradus._tables.fit import FitSettings
    from gradus._tables.held_out import HeldOutTask, learn_and_score

    settings = FitSettings(
        order=named_order(order, examples.targets),
        gates=gates,
        noise=number_or_word("--noise", noise, {word: word for word in NOISE_WORDS}),
        missing=missing,
        seed=check_seed(seed),
        kinds=column_kinds(
            examples.columns, types={name: kind for name, kind in kinds.items() if name not in examples.targets}
        ),
        n_circuits=n_circuits,
        n_tries=N_TRIES if n_tries is None else n_tries,
        max_gates=max_gates,
        goal=goal,
        class_weight=named_weights(class_weight, examples.targets),
    )
    task = HeldOutTask(examples.columns, examples.targets, settings, checked_folds(cv, examples.n_rows))
    if cv is None and examples.n_rows < FEWEST_ROWS:
        note(f"gradus: {counted(examples.n_rows, 'row')}: too few for a score on rows not seen, which takes {FEWEST_ROWS}.")
    watch = Watch(output_names(examples.targets))
    with watch, _checkpoint(checkpoint, output, task) as kept, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        learned = learn_and_score(task, _run(begin, time_limit, n_jobs, watch, kept), show_plan)
        if kept is not None and not watch.stopped and learned.model.about["stopped"] != "interrupted":
            kept.remove()
    learned.model.about.update(({} if data == STANDARD else {"learned_from": data.name}) | examples.about)
    _hand_over(LearnReport(examples, learned), output, as_json, watch)
    again = "go on" if kept is not None and kept.is_there else "learn from the start"
    _say_how_it_ended(learned, output, again, watch.stopped, task.folds > 0)


def _check_output(output: Path | None, as_json: bool) -> None:
    if output is not None and output != STANDARD:
        check_file(output, [".json"])
    if as_json and output == STANDARD:
        raise SettingsError("--json and the model cannot both go to standard output; write the model to a file.")


def _hand_over(report: LearnReport, output: Path | None, as_json: bool, watch: Watch) -> None:
    """Write the model and its page, and print the results."""
    model = report.learned.model
    if output is not None and output != STANDARD:
        with watch:  # Ctrl-C waits until both files are there
            model.save(output)
            report.save_page(output.with_suffix(".html"))
    if output == STANDARD:
        print(model.to_json())
    elif as_json:
        print_json({"model": None if output is None else str(output), **report.document})
    else:
        report.show(output)


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
    """Report what ended the work early, and where the model is."""
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
