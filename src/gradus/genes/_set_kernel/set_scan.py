"""Scans over sets of genes that keep the best ones."""

from __future__ import annotations

import numpy as np

from gradus._core.kernels.compile import compiled, inlined
from gradus.genes._set_kernel.cell_counts import fewest, fill_cells, fill_masks, known_units, split_cells
from gradus.genes._set_kernel.set_arrays import MOST_CELLS, Ints, PackedTarget, ScoreTables, TopSets
from gradus.genes._set_kernel.set_evidence import evidence, new_room, set_prior, worth

__all__ = ["OCCAM", "hopeless", "keep", "scan_from", "score_sets"]

OCCAM = 1.5
"""Nats an input costs, about: what is taken off the bound of a set that is far behind and not worth summing."""


@inlined
def keep(top, genes, k, score):
    """Put a set among the best if it is one of them."""
    count = top.state[0]
    if count < top.scores.shape[0]:
        place = count
        top.state[0] = count + 1
    else:
        place = top.state[1]
        if score <= top.scores[place]:
            return
    top.scores[place] = score
    for i in range(top.sets.shape[1]):
        top.sets[place, i] = genes[i] if i < k else -1
    if top.state[0] == top.scores.shape[0]:
        lowest = 0
        for other in range(1, top.scores.shape[0]):
            if top.scores[other] < top.scores[lowest]:
                lowest = other
        top.state[1] = lowest


@inlined
def hopeless(top, bound):
    return top.state[0] == top.scores.shape[0] and bound <= top.scores[top.state[1]]


@inlined
def consider(data, tables, genes, size, prior, zero, one, bounds, chunk, room, floor, top):
    """Keep a set, whose cells are counted, if it may be among the best."""
    bound = worth(tables, fewest(zero, one, size), data.total, known_units(zero, one, size))
    if hopeless(top, prior + bound):
        return
    if prior + bound - OCCAM * size < floor:
        # Too far behind to matter itself; it is kept only for larger sets to grow from.
        keep(top, genes, size, prior + bound - OCCAM * size)
        return
    keep(top, genes, size, prior + evidence(tables, genes, size, zero, one, data.total, bounds, chunk, room))


@compiled
def scan_from(
    data: PackedTarget, tables: ScoreTables, candidates: Ints, first: int, size: int, floor: float, top: TopSets
) -> None:
    """Score all sets of `size` (1 to 3) candidates whose lowest is number `first`, keeping the best."""
    # Those under `floor` are only bounded.
    words = data.ones.shape[1]
    masks = np.empty((MOST_CELLS, words), np.uint64)
    zero = np.zeros(MOST_CELLS, np.int64)
    one = np.zeros(MOST_CELLS, np.int64)
    bounds = np.zeros((6, 2), np.int64)
    chunk = np.zeros((16, 16), np.int64)
    room = new_room(tables, size)
    genes = np.zeros(6, np.int64)
    n = candidates.shape[0]
    genes[0] = candidates[first]
    seconds = n if size > 1 else first + 2
    for j in range(first + 1, seconds):
        if size > 1:
            genes[1] = candidates[j]
        if size > 2:
            fill_masks(data, genes, 2, masks)
        thirds = n if size > 2 else j + 2
        for h in range(j + 1, thirds):
            if size > 2:
                genes[2] = candidates[h]
            prior = set_prior(tables, genes, size)
            # No set is worth more than with no error at all.
            if hopeless(top, prior + tables.log_likelihood[0]):
                continue
            if size > 2:
                split_cells(data, genes[2], masks, zero, one)
            else:
                fill_cells(data, genes, size, masks, zero, one)
            consider(data, tables, genes, size, prior, zero, one, bounds, chunk, room, floor, top)


@compiled
def score_sets(data: PackedTarget, tables: ScoreTables, sets: Ints, size: int, floor: float, top: TopSets) -> None:
    """Score sets of one size, keeping the best; those under `floor` are only bounded."""
    words = data.ones.shape[1]
    masks = np.empty((MOST_CELLS, words), np.uint64)
    zero = np.zeros(MOST_CELLS, np.int64)
    one = np.zeros(MOST_CELLS, np.int64)
    bounds = np.zeros((6, 2), np.int64)
    chunk = np.zeros((16, 16), np.int64)
    room = new_room(tables, size)
    for s in range(sets.shape[0]):
        genes = sets[s]
        prior = set_prior(tables, genes, size)
        fill_cells(data, genes, size, masks, zero, one)
        consider(data, tables, genes, size, prior, zero, one, bounds, chunk, room, floor, top)
