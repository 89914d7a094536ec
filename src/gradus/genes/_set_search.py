"""Search for the regulator sets of one target: all sets of up to three genes, then a beam to six."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gradus.genes._evidence import TargetEvidence, pack_target
from gradus.genes._noise_model import FlipRate
from gradus.genes._rule_prior import MOST_INPUTS, rule_prior
from gradus.genes._set_kernel.set_arrays import PackedTarget, ScoreTables, TableParts, TopSets
from gradus.genes._set_kernel.set_scan import scan_from, score_sets
from gradus.genes._work_watch import WorkWatch

__all__ = ["SIZE_PRIOR", "UNKNOWN_COST", "ScoredSets", "SetPrior", "score_tables", "search_sets", "uniform_prior"]

SIZE_PRIOR = (0.03, 0.12, 0.21, 0.21, 0.20, 0.14, 0.09)
"""Prior probability of 0 to 6 regulators, about what published models have."""
KEPT, GROWN = 400, {4: 2500, 5: 1000, 6: 350}
"""Sets of a size that are kept; sets of four, five and six genes that are tried, grown from the best below, at about."""
NEGLIGIBLE, IMPROBABLE = 7.0, 3.0
"""Sets so many nats behind the best are bounded, not summed; where all of a size are, no larger ones are tried."""
UNKNOWN_COST = 0.2
"""What a transition usually costs a set one of whose genes is unknown there: in about a third of the cells the next value
goes with that gene, and is then a coin toss."""
MOST_TRIPLED = 100
"""All triples are scored among this many genes at most: the best by themselves and in pairs."""
AT_ONCE = 64
"""Sets scored between two looks at the clock."""


@dataclass(frozen=True, eq=False)
class SetPrior:
    """What is believed about the regulators of one target before the data.

    Attributes
    ----------
    allowed : ndarray of int64
        Genes that may regulate it.
    odds : ndarray of float, shape (genes,)
        Log-odds of each gene beyond those of any gene.
    signs : ndarray of float, shape (genes, 2)
        Log of twice the probability of falling and of rising with each gene; 0 where nothing is known.
    majorities : float, optional
        Share of majorities among the rules, if something is known of it.
    unknown_cost : float
        Nats that a transition costs a set one of whose genes is unknown there.
    """

    allowed: npt.NDArray[np.int64]
    odds: npt.NDArray[np.float64]
    signs: npt.NDArray[np.float64]
    majorities: float | None = None
    unknown_cost: float = UNKNOWN_COST


@dataclass(frozen=True, eq=False)
class ScoredSets:
    """Sets with the log of prior times marginal likelihood, the best first."""

    sets: tuple[tuple[int, ...], ...]
    scores: npt.NDArray[np.float64]

    def weights(self) -> npt.NDArray[np.float64]:
        """Posterior weight of each set among those scored."""
        values = np.exp(self.scores - self.scores.max())
        normed: npt.NDArray[np.float64] = values / values.sum()
        return normed


def uniform_prior(n_genes: int) -> SetPrior:
    """Every gene may regulate, with either sign."""
    return SetPrior(np.arange(n_genes), np.zeros(n_genes), np.zeros((n_genes, 2)))


def score_tables(target: TargetEvidence, prior: SetPrior, flips: FlipRate) -> ScoreTables:
    """Join the priors and the flip rates into what the kernels read."""
    n = len(prior.allowed)
    priors = [rule_prior(k) for k in range(MOST_INPUTS + 1)]
    sizes = np.full(MOST_INPUTS + 1, -np.inf)
    sizes[: min(n, MOST_INPUTS) + 1] = (np.log(SIZE_PRIOR) - _log_choices(prior.odds[prior.allowed]))[: n + 1]
    with np.errstate(divide="ignore"):
        log_any = np.log([one.any_weight for one in priors])
    return ScoreTables(
        flips.log_likelihood(int(target.units.sum()), target.unit),
        flips.logs(target.unit),
        prior.unknown_cost * target.unit,
        np.concatenate([one.tables for one in priors]),
        _prior_weights(prior.majorities),
        np.cumsum([0] + [len(one.tables) for one in priors]),
        _table_parts(),
        log_any,
        sizes,
        prior.odds,
        prior.signs,
    )


@functools.lru_cache(maxsize=16)
def _prior_weights(majorities: float | None) -> npt.NDArray[np.float64]:
    """Prior of each prototype (rows) with each choice of negated inputs (columns, as many as a size needs)."""
    priors = [rule_prior(k) for k in range(MOST_INPUTS + 1)]
    weights = [one.weights if majorities is None else one.with_majorities(majorities) for one in priors]
    return np.concatenate([np.pad(one, ((0, 0), (0, (1 << MOST_INPUTS) - one.shape[1]))) for one in weights])


@functools.cache
def _table_parts() -> TableParts:
    """Find the distinct halves of the prototypes of each number of inputs, and the distinct quarters of these."""
    tables = [[int(table) for table in rule_prior(k).tables] for k in range(MOST_INPUTS + 1)]
    halves = [_distinct_parts(tables[k], 1 << k) for k in range(MOST_INPUTS + 1)]
    quarters = [_distinct_parts(halves[k], 1 << (k - 1)) if k > 3 else [] for k in range(MOST_INPUTS + 1)]

    def numbers(wholes: list[list[int]], parts: list[list[int]], cells: int, high: bool) -> npt.NDArray[np.int64]:
        found = []
        for k, (some, few) in enumerate(zip(wholes, parts, strict=True)):
            place, half = {part: number for number, part in enumerate(few)}, (1 << k) // cells
            found += [place[one >> half if high else one & ((1 << half) - 1)] if few else 0 for one in some]
        return np.array(found, np.int64)

    return TableParts(
        numbers(tables, halves, 2, False),
        numbers(tables, halves, 2, True),
        numbers(halves, quarters, 4, False),
        numbers(halves, quarters, 4, True),
        np.cumsum([0] + [len(one) for one in halves]),
        np.array([one for some in quarters for one in some], np.uint64),
        np.cumsum([0] + [len(one) for one in quarters]),
    )


def _distinct_parts(tables: list[int], cells: int) -> list[int]:
    """List the distinct halves of truth tables of so many cells; none below eight cells."""
    half = cells >> 1
    return sorted({part for one in tables for part in (one & ((1 << half) - 1), one >> half)}) if cells >= 8 else []


def _log_choices(odds: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Log of the sum over all sets of 0 to 6 genes of the product of their odds: the number of sets, if the odds are even."""
    # Dividing by it lets odds choose between sets of one size without making sets larger.
    sums = np.zeros(MOST_INPUTS + 1)
    sums[0] = 1.0
    for value in np.exp(odds):
        sums[1:] += value * sums[:-1]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(sums))


