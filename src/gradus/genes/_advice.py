"""The experiments that would decide most: runs from states that can be set, with a gene held or none, ranked by bits.

An experiment decides as many bits of a gene's rule as it is expected to take off the logarithm of the weight of the rules
that are left. Networks are drawn from the posterior; each is run from the state, and for each the rules that would then still
agree are weighed. Of noisy values a bound is taken: the weight of a rule falls by the Bhattacharyya distance for each value in
which it differs from the network.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix
from gradus._core.run import Progress, Run
from gradus.genes._advice_kernel import Choices, Draws, expected_bits
from gradus.genes._candidates import WeighedRules, weighed_rules
from gradus.genes._model import GeneModel
from gradus.genes._posterior import TargetPosterior
from gradus.genes._priors import MOST_INPUTS

__all__ = ["Experiment", "advise"]

MOST_RULES, MOST_NETWORKS = 64, 32
"""Rules of a gene and networks of all genes that are compared; more are drawn from, evenly over their weights."""
STARTS, CLIMBED = 32, 2
"""Random states to begin with, and how many of the best are improved gene by gene."""
SWEEPS = 2
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
    """Expected number of bits that it decides beside the experiments before it: of two rules, one is left for each bit."""
    genes: Mapping[str, float]
    """The genes whose rules it decides, with the bits of each; most first."""

    @property
    def on(self) -> tuple[str, ...]:
        """Genes that are on at the start."""
        return tuple(gene for gene, value in self.state.items() if value)

    @property
    def off(self) -> tuple[str, ...]:
        """Genes that are off at the start."""
        return tuple(gene for gene, value in self.state.items() if not value)


@dataclass(frozen=True, eq=False)
class _Question:
    """What all experiments are judged by."""

    choices: Choices
    draws: Draws
    steps: int
    log_error: float

    def bits(self, start: npt.NDArray[np.uint8], hold: int, gained: npt.NDArray[np.float64], *, keep: bool = False) -> float:
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


def _best(
    question: _Question, starts: npt.NDArray[np.uint8], hold: Sequence[int], free: bool, run: Run
) -> tuple[npt.NDArray[np.uint8], int]:
    """Find the state and the gene to hold that decide most; where states are free, their genes are changed one by one."""
    gained = np.zeros(starts.shape[1])
    bits: list[float] = []
    for start in starts:
        if bits and run.stop(Progress(stage="experiments")):
            break
        bits.append(question.bits(start, -1, gained))
    found = []
    for place in np.argsort(-np.array(bits), kind="stable")[:CLIMBED].tolist():
        found.append(_climbed(question, starts[place], bits[place], hold, free, run))
    return max(found, key=lambda one: one[0])[1:]


def _climbed(
    question: _Question, start: npt.NDArray[np.uint8], bits: float, hold: Sequence[int], free: bool, run: Run
) -> tuple[float, npt.NDArray[np.uint8], int]:
    """Change one gene at a time, or hold it, while that decides more."""
    best, state, held, gained = bits, start, -1, np.zeros(len(start))
    for _, gene in itertools.product(range(SWEEPS), range(len(start))):
        if run.stop(Progress(stage="experiments")):
            break
        for turned, holding, factor in _changes(gene, held, gene in hold, free):
            other = state.copy()
            other[gene] ^= turned
            now = question.bits(other, holding, gained)
            if now > best * factor:
                best, state, held = now, other, holding
    return best, state, held


def _changes(gene: int, held: int, can_hold: bool, free: bool) -> Iterator[tuple[int, int, float]]:
    """List the changes of a gene: whether its value is turned, the gene held then, and the factor they must gain."""
    if free or gene == held:
        yield 1, held, LEAST_GAIN
    if can_hold and gene != held:
        yield 0, gene, HOLD_GAIN if held < 0 else LEAST_GAIN
        yield 1, gene, HOLD_GAIN if held < 0 else LEAST_GAIN


def _question(model: GeneModel, steps: int) -> _Question:
    rng = np.random.default_rng(1)
    rules = [_few_rules(target, weighed_rules(target), rng) for target in model.targets]
    shape = (len(rules), max(len(own) for own in rules))
    features, tables = np.zeros((*shape, MOST_INPUTS), np.int64), np.zeros(shape, np.uint64)
    sizes, weights = np.zeros(shape, np.int64), np.zeros(shape)
    for gene, own in enumerate(rules):
        for c, (genes, table, weight) in enumerate(own):
            features[gene, c, : len(genes)] = genes
            sizes[gene, c], tables[gene, c], weights[gene, c] = len(genes), table, weight
    counts = np.array([len(own) for own in rules], np.int64)
    choices = Choices(features, sizes, tables, weights / weights.sum(axis=1, keepdims=True), counts)
    rate = model.flips.rate
    return _Question(choices, _drawn(choices, rng), steps, float(np.log(2 * np.sqrt(rate * (1 - rate)))))


def _few_rules(target: TargetPosterior, rules: WeighedRules, rng: np.random.Generator) -> list[tuple[Any, int, float]]:
    """List the rules of a gene with their weights; of many, some are drawn that stand for all."""
    order = np.argsort(-rules.shares, kind="stable")
    shares = rules.shares[order]
    if len(order) <= MOST_RULES:
        drawn, weights = np.arange(len(order)), shares
    else:
        drawn, counts = np.unique(_evenly(shares, MOST_RULES, rng), return_counts=True)
        weights = counts / MOST_RULES
    return [
        (target.sets[int(rules.sets[k])].features, int(rules.tables[k]), float(weight))
        for k, weight in zip(order[drawn], weights, strict=True)
    ]


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


def _evenly(weights: npt.NDArray[np.float64], count: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Draw numbers with these weights, spread as evenly as they can be."""
    points = (np.arange(count) + rng.random()) / count * weights.sum()
    return np.asarray(np.minimum(np.searchsorted(np.cumsum(weights), points), len(weights) - 1))
