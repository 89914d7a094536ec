"""Examples as a task: packed inputs, and packed targets with a mask of the cells that are known."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradus._bits import BoolMatrix, as_bits, pack, tail_mask
from gradus._lessons.board import PackedExamples
from gradus.errors import DataError

__all__ = ["read_targets", "task_of"]


def read_targets(Y: Any) -> tuple[BoolMatrix, BoolMatrix]:
    """Read targets whose cells may be unknown: NaN, None or masked.

    Returns
    -------
    targets, known : ndarray of bool, shape (n, m)
        Unknown targets are False.

    Examples
    --------
    >>> targets, known = read_targets([[1, None], [0, 1]])
    >>> targets.astype(int).tolist(), known.astype(int).tolist()
    ([[1, 0], [0, 1]], [[1, 0], [1, 1]])
    """
    columns = getattr(Y, "columns", None)
    values = Y.to_numpy() if columns is not None else Y
    masked = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    try:
        table = np.asarray(values)
    except ValueError as error:
        raise DataError("Y is not a table: its rows have different lengths.") from error
    unknown = _missing(table)
    if masked is not None:
        unknown |= masked
    if not unknown.any():
        targets = as_bits(Y, "Y")
        return targets, np.ones_like(targets)
    filled = table.astype(object)
    filled[unknown] = 0
    targets = as_bits(filled, "Y")
    return targets, ~unknown.reshape(targets.shape)


def _missing(table: Any) -> BoolMatrix:
    if table.dtype == np.object_:
        missing: BoolMatrix = np.frompyfunc(_is_missing, 1, 1)(table).astype(np.bool_)
        return missing
    return np.isnan(table) if table.dtype.kind == "f" else np.zeros(table.shape, dtype=np.bool_)


def _is_missing(cell: Any) -> bool:
    return cell is None or str(cell) in ("nan", "<NA>", "NaT")


def task_of(inputs: BoolMatrix, targets: BoolMatrix, known: BoolMatrix) -> PackedExamples:
    """Check that inputs and targets belong together, and pack them.

    Examples
    --------
    >>> bits = np.eye(2, dtype=bool)
    >>> task_of(bits, bits, np.ones_like(bits)).n_examples
    2
    """
    if len(inputs) != len(targets):
        raise DataError(f"X has {len(inputs)} rows and Y has {len(targets)}; give one row of each for every example.")
    for table, what in ((inputs, "X"), (targets, "Y")):
        if table.shape[1] == 0:
            raise DataError(f"{what} has no columns; give at least one.")
    return PackedExamples(len(inputs), pack(inputs), pack(targets & known), pack(known), tail_mask(len(inputs)))
