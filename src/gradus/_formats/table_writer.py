"""Writes examples as tables that `gradus._formats.tables.read_table` reads back."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from gradus._bits import BoolMatrix
from gradus._files import write_bytes_whole
from gradus._formats.tables import distinct_targets, unique_columns
from gradus.errors import DataError, FormatError

__all__ = ["write_table"]


def write_table(
    path: str | PathLike[str], X: BoolMatrix, Y: BoolMatrix, input_names: Sequence[str], target_names: Sequence[str]
) -> tuple[str, ...]:
    """Write examples; the extension of the file's name tells the format. The file is written whole or not at all.

    Parameters
    ----------
    path : path-like
        A ``.csv``, ``.tsv``, ``.npz``, ``.parquet`` or ``.pla`` file.
    X, Y : ndarray of bool
    input_names, target_names : sequence of str
        A target named like an input gets ``_next`` behind its name.

    Returns
    -------
    tuple of str
        The names of the target columns in the file.

    Raises
    ------
    FormatError
        If the extension is not known, the format cannot hold a name, or the file cannot be written.
    """
    writer = WRITERS.get(Path(path).suffix.lower())
    if writer is None:
        raise FormatError(f"tables are written as {', '.join(WRITERS)}.", path=path)
    if len(X) != len(Y) or X.shape[1] != len(input_names) or Y.shape[1] != len(target_names):
        raise DataError("the numbers of rows and names do not fit the tables.")
    targets = distinct_targets(input_names, target_names)
    unique_columns([*input_names, *targets], path, None)
    write_bytes_whole(path, writer(X, Y, tuple(input_names), targets))
    return targets


Writer = Callable[[BoolMatrix, BoolMatrix, tuple[str, ...], tuple[str, ...]], bytes]


def _delimited(delimiter: str) -> Writer:
    def write(X: BoolMatrix, Y: BoolMatrix, inputs: tuple[str, ...], targets: tuple[str, ...]) -> bytes:
        text = io.StringIO()
        rows = csv.writer(text, delimiter=delimiter, lineterminator="\n")
        rows.writerow([*inputs, *targets])
        rows.writerows(np.hstack([X, Y]).view(np.int8).tolist())
        return text.getvalue().encode("utf-8")

    return write


def _npz(X: BoolMatrix, Y: BoolMatrix, inputs: tuple[str, ...], targets: tuple[str, ...]) -> bytes:
    content = io.BytesIO()
    np.savez_compressed(content, X=X, Y=Y, input_names=np.array(inputs), target_names=np.array(targets))
    return content.getvalue()


def _parquet(X: BoolMatrix, Y: BoolMatrix, inputs: tuple[str, ...], targets: tuple[str, ...]) -> bytes:
    import pyarrow
    import pyarrow.parquet

    names = [*inputs, *targets]
    columns = [pyarrow.array(column) for column in np.hstack([X, Y]).T]
    content = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns, names=names), content, write_page_checksum=True)
    return content.getvalue()


def _pla(X: BoolMatrix, Y: BoolMatrix, inputs: tuple[str, ...], targets: tuple[str, ...]) -> bytes:
    for name in (*inputs, *targets):
        if not name or "#" in name or name.split() != [name]:
            raise FormatError(f"PLA cannot hold the name {name!r}: blanks and '#' end a name there.")
    rows = ["".join("01"[bit] for bit in x) + " " + "".join("01"[bit] for bit in y)
            for x, y in zip(X.view(np.int8).tolist(), Y.view(np.int8).tolist(), strict=True)]  # fmt: skip
    head = [f".i {len(inputs)}", f".o {len(targets)}", f".ilb {' '.join(inputs)}", f".ob {' '.join(targets)}"]
    return "\n".join([*head, ".type fr", f".p {len(rows)}", *rows, ".e", ""]).encode("utf-8")


WRITERS: dict[str, Writer] = {
    ".csv": _delimited(","),
    ".tsv": _delimited("\t"),
    ".npz": _npz,
    ".parquet": _parquet,
    ".pla": _pla,
}
