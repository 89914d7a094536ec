"""Cells of a table column: which are missing, and what numbers or dates the others are.

A column is read value by value, not cell by cell, so that reading costs little where values repeat.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._core.bits import check_unique, column_names
from gradus._core.cells import is_missing
from gradus._core.wording import counted
from gradus._tables.readings import Reading, date_in, day_formats, is_word_for_missing, number_reading, read_number
from gradus.errors import DataError

__all__ = ["MIN_ROWS_ID", "Cells", "cells_of_rows", "named_columns", "read_cells", "shown_date"]

MIN_ROWS_ID = 10  # in a shorter table it is not known which values repeat
EPOCH = datetime.datetime(1970, 1, 1)
LARGEST = float(np.finfo(np.float64).max)

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a column as their distinct values and the place of each row among these."""

    values: tuple[Any, ...]
    """As plain Python objects, in the order of their first rows."""
    place: npt.NDArray[np.int64]
    declared: str = ""
    """What the column's type says, "category" or "date", if it does."""
    numeric: Floats | None = None
    """The values as numbers, if the column's type is numeric."""

    def __len__(self) -> int:
        return len(self.place)

    def take(self, rows: npt.NDArray[np.int64]) -> Cells:
        """Return the cells of some rows."""
        return dataclasses.replace(self, place=self.place[rows])

    @functools.cached_property
    def missing_values(self) -> Flags:
        """Which of the values mean a missing cell."""
        if self.numeric is not None:
            return np.isnan(self.numeric)
        return np.array([is_missing(value) for value in self.values], dtype=np.bool_)

    @property
    def missing(self) -> Flags:
        """Which rows are missing."""
        return self.missing_values[self.place]

    @functools.cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """Rows of each value."""
        return np.bincount(self.place, minlength=len(self.values))

    @functools.cached_property
    def ranks(self) -> npt.NDArray[np.int64]:
        """The place of each value among all of them, sorted."""
        if self.numeric is not None or self.declared == "date":
            return np.arange(len(self.values))
        order = sorted(range(len(self.values)), key=lambda i: (type(self.values[i]).__name__, str(self.values[i])))
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order] = np.arange(len(order))
        return ranks

    @functools.cached_property
    def written(self) -> tuple[str, ...]:
        """The texts among the values that are not missing, without blanks around them."""
        texts = (value.strip() for value in self.values if isinstance(value, str) and not is_missing(value))
        return tuple(text for text in texts if not is_word_for_missing(text))

    @functools.cached_property
    def reading(self) -> Reading:
        """How texts are read as numbers or dates, by default; see `contradiction`."""
        if self.numeric is not None:
            return Reading()
        formats = day_formats(self.written)
        return Reading(day_format=formats[0]) if formats else number_reading(self.written)[0]

    @functools.cached_property
    def words(self) -> Flags:
        """Which of the values are words for a missing number or date."""
        return np.array([isinstance(value, str) and is_word_for_missing(value) for value in self.values], dtype=np.bool_)

    def value_numbers(self, reading: Reading | None = None) -> Floats:
        """Return the number that each value is, NaN where it is none; `reading` is that of the column learned from."""
        if self.numeric is not None:
            return np.clip(self.numeric, -LARGEST, LARGEST)
        own = self.reading if reading is None else reading
        return np.array([_number(value, own) for value in self.values], dtype=np.float64)

    def numbers(self, reading: Reading | None = None) -> Floats:
        """Return the number in each row, NaN where there is none."""
        return self.value_numbers(reading)[self.place]

    def value_dates(self, reading: Reading | None = None) -> Floats:
        """Return the days from 1970 to the date that each value is, NaN where it is none."""
        if self.numeric is not None:
            return np.full(len(self.values), np.nan)
        pattern = (self.reading if reading is None else reading).day_format
        return np.array([_days(value, pattern) for value in self.values], dtype=np.float64)

    def dates(self, reading: Reading | None = None) -> Floats:
        """Return the days from 1970 to the date in each row, NaN where there is none."""
        return self.value_dates(reading)[self.place]

    def texts(self) -> tuple[str, ...]:
        """Return each value as a category: texts without blanks around them, whole numbers without a fraction."""
        return tuple(map(_text, self.values))

    @functools.cached_property
    def spellings(self) -> dict[str, str]:
        """For each text the spelling that represents it: the commonest of those that differ only in capitals."""
        rows: dict[str, int] = {}
        for text, count, gone in zip(self.texts(), self.counts.tolist(), self.missing_values, strict=True):
            if not gone:
                rows[text] = rows.get(text, 0) + count
        chosen: dict[str, str] = {}
        for text in sorted(rows, key=lambda text: (-rows[text], text)):
            chosen.setdefault(text.casefold(), text)
        return {text: chosen[text.casefold()] for text in rows}


