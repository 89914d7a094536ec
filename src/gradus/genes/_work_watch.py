"""`WorkWatch`: one place that asks the clock and the callback whether long work should stop."""

from __future__ import annotations

from gradus._core.kernels.clock import work_clock
from gradus._core.run import Callback, Progress

__all__ = ["WorkWatch"]

SECONDS_BETWEEN_CALLS = 0.1


class WorkWatch:
    """Says when to stop: after `time_limit` seconds, or once the callback has returned True."""

    def __init__(self, time_limit: float | None = None, callback: Callback | None = None) -> None:
        now = work_clock()
        self.ends = None if time_limit is None else now + time_limit
        self.callback = callback
        self.stopped: str | None = None
        self._next_call = now
        self._outer: tuple[WorkWatch, str, int, int | None] | None = None

    def within(self, stage: str, done: int, total: int | None) -> WorkWatch:
        """Return a watch for a part of the work: it stops with this one, and reports where the whole stands."""
        part = WorkWatch()
        part._outer = (self, stage, done, total)
        return part

    def seconds_left(self) -> float | None:
        """Return the seconds until the time limit; None if there is none."""
        if self._outer is not None:
            return self._outer[0].seconds_left()
        return None if self.ends is None else max(0.0, self.ends - work_clock())

    def stop(self, stage: str, done: int, total: int | None, *, target: int | None = None, detail: str = "") -> bool:
        """Report where the work stands and say whether it should end; once it should, the answer stays."""
        if self.stopped is not None:
            return True
        if self._outer is not None:
            outer, name, finished, parts = self._outer
            outer.stop(name, finished, parts, detail=detail)
            self.stopped = outer.stopped
            return self.stopped is not None
        now = work_clock()
        if self.ends is not None and now >= self.ends:
            self.stopped = "time limit"
        elif self.callback is not None and now >= self._next_call:
            self._next_call = now + SECONDS_BETWEEN_CALLS
            if self.callback(Progress(stage=stage, done=done, total=total, target=target, detail=detail)):
                self.stopped = "callback"
        return self.stopped is not None
