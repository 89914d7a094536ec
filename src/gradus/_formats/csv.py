"""Text tables: CSV, TSV and any other delimiter, with a header or without."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np

from gradus._core.bits import BoolMatrix
from gradus._core.files import checked_size, decoded_lines, open_checked
from gradus._formats.table import (
    LARGEST_TABLE,
    Table,
    check_cells,
    looks_like_names,
    numbered_columns,
    table_of_texts,
    unique_columns,
)
from gradus.errors import FormatError, SettingsError

__all__ = ["dumps", "read"]

LINES_TO_JUDGE_BY = 20
DELIMITERS = (",", "\t", ";", "|", " ")

Row = tuple[int, list[str]]  # the line it begins in, and its cells


def read(
    path: str | PathLike[str],
    *,
    delimiter: str | None = None,
    header: bool | Literal["auto"] = "auto",
    row_names: bool = False,
    number_repeats: bool = False,
) -> Table:
    """Read a text table; of columns with one name, all but the first get a number, if they may."""
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n\0'):
        raise SettingsError(f"the delimiter is {delimiter!r}; it must be one character, not a quote or a line end.")
    lines = decoded_lines(path)
    first_lines = list(itertools.islice(lines, LINES_TO_JUDGE_BY))
    chosen = delimiter if delimiter is not None else _delimiter_of(first_lines, Path(path).suffix.lower(), row_names)
    rows = _rows(itertools.chain(first_lines, lines), chosen)
    first = next(rows, None)
    if first is None:
        raise FormatError("the file is empty.")
    if row_names:
        first, rows = _with_corner(first, rows)
    line, cells = first
    _check_size(path, len(cells))
    has_names = looks_like_names(cells) if header == "auto" else header
    names = unique_columns(cells, line, number_repeats=number_repeats) if has_names else numbered_columns(len(cells))
    return table_of_texts(names, _whole_rows(rows if has_names else itertools.chain([first], rows), len(cells), has_names))


def _check_size(path: str | PathLike[str], n_columns: int) -> None:
    """Refuse a table that is too large before it is read; only of a large file the lines are counted first."""
    n_lines = 1
    if checked_size(path) > LARGEST_TABLE:
        with open_checked(path) as file:
            n_lines = sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
    check_cells(n_lines, n_columns)


def _rows(lines: Iterable[str], delimiter: str) -> Iterator[Row]:
    """Rows that are not blank."""
    reader = _reader(lines, delimiter, strict=True)
    line = 1
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            # The message of csv about a quote that is never closed does not help most people.
            what = "a quote is opened here and not closed" if "end of data" in str(error) else error
            raise FormatError(f"not a table: {what}.", line=line) from error
        if cells is None:
            return
        if cells and (len(cells) > 1 or cells[0].strip()):
            yield line, cells
        line = reader.line_num + 1


def _with_corner(first: Row, rows: Iterator[Row]) -> tuple[Row, Iterator[Row]]:
    """Put an empty cell before the first row if it is one cell shorter than the second."""
    second = next(rows, None)
    if second is None:
        return first, rows
    if len(second[1]) == len(first[1]) + 1:
        first = first[0], ["", *first[1]]
    return first, itertools.chain([second], rows)


def _reader(lines: Iterable[str], delimiter: str, *, strict: bool) -> Any:
    if delimiter == " ":
        lines = (" ".join(line.split()) for line in lines)
    return csv.reader(lines, delimiter=delimiter, strict=strict)


def _delimiter_of(lines: list[str], extension: str, row_names: bool) -> str:
    """Find the delimiter that gives every row the same number of cells, more than one."""
    if extension in (".tsv", ".tab"):
        return "\t"
    most = []
    for delimiter in DELIMITERS:
        widths = _widths(lines, delimiter)
        rest = widths[1:] if row_names and len(widths) > 1 and widths[1] == widths[0] + 1 else widths
        if len(set(rest)) == 1 and rest[0] > 1:
            return delimiter
        most.append(max(widths, default=0))
    # None gives equal rows, so the file has a fault; the one that splits most is the likeliest to show where.
    return DELIMITERS[most.index(max(most[:-1]))]


def _widths(lines: list[str], delimiter: str) -> list[int]:
    try:
        rows = _reader(lines, delimiter, strict=False)
        return [len(cells) for cells in rows if cells and (len(cells) > 1 or cells[0].strip())]
    except csv.Error:
        return []


def _whole_rows(rows: Iterable[Row], width: int, has_names: bool) -> Iterator[Row]:
    """Return rows that have as many cells as there are columns; refuse others."""
    for line, cells in rows:
        if len(cells) != width:
            what = "the header" if has_names else "the first row"
            hint = ""
            if has_names and width == 1:
                hint = " If there is a title above the names of the columns, leave it out."
            elif has_names and len(cells) == width + 1:
                hint = " If the first column holds names of rows, give it a name in the header too."
            message = f"this row has {len(cells)} cells, but {what} has {width}.{hint}"
            raise FormatError(message, line=line, column=min(len(cells), width) + 1)
        yield line, cells


def dumps(X: BoolMatrix, Y: BoolMatrix, inputs: tuple[str, ...], targets: tuple[str, ...], *, delimiter: str = ",") -> bytes:
    """Return examples as a text table with a header."""
    text = io.StringIO()
    rows = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    rows.writerow([*inputs, *targets])
    rows.writerows(np.hstack([X, Y]).view(np.int8).tolist())
    return text.getvalue().encode("utf-8")
