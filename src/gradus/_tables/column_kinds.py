"""What kind of values each column of a table holds, whether it is used, and why."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from gradus._core.checks import check_choice
from gradus._core.wording import counted
from gradus._tables.cells import MIN_ROWS_ID, Cells, named_columns, read_cells
from gradus.errors import DataError, SettingsError

__all__ = ["ColumnKind", "Kind", "column_kinds"]

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


def column_kinds(
    table: Any, names: Sequence[str] | None = None, *, types: Mapping[str, str] | None = None
) -> tuple[ColumnKind, ...]:
    """Decide the kind of each column; `types` says it for some, or "drop" or "keep": use it even if it looks like an id."""
    # Columns of a table of zeros and ones are all used, also those that never vary. Where every column would be left out, all
    # are used as far as they can be.
    columns = named_columns(table, names)
    wanted = {str(name): check_choice(f"the type of {name!r}", kind, TYPES) for name, kind in (types or {}).items()}
    for name in wanted:
        if name not in columns:
            raise SettingsError(f"types names {name!r}, which is not a column; the columns are {', '.join(columns)}.")
    cells = {name: read_cells(column) for name, column in columns.items() if wanted.get(name) != "drop"}
    if not cells:
        raise DataError("every column is left out; keep at least one.")
    bits = all(read.declared != "category" and np.isin(read.value_numbers(), (0, 1)).all() for read in cells.values())
    kinds: dict[str, ColumnKind] = {}
    for keep_all in (bits, True):
        for name, column in cells.items():
            asked = wanted.get(name, "keep" if keep_all else "")
            kinds[name] = _kind_asked(column, name, asked) if asked in USED else _kind_seen(column, name, asked == "keep")
        if any(kind.kind in USED for kind in kinds.values()):
            break
    return tuple(kinds.get(name) or ColumnKind(name, "dropped", "as asked") for name in columns)


def _kind_asked(cells: Cells, name: str, kind: str) -> ColumnKind:
    """Check that a column can be what the user says it is."""
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
