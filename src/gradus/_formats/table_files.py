"""`read_table` and `write_table`: tables of every format, chosen by the extension of the file."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from gradus._core.bits import BoolMatrix
from gradus._core.files import read_guard, write_bytes_whole
from gradus._formats.registry import TABLES
from gradus._formats.table import Table, distinct_targets, unique_columns
from gradus.errors import DataError, FormatError

__all__ = ["READERS", "WRITERS", "read_table", "write_table"]

READERS = {extension: kind.module for extension, kind in TABLES.items()}
"""Format of each extension that is read."""

WRITERS = {extension: kind.module for extension, kind in TABLES.items() if kind.is_written}
"""Format of each extension that is written."""


def _format(name: str) -> Any:
    """Return the module of a format, which is imported when it is needed."""
    return importlib.import_module(f"gradus._formats.{name}")


def read_table(path: str | PathLike[str], *, kind: str | None = None, **options: Any) -> Table:
    r"""Read a table from a file; its extension decides the format.

    Parameters
    ----------
    path : path-like
        A file such as ``.csv``, ``.xlsx`` or ``.parquet``. Any other extension is refused with the list of those that are
        read; some need an extra: ``pip install 'gradus-learn[excel]'``.
    kind : str, optional
        The format, such as ``"csv"``, if the extension does not decide it.
    **options
        Passed to the format's reader: ``delimiter`` and ``header`` for text tables, ``labels`` for ARFF.

    Returns
    -------
    Table

    Raises
    ------
    FormatError
        If the file cannot be read as such a table; the error names the file, and the line and column if there are any.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "half_adder.csv"
    >>> _ = path.write_text("a,b,sum,carry\n0,1,1,0\n1,1,0,1\n")
    >>> table = read_table(path)
    >>> table.columns, table.n_rows
    (('a', 'b', 'sum', 'carry'), 2)
    >>> table.split(["sum", "carry"]).Y.astype(int).tolist()
    [[1, 0], [0, 1]]
    """
    extension = Path(path).suffix.lower()
    chosen = kind if kind is not None else READERS.get(extension, "")
    if Path(path).is_dir():
        raise FormatError("is not a file but a folder; name a file in it.", path=path)
    if chosen not in READERS.values():
        known = ", ".join(READERS)
        raise FormatError(f"{kind or extension!r} is not a kind of table that is read; known are {known}.", path=path)
    reader = _format(chosen)
    for option in options:
        if option not in inspect.signature(reader.read).parameters:
            raise FormatError(f"{option!r} is not an option for this kind of file ({chosen}).", path=path)
    with read_guard(path, f"a table of the kind {chosen}"):
        table: Table = reader.read(path, **options)
    return replace(table, path=path)


def write_table(
    path: str | PathLike[str], X: BoolMatrix, Y: BoolMatrix, input_names: Sequence[str], target_names: Sequence[str]
) -> tuple[str, ...]:
    """Write examples to a file, whole or not at all; its extension decides the format."""
    extension = Path(path).suffix.lower()
    if extension not in WRITERS:
        raise FormatError(f"tables are written as {', '.join(WRITERS)}.", path=path)
    if len(X) != len(Y) or X.shape[1] != len(input_names) or Y.shape[1] != len(target_names):
        raise DataError("the numbers of rows and names do not fit the tables.")
    targets = distinct_targets(input_names, target_names)
    settings = {"delimiter": "\t"} if extension == ".tsv" else {}
    with read_guard(path, "a table"):
        unique_columns([*input_names, *targets])
        content = _format(WRITERS[extension]).dumps(X, Y, tuple(input_names), targets, **settings)
    write_bytes_whole(path, content)
    return targets
