"""`Deadline`: cuts work into compiled calls so short that a time limit, a callback and Ctrl-C take effect at once."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from typing import Any

from gradus._core.kernels.clock import work_clock

__all__ = ["Deadline", "TimeUp"]

SECONDS_PER_CALL = 0.04  # long enough that the interpreter costs nothing, short enough for Ctrl-C
SECONDS_PER_REPORT = 0.1
GRACE = 0.2  # seconds after a time limit in which a first, greedy answer may still be completed


class TimeUp(Exception):  # noqa: N818 - not an error: the caller returns the best so far
    """Raised between two compiled calls once time is up."""


class Deadline:
    """A point in time that long-running work checks between two compiled calls."""

    def __init__(
        self,
        seconds: float | None = None,
        *,
        grace_end: float | None = None,
        cancelled: threading.Event | None = None,
        report: Callable[[str], Any] | None = None,
    ) -> None:
        self._end = math.inf if seconds is None else work_clock() + seconds
        self._grace_end = self._end + GRACE if grace_end is None else max(grace_end, self._end)
        self._cancelled = threading.Event() if cancelled is None else cancelled
        self._report, self._next_report = report, -math.inf
        self.detail = ""

    def is_over(self, *, grace: bool = False) -> bool:
        """Return whether time is up; with `grace`, whether even a first answer has to be given up."""
        return self._cancelled.is_set() or work_clock() >= (self._grace_end if grace else self._end)

    def check(self, *, grace: bool = False) -> None:
        """Report progress if a report is due, and raise `TimeUp` if time is up."""
        if self._report is not None and work_clock() >= self._next_report:
            if self._report(self.detail) is True:
                self._cancelled.set()
            self._next_report = work_clock() + SECONDS_PER_REPORT
        if self.is_over(grace=grace):
            raise TimeUp

    def slices(self, total: int, *, first: int = 1 << 10, grace: bool = False) -> Iterator[tuple[int, int]]:
        """Cut `range(total)` into pieces that take about 40 ms each, and check the clock between them."""
        # The length of a piece follows from the time that the one before took, so it must not affect any result.
        begin, length = 0, max(first, 1)
        while begin < total:
            stop, started = min(total, begin + length), work_clock()
            yield begin, stop
            elapsed = max(work_clock() - started, 1e-6)
            length = max(1, int(min((stop - begin) * SECONDS_PER_CALL / elapsed, 8 * length)))
            begin = stop
            if begin < total:
                self.check(grace=grace)
