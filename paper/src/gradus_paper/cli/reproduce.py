"""`gradus reproduce`: run a study, on this machine, a cluster or a GPU, and write its report."""

from __future__ import annotations

import contextlib
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from gradus import Progress
from gradus.errors import SettingsError
from gradus.lab import wording
from gradus_paper.cli import note, print_json

LINE = 79
EXIT_FAILED = 1
"""Some tasks failed; all others are done."""
SECONDS_PER_LINE = 5.0
ABSORBED = "rows of another folder or table"


def command(
    what: Annotated[
        str,
        typer.Argument(
            help="quick, all, fig1 … fig7, tab2, tab3, figA1, figA2, baselines, beyond, or a Python file of your own.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder of the results; gradus-WHAT if not given.")
    ] = None,
    samples: Annotated[int | None, typer.Option(help="Run at most this many samples per point.")] = None,
    n_jobs: Annotated[int | None, typer.Option(help="Local processes; one per core if not given or -1.")] = None,
    dask: Annotated[str | None, typer.Option(help="Address of a Dask scheduler to run on instead.")] = None,
    backend: Annotated[str, typer.Option(metavar="cpu|cuda", help="Where to run; cuda is an NVIDIA GPU.")] = "cpu",
    as_published: Annotated[
        bool,
        typer.Option("--as-published", help="Settings of the paper's configuration files where they differ from its text."),
    ] = False,
    time_limit: Annotated[float | None, typer.Option(help="Stop after so many seconds; the same command continues.")] = None,
    share: Annotated[
        str, typer.Option(metavar="K/N", help="Run one of N equal shares, each on a machine of its own.")
    ] = "1/1",
    absorb: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PATH",
            help="Run nothing; add what another folder of results or a published .parquet has. May be repeated.",
        ),
    ] = None,
    report: Annotated[bool, typer.Option(help="Write the report at the end.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
) -> None:
    """Run a study of the paper or one of your own; a run that was stopped continues where it was."""
    # Example: gradus reproduce fig1 --samples 1 -o one-adder
    from gradus_paper.engines import choose_engine
    from gradus_paper.figures import check_figure
    from gradus_paper.study import load_study, save_study

    first, of = _share(share)
    for path in absorb or ():
        if not path.exists():
            raise SettingsError(f"there is no {path} to absorb.")
    study = load_study(what, samples=samples, as_published=as_published)
    folder = output if output is not None else Path(f"gradus-{study.name}")
    for name, _ in study.figure_studies():  # before hours are spent on it
        check_figure(name)
    engine = None if absorb else choose_engine(n_jobs=n_jobs, dask=dask, backend=backend)
    save_study(study, folder)
    tasks = study.tasks()[first - 1 :: of]
    summary = _absorbed(tasks, folder, absorb) if absorb else _run(study, tasks, folder, engine, time_limit)
    outcome = _outcome(folder, study, summary, ABSORBED if engine is None else engine.name)
    if report:
        from gradus_paper.report import write_report

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


def _opened(folder: Path) -> Any:
    """Open the store, and name the files that are damaged."""
    from gradus_paper.store import Store

    store = Store(folder)
    for name in store.damaged:
        note(f"gradus: {store.parts_folder / name} is damaged; it is set aside, and its tasks are run again.")
    return store


def _run(study: Any, tasks: list[Any], folder: Path, engine: Any, time_limit: float | None) -> Any:
    from gradus_paper.runs import run_tasks

    n_jobs = getattr(engine, "n_jobs", None)  # of processes on this machine, whose time per task the study may know
    task_seconds = study.cpu_seconds_per_task / n_jobs if study.cpu_seconds_per_task and n_jobs else None
    with _progress(len(tasks)) as (show, done):
        try:
            return run_tasks(tasks, _opened(folder), engine, callback=show, time_limit=time_limit, task_seconds=task_seconds)
        except KeyboardInterrupt:
            said = f"{done[0]:,} of {wording.counted(len(tasks), 'task')} are done and kept"
            note(f"gradus: stopped; {said}; run the same command again to continue.")
            raise


@contextlib.contextmanager
def _progress(total: int) -> Iterator[tuple[Callable[[Progress], None], list[int]]]:
    """Show a bar on a terminal, and a line every few seconds in a pipe; the list holds how many tasks are done."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    done, begin = [0], time.monotonic()
    next_line = begin + SECONDS_PER_LINE
    console = Console(stderr=True, highlight=False)
    bar = Bar(BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), console=console, transient=True)
    task = bar.add_task("", total=total)

    def show(progress: Progress) -> None:
        nonlocal next_line
        done[0], now = progress.done, time.monotonic()
        left = f"about {wording.duration(progress.eta)} left" if progress.eta else f"{wording.duration(now - begin)} so far"
        said = ", ".join(text for text in (progress.stage, left, progress.detail) if text)
        bar.update(task, completed=progress.done, description=said)
        if not console.is_terminal and now >= next_line:
            print(f"{said}: {progress.done:,} of {total:,}", file=sys.stderr, flush=True)
            next_line = now + SECONDS_PER_LINE

    with bar if console.is_terminal else contextlib.nullcontext():
        yield show, done


def _absorbed(tasks: list[Any], folder: Path, paths: list[Path]) -> Any:
    from dataclasses import replace

    from gradus_paper.runs import absorb

    store = _opened(folder)
    summaries = [absorb(tasks, path, store) for path in paths]
    return replace(summaries[0], done=sum(summary.done for summary in summaries))


def _outcome(folder: Path, study: Any, summary: Any, engine: str) -> dict[str, Any]:
    """Record a run, and return what is said about it."""
    from gradus_paper.runs import record_run

    counts = {name: value for name, value in asdict(summary).items() if name in ("done", "failed", "not_converged")}
    outcome = {"tasks": summary.total, "done_before": summary.before, **counts, "seconds": round(summary.seconds, 3)}
    record_run(folder, {"what": study.name, "engine": engine, "as_published": study.as_published, **outcome})
    return outcome


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
