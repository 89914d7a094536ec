"""The experiments that would decide most: runs from states that can be set, with a gene held or none, ranked by bits.

Networks are drawn from the posterior; each is run from the state, and the rules of each gene that would still agree are
weighed: half the weight is a bit. For noisy values this is a lower bound: the weight of a rule falls by the Bhattacharyya
distance for each value in which it differs from the network.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from gradus._core.bits import BoolMatrix
from gradus._core.run import Progress, Run
from gradus._core.wording import listed
from gradus.errors import DataError
from gradus.genes._advice_kernel import Choices, Draws, State, expected_bits
from gradus.genes._candidates import weighed_rules
from gradus.genes._model import GeneModel
from gradus.genes._priors import MOST_INPUTS
from gradus.genes._series import as_series
from gradus.genes._set_kernel import Floats, Ints

__all__ = ["Advice", "Experiment", "advise", "allowed_states", "held_places"]

MOST_RULES, MOST_NETWORKS = 64, 32
"""Rules of a gene and networks of all genes that are compared; of more, a sample is drawn, evenly over their weights."""
STARTS, CLIMBED, SWEEPS = 32, 2, 2
"""Random starting states, how many of the best are improved gene by gene, and how often."""
LEAST_GAIN, HOLD_GAIN = 1.001, 1.03
"""A change of the state, and holding a gene, must raise the bits by these factors: holding one is more work."""
LEAST_BITS = 0.05
"""Genes of which less is decided are not named."""


@dataclass(frozen=True)
class Experiment:
    """A run to record, and what it is expected to decide."""

    state: Mapping[str, int]
    """The value of every gene at its start."""
    held: Mapping[str, int]
    """The gene to knock out (0) or to over-express (1), if any."""
    bits: float
    """Expected bits that it decides beside the experiments before it; one bit halves the rules."""
    genes: Mapping[str, float]
    """The genes whose rules it decides, with the bits of each; most first."""


Advice: TypeAlias = Sequence[Experiment]


@dataclass(frozen=True, eq=False)
class _Question:
    """What all experiments are compared with."""

    choices: Choices
    draws: Draws
    steps: int
    log_error: float

    def bits(self, start: State, hold: int, gained: Floats, *, keep: bool = False) -> float:
        """Bits that a run from a state decides, with a gene held at its value there (-1: none)."""
        held = np.arange(len(start)) == hold
        return float(expected_bits(self.choices, self.draws, start, held, self.steps, self.log_error, gained, keep))


def advise(
    model: GeneModel, n: int, states: BoolMatrix | None, hold: Sequence[int], steps: int, run: Run
) -> tuple[Experiment, ...]:
    """Choose experiments one after the other, so that each decides what those before it do not."""
    question = _question(model, steps)
    rng = np.random.default_rng(0)
    starts = rng.random((STARTS, len(model.genes))) < 0.5 if states is None else states
    chosen = []
    for done in range(n):
        if run.stop(Progress(stage="experiments", done=done, total=n)):
            break
        start, held = _best(question, starts.astype(np.uint8), hold, states is None, run)
        gained = np.zeros(len(model.genes))
        bits = question.bits(start, held, gained, keep=True)
        named = {model.genes[g]: float(gained[g]) for g in np.argsort(-gained, kind="stable") if gained[g] >= LEAST_BITS}
        state = dict(zip(model.genes, start.tolist(), strict=True))
        chosen.append(Experiment(state, {} if held < 0 else {model.genes[held]: state[model.genes[held]]}, bits, named))
    return tuple(chosen)


def held_places(hold: Sequence[str] | None, genes: tuple[str, ...]) -> list[int]:
    """Return the numbers of the genes that an experiment can hold; of all if not given."""
    for gene in hold or ():
        if gene not in genes:
            raise DataError(f"{gene!r} cannot be held, since it is not one of the genes: {listed(genes)}.")
    return [place for place, gene in enumerate(genes) if hold is None or gene in hold]


def allowed_states(states: Any, genes: tuple[str, ...]) -> BoolMatrix:
    """Read the states that an experiment can begin in."""
    rows = np.concatenate([single.binary(genes) for single in as_series(states)])
    if np.isnan(rows).any() or not len(rows):
        raise DataError("the states that an experiment can begin in must be given, each without a missing value.")
    return np.asarray(rows == 1)


def _best(question: _Question, starts: State, hold: Sequence[int], free: bool, run: Run) -> tuple[State, int]:
    """Find the state and the gene to hold that decide most; where states are free, their genes are changed one by one."""
    gained, bits = np.zeros(starts.shape[1]), np.full(len(starts), -np.inf)
    for number, start in enumerate(starts):
        if number and run.stop(Progress(stage="experiments")):
            break
        bits[number] = question.bits(start, -1, gained)
    ranked = np.argsort(-bits, kind="stable")[:CLIMBED].tolist()
    ends = [_climbed(question, starts[k], float(bits[k]), hold, free, run) for k in ranked]
    return max(ends, key=lambda end: end[0])[1:]


def _climbed(
    question: _Question, start: State, bits: float, hold: Sequence[int], free: bool, run: Run
) -> tuple[float, State, int]:
    """Change one gene at a time, or hold it, while that decides more."""
    best, state, held, gained = bits, start, -1, np.zeros(len(start))
    for _, gene in itertools.product(range(SWEEPS), range(len(start))):
        if run.stop(Progress(stage="experiments")):
            break
        changes = [(1, held)] * (free or gene == held) + [(0, gene), (1, gene)] * (gene in hold and gene != held)
        for turned, holding in changes:
            other = (state if free or gene == held else start).copy()  # but for a gene held, a given state stays as it is
            other[gene] ^= turned
            now = question.bits(other, holding, gained)
            if now > best * (HOLD_GAIN if held < 0 <= holding else LEAST_GAIN):
                best, state, held = now, other, holding
    return best, state, held


def _question(model: GeneModel, steps: int) -> _Question:
    rng, shape = np.random.default_rng(1), (len(model.targets), MOST_RULES)
    features, tables = np.zeros((*shape, MOST_INPUTS), np.int64), np.zeros(shape, np.uint64)
    sizes, weights, counts = np.zeros(shape, np.int64), np.zeros(shape), np.zeros(shape[0], np.int64)
    for gene, target in enumerate(model.targets):
        rules, sets = weighed_rules(target), target.packed(len(target.sets))
        kept, shares = _few(rules.shares, rng)
        own, counts[gene] = (gene, slice(len(kept))), len(kept)
        features[own], sizes[own] = sets.features[rules.sets[kept]], sets.sizes[rules.sets[kept]]
        tables[own], weights[own] = rules.tables[kept], shares / shares.sum()
    choices, rate = Choices(features, sizes, tables, weights, counts), model.flips.rate
    return _Question(choices, _drawn(choices, rng), steps, float(np.log(2 * np.sqrt(rate * (1 - rate)))))


def _few(shares: Floats, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Return the numbers of the rules of a gene and their weights; of many, a sample is drawn."""
    order = np.argsort(-shares, kind="stable")
    if len(order) <= MOST_RULES:
        return order, shares[order]
    drawn, counts = np.unique(_evenly(shares[order], MOST_RULES, rng), return_counts=True)
    return order[drawn], counts.astype(np.float64)


def _drawn(choices: Choices, rng: np.random.Generator) -> Draws:
    """Every network if they are few; else some, of each gene as often as its rules are probable."""
    counts, (n_genes, most) = choices.counts, choices.weights.shape
    if np.prod(counts.astype(np.float64)) <= MOST_NETWORKS:
        picks = np.array(list(itertools.product(*(range(count) for count in counts))), np.int64)
        weights = np.prod(choices.weights[np.arange(n_genes), picks], axis=1)
    else:
        picks = np.column_stack([rng.permutation(_evenly(own, MOST_NETWORKS, rng)) for own in choices.weights])
        weights = np.full(MOST_NETWORKS, 1 / MOST_NETWORKS)
    return Draws(picks, weights, np.zeros((len(picks), n_genes, most)), np.zeros((len(picks), n_genes)))


def _evenly(weights: Floats, count: int, rng: np.random.Generator) -> Ints:
    """Draw numbers with these weights, spread as evenly as they can be."""
    points = (np.arange(count) + rng.random()) / count * weights.sum()
    return np.asarray(np.minimum(np.searchsorted(np.cumsum(weights), points), len(weights) - 1))
