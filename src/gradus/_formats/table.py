"""`Table`: named columns as they were read, texts or values, each typed once when it is first asked for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix
from gradus._core.cells import number_in
from gradus._core.wording import counted, listed
from gradus.errors import DataError, FormatError, MissingExtraError

__all__ = [
    "LARGEST_TABLE",
    "Table",
    "TableSplit",
    "Typed",
    "check_cells",
    "checked_split",
    "distinct_targets",
    "looks_like_names",
    "numbered_columns",
    "table_of_texts",
    "unique_columns",
]

LARGEST_TABLE = 1 << 26
"""Most cells a table may have: a gigabyte of short texts."""
TEXTS = "OTU"  # kinds of arrays
ROWS_AT_ONCE = 1 << 10  # that are lists of Python before they become an array


class TableSplit(NamedTuple):
    """Inputs and targets as bits, with the names of both."""

    X: BoolMatrix
    Y: BoolMatrix
    input_names: tuple[str, ...]
    target_names: tuple[str, ...]


class Typed(NamedTuple):
    """A column as numbers, NaN where a cell is missing or is not a number."""

    numbers: npt.NDArray[np.float64]
    odd: tuple[int, str] | None
    """The row and the text of the first cell that is neither a number nor missing."""


@dataclass(frozen=True, eq=False)
class Table:
    """Columns with names, and where they came from.

    Attributes
    ----------
    columns : tuple of str
    cells : sequence of ndarray
        One for each column: texts as the file has them, or numbers where the file has numbers.
    path : path-like, optional
    targets : tuple of str, optional
        The columns that the file itself declares to be targets.
    lines : tuple of int, optional
        The line of the file that each row is on.
    """

    columns: tuple[str, ...]
    cells: Sequence[npt.NDArray[Any]]
    path: str | PathLike[str] | None = None
    targets: tuple[str, ...] | None = None
    lines: tuple[int, ...] | None = None
    _typed: dict[int, Typed] = field(default_factory=dict, init=False)

    def __repr__(self) -> str:
        return f"Table({counted(self.n_rows, 'row')} of {listed(self.columns)})"

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.cells[0]) if len(self.cells) else 0

    @property
    def values(self) -> npt.NDArray[np.float64]:
        """All cells as numbers, shape (n_rows, columns); NaN where a value is missing or is not a number."""
        return self._matrix(range(len(self.columns)))

    def split(self, targets: Sequence[str] | None = None, *, inputs: Sequence[str] | None = None) -> TableSplit:
        """Split the table into inputs and targets; every value must be 0 or 1."""
        given, chosen = checked_split(self, targets, inputs)
        return TableSplit(self.bits(given), self.bits(chosen), given, chosen)

    def bits(self, names: Sequence[str]) -> BoolMatrix:
        """Columns as Booleans; a cell that is not 0 or 1 is an error with its place."""
        places = self._places(names)
        self._refuse_no_rows()
        self._refuse_odd(places, "0 or 1")
        chosen = self._matrix(places)
        bad = ~((chosen == 0) | (chosen == 1))
        if bad.any():
            row, column = (int(i) for i in np.argwhere(bad)[0])
            value = float(chosen[row, column])
            what = "a missing value" if math.isnan(value) else f"{value:g}"
            raise self.error(f"expected 0 or 1, found {what}", row, self.columns[places[column]])
        return np.ascontiguousarray(chosen == 1)

    def numbers(self, names: Sequence[str]) -> npt.NDArray[np.float64]:
        """Columns as numbers, NaN where a value is missing; a cell that is anything else is an error with its place."""
        places = self._places(names)
        self._refuse_odd(places, "a number")
        return self._matrix(places)

    def text(self, name: str) -> npt.NDArray[Any]:
        """Return a column as texts without blanks around them; an array of objects, empty where a cell is missing."""
        cells = self.cells[self._places([name])[0]]
        texts = map(str.strip, cells.tolist()) if cells.dtype.kind in TEXTS else map(_text, cells.tolist())
        return np.array([*texts, None], dtype=object)[:-1]

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return a column as numbers, NaN where a cell is missing, or as texts if some cell is not a number."""
        (place,) = self._places([name])
        self._refuse_no_rows()
        typed = self.typed(place)
        return typed.numbers if typed.odd is None else self.text(name)

    def typed(self, place: int) -> Typed:
        """Return a column, by its place, as numbers."""
        if place not in self._typed:
            self._typed[place] = _typed(self.cells[place])
        return self._typed[place]

    def complete_rows(self) -> Table:
        """Return the table without the rows in which a value is missing or is not a number."""
        return self.take(np.flatnonzero(~np.isnan(self.values).any(axis=1)))

    def take(self, rows: npt.NDArray[np.int64] | slice) -> Table:
        """Return the table with some of its rows."""
        lines = None if self.lines is None else tuple(np.array(self.lines, dtype=np.int64)[rows].tolist())
        return replace(self, cells=[column[rows] for column in self.cells], lines=lines)

    def to_frame(self, library: Literal["pandas", "polars"] = "pandas") -> Any:
        """Return the table as a data frame: numbers, and texts where a column holds other cells.

        Parameters
        ----------
        library : {"pandas", "polars"}
            It must be installed.
        """
        try:
            frames = __import__(library)
        except ImportError as error:
            raise MissingExtraError(f"a data frame needs {library}; run pip install {library}.") from error
        return frames.DataFrame({name: self.column(name) for name in self.columns})

    def error(self, message: str, row: int, name: str) -> FormatError:
        """Return an error that names the place of a cell."""
        place = self.columns.index(name)
        line = None if self.lines is None else self.lines[row]
        where = f"row {row + 1}, " if line is None else ""
        hint = " It has no name: if it is an index of the rows, leave it out." if name == f"column{place + 1}" else ""
        return FormatError(f"{message} ({where}column {name!r}).{hint}", path=self.path, line=line, column=place + 1)

    def named(self) -> str:
        """Return the name of the file, or words for it."""
        return "the table" if self.path is None else str(self.path)

    def _matrix(self, places: Sequence[int]) -> npt.NDArray[np.float64]:
        matrix = np.empty((self.n_rows, len(places)))
        for k, place in enumerate(places):
            matrix[:, k] = self.typed(place).numbers
        return matrix

    def _places(self, names: Sequence[str]) -> list[int]:
        where = dict(zip(self.columns, range(len(self.columns)), strict=True))
        places = []
        for name in names:
            if name not in where:
                shown = ", ".join(self.columns[:10]) + (", …" if len(self.columns) > 10 else "")
                raise DataError(f"{self.named()} has no column {name!r}; it has {shown}.")
            places.append(where[name])
        if len(set(names)) < len(names):
            raise DataError("a column is named twice in the list of columns.")
        return places

    def _refuse_no_rows(self) -> None:
        if not self.n_rows:
            raise FormatError("there is no row of data.", path=self.path)

    def _refuse_odd(self, places: Sequence[int], expected: str) -> None:
        odd = [(*cell, place) for place in places if (cell := self.typed(place).odd) is not None]
        if odd:
            row, text, place = min(odd)
            raise self.error(f"expected {expected}, found {text[:40]!r}", row, self.columns[place])


