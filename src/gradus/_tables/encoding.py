"""Any table as a table of bits: few inputs per column, chosen for the targets, with names that can be read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix
from gradus._core.checks import check_choice
from gradus._core.wording import counted
from gradus._tables.cells import MIN_ROWS_ID, Cells, read_cells, shown_date
from gradus._tables.column_kinds import ColumnKind, cells_of_rows, column_kinds, named_columns
from gradus._tables.cuts import MAX_CUTS, MIN_ROWS, choose_category_bits, cut_column
from gradus.errors import DataError, FormatError

__all__ = ["ColumnRule", "Missing", "TableColumn", "TableEncoding", "complete_rows", "encode_table"]

ColumnRule = Literal["bit", "above", "after", "group", "out"]
SHOWN_GROUP = 3  # categories of a group that its name spells out
SHOWN_VALUE = 40  # characters of a bad value spelled out in a message
Missing = Literal["category", "median", "drop"]
MIN_MISSING = 2  # rows without a value before "is missing" becomes an input

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TableColumn:
    """How one column of a table becomes inputs.

    Attributes
    ----------
    name : str
    kind : {"bit", "above", "after", "group", "out"}
        The column is 0/1 already; one input for each number, or each date (in days from 1970), that the value may exceed;
        one for each group of categories; the values are left out.
    values : tuple
        The numbers, the dates or the groups (tuples of texts); empty for ``"bit"`` and ``"out"``.
    strict : bool
        Whether a ``"bit"`` column refuses any value but 0 and 1; otherwise it says whether the value exceeds 0.5.
    others : bool
        Whether one more input says that the value is in no group of one category: a rare or an unknown category.
    missing : bool
        Whether one more input says that the cell is missing. All other inputs are false of a missing cell, unless `fill` is
        given.
    fill : float, str or None
        What stands in for a missing cell.
    comma : {"", "decimal", "thousands"}
        What commas in numbers mean.
    day_format : str
        How dates are written, as for ``strptime``.
    reason : str
        What the column holds, or why it is left out, in words.
    """

    name: str
    kind: ColumnRule
    values: tuple[Any, ...] = ()
    strict: bool = False
    others: bool = False
    missing: bool = False
    fill: float | str | None = None
    comma: str = ""
    day_format: str = ""
    reason: str = ""

    @property
    def input_names(self) -> tuple[str, ...]:
        """A name for each input that the column becomes."""
        names: list[str] = []
        if self.kind == "bit":
            names.append(self.name)
        elif self.kind == "group":
            short = [self._group_name(group, SHOWN_GROUP) for group in self.values]
            # Groups that begin alike are told apart by all of their categories.
            alike = len(set(short)) < len(short)
            names += [self._group_name(group, len(group)) for group in self.values] if alike else short
        elif self.kind != "out":
            names += [f"{self.name} > {shown_date(cut) if self.kind == 'after' else cut}" for cut in self.values]
        names += [f"{self.name} is another"] if self.others else []
        names += [f"{self.name} is missing"] if self.missing else []
        return tuple(names)

    @property
    def input_keys(self) -> tuple[Any, ...]:
        """What each input stands for: the number, the group, or the word ``"bit"``, ``"others"`` or ``"missing"``."""
        keys = {"bit": ("bit",), "out": ()}.get(self.kind, self.values)
        return (*keys, *(["others"] if self.others else []), *(["missing"] if self.missing else []))

    def _group_name(self, group: tuple[str, ...], n_shown: int) -> str:
        if len(group) == 1:
            return f"{self.name} = {group[0]}"
        shown, left = ", ".join(group[:n_shown]), len(group) - n_shown
        return f"{self.name} in {{{shown}{f' and {left} more' if left > 0 else ''}}}"

    def encode(self, column: Any) -> BoolMatrix:
        """Turn values into inputs, shape (n, number of inputs); cells that are missing or unknown are answered too."""
        cells = read_cells(column)
        if self.kind == "bit" and self.strict:
            self._refuse_other_than_bits(cells)
        bits = self._value_bits(cells)
        gone = cells.missing_values if self.kind not in ("bit", "above", "after") else np.isnan(self._numbers(cells))
        bits[gone] = False
        if self.others:
            bits = np.column_stack([bits, ~self._is_named(cells) & ~gone])
        if self.missing:
            bits = np.column_stack([bits, gone])
        if self.fill is not None and gone.any():
            bits[gone] = self._stand_in(self.fill)
        return np.ascontiguousarray(bits[cells.place])

    def not_understood(self, column: Any) -> list[Any]:
        """Return the values of cells that are no number, or date, as this column has them, and so count as missing."""
        if self.kind not in ("bit", "above", "after"):
            return []
        cells = read_cells(column)
        lost = np.isnan(self._numbers(cells)) & ~cells.missing_values
        return [cells.values[place] for place in cells.place[lost[cells.place]]]

    def _stand_in(self, fill: float | str) -> list[bool]:
        """Compute the inputs of the value that stands for missing cells."""
        if isinstance(fill, str):
            return [fill in key if isinstance(key, tuple) else False for key in self.input_keys]
        cuts = (0.5,) if self.kind == "bit" else self.values
        return [*(fill > cut for cut in cuts), *([False] if self.missing else [])]

    def _value_bits(self, cells: Cells) -> BoolMatrix:
        """Compute the inputs of each distinct value."""
        if self.kind == "out":
            return np.zeros((len(cells.values), 0), dtype=np.bool_)
        if self.kind == "group":
            texts = np.array(cells.texts(), dtype=object)
            member = [[text in group for group in map(frozenset, self.values)] for text in texts]
            return np.array(member, dtype=np.bool_).reshape(len(texts), len(self.values))
        with np.errstate(invalid="ignore"):
            cuts = (0.5,) if self.kind == "bit" else self.values
            return np.asarray(self._numbers(cells)[:, np.newaxis] > np.array(cuts, dtype=np.float64))

    def _numbers(self, cells: Cells) -> npt.NDArray[np.float64]:
        if self.kind == "after":
            return cells.value_dates(self.day_format)
        return cells.value_numbers(self.comma)

    def _is_named(self, cells: Cells) -> npt.NDArray[np.bool_]:
        named = {group[0] for group in self.values if len(group) == 1}
        return np.array([text in named for text in cells.texts()], dtype=np.bool_)

    def _refuse_other_than_bits(self, cells: Cells) -> None:
        bad = ~np.isin(cells.numbers(), (0, 1))
        if bad.any():
            row = int(np.argmax(bad))
            shown = (
                "a missing value"
                if cells.missing[row]
                else f"the value {cells.values[int(cells.place[row])]!r:.{SHOWN_VALUE}}"
            )
            raise DataError(f"column {self.name!r} has {shown} in row {row}; every value must be 0 or 1.")

    def to_json(self) -> dict[str, Any]:
        """Return a plain dictionary that JSON can hold."""
        values = [list(value) if isinstance(value, tuple) else value for value in self.values]
        entry = {"name": self.name, "kind": self.kind, "values": values, "strict": self.strict}
        further = {key: getattr(self, key) for key in ("others", "missing", "fill", "comma", "day_format", "reason")}
        return entry | {
            key: value for key, value in further.items() if value is not None and value is not False and value != ""
        }

    @classmethod
    def from_json(cls, entry: Any) -> TableColumn:
        """Read what `to_json` returned."""
        if not isinstance(entry, dict) or not _is_column(entry):
            shown = repr(entry)[:SHOWN_VALUE]
            raise FormatError(f"the model's feature encoding has a column that cannot be understood: {shown}.")
        known = {field.name for field in fields(cls)}
        values = tuple(tuple(value) if isinstance(value, list) else value for value in entry["values"])
        return cls(**{**{key: value for key, value in entry.items() if key in known}, "values": values})


def _is_column(entry: dict[str, Any]) -> bool:
    """Check every field that is there; only the first four must be."""
    flags = all(isinstance(entry.get(key, False), bool) for key in ("strict", "others", "missing"))
    texts = all(isinstance(entry.get(key, ""), str) for key in ("day_format", "reason"))
    fill = entry.get("fill")
    known = entry.get("kind") in get_args(ColumnRule) and entry.get("comma", "") in ("", "decimal", "thousands")
    named = isinstance(entry.get("name"), str) and isinstance(entry.get("values"), list) and "strict" in entry
    if not (flags and texts and known and named and (fill is None or isinstance(fill, str) or _is_finite(fill))):
        return False
    values = entry["values"]
    if entry["kind"] in ("above", "after"):
        return all(map(_is_finite, values))
    if entry["kind"] == "group":
        return all(isinstance(group, list) and group and all(isinstance(text, str) for text in group) for group in values)
    return not values


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


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
        """Read what `to_json` returned."""
        if not isinstance(document, list):
            raise FormatError("the model's feature encoding must be a list of columns.")
        return cls(tuple(TableColumn.from_json(entry) for entry in document))


def encode_table(
    table: Any,
    codes: Any,
    names: Sequence[str] | None = None,
    *,
    kinds: Sequence[ColumnKind] | None = None,
    types: Mapping[str, str] | None = None,
    missing: Missing = "category",
    max_cuts: int = MAX_CUTS,
) -> TableEncoding:
    r"""Decide how each column of a table becomes inputs, with the targets in view."""
    check_choice("missing", missing, get_args(Missing))
    columns = named_columns(table, names)
    found = column_kinds(columns, types=types) if kinds is None else tuple(kinds)
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
