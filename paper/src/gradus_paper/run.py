"""Run the tasks that the store has no rows of, and keep a record of every run.

The record is a file beside the rows, with versions, engine and counts of each run as a line of JSON.
"""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import os
import platform
import time
from collections.abc import Generator, Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from gradus._core.run import Callback, Progress
from gradus._version import __version__
from gradus.errors import StoreError
from gradus_paper.engines import Engine
from gradus_paper.row import DONE, Row
from gradus_paper.store import Store
from gradus_paper.tasks import Task

__all__ = ["RunSummary", "read_runs", "record_run", "run_tasks", "split_tasks", "versions"]

RUNS_FILE = "runs.jsonl"
LIBRARIES = ("numpy", "numba", "scipy", "scikit-learn", "pyarrow", "matplotlib")
STARTUP_SECONDS = 40.0
"""Time before the first rows come, where kernels must be compiled first."""
TRUSTED_SHARE = 0.2
"""Share of the tasks after which the speed so far counts alone."""
FLUSH_SECONDS = 2.0
FLUSH_ROWS = 5000


@dataclass(frozen=True)
class RunSummary:
    """Numbers of tasks in a run, and its times."""

    total: int
    before: int
    """Done before this run began."""
    done: int = 0
    """Done in this run."""
    failed: int = 0
    """Failed in this run."""
    not_converged: int = 0
    """Of those done in this run."""
    seconds: float = 0.0
    first_seconds: float | None = None
    """Time until the first rows: start-up, which says nothing about the speed."""
    first_done: int = 0
    """Tasks in these first rows."""
    task_seconds: float | None = None
    """Expected time per task, from measurements elsewhere."""

    @property
    def left(self) -> int:
        """Tasks that have neither succeeded nor failed yet."""
        return self.total - self.before - self.done - self.failed

    @property
    def eta(self) -> float | None:
        """Expected time to the end: at first from `task_seconds`, and more and more from the speed so far."""
        expected = None if self.task_seconds is None else self.task_seconds * self.left
        if self.first_seconds is None:
            return None if expected is None else expected + max(0.0, STARTUP_SECONDS - self.seconds)
        since = self.done - self.first_done
        if not since:
            return expected
        observed = (self.seconds - self.first_seconds) / since * self.left
        if expected is None:
            return observed
        trust = min(1.0, since / (TRUSTED_SHARE * (self.total - self.before)))
        return trust * observed + (1.0 - trust) * expected

    def progress(self) -> Progress:
        """Return the numbers as a `Progress`, with the expected time to the end."""
        counts = (("failed", self.failed), ("not converged", self.not_converged))
        detail = ", ".join(f"{count:,} {what}" for what, count in counts if count)
        return Progress(stage="tasks", done=self.total - self.left, total=self.total, eta=self.eta, detail=detail)


def split_tasks(tasks: Iterable[Task], store: Store) -> tuple[list[Task], RunSummary]:
    """Return the tasks still to be run, including those that failed before, and a summary of the others."""
    known = store.ids()
    every = list(tasks)
    left = [task for task in every if known.get(task.id_bytes) != DONE]
    return left, RunSummary(len(every), len(every) - len(left))


def run_tasks(
    tasks: Iterable[Task], store: Store, engine: Engine, *, callback: Callback | None = None, task_seconds: float | None = None
) -> RunSummary:
    """Run the tasks that have no row in the store, and those that failed before."""
    # Rows are on disk seconds after a task is done. Whatever ends this call, they are kept, and the next call continues.
    with store.writing():
        store.set_damaged_aside()
        left, summary = split_tasks(tasks, store)
        summary = replace(summary, task_seconds=task_seconds)
        stopped = callback is not None and callback(summary.progress()) is True
        if left and not stopped:
            summary = _run_left(left, summary, store, engine, callback)
        store.compact()
    return summary


def _run_left(left: list[Task], summary: RunSummary, store: Store, engine: Engine, callback: Callback | None) -> RunSummary:
    begin = flushed = time.monotonic()
    waiting: list[Row] = []
    try:
        with closing(cast("Generator[list[Row], None, None]", engine.run(left))) as stream:
            for rows in stream:
                waiting += rows
                summary = _count(summary, rows, time.monotonic() - begin)
                if len(waiting) >= FLUSH_ROWS or time.monotonic() - flushed >= FLUSH_SECONDS:
                    store.check_folder()  # also without rows, so that no run goes on for hours after its folder is gone
                    store.append(waiting)
                    waiting = []  # only now: rows that could not be written are written again below
                    flushed = time.monotonic()
                if callback is not None and callback(summary.progress()) is True:
                    break
    finally:
        store.append(waiting)
    return summary


def _count(summary: RunSummary, rows: list[Row], seconds: float) -> RunSummary:
    done = [row for row in rows if row.status == DONE]
    if done and summary.first_seconds is None:
        summary = replace(summary, first_seconds=seconds, first_done=len(done))
    return replace(
        summary,
        done=summary.done + len(done),
        failed=summary.failed + len(rows) - len(done),
        not_converged=summary.not_converged + sum(row.method == "network" and not row.converged for row in done),
        seconds=seconds,
    )


def versions() -> dict[str, str]:
    """Return the versions of everything that a result may depend on."""
    found = {"gradus": __version__, "python": platform.python_version()}
    for library in LIBRARIES:
        found[library] = importlib.metadata.version(library)
    found["system"] = f"{platform.system()} {platform.machine()}"
    return found


def record_run(folder: Path, what: dict[str, Any]) -> None:
    """Add a run to the folder's record."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    line = json.dumps({"ended": now, "versions": versions(), "cores": os.cpu_count(), **what})
    try:
        with open(folder / RUNS_FILE, "a", encoding="utf-8") as file:
            file.write(line + "\n")
    except OSError as error:
        raise StoreError(f"{folder / RUNS_FILE} cannot be written: {error.strerror or error}.") from error


def read_runs(folder: Path) -> list[dict[str, Any]]:
    """Read the record of runs; invalid lines, such as a last one cut short, are left out."""
    try:
        lines = (folder / RUNS_FILE).read_bytes().splitlines()
    except OSError:
        return []
    return [entry for entry in map(_parsed_run, lines) if entry is not None]


def _parsed_run(line: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    numbers = ("done", "seconds")
    if not isinstance(entry, dict) or not isinstance(entry.get("versions", {}), dict):
        return None
    return entry if all(isinstance(entry.get(name, 0), int | float) for name in numbers) else None
