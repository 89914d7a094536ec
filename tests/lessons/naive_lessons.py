"""Slow, readable twins of the lessons' kernels: one example and one gate at a time."""

from __future__ import annotations

import itertools
import math

import numpy as np


def value(function, a, b):
    return function >> (2 * a + b) & 1


def node_values(circuit, row, flipped=None, replaced=None):
    """Values of all nodes for one row; one node may be complemented or replaced by a given value."""
    values = [int(bit) for bit in row]
    for gate, (function, (a, b)) in enumerate(zip(circuit.functions.tolist(), circuit.sources.tolist(), strict=True)):
        result = value(function, values[a], values[b])
        node = circuit.n_inputs + gate
        if node == flipped:
            result = 1 - result
        if replaced is not None and node == replaced[0]:
            result = replaced[1]
        values.append(result)
    return values


def outputs(circuit, X):
    return np.array([[node_values(circuit, row)[node] for node in circuit.outputs] for row in X], dtype=bool)


def errors(circuit, X, Y, known):
    return ((outputs(circuit, X) != Y) & known).sum(axis=0)


def errors_with(circuit, X, Y, known, node, new_values):
    """Errors of all targets together when a gate takes other values."""
    total = 0
    for row, target, mask, new in zip(X, Y, known, new_values, strict=True):
        values = node_values(circuit, row, replaced=(node, int(new)))
        total += sum(int(mask[t]) and values[output] != int(target[t]) for t, output in enumerate(circuit.outputs.tolist()))
    return total


def gate_weights(circuit, X, Y, known, gate):
    """For each example, how many errors more a 1 of a gate costs than a 0."""
    weights = []
    for row, target, mask in zip(X, Y, known, strict=True):
        wrong = []
        for bit in (0, 1):
            values = node_values(circuit, row, replaced=(gate, bit))
            wrong.append(
                sum(int(mask[t]) and values[node] != int(target[t]) for t, node in enumerate(circuit.outputs.tolist()))
            )
        weights.append(wrong[1] - wrong[0])
    return np.array(weights)


def cone(circuit, gate):
    """The gate and everything that depends on it."""
    inside = {gate}
    for number, pair in enumerate(circuit.sources.tolist()):
        if inside & set(pair):
            inside.add(circuit.n_inputs + number)
    return inside


def best_pair_errors(circuit, X, Y, known, gate):
    """Fewest errors when a gate becomes any of the 16 functions of two nodes outside its cone, for every pair."""
    every = np.array([node_values(circuit, row) for row in X])
    outside = [node for node in range(every.shape[1]) if node not in cone(circuit, gate)]
    best = {}
    for a, b in itertools.combinations(outside, 2):
        best[a, b] = min(
            errors_with(circuit, X, Y, known, gate, [value(f, x, y) for x, y in every[:, [a, b]]]) for f in range(16)
        )
    return best


def binomial_bits(n, k):
    return math.log2(math.comb(n, k))


def live_gates(circuit):
    live, stack = set(), [int(node) for node in circuit.outputs]
    while stack:
        node = stack.pop()
        if node >= circuit.n_inputs and node not in live:
            live.add(node)
            stack += circuit.sources[node - circuit.n_inputs].tolist()
    return live
