"""Engines that run tasks on `concurrent.futures` executors: local processes or a Dask cluster; all give the same rows."""

from __future__ import annotations

import contextlib
import importlib
import logging
import multiprocessing
import os
import signal
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor, wait
from multiprocessing import connection
from typing import Any, Protocol

from gradus._core.checks import check_choice, check_n_jobs
from gradus._version import __version__
from gradus.errors import GradusError, MissingExtraError, SettingsError, WorkerError
from gradus_paper.execution import TaskBatch, run_batch
from gradus_paper.row import Row
from gradus_paper.tasks import Design, Task
from gradus_paper.training_sets import own_tables

__all__ = ["Batcher", "DaskEngine", "Engine", "ExecutorEngine", "LocalEngine", "choose_engine"]

BATCH_SECONDS = 1.0
LONGEST_BATCH_SECONDS = 3.0
"""Time after which a worker begins no further task of a batch: what is done is written, and the rest is sent again."""
FIRST_GUESS_SECONDS = 0.25
MOST_TASKS_PER_BATCH = 256
LATEST_WEIGHT = 0.3
"""Weight of the latest time of a kind of task against the earlier ones."""
BATCHES_PER_SLOT = 2
MOST_TASKS_IN_FLIGHT = 4000
QUIET_SECONDS = 1.0
"""Time without results after which an engine yields an empty list."""
SECONDS_TO_CLOSE = 5.0
DEATHS_TO_BLAME = 2
NO_TASKS = TaskBatch(())
"""A batch that shows whether a worker is alive."""
DEAD_STARTS_TO_END = 20
NONE_LIVES = (
    f"{DEAD_STARTS_TO_END} worker processes in succession died while they started (killed, or out of memory); "
    "what is done is kept: the same command continues from there."
)
DIED = "the worker process died twice while it ran nothing but this task (killed, or out of memory)"


class Engine(Protocol):
    """Runs tasks and yields their rows as they finish, in any order."""

    name: str
    """Name in the record of the run."""

    def run(self, tasks: Sequence[Task]) -> Iterator[list[Row]]:
        """Run every task once; closing the iterator stops the work."""
        # When no task ends for about a second an empty list is yielded, so that earlier rows can be written.
        ...


