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
from gradus._tables.readings import (
    DAY_FORMATS,
    PLAIN,
    Reading,
    date_in,
    day_formats,
    has_two_readings,
    looks_like_dates,
    number_reading,
    read_number,
)
from gradus.errors import DataError, SettingsError

__all__ = ["ColumnKind", "Kind", "column_kinds"]

Kind = Literal["bit", "number", "category", "date", "constant", "id", "text", "dropped"]
USED = ("bit", "number", "category", "date")
READINGS = {
    "decimal-comma": Reading(comma="decimal"),
    "decimal-point": Reading(comma="thousands"),
    "day-first": Reading(day_format="day"),
    "month-first": Reading(day_format="month"),
}
TYPES = (*USED, "exact", *READINGS, "keep", "drop")
"""Kinds that a user may give a column; an "exact" category distinguishes small letters from capitals."""

ID_NAME = re.compile(
    r"(?i:id|index|key|uuid|guid|unnamed: ?\d+|row(?:_?(?:id|number|no|nr))?)|.*(?:[_ .-](?i:id|key|uuid)|[a-z]I[dD])"
)
DISTINCT_SHARE = 0.9  # texts that differ in more of the rows name the rows
ROWS_PER_VALUE = 2.0  # categories with fewer rows each cannot be learned from
MANY_VALUES = 20
NUMERIC_SHARE = 0.95  # of the cells; then the others are words for "missing"
LONG_TEXT = 25  # characters
SHOWN_WORDS = 3  # cells that are not understood, spelled out in a plan
CHANCE = 8.0  # repeated integers to be expected by chance, above which their absence shows that they number the rows


@dataclass(frozen=True)
class ColumnKind:
    """What a column holds; the last four kinds are left out."""

    name: str
    kind: Kind
    reason: str
    """Why, in words."""
    n_missing: int = 0
    """Rows without a value."""
    reading: Reading = PLAIN
    exact: bool = False
    """Whether categories that differ in small letters and capitals alone are two."""

    @property
    def used(self) -> bool:
        """Whether the column becomes inputs."""
        return self.kind in USED


def column_kinds(
    table: Any, names: Sequence[str] | None = None, *, types: Mapping[str, str] | None = None
) -> tuple[ColumnKind, ...]:
    """Decide the kind of each column; `types` gives it for some, or "drop" or "keep": use it even if it looks like an id."""
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
            seen = asked in ("", "keep")
            kinds[name] = _kind_seen(column, name, asked == "keep") if seen else _kind_asked(column, name, asked)
        if any(kind.kind in USED for kind in kinds.values()):
            break
    return tuple(kinds.get(name) or ColumnKind(name, "dropped", "as asked") for name in columns)


def _kind_asked(cells: Cells, name: str, asked: str) -> ColumnKind:
    """Check that a column can have the kind that the user gave it."""
    reading, n_missing = cells.reading, int(cells.missing.sum())
    if asked in ("day-first", "month-first"):
        reading = Reading(day_format=_format_asked(cells, asked))
    elif asked in READINGS:
        reading = reading._replace(comma=READINGS[asked].comma)
    kind = "number" if asked.startswith("decimal") else "date" if asked.endswith("first") else asked
    numbers, present = cells.value_numbers(reading), ~cells.missing_values
    if kind in ("number", "bit") and not np.isfinite(numbers[present]).any():
        raise DataError(f"column {name!r} cannot be a {kind}: it holds no number; make it a category.")
    if kind == "bit" and not np.isin(numbers[present], (0, 1)).all():
        raise DataError(f"column {name!r} cannot be 0/1: it has other values; make it a number or a category.")
    if kind == "date" and not np.isfinite(cells.value_dates(reading)[present]).any():
        raise DataError(f"column {name!r} cannot be a date: it holds none that can be read; write dates as 2026-12-31.")
    if kind in ("category", "exact"):
        return ColumnKind(
            name, "category", f"as asked{'' if kind == 'exact' else _merged(cells)}", n_missing, exact=kind == "exact"
        )
    return ColumnKind(name, kind, f"as asked{_read_as(cells, reading, kind)}", n_missing, reading)  # type: ignore[arg-type]  # checked by the caller


def _format_asked(cells: Cells, asked: str) -> str:
    """Return the format of dates with the day, or the month, first that reads most of a column."""
    formats = [pattern for pattern in DAY_FORMATS if pattern.startswith("%d" if asked == "day-first" else "%m")]
    return max(formats, key=lambda pattern: int(np.isfinite(cells.value_dates(Reading(day_format=pattern))).sum()))


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
        return ColumnKind(name, "category", counted(len(counts), "category", "categories"), n_missing, exact=True)
    words = cells.words[present]
    dates = cells.value_dates()[present]
    if cells.declared == "date" or ((np.isfinite(dates) | words).all() and np.isfinite(dates).any()):
        return _date_kind(cells, name)
    _refuse_two_ways(cells, name)
    numbers = cells.value_numbers()[present]
    numeric = np.isfinite(numbers)
    told = counts[numeric | words].sum() >= NUMERIC_SHARE * counts.sum() and numeric.sum() > MANY_VALUES
    if numeric.any() and ((numeric | words).all() or told):
        return _numeric_kind(cells, name, n_missing, keep)
    return _text_kind(cells, name, n_missing, keep)


