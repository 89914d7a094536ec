"""Counting: units of weight in each cell of a set of genes.

Everything is counted in whole units of weight, so that the same data give the same numbers in any order.
"""

from __future__ import annotations

import numpy as np

from gradus._core.kernels.compile import compiled, inlined
from gradus._core.kernels.intrinsics import popcount
from gradus.genes._set_kernel.set_arrays import MOST_CELLS, Ints, PackedTarget

__all__ = ["count_cells", "fewest", "fill_cells", "fill_masks", "known_units", "split_cells", "weigh"]


@inlined
def weigh(planes, words):
    """Weighted number of set bits of `words` that the planes hold."""
    total = 0
    for p in range(planes.shape[0]):
        count = 0
        for w in range(words.shape[0]):
            count += popcount(planes[p, w] & words[w])
        total += count << p
    return np.int64(total)


@inlined
def fill_masks(data, genes, k, masks):
    """Bit rows of the transitions in each of the 2^k cells; `masks` is room for (64, words) of them."""
    words = data.ones.shape[1]
    for w in range(words):
        masks[0, w] = ~np.uint64(0)
    for i in range(k):
        for cell in range((1 << i) - 1, -1, -1):
            for w in range(words):
                here = masks[cell, w]
                masks[cell + (1 << i), w] = here & data.ones[genes[i], w]
                masks[cell, w] = here & data.zeros[genes[i], w]


@inlined
def fill_cells(data, genes, k, masks, zero, one):
    """Units of next value 0 and 1 in each of the 2^k cells."""
    fill_masks(data, genes, k, masks)
    for cell in range(1 << k):
        zero[cell] = weigh(data.next_zeros, masks[cell])
        one[cell] = weigh(data.next_ones, masks[cell])


@inlined
def split_cells(data, gene, masks, zero, one):
    """Units in the eight cells of a pair, whose four bit rows are given, and one gene more."""
    words = data.ones.shape[1]
    for cell in range(4):
        zero[cell] = zero[cell + 4] = one[cell] = one[cell + 4] = 0
        for p in range(data.next_ones.shape[0]):
            low_zero = low_one = high_zero = high_one = 0
            for w in range(words):
                low = masks[cell, w] & data.zeros[gene, w]
                high = masks[cell, w] & data.ones[gene, w]
                low_zero += popcount(low & data.next_zeros[p, w])
                low_one += popcount(low & data.next_ones[p, w])
                high_zero += popcount(high & data.next_zeros[p, w])
                high_one += popcount(high & data.next_ones[p, w])
            zero[cell] += low_zero << p
            one[cell] += low_one << p
            zero[cell + 4] += high_zero << p
            one[cell + 4] += high_one << p


@inlined
def known_units(zero, one, k):
    total = 0
    for cell in range(1 << k):
        total += zero[cell] + one[cell]
    return total


@inlined
def fewest(zero, one, k):
    errors = 0
    for cell in range(1 << k):
        errors += min(zero[cell], one[cell])
    return errors


@compiled
def count_cells(data: PackedTarget, genes: Ints, zero: Ints, one: Ints) -> None:
    """Units of next value 0 and 1 in each cell of a set."""
    masks = np.empty((MOST_CELLS, data.ones.shape[1]), np.uint64)
    fill_cells(data, genes, genes.shape[0], masks, zero, one)
