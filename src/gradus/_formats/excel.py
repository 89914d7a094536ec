"""Excel tables (.xlsx), through openpyxl: the first sheet of a workbook."""

from __future__ import annotations

import datetime
import zipfile
from os import PathLike
from typing import Any, Literal

from gradus._core.files import LARGEST_FILE, checked_size
from gradus._formats.table import Table, looks_like_names, numbered_columns, table_of_texts, unique_columns
from gradus.errors import FormatError

__all__ = ["read"]

LONGEST_CELL = 1 << 17
"""Characters of a cell, as in text tables; Excel itself stops at 32,767."""


def read(path: str | PathLike[str], *, header: bool | Literal["auto"] = "auto", number_repeats: bool = False) -> Table:
    """Read the first sheet; empty rows and empty columns after the table are left out."""
    try:
        import openpyxl
    except ImportError as error:
        raise FormatError("Excel files need openpyxl: pip install 'gradus-learn[excel]', or save the sheet as CSV.") from error
    checked_size(path)
    with zipfile.ZipFile(path) as archive:
        if sum(part.file_size for part in archive.infolist()) > LARGEST_FILE:
            raise FormatError(f"unpacks to more than {LARGEST_FILE} bytes.")
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    try:
        rows = [
            (number, cells)
            for number, row in enumerate(book.worksheets[0].iter_rows(values_only=True), start=1)
            if any(cells := [_text(cell, number) for cell in row])
        ]
    finally:
        book.close()
    if not rows:
        raise FormatError("the first sheet is empty.")
    width = max(max(i for i, cell in enumerate(cells) if cell) for _, cells in rows) + 1
    line, first = rows[0][0], _wide(rows[0][1], width)
    has_names = looks_like_names(first) if header == "auto" else header
    names = unique_columns(first, line, number_repeats=number_repeats) if has_names else numbered_columns(width)
    return table_of_texts(names, ((number, _wide(cells, width)) for number, cells in (rows[1:] if has_names else rows)))


def _wide(cells: list[str], width: int) -> list[str]:
    return [*cells[:width], *[""] * (width - len(cells))]


def _text(cell: Any, line: int) -> str:
    """Write a cell as a text table would have it."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(int(cell))
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, datetime.datetime):
        return cell.date().isoformat() if cell.time() == datetime.time() else cell.isoformat(" ")
    text = str(cell)
    if len(text) > LONGEST_CELL:
        raise FormatError(f"a cell has more than {LONGEST_CELL} characters here.", line=line)
    return text
