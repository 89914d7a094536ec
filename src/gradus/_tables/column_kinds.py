"""What kind of values each column of a table holds, whether it is used, and why."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gradus._core.bits import check_unique, column_names
from gradus._core.checks import check_choice
from gradus._core.wording import counted
from gradus._tables.cells import MIN_ROWS_ID, Cells, read_cells
from gradus.errors import DataError, SettingsError

__all__ = ["ColumnKind", "Kind", "cells_of_rows", "column_kinds", "named_columns"]

Kind = Literal["bit", "number", "category", "date", "constant", "id", "text", "dropped"]
USED = ("bit", "number", "category", "date")
TYPES = (*USED, "keep", "drop")
"""What a user may say of a column."""

ID_NAME = re.compile(
    r"(?i:id|index|key|uuid|guid|unnamed: ?\d+|row(?:_?(?:id|number|no|nr))?)|.*(?:[_ .-](?i:id|key|uuid)|[a-z]I[dD])"
)
DISTINCT_SHARE = 0.9  # texts that differ in more of the rows name the rows
ROWS_PER_VALUE = 2.0  # categories that stand on fewer rows each cannot be learned from
MANY_VALUES = 20
NUMERIC_SHARE = 0.95  # of the cells; then the others are words for "missing"
LONG_TEXT = 25  # characters
CHANCE = 8.0  # repeated integers to be expected by chance, above which their absence shows that they number the rows


@dataclass(frozen=True)
class ColumnKind:
    """What a column holds.

    Attributes
    ----------
    name : str
    kind : {"bit", "number", "category", "date", "constant", "id", "text", "dropped"}
        The last four are left out.
    reason : str
        Why, in words.
    n_missing : int
        Rows without a value.
    """

    name: str
    kind: Kind
    reason: str
    n_missing: int = 0

    @property
    def used(self) -> bool:
        """Whether the column becomes inputs."""
        return self.kind in USED


def named_columns(table: Any, names: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the columns of a table by name: a data frame, a mapping of columns, or rows of cells."""
    if isinstance(table, Mapping):
        columns = {str(name): column for name, column in table.items()}
    elif column_names(table) is not None:
        given = column_names(table) or ()
        frame = [table.iloc[:, j] for j in range(len(given))] if hasattr(table, "iloc") else [table[c] for c in table.columns]
        columns = dict(zip(names or given, frame, strict=True))
    else:
        columns = _columns_of_rows(table, names)
    lengths = {len(column) for column in columns.values()}
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


def _columns_of_rows(table: Any, names: Sequence[str] | None) -> dict[str, Any]:
    values = cells_of_rows(table)
    if values.ndim != 2:
        raise DataError(f"X must have rows and columns, but it has {values.ndim} dimensions.")
    labels = [f"x{j}" for j in range(values.shape[1])] if names is None else [str(name) for name in names]
    check_unique(labels, "X")
    if len(labels) != values.shape[1]:
        raise DataError(f"X has {counted(values.shape[1], 'column')}, but {len(labels)} names are given.")
    return {label: values[:, j] for j, label in enumerate(labels)}


def column_kinds(
    table: Any, names: Sequence[str] | None = None, *, types: Mapping[str, str] | None = None
) -> tuple[ColumnKind, ...]:
    """Decide the kind of each column; `types` says it for some, or "drop" or "keep": use it even if it looks like an id."""
    # Columns of a table of zeros and ones are all used, also those that never vary. Where every column would be left out, all
    # are used as far as they can be.
    columns = named_columns(table, names)
    wanted = {str(name): check_choice(f"the type of {name!r}", kind, TYPES) for name, kind in (types or {}).items()}
    unknown = [name for name in wanted if name not in columns]
    if unknown:
        raise SettingsError(f"types names {unknown[0]!r}, which is not a column; the columns are {', '.join(columns)}.")
    cells = {name: read_cells(column) for name, column in columns.items() if wanted.get(name) != "drop"}
    if not cells:
        raise DataError("every column is left out; keep at least one.")
    kept = cells.keys() if all(_is_bits(column) for column in cells.values()) else {n for n in wanted if wanted[n] == "keep"}
    asked = {name: kind for name, kind in wanted.items() if kind != "keep"}
    kinds = _decide(cells, kept, asked)
    if not any(kind.used for kind in kinds.values()):
        kinds = _decide(cells, cells.keys(), asked)
    return tuple(kinds.get(name) or ColumnKind(name, "dropped", "as asked") for name in columns)


def _decide(cells: Mapping[str, Cells], keep: Collection[str], wanted: Mapping[str, str]) -> dict[str, ColumnKind]:
    return {
        name: _kind_asked(column, name, wanted.get(name)) or _kind_seen(column, name, name in keep)
        for name, column in cells.items()
    }


def _is_bits(cells: Cells) -> bool:
    return cells.declared != "category" and bool(np.isin(cells.value_numbers(), (0, 1)).all())


