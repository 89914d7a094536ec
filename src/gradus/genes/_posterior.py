"""Posterior of one target: ranked sets, the rule of each, edges with signs, and the probability of a next value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gradus.genes._evidence import TargetEvidence, pack_target
from gradus.genes._noise_model import FlipRate
from gradus.genes._rule_prior import MOST_INPUTS, is_majority
from gradus.genes._set_kernel.cell_counts import count_cells
from gradus.genes._set_kernel.rule_votes import cell_probabilities, vote
from gradus.genes._set_kernel.set_arrays import PackedSets
from gradus.genes._set_search import ScoredSets, SetPrior, score_tables
from gradus.genes._work_watch import WorkWatch

__all__ = ["RankedSet", "TargetPosterior", "target_posterior"]

COVERED, MOST_AVERAGED = 0.998, 80
"""Sets that hold this much of the posterior are averaged, up to so many."""


@dataclass(frozen=True, eq=False)
class RankedSet:
    """A regulator set with its posterior.

    Attributes
    ----------
    features : tuple of int
        Column indices, sorted.
    weight : float
        Posterior weight among all sets scored.
    score : float
        Log of prior times marginal likelihood.
    errors : float
        Weight of the transitions that its best rule gets wrong.
    table : int
        The best rule's truth table: bit x is the next value in cell x, and bit i of x is the value of `features[i]`.
    probabilities : ndarray of float, shape (2 ** size,)
        Probability of a next value 1 in each cell, over all rules of the set.
    rising : tuple of float
        Probability that the target rises with each gene.
    table_share : float
        Posterior of the best rule among the rules of this set.
    """

    features: tuple[int, ...]
    weight: float
    score: float
    errors: float
    table: int
    probabilities: npt.NDArray[np.float64]
    rising: tuple[float, ...]
    table_share: float


@dataclass(frozen=True, eq=False)
class TargetPosterior:
    """What is known of one target after the data.

    Attributes
    ----------
    sets : tuple of RankedSet
        The best first; their weights add up to nearly 1.
    edges : ndarray of float, shape (genes,)
        Posterior probability that each gene is a regulator, over all sets scored.
    rising : ndarray of float, shape (genes,)
        Probability that the target rises with each gene, given that it is a regulator; one half where nothing is known.
    total : float
        Weight of the target's transitions.
    null_score : float
        Score of the empty set.
    """

    sets: tuple[RankedSet, ...]
    edges: npt.NDArray[np.float64]
    rising: npt.NDArray[np.float64]
    total: float
    null_score: float

    @property
    def best_rule(self) -> RankedSet:
        """The set whose best rule is the most probable single rule; not always the first set."""
        return max(self.sets, key=lambda one: one.weight * one.table_share)

    def majorities(self) -> tuple[float, float]:
        """Posterior of the best rules of three inputs or more, and of those among them that are majorities."""
        rules = [(one.weight * one.table_share, one) for one in self.sets if len(one.features) > 2]
        among = [share for share, one in rules if is_majority(one.table, len(one.features))]
        return sum(share for share, _ in rules), sum(among)

    def predict_proba(self, states: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
        """Probability of a next value 1 after each state, averaged over sets and rules."""
        votes = np.zeros(len(states))
        vote(np.ascontiguousarray(states), self.packed(len(self.sets)), votes)
        # Sums of rounded weights may pass 1 by a hair.
        return np.clip(votes, 0.0, 1.0)

    def packed(self, most: int) -> PackedSets:
        """Return the best sets as the kernels read them, their weights adding up to 1."""
        sets = self.sets[:most]
        features, probabilities = np.zeros((len(sets), MOST_INPUTS), np.int64), np.zeros((len(sets), 1 << MOST_INPUTS))
        for s, one in enumerate(sets):
            features[s, : len(one.features)] = one.features
            probabilities[s, : len(one.probabilities)] = one.probabilities
        weights = np.array([one.weight for one in sets])
        return PackedSets(features, np.array([len(one.features) for one in sets]), weights / weights.sum(), probabilities)


def target_posterior(
    target: TargetEvidence,
    prior: SetPrior,
    flips: FlipRate,
    found: ScoredSets,
    watch: WorkWatch | None = None,
    *,
    most: int = MOST_AVERAGED,
) -> TargetPosterior:
    """Describe the sets that hold nearly all of the posterior; once the watch says stop, only the best one."""
    weights = found.weights()
    packed, tables = pack_target(target), score_tables(target, prior, flips)
    edges, rises = np.zeros(len(prior.odds)), np.zeros(len(prior.odds))
    for genes, weight in zip(found.sets, weights, strict=True):
        edges[list(genes)] += weight
    count = min(most, int(np.searchsorted(np.cumsum(weights), COVERED)) + 1, len(weights))
    ranked: list[RankedSet] = []
    for genes, weight, score in zip(found.sets[:count], weights[:count], found.scores[:count], strict=True):
        if ranked and watch is not None and watch.stop("rules", len(ranked), count):
            break
        zero, one, ones = np.zeros(64, np.int64), np.zeros(64, np.int64), np.zeros(64)
        rising, best, columns = np.zeros(6), np.zeros(1, np.uint64), np.array(genes, np.int64)
        count_cells(packed, columns, zero, one)
        errors, best_share = cell_probabilities(tables, columns, zero, one, packed.total, ones, rising, best)
        size = len(genes)
        ranked.append(
            RankedSet(
                genes,
                float(weight),
                float(score),
                errors * target.unit,
                int(best[0]),
                ones[: 1 << size],
                tuple(rising[:size].tolist()),
                best_share,
            )
        )
        for gene, share in zip(genes, rising, strict=False):
            rises[gene] += weight * share
    listed = np.zeros(len(edges))
    for one_set in ranked:
        listed[list(one_set.features)] += one_set.weight
    with np.errstate(invalid="ignore", divide="ignore"):
        signs = np.where(listed > 0, rises / listed, 0.5)
    null = float(found.scores[found.sets.index(())]) if () in found.sets else -np.inf
    return TargetPosterior(tuple(ranked), edges, signs, target.total, null)
