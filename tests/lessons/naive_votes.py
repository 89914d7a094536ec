"""Slow twins of votes: the posterior of all simple functions, one by one, and a vote row by row."""

from __future__ import annotations

import itertools
import math

from gradus._lessons.description import BIT, error_table
from gradus._lessons.leanings import PRIOR


def simple_functions(n_columns):
    """Yield functions of a row, with their prices: a constant, the columns, parities of two, and ANDs of two literals."""
    yield (lambda row: True), 0.0
    for i in range(n_columns):
        yield (lambda row, i=i: row[i]), PRIOR + BIT * math.log2(n_columns)
    pairs = list(itertools.combinations(range(n_columns), 2))
    price = PRIOR + BIT * math.log2(max(len(pairs), 1))
    for i, j in pairs:
        yield (lambda row, i=i, j=j: row[i] ^ row[j]), price
        for a, b in itertools.product((False, True), repeat=2):
            yield (lambda row, i=i, j=j, a=a, b=b: bool((row[i] ^ a) & (row[j] ^ b))), price + 2 * BIT


def posterior_leaning(X, y, noise, outputs, prices, rows, row_outputs):
    """Return by how much a 1 is more probable than a half on some rows."""
    n, table = len(y), error_table(len(y), noise)
    entries = []
    for function, price in simple_functions(X.shape[1]):
        entries.append(([function(row) for row in X], [function(row) for row in rows], price))
    for k, price in enumerate(prices):
        entries.append((outputs[:, k].tolist(), row_outputs[:, k].tolist(), price))
    weighed = []
    for said, elsewhere, price in entries:
        errors = sum(bool(a) != b for a, b in zip(said, y.tolist(), strict=True))
        beyond = (n - 2 * errors) / (2 * (n + 1))
        if not isinstance(noise, str):
            beyond = (0.5 - noise) * ((2 * errors < n) - (2 * errors > n))
        weighed.append((price + int(table[min(errors, n - errors)]), beyond, elsewhere))
    least = min(length for length, _, _ in weighed)
    total = sum(2 ** ((least - length) / BIT) for length, _, _ in weighed)
    return [
        sum(2 ** ((least - length) / BIT) / total * (beyond if said[r] else -beyond) for length, beyond, said in weighed)
        for r in range(len(rows))
    ]


def vote_of_row(vote, row, outputs):
    """Return the sum of a vote for one row."""
    total = vote.constant
    for columns, weight in vote.parities:
        total += weight if sum(map(int, (row[c] for c in columns))) % 2 else -weight
    return total + sum(weight if said else -weight for weight, said in zip(vote.circuits, outputs, strict=True))