def _text(value: Any) -> str:
    """Write a number as a text table would have it."""
    if isinstance(value, float):
        return "" if math.isnan(value) else str(int(value)) if value.is_integer() else str(value)
    return str(value)


def _typed(cells: npt.NDArray[Any]) -> Typed:
    if cells.dtype.kind not in TEXTS:
        return Typed(np.asarray(cells, dtype=np.float64), None)
    texts = cells.tolist()
    numbers = list(map(number_in, texts))
    odd = numbers.index(None) if None in numbers else None
    return Typed(np.array(numbers, dtype=np.float64), None if odd is None else (odd, texts[odd].strip()))


def table_of_texts(
    columns: Sequence[str], rows: Iterable[tuple[int, Sequence[str]]], targets: Sequence[str] | None = None
) -> Table:
    """Gather rows of texts, each with its line, into a table; every row must have as many cells as there are columns."""
    text: Any = np.dtypes.StringDType()
    blocks, lines, waiting = [np.empty((0, len(columns)), dtype=text)], [], []
    for line, cells in rows:
        lines.append(line)
        waiting.append(cells)
        check_cells(len(lines), len(columns))
        if len(waiting) * len(columns) >= ROWS_AT_ONCE:
            blocks.append(np.array(waiting, dtype=text))
            waiting = []
    if waiting:
        blocks.append(np.array(waiting, dtype=text))
    return Table(
        tuple(columns), list(np.concatenate(blocks).T), targets=None if targets is None else tuple(targets), lines=tuple(lines)
    )


