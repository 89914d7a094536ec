"""Threads that end with the program: for jobs that are read as results are taken, and for those beside a GPU."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import TypeVar

from gradus._core.run import Progress, Run
from gradus._search.driver import SearchEnd, resume, run_search
from gradus._search.job import Checkpoint, Job

__all__ = ["DaemonThreads", "SearchesOnCpu"]

T = TypeVar("T")
WAITING_PER_THREAD = 1
"""Searches waiting per thread beside a GPU, so that none is ever idle."""
MOST_WAITING = 256


class DaemonThreads:
    """Daemon threads that run functions in the order given; the compiled search releases the interpreter's lock.

    This is not an executor of `concurrent.futures`, because Python waits for an executor's threads at exit: a program that
    fails while searches are running would continue until the longest of them has ended.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._threads: list[threading.Thread] = []
        self._waiting: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()

    def submit(self, function: Callable[[], T]) -> Future[T]:
        """Run a function on a thread."""
        future: Future[T] = Future()

        def work() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(function())
                except BaseException as error:  # raised again by `future.result`
                    future.set_exception(error)

        self._waiting.put(work)
        if len(self._threads) < self.count:
            self._threads.append(threading.Thread(target=self._work, name="search", daemon=True))
            self._threads[-1].start()
        return future

    def close(self, timeout: float | None = None) -> None:
        """Wait at most `timeout` seconds for the threads to end; what they run was stopped before."""
        end = None if timeout is None else time.monotonic() + timeout
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join(None if end is None else max(0.0, end - time.monotonic()))

    def _work(self) -> None:
        while (work := self._waiting.get()) is not None:
            work()


class SearchesOnCpu:
    """The searches that run on threads beside a GPU, which would be slow on them."""

    def __init__(self, run: Run) -> None:
        self._run, self._threads, self._closing = run, DaemonThreads(max(run.n_jobs, 1)), False
        self._running: dict[Future[SearchEnd], tuple[int, bool, list[int]]] = {}
        """For each future: the index of its job, whether it began here, and its steps so far."""
        self._steps_before = 0

    @property
    def wanted(self) -> int:
        """How many more searches the threads can take."""
        return max(0, self._run.n_jobs * (1 + WAITING_PER_THREAD) - len(self._running))

    @property
    def full(self) -> bool:
        """Whether so many searches are waiting that no more should be read: they would only take memory."""
        return len(self._running) >= MOST_WAITING

    @property
    def busy(self) -> bool:
        """Whether any search is running or waiting."""
        return bool(self._running)

    @property
    def steps(self) -> int:
        """Steps taken so far."""
        return self._steps_before + sum(steps[0] for _, _, steps in self._running.values())

    def resume(self, index: int, job: Job, since: Checkpoint) -> None:
        """Finish a search that has begun elsewhere."""
        self._submit(index, False, lambda run: resume(job, since, run=run))

    def run(self, index: int, job: Job) -> None:
        """Run a job from its beginning."""
        self._submit(index, True, lambda run: (run_search(job, run=run), None))

    def ended(self, seconds: float = 0.0) -> Iterator[tuple[int, Future[SearchEnd]]]:
        """Yield the index and future of each search that has ended, after waiting at most `seconds` for one."""
        if not self._running:
            return
        for future in wait(self._running, timeout=seconds, return_when=FIRST_COMPLETED).done:
            index, _, steps = self._running.pop(future)
            self._steps_before += steps[0]
            yield index, future

    def drop_waiting(self) -> None:
        """Drop the jobs that have not begun."""
        for future, (_, began_here, _) in list(self._running.items()):
            if began_here and future.cancel():
                del self._running[future]

    def close(self) -> None:
        """Stop everything and drop the searches that are waiting."""
        self._closing = True
        for future in self._running:
            future.cancel()
        self._threads.close()

    def _submit(self, index: int, begins_here: bool, search: Callable[[Run], SearchEnd]) -> None:
        steps = [0]

        def count(progress: Progress) -> bool:
            steps[0] = progress.steps
            return self._closing or self._run.stopped is not None

        # A run of its own in the thread, which reports here: only the thread that made the run of all jobs may call back.
        self._running[self._threads.submit(lambda: search(Run(callback=count)))] = index, begins_here, steps
