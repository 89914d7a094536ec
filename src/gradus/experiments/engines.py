"""Who runs tasks: any `concurrent.futures` executor (local processes, a Dask cluster) or a GPU; all give the same rows."""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor, wait
from multiprocessing import connection
from typing import Any, Protocol

from gradus.errors import MissingExtraError, SettingsError, WorkerError
from gradus.experiments.batches import Batcher
from gradus.experiments.tasks import Task
from gradus.experiments.work import Batch, Ordered, Row, failed_row, finish, prepare, run_batch

__all__ = ["CudaEngine", "DaskEngine", "Engine", "ExecutorEngine", "LocalEngine", "choose_engine"]

BATCHES_A_SLOT = 2
MOST_TASKS_IN_FLIGHT = 4000
DIED = "the worker process died while it ran this task (killed, or out of memory)"


class Engine(Protocol):
    """Runs tasks and gives their rows as they come, in any order."""

    name: str
    """For the record."""

    def run(self, tasks: Sequence[Task]) -> Iterator[list[Row]]:
        """Run every task once; closing the iterator stops the work."""
        ...


class ExecutorEngine:
    """Runs batches on any executor.

    Parameters
    ----------
    make : callable
        Makes an executor; called again if one breaks because a worker died.
    slots : callable
        How many batches run at the same time now.
    stop : callable, optional
        Ends an executor at once, whatever it is doing.
    name : str
        For the record.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from gradus.experiments.tasks import Design
    >>> engine = ExecutorEngine(lambda: ThreadPoolExecutor(1), lambda: 1)
    >>> [row["n_train"] for rows in engine.run([Task(Design("add3"), 8, 0)]) for row in rows]
    [8]
    """

    def __init__(
        self,
        make: Callable[[], Executor],
        slots: Callable[[], int],
        stop: Callable[[Executor], None] | None = None,
        name: str = "an executor",
    ) -> None:
        self._make, self._slots, self.name = make, slots, name
        self._stop = stop or (lambda executor: executor.shutdown(wait=False))

    def run(self, tasks: Sequence[Task]) -> Iterator[list[Row]]:
        """Run every task once; closing the iterator stops the work."""
        batcher = Batcher(tasks)
        executor = self._make()
        flying: dict[Future[list[Row]], Batch] = {}
        try:
            while len(batcher) or flying:
                suspects = self._submit(executor, batcher, flying)
                if not suspects:
                    wait(flying, return_when=FIRST_COMPLETED)
                for future in [future for future in flying if future.done()]:
                    batch = flying.pop(future)
                    rows = _rows_of(future)
                    if rows is None:
                        suspects.append(batch)
                        continue
                    batcher.learn(batch, rows)
                    yield rows
                for batch in suspects:
                    executor, rows = self._alone(executor, batch)
                    yield rows
        finally:
            for future in flying:
                future.cancel()
            self._stop(executor)

    def _submit(
        self, executor: Executor, batcher: Batcher, flying: dict[Future[list[Row]], Batch]
    ) -> list[Batch]:
        """Keep the workers busy; return a batch that could not be submitted because the executor is broken."""
        room = max(1, self._slots()) * BATCHES_A_SLOT
        while len(batcher) and len(flying) < room and _in_flight(flying) < MOST_TASKS_IN_FLIGHT:
            batch = batcher.next()
            try:
                flying[executor.submit(run_batch, batch)] = batch
            except BrokenExecutor:
                return [batch]
        return []

    def _alone(self, executor: Executor, batch: Batch) -> tuple[Executor, list[Row]]:
        """Run a batch that was in flight when a worker died, with nothing beside it; a deadly task is found by halving."""
        try:
            rows = _rows_of(executor.submit(run_batch, batch))
        except BrokenExecutor:
            # It had broken before: that says nothing about this batch.
            self._stop(executor)
            return self._alone(self._make(), batch)
        if rows is not None:
            return executor, rows
        if len(batch.tasks) == 1:
            return executor, [failed_row(batch.tasks[0], DIED)]
        rows = []
        half = len(batch.tasks) // 2
        for part in (batch.tasks[:half], batch.tasks[half:]):
            executor, some = self._alone(executor, Batch(part, batch.tables))
            rows += some
        return executor, rows


def _in_flight(flying: dict[Future[list[Row]], Batch]) -> int:
    return sum(len(batch.tasks) for batch in flying.values())


def _rows_of(future: Future[list[Row]]) -> list[Row] | None:
    """Rows of a finished batch, or None if the worker that ran it died."""
    try:
        return future.result()
    except BrokenExecutor:
        return None
    except CancelledError as error:
        raise WorkerError("the cluster cancelled work that it was given; what is done is kept.") from error
    except Exception as error:
        if type(error).__name__ == "KilledWorker":  # Dask's word for the same, known only where Dask is installed
            return None
        raise WorkerError(f"a batch of tasks could not be run: {type(error).__name__}: {error}") from error


