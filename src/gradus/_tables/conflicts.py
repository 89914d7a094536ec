"""Rows that agree in every input and differ in a target: no function fits them all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix
from gradus.errors import ConflictError

__all__ = ["groups_of_equal_rows", "refuse_conflicts"]


def groups_of_equal_rows(X: BoolMatrix) -> npt.NDArray[np.int64]:
    """Return, for each row, the number of its group of equal rows."""
    _, group = np.unique(np.packbits(X, axis=1), axis=0, return_inverse=True)
    return group.ravel().astype(np.int64)


def refuse_conflicts(inputs: BoolMatrix, targets: npt.NDArray[Any], names: Sequence[str], advice: str) -> None:
    """Raise an error that names two rows with equal inputs and different targets, if there are any; rows count from 1."""
    group = groups_of_equal_rows(inputs)
    _, first = np.unique(group, return_index=True)
    differ = targets != targets[first[group]]
    odd = np.flatnonzero(differ.any(axis=1))
    if not len(odd):
        return
    row, column = odd[0], int(np.argmax(differ[odd[0]]))
    others = int(np.isin(group, group[odd]).sum()) - 2
    more = f" ({others} more {'row is' if others == 1 else 'rows are'} in such a conflict)" if others else ""
    raise ConflictError(
        f"data rows {first[group[row]] + 1} and {row + 1} have the same inputs and differ in target "
        f"{names[column]!r}{more}, {advice}"
    )
