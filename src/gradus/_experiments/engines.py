"""Who runs tasks: any `concurrent.futures` executor (local processes, a Dask cluster) or a GPU; all give the same rows."""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import queue
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor, wait
from multiprocessing import connection
from typing import Any, Protocol

from gradus._experiments.batches import Batcher
from gradus._experiments.tasks import Task
from gradus._experiments.work import Batch, Ordered, Row, failed_row, finish, prepare, run_batch
from gradus._machine import usable_cores
from gradus._search.front import Outcome
from gradus._search.learner import Job
from gradus.errors import MissingExtraError, SettingsError, WorkerError

__all__ = ["CudaEngine", "DaskEngine", "Engine", "ExecutorEngine", "LocalEngine", "choose_engine"]

BATCHES_A_SLOT = 2
MOST_TASKS_IN_FLIGHT = 4000
QUIET_SECONDS = 1.0
STOP_SECONDS = 30.0
DIED = "the worker process died while it ran this task (killed, or out of memory)"


class Engine(Protocol):
    """Runs tasks and gives their rows as they come, in any order."""

    name: str
    """For the record."""

    def run(self, tasks: Sequence[Task]) -> Iterator[list[Row]]:
        """Run every task once; closing the iterator stops the work.

        When nothing ends for about a second an empty list comes, so that rows that came before can be written.
        """
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
    >>> from gradus._experiments.tasks import Design
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
        suspects: list[Batch] = []
        on_trial: Batch | None = None
        try:
            while len(batcher) or flying or suspects:
                if suspects and not flying:
                    # Nothing runs beside a suspect, or it could be blamed for another's death.
                    on_trial = suspects.pop()
                    executor = self._submit_alone(executor, on_trial, flying)
                elif not suspects:
                    suspects += self._submit(executor, batcher, flying)
                yield from _harvest(flying, batcher, suspects, on_trial)
        finally:
            for future in flying:
                future.cancel()
            self._stop(executor)

    def _submit(self, executor: Executor, batcher: Batcher, flying: dict[Future[list[Row]], Batch]) -> list[Batch]:
        """Keep the workers busy; return a batch that could not be submitted because the executor is broken."""
        room = max(1, self._slots()) * BATCHES_A_SLOT
        while len(batcher) and len(flying) < room and _in_flight(flying) < MOST_TASKS_IN_FLIGHT:
            batch = batcher.next()
            try:
                flying[executor.submit(run_batch, batch)] = batch
            except BrokenExecutor:
                return [batch]
        return []

    def _submit_alone(self, executor: Executor, batch: Batch, flying: dict[Future[list[Row]], Batch]) -> Executor:
        """Run a batch that was in flight when a worker died, with nothing beside it."""
        try:
            flying[executor.submit(run_batch, batch)] = batch
        except BrokenExecutor:
            # It had broken before: that says nothing about this batch.
            self._stop(executor)
            executor = self._make()
            flying[executor.submit(run_batch, batch)] = batch
        return executor


def _harvest(
    flying: dict[Future[list[Row]], Batch], batcher: Batcher, suspects: list[Batch], on_trial: Batch | None
) -> Iterator[list[Row]]:
    """Give the rows of batches that have ended; a task that kills its worker is found by halving the batch on trial."""
    wait(flying, timeout=QUIET_SECONDS, return_when=FIRST_COMPLETED)
    ended = [future for future in flying if future.done()]
    if not ended:
        yield []
    for future in ended:
        batch = flying.pop(future)
        rows = _rows_of(future)
        if rows is not None:
            batcher.learn(batch, rows)
            yield rows
        elif batch is not on_trial:
            suspects.append(batch)
        elif len(batch.tasks) == 1:
            yield [failed_row(batch.tasks[0], DIED)]
        else:
            half = len(batch.tasks) // 2
            suspects += [Batch(part, batch.tables) for part in (batch.tasks[half:], batch.tasks[:half])]


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
        count = usable_cores() if workers is None else workers
        if count < 1:
            raise SettingsError(f"workers is {count}; it must be at least 1.")
        self.workers = count
        super().__init__(lambda: _process_pool(count), lambda: count, _kill_pool, f"{count} local processes")


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
        try:
            self._check_versions()
        except WorkerError:
            self._close()
            raise
        super().__init__(lambda: self.client.get_executor(pure=False), self._count_slots, self._end, "a Dask cluster")

    def _count_slots(self) -> int:
        return int(sum(self.client.nthreads().values()))

    def _check_versions(self) -> None:
        import gradus

        try:
            theirs = self.client.run(_gradus_version)
        except ImportError as error:
            raise WorkerError(
                f"workers of the cluster cannot import Gradus ({error}); install version {gradus.__version__} everywhere."
            ) from error
        other = {version for version in theirs.values() if version != gradus.__version__}
        if other:
            raise WorkerError(
                f"workers of the cluster have Gradus {', '.join(sorted(other))}, and this is {gradus.__version__}; "
                "install the same version everywhere."
            )

    def _end(self, executor: Executor) -> None:
        executor.shutdown(wait=False)
        self._close()

    def _close(self) -> None:
        if self._own:
            self.client.close()


