"""Where tasks run: processes of this machine or a cluster, both through joblib, or a GPU; all give the same rows."""

from __future__ import annotations

import contextlib
import importlib
import itertools
import logging
import os
import queue
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any

import gradus
from gradus.errors import MissingExtraError, SettingsError, WorkerError
from gradus.lab import Checkpoint, Job, run_many, wording
from gradus_paper.execution import TaskBatch, finished_row, fits, job_of, run_batch
from gradus_paper.orders import TargetOrder
from gradus_paper.row import Row
from gradus_paper.tasks import Task, check_word
from gradus_paper.training_sets import own_tables, problem_of

BATCH_SECONDS = 1.0
LONGEST_BATCH_SECONDS = 3.0  # after which a worker begins no further task of a batch; the rest is sent again
FIRST_GUESS_SECONDS = 0.25
MOST_TASKS_PER_BATCH = 256
LATEST_WEIGHT = 0.3  # weight of the latest batch in the mean time of a task
CLUSTER_BATCHES = 256  # batches in flight on a cluster at least, so that workers that join later have work at once
DEATHS_TO_END = 3  # deaths of workers in a row, with nothing done in between, that end a run
DEAD = ("TerminatedWorkerError", "BrokenProcessPool", "KilledWorker")  # a worker has died; classes that may be absent
QUIET_SECONDS = 0.5  # time without results after which an engine yields an empty list, so that earlier rows can be written
STOP_SECONDS = 30.0  # time for a GPU to return its searches

Begun = Mapping[bytes, Checkpoint]
Rows = Generator[list[Row], None, None]


class Engine:
    """Runs tasks and yields their rows as they finish, in any order."""

    name = ""  # in the record of the run
    _patience = 0.1  # seconds to wait for the work to end after a stop

    def __init__(self) -> None:
        self.left: dict[bytes, Checkpoint] = {}  # searches that were stopped, where an engine can return them
        self._over = threading.Event()

    def run(self, tasks: Sequence[Task], begun: Begun) -> Rows:
        """Run every task once; closing the iterator stops the work."""
        self._over.clear()
        return _in_thread(lambda: self._rows(tasks, begun), self._stop, self._patience)

    def _rows(self, tasks: Sequence[Task], begun: Begun) -> Iterator[list[Row]]:
        raise NotImplementedError

    def _stop(self) -> None:
        self._over.set()


def _in_thread(make: Callable[[], Iterator[list[Row]]], stop: Callable[[], None], seconds: float) -> Rows:
    """Yield what an iterator yields in a thread of its own; empty lists while it is busy, so that rows can be written."""
    ended: queue.SimpleQueue[list[Row] | BaseException | None] = queue.SimpleQueue()

    def drive() -> None:
        try:
            for rows in make():
                ended.put(rows)
            ended.put(None)
        except BaseException as error:  # raised again where the rows are waited for
            ended.put(error)

    thread = threading.Thread(target=drive, daemon=True)
    thread.start()
    try:
        while True:
            try:
                rows = ended.get(timeout=QUIET_SECONDS)
            except queue.Empty:
                yield []
                continue
            if rows is None:
                return
            if isinstance(rows, BaseException):
                raise rows
            yield rows
    finally:
        stop()
        thread.join(timeout=seconds)


