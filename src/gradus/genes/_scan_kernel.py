"""Kernels over many sets: scans that keep the best ones, the posterior of the rules of a set, and votes of all of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._core.kernels.compile import compiled, inlined
from gradus.genes._set_kernel import (
    MOST_CELLS,
    NATS_SUMMED,
    Floats,
    Ints,
    PackedSets,
    PackedTarget,
    ScoreTables,
    TopSets,
    Words,
    any_log_evidence,
    better_signs,
    chunk_errors,
    evidence,
    fewest_errors,
    fill_cells,
    fill_errors,
    fill_masks,
    known_units,
    likelihood,
    new_scratch,
    set_prior,
    sign_bound,
    sign_bounds,
    sign_log_prior,
    split_cells,
)  # fmt: skip

__all__ = ["Rules", "cell_probabilities", "scan_from", "score_sets", "vote", "vote_with_flips"]

NATS_PER_INPUT = 1.5
"""What an input costs, about: taken off the bound of a set that is far behind the best, instead of summing its evidence."""

LEAST_LISTED = 1e-4
"""Functions of a set are listed if they are this much as probable as the best one so far."""


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


class Rules(NamedTuple):
    """The best table, and functions of a set with their posterior among all functions of the set, and how many there are."""

    best: Words
    tables: Words
    shares: Floats
    found: Ints


@inlined
def with_signs(prototype, k, signs):
    """Truth table of a prototype some of whose inputs are negated."""
    table = np.uint64(0)
    for cell in range(1 << k):
        if (prototype >> np.uint64(cell)) & np.uint64(1):
            table |= np.uint64(1) << np.uint64(cell ^ signs)
    return table


@compiled
def cell_probabilities(
    tables: ScoreTables, genes: Ints, zero: Ints, one: Ints, total: int, ones: Floats, rising: Floats, rules: Rules
) -> tuple[np.int64, float]:
    """Posterior of one set's function: probability of 1 in each cell, of a rising sign of each input, and the best table."""
    # Returns the errors of the best table and its posterior among the functions of the set; the table itself is in `rules`,
    # with the structured functions that are not far less probable than the best so far, if there is room for them.
    k = genes.shape[0]
    known = known_units(zero, one, k)
    scratch = new_scratch(0, tables, k)
    bounds, chunk, errors = scratch.bounds, scratch.chunk, scratch.errors
    sign_bounds(zero, one, k, bounds)
    likely = better_signs(bounds, k)
    top_prior = sign_log_prior(tables, genes, k, likely)
    groups = chunk_errors(zero, one, k, likely, chunk)
    top = likelihood(tables, fill_errors(tables, k, groups, scratch), total, known)
    for signs in range(1 << k):
        if sign_bound(tables, bounds, k, signs, total, known) > top:
            chunk_errors(zero, one, k, signs, chunk)
            top = max(top, likelihood(tables, fill_errors(tables, k, groups, scratch), total, known))
    mass = 0.0
    best_value = -np.inf
    best_errors = np.int64(0)
    count = np.int64(0)
    plain = np.zeros(MOST_CELLS, np.float64)
    ones[:] = 0.0
    rising[:] = 0.0
    for signs in range(1 << k):
        prior = sign_log_prior(tables, genes, k, signs)
        if sign_bound(tables, bounds, k, signs, total, known) + prior < top + top_prior - NATS_SUMMED:
            continue
        chunk_errors(zero, one, k, signs, chunk)
        if likelihood(tables, fill_errors(tables, k, groups, scratch), total, known) - top <= -NATS_SUMMED:
            continue
        own = 0.0
        plain[:] = 0.0
        for f in range(errors.shape[0]):
            behind = likelihood(tables, errors[f], total, known) - top
            if behind > -NATS_SUMMED:
                prototype = tables.tables[tables.start[k] + f]
                value = tables.weights[tables.start[k] + f, signs] * np.exp(behind + prior)
                own += value
                for cell in range(1 << k):
                    if (prototype >> np.uint64(cell)) & np.uint64(1):
                        plain[cell] += value
                if count < rules.shares.shape[0] and value > LEAST_LISTED * best_value:
                    rules.tables[count] = with_signs(prototype, k, signs)
                    rules.shares[count] = value
                    count += 1
                if value > best_value:
                    best_value = value
                    best_errors = errors[f]
                    rules.best[0] = with_signs(prototype, k, signs)
        mass += own
        for i in range(k):
            if not (signs >> i) & 1:
                rising[i] += own
        for cell in range(1 << k):
            ones[cell ^ signs] += plain[cell]
    structured = top + np.log(mass) if mass > 0 else -np.inf
    free = tables.log_any[k] + any_log_evidence(tables, zero, one, k, total, known)
    share = 1.0 / (1.0 + np.exp(min(700.0, free - structured)))
    best_share = share * best_value / mass if mass > 0 else 0.0
    rules.shares[:count] *= share / mass if mass > 0 else 0.0
    rules.found[:] = count
    for i in range(k):
        rising[i] = rising[i] / mass if mass > 0 else 0.5
    slope = tables.flips[1] - tables.flips[0]
    for cell in range(1 << k):
        loose = 1.0 / (1.0 + np.exp(min(700.0, slope * (one[cell] - zero[cell]))))
        inside = ones[cell] / mass if mass > 0 else 0.5
        ones[cell] = share * inside + (1.0 - share) * loose
    if share < 0.5:
        # No structured rule explains it: each cell goes with its majority.
        table = np.uint64(0)
        best_errors = np.int64(0)
        for cell in range(1 << k):
            if ones[cell] > 0.5:
                table |= np.uint64(1) << np.uint64(cell)
            best_errors += min(zero[cell], one[cell])
        rules.best[0] = table
        # Each cell that leans neither way halves what a single function can have.
        best_share = 1.0 - share
        for cell in range(1 << k):
            best_share *= max(ones[cell], 1.0 - ones[cell])
    return best_errors, best_share


@compiled
def vote_with_flips(states: npt.NDArray[np.uint8], sets: PackedSets, base: Floats, flipped: Floats) -> None:
    """Probability of 1 after each state, and the same with each single gene of the state flipped."""
    for row in range(states.shape[0]):
        for s in range(sets.features.shape[0]):
            cell = np.int64(0)
            for i in range(sets.sizes[s]):
                cell |= np.int64(states[row, sets.features[s, i]]) << i
            base[row] += sets.weights[s] * sets.probabilities[s, cell]
            for i in range(sets.sizes[s]):
                change = sets.probabilities[s, cell ^ (1 << i)] - sets.probabilities[s, cell]
                flipped[row, sets.features[s, i]] += sets.weights[s] * change
        for gene in range(states.shape[1]):
            flipped[row, gene] += base[row]


@compiled
def vote(states: npt.NDArray[np.bool_], sets: PackedSets, ones: Floats) -> None:
    """Probability of 1 after each state, averaged over the sets."""
    for row in range(states.shape[0]):
        for s in range(sets.features.shape[0]):
            cell = np.int64(0)
            for i in range(sets.sizes[s]):
                cell |= np.int64(states[row, sets.features[s, i]]) << i
            ones[row] += sets.weights[s] * sets.probabilities[s, cell]