def _kind_asked(cells: Cells, name: str, kind: str | None) -> ColumnKind | None:
    """Check that a column can be what the user says it is."""
    if kind is None:
        return None
    numbers, present = cells.value_numbers(), ~cells.missing_values
    if kind in ("number", "bit") and not np.isfinite(numbers[present]).any():
        raise DataError(f"column {name!r} cannot be a {kind}: it holds no number; make it a category.")
    if kind == "bit" and not np.isin(numbers[present], (0, 1)).all():
        raise DataError(f"column {name!r} cannot be 0/1: it has other values; make it a number or a category.")
    if kind == "date" and not np.isfinite(cells.value_dates()[present]).any():
        raise DataError(f"column {name!r} cannot be a date: it holds none that can be read; write dates as 2026-12-31.")
    return ColumnKind(name, kind, "as asked", int(cells.missing.sum()))  # type: ignore[arg-type]  # checked by the caller


def _kind_seen(cells: Cells, name: str, keep: bool) -> ColumnKind:
    """Decide from the cells; a column to keep becomes whatever it can be used as."""
    present = ~cells.missing_values
    n_missing = int(cells.missing.sum())
    counts = cells.counts[present]
    if len(counts) == 0:
        return ColumnKind(name, "constant", "every cell is missing", n_missing)
    if len(counts) == 1 and not n_missing and not keep:
        value = next(text for text, good in zip(cells.texts(), present, strict=True) if good)
        return ColumnKind(name, "constant", f"always {value:.40}")
    if cells.declared == "category":
        return ColumnKind(name, "category", counted(len(counts), "category", "categories"), n_missing)
    dates = cells.value_dates()[present]
    if cells.declared == "date" or np.isfinite(dates).all():
        return ColumnKind(name, "date", f"{counted(len(counts), 'date')}", n_missing)
    numbers = cells.value_numbers()[present]
    numeric = np.isfinite(numbers)
    if numeric.all() or (counts[numeric].sum() >= NUMERIC_SHARE * counts.sum() and numeric.sum() > MANY_VALUES):
        return _numeric_kind(cells, name, n_missing, keep)
    return _text_kind(cells, name, n_missing, keep)


def _numeric_kind(cells: Cells, name: str, n_missing: int, keep: bool) -> ColumnKind:
    numbers = cells.numbers()
    words = int((np.isnan(numbers) & ~cells.missing).sum())
    known = numbers[~np.isnan(numbers)]
    if np.isin(known, (0, 1)).all():
        return ColumnKind(name, "bit", "0 and 1", n_missing)
    reason = None if keep else _numbering(known, name)
    if reason is not None:
        return ColumnKind(name, "id", reason, n_missing)
    distinct = len(np.unique(known))
    reason = f"{counted(distinct, 'different number')} from {known.min():g} to {known.max():g}"
    reason += f", with {cells.comma} commas" if cells.comma else ""
    reason += f"; {counted(words, 'other cell counts', 'other cells count')} as missing" if words else ""
    return ColumnKind(name, "number", reason, n_missing + words)


def _numbering(known: Any, name: str) -> str | None:
    """Say why whole numbers only number the rows, or None."""
    # Numbers drawn at random from a range repeat (the birthday problem): where many repetitions are expected and there are
    # hardly any, the numbers were given so that they differ.
    if len(known) < MIN_ROWS_ID or not (known == np.floor(known)).all():
        return None
    steps = np.diff(known)
    if (steps == 1).all():
        return f"counts the rows from {known[0]:.0f} to {known[-1]:.0f}"
    n, distinct = len(known), len(np.unique(known))
    if ID_NAME.fullmatch(name) and distinct >= DISTINCT_SHARE * n:
        return f"named like an id, and {distinct:,} of {n:,} values differ"
    span = float(known.max() - known.min()) + 1
    expected = n - span * -math.expm1(n * math.log1p(-1 / span)) if span > 1 else 0.0
    if expected >= CHANCE and n - distinct <= expected / 10:
        return f"{distinct:,} of {n:,} whole numbers differ, as if they numbered the rows"
    return None


def _text_kind(cells: Cells, name: str, n_missing: int, keep: bool) -> ColumnKind:
    present = ~cells.missing_values
    counts = cells.counts[present]
    n, distinct = int(counts.sum()), len(counts)
    reason = counted(distinct, "category", "categories")
    reason += ", numbers among them" if np.isfinite(cells.value_numbers()[present]).any() else ""
    if keep or n < MIN_ROWS_ID:
        return ColumnKind(name, "category", reason, n_missing)
    texts = [text for text, good in zip(cells.texts(), present, strict=True) if good]
    long = sum(map(len, texts)) / distinct > LONG_TEXT or sum(text.count(" ") for text in texts) / distinct >= 2
    if distinct >= DISTINCT_SHARE * n:
        return ColumnKind(name, "text" if long else "id", f"{distinct:,} of {n:,} values differ", n_missing)
    if distinct > MANY_VALUES and n < ROWS_PER_VALUE * distinct:
        return ColumnKind(name, "text" if long else "id", f"{distinct:,} of {n:,} values differ", n_missing)
    return ColumnKind(name, "category", reason, n_missing)
