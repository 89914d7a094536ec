"""`Control`: early stops, progress reports, and threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TypeVar

from gradus._core.kernels.clock import work_clock
from gradus._core.run import Callback, Progress

__all__ = ["Control"]

T = TypeVar("T")
R = TypeVar("R")

SECONDS_PER_REPORT = 0.1
SECONDS_PER_POLL = 0.05


class Control:
    """Stops the work in time, reports to the callback, and runs independent pieces in threads.

    Only the thread that made it calls the callback and reads the clock; other threads check `stopped` between slices.
    """

    def __init__(
        self, time_limit: float | None = None, callback: Callback | None = None, n_jobs: int = 1, n_circuits: int = 1
    ) -> None:
        self.stopped: str | None = None
        self.n_circuits = n_circuits
        self._limit, self._callback, self._n_jobs = time_limit, callback, n_jobs
        self._begin = work_clock()
        self._told = self._begin - SECONDS_PER_REPORT
        self._owner = threading.get_ident()
        self._shares = [0.0] * n_circuits
        self._latest = 0, Progress(stage="teach", total=1, errors=0, gates=0)
        """The circuit that was reported last, and its progress."""

    def report(self, circuit: int, progress: Progress, share: float) -> None:
        """Note the progress of a circuit, of which `share` is done."""
        self._latest = circuit, progress
        self._shares[circuit] = max(self._shares[circuit], share)

    def stop(self) -> bool:
        """Return whether to stop now; every thread asks between slices, and the owner also checks clock and callback."""
        if self.stopped is None and threading.get_ident() == self._owner:
            self._check()
        return self.stopped is not None

    def _check(self) -> None:
        now = work_clock()
        elapsed = now - self._begin
        if self._limit is not None and elapsed >= self._limit:
            self.stopped = "time_limit"
        elif self._callback is not None and now - self._told >= SECONDS_PER_REPORT:
            self._told = now
            if self._callback(self._progress(elapsed)) is True:
                self.stopped = "callback"

    def _progress(self, elapsed: float) -> Progress:
        circuit, progress = self._latest
        share = min(sum(self._shares) / self.n_circuits, 1.0)
        eta = elapsed * (1 - share) / share if share > 0 else None
        detail = f"circuit {circuit + 1} of up to {self.n_circuits}" if self.n_circuits > 1 else ""
        return replace(progress, eta=eta, detail=detail)

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """Apply a function to every item, in threads if there are several; results are in the order of the items."""
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
        """Wait for threads while checking clock and callback; an interrupt stops them as a time limit does."""
        while True:
            try:
                if not wait(futures, timeout=SECONDS_PER_POLL).not_done:
                    return
                self.stop()
            except KeyboardInterrupt:
                self.stopped = "interrupted"
            except BaseException:
                self.stopped = "error"  # raised by the callback: let the threads end first
                raise
