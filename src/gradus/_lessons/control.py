"""Early stops, progress reports, and threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

from gradus._clock import work_clock
from gradus._progress import Callback, Progress

__all__ = ["Control"]

T = TypeVar("T")
R = TypeVar("R")

TELL_EVERY = 0.1
POLL_EVERY = 0.05


class Control:
    """Stops the work in time, tells the callback, and runs independent pieces in threads.

    Only the thread that made it calls the callback and looks at the clock; other threads see `stopped` between slices.
    """

    def __init__(
        self, time_limit: float | None = None, callback: Callback | None = None, n_jobs: int = 1, n_circuits: int = 1
    ) -> None:
        self.stopped: str | None = None
        self.n_circuits = n_circuits
        self._limit, self._callback, self._n_jobs = time_limit, callback, n_jobs
        self._begin = work_clock()
        self._told = self._begin - TELL_EVERY
        self._owner = threading.get_ident()
        self._shares = [0.0] * n_circuits
        self._latest: tuple[str, int, int, int, int, int, int] = ("teach", 0, 0, 1, -1, 0, 0)

    def report(
        self, stage: str, circuit: int, lesson: int, n_lessons: int, target: int, errors: int, gates: int, share: float
    ) -> None:
        """Note what a thread is doing; `share` is how much of its own circuit is done."""
        self._latest = (stage, circuit, lesson, n_lessons, target, errors, gates)
        self._shares[circuit] = max(self._shares[circuit], share)

    def stop(self) -> bool:
        """Whether to stop now. Called between slices by every thread; the owner also looks at clock and callback."""
        if self.stopped is None and threading.get_ident() == self._owner:
            self._look()
        return self.stopped is not None

    def _look(self) -> None:
        now = work_clock()
        elapsed = now - self._begin
        if self._limit is not None and elapsed >= self._limit:
            self.stopped = "time_limit"
        elif self._callback is not None and now - self._told >= TELL_EVERY:
            self._told = now
            if self._callback(self._progress(elapsed)) is True:
                self.stopped = "callback"

    def _progress(self, elapsed: float) -> Progress:
        stage, circuit, lesson, n_lessons, target, errors, gates = self._latest
        share = min(sum(self._shares) / self.n_circuits, 1.0)
        return Progress(
            stage=stage,
            done=lesson,
            total=n_lessons,
            target=target if target >= 0 else None,
            errors=errors,
            gates=gates,
            eta=elapsed * (1 - share) / share if share > 0 else None,
            detail=f"circuit {circuit + 1} of up to {self.n_circuits}" if self.n_circuits > 1 else "",
        )

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """Apply a function to every item, in threads if there are several jobs; results are in the items' order."""
        if self._n_jobs == 1 or len(items) < 2 or threading.get_ident() != self._owner:
            return [function(item) for item in items]
        pool = ThreadPoolExecutor(min(self._n_jobs, len(items)))
        futures: list[Future[R]] = []
        try:
            futures = [pool.submit(function, item) for item in items]
            self._await(futures)
        finally:
            pool.shutdown(wait=True)
        return [future.result() for future in futures]

    def _await(self, futures: list[Future[R]]) -> None:
        """Wait for threads, looking at clock and callback; an interrupt stops them as a time limit does."""
        while True:
            try:
                if not wait(futures, timeout=POLL_EVERY).not_done:
                    return
                self.stop()
            except KeyboardInterrupt:
                self.stopped = "interrupted"
            except BaseException:
                self.stopped = "error"  # the callback raised: let the threads end before passing it on
                raise