class _Queue:
    """Tasks that wait for a worker, cut into batches of about a second."""

    def __init__(self, tasks: Iterable[Task], begun: Begun, most: int, folder: str = "") -> None:
        self.unsent, self._begun, self._most, self._folder = deque(tasks), begun, most, folder
        self._seconds = FIRST_GUESS_SECONDS
        self._compiled: set[str] = set()
        """Methods that a worker has run, so that their kernels are in the cache."""
        self.sent: dict[Task, None] = {}  # to a worker, and not back yet, in that order

    def batches(self) -> Iterator[TaskBatch]:
        """Yield batches until nothing waits."""
        while self.unsent:
            tasks = self._next(min(self._most, max(1, int(BATCH_SECONDS / self._seconds))))
            for task in tasks:
                self.unsent.remove(task)
            self.sent.update(dict.fromkeys(tasks))
            begun = tuple(self._begun.get(task.id_bytes) for task in tasks) if self._begun else ()
            yield TaskBatch(tasks, own_tables(tasks), begun, self._folder)

    def _next(self, count: int) -> tuple[Task, ...]:
        """Choose the next tasks: the first of each method goes alone, and others of it wait for what it compiles."""
        methods = {task: task.design.method for task in itertools.islice(self.unsent, MOST_TASKS_PER_BATCH)}
        compiling = {task.design.method for task in self.sent} - self._compiled
        ready = [task for task, method in methods.items() if method not in compiling]
        if not ready:  # nothing else is there to do; the newest of them is compiled last, or next in line
            newest = next(reversed(self.sent)).design.method
            ready = [task for task, method in methods.items() if method == newest] or list(methods)
        if methods[ready[0]] not in self._compiled | compiling:
            return (ready[0],)
        return tuple(task for task in ready if methods[task] in self._compiled | compiling)[:count]

    def take_back(self, batch: TaskBatch, rows: Sequence[Row], seconds: float) -> None:
        """Record the rows of a batch; tasks without a row wait again."""
        for task in batch.tasks:
            self.sent.pop(task)
        self._compiled.update(task.design.method for task in batch.tasks[: len(rows)])
        self.unsent.extendleft(reversed(batch.tasks[len(rows) :]))
        self._seconds += LATEST_WEIGHT * (max(seconds / len(rows), 1e-4) - self._seconds)

    def left(self) -> list[Task]:
        """Return the tasks without a row, those that were with a worker last."""
        return [*self.unsent, *self.sent]


class JoblibEngine(Engine):
    """Runs batches of tasks with a backend of joblib, again and again if workers die."""

    most = MOST_TASKS_PER_BATCH
    folder = ""
    """Where tasks that take minutes keep checkpoints."""

    def _rows(self, tasks: Sequence[Task], begun: Begun) -> Iterator[list[Row]]:
        # A task that a worker had when one died may be the cause, so such tasks go last and then run one at a time: the
        # others cannot be lost to it, and it is only named when it was alone.
        left, suspects, deaths = list(tasks), list[Task](), 0
        while left or suspects:
            alone = not left
            waiting = _Queue(left or suspects, begun, 1 if alone else self.most, self.folder)
            try:
                for batch, rows, seconds in self._results(waiting, alone=alone):
                    waiting.take_back(batch, rows, seconds)
                    deaths = 0
                    yield rows
            except Exception as error:
                if self._over.is_set() or type(error).__name__ not in DEAD:
                    raise
                deaths += 1
                if deaths == DEATHS_TO_END:
                    raise WorkerError(_said_of_deaths(waiting.left(), alone=alone)) from error
            left, suspects = ([], waiting.left()) if alone else (list(waiting.unsent), [*suspects, *waiting.sent])

    def _results(self, waiting: _Queue, *, alone: bool) -> Iterator[tuple[TaskBatch, list[Row], float]]:
        """Send batches to workers and yield their results as they come."""
        from joblib import Parallel, delayed

        with self._backend() as (n_jobs, in_flight):
            options = {"batch_size": 1, "pre_dispatch": 1 if alone else in_flight, "max_nbytes": None}
            parallel = Parallel(n_jobs, return_as="generator_unordered", **options)
            yield from parallel(delayed(_timed)(batch, LONGEST_BATCH_SECONDS) for batch in waiting.batches())

    def _backend(self) -> contextlib.AbstractContextManager[tuple[int, int]]:
        raise NotImplementedError  # choose joblib's backend; the value: how many jobs and how many batches it takes at a time


def _said_of_deaths(left: list[Task], *, alone: bool) -> str:
    """Write the one sentence that a run ends with when its workers keep dying."""
    task = left[-1]
    what = f"while they ran {task.design.problem}, {task.n_train} examples, sample {task.sample} alone" if alone else "at once"
    died = f"{DEATHS_TO_END} worker processes died in a row {what} (killed, or out of memory)"
    return (
        f"{died}; {wording.counted(len(left), 'task')} left; what is done is kept, and the same command continues from there."
    )


