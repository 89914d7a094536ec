"""`gradus reproduce`: run a study, on this machine, a cluster or a GPU, and write its report."""

from __future__ import annotations

import contextlib
import sys
import textwrap
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar

from gradus import Progress
from gradus.errors import SettingsError
from gradus.lab import wording
from gradus_paper import contest, engines, quick, runs
from gradus_paper.cli import note, print_json
from gradus_paper.figures import check_figure
from gradus_paper.report import write_report
from gradus_paper.store import Store
from gradus_paper.study import load_study, save_study
from gradus_paper.tasks import Task

LINE = 79
EXIT_FAILED = 1  # some tasks failed; all others are done
SECONDS_PER_LINE = 5.0
ABSORBED = "rows of another folder or table"
ABSORB = "Run nothing; add what another folder of results, or of published .parquet files, has. May be repeated."
JOBS = "Local processes, or CPU threads that help a GPU; one per core if not given or -1."
NAMES = "quick, all, fig1 … fig7, tab2, tab3, figA1, figA2, baselines, beyond, contest"


def command(
    what: Annotated[str, typer.Argument(help=f"{NAMES}, or a Python file of your own.", show_default=False)],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Folder of the results; default gradus-WHAT.")] = None,
    samples: Annotated[int | None, typer.Option(help="Run at most this many samples per point.")] = None,
    n_jobs: Annotated[int | None, typer.Option(help=JOBS)] = None,
    dask: Annotated[str | None, typer.Option(help="Address of a Dask scheduler to run on instead.")] = None,
    data: Annotated[Path | None, typer.Option(help="Folder of the benchmarks of the contest: ex00.train.pla, …")] = None,
    backend: Annotated[str, typer.Option(metavar="cpu|cuda", help="Where to run; cuda is an NVIDIA GPU.")] = "cpu",
    as_published: Annotated[bool, typer.Option("--as-published", help="Settings of the paper's configuration files.")] = False,
    time_limit: Annotated[float | None, typer.Option(help="Stop after this many seconds; the same command continues.")] = None,
    share: Annotated[str, typer.Option(metavar="K/N", help="Run one of N equal shares, each on its own machine.")] = "1/1",
    absorb: Annotated[list[Path] | None, typer.Option(metavar="PATH", help=ABSORB)] = None,
    report: Annotated[bool, typer.Option(help="Write the report at the end.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
) -> None:
    """Run a study of the paper or one of your own; a run that was stopped continues where it was."""
    # Example: gradus reproduce fig1 --samples 1 -o one-adder
    first, of = _share(share)
    for path in absorb or ():
        if not path.exists():
            raise SettingsError(f"there is no {path} to absorb.")
    if (what == contest.NAME) != (data is not None):
        raise SettingsError(
            "gradus reproduce contest --data FOLDER learns the benchmarks in a folder; no other study takes one."
        )
    study = load_study(what, samples=samples, as_published=as_published) if data is None else contest.contest(data)
    folder = output if output is not None else Path(f"gradus-{study.name}")
    for name, _ in study.figure_studies():  # before hours are spent on it
        check_figure(name)
    engine = None if absorb else engines.choose_engine(n_jobs=n_jobs, dask=dask, backend=backend)
    save_study(study if data is None else contest.merged(study, folder), folder)
    tasks, store = study.tasks()[first - 1 :: of], Store(folder)
    if data is not None and engine is not None:
        tasks = contest.ready(tasks, store)
        if isinstance(engine, engines.JoblibEngine):
            engine.most, engine.folder = 1, contest.folder_of_begun(folder)
    for name in store.damaged:
        note(f"gradus: {store.parts_folder / name} is damaged; it is set aside, and its tasks are run again.")
    if engine is None:
        summaries = [runs.absorb(tasks, path, store) for path in absorb or ()]
        summary = replace(summaries[0], done=sum(summary.done for summary in summaries))
    else:
        summary = _run(tasks, store, engine, time_limit, folder if report and study.name == quick.NAME else None)
    counts = {name: value for name, value in asdict(summary).items() if name in ("done", "failed", "not_converged")}
    outcome: dict[str, Any] = {"tasks": summary.total, "done_before": summary.before, **counts}
    outcome["seconds"] = round(summary.seconds, 3)
    engine_name = ABSORBED if engine is None else engine.name
    runs.record_run(folder, {"what": study.name, "engine": engine_name, "as_published": study.as_published, **outcome})
    if report:
        written = write_report(folder)
        outcome |= {"report": str(written.page), "highlights": list(written.highlights)}
    if as_json:
        print_json({"folder": str(folder), **outcome})
    else:
        _show(folder, outcome)
    if outcome["failed"]:
        raise typer.Exit(EXIT_FAILED)


def _share(text: str) -> tuple[int, int]:
    """Read a share such as 2/4."""
    first, _, of = text.partition("/")
    if not (first.isdecimal() and of.isdecimal() and 1 <= int(first) <= int(of)):
        raise SettingsError(f"--share is {text!r}; give K/N with K from 1 to N, such as 2/4.")
    return int(first), int(of)


def _run(
    tasks: list[Task], store: Store, engine: engines.Engine, time_limit: float | None, quick_folder: Path | None
) -> runs.RunSummary:
    """Run tasks with a bar on a terminal, and a line every few seconds in a pipe; a quick run has a first look at its page."""
    done, begin = 0, time.monotonic()
    next_line, expected = begin, None
    looked_for: set[bytes] = set()
    next_look = 0
    if quick_folder is not None and isinstance(engine, engines.LocalEngine):
        expected = quick.seconds_expected(engine.n_jobs)
        looked_for = quick.first_look(tasks)
        next_look = len(looked_for)
    console = Console(stderr=True, highlight=False)
    bar = Bar(BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), console=console, transient=True)
    shown = bar.add_task("", total=len(tasks))

    def show(progress: Progress) -> None:
        nonlocal next_line, next_look, done
        done, now = progress.done, time.monotonic()
        left = f"about {wording.duration(progress.eta)} left" if progress.eta else f"{wording.duration(now - begin)} so far"
        said = ", ".join(text for text in (progress.stage, left, progress.detail) if text)
        bar.update(shown, completed=progress.done, description=said)
        if not console.is_terminal and now >= next_line:
            print(f"{said}: {progress.done:,} of {len(tasks):,}", file=sys.stderr, flush=True)
            next_line = now + SECONDS_PER_LINE
        if quick_folder is not None and looked_for and next_look <= done < len(tasks):
            next_look = done + done // 8 + 1  # reading the rows takes longer the more there are
            if looked_for <= store.ids().keys():
                looked_for.clear()
                note(f"gradus: a first adder and curve are in {write_report(quick_folder).page}; the run goes on.")

    with bar if console.is_terminal else contextlib.nullcontext():
        try:
            return runs.run_tasks(tasks, store, engine, callback=show, time_limit=time_limit, expected=expected)
        except KeyboardInterrupt:
            said = f"{done:,} of {wording.counted(len(tasks), 'task')} are done and kept"
            note(f"gradus: stopped; {said}; run the same command again to continue.")
            raise


def _show(folder: Path, outcome: dict[str, Any]) -> None:
    """Print what was done."""
    done = outcome["done_before"] + outcome["done"]
    print(f"{done:,} of {wording.counted(outcome['tasks'], 'task')} done, {outcome['done']:,} of them now, in {folder}")
    if outcome["not_converged"]:
        searches = wording.counted(outcome["not_converged"], "search", "searches")
        print(f"{searches} ended with training errors: kept, counted, and left out of means")
    if outcome["failed"]:
        failed = wording.counted(outcome["failed"], "task")
        print(f"{failed} failed: gradus status {folder} says why, and the same command runs them again")
    lines = outcome.get("highlights", ())
    for line in lines:
        print(textwrap.fill(line, LINE, initial_indent="- ", subsequent_indent="  "))
    if "report" in outcome:
        print(f"wrote {outcome['report']}: open it in a browser")
    if lines:
        print("next: gradus learn on a table of your own, or gradus reproduce all for the whole paper")
