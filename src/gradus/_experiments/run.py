"""Run what is missing: tasks that the store has no row of go to an engine, and rows go to the store as they come."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, cast

from gradus._experiments.engines import Engine
from gradus._experiments.store import DONE, Store
from gradus._experiments.tasks import Task
from gradus._experiments.work import Row

__all__ = ["Progress", "missing", "run_tasks"]

FLUSH_SECONDS = 2.0
FLUSH_ROWS = 5000


@dataclass(frozen=True)
class Progress:
    """Where a run stands, in numbers of tasks."""

    total: int
    before: int
    """Done before this run began."""
    done: int = 0
    """Done in this run."""
    failed: int = 0
    """Failed, in this run or before and not tried again."""
    not_converged: int = 0
    """Of those done in this run."""
    seconds: float = 0.0

    @property
    def left(self) -> int:
        """Tasks that nothing is known of yet."""
        return self.total - self.before - self.done - self.failed

    @property
    def seconds_left(self) -> float | None:
        """Expected time to the end, at the speed so far."""
        return self.seconds / self.done * self.left if self.done else None


def missing(tasks: Iterable[Task], store: Store, *, retry_failed: bool = False) -> tuple[list[Task], Progress]:
    """Tasks that are still to be run, and how things stand.

    Parameters
    ----------
    tasks : iterable of Task
    store : Store
    retry_failed : bool
        Whether tasks that failed are to be run again.
    """
    known = store.ids()
    left: list[Task] = []
    before = failed = total = 0
    for task in tasks:
        total += 1
        status = known.get(task.id_bytes)
        if status == DONE:
            before += 1
        elif status is None or retry_failed:
            left.append(task)
        else:
            failed += 1
    return left, Progress(total, before, failed=failed)


def run_tasks(
    tasks: Iterable[Task],
    store: Store,
    engine: Engine,
    *,
    retry_failed: bool = False,
    callback: Callable[[Progress], Any] | None = None,
) -> Progress:
    """Run the tasks that the store has no row of.

    Rows are on the disk seconds after a task is done; whatever ends this call, they stay, and the next call goes on.

    Parameters
    ----------
    tasks : iterable of Task
    store : Store
    engine : Engine
        Who runs them; the rows do not depend on it.
    retry_failed : bool
        Run tasks again that failed before.
    callback : callable, optional
        Is given a `Progress` whenever rows have come.

    Returns
    -------
    Progress

    Examples
    --------
    >>> import tempfile
    >>> from gradus._experiments.engines import LocalEngine
    >>> from gradus._experiments.tasks import Design
    >>> store = Store(tempfile.mkdtemp())
    >>> run_tasks([Task(Design("add3"), 8, sample) for sample in range(3)], store, LocalEngine(1)).done
    3
    """
    with store.writing():
        store.set_damaged_aside()
        left, progress = missing(tasks, store, retry_failed=retry_failed)
        if callback is not None:
            callback(progress)
        if left:
            progress = _run_left(left, progress, store, engine, callback)
        store.compact()
    return progress


def _run_left(
    left: list[Task], progress: Progress, store: Store, engine: Engine, callback: Callable[[Progress], Any] | None
) -> Progress:
    begin = flushed = time.monotonic()
    waiting: list[Row] = []
    try:
        with closing(cast("Generator[list[Row], None, None]", engine.run(left))) as stream:
            for rows in stream:
                waiting += rows
                progress = _count(progress, rows, time.monotonic() - begin)
                if len(waiting) >= FLUSH_ROWS or time.monotonic() - flushed >= FLUSH_SECONDS:
                    store.append(waiting)
                    waiting = []  # only now: what could not be written is tried again below
                    flushed = time.monotonic()
                if callback is not None and rows:
                    callback(progress)
    finally:
        store.append(waiting)
    return progress


def _count(progress: Progress, rows: list[Row], seconds: float) -> Progress:
    done = [row for row in rows if row["status"] == DONE]
    return replace(
        progress,
        done=progress.done + len(done),
        failed=progress.failed + len(rows) - len(done),
        not_converged=progress.not_converged + sum(row["method"] == "network" and not row["converged"] for row in done),
        seconds=seconds,
    )
