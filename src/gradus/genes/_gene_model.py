"""`GeneModel`: the learned network, to read, to predict and to simulate with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix, as_bits
from gradus.errors import DataError
from gradus.genes._noise_model import FlipRate
from gradus.genes._posterior import RankedSet, TargetPosterior
from gradus.genes._repair import Suspect

__all__ = ["GeneEdge", "GeneModel", "GeneRule", "Unexplained", "best_cut"]


def best_cut(probabilities: npt.NDArray[np.float64]) -> float:
    """Probability from which on edges are reported, so that the expected F1 score is highest."""
    # With `k` edges reported, it is twice the expected number of right ones over `k` plus the expected number of edges.
    falling = np.sort(probabilities)[::-1]
    if not falling.sum() > 0:
        return 1.0
    expected = 2 * np.cumsum(falling) / (np.arange(1, len(falling) + 1) + falling.sum())
    return float(falling[int(expected.argmax())])


@dataclass(frozen=True)
class GeneEdge:
    """One edge with its posterior.

    Attributes
    ----------
    regulator, target : str
    probability : float
        Posterior that the regulator has a say in the target's rule.
    rising : float
        Probability that the target rises with it, given the edge.
    is_self : bool
    """

    regulator: str
    target: str
    probability: float
    rising: float
    is_self: bool


@dataclass(frozen=True)
class GeneRule:
    """The single best rule of a gene.

    Attributes
    ----------
    target : str
    regulators : tuple of str
    table : tuple of int
        Next value in each cell; bit i of a cell's number is the value of regulator i.
    probability : float
        Posterior weight of the regulator set.
    errors, total : float
        Weight of the transitions that the rule gets wrong, and of all.
    """

    target: str
    regulators: tuple[str, ...]
    table: tuple[int, ...]
    probability: float
    errors: float
    total: float

    @property
    def seen(self) -> bool:
        """Whether any transition of the gene was recorded."""
        return self.total > 0


@dataclass(frozen=True)
class Unexplained:
    """A gene that the allowed regulators explain much worse than all genes would.

    Attributes
    ----------
    gene : str
    log_evidence : float
        How much better, as a natural log of the Bayes factor, the best set of any genes is.
    regulators : tuple of str
        That set.
    """

    gene: str
    log_evidence: float
    regulators: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class GeneModel:
    """A network learned from series.

    Attributes
    ----------
    genes : tuple of str
    targets : tuple of TargetPosterior
        Ranked sets and edges of each gene.
    flips : FlipRate
        How often recorded next values differ from the rules.
    suspects : tuple of Suspect
        Recorded values that the rules contradict.
    unexplained : tuple of Unexplained
    constants : ndarray of bool
        The value each gene has most often.
    trusted : ndarray of bool
        Genes that their rules predict better than the constant in free runs; the others are constant in `simulate`.
    stopped : str or None
        Why learning ended early: "time limit" or "callback".
    """

    genes: tuple[str, ...]
    targets: tuple[TargetPosterior, ...]
    flips: FlipRate
    constants: npt.NDArray[np.bool_]
    trusted: npt.NDArray[np.bool_]
    suspects: tuple[Suspect, ...] = ()
    unexplained: tuple[Unexplained, ...] = ()
    stopped: str | None = None

    @property
    def edge_probabilities(self) -> npt.NDArray[np.float64]:
        """Posterior of each edge, shape (targets, regulators)."""
        return np.array([one.edges for one in self.targets])

    def likely_edges(self) -> npt.NDArray[np.bool_]:
        """Edges to report, shape (targets, regulators): those for which the expected F1 score is highest.

        Edges between genes and self-edges are chosen apart from each other.
        """
        probabilities, own = self.edge_probabilities, np.eye(len(self.genes), dtype=np.bool_)
        return np.where(own, probabilities >= best_cut(probabilities[own]), probabilities >= best_cut(probabilities[~own]))

    @property
    def rules(self) -> tuple[GeneRule, ...]:
        """The best rule of each gene."""
        return tuple(self._rule(g, one.best_rule, one.total) for g, one in enumerate(self.targets))

    def _rule(self, gene: int, best: RankedSet, total: float) -> GeneRule:
        table = tuple((best.table >> cell) & 1 for cell in range(1 << len(best.features)))
        names = tuple(self.genes[i] for i in best.features)
        return GeneRule(self.genes[gene], names, table, best.weight, best.errors, total)

    def edges(self, least: float = 0.5) -> list[GeneEdge]:
        """Edges with at least a posterior, the most probable first; self-edges are marked."""
        found = [
            GeneEdge(self.genes[i], self.genes[g], float(one.edges[i]), float(one.rising[i]), i == g)
            for g, one in enumerate(self.targets)
            for i in np.flatnonzero(one.edges >= least).tolist()
        ]
        return sorted(found, key=lambda edge: (-edge.probability, self.genes.index(edge.target), edge.regulator))

    def _states(self, states: Any) -> BoolMatrix:
        bits = as_bits(states, "states")
        if bits.shape[1] != len(self.genes):
            raise DataError(f"states has {bits.shape[1]} columns but the model has {len(self.genes)} genes.")
        return bits

    def predict_proba(self, states: Any) -> npt.NDArray[np.float64]:
        """Probability that each gene is 1 after each state, averaged over sets and rules."""
        bits = self._states(states)
        return np.column_stack([one.predict_proba(bits) for one in self.targets])

    def predict(self, states: Any) -> BoolMatrix:
        """Next value of each gene after each state; a tie keeps the present value."""
        bits = self._states(states)
        votes = self.predict_proba(bits)
        return np.where(votes == 0.5, bits, votes > 0.5)

    def simulate(self, states: Any, steps: int) -> npt.NDArray[np.bool_]:
        """Free runs, shape (steps + 1, runs, genes): the states given, and what follows.

        Genes whose rules predict free runs no better than a constant take the constant after the first state.
        """
        rows = [self._states(states)]
        for _ in range(steps):
            rows.append(np.where(self.trusted, self.predict(rows[-1]), self.constants))
        return np.array(rows)
