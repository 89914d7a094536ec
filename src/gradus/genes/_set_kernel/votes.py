"""Posterior of the rules of one set, and votes of many sets."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gradus._core.kernels.compile import compiled
from gradus.genes._set_kernel.arrays import MOST_CELLS, Floats, Ints, PackedSets, ScoreTables, Words
from gradus.genes._set_kernel.evidence import (
    NATS_SUMMED,
    any_log_evidence,
    better_signs,
    chunk_errors,
    fill_errors,
    known_units,
    likelihood,
    new_scratch,
    sign_bound,
    sign_bounds,
    sign_log_prior,
)

__all__ = ["cell_probabilities", "vote", "vote_with_flips"]


@compiled
def cell_probabilities(
    tables: ScoreTables, genes: Ints, zero: Ints, one: Ints, total: int, ones: Floats, rising: Floats, best: Words
) -> tuple[np.int64, float]:
    """Posterior of one set's function: probability of 1 in each cell, of a rising sign of each input, and the best table."""
    # Returns the errors of the best table and its posterior among the functions of the set; ``best[0]`` is the table itself.
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
                if value > best_value:
                    best_value = value
                    best_errors = errors[f]
                    table = np.uint64(0)
                    for cell in range(1 << k):
                        if (prototype >> np.uint64(cell)) & np.uint64(1):
                            table |= np.uint64(1) << np.uint64(cell ^ signs)
                    best[0] = table
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
        best[0] = table
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
