"""`CpuThreads`: CPU threads that finish the searches on which a GPU would be slow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait

from gradus._core.run import Callback, Progress
from gradus._search.driver import SearchEnd, resume, run_search
from gradus._search.job import Checkpoint, Job
from gradus._search.threads import SearchThreads

__all__ = ["CpuThreads"]

WAITING_PER_THREAD = 1
"""Searches waiting per thread, so that none is ever idle."""

MOST_WAITING = 256


class CpuThreads:
    """Threads beside a GPU, and the searches that they run."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._threads = SearchThreads(max(count, 1))
        self._running: dict[Future[SearchEnd], tuple[int, bool, list[int]]] = {}
        """For each future: the index of its job, whether it began here, and its steps so far."""
        self._steps_before = 0

    @property
    def wanted(self) -> int:
        """How many more searches the threads can take."""
        return max(0, self.count * (1 + WAITING_PER_THREAD) - len(self._running))

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
        self._submit(index, False, lambda callback: resume(job, since, callback=callback))

    def run(self, index: int, job: Job) -> None:
        """Run a job from its beginning."""
        self._submit(index, True, lambda callback: (run_search(job, callback=callback), None))

    def ended(self, seconds: float = 0.0) -> Iterator[tuple[int, Future[SearchEnd]]]:
        """Yield the index and future of each search that has ended, after waiting at most `seconds` for one."""
        if not self._running:
            return
        for future in wait(self._running, timeout=seconds, return_when=FIRST_COMPLETED).done:
            index, _, steps = self._running.pop(future)
            self._steps_before += steps[0]
            yield index, future

    def stop(self) -> None:
        """Stop every search soon, and drop the jobs that have not begun."""
        for future, (_, began_here, _) in list(self._running.items()):
            if began_here and future.cancel():
                del self._running[future]
        self._threads.stop()  # only now: a thread that stops would begin the next job

    def close(self) -> None:
        """Stop everything and drop the searches that are waiting."""
        for future in self._running:
            future.cancel()
        self._threads.close()

    def _submit(self, index: int, begins_here: bool, work: Callable[[Callback], SearchEnd]) -> None:
        steps = [0]

        def run(is_stopping: Callable[[], bool]) -> SearchEnd:
            def callback(progress: Progress) -> bool:
                steps[0] = progress.steps
                return is_stopping()

            return work(callback)

        self._running[self._threads.submit(run)] = index, begins_here, steps
