"""Rules that the data leave possible: those of a gene with their shares of the posterior, and in words where they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix
from gradus._core.wording import counted
from gradus.genes._posterior import NATS_GROWN, TargetPosterior, ranked_set
from gradus.genes._priors import MOST_INPUTS
from gradus.genes._series import UNKNOWN
from gradus.genes._set_kernel import Ints, Words
from gradus.genes._transitions import TargetEvidence

__all__ = ["Candidate", "WeighedRules", "candidates", "is_settled", "open_question", "weighed_rules"]

DECIDED_FROM = 0.95
"""Share of the posterior from which a rule is decided."""
MOST_INPUTS_DECIDED, MOST_FLIPS_DECIDED = 4, 0.05
"""Larger rules are not decided: the prior lists only some of the unate functions of five and six inputs, and a listed one that
fits by chance leaves no doubt then. Nor are any where more of the next values are wrong: repair follows the rules, and so
hides what speaks against them (of the rules with nine tenths, 89 in 100 were right then)."""
LEAST_SHARE, MOST_RULES, MOST_DISPUTES = 0.01, 20, 2
"""Rules with at least this share are candidates, up to a limit; rivals of the best rule that are put into words."""
SETS_DRAWN = 64
"""Sets of each size near the best one that are scored, to see how much of the posterior the search left out."""


class Candidate(NamedTuple):
    """A rule that the data leave possible."""

    features: tuple[int, ...]
    table: int
    """Truth table: bit x is the next value in cell x, and bit i of x is the value of `features[i]`."""
    share: float
    """Its share of the posterior."""
    flips: float = 0.0
    """Share of the next values that are wrong."""

    @property
    def decided(self) -> bool:
        """Whether the data leave hardly any other rule possible."""
        small = len(self.features) <= MOST_INPUTS_DECIDED
        return self.share >= DECIDED_FROM and small and self.flips <= MOST_FLIPS_DECIDED

    def values(self, genes: Sequence[int], states: npt.NDArray[np.int64]) -> BoolMatrix:
        """Next value after states of these genes, which hold the rule's own."""
        places = [genes.index(gene) for gene in self.features]
        cells = states[:, places] @ (1 << np.arange(len(places)))
        return np.array([self.table >> int(cell) & 1 for cell in cells], np.bool_)


class WeighedRules(NamedTuple):
    """Rules of a gene: the number of the set, the truth table, the share of the posterior; `listed` before those drawn."""

    sets: Ints
    tables: Words
    shares: npt.NDArray[np.float64]
    listed: int


def weighed_rules(target: TargetPosterior) -> WeighedRules:
    """List the structured rules of the sets, and for the other functions of each set one that is drawn."""
    rng = np.random.default_rng(0)
    structured, drawn = [], []
    for number, ranked in enumerate(target.sets):
        rules = ranked_set(target.scored, number, ranked.weight, listing=True)[1]
        count = int(rules.found[0])
        shares = rules.shares[:count] * ranked.weight
        structured += [(np.full(count, number), rules.tables[:count], shares)]
        ones = rng.random(len(ranked.probabilities)) < ranked.probabilities
        table = sum(1 << cell for cell in np.flatnonzero(ones).tolist())
        drawn += [(number, table, max(0.0, ranked.weight - float(shares.sum())))]
    sets, tables, shares = (np.concatenate(parts) for parts in zip(*structured, strict=True))
    others, other_tables, rest = zip(*drawn, strict=True)
    return WeighedRules(
        np.append(sets, others), np.append(tables, np.array(other_tables, np.uint64)), np.append(shares, rest), len(sets)
    )


def summed_share(target: TargetPosterior) -> float:
    """Return the posterior that the search counted, as a part of what it is with all sets near that of the best rule."""
    # A rule that fits all data is also fitted by many larger ones that differ from it where no state was recorded. Each is
    # improbable, so the search drops it or guesses what it weighs; together they may hold a third of the posterior, or less
    # than was guessed: then the share is above 1.
    scored, own = target.scored, target.best_rule.features
    masses, sizes = scored.masses(), (scored.sets >= 0).sum(axis=1)
    shared, summed = np.isin(scored.sets, own).sum(axis=1), masses > np.exp(-NATS_GROWN)
    near = (shared == len(own)) & (sizes > len(own)) | (shared == len(own) - 1) & (sizes == len(own))
    known = {scored.genes(number) for number in np.flatnonzero(summed).tolist()}
    total = float(masses[summed | ~near].sum())
    for count, sets in _near(own, np.setdiff1d(scored.sets, (-1, *own)).tolist()):
        new = np.array([features not in known for features in sets])
        total += count * float(scored.summed(sets)[new].sum()) / len(sets)
    return float(masses.sum()) / total