def _refuse_two_ways(cells: Cells, name: str) -> None:
    """Refuse a column of numbers or dates of which no reading understands all rows."""
    if cells.numeric is not None or not cells.written:
        return
    if looks_like_dates(cells.written) and not cells.reading.day_format:
        first, *others = cells.written
        differ = next(
            ((text, other) for text in (first, *others) for other in others if not day_formats([text, other])), (first, first)
        )
        _refuse(cells, name, differ, "no order of day, month and year reads both", "day-first, month-first")
    pair = number_reading(cells.written)[1]
    if pair is not None:
        units = any(character.isalpha() or character in "$€£¥₹%‰" for text in pair for character in text)
        what = "these are two units" if units else "no decimal sign reads both"
        _refuse(cells, name, pair, what, "number" if units else "decimal-comma, decimal-point")


def _refuse(cells: Cells, name: str, pair: Sequence[str], what: str, remedy: str) -> None:
    rows = [next(row for row, place in enumerate(cells.place) if str(cells.values[place]).strip() == text) for text in pair]
    told = " and ".join(f"{text!r} (row {row + 1})" for text, row in zip(pair, rows, strict=True))
    raise DataError(
        f"column {name!r} has {told}: {what}; write all alike, or give its type: {remedy}, category or drop "
        f"(gradus learn --types {name}={remedy.partition(',')[0]})."
    )


def _read_as(cells: Cells, reading: Reading, kind: str) -> str:
    """Describe how texts are read where that is not obvious, and what counts as missing."""
    said = ""
    if reading.unit and any(character.isalpha() for character in reading.unit):
        said += f", in {reading.unit}"
    elif reading.unit:
        said += f", without {reading.unit}"
    if kind == "number":
        shown = next((text for text in cells.written if has_two_readings(text) or ("," in text and reading.comma)), "")
        said += f", {shown} is {read_number(shown, reading):.12g}" if shown else ""
    two_ways = [
        pattern for pattern in day_formats(cells.written) if pattern in ("%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y")
    ]
    if kind == "date" and len(two_ways) > 1:
        moment = date_in(cells.written[0], reading.day_format)
        said += f", {cells.written[0]} is {moment:%Y-%m-%d}, {'day' if reading.day_format.startswith('%d') else 'month'} first"
    if kind in ("number", "bit"):
        gone = np.isnan(cells.value_numbers(reading)) & ~cells.missing_values
    else:
        gone = np.isnan(cells.value_dates(reading)) & ~cells.missing_values
    words = [str(cells.values[place]).strip() for place in np.flatnonzero(gone)]
    if words:
        rows = int(cells.counts[gone].sum())
        shown = ", ".join(map(repr, words[:SHOWN_WORDS])) + (", …" if len(words) > SHOWN_WORDS else "")
        said += f"; {counted(rows, 'cell counts', 'cells count')} as missing: {shown}"
    return said


def _merged(cells: Cells) -> str:
    """Describe which texts are one category although their letters differ."""
    spelled = cells.spellings
    changed = [(old, new) for old, new in spelled.items() if old != new]
    if not changed:
        return ""
    more = f" (and {len(changed) - 1} more)" if len(changed) > 1 else ""
    return f"; {changed[0][0]!r} is taken for {changed[0][1]!r}{more}"


def _date_kind(cells: Cells, name: str) -> ColumnKind:
    reading = cells.reading
    known = np.isfinite(cells.value_dates())
    n_missing = int(cells.counts[~known].sum())
    reason = f"{counted(int(known.sum()), 'date')}{_read_as(cells, reading, 'date')}"
    return ColumnKind(name, "date", reason, n_missing, reading)


def _numeric_kind(cells: Cells, name: str, n_missing: int, keep: bool) -> ColumnKind:
    numbers, reading = cells.numbers(), cells.reading
    words = int((np.isnan(numbers) & ~cells.missing).sum())
    known = numbers[~np.isnan(numbers)]
    if np.isin(known, (0, 1)).all():
        return ColumnKind(name, "bit", f"0 and 1{_read_as(cells, reading, 'bit')}", n_missing + words, reading)
    reason = None if keep else _numbering(known, name)
    if reason is not None:
        return ColumnKind(name, "id", reason, n_missing)
    distinct = len(np.unique(known))
    reason = f"{counted(distinct, 'different number')} from {known.min():g} to {known.max():g}"
    return ColumnKind(name, "number", reason + _read_as(cells, reading, "number"), n_missing + words, reading)


def _numbering(known: Any, name: str) -> str | None:
    """Return why whole numbers only number the rows, or None."""
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
    spelled = [cells.spellings[text] for text, good in zip(cells.texts(), present, strict=True) if good]
    texts, counts = sorted(set(spelled)), cells.counts[present]
    n, distinct = int(counts.sum()), len(texts)
    reason = counted(distinct, "category", "categories")
    reason += ", numbers among them" if np.isfinite(cells.value_numbers()[present]).any() else ""
    category = ColumnKind(name, "category", reason + _merged(cells), n_missing)
    if keep or n < MIN_ROWS_ID:
        return category
    long = sum(map(len, texts)) / distinct > LONG_TEXT or sum(text.count(" ") for text in texts) / distinct >= 2
    if distinct >= DISTINCT_SHARE * n:
        return ColumnKind(name, "text" if long else "id", f"{distinct:,} of {n:,} values differ", n_missing)
    if distinct > MANY_VALUES and n < ROWS_PER_VALUE * distinct:
        return ColumnKind(name, "text" if long else "id", f"{distinct:,} of {n:,} values differ", n_missing)
    return category
