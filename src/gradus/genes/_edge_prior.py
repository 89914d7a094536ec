"""`EdgePrior`: what is believed about edges before the data, and what the other genes say about regulators and rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gradus.errors import SettingsError
from gradus.genes._rule_prior import SHARES
from gradus.genes._set_search import SetPrior

__all__ = ["EdgeBelief", "EdgePrior", "busy_odds", "usual_majorities", "usual_signs"]

BASE_RATE = 0.05
"""Probability of an edge of which nothing is said; only beliefs that differ from it move anything."""
LEAST = 0.001
PSEUDO_EDGES = 3.0
"""So many edges as every regulator is believed to have beforehand; the more, the less a hub stands out."""
RECIPROCAL = 0.8
"""Log-odds of an edge if the opposite one is certain: published models have about twice as many such pairs as chance."""
SELF_RISING = 0.9
"""Probability that a gene that regulates itself activates itself, as 37 of 41 self-edges of published models do."""
PSEUDO_SIGNS = 4.0
"""So many edges, half of either sign, as every regulator is believed to have beforehand."""
PSEUDO_RULES, MAJORITY_SHARES = 2.0, (0.02, 0.04, 0.08, 0.12, 0.18, 0.25, 0.35, 0.5)
"""So many rules, with the usual share of majorities, as every network is believed to have beforehand; the nearest share is
taken, so that genes share their tables of weights."""


@dataclass(frozen=True)
class EdgeBelief:
    """Belief in one edge.

    Attributes
    ----------
    regulator, target : int
    probability : float
        That the edge exists, from 0 to 1; neither is taken as certain.
    sign : int
        +1 activates, -1 represses, 0 not known.
    sign_probability : float
        That the sign is right.
    """

    regulator: int
    target: int
    probability: float = 0.9
    sign: int = 0
    sign_probability: float = 0.95


@dataclass(frozen=True, eq=False)
class EdgePrior:
    """Beliefs, and edges that alone are allowed or that are forbidden.

    Attributes
    ----------
    n_genes : int
    beliefs : sequence of EdgeBelief
    allow : mapping of int to collection of int
        For each target named: its possible regulators.
    forbid : sequence of (regulator, target)
    """

    n_genes: int
    beliefs: Sequence[EdgeBelief] = ()
    allow: Mapping[int, Sequence[int]] = field(default_factory=dict)
    forbid: Sequence[tuple[int, int]] = ()

    def __post_init__(self) -> None:
        named = [(one.regulator, one.target) for one in self.beliefs]
        named += [(a, b) for b, sources in self.allow.items() for a in sources] + list(self.forbid)
        for edge in named:
            if not all(0 <= gene < self.n_genes for gene in edge):
                raise SettingsError(f"The prior has an edge {edge} but there are {self.n_genes} genes.")
        for one in self.beliefs:
            if not 0 <= one.probability <= 1 or one.sign not in (-1, 0, 1) or not 0 <= one.sign_probability <= 1:
                raise SettingsError(f"The belief {one} must have probabilities from 0 to 1 and a sign of -1, 0 or 1.")

    def restricts(self, target: int) -> bool:
        """Whether some regulator of the target is ruled out."""
        return target in self.allow or any(b == target for _, b in self.forbid)

    def of_target(self, target: int, *, free: bool = False) -> SetPrior:
        """Prior for one target; with `free`, as if every edge were allowed."""
        odds, signs = np.zeros(self.n_genes), np.zeros((self.n_genes, 2))
        for one in self.beliefs:
            if one.target == target:
                odds[one.regulator] = _log_odds(one.probability) - _log_odds(BASE_RATE)
                if one.sign:
                    rising = one.sign_probability if one.sign > 0 else 1 - one.sign_probability
                    signs[one.regulator] = np.log(2 * np.clip([1 - rising, rising], LEAST, 1 - LEAST))
        allowed = set(self.allow.get(target, range(self.n_genes))) - {a for a, b in self.forbid if b == target}
        return SetPrior(np.arange(self.n_genes) if free else np.array(sorted(allowed), np.int64), odds, signs)


def _log_odds(probability: float) -> float:
    kept = float(np.clip(probability, LEAST, 1 - LEAST))
    return float(np.log(kept / (1 - kept)))


def busy_odds(edges: npt.NDArray[np.float64], target: int) -> npt.NDArray[np.float64]:
    """Log-odds of each regulator of a target from how many other genes it seems to regulate."""
    # Networks have hubs: a gene that regulates many others is more probably a regulator here too; so is one that the target
    # itself regulates. The target's own row is left out, so that it does not confirm itself.
    n = len(edges)
    others = np.array([h for h in range(n) if h != target], np.int64)
    if len(others) < 2:
        return np.zeros(n)
    rest = edges[others].copy()
    rest[np.arange(len(others)), others] = 0.0
    counts = rest.sum(axis=0) * n / max(1, n - 2)
    usual = float(counts.mean())
    odds: npt.NDArray[np.float64] = np.log((counts + PSEUDO_EDGES) / (usual + PSEUDO_EDGES))
    odds += RECIPROCAL * np.where(np.arange(n) == target, 0.0, edges[:, target] - edges[others, target].mean())
    own = float(edges[others, others].sum())
    odds[target] = np.log((own + PSEUDO_EDGES / 2) / (usual + PSEUDO_EDGES / 2))
    return odds


def usual_signs(edges: npt.NDArray[np.float64], rising: npt.NDArray[np.float64], target: int) -> npt.NDArray[np.float64]:
    """Log of twice the probability of falling and of rising with each regulator, from its signs in the rules of others."""
    others = np.arange(len(edges)) != target
    weight = edges * others[:, None] * (1 - np.eye(len(edges)))
    rises, falls = (weight * rising).sum(axis=0), (weight * (1 - rising)).sum(axis=0)
    share = (rises + PSEUDO_SIGNS / 2) / (rises + falls + PSEUDO_SIGNS)
    share[target] = SELF_RISING
    return np.asarray(np.log(2 * np.column_stack([1 - share, share])))


def usual_majorities(rules: npt.NDArray[np.float64], majorities: npt.NDArray[np.float64], target: int) -> float:
    """Share of majorities among the rules, from those of other genes: some networks are made of them, most have none."""
    others = np.arange(len(rules)) != target
    share = (PSEUDO_RULES * SHARES["majority"] + majorities[others].sum()) / (PSEUDO_RULES + rules[others].sum())
    return min(MAJORITY_SHARES, key=lambda one: abs(np.log(one / share)))