def _timed(batch: TaskBatch, seconds: float) -> tuple[TaskBatch, list[Row], float]:
    """Run a batch in a worker; the batch comes back with its rows, since results come in any order."""
    begin = time.monotonic()
    return batch, run_batch(batch, seconds), time.monotonic() - begin


def _begin_worker() -> None:
    """Leave Ctrl-C to the parent, and exit when the parent does: a killed parent cannot stop its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.getLogger("gradus").setLevel(logging.ERROR)  # no line about compiling from every worker
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


class LocalEngine(JoblibEngine):
    """Runs tasks in processes on this machine."""

    def __init__(self, n_jobs: int | None = None) -> None:
        super().__init__()
        import joblib

        if n_jobs is not None and (type(n_jobs) is not int or n_jobs < -1 or n_jobs == 0):
            raise SettingsError(f"n_jobs is {n_jobs!r}; it must be a number of processes, or -1 for one per core.")
        self.n_jobs = joblib.cpu_count() if n_jobs in (None, -1) else n_jobs
        self.name = wording.counted(self.n_jobs, "local process", "local processes")

    @contextlib.contextmanager
    def _backend(self) -> Iterator[tuple[int, int]]:
        from joblib import parallel_config

        with parallel_config("loky", initializer=_begin_worker):
            # Two processes even for one job: joblib runs a single one in this process, which could then not be stopped.
            yield max(2, self.n_jobs), self.n_jobs if self.n_jobs == 1 else 2 * self.n_jobs

    def _stop(self) -> None:
        """End the processes now: a running search may take minutes, and nothing of an unfinished task is kept."""
        super()._stop()
        from joblib.externals.loky import get_reusable_executor

        get_reusable_executor(reuse=True).shutdown(wait=False, kill_workers=True)


class DaskEngine(JoblibEngine):
    """Runs tasks on a Dask cluster."""

    name = "a Dask cluster"

    def __init__(self, address: Any, *, timeout: str = "10s") -> None:
        super().__init__()
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
            self._stop()
            raise

    @contextlib.contextmanager
    def _backend(self) -> Iterator[tuple[int, int]]:
        from joblib import parallel_config

        logging.getLogger("tornado.application").setLevel(logging.CRITICAL)  # tracebacks of connections that end
        try:
            with parallel_config("dask", client=self.client):
                yield -1, max(CLUSTER_BATCHES, 4 * sum(self.client.nthreads().values()))
        except Exception as error:
            if type(error).__name__ in DEAD or isinstance(error, WorkerError):
                raise
            said = f"the Dask cluster no longer answers ({type(error).__name__}: {error}); what is done is kept"
            # A lost connection raises errors of many classes.
            raise WorkerError(f"{said}: start it and run the same command again.") from error

    def _check_versions(self) -> None:
        """Raise `WorkerError` unless all workers have this version of Gradus."""
        here = gradus.__version__
        try:
            other = set(self.client.run(_gradus_version).values()) - {here}
        except ImportError as error:
            said = f"workers of the cluster cannot import Gradus ({error}); install version {here} everywhere."
            raise WorkerError(said) from error
        if other:
            theirs = ", ".join(sorted(other))
            raise WorkerError(f"workers of the cluster have Gradus {theirs}, but this is {here}; install the same version.")

    def _stop(self) -> None:
        super()._stop()
        if self._own:
            with contextlib.suppress(Exception):  # the scheduler may be gone
                self.client.close(timeout=0.3)


def _gradus_version() -> str:
    return gradus.__version__


class CudaEngine(Engine):
    """Runs searches on a GPU and everything else in this process; a stop fills `left`."""

    name = "a GPU"
    _patience = STOP_SECONDS

    def __init__(self, n_threads: int | None = None) -> None:
        super().__init__()
        if n_threads is not None and (type(n_threads) is not int or n_threads < 0):
            raise SettingsError(f"n_jobs is {n_threads!r}; beside a GPU it must be a number of CPU threads, 0 for none.")
        self._threads = max(1, (os.cpu_count() or 2) - 1) if n_threads is None else n_threads

    def _rows(self, tasks: Sequence[Task], begun: Begun) -> Iterator[list[Row]]:
        on_gpu = [task.design.method == "network" and not task.design.in_stages for task in tasks]
        searches, others = (list(itertools.compress(tasks, [flag == wanted for flag in on_gpu])) for wanted in (True, False))
        # The longest searches should begin first, and those with many examples and targets are the hardest.
        searches.sort(key=_size, reverse=True)
        yield from self._searched(searches, begun)
        yield from (run_batch(TaskBatch((task,))) for task in others if not self._over.is_set())

    def _searched(self, tasks: Sequence[Task], begun: Begun) -> Iterator[list[Row]]:
        """Run searches; one that raises becomes the row of a failed task, and the others continue."""
        sent: list[tuple[Task, TargetOrder]] = []
        ended: queue.SimpleQueue[Row] = queue.SimpleQueue()

        def jobs_of(some: Sequence[Task]) -> Iterator[Job]:
            # Read by another thread while the GPU is busy, so rows of failures cannot be yielded from here.
            for task in some:
                try:
                    job, order = job_of(task)
                except Exception as error:
                    ended.put(Row.failure(task, error))
                    continue
                sent.append((task, order))
                yield job

        # Those that have begun come first, so that their numbers are known.
        first = list(jobs_of([task for task in tasks if task.id_bytes in begun]))
        known = {index: begun[task.id_bytes] for index, (task, _) in enumerate(sent)}
        since = {index: checkpoint for index, checkpoint in known.items() if fits(checkpoint, first[index])}

        def keep(index: int, checkpoint: Checkpoint) -> None:
            self.left[sent[index][0].id_bytes] = checkpoint

        def fail(index: int, error: BaseException) -> None:
            ended.put(Row.failure(sent[index][0], error))

        jobs = itertools.chain(first, jobs_of([task for task in tasks if task.id_bytes not in begun]))
        on_gpu: dict[str, Any] = {"since": since, "left": keep, "failed": fail, "n_jobs": self._threads}
        stream = run_many(jobs, callback=lambda _: self._over.is_set(), **on_gpu)
        try:
            for index, outcome in stream:
                task, order = sent[index]
                if not outcome.stopped or task.design.settings.time_limit is not None:
                    try:
                        ended.put(finished_row(task, order, outcome, None))
                    except Exception as error:
                        ended.put(Row.failure(task, error))
                    yield _taken_from(ended)
        except Exception as error:
            if type(error).__module__.partition(".")[0] in (
                "cupy",
                "cupy_backends",
            ):  # not caused by a task, and none can continue
                raise WorkerError(f"the GPU failed: {type(error).__name__}: {error}; what is done is kept.") from error
            raise
        yield _taken_from(ended)


def _size(task: Task) -> int:
    """Return how large the network of a task is, times its examples."""
    n_targets = len(task.design.targets or problem_of(task.design.problem).target_names)
    return task.n_train * task.design.settings.gates_per_target * n_targets


def _taken_from(ended: queue.SimpleQueue[Row]) -> list[Row]:
    return [ended.get() for _ in range(ended.qsize())]


def choose_engine(*, n_jobs: int | None = None, dask: str | None = None, backend: str = "cpu") -> Engine:
    """Pick the engine that a user asked for."""
    check_word("backend", backend, ("cpu", "cuda"))
    if backend == "cuda":
        if dask is not None:
            raise SettingsError("a GPU runs in this process: leave out --dask, or --backend cuda.")
        return CudaEngine(None if n_jobs == -1 else n_jobs)
    if dask is None:
        return LocalEngine(n_jobs)
    if n_jobs is not None:
        raise SettingsError("give either --n-jobs or the address of a Dask cluster, not both.")
    if ":" not in dask:
        raise SettingsError(f"the Dask scheduler {dask!r} is not an address; give one like tcp://HOST:8786.")
    return DaskEngine(dask)
