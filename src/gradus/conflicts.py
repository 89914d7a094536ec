"""Rows that agree in every input and differ in a target: no function fits them all."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gradus.bits import BoolMatrix

__all__ = ["groups_of_equal_rows", "settle_by_majority"]


def groups_of_equal_rows(X: BoolMatrix) -> npt.NDArray[np.int64]:
    """Tell for each row the number of the group of equal rows it belongs to.

    Examples
    --------
    >>> groups_of_equal_rows(np.array([[1, 0], [0, 0], [1, 0]], dtype=bool)).tolist()
    [1, 0, 1]
    """
    _, group = np.unique(np.packbits(X, axis=1), axis=0, return_inverse=True)
    return group.ravel().astype(np.int64)


def settle_by_majority(X: BoolMatrix, Y: BoolMatrix) -> tuple[BoolMatrix, int]:
    """Give rows with equal inputs the same targets: whatever most of them have, and of a tie the first row's.

    No function can do better on any target than to follow the majority, so this is what a search should aim for.

    Parameters
    ----------
    X, Y : ndarray of bool, shapes (n, l) and (n, m)

    Returns
    -------
    settled : ndarray of bool, shape (n, m)
    changed : int
        Rows of which a target was changed.

    Examples
    --------
    >>> X = np.array([[0], [0], [0], [1]], dtype=bool)
    >>> Y = np.array([[1], [0], [1], [0]], dtype=bool)
    >>> settled, changed = settle_by_majority(X, Y)
    >>> settled.astype(int).ravel().tolist(), changed
    ([1, 1, 1, 0], 1)
    """
    group = groups_of_equal_rows(X)
    _, first = np.unique(group, return_index=True)
    total = np.bincount(group)[:, np.newaxis]
    ones = np.zeros((len(first), Y.shape[1]), dtype=np.int64)
    np.add.at(ones, group, Y.astype(np.int64))
    majority = np.where(2 * ones == total, Y[first], 2 * ones > total)
    settled = np.ascontiguousarray(majority[group])
    return settled, int((settled != Y).any(axis=1).sum())
