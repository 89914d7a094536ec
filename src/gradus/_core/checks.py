"""Checks of common arguments: seeds, counts, threads, time limits, choices."""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, cast

from gradus.errors import SettingsError

__all__ = [
    "NOISE_WORDS",
    "Noise",
    "OnConflict",
    "check_choice",
    "check_count",
    "check_n_jobs",
    "check_noise",
    "check_on_conflict",
    "check_seed",
    "check_time_limit",
    "usable_cores",
]

OnConflict: TypeAlias = Literal["raise", "ignore", "first"]
"""What to do about rows with the same inputs and different targets.

"raise" raises an error that names them, "ignore" leaves out what conflicts and reports how much that was, and "first"
trusts the first row.
"""


Noise: TypeAlias = Literal["auto"] | float
"""The share of wrong labels, or a word for how they are treated."""
NOISE_WORDS = ("auto",)
"""The words for noise in lessons; `gradus._lessons.description.error_table` prices errors under each."""


def check_noise(noise: Any, words: Sequence[str] = NOISE_WORDS) -> Noise:
    """Check that noise is one of the words, or a share from 0 to below one half."""
    if isinstance(noise, str) and noise in words:
        return cast("Noise", noise)
    is_number = isinstance(noise, numbers.Real)
    if not is_number or isinstance(noise, bool) or not 0 <= noise < 0.5:
        said = ", ".join(map(repr, words))
        raise SettingsError(f"noise is {noise!r}; use {said} or the share of wrong values, from 0 to below 0.5.")
    return float(noise)


def check_count(name: str, value: Any, *, least: int = 1, most: int | None = None, hint: str = "") -> int:
    """Check that a value is a whole number from `least` to `most`, and return it as an int."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or int(value) < least:
        raise SettingsError(f"{name} is {value!r}; it must be a whole number of at least {least}{hint}.")
    if most is not None and int(value) > most:
        raise SettingsError(f"{name} is {value}; it must be at most {most}.")
    return int(value)


def check_seed(seed: Any) -> int:
    """Check that a seed is a whole number of at least 0, and return it as an int."""
    return check_count("seed", seed, least=0)


def check_n_jobs(n_jobs: Any) -> int:
    """Check a number of threads or processes and return it; None and -1 mean one per usable core."""
    return usable_cores() if n_jobs is None or n_jobs == -1 else check_count("n_jobs", n_jobs)


def usable_cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_time_limit(seconds: Any) -> float | None:
    """Check a time limit in seconds and return it; 0 means "at once, the best so far" and None means no limit."""
    if seconds is None:
        return None
    number = float(seconds) if isinstance(seconds, numbers.Real) and seconds is not True and seconds is not False else math.nan
    if not 0 <= number < math.inf:
        raise SettingsError(f"time_limit is {seconds!r}; it must be a number of seconds of at least 0, or None.")
    return number


def check_choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """Check that a value is one of a few words, and return it."""
    if not isinstance(value, str) or value not in choices:
        raise SettingsError(f"{name} is {value!r}; it must be one of {', '.join(choices)}.")
    return value


def check_on_conflict(value: Any, name: str = "on_conflict") -> OnConflict:
    """Check that a value says what to do about conflicting rows, and return it."""
    chosen: Any = check_choice(name, value, ("raise", "ignore", "first"))
    return chosen  # type: ignore[no-any-return]  # checked above
