"""What the data leave: the rules of a gene with their shares of the posterior, and in words what they disagree about."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradus.genes._posterior import TargetPosterior, described
from gradus.genes._set_kernel import Ints, Words

__all__ = ["Candidate", "WeighedRules", "candidates", "weighed_rules"]

DECIDED_FROM = 0.95
LEAST_SHARE, MOST_RULES = 0.01, 20
"""Rules with at least this share are candidates, and at most so many."""


class Candidate(NamedTuple):
    """A rule that the data leave."""

    features: tuple[int, ...]
    table: int
    """Truth table: bit x is the next value in cell x, and bit i of x is the value of `features[i]`."""
    share: float
    """Of the posterior."""

    @property
    def decided(self) -> bool:
        """Whether the data leave hardly anything else."""
        return self.share >= DECIDED_FROM


class WeighedRules(NamedTuple):
    """Rules of a gene: the number of the set, the truth table, the share of the posterior; `listed` come before those drawn."""

    sets: Ints
    tables: Words
    shares: npt.NDArray[np.float64]
    listed: int


def weighed_rules(target: TargetPosterior) -> WeighedRules:
    """List the structured rules of the sets, and one drawn from the other functions of each."""
    rng = np.random.default_rng(0)
    structured, drawn = [], []
    for number, ranked in enumerate(target.sets):
        found = described(target.scored, ranked.features, listing=True)
        count = int(found.rules.count[0])
        shares = found.rules.shares[:count] * ranked.weight
        structured += [(np.full(count, number), found.rules.tables[:count], shares)]
        ones = rng.random(len(found.loose)) < found.loose
        table = sum(1 << cell for cell in np.flatnonzero(ones).tolist())
        drawn += [(number, table, max(0.0, ranked.weight - float(shares.sum())))]
    sets, tables, shares = (np.concatenate(parts) for parts in zip(*structured, strict=True))
    others, other_tables, rest = zip(*drawn, strict=True)
    return WeighedRules(
        np.append(sets, others), np.append(tables, np.array(other_tables, np.uint64)), np.append(shares, rest), len(sets)
    )


def candidates(target: TargetPosterior) -> tuple[Candidate, ...]:
    """Rules that the data leave, the most probable first; that of `TargetPosterior.best_rule` is the first one."""
    rules, best = weighed_rules(target), target.best_rule
    found = {(best.features, best.table): best.weight * best.table_share}
    shares = rules.shares[: rules.listed]
    for k in np.argsort(-shares, kind="stable")[:MOST_RULES].tolist():
        if shares[k] >= LEAST_SHARE:
            found.setdefault((target.sets[int(rules.sets[k])].features, int(rules.tables[k])), float(shares[k]))
    return tuple(Candidate(*rule, share) for rule, share in found.items())[:MOST_RULES]
