"""Kernels that score one set of genes: its cells are counted, then its marginal likelihood over all signs and rules.

Everything is counted in whole units of weight, so that the same data give the same numbers in any order. A function is judged
by its errors alone: `ScoreTables.log_likelihood` says what a number of errors is worth.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from gradus._core.kernels.compile import compiled, inlined
from gradus._core.kernels.intrinsics import popcount

MOST_CELLS = 64
NATS_SUMMED = 6.0
"""Functions and signs less probable than the best by this much are not summed."""
Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Words: TypeAlias = npt.NDArray[np.uint64]


class PackedTarget(NamedTuple):
    """Transitions of one target as bit rows over the transitions.

    `ones` and `zeros` (genes, words) say where a gene is known to be 1 and 0; `next_ones` and `next_zeros` (planes, words)
    where the next value is, once for each binary digit of the weights.
    """

    ones: npt.NDArray[np.uint64]
    zeros: npt.NDArray[np.uint64]
    next_ones: npt.NDArray[np.uint64]
    next_zeros: npt.NDArray[np.uint64]
    total: int


class TableParts(NamedTuple):
    """The distinct halves of the prototypes and the distinct quarters of these, so that errors in each are counted once.

    Prototypes of k inputs have halves number `low` and `high`, counted from ``half_start[k]``; a half has quarters number
    `half_low` and `half_high`, counted from ``quarter_start[k]``. There are none for less than four inputs.
    """

    low: Ints
    high: Ints
    half_low: Ints
    half_high: Ints
    half_start: Ints
    quarters: Words
    quarter_start: Ints


class ScoreTables(NamedTuple):
    """What scoring needs beside the data.

    `log_likelihood[e]` is the log-likelihood of e units of error, `flips` that of one unit that is right and of one that is
    wrong, `unknown` what a unit costs one of whose inputs is unknown. `tables` and `weights` (a column for each choice of
    negated inputs) hold the prototypes of k inputs in ``start[k]:start[k + 1]``, and `parts` their halves and quarters;
    `log_any[k]` is the log share of unstructured functions. `log_size[k]` is the log prior of one set of k genes, `gene_odds`
    what each gene adds to it, `sign_odds` (genes, 2) the log probability of the signs - and + relative to one half.
    """

    log_likelihood: npt.NDArray[np.float64]
    flips: npt.NDArray[np.float64]
    unknown: float
    tables: npt.NDArray[np.uint64]
    weights: npt.NDArray[np.float64]
    start: npt.NDArray[np.int64]
    parts: TableParts
    log_any: npt.NDArray[np.float64]
    log_size: npt.NDArray[np.float64]
    gene_odds: npt.NDArray[np.float64]
    sign_odds: npt.NDArray[np.float64]


class PackedSets(NamedTuple):
    """Averaged sets of one target: genes padded to six, sizes, weights, and the probability of 1 in each cell."""

    features: Ints
    sizes: Ints
    weights: Floats
    probabilities: Floats


class TopSets(NamedTuple):
    """The best sets seen so far, -1 where a set has fewer genes; `state` holds how many there are and the lowest place."""

    sets: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]
    state: npt.NDArray[np.int64]


class Scratch(NamedTuple):
    """Room for what is computed of one set after the other.

    `masks` holds the transitions in each cell, `zero` and `one` the units of next value 0 and 1 there, `bounds` the fewest
    errors with each sign, `chunk` those of every choice of values in four cells; `in_quarters`, `in_halves` and `errors` are
    for the prototypes.
    """

    masks: Words
    zero: Ints
    one: Ints
    bounds: Ints
    chunk: Ints
    in_quarters: Ints
    in_halves: Ints
    errors: Ints


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
def fewest_errors(zero, one, k):
    errors = 0
    for cell in range(1 << k):
        errors += min(zero[cell], one[cell])
    return errors


@compiled
def count_cells(data: PackedTarget, genes: Ints, zero: Ints, one: Ints) -> None:
    """Units of next value 0 and 1 in each cell of a set."""
    masks = np.empty((MOST_CELLS, data.ones.shape[1]), np.uint64)
    fill_cells(data, genes, genes.shape[0], masks, zero, one)


@inlined
def likelihood(tables, errors, total, known):
    """Log-likelihood of errors among the known transitions, as if the unknown ones were like them but for what they cost."""
    last = tables.log_likelihood.shape[0] - 1
    if known == 0:
        return tables.log_likelihood[0] if total == 0 else tables.log_likelihood[min(last, total // 2)]
    if known == total:
        return tables.log_likelihood[min(last, errors)]
    alike = tables.log_likelihood[min(last, (2 * errors * total + known) // (2 * known))]
    return alike - tables.unknown * (total - known)


@inlined
def set_prior(tables, genes, k):
    value = tables.log_size[k]
    for i in range(k):
        value += tables.gene_odds[genes[i]]
    return value


@inlined
def sign_bounds(zero, one, k, bounds):
    """Fewest errors of any function that falls (0) or rises (1) with each input, from pairs of cells differing in it."""
    for i in range(k):
        falling = 0
        rising = 0
        for low in range(1 << k):
            if not (low >> i) & 1:
                high = low | (1 << i)
                same = min(one[low] + one[high], zero[low] + zero[high])
                rising += min(same, one[low] + zero[high])
                falling += min(same, zero[low] + one[high])
        bounds[i, 0] = falling
        bounds[i, 1] = rising


@inlined
def chunk_errors(zero, one, k, signs, chunk):
    """Errors of every choice of values in each group of four cells, the cells counted with some inputs negated."""
    groups = max(1, (1 << k) >> 2)
    cells = min(4, 1 << k)
    for g in range(groups):
        base = 0
        for c in range(cells):
            base += one[(4 * g + c) ^ signs]
        chunk[g, 0] = base
        for c in range(cells):
            more = zero[(4 * g + c) ^ signs] - one[(4 * g + c) ^ signs]
            for values in range(1 << c):
                chunk[g, values + (1 << c)] = chunk[g, values] + more
    return groups


@inlined
def errors_of(table, chunk, groups):
    errors = 0
    for g in range(groups):
        errors += chunk[g, (table >> np.uint64(4 * g)) & np.uint64(15)]
    return errors


@inlined
def sign_log_prior(tables, genes, k, signs):
    value = -k * np.log(2.0)
    for i in range(k):
        value += tables.sign_odds[genes[i], 1 - ((signs >> i) & 1)]
    return value


@inlined
def any_log_evidence(tables, zero, one, k, total, known):
    """Log evidence of a function whose cells are independent coin tosses."""
    scale = total / known if known > 0 else 1.0
    value = -tables.unknown * (total - known)
    for cell in range(1 << k):
        a = scale * (zero[cell] * tables.flips[0] + one[cell] * tables.flips[1])
        b = scale * (one[cell] * tables.flips[0] + zero[cell] * tables.flips[1])
        value += max(a, b) + np.log1p(np.exp(-abs(a - b))) - np.log(2.0)
    return value


@inlined
def better_signs(bounds, k):
    signs = 0
    for i in range(k):
        if bounds[i, 0] < bounds[i, 1]:
            signs |= 1 << i
    return signs


@inlined
def new_scratch(words, tables, k):
    """Room for sets of k genes whose bit rows have a number of words."""
    halves = tables.parts.half_start[k + 1] - tables.parts.half_start[k]
    quarters = tables.parts.quarter_start[k + 1] - tables.parts.quarter_start[k]
    prototypes = tables.start[k + 1] - tables.start[k]
    return Scratch(
        np.empty((MOST_CELLS, words), np.uint64),
        np.zeros(MOST_CELLS, np.int64),
        np.zeros(MOST_CELLS, np.int64),
        np.zeros((6, 2), np.int64),
        np.zeros((16, 16), np.int64),
        np.empty((4, quarters), np.int64),
        np.empty((2, halves), np.int64),
        np.empty(prototypes, np.int64),
    )


@inlined
def fill_errors(tables, k, groups, scratch):
    """Count the errors of every prototype of k inputs; returns the fewest."""
    # Prototypes have few distinct quarters and halves, so the errors in these are counted first and then added up.
    chunk, in_quarters, in_halves, errors = scratch.chunk, scratch.in_quarters, scratch.in_halves, scratch.errors
    parts, first = tables.parts, tables.start[k]
    fewest = np.int64(1) << 60
    if k < 4:
        for f in range(errors.shape[0]):
            errors[f] = errors_of(tables.tables[first + f], chunk, groups)
            fewest = min(fewest, errors[f])
        return fewest
    length = groups >> 2
    for q in range(in_quarters.shape[1]):
        quarter = parts.quarters[parts.quarter_start[k] + q]
        for place in range(4):
            count = 0
            for g in range(length):
                count += chunk[place * length + g, (quarter >> np.uint64(4 * g)) & np.uint64(15)]
            in_quarters[place, q] = count
    half_first = parts.half_start[k]
    for h in range(in_halves.shape[1]):
        low, high = parts.half_low[half_first + h], parts.half_high[half_first + h]
        in_halves[0, h] = in_quarters[0, low] + in_quarters[1, high]
        in_halves[1, h] = in_quarters[2, low] + in_quarters[3, high]
    for f in range(errors.shape[0]):
        errors[f] = in_halves[0, parts.low[first + f]] + in_halves[1, parts.high[first + f]]
        fewest = min(fewest, errors[f])
    return fewest


@inlined
def sign_bound(tables, bounds, k, signs, total, known):
    """Highest log-likelihood of any function with these signs."""
    least = 0
    for i in range(k):
        least = max(least, bounds[i, 1 - ((signs >> i) & 1)])
    return likelihood(tables, least, total, known)


@inlined
def evidence(tables, genes, k, total, scratch):
    """Log marginal likelihood of a set: over all signs and rules, and over functions without structure."""
    zero, one, bounds, chunk, errors = scratch.zero, scratch.one, scratch.bounds, scratch.chunk, scratch.errors
    known = known_units(zero, one, k)
    sign_bounds(zero, one, k, bounds)
    likely = better_signs(bounds, k)
    top_prior = sign_log_prior(tables, genes, k, likely)
    groups = chunk_errors(zero, one, k, likely, chunk)
    best = likelihood(tables, fill_errors(tables, k, groups, scratch), total, known)
    mass = 0.0
    for signs in range(1 << k):
        prior = sign_log_prior(tables, genes, k, signs)
        if sign_bound(tables, bounds, k, signs, total, known) + prior < best + top_prior - NATS_SUMMED:
            continue
        chunk_errors(zero, one, k, signs, chunk)
        ahead = likelihood(tables, fill_errors(tables, k, groups, scratch), total, known) - best
        if ahead > 0:
            # The signs tried first were not the best ones: count from the new best on.
            mass *= np.exp(-ahead)
            best += ahead
        elif ahead <= -NATS_SUMMED:
            continue
        scale = np.exp(prior)
        for f in range(errors.shape[0]):
            behind = likelihood(tables, errors[f], total, known) - best
            if behind > -NATS_SUMMED:
                mass += tables.weights[tables.start[k] + f, signs] * np.exp(behind) * scale
    structured = best + np.log(mass) if mass > 0 else -np.inf
    free = tables.log_any[k] + any_log_evidence(tables, zero, one, k, total, known)
    high = max(structured, free)
    return high + np.log(np.exp(structured - high) + np.exp(free - high))
