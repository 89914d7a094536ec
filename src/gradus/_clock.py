"""`work_clock`: the clock of time limits, which stops while kernels are compiled."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

__all__ = ["clock_stopped", "is_stopped", "work_clock"]


class _Stops:
    """How long the clock has been stopped, over all threads."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.nested = 0
        self.began = 0.0
        self.seconds = 0.0


_STOPS = _Stops()


def work_clock() -> float:
    """Return the seconds since some moment, without those spent compiling: time limits do not count them.

    Examples
    --------
    >>> begin = work_clock()
    >>> with clock_stopped():
    ...     time.sleep(0.1)
    >>> work_clock() - begin < 0.1
    True
    """
    with _STOPS.lock:
        now = _STOPS.began if _STOPS.nested else time.monotonic()
        return now - _STOPS.seconds


def is_stopped() -> bool:
    """Return whether a kernel is being compiled now, in any thread."""
    return _STOPS.nested > 0


@contextlib.contextmanager
def clock_stopped() -> Iterator[None]:
    """Stop `work_clock` for all threads: one that waits for the kernel must not run out of time either."""
    with _STOPS.lock:
        if not _STOPS.nested:
            _STOPS.began = time.monotonic()
        _STOPS.nested += 1
    try:
        yield
    finally:
        with _STOPS.lock:
            _STOPS.nested -= 1
            if not _STOPS.nested:
                _STOPS.seconds += time.monotonic() - _STOPS.began
