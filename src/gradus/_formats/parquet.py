"""Parquet tables (.parquet), through pyarrow."""

from __future__ import annotations

import io
import re
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix
from gradus._core.files import checked_size
from gradus._formats.table import Table, check_cells, unique_columns
from gradus.errors import FormatError

__all__ = ["dumps", "read"]

LARGEST_COLUMN = 1 << 31
INDEX = re.compile(r"__index_level_[0-9]+__")  # what pandas calls an index that it wrote as a column


def read(path: str | PathLike[str]) -> Table:
    """Read a Parquet file of numbers, Booleans and text."""
    parquet = _pyarrow().parquet
    checked_size(path)
    with parquet.ParquetFile(path, page_checksum_verification=True) as file:
        about = file.metadata
        check_cells(about.num_rows, about.num_columns)
        size = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
        if size > LARGEST_COLUMN:
            raise FormatError(f"unpacks to {size} bytes; at most {LARGEST_COLUMN} are read.")
        content = file.read(use_threads=False)
    places = [i for i, name in enumerate(content.column_names) if not INDEX.fullmatch(name)]
    columns = unique_columns([content.column_names[i] for i in places])
    return Table(columns, [_cells(content.column(i), name) for i, name in zip(places, columns, strict=True)])


def _pyarrow() -> Any:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise FormatError("Parquet files need pyarrow: pip install 'gradus-learn[parquet]', or use CSV.") from error
    return pyarrow


def _cells(column: Any, name: str) -> npt.NDArray[Any]:
    """Return numbers as numbers, NaN where there is none, and anything else as texts."""
    types = _pyarrow().types
    kind = column.type
    if types.is_dictionary(kind):
        kind = kind.value_type
        column = column.cast(kind)
    if types.is_boolean(kind):
        column = column.cast("int8")
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind):
        return np.asarray(column.cast("float64", safe=False).to_numpy(), dtype=np.float64)
    if types.is_nested(kind):
        raise FormatError(f"column {name!r} is nested ({kind}); only plain columns can be read.")
    texts = ["" if value is None else str(value) for value in column.to_pylist()]
    return np.array([*texts, None], dtype=object)[:-1]


def dumps(X: BoolMatrix, Y: BoolMatrix, inputs: tuple[str, ...], targets: tuple[str, ...]) -> bytes:
    """Return examples as the bytes of a Parquet file."""
    pyarrow = _pyarrow()
    columns = [pyarrow.array(column) for column in np.hstack([X, Y]).T]
    content = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns, names=[*inputs, *targets]), content, write_page_checksum=True)
    return content.getvalue()