def _gradus_version() -> str:
    import gradus

    return gradus.__version__


def _distributed() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise MissingExtraError("running on a Dask cluster needs an extra: pip install distributed.") from error


class CudaEngine:
    """Searches on a GPU and does the rest here.

    A thread of its own drives the GPU, so that finished rows never wait for the next search to end.
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
    """Put rows in a queue until there are no more, and then None; an error ends it, too."""
    try:
        for rows in _gpu_rows(tasks, stop):
            ended.put(rows)
            if stop.is_set():
                break
        ended.put(None)
    except Exception as error:  # raised again where the rows are waited for
        ended.put(error)


def _gpu_rows(tasks: Sequence[Task], stop: threading.Event) -> Iterator[list[Row]]:
    yield from _search_on_gpu([task for task in tasks if task.design.method == "network"], stop)
    for task in tasks:
        if task.design.method != "network":
            yield run_batch(Batch((task,)))


def _search_on_gpu(tasks: Sequence[Task], stop: threading.Event) -> Iterator[list[Row]]:
    """Run searches; one that raises is recorded like any other failure of a task, and the others go on."""
    cuda = importlib.import_module("gradus._search.cuda")
    sent: list[tuple[Task, Ordered]] = []
    failures: queue.SimpleQueue[Row] = queue.SimpleQueue()

    def prepared() -> Iterator[Job]:
        # Read on another thread while the GPU is busy, so nothing is yielded from here but jobs.
        for task in tasks:
            try:
                job, ordered = prepare(task)
            except Exception as error:
                failures.put(failed_row(task, error))
                continue
            sent.append((task, ordered))
            yield job

    stream = cuda.run_many(
        prepared(),
        callback=lambda _: stop.is_set(),
        helpers=max(1, usable_cores() - 1),
        failed=lambda index, error: failures.put(failed_row(sent[index][0], error)),
    )
    try:
        for index, found in stream:
            task, ordered = sent[index]
            yield [_finished(task, ordered, found), *_taken_from(failures)]
    except Exception as error:
        _raise_if_of_gpu(error)
        raise
    yield _taken_from(failures)


def _taken_from(failures: queue.SimpleQueue[Row]) -> list[Row]:
    rows = []
    while not failures.empty():
        rows.append(failures.get())
    return rows


def _finished(task: Task, ordered: Ordered, found: Outcome) -> Row:
    try:
        return finish(task, ordered, found, None)
    except Exception as error:
        return failed_row(task, error)


def _raise_if_of_gpu(error: Exception) -> None:
    """Raise what says that the GPU itself failed: no task is to blame, and none can go on."""
    if type(error).__module__.partition(".")[0] in ("cupy", "cupy_backends"):
        raise WorkerError(f"the GPU failed: {type(error).__name__}: {error}; what is done is kept.") from error


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
    if dask is not None and ":" not in dask:
        raise SettingsError(f"the Dask scheduler {dask!r} is no address; give one like tcp://HOST:8786.")
    if backend == "cuda":
        return CudaEngine()
    return LocalEngine(workers) if dask is None else DaskEngine(dask)
