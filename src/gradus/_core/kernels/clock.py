"""`work_clock`: the clock of time limits, which stops while kernels are compiled."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

__all__ = ["StoppableClock", "clock_stopped", "is_stopped", "work_clock"]


class StoppableClock:
    """A clock that can be stopped for all threads; stops may be nested."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._nested, self._began, self._stopped_seconds = 0, 0.0, 0.0

    def read(self) -> float:
        """Return the seconds since some moment, without those while it was stopped."""
        with self._lock:
            return (self._began if self._nested else self._now()) - self._stopped_seconds

    @property
    def is_stopped(self) -> bool:
        """Whether it is stopped now."""
        return self._nested > 0

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop the clock for a while."""
        with self._lock:
            if not self._nested:
                self._began = self._now()
            self._nested += 1
        try:
            yield
        finally:
            with self._lock:
                self._nested -= 1
                if not self._nested:
                    self._stopped_seconds += self._now() - self._began


_CLOCK = StoppableClock(time.monotonic)


work_clock = _CLOCK.read
"""Return the seconds since some moment, without those spent compiling: time limits do not count them."""
clock_stopped = _CLOCK.stopped
"""Stop `work_clock` for all threads: one that waits for the kernel must not run out of time either."""


def is_stopped() -> bool:
    """Return whether a kernel is being compiled now, in any thread."""
    return _CLOCK.is_stopped
