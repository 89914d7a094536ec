"""Which example to ask for next: patterns on which circuits that explain the examples about equally well disagree."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._core.bits import BoolMatrix

__all__ = ["disputed_patterns"]

MOST_INPUTS = 12
"""Inputs up to which all patterns are looked at."""
N_DRAWN, N_CLIMBERS, N_STEPS = 1 << MOST_INPUTS, 64, 20


def disputed_patterns(circuits: Sequence[Network], n: int) -> BoolMatrix:
    """Return up to n patterns, the one on which circuits disagree most first; where they agree everywhere, random ones."""
    n_inputs = circuits[0].n_inputs
    rng = np.random.default_rng([n_inputs, n])
    if n_inputs <= MOST_INPUTS:
        patterns = (np.arange(1 << n_inputs)[:, np.newaxis] >> np.arange(n_inputs) & 1).astype(np.bool_)
    else:
        patterns = _climbed(circuits, rng.random((max(N_DRAWN, 2 * n), n_inputs)) < 0.5)
    patterns = rng.permutation(patterns)
    # A pattern that tells apart circuits which those before it have told apart already counts for less.
    disputes = _disputes(circuits, patterns)
    weights, chosen = np.ones(disputes.shape[1]), list[int]()
    for _ in range(min(n, len(patterns))):
        scores = disputes @ weights
        scores[chosen] = -1.0
        chosen.append(int(np.argmax(scores)))
        weights /= 1.0 + (disputes[chosen[-1]] > 0)
    return patterns[chosen]


def _disputes(circuits: Sequence[Network], patterns: BoolMatrix) -> npt.NDArray[np.float64]:
    """Count the targets on which each pair of circuits differs: shape (patterns, pairs)."""
    answers = [circuit.predict(patterns) for circuit in circuits]
    pairs = [np.count_nonzero(first ^ second, axis=1) for first, second in combinations(answers, 2)]
    return np.array(pairs, dtype=np.float64).reshape(-1, len(patterns)).T


def _climbed(circuits: Sequence[Network], patterns: BoolMatrix) -> BoolMatrix:
    """Add patterns that are reached from the most disputed ones by flipping one bit at a time as long as that helps."""
    place = np.argsort(-_disputes(circuits, patterns).sum(axis=1), kind="stable")[:N_CLIMBERS]
    best = patterns[place]
    read = np.any([circuit.cone(range(circuit.n_outputs))[: circuit.n_inputs] for circuit in circuits], axis=0)
    flips = np.eye(best.shape[1], dtype=np.bool_)[read]  # others change nothing
    for _ in range(N_STEPS):
        flipped = best[:, np.newaxis] ^ flips
        tried = np.concatenate([best[:, np.newaxis], flipped], axis=1)
        scores = _disputes(circuits, tried.reshape(-1, best.shape[1])).sum(axis=1).reshape(len(best), -1)
        step = scores.argmax(axis=1)
        if not step.any():
            break
        best = tried[np.arange(len(best)), step]
    return np.unique(np.concatenate([best, patterns]), axis=0)
