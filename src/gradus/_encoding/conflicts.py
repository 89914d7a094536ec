"""Rows that agree in every input and differ in a target: no function fits them all."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gradus._bits import BoolMatrix

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


def settle_by_majority(X: BoolMatrix, codes: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], int]:
    """Give rows with equal inputs the same classes: of each target the most frequent, and of equals the one met first.

    No function can do better on any target than to follow the majority, so this is what a search should aim for.

    Parameters
    ----------
    X : ndarray of bool, shape (n, l)
    codes : ndarray of int, shape (n, targets)
        Classes as numbers from 0. Bits of a class would not do: a majority bit by bit may be a class that few rows have.

    Returns
    -------
    settled : ndarray of int, shape (n, targets)
    outvoted : int
        Rows of which a class was changed.

    Examples
    --------
    >>> X = np.array([[0], [0], [0], [1]], dtype=bool)
    >>> codes = np.array([[2], [0], [2], [1]])
    >>> settled, outvoted = settle_by_majority(X, codes)
    >>> settled.ravel().tolist(), outvoted
    ([2, 2, 2, 1], 1)
    """
    group = groups_of_equal_rows(X)
    settled = np.column_stack([_most_frequent(group, column)[group] for column in codes.T])
    return settled, int((settled != codes).any(axis=1).sum())


def _most_frequent(group: npt.NDArray[np.int64], codes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Tell the class of each group."""
    base = int(codes.max()) + 1
    pairs, first, counts = np.unique(group * base + codes, return_index=True, return_counts=True)
    groups, classes = np.divmod(pairs, base)
    best_first = np.lexsort((first, -counts, groups))
    _, best = np.unique(groups[best_first], return_index=True)
    return np.asarray(classes[best_first][best], dtype=np.int64)
