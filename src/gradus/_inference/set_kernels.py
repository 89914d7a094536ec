"""Compiled counting and scoring of regulator sets.

Everything is counted in whole units of weight, so that the same data give the same numbers in any order. A function is judged
by its errors alone: `SetTables.log_likelihood` says what a number of errors is worth.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from gradus._compile import compiled, inlined
from gradus._intrinsics import popcount

__all__ = [
    "PackedTarget",
    "ScoreTables",
    "TopSets",
    "cell_probabilities",
    "count_cells",
    "scan_from",
    "score_sets",
    "vote",
    "vote_with_flips",
]

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Words: TypeAlias = npt.NDArray[np.uint64]
MOST_CELLS = 64
CLOSE = 6.0
"""Functions and signs this many nats behind the best are not summed."""
OCCAM = 1.5
"""Nats an input costs, about: what is taken off the bound of a set that is far behind and not worth summing."""


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


class ScoreTables(NamedTuple):
    """What scoring needs beside the data.

    `log_likelihood[e]` is the log-likelihood of e units of error; `flips` (J, 4) rows are log weight, log(1 - rate), log(rate)
    and one unit of weight, for functions without structure. `tables` and `weights` (a column for each
    choice of negated inputs) hold the prototypes of k inputs in
    ``start[k]:start[k + 1]``; `log_any[k]` the log share of unstructured functions. `log_size[k]` is the log prior of one
    set of k genes, `gene_odds` what each gene adds to it, `sign_odds` (genes, 2) the log probability of the signs - and +
    relative to one half.
    """

    log_likelihood: npt.NDArray[np.float64]
    flips: npt.NDArray[np.float64]
    tables: npt.NDArray[np.uint64]
    weights: npt.NDArray[np.float64]
    start: npt.NDArray[np.int64]
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


@inlined
def _weigh(planes, words):
    """Weighted number of set bits of `words` that the planes hold."""
    total = 0
    for p in range(planes.shape[0]):
        count = 0
        for w in range(words.shape[0]):
            count += popcount(planes[p, w] & words[w])
        total += count << p
    return np.int64(total)


@inlined
def _fill_masks(data, genes, k, masks):
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
def _fill_cells(data, genes, k, masks, zero, one):
    """Units of next value 0 and 1 in each of the 2^k cells."""
    _fill_masks(data, genes, k, masks)
    for cell in range(1 << k):
        zero[cell] = _weigh(data.next_zeros, masks[cell])
        one[cell] = _weigh(data.next_ones, masks[cell])


@inlined
def _split_cells(data, gene, masks, zero, one):
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
def _known(zero, one, k):
    total = 0
    for cell in range(1 << k):
        total += zero[cell] + one[cell]
    return total


@inlined
def _worth(tables, errors, total, known):
    """Log-likelihood of errors among the known transitions, as if the unknown ones were like them."""
    last = tables.log_likelihood.shape[0] - 1
    if known == 0:
        return tables.log_likelihood[0] if total == 0 else tables.log_likelihood[min(last, total // 2)]
    if known == total:
        return tables.log_likelihood[min(last, errors)]
    return tables.log_likelihood[min(last, (2 * errors * total + known) // (2 * known))]


@inlined
def _fewest(zero, one, k):
    errors = 0
    for cell in range(1 << k):
        errors += min(zero[cell], one[cell])
    return errors


@inlined
def _set_prior(tables, genes, k):
    value = tables.log_size[k]
    for i in range(k):
        value += tables.gene_odds[genes[i]]
    return value


@inlined
def _sign_bounds(zero, one, k, bounds):
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
def _chunk_errors(zero, one, k, signs, chunk):
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
def _errors_of(table, chunk, groups):
    errors = 0
    for g in range(groups):
        errors += chunk[g, (table >> np.uint64(4 * g)) & np.uint64(15)]
    return errors


@inlined
def _sign_log_prior(tables, genes, k, signs):
    value = -k * np.log(2.0)
    for i in range(k):
        value += tables.sign_odds[genes[i], 1 - ((signs >> i) & 1)]
    return value


@inlined
def _any_log_evidence(tables, zero, one, k, total, known):
    """Log evidence of a function whose cells are independent coin tosses."""
    best = -np.inf
    total_value = 0.0
    scale = total / known if known > 0 else 1.0
    for j in range(tables.flips.shape[0]):
        unit = tables.flips[j, 3] * scale
        value = tables.flips[j, 0]
        for cell in range(1 << k):
            a = unit * (zero[cell] * tables.flips[j, 1] + one[cell] * tables.flips[j, 2])
            b = unit * (one[cell] * tables.flips[j, 1] + zero[cell] * tables.flips[j, 2])
            value += max(a, b) + np.log1p(np.exp(-abs(a - b))) - np.log(2.0)
        if value > best:
            total_value = total_value * np.exp(best - value) + 1.0
            best = value
        else:
            total_value += np.exp(value - best)
    return best + np.log(total_value)


@inlined
def _better_signs(bounds, k):
    signs = 0
    for i in range(k):
        if bounds[i, 0] < bounds[i, 1]:
            signs |= 1 << i
    return signs


@inlined
def _fewest_errors(tables, k, chunk, groups):
    fewest = np.int64(1) << 60
    for f in range(tables.start[k], tables.start[k + 1]):
        fewest = min(fewest, _errors_of(tables.tables[f], chunk, groups))
    return fewest


@inlined
def _sign_bound(tables, bounds, k, signs, total, known):
    """Most that any function with these signs can be worth."""
    least = 0
    for i in range(k):
        least = max(least, bounds[i, 1 - ((signs >> i) & 1)])
    return _worth(tables, least, total, known)


@inlined
def _evidence(tables, genes, k, zero, one, total, bounds, chunk):
    """Log marginal likelihood of a set: over all signs and rules, and over functions without structure."""
    known = _known(zero, one, k)
    _sign_bounds(zero, one, k, bounds)
    likely = _better_signs(bounds, k)
    top_prior = _sign_log_prior(tables, genes, k, likely)
    groups = _chunk_errors(zero, one, k, likely, chunk)
    best = _worth(tables, _fewest_errors(tables, k, chunk, groups), total, known)
    mass = 0.0
    for signs in range(1 << k):
        prior = _sign_log_prior(tables, genes, k, signs)
        if _sign_bound(tables, bounds, k, signs, total, known) + prior < best + top_prior - CLOSE:
            continue
        _chunk_errors(zero, one, k, signs, chunk)
        scale = np.exp(prior)
        for f in range(tables.start[k], tables.start[k + 1]):
            ahead = _worth(tables, _errors_of(tables.tables[f], chunk, groups), total, known) - best
            if ahead > 0:
                # The signs tried first were not the best ones: count from the new best on.
                mass *= np.exp(-ahead)
                best += ahead
                ahead = 0.0
            if ahead > -CLOSE:
                mass += tables.weights[f, signs] * np.exp(ahead) * scale
    structured = best + np.log(mass) if mass > 0 else -np.inf
    free = tables.log_any[k] + _any_log_evidence(tables, zero, one, k, total, known)
    high = max(structured, free)
    return high + np.log(np.exp(structured - high) + np.exp(free - high))


@inlined
def _keep(top, genes, k, score):
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
def _hopeless(top, bound):
    return top.state[0] == top.scores.shape[0] and bound <= top.scores[top.state[1]]


@compiled
def scan_from(
    data: PackedTarget, tables: ScoreTables, candidates: Ints, first: int, size: int, floor: float, top: TopSets
) -> None:
    """Score all sets of `size` (1 to 3) candidates whose lowest is number `first`, keeping the best.

    Those under `floor` are only bounded.
    """
    words = data.ones.shape[1]
    masks = np.empty((MOST_CELLS, words), np.uint64)
    zero = np.zeros(MOST_CELLS, np.int64)
    one = np.zeros(MOST_CELLS, np.int64)
    bounds = np.zeros((6, 2), np.int64)
    chunk = np.zeros((16, 16), np.int64)
    genes = np.zeros(6, np.int64)
    n = candidates.shape[0]
    genes[0] = candidates[first]
    seconds = n if size > 1 else first + 2
    for j in range(first + 1, seconds):
        if size > 1:
            genes[1] = candidates[j]
        if size > 2:
            _fill_masks(data, genes, 2, masks)
        thirds = n if size > 2 else j + 2
        for h in range(j + 1, thirds):
            if size > 2:
                genes[2] = candidates[h]
            prior = _set_prior(tables, genes, size)
            # No set is worth more than with no error at all.
            if _hopeless(top, prior + tables.log_likelihood[0]):
                continue
            if size > 2:
                _split_cells(data, genes[2], masks, zero, one)
            else:
                _fill_cells(data, genes, size, masks, zero, one)
            bound = _worth(tables, _fewest(zero, one, size), data.total, _known(zero, one, size))
            if _hopeless(top, prior + bound):
                continue
            if prior + bound - OCCAM * size < floor:
                # Too far behind to matter itself; it is kept only for larger sets to grow from.
                _keep(top, genes, size, prior + bound - OCCAM * size)
                continue
            _keep(top, genes, size, prior + _evidence(tables, genes, size, zero, one, data.total, bounds, chunk))


@compiled
def score_sets(data: PackedTarget, tables: ScoreTables, sets: Ints, size: int, floor: float, top: TopSets) -> None:
    """Score sets of one size, keeping the best; those under `floor` are only bounded."""
    words = data.ones.shape[1]
    masks = np.empty((MOST_CELLS, words), np.uint64)
    zero = np.zeros(MOST_CELLS, np.int64)
    one = np.zeros(MOST_CELLS, np.int64)
    bounds = np.zeros((6, 2), np.int64)
    chunk = np.zeros((16, 16), np.int64)
    for s in range(sets.shape[0]):
        genes = sets[s]
        prior = _set_prior(tables, genes, size)
        _fill_cells(data, genes, size, masks, zero, one)
        bound = _worth(tables, _fewest(zero, one, size), data.total, _known(zero, one, size))
        if _hopeless(top, prior + bound):
            continue
        if prior + bound - OCCAM * size < floor:
            # Too far behind to matter itself; it is kept only for larger sets to grow from.
            _keep(top, genes, size, prior + bound - OCCAM * size)
            continue
        _keep(top, genes, size, prior + _evidence(tables, genes, size, zero, one, data.total, bounds, chunk))


@compiled
def count_cells(data: PackedTarget, genes: Ints, zero: Ints, one: Ints) -> None:
    """Units of next value 0 and 1 in each cell of a set."""
    masks = np.empty((MOST_CELLS, data.ones.shape[1]), np.uint64)
    _fill_cells(data, genes, genes.shape[0], masks, zero, one)


@compiled
def cell_probabilities(
    tables: ScoreTables, genes: Ints, zero: Ints, one: Ints, total: int, ones: Floats, rising: Floats, best: Words
) -> np.int64:
    """Posterior of one set's function: probability of 1 in each cell, of a rising sign of each input, and the best table.

    Returns the errors of the best table; ``best[0]`` is the table itself.
    """
    k = genes.shape[0]
    known = _known(zero, one, k)
    bounds = np.zeros((6, 2), np.int64)
    chunk = np.zeros((16, 16), np.int64)
    _sign_bounds(zero, one, k, bounds)
    likely = _better_signs(bounds, k)
    top_prior = _sign_log_prior(tables, genes, k, likely)
    groups = _chunk_errors(zero, one, k, likely, chunk)
    top = _worth(tables, _fewest_errors(tables, k, chunk, groups), total, known)
    for signs in range(1 << k):
        if _sign_bound(tables, bounds, k, signs, total, known) > top:
            _chunk_errors(zero, one, k, signs, chunk)
            top = max(top, _worth(tables, _fewest_errors(tables, k, chunk, groups), total, known))
    mass = 0.0
    best_value = -np.inf
    best_errors = np.int64(0)
    plain = np.zeros(MOST_CELLS, np.float64)
    ones[:] = 0.0
    rising[:] = 0.0
    for signs in range(1 << k):
        prior = _sign_log_prior(tables, genes, k, signs)
        if _sign_bound(tables, bounds, k, signs, total, known) + prior < top + top_prior - CLOSE:
            continue
        _chunk_errors(zero, one, k, signs, chunk)
        own = 0.0
        plain[:] = 0.0
        for f in range(tables.start[k], tables.start[k + 1]):
            errors = _errors_of(tables.tables[f], chunk, groups)
            behind = _worth(tables, errors, total, known) - top
            if behind > -CLOSE:
                value = tables.weights[f, signs] * np.exp(behind + prior)
                own += value
                for cell in range(1 << k):
                    if (tables.tables[f] >> np.uint64(cell)) & np.uint64(1):
                        plain[cell] += value
                if value > best_value:
                    best_value = value
                    best_errors = errors
                    table = np.uint64(0)
                    for cell in range(1 << k):
                        if (tables.tables[f] >> np.uint64(cell)) & np.uint64(1):
                            table |= np.uint64(1) << np.uint64(cell ^ signs)
                    best[0] = table
        mass += own
        for i in range(k):
            if not (signs >> i) & 1:
                rising[i] += own
        for cell in range(1 << k):
            ones[cell ^ signs] += plain[cell]
    structured = top + np.log(mass) if mass > 0 else -np.inf
    free = tables.log_any[k] + _any_log_evidence(tables, zero, one, k, total, known)
    share = 1.0 / (1.0 + np.exp(min(700.0, free - structured)))
    for i in range(k):
        rising[i] = rising[i] / mass if mass > 0 else 0.5
    unit = tables.flips[0, 3]
    slope = unit * (tables.flips[0, 2] - tables.flips[0, 1])
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
    return best_errors


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