class Batcher:
    """Cuts a list of tasks into batches of about a second, from how long earlier tasks of the same kind took."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._tasks = deque(tasks)
        self._times: dict[tuple[Design, int], float] = {}
        self._problem_times: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._tasks)

    def next(self) -> TaskBatch:
        """Take the next tasks, about a second of work but at least one task."""
        taken: list[Task] = []
        expected = 0.0
        while self._tasks and len(taken) < MOST_TASKS_PER_BATCH and (not taken or expected < BATCH_SECONDS):
            task = self._tasks.popleft()
            expected += self._expected(task)
            taken.append(task)
        return TaskBatch(tuple(taken), own_tables(taken))

    def take_back(self, batch: TaskBatch, rows: Sequence[Row]) -> None:
        """Remember how long the tasks of a batch took; those without a row come next."""
        self._tasks.extendleft(reversed(batch.tasks[len(rows) :]))
        for task, row in zip(batch.tasks, rows, strict=False):
            if (seconds := row.cpu_seconds) is not None:
                key, problem = (task.design, task.n_train), task.design.problem
                self._times[key] = _blend(self._times.get(key), seconds)
                self._problem_times[problem] = _blend(self._problem_times.get(problem), seconds)

    def _expected(self, task: Task) -> float:
        known = self._times.get((task.design, task.n_train))
        return known if known is not None else self._problem_times.get(task.design.problem, FIRST_GUESS_SECONDS)


def _blend(before: float | None, latest: float) -> float:
    return latest if before is None else (1 - LATEST_WEIGHT) * before + LATEST_WEIGHT * latest


class ExecutorEngine:
    """Runs batches of tasks on any `concurrent.futures` executor."""

    def __init__(
        self,
        make: Callable[[], Executor],
        slots: Callable[[], int],
        stop: Callable[[Executor], None] | None = None,
        name: str = "an executor",
    ) -> None:
        self.make, self.slots, self.name = make, slots, name
        self.stop = stop or (lambda executor: executor.shutdown(wait=False))

    def run(self, tasks: Sequence[Task]) -> Iterator[list[Row]]:
        """Run every task once; closing the iterator stops the work."""
        return _ExecutorRun(tasks, self).rows()


class _ExecutorRun:
    """One run on executors: the batches in flight, and those that were in flight when a worker died.

    A task that kills its worker is found by running the batches that were in flight again, one at a time, and halving those
    whose worker dies again. Workers also die of other causes, so a task is blamed only if it was alone twice on a worker that
    had run something before; a worker that dies while it starts says nothing about its batch.
    """

    def __init__(self, tasks: Sequence[Task], engine: ExecutorEngine) -> None:
        self._engine = engine
        self._batcher = Batcher(tasks)
        self._executor = engine.make()
        self._flying: dict[Future[list[Row]], TaskBatch] = {}
        self._suspects: list[TaskBatch] = []
        self._on_trial: TaskBatch | None = None
        self._deaths: Counter[Task] = Counter()
        self._dead_starts = 0
        """Workers in succession that died before they ran anything."""
        self._is_started = False
        """Whether a worker has run something since one died."""

    def rows(self) -> Iterator[list[Row]]:
        """Yield rows as they finish; an empty list when none has for a while."""
        try:
            while len(self._batcher) or self._flying or self._suspects:
                if self._suspects and not self._flying:
                    # Nothing runs beside a suspect, or it could be blamed for a worker that another task killed.
                    self._try_alone(self._suspects.pop() if self._is_started else NO_TASKS)
                elif not self._suspects:
                    self._keep_busy()
                yield from self._harvest()
        finally:
            for future in self._flying:
                future.cancel()
            self._engine.stop(self._executor)

    def _keep_busy(self) -> None:
        room = max(1, self._engine.slots()) * BATCHES_PER_SLOT
        in_flight = sum(len(batch.tasks) for batch in self._flying.values())
        while len(self._batcher) and len(self._flying) < room and in_flight < MOST_TASKS_IN_FLIGHT:
            batch = self._batcher.next()
            in_flight += len(batch.tasks)
            try:
                self._submit(batch)
            except BrokenExecutor:
                self._suspects.append(batch)
                return

    def _submit(self, batch: TaskBatch) -> None:
        self._flying[self._executor.submit(run_batch, batch, LONGEST_BATCH_SECONDS)] = batch

    def _try_alone(self, batch: TaskBatch) -> None:
        try:
            self._submit(batch)
        except BrokenExecutor:  # it was broken already: that says nothing about this batch
            self._engine.stop(self._executor)
            self._executor = self._engine.make()
            if batch is not NO_TASKS:
                self._suspects.append(batch)
                batch = NO_TASKS
            self._submit(batch)
        self._on_trial = batch

    def _harvest(self) -> Iterator[list[Row]]:
        """Yield the rows of batches that have ended, and those of tasks that are to blame."""
        wait(self._flying, timeout=QUIET_SECONDS, return_when=FIRST_COMPLETED)
        ended = [future for future in self._flying if future.done()]
        if not ended:
            yield []
        for future in ended:
            batch = self._flying.pop(future)
            rows = _rows_of(future)
            if rows is None:
                self._is_started = False
                yield self._after_a_death(batch)
            else:
                self._is_started, self._dead_starts = True, 0
                self._batcher.take_back(batch, rows)
                yield rows

    def _after_a_death(self, batch: TaskBatch) -> list[Row]:
        if batch is NO_TASKS:
            self._dead_starts += 1
            if self._dead_starts == DEAD_STARTS_TO_END:
                raise WorkerError(NONE_LIVES)
        elif batch is not self._on_trial:
            self._suspects.append(batch)
        elif len(batch.tasks) > 1:
            half = len(batch.tasks) // 2
            self._suspects += [TaskBatch(part, batch.tables) for part in (batch.tasks[half:], batch.tasks[:half])]
        else:
            (task,) = batch.tasks
            self._deaths[task] += 1
            if self._deaths[task] == DEATHS_TO_BLAME:
                return [Row.failure(task, DIED)]
            self._suspects.append(batch)
        return []


def _rows_of(future: Future[list[Row]]) -> list[Row] | None:
    """Return the rows of a finished batch, or None if its worker died."""
    try:
        return future.result()
    except BrokenExecutor:
        return None
    except CancelledError as error:
        raise WorkerError("the cluster cancelled work that it was given; what is done is kept.") from error
    except Exception as error:
        if type(error).__name__ == "KilledWorker":  # Dask's BrokenExecutor; the class exists only where Dask is installed
            return None
        raise WorkerError(f"a batch of tasks could not be run: {type(error).__name__}: {error}") from error


class LocalEngine(ExecutorEngine):
    """Runs tasks in processes on this machine."""

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = count = check_n_jobs(n_jobs)
        super().__init__(lambda: _process_pool(count), lambda: count, _kill_pool, f"{count} local processes")


def _process_pool(n_jobs: int) -> ProcessPoolExecutor:
    # Fresh processes: a fork would copy locks that threads of this one may hold.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(n_jobs, mp_context=context, initializer=_begin_worker)


def _begin_worker() -> None:
    """Leave Ctrl-C to the parent, and exit when the parent does: a killed parent cannot stop its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if not multiprocessing.current_process().name.endswith("-1"):
        logging.getLogger("gradus").setLevel(logging.ERROR)  # only the first worker logs that it is compiling
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)


