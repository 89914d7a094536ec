"""`gradus reproduce`: run experiments, here, on a cluster or on a GPU, and write their report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gradus._cli.console import note, print_json
from gradus._cli.output import check_file
from gradus._cli.progress import Steps
from gradus._wording import counted
from gradus.errors import SettingsError, WorkerError

__all__ = ["command"]


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
    samples: Annotated[int | None, typer.Option(help="Scale down to so many samples a point.")] = None,
    workers: Annotated[int | None, typer.Option(help="Local processes; as many as there are cores if not given.")] = None,
    dask: Annotated[str | None, typer.Option(help="Address of a Dask scheduler to run on instead.")] = None,
    backend: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    as_published: Annotated[
        bool, typer.Option("--as-published", help="Settings of the paper's configuration files where its text differs.")
    ] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run tasks again that failed.")] = False,
    prepare: Annotated[
        Path | None, typer.Option(help="Run nothing: write what is left as jobs for a GPU elsewhere (.npz).")
    ] = None,
    absorb: Annotated[
        list[Path] | None, typer.Option(help="Take in results from elsewhere (.npz, may be repeated); needs --jobs.")
    ] = None,
    jobs: Annotated[Path | None, typer.Option(help="The file that --prepare wrote.")] = None,
    report: Annotated[bool, typer.Option(help="Write the report at the end.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome for machines.")] = False,
) -> None:
    """Run an experiment of the paper or one of your own; a run that was stopped goes on where it was.

    Example: gradus reproduce fig1 --samples 1 -o one-adder
    """
    from gradus._experiments.engines import choose_engine
    from gradus._experiments.plan import save_plan
    from gradus._experiments.spec import load_spec

    if prepare is not None and absorb:
        raise SettingsError("give either --prepare or --absorb, not both.")
    if absorb and jobs is None:
        raise SettingsError("--absorb needs --jobs with the file that --prepare wrote.")
    if prepare is not None:
        check_file(prepare, (".npz",))
    plan = load_spec(what, samples=samples, as_published=as_published)
    folder = output if output is not None else Path(f"gradus-{plan.name}")
    engine = choose_engine(workers=workers, dask=dask, backend=backend)
    _check_figures(plan)
    save_plan(plan, folder)
    if prepare is not None:
        outcome = _prepare(plan, folder, prepare, retry_failed)
        report = False
    elif absorb and jobs is not None:
        outcome = _absorb(plan, folder, jobs, absorb)
    else:
        outcome = _run(plan, folder, engine, retry_failed)
    if report:
        outcome["report"] = _report(folder)
    if as_json:
        print_json({"folder": str(folder), **outcome})
    else:
        _show(folder, outcome)
    if outcome.get("failed", 0) and outcome["failed"] == outcome["done"]:
        raise WorkerError(f"every task that was run failed; 'gradus status {folder}' tells why.")


def _run(plan: Any, folder: Path, engine: Any, retry_failed: bool) -> dict[str, Any]:
    from gradus._experiments.provenance import record_run
    from gradus._experiments.run import Progress, run_tasks
    from gradus._experiments.store import Store

    store = Store(folder)
    _say_damaged(store)
    tasks = plan.tasks()
    latest = Progress(len(tasks), 0)
    with Steps("tasks", len(tasks)) as steps:

        def callback(progress: Progress) -> None:
            nonlocal latest
            latest = progress
            steps.what = _headline(progress)
            steps.set(progress.total - progress.left, progress.total)

        try:
            latest = run_tasks(tasks, store, engine, retry_failed=retry_failed, callback=callback)
        except KeyboardInterrupt:
            note(f"\ngradus: {_kept(latest)}; run the same command again to go on.")
            raise
    outcome = _outcome(latest)
    record_run(folder, {"what": plan.name, "engine": engine.name, "as_published": plan.as_published, **outcome})
    return outcome


def _headline(progress: Any) -> str:
    parts = ["tasks"]
    if progress.seconds_left is not None and progress.left:
        parts.append(f"about {_duration(progress.seconds_left)} left")
    if progress.failed:
        parts.append(f"{progress.failed:,} failed")
    if progress.not_converged:
        parts.append(f"{progress.not_converged:,} not converged")
    return ", ".join(parts)


def _kept(progress: Any) -> str:
    return f"stopped; {progress.before + progress.done:,} of {counted(progress.total, 'task')} are done and kept"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _outcome(progress: Any) -> dict[str, Any]:
    return {
        "tasks": progress.total,
        "done_before": progress.before,
        "done": progress.done,
        "failed": progress.failed,
        "not_converged": progress.not_converged,
        "seconds": round(progress.seconds, 3),
    }


def _say_damaged(store: Any) -> None:
    for name in store.damaged:
        note(f"gradus: {store.parts_folder / name} is damaged; it is set aside, and its tasks are run again.")


def _prepare(plan: Any, folder: Path, path: Path, retry_failed: bool) -> dict[str, Any]:
    from gradus._experiments.offline import write_jobs
    from gradus._experiments.run import missing
    from gradus._experiments.store import Store

    left, progress = missing(plan.tasks(), Store(folder), retry_failed=retry_failed)
    with Steps("prepared", len(left)) as steps:
        written = write_jobs(left, path, callback=steps)
    return {"tasks": progress.total, "done_before": progress.before, "jobs": written, "file": str(path)}


def _absorb(plan: Any, folder: Path, jobs: Path, results: list[Path]) -> dict[str, Any]:
    from gradus._experiments.offline import REPLAYED, absorb
    from gradus._experiments.provenance import record_run
    from gradus._experiments.store import Store

    store = Store(folder)
    _say_damaged(store)
    outcome = _outcome(absorb(plan.tasks(), jobs, results, store))
    record_run(folder, {"what": plan.name, "engine": REPLAYED, "as_published": plan.as_published, **outcome})
    return outcome


def _check_figures(plan: Any) -> None:
    """Refuse a figure that nobody can draw before hours are spent on it."""
    from gradus._replication.figures import FIGURES

    for name, _ in plan.figure_plans():
        if name not in FIGURES:
            raise SettingsError(f"there is no figure {name!r}; there are {', '.join(FIGURES)}.")


def _report(folder: Path) -> str:
    from gradus._replication.report import write_report

    return str(write_report(folder).page)


def _show(folder: Path, outcome: dict[str, Any]) -> None:
    if "jobs" in outcome:
        before = counted(outcome["done_before"], "task was", "tasks were")
        print(f"wrote {counted(outcome['jobs'], 'job')} to {outcome['file']}; {before} done already")
        return
    done = outcome["done_before"] + outcome["done"]
    print(f"{done:,} of {counted(outcome['tasks'], 'task')} done, {outcome['done']:,} of them now, in {folder}")
    if outcome["not_converged"]:
        searches = counted(outcome["not_converged"], "search", "searches")
        print(f"{searches} ended with training errors: kept, counted, and left out of means")
    if outcome["failed"]:
        failed = counted(outcome["failed"], "task")
        print(f"{failed} failed: gradus status {folder} says why, --retry-failed runs what failed again")
    if "report" in outcome:
        print(f"wrote {outcome['report']}")
