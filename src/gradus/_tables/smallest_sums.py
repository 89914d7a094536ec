"""`smallest_sum`: a function of the cells of a few columns as a sum of products of comparisons, with few comparisons.

As for Boolean functions, all products that imply the function and no longer do if a comparison is left out or widened are
found, and a cheapest cover is chosen; only that a product says of each column that it is in some set of cells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gradus._circuit.sums_of_products import smallest_cover
from gradus._tables.axes import Axis

__all__ = ["MOST_CELLS", "MOST_PRODUCTS", "smallest_sum"]

MOST_CELLS = 1 << 12
"""Combinations of cells for which a table is made."""
MOST_PRODUCTS = 200_000
TEST_WEIGHT = 1 << 12
"""A comparison costs more than any number of characters."""

Flags = npt.NDArray[np.bool_]


def smallest_sum(table: Flags, axes: Sequence[Axis]) -> list[dict[int, int]] | None:
    """Return products, each as a set of cells by number of axis, of which at least one is true where the table is.

    None if there are too many products to try, or none has words for some cell.
    """
    sets = [[axis.full, *sorted(axis.words)] for axis in axes]
    if math.prod(map(len, sets)) > MOST_PRODUCTS:
        return None
    members = [
        np.array([[chosen >> i & 1 for i in range(len(axis.cells))] for chosen in some], dtype=np.bool_)
        for some, axis in zip(sets, axes, strict=True)
    ]
    products = np.argwhere(_prime(table, members))
    ones = np.argwhere(table)
    covers = np.ones((len(products), len(ones)), dtype=np.bool_)
    weights = np.zeros(len(products), dtype=np.int64)
    for k, (some, axis) in enumerate(zip(sets, axes, strict=True)):
        covers &= members[k][products[:, k]][:, ones[:, k]]
        price = [0, *(TEST_WEIGHT + len(axis.words[chosen][0]) for chosen in some[1:])]
        weights += np.array(price, dtype=np.int64)[products[:, k]]
    if not covers.any(axis=0).all():
        return None  # some cell takes two comparisons
    chosen, _ = smallest_cover(covers, weights)
    return [{k: sets[k][number] for k, number in enumerate(products[place]) if number} for place in sorted(chosen)]


def _prime(table: Flags, members: Sequence[Flags]) -> Flags:
    """Return which products imply the table, and no longer do if one of their sets is exchanged for a larger one."""
    implies = table
    for k, member in enumerate(members):
        outside = np.tensordot(~implies, member, axes=(k, 1)) > 0  # which moves the axis to the end
        implies = ~np.moveaxis(outside, -1, k)
    prime = implies.copy()
    for k, member in enumerate(members):
        larger = (member[:, np.newaxis] <= member).all(axis=2) & (member[:, np.newaxis] != member).any(axis=2)
        grown = np.tensordot(implies, larger, axes=(k, 1)) > 0
        prime &= ~np.moveaxis(grown, -1, k)
    return prime
