"""Parquet tables, through pyarrow."""

from __future__ import annotations

import io
import re
from collections.abc import Collection
from os import PathLike
from typing import Any

import numpy as np

from gradus._core.bits import BoolMatrix
from gradus._core.files import checked_size
from gradus._formats.table import KNOWN, NUMBER, Table, check_cells, unique_columns
from gradus.errors import FormatError

__all__ = ["dumps", "read"]

LARGEST_COLUMN = 1 << 31
INDEX = re.compile(r"__index_level_[0-9]+__")  # what pandas calls an index that it wrote as a column


def read(path: str | PathLike[str], *, text_columns: Collection[str] = ()) -> Table:
    """Read a Parquet file of numbers, Booleans and text."""
    import pyarrow.parquet

    checked_size(path)
    with pyarrow.parquet.ParquetFile(path, page_checksum_verification=True) as file:
        about = file.metadata
        check_cells(about.num_rows, about.num_columns, path)
        size = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
        if size > LARGEST_COLUMN:
            raise FormatError(f"unpacks to {size} bytes; at most {LARGEST_COLUMN} are read.", path=path)
        content = file.read(use_threads=False)
    places = [i for i, name in enumerate(content.column_names) if not INDEX.fullmatch(name)]
    columns = unique_columns([content.column_names[i] for i in places], path, None)
    return _table(columns, [content.column(i) for i in places], path, text_columns)


def _table(columns: tuple[str, ...], found: list[Any], path: str | PathLike[str], text_columns: Collection[str]) -> Table:
    n_rows = len(found[0]) if found else 0
    values = np.full((n_rows, len(columns)), np.nan)
    odd: dict[int, tuple[int, str]] = {}
    texts = {}
    for place, (name, column) in enumerate(zip(columns, found, strict=True)):
        if name in text_columns:
            texts[name] = tuple("" if value is None else str(value) for value in column.to_pylist())
        else:
            strange = _fill(values[:, place], column, f"column {name!r}", path)
            if strange is not None:
                odd[place] = strange
    return Table(columns, values, path=path, odd=odd, texts=texts)


def _fill(into: Any, column: Any, what: str, path: str | PathLike[str]) -> tuple[int, str] | None:
    """Put a column's numbers in their place; return the first cell that is not a number."""
    import pyarrow
    from pyarrow import types

    kind = column.type
    if types.is_dictionary(kind):
        kind = kind.value_type
        column = column.cast(kind)
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind):
        numbers = column.cast(pyarrow.float64(), safe=False) if not types.is_boolean(kind) else column.cast("int8")
        into[:] = numbers.to_numpy().astype(np.float64)
        return None
    if types.is_null(kind):
        return None
    if types.is_nested(kind):
        raise FormatError(f"{what} is nested ({kind}); only plain columns can be read.", path=path)
    return _fill_from_text(into, column.to_pylist())


def _fill_from_text(into: Any, cells: list[Any]) -> tuple[int, str] | None:
    strange = None
    for row, cell in enumerate(cells):
        text = "" if cell is None else str(cell).strip()
        if text in KNOWN:
            into[row] = KNOWN[text]
        elif NUMBER.fullmatch(text):
            into[row] = float(text)
        elif strange is None:
            strange = row, text
    return strange


def dumps(X: BoolMatrix, Y: BoolMatrix, inputs: tuple[str, ...], targets: tuple[str, ...]) -> bytes:
    """Return examples as the bytes of a Parquet file."""
    import pyarrow
    import pyarrow.parquet

    columns = [pyarrow.array(column) for column in np.hstack([X, Y]).T]
    content = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns, names=[*inputs, *targets]), content, write_page_checksum=True)
    return content.getvalue()