def _near(own: tuple[int, ...], others: Sequence[int]) -> Iterator[tuple[int, list[tuple[int, ...]]]]:
    """List sets with one gene exchanged, then larger ones: of each size their number, and all or some drawn evenly."""
    rng = np.random.default_rng(0)
    for lost, more in [(1, 1)] * bool(own) + [(0, more) for more in range(1, MOST_INPUTS - len(own) + 1)]:
        kept, new = list(combinations(own, len(own) - lost)), comb(len(others), more)
        count = len(kept) * new
        if 0 < count <= SETS_DRAWN:
            yield count, [tuple(sorted(part + genes)) for part in kept for genes in combinations(others, more)]
        elif count:
            drawn = [(kept[rng.integers(len(kept))], rng.choice(others, more, replace=False)) for _ in range(SETS_DRAWN)]
            yield count, [tuple(sorted((*part, *genes.tolist()))) for part, genes in drawn]


def candidates(target: TargetPosterior, *, stopped: bool = False) -> tuple[Candidate, ...]:
    """Rules that the data leave, the most probable first; that of `TargetPosterior.best_rule` is the first one."""
    rules, best = weighed_rules(target), target.best_rule
    shares, first = rules.shares[: rules.listed], best.weight * best.table_share
    if not stopped:  # it takes time that an interrupted call has not
        among = min(summed_share(target), 1 / max(float(shares.sum()), first))
        shares, first = shares * among, first * among
    left = {(best.features, best.table): first}
    for k in np.argsort(-shares, kind="stable")[:MOST_RULES].tolist():
        if shares[k] >= LEAST_SHARE:
            left.setdefault((target.sets[int(rules.sets[k])].features, int(rules.tables[k])), float(shares[k]))
    flips = float(np.exp(target.scored.tables.flips[1] / target.scored.unit))
    return tuple(Candidate(*rule, share, flips) for rule, share in left.items())[:MOST_RULES]


def _all_states(genes: Sequence[int]) -> npt.NDArray[np.int64]:
    return (np.arange(1 << len(genes))[:, None] >> np.arange(len(genes))) & 1


def is_settled(left: Sequence[Candidate], fixed: Mapping[int, int]) -> bool:
    """Whether hardly any candidate differs from the best one in a state in which genes are fixed at these values."""
    agreeing = 0.0
    for rule in left:
        genes = sorted({*left[0].features, *rule.features})
        states = _all_states(genes)
        asked = np.array([fixed.get(gene, UNKNOWN) for gene in genes])
        inside = states[((states == asked) | (asked == UNKNOWN)).all(axis=1)]
        agreeing += rule.share * (left[0].values(genes, inside) == rule.values(genes, inside)).all()
    return agreeing >= DECIDED_FROM * sum(rule.share for rule in left)


def open_question(left: Sequence[Candidate], names: Sequence[str], evidence: TargetEvidence) -> str:
    """Describe how the most probable rules of a gene differ; empty if one is decided."""
    if left[0].decided:
        return ""
    disputes = [_dispute(left[0], rival, names, evidence) for rival in left[1 : 1 + MOST_DISPUTES]]
    alone = "many rules are left, and no other one is probable"
    if left[0].share >= DECIDED_FROM:
        large = len(left[0].features) > MOST_INPUTS_DECIDED
        alone = f"not all rules of more than {MOST_INPUTS_DECIDED} genes were compared" if large else "the data are too noisy"
    return "; ".join(dict.fromkeys(disputes)) or alone


def _dispute(best: Candidate, rival: Candidate, names: Sequence[str], evidence: TargetEvidence) -> str:
    genes = sorted({*best.features, *rival.features})
    states = _all_states(genes)
    differ = best.values(genes, states) != rival.values(genes, states)
    own, others = ([g for g in genes if g not in rule.features] for rule in (rival, best))
    subject = [[names[gene] for gene in part] for part in (own, others) if part]
    where, shown = _where(states[differ], genes, {*own, *others}, names), _shown(genes, differ, evidence)
    if not subject:
        return f"whether it is on{where}: {shown}"
    if len(subject) == 1:
        return f"whether {' and '.join(subject[0])} act{'s' * (len(subject[0]) == 1)}{where}: {shown}"
    return f"which acts{where} ({' or '.join(' and '.join(part) for part in subject)}): {shown}"


def _where(states: npt.NDArray[np.int64], genes: Sequence[int], subject: set[int], names: Sequence[str]) -> str:
    """Describe what all of these states have in common; where that is nothing, the first one."""
    common = [(gene, column[0]) for gene, column in zip(genes, states.T, strict=True) if (column == column[0]).all()]
    instance = "" if common or subject else ", for instance"
    shown = common if common or subject else list(zip(genes, states[0], strict=True))
    words = [f"{'with' if value else 'without'} {names[gene]}" for gene, value in shown if gene not in subject]
    return f"{instance} {' and '.join(words)}" if words else ""


def _shown(genes: Sequence[int], differ: BoolMatrix, evidence: TargetEvidence) -> str:
    """Write how many recorded states are relevant."""
    inputs = evidence.inputs[:, genes].astype(np.int64)
    cells = np.where(inputs == UNKNOWN, 0, inputs) @ (1 << np.arange(len(genes)))
    shown = (inputs != UNKNOWN).all(axis=1) & differ[cells]
    count = int(evidence.units[shown].sum())
    return f"{counted(count, 'state')} of {evidence.units.sum()} bear on it" if count else "no state has shown it"
