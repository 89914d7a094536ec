"""The value of a node for every combination of the cells of its columns: a table that shows counts, however they are built."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._circuit.weighted_counts import WeightedCount
from gradus._tables.axes import Axis

__all__ = ["CellCount", "cell_count", "cell_table"]

FEWEST = 4
"""Literals of a count; fewer are read more easily as a formula."""

Flags = npt.NDArray[np.bool_]


class CellCount(NamedTuple):
    """Cells that decide alone, from the outside in, and a count of the others."""

    outer: tuple[tuple[int, int, bool], ...]
    """The number of an axis, a set of its cells, and the value of the node there, whatever the other columns are."""
    inner: WeightedCount
    """Its columns are places of nodes among the leaves."""


def cell_table(network: Network, leaves: Sequence[int], axes: Sequence[Axis], most: int) -> Flags | None:
    """Return the outputs for every combination of the cells of each column; None if there are too many."""
    shape = tuple(len(axis.cells) for axis in axes)
    if math.prod(shape) > most:
        return None
    return network.predict(_leaf_values(leaves, axes).reshape(-1, len(leaves))).reshape(*shape, network.n_outputs)


def _leaf_values(leaves: Sequence[int], axes: Sequence[Axis]) -> Flags:
    """Return the value of every leaf for every combination of cells."""
    inputs = np.zeros((*(len(axis.cells) for axis in axes), len(leaves)), dtype=np.bool_)
    for k, axis in enumerate(axes):
        for place, node in enumerate(axis.nodes):
            true = np.array([cell >> place & 1 for cell in axis.cells], dtype=np.bool_)
            inputs[..., leaves.index(node)] = true.reshape([-1 if k == other else 1 for other in range(len(axes))])
    return inputs


def cell_count(table: Flags, leaves: Sequence[int], axes: Sequence[Axis]) -> CellCount | None:
    """Return the count that a node is wherever its columns can be; None if it is none."""
    left, outer = [np.arange(len(axis.cells)) for axis in axes], []
    while (found := _deciding(table[np.ix_(*left)], left, axes)) is not None:
        k, cells, value = found
        outer.append((k, sum(1 << int(cell) for cell in cells), value))
        left[k] = np.setdiff1d(left[k], cells)
    inside = table[np.ix_(*left)].ravel()
    values = _leaf_values(leaves, axes)[np.ix_(*left)].reshape(len(inside), len(leaves))
    places = [j for j in range(len(leaves)) if 0 < values[:, j].sum() < len(inside)]
    if len(places) < FEWEST:
        return None
    signs = [_sign(table, leaves[j], left, axes) for j in places]
    signs = signs if sum(signs) >= 0 else [-sign for sign in signs]  # as few complements as possible
    sums = values[:, places].astype(np.int64) @ np.array(signs) + signs.count(-1)
    of_sum = [inside[sums == number] for number in range(len(places) + 1)]
    if any(len(part) and part.any() != part.all() for part in of_sum):
        return None
    said: list[bool] = []
    for part in of_sum:  # a number that cannot occur is as its neighbour
        said.append(bool(part[0]) if len(part) else said[-1] if said else False)
    count = WeightedCount(tuple(places), tuple(signs), tuple(said))
    return None if count.n_changes == 0 else CellCount(tuple(outer), count)


def _sign(table: Flags, node: int, left: Sequence[npt.NDArray[np.int64]], axes: Sequence[Axis]) -> int:
    """Return 1 if a node makes the value true more often than false where nothing else changes, and -1 otherwise."""
    k = next(k for k, axis in enumerate(axes) if node in axis.nodes)
    rows = np.moveaxis(table[np.ix_(*left)], k, 0).astype(np.int64)
    bits = np.array(axes[k].cells)[left[k]]
    bit = 1 << axes[k].nodes.index(node)
    # Of categories of which one always holds, one cannot change alone.
    pairs = [(a, b) for b, high in enumerate(bits) for a, low in enumerate(bits) if high ^ low == bit and high & bit]
    others = [(a, b) for b, high in enumerate(bits) for a, low in enumerate(bits) if high & bit and not low & bit]
    change = sum(int((rows[b] - rows[a]).sum()) for a, b in pairs or others)
    return 1 if change >= 0 else -1


def _deciding(table: Flags, left: Sequence[npt.NDArray[np.int64]], axes: Sequence[Axis]) -> tuple[int, list[int], bool] | None:
    """Return an axis with cells in which the value is the same whatever the other columns are, if there are words for them."""
    for k, cells in enumerate(left):
        rows = np.moveaxis(table, k, 0).reshape(len(cells), -1)
        for value in (False, True):
            alike = cells[(rows == value).all(axis=1)].tolist()
            if 0 < len(alike) < len(cells) and sum(1 << cell for cell in alike) in axes[k].words:
                return k, alike, value
    return None
