"""Kernel of advice: what one experiment is expected to decide, over networks drawn from the posterior."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from gradus._core.kernels.compile import compiled, inlined
from gradus.genes._set_kernel import Floats, Ints, Words

__all__ = ["Choices", "Draws", "State", "expected_bits"]

State: TypeAlias = npt.NDArray[np.uint8]
Held: TypeAlias = npt.NDArray[np.bool_]


class Choices(NamedTuple):
    """Candidate rules of each gene: genes padded to six, how many, truth tables and weights; and how many rules there are."""

    features: Ints
    sizes: Ints
    tables: Words
    weights: Floats
    counts: Ints


class Draws(NamedTuple):
    """Networks, each a candidate of every gene, with their weights.

    `behind` (networks, genes, candidates) says what experiments chosen before would add to the log-likelihood of each
    candidate if the network were true, and `known` (networks, genes) the bits that they would decide.
    """

    picks: Ints
    weights: Floats
    behind: Floats
    known: Floats


@inlined
def value_of(choices, gene, candidate, state):
    cell = np.uint64(0)
    for i in range(choices.sizes[gene, candidate]):
        cell |= np.uint64(state[choices.features[gene, candidate, i]]) << np.uint64(i)
    return np.uint8((choices.tables[gene, candidate] >> cell) & np.uint64(1))


@inlined
def fill_run(choices, picks, start, held, states, repeats):
    """Run one network; returns how many steps differ, the last of which counts `repeats` times."""
    steps = states.shape[0] - 1
    states[0] = start
    for t in range(steps):
        changed = False
        for gene in range(start.shape[0]):
            value = states[t, gene] if held[gene] else value_of(choices, gene, picks[gene], states[t])
            states[t + 1, gene] = value
            changed |= value != states[t, gene]
        repeats[t] = 1
        if not changed:
            repeats[t] = steps - t
            return t + 1
    return steps


@compiled
def expected_bits(
    choices: Choices, draws: Draws, start: State, held: Held, steps: int, log_error: float, gained: Floats, keep: bool
) -> np.float64:
    """Return the bits that a run from a state is expected to decide, and those of each gene; `keep` takes it as done."""
    states, repeats = np.zeros((steps + 1, start.shape[0]), np.uint8), np.zeros(steps, np.int64)
    behind = np.zeros(choices.weights.shape[1], np.float64)
    gained[:] = 0.0
    for s in range(draws.picks.shape[0]):
        run = fill_run(choices, draws.picks[s], start, held, states, repeats)
        for gene in range(start.shape[0]):
            if held[gene] or choices.counts[gene] < 2:
                continue
            left = 0.0
            for c in range(choices.counts[gene]):
                log = draws.behind[s, gene, c]
                for t in range(run):
                    if value_of(choices, gene, c, states[t]) != states[t + 1, gene]:
                        log += repeats[t] * log_error
                behind[c] = log
                left += choices.weights[gene, c] * np.exp(log)
            gained[gene] += draws.weights[s] * (-np.log2(left) - draws.known[s, gene])
            if keep:
                draws.known[s, gene] = -np.log2(left)
                draws.behind[s, gene, : choices.counts[gene]] = behind[: choices.counts[gene]]
    return np.float64(gained.sum())