def search_sets(
    target: TargetEvidence, prior: SetPrior, flips: FlipRate, watch: WorkWatch | None = None, *, most_inputs: int = MOST_INPUTS
) -> ScoredSets:
    """Find the sets with the highest scores."""
    watch = WorkWatch() if watch is None else watch
    packed, tables = pack_target(target), score_tables(target, prior, flips)
    levels = [_level(packed, tables, np.zeros((1, MOST_INPUTS), np.int64), 0, -np.inf)]
    for size in range(1, min(3, most_inputs, len(prior.allowed)) + 1):
        levels.append(_scan(packed, tables, _candidates(prior, levels, size), size, _floor(levels), watch))
    for size in range(4, min(most_inputs, len(prior.allowed)) + 1):
        if watch.stop("sets", size, None) or _behind(levels):
            break
        grown = _extensions(levels[-1], prior.allowed, size)
        sets = np.array(sorted(grown), np.int64).reshape(-1, size)
        levels.append(_level(packed, tables, sets, size, _floor(levels, IMPROBABLE if size > 4 else NEGLIGIBLE), watch))
    return _joined(levels)


def _behind(levels: list[TopSets]) -> bool:
    """Whether the largest sets so far are improbable beside smaller ones, so that still larger ones are too."""
    bests = [float(level.scores[: level.state[0]].max(initial=-np.inf)) for level in levels]
    return len(levels) > 4 and bests[-1] < max(bests) - IMPROBABLE


def _floor(levels: list[TopSets], behind: float = NEGLIGIBLE) -> float:
    return max(float(level.scores[: level.state[0]].max(initial=-np.inf)) for level in levels) - behind


def _level(
    packed: PackedTarget,
    tables: ScoreTables,
    sets: npt.NDArray[np.int64],
    size: int,
    floor: float,
    watch: WorkWatch | None = None,
) -> TopSets:
    top = TopSets(np.full((KEPT, MOST_INPUTS), -1, np.int64), np.full(KEPT, -np.inf), np.zeros(2, np.int64))
    for start in range(0, len(sets), AT_ONCE):
        if start and watch is not None and watch.stop("sets", start, len(sets)):
            break
        score_sets(packed, tables, np.ascontiguousarray(sets[start : start + AT_ONCE]), size, floor, top)
    return top


def _scan(
    packed: PackedTarget, tables: ScoreTables, candidates: npt.NDArray[np.int64], size: int, floor: float, watch: WorkWatch
) -> TopSets:
    top = TopSets(np.full((KEPT, MOST_INPUTS), -1, np.int64), np.full(KEPT, -np.inf), np.zeros(2, np.int64))
    for first in range(len(candidates) - size + 1):
        if watch.stop("sets", first, len(candidates)):
            break
        best = top.scores[: top.state[0]].max(initial=-np.inf)
        scan_from(packed, tables, candidates, first, size, max(floor, best - NEGLIGIBLE), top)
    return top


def _candidates(prior: SetPrior, levels: list[TopSets], size: int) -> npt.NDArray[np.int64]:
    """Genes to combine: all, or for triples those that stand in the best pairs where there are very many."""
    if size < 3 or len(prior.allowed) <= MOST_TRIPLED:
        return prior.allowed
    ranked = [gene for level in reversed(levels[1:]) for one in _listed(level) for gene in one[0]]
    return np.array(sorted(list(dict.fromkeys(ranked))[:MOST_TRIPLED]), np.int64)


def _listed(level: TopSets) -> list[tuple[tuple[int, ...], float]]:
    """List the sets of a level, the best first; equal scores in the order of the genes."""
    count = int(level.state[0])
    found = [
        (tuple(gene for gene in genes if gene >= 0), score)
        for genes, score in zip(level.sets[:count].tolist(), level.scores[:count].tolist(), strict=True)
    ]
    return sorted(found, key=lambda one: (-one[1], one[0]))


def _extensions(level: TopSets, allowed: npt.NDArray[np.int64], size: int) -> set[tuple[int, ...]]:
    """Make sets with one gene more than the best of the level below."""
    return {
        tuple(sorted((*genes, gene)))
        for genes, _ in _listed(level)[: max(4, GROWN[size] // len(allowed))]
        for gene in allowed.tolist()
        if gene not in genes and len(genes) == size - 1
    }


def _joined(levels: list[TopSets]) -> ScoredSets:
    found = sorted((one for level in levels for one in _listed(level)), key=lambda one: (-one[1], one[0]))
    return ScoredSets(tuple(genes for genes, _ in found), np.array([score for _, score in found]))
