"""Numbers of things in sentences."""

from __future__ import annotations

__all__ = ["counted"]


def counted(number: int, what: str, plural: str | None = None) -> str:
    """Write a number of things.

    Parameters
    ----------
    number : int
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
