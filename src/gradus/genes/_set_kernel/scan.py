"""Scans over sets of genes that keep the best ones."""

from __future__ import annotations

import numpy as np

from gradus._core.kernels.compile import compiled, inlined
from gradus.genes._set_kernel.arrays import Ints, PackedTarget, ScoreTables, TopSets
from gradus.genes._set_kernel.evidence import (
    evidence,
    fewest_errors,
    fill_cells,
    fill_masks,
    known_units,
    likelihood,
    new_scratch,
    set_prior,
    split_cells,
)

__all__ = ["scan_from", "score_sets"]

NATS_PER_INPUT = 1.5
"""What an input costs, about: taken off the bound of a set that is far behind the best, instead of summing its evidence."""


@inlined
def insert(top, genes, k, score):
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
def is_beaten(top, bound):
    return top.state[0] == top.scores.shape[0] and bound <= top.scores[top.state[1]]


@inlined
def score_set(data, tables, genes, size, prior, scratch, floor, top):
    """Insert a set, whose cells are counted, if it may be among the best."""
    zero, one = scratch.zero, scratch.one
    bound = likelihood(tables, fewest_errors(zero, one, size), data.total, known_units(zero, one, size))
    if is_beaten(top, prior + bound):
        return
    if prior + bound - NATS_PER_INPUT * size < floor:
        # Too improbable to matter itself; it is kept only for larger sets to grow from.
        insert(top, genes, size, prior + bound - NATS_PER_INPUT * size)
        return
    insert(top, genes, size, prior + evidence(tables, genes, size, data.total, scratch))


@compiled
def scan_from(
    data: PackedTarget, tables: ScoreTables, candidates: Ints, first: int, size: int, floor: float, top: TopSets
) -> None:
    """Score all sets of `size` (1 to 3) candidates whose lowest is number `first`, keeping the best."""
    # Those under `floor` are only bounded.
    scratch = new_scratch(data.ones.shape[1], tables, size)
    genes = np.zeros(6, np.int64)
    n = candidates.shape[0]
    genes[0] = candidates[first]
    seconds = n if size > 1 else first + 2
    for j in range(first + 1, seconds):
        if size > 1:
            genes[1] = candidates[j]
        if size > 2:
            fill_masks(data, genes, 2, scratch.masks)
        thirds = n if size > 2 else j + 2
        for h in range(j + 1, thirds):
            if size > 2:
                genes[2] = candidates[h]
            prior = set_prior(tables, genes, size)
            # No set is more likely than one without any error.
            if is_beaten(top, prior + tables.log_likelihood[0]):
                continue
            if size > 2:
                split_cells(data, genes[2], scratch.masks, scratch.zero, scratch.one)
            else:
                fill_cells(data, genes, size, scratch.masks, scratch.zero, scratch.one)
            score_set(data, tables, genes, size, prior, scratch, floor, top)


@compiled
def score_sets(data: PackedTarget, tables: ScoreTables, sets: Ints, size: int, floor: float, top: TopSets) -> None:
    """Score sets of one size, keeping the best; those under `floor` are only bounded."""
    scratch = new_scratch(data.ones.shape[1], tables, size)
    for s in range(sets.shape[0]):
        genes = sets[s]
        prior = set_prior(tables, genes, size)
        fill_cells(data, genes, size, scratch.masks, scratch.zero, scratch.one)
        score_set(data, tables, genes, size, prior, scratch, floor, top)
