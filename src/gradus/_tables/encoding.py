"""Any table as a table of bits: few inputs per column, chosen for the targets, with names that can be read."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix
from gradus._core.checks import check_choice
from gradus._core.wording import counted
from gradus._tables.categories import MIN_ROWS, choose_category_bits
from gradus._tables.cells import Cells, read_cells, shown_date
from gradus._tables.column_kinds import MIN_ROWS_ID, ColumnKind, cells_of_rows, column_kinds, named_columns
from gradus._tables.columns import TableColumn
from gradus._tables.cuts import MAX_CUTS, cut_column
from gradus.errors import DataError, FormatError

__all__ = ["Missing", "TableEncoding", "complete_rows", "encode_table"]

Missing = Literal["category", "median", "drop"]
MIN_MISSING = 2  # rows without a value before "is missing" becomes an input

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TableEncoding:
    """How a table becomes a table of inputs; made by `encode_table`.

    Attributes
    ----------
    columns : tuple of TableColumn
        One for each column of the table, those left out included.
    """

    columns: tuple[TableColumn, ...]

    @cached_property
    def input_names(self) -> tuple[str, ...]:
        """A name for each input."""
        return tuple(name for column in self.columns for name in column.input_names)

    @cached_property
    def input_columns(self) -> tuple[int, ...]:
        """The column that each input comes from."""
        return tuple(j for j, column in enumerate(self.columns) for _ in column.input_names)

    @cached_property
    def input_keys(self) -> tuple[tuple[int, Any], ...]:
        """The column of each input, and what the input stands for there: keys that stay as they are if others go."""
        return tuple((j, key) for j, column in enumerate(self.columns) for key in column.input_keys)

    def encode(self, table: Any) -> BoolMatrix:
        """Turn a table with the same columns into inputs."""
        # Columns of a data frame or a mapping are found by name, whatever their order and whatever else is there; a plain
        # array must have the columns in the order of training.
        given = self.columns_by_name(table)
        needed = [column for column in self.columns if column.input_names]
        absent = [column.name for column in needed if column.name not in given]
        if absent:
            wanted = ", ".join(column.name for column in needed)
            raise DataError(f"the table has no column {absent[0]!r}, which the model reads; it reads {wanted}.")
        return np.ascontiguousarray(np.hstack([column.encode(given[column.name]) for column in needed]))

    def columns_by_name(self, table: Any) -> dict[str, Any]:
        """Return the columns of a table by the names they had in training."""
        own = [column.name for column in self.columns]
        names = list(table) if isinstance(table, Mapping) else list(getattr(table, "columns", ()))
        if names and all(isinstance(name, str) for name in names):
            given = named_columns(table)
            unnamed = own == [f"x{j}" for j in range(len(own))] and len(given) == len(own) and not set(own) & set(given)
            return dict(zip(own, given.values(), strict=True)) if unnamed else given
        rows = table if hasattr(table, "shape") else cells_of_rows(table)
        if len(rows.shape) != 2 or rows.shape[1] != len(own):
            raise DataError(f"the table has shape {rows.shape}, but the model was trained on {len(own)} columns.")
        return named_columns(rows, own)

    def plan(self) -> tuple[str, ...]:
        """Say for each column, in a line, what becomes of it."""
        return tuple(f"{column.name}: {_fate(column)}" for column in self.columns)

    def to_json(self) -> list[dict[str, Any]]:
        """Return plain lists and dictionaries that JSON can hold."""
        return [column.to_json() for column in self.columns]

    @classmethod
    def from_json(cls, document: Any) -> TableEncoding:
        """Read what `to_json` returned, by this version or an older one."""
        if not isinstance(document, list):
            raise FormatError("the model's feature encoding must be a list of columns.")
        return cls(tuple(TableColumn.from_json(entry) for entry in document))


def encode_table(
    table: Any,
    codes: Any,
    names: Sequence[str] | None = None,
    *,
    kinds: Sequence[ColumnKind] | None = None,
    drop: Collection[str] = (),
    keep: Collection[str] = (),
    types: Mapping[str, str] | None = None,
    missing: Missing = "category",
    max_cuts: int = MAX_CUTS,
) -> TableEncoding:
    r"""Decide how each column of a table becomes inputs, with the targets in view."""
    check_choice("missing", missing, get_args(Missing))
    columns = named_columns(table, names)
    found = column_kinds(columns, drop=drop, keep=keep, types=types) if kinds is None else tuple(kinds)
    classes = np.asarray(codes, dtype=np.int64)
    classes = classes[:, np.newaxis] if classes.ndim == 1 else classes
    rules = tuple(
        _describe(read_cells(column), kind, classes, missing, max_cuts)
        for column, kind in zip(columns.values(), found, strict=True)
    )
    if not any(rule.input_names for rule in rules):
        # A circuit needs something to read, even where nothing can be told apart.
        first = next(j for j, kind in enumerate(found) if kind.kind != "dropped")
        text = read_cells(columns[found[first].name]).texts()[0]
        stand_in = TableColumn(found[first].name, "group", ((text,),), reason="1 category")
        rules = (*rules[:first], stand_in, *rules[first + 1 :])
    encoding = TableEncoding(rules)
    _refuse_equal_names(encoding)
    return encoding


def _refuse_equal_names(encoding: TableEncoding) -> None:
    """Refuse, for example, a column "x > 3" beside a column x that is cut at 3."""
    first: dict[str, int] = {}
    for name, column in zip(encoding.input_names, encoding.input_columns, strict=True):
        other = encoding.columns[first.setdefault(name, column)].name
        if first[name] != column:
            raise DataError(
                f"columns {other!r} and {encoding.columns[column].name!r} both give an input {name!r}; rename one."
            )


def complete_rows(table: Any, kinds: Sequence[ColumnKind]) -> npt.NDArray[np.bool_]:
    """Tell which rows have a value in every column that is used: those to learn from if missing cells are dropped."""
    columns = named_columns(table)
    used = [read_cells(columns[kind.name]).missing for kind in kinds if kind.used]
    n = len(next(iter(columns.values())))
    missing: npt.NDArray[np.bool_] = np.array(used, dtype=np.bool_).reshape(len(used), n)
    return np.asarray(~missing.any(axis=0))


def _describe(cells: Cells, kind: ColumnKind, codes: Ints, missing: Missing, max_cuts: int) -> TableColumn:
    has_bit = missing == "category" and kind.n_missing >= MIN_MISSING and kind.n_missing < len(cells.place)
    if not kind.used:
        # Whether there is a value may tell something even where the value does not.
        return TableColumn(kind.name, "out", missing=has_bit and kind.kind != "dropped", reason=kind.reason)
    if kind.kind == "category":
        return _describe_categories(cells, kind, codes, missing, has_bit)
    numbers = cells.dates() if kind.kind == "date" else cells.numbers()
    fill = float(np.nanmedian(numbers)) if missing != "category" else None
    if kind.kind == "bit":
        fill = None if fill is None else float(fill > 0.5)
        return TableColumn(kind.name, "bit", missing=has_bit, fill=fill, comma=cells.comma, reason=kind.reason)
    if kind.kind == "date":
        cuts = cut_column(numbers, codes, max_cuts=max_cuts)
        pattern = cells.day_format or "%Y-%m-%d"
        return TableColumn(kind.name, "after", cuts, missing=has_bit, fill=fill, day_format=pattern, reason=kind.reason)
    cuts = cut_column(numbers, codes, max_cuts=max_cuts)
    return TableColumn(kind.name, "above", cuts, missing=has_bit, fill=fill, comma=cells.comma, reason=kind.reason)


def _describe_categories(cells: Cells, kind: ColumnKind, codes: Ints, missing: Missing, has_bit: bool) -> TableColumn:
    # Values that differ only in blanks around them, or as 1 and 1.0, are one category.
    texts = sorted({text for text, gone in zip(cells.texts(), cells.missing_values, strict=True) if not gone})
    number = {text: i for i, text in enumerate(texts)}
    pairs = zip(cells.texts(), cells.missing_values, strict=True)
    place = np.array([-1 if gone else number[text] for text, gone in pairs], dtype=np.int64)[cells.place]
    # A short table says nothing about which categories are rare.
    least = 1 if len(place) < MIN_ROWS_ID else MIN_ROWS
    bits = choose_category_bits(texts, place, codes, min_rows=least)
    fill = None
    if missing != "category" and (place >= 0).any():
        fill = texts[int(np.bincount(place[place >= 0]).argmax())]
    return TableColumn(kind.name, "group", bits.groups, others=bits.others, missing=has_bit, fill=fill, reason=kind.reason)


def _fate(column: TableColumn) -> str:
    """Say what becomes of a column."""
    rest = "; missing cells are told apart" if column.missing else ""
    if column.kind == "out":
        return f"left out, {column.reason}{'; only whether it is missing is used' if column.missing else ''}"
    if column.kind == "bit":
        return f"0/1{rest}"
    if column.kind in ("above", "after"):
        what = "date" if column.kind == "after" else "number"
        cuts = [shown_date(cut) if column.kind == "after" else str(cut) for cut in column.values]
        strange = column.reason.partition("; ")[2]
        return f"{what}, {_cut_at(cuts)}{f'; {strange}' if strange else ''}{rest}"
    singles = [group[0] for group in column.values if len(group) == 1]
    groups = len(column.values) - len(singles)
    text = f"category, {column.reason}"
    text += f", {counted(groups, 'group')} of them" if groups else ""
    text += ", the rare ones together" if column.others else ""
    return text + rest


def _cut_at(cuts: Sequence[str]) -> str:
    if not cuts:
        return "never cut"
    return f"cut at {cuts[0]}" if len(cuts) == 1 else f"cut at {', '.join(cuts[:-1])} and {cuts[-1]}"
