"""When to stop: after some seconds, when told to, or never."""

from __future__ import annotations

import math
import threading
import time
from typing import Any

import numpy as np

from gradus.errors import SettingsError

__all__ = ["Deadline", "check_time_limit"]


def check_time_limit(time_limit: Any) -> float | None:
    """Check a number of seconds given by a user; None stands for no limit."""
    if time_limit is None:
        return None
    if isinstance(time_limit, bool) or not isinstance(time_limit, int | float | np.number) or not time_limit >= 0:
        raise SettingsError(f"time_limit is {time_limit!r}; it must be a number of seconds, or None for no limit.")
    return float(time_limit)


class Deadline:
    """A point in time that long work looks at between two pieces.

    Parameters
    ----------
    seconds : float, optional
        From now on; None for no limit.
    cancelled : threading.Event, optional
        Once it is set, the time is over as well: this is how work in another thread is stopped.

    Examples
    --------
    >>> Deadline(0).is_over(), Deadline().is_over()
    (True, False)
    """

    def __init__(self, seconds: float | None = None, cancelled: threading.Event | None = None) -> None:
        self._end = math.inf if seconds is None else time.monotonic() + seconds
        self._cancelled = cancelled

    def is_over(self) -> bool:
        """Tell whether the time is over."""
        return time.monotonic() >= self._end or (self._cancelled is not None and self._cancelled.is_set())
