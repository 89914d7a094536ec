"""Numbers and lists of things, and durations, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["counted", "duration", "listed", "two_digits"]


def counted(number: int, what: str, plural: str | None = None) -> str:
    """Write a number of things.

    Parameters
    ----------
    what : str
        One of them.
    plural : str, optional
        Several of them; `what` with an s if not given.

    Examples
    --------
    >>> counted(1, "figure"), counted(1200, "figure"), counted(2, "search", "searches")
    ('1 figure', '1,200 figures', '2 searches')
    """
    return f"{number:,} {what if number == 1 else plural or f'{what}s'}"


def listed(names: Sequence[Any], most: int = 5, *, between: str = ", ") -> str:
    """Write the first few of some names, and how many more there are.

    Examples
    --------
    >>> listed("abc"), listed("abcdefg"), listed("abc", 1)
    ('a, b, c', 'a, b, c, d, e and 2 more', 'a and 2 more')
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return between.join(map(str, names[:most])) + more


def duration(seconds: float) -> str:
    """Write a duration.

    Examples
    --------
    >>> duration(12.3), duration(600), duration(9000)
    ('12 s', '10 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def two_digits(number: float) -> str:
    """Write a number with two significant digits, and never in powers of ten.

    Examples
    --------
    >>> two_digits(0.00834), two_digits(238.4)
    ('0.0083', '240')
    """
    return f"{float(f'{number:.2g}'):g}"
