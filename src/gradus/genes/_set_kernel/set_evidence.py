"""Marginal likelihood of a set of genes, over all signs and rules.

A function is judged by its errors alone: `ScoreTables.log_likelihood` says what a number of errors is worth.
"""

from __future__ import annotations

import numpy as np

from gradus._core.kernels.compile import inlined
from gradus.genes._set_kernel.cell_counts import known_units

__all__ = [
    "CLOSE",
    "any_log_evidence",
    "better_signs",
    "chunk_errors",
    "errors_of",
    "evidence",
    "fill_errors",
    "new_room",
    "set_prior",
    "sign_bound",
    "sign_bounds",
    "sign_log_prior",
    "worth",
]

CLOSE = 6.0
"""Functions and signs this many nats behind the best are not summed."""


@inlined
def worth(tables, errors, total, known):
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
def new_room(tables, k):
    """Room for errors in the quarters and halves of k inputs, and of the prototypes themselves."""
    halves = tables.parts.half_start[k + 1] - tables.parts.half_start[k]
    quarters = tables.parts.quarter_start[k + 1] - tables.parts.quarter_start[k]
    prototypes = tables.start[k + 1] - tables.start[k]
    return np.empty((4, quarters), np.int64), np.empty((2, halves), np.int64), np.empty(prototypes, np.int64)


@inlined
def fill_errors(tables, k, chunk, groups, room):
    """Count the errors of every prototype of k inputs; returns the fewest."""
    # Prototypes have few distinct quarters and halves, so the errors in these are counted first and then added up.
    in_quarters, in_halves, errors = room
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
    """Most that any function with these signs can be worth."""
    least = 0
    for i in range(k):
        least = max(least, bounds[i, 1 - ((signs >> i) & 1)])
    return worth(tables, least, total, known)


@inlined
def evidence(tables, genes, k, zero, one, total, bounds, chunk, room):
    """Log marginal likelihood of a set: over all signs and rules, and over functions without structure."""
    known = known_units(zero, one, k)
    sign_bounds(zero, one, k, bounds)
    likely = better_signs(bounds, k)
    top_prior = sign_log_prior(tables, genes, k, likely)
    groups = chunk_errors(zero, one, k, likely, chunk)
    errors = room[2]
    best = worth(tables, fill_errors(tables, k, chunk, groups, room), total, known)
    mass = 0.0
    for signs in range(1 << k):
        prior = sign_log_prior(tables, genes, k, signs)
        if sign_bound(tables, bounds, k, signs, total, known) + prior < best + top_prior - CLOSE:
            continue
        chunk_errors(zero, one, k, signs, chunk)
        ahead = worth(tables, fill_errors(tables, k, chunk, groups, room), total, known) - best
        if ahead > 0:
            # The signs tried first were not the best ones: count from the new best on.
            mass *= np.exp(-ahead)
            best += ahead
        elif ahead <= -CLOSE:
            continue
        scale = np.exp(prior)
        for f in range(errors.shape[0]):
            behind = worth(tables, errors[f], total, known) - best
            if behind > -CLOSE:
                mass += tables.weights[tables.start[k] + f, signs] * np.exp(behind) * scale
    structured = best + np.log(mass) if mass > 0 else -np.inf
    free = tables.log_any[k] + any_log_evidence(tables, zero, one, k, total, known)
    high = max(structured, free)
    return high + np.log(np.exp(structured - high) + np.exp(free - high))