def read_cells(column: Any) -> Cells:
    """Read a column of anything: an array, a list, a column of a data frame, or cells that were read before."""
    if isinstance(column, Cells):
        return column
    kind = str(getattr(column, "dtype", "")).lower()
    array, numeric = np.asarray(column), None
    if array.dtype.kind in "biuf":
        distinct, place = np.unique(array, return_inverse=True)
        values, numeric = tuple(distinct.tolist()), distinct.astype(np.float64)
    elif array.dtype.kind == "M":
        distinct, place = np.unique(array.astype("datetime64[us]"), return_inverse=True)
        values, kind = tuple(distinct.tolist()), "date"
    else:
        index: dict[Any, int] = {}
        listed = [index.setdefault(_key(value), len(index)) for value in array.tolist()]
        values, place = tuple(value for _, value in index), np.array(listed)
    declared = "category" if kind.startswith(("categor", "enum")) else "date" if kind.startswith("date") else ""
    return Cells(values, place.ravel().astype(np.int64), declared, numeric)


def named_columns(table: Any, names: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the columns of a table by name: a data frame, a mapping of columns, or rows of cells."""
    if isinstance(table, Mapping):
        columns = dict(zip(map(str, table), table.values(), strict=True))
    elif (given := column_names(table)) is not None:
        frame = [table.iloc[:, j] for j in range(len(given))] if hasattr(table, "iloc") else [table[c] for c in table.columns]
        columns = dict(zip(names or given, frame, strict=True))
    else:
        values = cells_of_rows(table)
        if values.ndim != 2:
            raise DataError(f"X must have rows and columns, but it has {values.ndim} dimensions.")
        labels = [f"x{j}" for j in range(values.shape[1])] if names is None else list(map(str, names))
        check_unique(labels, "X")
        if len(labels) != values.shape[1]:
            raise DataError(f"X has {counted(values.shape[1], 'column')}, but {len(labels)} names are given.")
        columns = dict(zip(labels, values.T, strict=True))
    lengths = set(map(len, columns.values()))
    if len(lengths) > 1:
        raise DataError("the columns of the table have different lengths.")
    if lengths == {0}:
        raise DataError("X has no rows; give at least one example.")
    return columns


def cells_of_rows(table: Any) -> npt.NDArray[Any]:
    """Return rows of cells as an array in which numbers beside texts stay numbers."""
    try:
        values = np.asarray(table)
        if values.dtype.kind in "US" and not isinstance(table, np.ndarray):
            values = np.asarray(table, dtype=object)
    except ValueError as error:
        raise DataError("X is not a table: its rows have different lengths.") from error
    return values


def shown_date(days: float) -> str:
    """Write a number of days from 1970 as a date."""
    moment = EPOCH + datetime.timedelta(days=days)
    return moment.strftime("%Y-%m-%d") if moment.time() == datetime.time() else moment.strftime("%Y-%m-%d %H:%M")


def _key(value: Any) -> tuple[str, Any]:
    """Distinguish 1, True and "1", some of which are equal as keys of a dictionary."""
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, float) and math.isnan(plain):
        plain = None
    elif isinstance(plain, dict | list | tuple | set):
        raise TypeError(f"X has the cell {plain!r:.40}: a cell's argument must be a string or a real number.")
    elif not isinstance(plain, str | int | float | datetime.date) and plain is not None:
        plain = str(plain)  # pandas.NA, decimals and whatever else a cell may hold
    return type(plain).__name__, plain


def _number(value: Any, reading: Reading) -> float:
    if isinstance(value, numbers.Real):
        number = float(value)
    elif isinstance(value, str):
        number = read_number(value, reading)
    else:
        return math.nan
    return min(max(number, -LARGEST), LARGEST) if not math.isnan(number) else number


def _days(value: Any, day_format: str) -> float:
    if isinstance(value, str):
        value = date_in(value.strip(), day_format)
    if isinstance(value, datetime.datetime):
        return (value.replace(tzinfo=None) - EPOCH) / datetime.timedelta(days=1)
    if isinstance(value, datetime.date):
        return float((value - EPOCH.date()).days)
    return math.nan


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()
