"""`Table`: named columns of numbers read from a file."""

from __future__ import annotations

import itertools
import math
import re
from array import array
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix
from gradus._core.wording import counted, listed
from gradus.errors import DataError, FormatError

__all__ = ["LARGEST_TABLE", "Table", "TableBuilder", "TableSplit", "check_cells", "distinct_targets", "unique_columns"]

LARGEST_TABLE = 1 << 26
"""Most cells a table may have: half a gigabyte of numbers."""

MISSING = ("", "NA", "N/A", "#N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "<NA>", "?")
KNOWN: dict[str, float] = {
    "0": 0.0,
    "1": 1.0,
    **dict.fromkeys(("false", "False", "FALSE"), 0.0),
    **dict.fromkeys(("true", "True", "TRUE"), 1.0),
    **dict.fromkeys(MISSING, math.nan),
}
NUMBER = re.compile(r"[+-]?(?:(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]+)?|(?i:inf|infinity))")


class TableSplit(NamedTuple):
    """Inputs and targets as bits, with the names of both."""

    X: BoolMatrix
    Y: BoolMatrix
    input_names: tuple[str, ...]
    target_names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of numbers with names, and where they came from.

    Attributes
    ----------
    columns : tuple of str
    values : ndarray of float64, shape (n, k)
        NaN where a value is missing or is not a number.
    path : path-like, optional
    targets : tuple of str, optional
        The columns that the file itself declares to be targets.
    lines : tuple of int, optional
        The line of the file that each row is on.
    odd : dict of int to (int, str)
        For a column that holds something other than numbers: the row and the text of the first such cell.
    texts : dict of str to tuple of str
        The columns that were asked for as text.
    """

    columns: tuple[str, ...]
    values: npt.NDArray[np.float64]
    path: str | PathLike[str] | None = None
    targets: tuple[str, ...] | None = None
    lines: tuple[int, ...] | None = None
    odd: Mapping[int, tuple[int, str]] = field(default_factory=dict)
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Table({counted(self.n_rows, 'row')} of {listed(self.columns)})"

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.values)

    def split(self, targets: Sequence[str] | None = None, *, inputs: Sequence[str] | None = None) -> TableSplit:
        """Split the table into inputs and targets; every value must be 0 or 1."""
        chosen = self.targets if targets is None else tuple(targets)
        if chosen is None:
            raise DataError(f"{self._name()} does not say which columns are targets; name them.")
        wanted = set(chosen)
        given = [name for name in self.columns if name not in wanted] if inputs is None else inputs
        both = sorted(set(given) & set(chosen))
        if both:
            raise DataError(f"column {both[0]!r} cannot be an input and a target at once.")
        for names, what in ((given, "input"), (chosen, "target")):
            if not names:
                raise DataError(f"{self._name()} has no {what} column left; give at least one.")
        return TableSplit(self.bits(given), self.bits(chosen), tuple(given), tuple(chosen))

    def bits(self, names: Sequence[str]) -> BoolMatrix:
        """Columns as Booleans; a cell that is not 0 or 1 is an error with its place."""
        places = self._places(names)
        if not self.n_rows:
            raise FormatError("there is no row of data.", path=self.path)
        self._refuse_odd(places, "0 or 1")
        chosen = self.values[:, places]
        bad = ~((chosen == 0) | (chosen == 1))
        if bad.any():
            row, column = (int(i) for i in np.argwhere(bad)[0])
            value = float(chosen[row, column])
            what = "a missing value" if math.isnan(value) else f"{value:g}"
            raise self._error(f"expected 0 or 1, found {what}", row, places[column])
        return np.ascontiguousarray(chosen == 1)

    def numbers(self, names: Sequence[str]) -> npt.NDArray[np.float64]:
        """Columns as numbers, NaN where a value is missing; a cell that is anything else is an error with its place."""
        places = self._places(names)
        self._refuse_odd(places, "a number")
        return self.values[:, places]

    def complete_rows(self) -> Table:
        """Return the table without the rows in which a value is missing."""
        keep = np.logical_not(np.isnan(self.values).any(axis=1))
        rank = np.cumsum(keep) - 1
        return Table(
            self.columns,
            self.values[keep],
            path=self.path,
            targets=self.targets,
            lines=None if self.lines is None else tuple(np.array(self.lines)[keep].tolist()),
            odd={column: (int(rank[row]), text) for column, (row, text) in self.odd.items() if keep[row]},
            texts={name: tuple(itertools.compress(texts, keep)) for name, texts in self.texts.items()},
        )

    def _places(self, names: Sequence[str]) -> list[int]:
        where = {name: place for place, name in enumerate(self.columns)}
        missing = [name for name in names if name not in where]
        if missing:
            shown = ", ".join(self.columns[:10]) + (", …" if len(self.columns) > 10 else "")
            raise DataError(f"{self._name()} has no column {missing[0]!r}; it has {shown}.")
        if len(set(names)) < len(names):
            raise DataError("a column is named twice in the list of columns.")
        return [where[name] for name in names]

    def _refuse_odd(self, places: Sequence[int], expected: str) -> None:
        found = [(self.odd[place], place) for place in places if place in self.odd]
        if found:
            (row, text), place = min(found)
            raise self._error(f"expected {expected}, found {text[:40]!r}", row, place)

    def _error(self, message: str, row: int, place: int) -> FormatError:
        line = None if self.lines is None else self.lines[row]
        where = f"row {row + 1}, " if line is None else ""
        name = self.columns[place]
        hint = " It has no name: if it is an index of the rows, leave it out." if name == f"column{place + 1}" else ""
        return FormatError(f"{message} ({where}column {name!r}).{hint}", path=self.path, line=line, column=place + 1)

    def _name(self) -> str:
        return "the table" if self.path is None else str(self.path)


class TableBuilder:
    """Gathers rows of text cells into a `Table`, checking the number of cells as it grows."""

    def __init__(self, columns: Sequence[str], path: str | PathLike[str], *, text_columns: Collection[str] = ()) -> None:
        self._columns, self._path = tuple(columns), path
        self._cells = array("d")
        self._lines: list[int] = []
        self._odd: dict[int, tuple[int, str]] = {}
        self._texts: dict[int, list[str]] = {i: [] for i, name in enumerate(self._columns) if name in text_columns}

    def add(self, cells: Sequence[str], line: int) -> None:
        """Add a row, which must have as many cells as there are columns."""
        self._lines.append(line)
        check_cells(len(self._lines), len(self._columns), self._path)
        for place, texts in self._texts.items():
            texts.append(cells[place].strip())
        try:
            self._cells.extend([KNOWN[cell] for cell in cells])
        except KeyError:
            self._cells.extend([self._number(cell.strip(), place) for place, cell in enumerate(cells)])

    def _number(self, cell: str, place: int) -> float:
        value = KNOWN.get(cell)
        if value is not None:
            return value
        if NUMBER.fullmatch(cell):
            return float(cell)
        if place not in self._texts:
            self._odd.setdefault(place, (len(self._lines) - 1, cell))
        return math.nan

    def table(self, targets: Sequence[str] | None = None) -> Table:
        """Return what was gathered."""
        values = np.frombuffer(self._cells, dtype=np.float64) if len(self._cells) else np.empty(0)
        return Table(
            self._columns,
            values.reshape(len(self._lines), len(self._columns)),
            path=self._path,
            targets=None if targets is None else tuple(targets),
            lines=tuple(self._lines),
            odd=self._odd,
            texts={self._columns[place]: tuple(texts) for place, texts in self._texts.items()},
        )


def check_cells(n_rows: int, n_columns: int, path: str | PathLike[str] | None) -> None:
    """Refuse a table that is too large before any memory is taken for it."""
    if n_rows * n_columns > LARGEST_TABLE:
        raise FormatError(
            f"{n_columns} columns and {n_rows} rows or more are too large a table; at most {LARGEST_TABLE} cells are read.",
            path=path,
        )


def unique_columns(names: Sequence[str], path: str | PathLike[str] | None, line: int | None) -> tuple[str, ...]:
    """Column names, stripped, with ``column1, column2, …`` where there is none; a repeated name is an error."""
    seen: dict[str, int] = {}
    for place, name in enumerate(names):
        name = name.strip() or f"column{place + 1}"
        if name in seen:
            raise FormatError(
                f"the name {name[:40]!r} is given to two columns ({seen[name] + 1} and {place + 1}); rename one.",
                path=path, line=line, column=place + 1,
            )  # fmt: skip
        seen[name] = place
    return tuple(seen)


def distinct_targets(inputs: Sequence[str], targets: Sequence[str]) -> tuple[str, ...]:
    """Append ``_next`` to a target that is named like an input: the next value of that input."""
    taken = {*inputs}
    return tuple(f"{name}_next" if name in taken else name for name in targets)
