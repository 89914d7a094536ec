"""What can be set about a search, checked when it is made."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any

from gradus.errors import SettingsError
from gradus.losses import LOSSES, LossName

__all__ = ["MAX_TARGETS", "Settings"]

MAX_TARGETS = 64


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of a search; the defaults are the paper's.

    Parameters
    ----------
    loss : {"l1", "lw", "llh", "lgh"}
        What is minimised, see `gradus.losses`.
    gates_per_target : int
        Gates of the network for each target.
    history : int
        Length of the late-acceptance history.
    max_iter : int
        Steps after which a search that has not reached zero error starts again.
    n_restarts : int
        How many times it may start again.
    shrink : int
        Steps spent on making the network smaller after zero error.
    attempts : int
        Independent searches, of which the smallest network is kept.
    time_limit : float, optional
        Seconds after which the best network so far is returned.

    Examples
    --------
    >>> Settings(loss="l1").history
    250
    >>> Settings(history=0)
    Traceback (most recent call last):
        ...
    gradus.errors.SettingsError: history is 0; it must be a whole number of at least 1.
    """

    loss: LossName = "lgh"
    gates_per_target: int = 21
    history: int = 250
    max_iter: int = 256_000_000
    n_restarts: int = 20
    shrink: int = 0
    attempts: int = 1
    time_limit: float | None = None

    def __post_init__(self) -> None:
        if self.loss not in LOSSES:
            raise SettingsError(f"loss is {self.loss!r}; it must be one of {', '.join(LOSSES)}.")
        for name, least in _LEAST.items():
            _check_whole(name, getattr(self, name), least)
        limit: Any = self.time_limit
        if limit is not None and not (isinstance(limit, numbers.Real) and math.isfinite(limit) and float(limit) > 0):
            raise SettingsError(f"time_limit is {limit!r}; it must be a number of seconds above 0, or None.")

    def n_gates(self, n_targets: int) -> int:
        """Gates of a network for this many targets; raise if there cannot be such a network."""
        if n_targets > MAX_TARGETS:
            raise SettingsError(
                f"there are {n_targets} targets; one network takes at most {MAX_TARGETS}, so split them into groups."
            )
        return self.gates_per_target * n_targets


_LEAST = {"gates_per_target": 1, "history": 1, "max_iter": 1, "n_restarts": 0, "shrink": 0, "attempts": 1}
_MOST = {"gates_per_target": 10**6, "history": 10**9, "attempts": 10**6}
_MOST_STEPS = 2**62


def _check_whole(name: str, value: Any, least: int) -> None:
    most = _MOST.get(name, _MOST_STEPS)
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or int(value) < least:
        hint = " (each target needs a gate of its own)" if name == "gates_per_target" else ""
        raise SettingsError(f"{name} is {value!r}; it must be a whole number of at least {least}{hint}.")
    if int(value) > most:
        raise SettingsError(f"{name} is {value}; it must be at most {most}.")