def checked_split(
    table: Table, targets: Sequence[str] | None, inputs: Sequence[str] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of inputs and targets, after checking that there are some and that no column is both."""
    chosen = table.targets if targets is None else tuple(targets)
    if chosen is None:
        raise DataError(f"{table.named()} does not say which columns are targets; name them.")
    wanted = set(chosen)
    given = tuple(name for name in table.columns if name not in wanted) if inputs is None else tuple(inputs)
    both = sorted(set(given) & set(chosen))
    if both:
        raise DataError(f"column {both[0]!r} cannot be an input and a target at once.")
    for names, what in ((given, "input"), (chosen, "target")):
        if not names:
            raise DataError(f"{table.named()} has no {what} column left; give at least one.")
        if len(set(names)) < len(names):
            raise DataError(f"a column is named twice in the list of {what}s.")
    return given, chosen


def check_cells(n_rows: int, n_columns: int) -> None:
    """Refuse a table that is too large before any memory is taken for it."""
    if n_rows * n_columns > LARGEST_TABLE:
        raise FormatError(
            f"{n_columns} columns and {n_rows} rows or more are too large a table; at most {LARGEST_TABLE} cells are read."
        )


def looks_like_names(cells: Sequence[str]) -> bool:
    """Tell whether a first row holds names: not only numbers, or numbers that count the columns."""
    texts = list(map(str.strip, cells))
    if len(texts) > 2 and texts in (list(map(str, range(len(texts)))), list(map(str, range(1, len(texts) + 1)))):
        return True
    return None in map(number_in, texts)


def numbered_columns(n_columns: int) -> tuple[str, ...]:
    """Return ``x0, x1, …``, the names of columns that have none."""
    return tuple(f"x{place}" for place in range(n_columns))


def unique_columns(names: Sequence[str], line: int | None = None, *, number_repeats: bool = False) -> tuple[str, ...]:
    """Column names, stripped, with ``column1, column2, …`` where there is none; a repeated name is an error, or numbered."""
    seen: dict[str, int] = {}
    for place, name in enumerate(names):
        name = name.strip() or f"column{place + 1}"
        if number_repeats:
            repeat = 2
            plain = name
            while name in seen:
                name, repeat = f"{plain} {repeat}", repeat + 1
        if name in seen:
            raise FormatError(
                f"the name {name[:40]!r} is given to two columns ({seen[name] + 1} and {place + 1}); rename one, "
                "or have repeated names numbered (number_repeats, --number-repeats).",
                line=line, column=place + 1,
            )  # fmt: skip
        seen[name] = place
    return tuple(seen)


def distinct_targets(inputs: Sequence[str], targets: Sequence[str]) -> tuple[str, ...]:
    """Append ``_next`` to a target that is named like an input: the next value of that input."""
    taken = {*inputs}
    return tuple(f"{name}_next" if name in taken else name for name in targets)
