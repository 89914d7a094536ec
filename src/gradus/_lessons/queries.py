"""Which example to ask for next: patterns on which circuits that explain the examples about equally well disagree.

The shortest circuits often share a mistake: a gate less than the truth needs, which no row has shown yet. So circuits that
have a few gates more and are right on all rows are compared, too: walks find any number of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._circuit.network import network_of
from gradus._core.bits import BoolMatrix
from gradus._core.run import Run
from gradus._lessons.continued import gate_list_of
from gradus._lessons.description import judged
from gradus._lessons.packed_examples import PackedExamples
from gradus._lessons.walks import LessonSettings, Walks, seed_from

__all__ = ["disputed_patterns", "with_rivals"]

Floats = npt.NDArray[np.float64]
MOST_INPUTS = 12
"""Inputs up to which all patterns are looked at."""
N_DRAWN, N_CLIMBERS, N_STEPS = 1 << MOST_INPUTS, 64, 20
N_RIVALS, MOST_MORE = 24, 4
"""Rivals of all circuits together, and by how many gates they are larger at most."""
DECLINE = 0.25
"""How much less a dispute about the next target counts: it builds on those learned before, which must be right first."""


def with_rivals(circuits: Sequence[Network], examples: PackedExamples, settings: LessonSettings, seed: int) -> list[Network]:
    """Add to each circuit that is right on all examples some with a few gates more that are right on them, too."""
    walks, found = Walks(examples, settings, Run()), list(circuits)
    for number, circuit in enumerate(circuits):
        latest = judged(gate_list_of(circuit), examples)
        n_gates = latest.n_gates
        for rival in range(-(-N_RIVALS // len(circuits)) if latest.reached else 0):
            free, walk_seed = n_gates + 1 + rival % MOST_MORE, seed_from(seed, number, rival)
            latest = walks.minimise_gates(latest, walk_seed, walks.settings.gates_work, free)
            found.append(network_of(latest.circuit))
    return found


def disputed_patterns(circuits: Sequence[Network], n: int, order: Sequence[int] = ()) -> BoolMatrix:
    """Return up to n patterns, the one on which circuits disagree most first; where they agree everywhere, random ones.

    With an order of the targets, disputes about those that come first count most.
    """
    n_inputs, prices = circuits[0].n_inputs, np.ones(circuits[0].n_outputs)
    prices[list(order)] = DECLINE ** np.arange(len(order))
    rng = np.random.default_rng([n_inputs, n])
    if n_inputs <= MOST_INPUTS:
        patterns = (np.arange(1 << n_inputs)[:, np.newaxis] >> np.arange(n_inputs) & 1).astype(np.bool_)
    else:
        patterns = _climbed(circuits, prices, rng.random((max(N_DRAWN, 2 * n), n_inputs)) < 0.5)
    patterns = rng.permutation(patterns)
    # A pattern counts for less if it separates circuits that earlier patterns separate already.
    disputes = _disputes(circuits, prices, patterns)
    weights, chosen = np.ones(disputes.shape[1]), list[int]()
    for _ in range(min(n, len(patterns))):
        scores = disputes @ weights
        scores[chosen] = -1.0
        chosen.append(int(np.argmax(scores)))
        weights /= 1.0 + (disputes[chosen[-1]] > 0)
    return patterns[chosen]


def _disputes(circuits: Sequence[Network], prices: Floats, patterns: BoolMatrix) -> Floats:
    """Add up the prices of the targets on which each pair of circuits differs: shape (patterns, pairs)."""
    answers = [circuit.predict(patterns) for circuit in circuits]
    pairs = [(first ^ second) @ prices for first, second in combinations(answers, 2)]
    return np.array(pairs, dtype=np.float64).reshape(-1, len(patterns)).T


def _climbed(circuits: Sequence[Network], prices: Floats, patterns: BoolMatrix) -> BoolMatrix:
    """Add patterns that are reached from the most disputed ones by flipping one bit at a time as long as that helps."""
    place = np.argsort(-_disputes(circuits, prices, patterns).sum(axis=1), kind="stable")[:N_CLIMBERS]
    best = patterns[place]
    read = np.any([circuit.cone(range(circuit.n_outputs))[: circuit.n_inputs] for circuit in circuits], axis=0)
    flips = np.eye(best.shape[1], dtype=np.bool_)[read]  # others change nothing
    for _ in range(N_STEPS):
        flipped = best[:, np.newaxis] ^ flips
        tried = np.concatenate([best[:, np.newaxis], flipped], axis=1)
        scores = _disputes(circuits, prices, tried.reshape(-1, best.shape[1])).sum(axis=1).reshape(len(best), -1)
        step = scores.argmax(axis=1)
        if not step.any():
            break
        best = tried[np.arange(len(best)), step]
    return np.unique(np.concatenate([best, patterns]), axis=0)
