"""Slow, readable twins of the fast parts of gradus_paper."""

from __future__ import annotations

import itertools

import numpy as np

from gradus import Network


def test_errors(sources, outputs, X, Y, tested):
    """Errors of each output on the patterns tested, by evaluating the network row by row."""
    network = Network(X.shape[1], sources, outputs)
    wrong = network.predict(X) != Y
    return [sum(bool(wrong[row, k]) for row in range(len(X)) if tested[row]) for k in range(Y.shape[1])]


test_errors.__test__ = False


def orders_with_inversions(n, inversions):
    """Every order of 0 … n-1 with so many pairs the wrong way round."""
    return [
        order
        for order in itertools.permutations(range(n))
        if sum(order[i] > order[j] for i in range(n) for j in range(i + 1, n)) == inversions
    ]


def paired_gains(rows, first, second):
    """Mean of accuracy differences over shared training sets where both converged, by dictionaries."""
    by_key = {}
    for row in rows:
        if row.status == "done" and row.converged:
            by_key.setdefault((row.n_train, row.sample, row.repeat), {})[row.loss] = row.test_accuracy_mean
    gains = {}
    for (size, _, _), found in by_key.items():
        if first in found and second in found:
            gains.setdefault(size, []).append(found[first] - found[second])
    return {size: float(np.mean(values)) for size, values in sorted(gains.items())}
