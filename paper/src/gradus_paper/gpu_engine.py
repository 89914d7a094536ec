"""`CudaEngine`: runs the searches of tasks on a GPU."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Sequence
from itertools import chain

from gradus._core.checks import usable_cores
from gradus._search import cuda
from gradus._search.job import Job, Outcome
from gradus.errors import WorkerError
from gradus_paper.execution import TaskBatch, finished_row, job_of, run_batch
from gradus_paper.row import Row
from gradus_paper.task_orders import TargetOrder
from gradus_paper.tasks import Task

__all__ = ["CudaEngine"]

QUIET_SECONDS = 1.0
"""Time without results after which an empty list is yielded, as by every engine."""
STOP_SECONDS = 30.0
"""Time for the GPU to stop."""


class CudaEngine:
    """Runs searches on a GPU and everything else in this process.

    A separate thread drives the GPU, so that finished rows never wait for the next search to end.
    """

    name = "a GPU"

    def run(self, tasks: Sequence[Task]) -> Iterator[list[Row]]:
        """Run every task once; closing the iterator stops the work."""
        ended: queue.SimpleQueue[list[Row] | Exception | None] = queue.SimpleQueue()
        stop = threading.Event()
        thread = threading.Thread(target=_drive_gpu, args=(tasks, stop, ended), daemon=True)
        thread.start()
        try:
            while (rows := _next(ended)) is not None:
                if isinstance(rows, Exception):
                    raise rows
                yield rows
        finally:
            stop.set()
            thread.join(timeout=STOP_SECONDS)


def _next(ended: queue.SimpleQueue[list[Row] | Exception | None]) -> list[Row] | Exception | None:
    try:
        return ended.get(timeout=QUIET_SECONDS)
    except queue.Empty:
        return []


def _drive_gpu(tasks: Sequence[Task], stop: threading.Event, ended: queue.SimpleQueue[list[Row] | Exception | None]) -> None:
    """Put rows in a queue, and None at the end; an error is put there too, and ends the run."""
    networks = [task for task in tasks if task.design.method == "network"]
    others = [task for task in tasks if task.design.method != "network"]
    try:
        for rows in chain(_search_on_gpu(networks, stop), (run_batch(TaskBatch((task,))) for task in others)):
            ended.put(rows)
            if stop.is_set():
                break
        ended.put(None)
    except Exception as error:  # raised again where the rows are waited for
        ended.put(error)


def _search_on_gpu(tasks: Sequence[Task], stop: threading.Event) -> Iterator[list[Row]]:
    """Run searches; one that raises becomes the row of a failed task, and the others continue."""
    sent: list[tuple[Task, TargetOrder]] = []
    failures: queue.SimpleQueue[Row] = queue.SimpleQueue()

    def jobs() -> Iterator[Job]:
        # Read by another thread while the GPU is busy, so rows of failures cannot be yielded from here.
        for task in tasks:
            try:
                job, order = job_of(task)
            except Exception as error:
                failures.put(Row.failure(task, error))
                continue
            sent.append((task, order))
            yield job

    stream = cuda.run_many(
        jobs(),
        callback=lambda _: stop.is_set(),
        n_jobs=max(1, usable_cores() - 1),
        failed=lambda index, error: failures.put(Row.failure(sent[index][0], error)),
    )
    try:
        for index, found in stream:
            yield [_row_of(*sent[index], found), *_taken_from(failures)]
    except Exception as error:
        if type(error).__module__.partition(".")[0] in ("cupy", "cupy_backends"):  # no task's fault, and none can continue
            raise WorkerError(f"the GPU failed: {type(error).__name__}: {error}; what is done is kept.") from error
        raise
    yield _taken_from(failures)


def _taken_from(failures: queue.SimpleQueue[Row]) -> list[Row]:
    rows = []
    while not failures.empty():
        rows.append(failures.get())
    return rows


def _row_of(task: Task, order: TargetOrder, found: Outcome) -> Row:
    try:
        return finished_row(task, order, found, None)
    except Exception as error:
        return Row.failure(task, error)
