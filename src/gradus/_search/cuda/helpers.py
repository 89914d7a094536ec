"""CPU threads that finish searches on which a GPU would be slow, while it goes on with the others."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import TYPE_CHECKING

from gradus._search.checkpoint import Checkpoint
from gradus._search.cuda.batch import Attempt
from gradus._search.front import Outcome, Progress, resume, run_search

if TYPE_CHECKING:
    from gradus._search.learner import Job

__all__ = ["Ended", "Helpers"]

WAITING_EACH = 1
"""Searches that wait for a thread, so that none is ever without."""

Ended = tuple[Outcome, Checkpoint | None]
Key = Attempt | int
"""A search that was under way, or the number of a job that begins here."""
Work = Callable[[Callable[[Progress], bool]], Ended]


class Helpers:
    """Threads for searches: the compiled search needs no lock of the interpreter, so they do not get in each other's way.

    They are no pool of `concurrent.futures`, since Python waits for such threads at its end: a program that fails while it
    holds the results of a run would then go on until the longest search has ended.

    Parameters
    ----------
    count : int
        Threads; with 0 there is one, which wants nothing but takes what it is given.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._threads: list[threading.Thread] = []
        self._waiting: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._flying: dict[Future[Ended], tuple[Key, list[int]]] = {}
        self._steps_before = 0
        self._stop = threading.Event()

    @property
    def wanted(self) -> int:
        """How many more searches the threads could do with."""
        return max(0, self.count * (1 + WAITING_EACH) - len(self._flying))

    @property
    def busy(self) -> bool:
        """Whether something is under way or waits."""
        return bool(self._flying)

    @property
    def steps(self) -> int:
        """Steps taken so far."""
        return self._steps_before + sum(steps[0] for _, steps in self._flying.values())

    def resume(self, one: Attempt, since: Checkpoint) -> None:
        """Finish a search that was under way elsewhere."""
        job = one.prepared
        self._submit(one, lambda callback: resume(job.X, job.Y, job.settings, since, callback=callback))

    def run(self, index: int, job: Job) -> None:
        """Run a job from its beginning, all its attempts."""
        self._submit(index, lambda callback: (run_search(job.X, job.Y, job.settings, job.seed, callback=callback), None))

    def ended(self, seconds: float = 0.0) -> Iterator[tuple[Key, Future[Ended]]]:
        """Give what has ended, after waiting so long for something to end."""
        if not self._flying:
            return
        for future in wait(self._flying, timeout=seconds, return_when=FIRST_COMPLETED).done:
            key, steps = self._flying.pop(future)
            self._steps_before += steps[0]
            yield key, future

    def stop(self) -> None:
        """Stop every search soon, and forget the jobs that have not begun."""
        for future, (key, _) in list(self._flying.items()):
            if isinstance(key, int) and future.cancel():
                del self._flying[future]
        self._stop.set()  # only now: a thread that stops would begin the next job

    def close(self) -> None:
        """Stop everything and forget what waits."""
        for future in self._flying:
            future.cancel()
        self._stop.set()
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join()

    def _submit(self, key: Key, work: Work) -> None:
        future: Future[Ended] = Future()
        steps = [0]

        def callback(progress: Progress) -> bool:
            steps[0] = progress.total_steps
            return self._stop.is_set()

        def run() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(work(callback))
                except BaseException as error:  # raised again where the result is asked for
                    future.set_exception(error)

        self._flying[future] = key, steps
        self._waiting.put(run)
        if len(self._threads) < max(self.count, 1):
            self._threads.append(threading.Thread(target=self._run_what_waits, name="search", daemon=True))
            self._threads[-1].start()

    def _run_what_waits(self) -> None:
        while (run := self._waiting.get()) is not None:
            run()
