"""`gradus reproduce`: run experiments, on this machine, a cluster or a GPU, and write their report."""

from __future__ import annotations

import textwrap
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from gradus._cli.console import note, print_json
from gradus._cli.output import check_file
from gradus._cli.progress_line import Steps
from gradus._core.run import Progress
from gradus._core.wording import counted, duration
from gradus.errors import SettingsError

__all__ = ["command"]

LINE = 79
EXIT_FAILED = 1
"""Some tasks failed; all others are done."""


def command(
    what: Annotated[
        str,
        typer.Argument(
            help="quick, all, fig1 … fig7, tab2, tab3, figA1, figA2, baselines, beyond, or a .toml file of your own.",
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
    prepare: Annotated[
        Path | None, typer.Option(help="Run nothing; write the remaining searches to a file for a GPU elsewhere (.npz).")
    ] = None,
    absorb: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Add results from elsewhere: .npz with --jobs, a folder of them, or a published .parquet; may be repeated.",
        ),
    ] = None,
    jobs: Annotated[Path | None, typer.Option(help="The file that --prepare wrote.")] = None,
    report: Annotated[bool, typer.Option(help="Write the report at the end.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
) -> None:
    """Run an experiment of the paper or one of your own; a run that was stopped continues where it was."""
    # Example: gradus reproduce fig1 --samples 1 -o one-adder
    from gradus_paper.engines import choose_engine
    from gradus_paper.figures import check_figure
    from gradus_paper.paper import load_spec
    from gradus_paper.plans import save_plan

    absorb = [file for path in absorb or () for file in _result_files(path)]
    if prepare is not None and absorb:
        raise SettingsError("give either --prepare or --absorb, not both.")
    if jobs is None and any(path.suffix != ".parquet" for path in absorb):
        raise SettingsError("--absorb of an .npz file needs --jobs with the file that --prepare wrote.")
    if prepare is not None:
        check_file(prepare, (".npz",))
    plan = load_spec(what, samples=samples, as_published=as_published)
    folder = output if output is not None else Path(f"gradus-{plan.name}")
    engine = choose_engine(n_jobs=n_jobs, dask=dask, backend=backend)
    for name, _ in plan.figure_plans():  # before hours are spent on it
        check_figure(name)
    save_plan(plan, folder)
    if prepare is not None:
        outcome = _prepare(plan, folder, prepare)
        report = False
    elif absorb:
        outcome = _absorb(plan, folder, jobs, absorb)
    else:
        outcome = _run(plan, folder, engine)
    if report:
        outcome |= _report(folder)
    if as_json:
        print_json({"folder": str(folder), **outcome})
    else:
        _show(folder, outcome)
    if outcome.get("failed"):
        raise typer.Exit(EXIT_FAILED)


def _run(plan: Any, folder: Path, engine: Any) -> dict[str, Any]:
    from gradus_paper.run import record_run, run_tasks
    from gradus_paper.store import Store

    store = Store(folder)
    _warn_of_damage(store)
    tasks = plan.tasks()
    n_jobs = getattr(engine, "n_jobs", None)  # of processes on this machine, whose time per task the plan may know
    task_seconds = plan.cpu_seconds_per_task / n_jobs if plan.cpu_seconds_per_task and n_jobs else None
    begin = time.monotonic()
    with Steps("tasks", len(tasks)) as steps:

        def callback(progress: Progress) -> None:
            left = f"about {duration(progress.eta)} left" if progress.eta else f"{duration(time.monotonic() - begin)} so far"
            steps.what = ", ".join(text for text in (progress.stage, left, progress.detail) if text)
            steps.set(progress.done, len(tasks))

        try:
            summary = run_tasks(tasks, store, engine, callback=callback, task_seconds=task_seconds)
        except KeyboardInterrupt:
            done = f"{steps.done:,} of {counted(len(tasks), 'task')} are done and kept"
            note(f"\ngradus: stopped; {done}; run the same command again to continue.")
            raise
    outcome = _outcome(summary)
    record_run(folder, {"what": plan.name, "engine": engine.name, "as_published": plan.as_published, **outcome})
    return outcome


def _outcome(summary: Any) -> dict[str, Any]:
    return {
        "tasks": summary.total,
        "done_before": summary.before,
        "done": summary.done,
        "failed": summary.failed,
        "not_converged": summary.not_converged,
        "seconds": round(summary.seconds, 3),
    }


def _warn_of_damage(store: Any) -> None:
    for name in store.damaged:
        note(f"gradus: {store.parts_folder / name} is damaged; it is set aside, and its tasks are run again.")


def _prepare(plan: Any, folder: Path, path: Path) -> dict[str, Any]:
    from gradus_paper.offline import prepare_searches
    from gradus_paper.run import split_tasks
    from gradus_paper.store import Store

    left, summary = split_tasks(plan.tasks(), Store(folder))
    with Steps("prepared", len(left)) as steps:
        written = prepare_searches(left, path, callback=steps)
    return {"tasks": summary.total, "done_before": summary.before, "jobs": written, "file": str(path)}


def _result_files(path: Path) -> list[Path]:
    """Return the file itself, or all files of results in a folder: they are checked together and absorbed at once."""
    if not path.is_dir():
        return [path]
    files = sorted(path.glob("results-*.npz"))
    if not files:
        raise SettingsError(f"there is no file results-….npz in the folder {path}.")
    return files


def _absorb(plan: Any, folder: Path, jobs: Path | None, paths: list[Path]) -> dict[str, Any]:
    from gradus_paper.offline import REPLAYED, absorb_files
    from gradus_paper.run import record_run
    from gradus_paper.store import Store

    store = Store(folder)
    _warn_of_damage(store)
    outcome = _outcome(absorb_files(plan.tasks(), jobs, paths, store))
    record_run(folder, {"what": plan.name, "engine": REPLAYED, "as_published": plan.as_published, **outcome})
    return outcome


def _report(folder: Path) -> dict[str, Any]:
    from gradus_paper.report_writer import write_report

    written = write_report(folder)
    return {"report": str(written.page), "highlights": list(written.highlights)}


def _show(folder: Path, outcome: dict[str, Any]) -> None:
    if "jobs" in outcome:
        before = counted(outcome["done_before"], "task was", "tasks were")
        print(f"wrote {counted(outcome['jobs'], 'search', 'searches')} to {outcome['file']}; {before} done already")
        return
    done = outcome["done_before"] + outcome["done"]
    print(f"{done:,} of {counted(outcome['tasks'], 'task')} done, {outcome['done']:,} of them now, in {folder}")
    if outcome["not_converged"]:
        searches = counted(outcome["not_converged"], "search", "searches")
        print(f"{searches} ended with training errors: kept, counted, and left out of means")
    if outcome["failed"]:
        failed = counted(outcome["failed"], "task")
        print(f"{failed} failed: gradus status {folder} says why, and the same command runs them again")
    lines = outcome.get("highlights", ())
    for line in lines:
        print(textwrap.fill(line, LINE, initial_indent="- ", subsequent_indent="  "))
    if "report" in outcome:
        print(f"wrote {outcome['report']}: open it in a browser")
    if lines:
        print("next: gradus learn on a table of your own, or gradus reproduce all for the whole paper")