def _kill_pool(executor: Executor) -> None:
    """Terminate the processes now: a running search may take minutes, and nothing of an unfinished task is kept."""
    processes = list((getattr(executor, "_processes", None) or {}).values())
    executor.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        with contextlib.suppress(OSError):
            process.terminate()
    for process in processes:
        process.join(timeout=5)


class DaskEngine(ExecutorEngine):
    """Runs tasks on a Dask cluster."""

    def __init__(self, address: Any, *, timeout: str = "10s") -> None:
        try:
            distributed: Any = importlib.import_module("distributed")
        except ImportError as error:
            raise MissingExtraError("running on a Dask cluster needs an extra: pip install distributed.") from error
        self._own = isinstance(address, str)
        try:
            self.client = distributed.Client(address, timeout=timeout, set_as_default=False) if self._own else address
        except (OSError, ValueError, TimeoutError) as error:
            raise WorkerError(f"no Dask scheduler answers at {address}: {error}") from error
        try:
            self._check_versions()
        except WorkerError:
            self._close()
            raise
        super().__init__(lambda: self.client.get_executor(pure=False), self._count_slots, self._end, "a Dask cluster")

    def run(self, tasks: Sequence[Task]) -> Iterator[list[Row]]:
        """Run every task once; if the scheduler dies, the run ends with a `WorkerError`."""
        try:
            yield from super().run(tasks)
        except GradusError:
            raise
        except Exception as error:  # a lost connection raises errors of many classes
            raise WorkerError(
                f"the Dask scheduler no longer answers ({type(error).__name__}: {error}); what is done is kept: start it and "
                "run the same command again."
            ) from error

    def _count_slots(self) -> int:
        if self.client.status != "running":
            raise ConnectionError("the connection is lost")
        return int(sum(self.client.nthreads().values()))

    def _check_versions(self) -> None:
        try:
            theirs = self.client.run(_gradus_version)
        except ImportError as error:
            raise WorkerError(
                f"workers of the cluster cannot import Gradus ({error}); install version {__version__} everywhere."
            ) from error
        other = {version for version in theirs.values() if version != __version__}
        if other:
            raise WorkerError(
                f"workers of the cluster have Gradus {', '.join(sorted(other))}, but this is {__version__}; "
                "install the same version everywhere."
            )

    def _end(self, executor: Executor) -> None:
        with contextlib.suppress(Exception):  # the scheduler may be gone
            executor.shutdown(wait=False)
        self._close()

    def _close(self) -> None:
        if self._own:
            with contextlib.suppress(Exception):
                self.client.close(timeout=SECONDS_TO_CLOSE)


def _gradus_version() -> str:
    return __version__


def choose_engine(*, n_jobs: int | None = None, dask: str | None = None, backend: str = "cpu") -> Engine:
    """Pick the engine that a user asked for."""
    check_choice("backend", backend, ("cpu", "cuda"))
    if backend == "cuda" and (dask is not None or n_jobs is not None):
        raise SettingsError("a GPU runs in this process: leave out --n-jobs and --dask, or --backend cuda.")
    if dask is not None and n_jobs is not None:
        raise SettingsError("give either --n-jobs or the address of a Dask cluster, not both.")
    if dask is not None and ":" not in dask:
        raise SettingsError(f"the Dask scheduler {dask!r} is not an address; give one like tcp://HOST:8786.")
    if backend == "cuda":
        from gradus_paper.gpu_engine import CudaEngine

        return CudaEngine()
    return LocalEngine(n_jobs) if dask is None else DaskEngine(dask)
