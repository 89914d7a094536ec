"""Any table as a table of bits: few inputs per column, chosen for the targets, with names that can be read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from operator import itemgetter
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix
from gradus._core.wording import counted
from gradus._tables.cells import Cells, cells_of_rows, named_columns, read_cells, shown_date
from gradus._tables.readings import Reading
from gradus.errors import DataError, FormatError

__all__ = ["ColumnRule", "TableColumn", "TableEncoding"]

ColumnRule = Literal["bit", "above", "after", "group", "out"]
SHOWN_GROUP = 3  # categories of a group that its name spells out
SHOWN_VALUE = 40  # characters of a bad value spelled out in a message


@dataclass(frozen=True)
class TableColumn:
    """How one column of a table becomes inputs.

    It is 0/1 already ("bit"), or has one input for each number ("above") or date ("after", in days from 1970) that its value
    may exceed, or for each group of categories ("group"), or is left out.
    """

    name: str
    kind: ColumnRule
    values: tuple[Any, ...] = ()
    """The numbers, the dates or the groups (tuples of texts)."""
    strict: bool = False
    """Whether a "bit" column refuses any value but 0 and 1; otherwise it says whether the value exceeds 0.5."""
    others: bool = False
    """Whether one more input is true of a value in no group of one category: a rare or an unknown category."""
    missing: bool = False
    """Whether one more input says that the cell is missing; all others are false of a missing cell, unless `fill` is given."""
    fill: float | str | None = None
    """The value used for a missing cell."""
    comma: str = ""
    unit: str = ""
    day_format: str = ""
    fold: bool = False
    """Whether categories that differ in small letters and capitals alone are one."""
    reason: str = ""
    """What the column holds, or why it is left out, in words."""

    @property
    def input_names(self) -> tuple[str, ...]:
        """A name for each input that the column becomes."""
        names: list[str] = []
        if self.kind == "bit":
            names.append(self.name)
        elif self.kind == "group":
            short = [self._group_name(group, SHOWN_GROUP) for group in self.values]
            # Groups that begin alike are distinguished by all of their categories.
            alike = len(set(short)) < len(short)
            names += [self._group_name(group, len(group)) for group in self.values] if alike else short
        elif self.kind != "out":
            names += [f"{self.name} > {shown_date(cut) if self.kind == 'after' else cut}" for cut in self.values]
        names += [f"{self.name} is another"] if self.others else []
        names += [f"{self.name} is missing"] if self.missing else []
        return tuple(names)

    @property
    def is_left_out(self) -> bool:
        """Whether no input comes from it, whatever its cells are."""
        return self.kind == "out" and not self.input_names

    @property
    def reading(self) -> Reading:
        """How texts are read as numbers or dates."""
        return Reading(self.comma, self.unit, self.day_format)

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

    def numbers(self, column: Any) -> npt.NDArray[np.float64]:
        """Return the number, or the days from 1970 to the date, in each row; NaN where there is none."""
        cells = read_cells(column)
        return self._numbers(cells)[cells.place]

    def not_understood(self, column: Any) -> list[Any]:
        """Return the values of cells that are no number, or date, as this column has them, and so count as missing."""
        if self.kind not in ("bit", "above", "after"):
            return []
        cells = read_cells(column)
        lost = np.isnan(self._numbers(cells)) & ~cells.missing_values & ~cells.words
        return [cells.values[place] for place in cells.place[lost[cells.place]]]

    def _stand_in(self, fill: float | str) -> list[bool]:
        """Compute the inputs of the value used for missing cells."""
        if isinstance(fill, str):
            return [fill in key if isinstance(key, tuple) else False for key in self.input_keys]
        cuts = (0.5,) if self.kind == "bit" else self.values
        return [*(fill > cut for cut in cuts), *([False] if self.missing else [])]

    def _value_bits(self, cells: Cells) -> BoolMatrix:
        """Compute the inputs of each distinct value."""
        if self.kind == "out":
            return np.zeros((len(cells.values), 0), dtype=np.bool_)
        if self.kind == "group":
            texts = self._folded(cells.texts())
            groups = [frozenset(self._folded(group)) for group in self.values]
            member = [[text in group for group in groups] for text in texts]
            return np.array(member, dtype=np.bool_).reshape(len(texts), len(self.values))
        with np.errstate(invalid="ignore"):
            cuts = (0.5,) if self.kind == "bit" else self.values
            return np.asarray(self._numbers(cells)[:, np.newaxis] > np.array(cuts, dtype=np.float64))

    def _numbers(self, cells: Cells) -> npt.NDArray[np.float64]:
        return cells.value_dates(self.reading) if self.kind == "after" else cells.value_numbers(self.reading)

    def _is_named(self, cells: Cells) -> npt.NDArray[np.bool_]:
        named = set(self._folded(group[0] for group in self.values if len(group) == 1))
        return np.array([text in named for text in self._folded(cells.texts())], dtype=np.bool_)

    def _folded(self, texts: Iterable[str]) -> list[str]:
        """Return texts as they are compared."""
        return list(map(str.casefold, texts)) if self.fold else list(texts)

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
        values = list(map(list, self.values)) if self.kind == "group" else list(self.values)
        entry = {"name": self.name, "kind": self.kind, "values": values, "strict": self.strict}
        for key in ("others", "missing", "fill", "comma", "unit", "day_format", "fold", "reason"):
            value = getattr(self, key)
            if value is not None and value is not False and value != "":
                entry[key] = value
        return entry

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
    flags = all(isinstance(entry.get(key, False), bool) for key in ("strict", "others", "missing", "fold"))
    texts = all(isinstance(entry.get(key, ""), str) for key in ("unit", "day_format", "reason"))
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
    """How a table becomes a table of inputs; made by `gradus._tables.cuts.encode_table`.

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
        return tuple(map(itemgetter(0), self.input_keys))

    @cached_property
    def input_keys(self) -> tuple[tuple[int, Any], ...]:
        """The column of each input, and what the input stands for there: keys that stay as they are if others go."""
        return tuple((j, key) for j, column in enumerate(self.columns) for key in column.input_keys)

    @property
    def is_plain(self) -> bool:
        """Whether every column is 0/1 already."""
        return all(column.kind == "bit" and not column.missing for column in self.columns)

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
        """Describe in a line for each column what becomes of it."""
        return tuple(f"{column.name}: {_fate(column)}" for column in self.columns)

    def to_json(self) -> list[dict[str, Any]]:
        """Return plain lists and dictionaries that JSON can hold."""
        return list(map(TableColumn.to_json, self.columns))

    @classmethod
    def from_json(cls, document: Any) -> TableEncoding:
        """Read what `to_json` returned."""
        if not isinstance(document, list):
            raise FormatError("the model's feature encoding must be a list of columns.")
        return cls(tuple(TableColumn.from_json(entry) for entry in document))


def _fate(column: TableColumn) -> str:
    """Describe what becomes of a column."""
    rest = "; missing cells are distinguished" if column.missing else ""
    if column.kind == "out":
        return f"left out, {column.reason}{'; only whether it is missing is used' if column.missing else ''}"
    if column.kind == "bit":
        strange = column.reason.partition("; ")[2]
        return f"0/1{f'; {strange}' if strange else ''}{rest}"
    if column.kind in ("above", "after"):
        what = "date" if column.kind == "after" else "number"
        cuts = [shown_date(cut) if column.kind == "after" else str(cut) for cut in column.values]
        first, _, strange = column.reason.partition("; ")
        read = first.partition(", ")[2]
        read = f", {read}" if read else ""
        return f"{what}{read}, {_cut_at(cuts)}{f'; {strange}' if strange else ''}{rest}"
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
