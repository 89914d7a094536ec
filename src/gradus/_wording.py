"""Numbers of things, and durations, in sentences."""

from __future__ import annotations

__all__ = ["counted", "duration"]


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