class LocalEngine(ExecutorEngine):
    """Runs tasks in processes on this machine.

    Parameters
    ----------
    workers : int, optional
        Processes; as many as this process may use cores if not given.
    """

    def __init__(self, workers: int | None = None) -> None:
        count = _usable_cores() if workers is None else workers
        if count < 1:
            raise SettingsError(f"workers is {count}; it must be at least 1.")
        self.workers = count
        super().__init__(lambda: _process_pool(count), lambda: count, _kill_pool, f"{count} local processes")


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _process_pool(workers: int) -> ProcessPoolExecutor:
    # Fresh processes: a fork would copy locks that threads of this one may hold.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_begin_worker)


def _begin_worker() -> None:
    """Leave Ctrl-C to the parent, and do not outlive it: one killed outright cannot send word."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)


def _kill_pool(executor: Executor) -> None:
    """End the processes now: a search under way may last minutes, and nothing of an unfinished task is kept."""
    processes = list((getattr(executor, "_processes", None) or {}).values())
    executor.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        with contextlib.suppress(OSError):
            process.terminate()
    for process in processes:
        process.join(timeout=5)


class DaskEngine(ExecutorEngine):
    """Runs tasks on a Dask cluster.

    Parameters
    ----------
    address : str or distributed.Client
        The scheduler's address, for instance ``"tcp://host:8786"``, or a client that is connected already.
    timeout : str
        How long to wait for the scheduler.
    """

    def __init__(self, address: Any, *, timeout: str = "10s") -> None:
        distributed = _distributed()
        self._own = isinstance(address, str)
        try:
            self.client = distributed.Client(address, timeout=timeout, set_as_default=False) if self._own else address
        except (OSError, ValueError, TimeoutError) as error:
            raise WorkerError(f"no Dask scheduler answers at {address}: {error}") from error
        self._check_versions()
        super().__init__(lambda: self.client.get_executor(pure=False), self._count_slots, self._end, "a Dask cluster")

    def _count_slots(self) -> int:
        return int(sum(self.client.nthreads().values()))

    def _check_versions(self) -> None:
        import gradus

        theirs = self.client.run(_gradus_version)
        other = {version for version in theirs.values() if version != gradus.__version__}
        if other:
            raise WorkerError(
                f"workers of the cluster have Gradus {', '.join(sorted(other))}, and this is {gradus.__version__}; "
                "install the same version everywhere."
            )

    def _end(self, executor: Executor) -> None:
        executor.shutdown(wait=False)
        if self._own:
            self.client.close()


def _gradus_version() -> str:
    import gradus

    return gradus.__version__


def _distributed() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise MissingExtraError("running on a Dask cluster needs an extra: pip install 'gradus[cluster]'.") from error


class CudaEngine:
    """Searches on a GPU and does the rest here."""

    name = "a GPU"

    def run(self, tasks: Sequence[Task]) -> Iterator[list[Row]]:
        """Run every task once; closing the iterator stops the work."""
        cuda = importlib.import_module("gradus.search.cuda")
        sent: list[tuple[Task, Ordered]] = []
        unfit: list[Row] = []

        def jobs() -> Iterator[Any]:
            for task in tasks:
                if task.design.method != "network":
                    continue
                try:
                    prepared, ordered = prepare(task)
                except Exception as error:  # recorded like any other failure of a task
                    unfit.append(failed_row(task, error))
                    continue
                sent.append((task, ordered))
                yield prepared

        for index, found in cuda.run_many(jobs()):
            task, ordered = sent[index]
            yield [finish(task, ordered, found, None)]
        for task in tasks:
            if task.design.method != "network":
                yield run_batch(Batch((task,)))
        yield unfit


def choose_engine(*, workers: int | None = None, dask: str | None = None, backend: str = "cpu") -> Engine:
    """Pick the engine that a user asked for.

    Examples
    --------
    >>> choose_engine(workers=2).workers
    2
    """
    if backend not in ("cpu", "cuda"):
        raise SettingsError(f"backend is {backend!r}; it must be 'cpu' or 'cuda'.")
    if backend == "cuda" and (dask is not None or workers is not None):
        raise SettingsError("a GPU runs in this process: leave out --workers and --dask, or --backend cuda.")
    if dask is not None and workers is not None:
        raise SettingsError("give either a number of local workers or the address of a Dask cluster, not both.")
    if backend == "cuda":
        return CudaEngine()
    return LocalEngine(workers) if dask is None else DaskEngine(dask)
