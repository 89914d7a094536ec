"""Errors that Gradus raises: one class per cause, each a `GradusError` whose message is a sentence for the user."""

from __future__ import annotations

from os import PathLike

__all__ = [
    "ConflictError",
    "DataError",
    "FormatError",
    "GradusError",
    "MissingExtraError",
    "SettingsError",
    "StoreError",
    "UnknownProblemError",
    "WorkerError",
]


class GradusError(Exception):
    """Base of every error that Gradus raises on purpose."""


class DataError(GradusError, ValueError):
    """Examples that cannot be used as they are: a missing value, a value that is not 0 or 1, unequal lengths."""


class ConflictError(DataError):
    """Rows with the same inputs and different targets, so that no function fits them.

    Parameters
    ----------
    what : str
        Which rows.
    advice : str
        What to do, as a separate sentence: callers that pass the error on replace it by their own remedy.

    Examples
    --------
    >>> print(ConflictError("Rows 0 and 1 differ.", "Remove one."))
    Rows 0 and 1 differ. Remove one.
    """

    def __init__(self, what: str, advice: str = "") -> None:
        self.what = what
        super().__init__(f"{what} {advice}" if advice else what)


class SettingsError(GradusError, ValueError):
    """A setting outside its range, or settings that contradict each other."""


class FormatError(GradusError, ValueError):
    """A file that does not follow its format.

    Parameters
    ----------
    message : str
        What was wrong and what to do.
    path : path-like, optional
        The file.
    line, column : int, optional
        The place, counted from 1.

    Examples
    --------
    >>> print(FormatError("expected 0 or 1, found '7'", path="data.csv", line=3, column=2))
    data.csv, line 3, column 2: expected 0 or 1, found '7'
    """

    def __init__(
        self, message: str, *, path: str | PathLike[str] | None = None, line: int | None = None, column: int | None = None
    ) -> None:
        self.message, self.path, self.line, self.column = message, path, line, column
        place = [str(path)] if path is not None else []
        place += [f"line {line}"] if line is not None else []
        place += [f"column {column}"] if column is not None else []
        super().__init__(f"{', '.join(place)}: {message}" if place else message)


class UnknownProblemError(GradusError, LookupError):
    """An unknown problem name."""


class MissingExtraError(GradusError, ImportError):
    """A feature whose optional dependency is not installed; the message names the extra to install."""


class WorkerError(GradusError, RuntimeError):
    """A job or task failed, or the process that ran it died; the message names it."""


class StoreError(GradusError, RuntimeError):
    """A results folder that cannot be read or written."""
