"""Search for the regulator sets of one target: all sets of up to three genes, then a beam to six."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gradus._core.run import Progress, Run
from gradus.genes._evidence import FlipRate, TargetEvidence, pack_target
from gradus.genes._rule_prior import MOST_INPUTS, rule_prior
from gradus.genes._set_kernel.arrays import PackedTarget, ScoreTables, TableParts, TopSets
from gradus.genes._set_kernel.scan import scan_from, score_sets

__all__ = ["SIZE_PRIOR", "UNKNOWN_COST", "ScoredSets", "SetPrior", "score_tables", "search_sets"]

SIZE_PRIOR = (0.03, 0.12, 0.21, 0.21, 0.20, 0.14, 0.09)
"""Prior probability of 0 to 6 regulators, about what published models have."""
SETS_KEPT, SETS_TRIED = 400, {4: 2500, 5: 1000, 6: 350}
"""Sets of each size that are kept; sets of four, five and six genes that are tried, about, grown from the best below."""
NATS_BOUNDED, NATS_GROWN = 7.0, 3.0
"""Sets less probable than the best by the first are bounded, not summed; if all sets of a size are so by the second, no larger
ones are tried."""
UNKNOWN_COST = 0.2
"""What a transition usually costs a set one of whose genes is unknown there: in about a third of the cells the next value
goes with that gene, and is then a coin toss."""
GENES_IN_TRIPLES = 100
"""All triples are scored among this many genes at most: the best by themselves and in pairs."""
SETS_PER_CALL = 64
"""Sets that are scored before the clock is looked at again."""


@dataclass(frozen=True, eq=False)
class SetPrior:
    """What is believed about the regulators of one target before the data."""

    allowed: npt.NDArray[np.int64]
    """Genes that may regulate it."""
    odds: npt.NDArray[np.float64]
    """Log-odds of each gene beyond those of any gene."""
    signs: npt.NDArray[np.float64]
    """Log of twice the probability of falling and of rising with each gene, shape (genes, 2); 0 where nothing is known."""
    majorities: float | None = None
    """Share of majorities among the rules, if something is known of it."""
    unknown_cost: float = UNKNOWN_COST
    """Nats that a transition costs a set one of whose genes is unknown there."""


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


def score_tables(target: TargetEvidence, prior: SetPrior, flips: FlipRate) -> ScoreTables:
    """Join the priors and the flip rates into what the kernels read."""
    n = len(prior.allowed)
    priors = [rule_prior(k) for k in range(MOST_INPUTS + 1)]
    sizes = np.full(MOST_INPUTS + 1, -np.inf)
    sizes[: min(n, MOST_INPUTS) + 1] = (np.log(SIZE_PRIOR) - _log_choices(prior.odds[prior.allowed]))[: n + 1]
    with np.errstate(divide="ignore"):
        log_any = np.log([rules.any_weight for rules in priors])
    return ScoreTables(
        flips.log_likelihood(int(target.units.sum()), target.unit),
        flips.logs(target.unit),
        prior.unknown_cost * target.unit,
        np.concatenate([rules.tables for rules in priors]),
        _prior_weights(prior.majorities),
        np.cumsum([0] + [len(rules.tables) for rules in priors]),
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
    weights = [rules.weights if majorities is None else rules.with_majorities(majorities) for rules in priors]
    return np.concatenate([np.pad(table, ((0, 0), (0, (1 << MOST_INPUTS) - table.shape[1]))) for table in weights])


@functools.cache
def _table_parts() -> TableParts:
    """Find the distinct halves of the prototypes of each number of inputs, and the distinct quarters of these."""
    tables = [[int(table) for table in rule_prior(k).tables] for k in range(MOST_INPUTS + 1)]
    halves = [_distinct_parts(tables[k], 1 << k) for k in range(MOST_INPUTS + 1)]
    quarters = [_distinct_parts(halves[k], 1 << (k - 1)) if k > 3 else [] for k in range(MOST_INPUTS + 1)]

    def numbers(wholes: list[list[int]], parts: list[list[int]], cells: int, high: bool) -> npt.NDArray[np.int64]:
        """Return the number of the low or high part of each whole."""
        places = []
        for k, known in enumerate(parts):
            place, half = {part: number for number, part in enumerate(known)}, (1 << k) // cells
            for whole in wholes[k]:
                places.append(place[whole >> half if high else whole & ((1 << half) - 1)] if known else 0)
        return np.array(places, np.int64)

    return TableParts(
        numbers(tables, halves, 2, False),
        numbers(tables, halves, 2, True),
        numbers(halves, quarters, 4, False),
        numbers(halves, quarters, 4, True),
        np.cumsum([0] + [len(parts) for parts in halves]),
        np.array([part for parts in quarters for part in parts], np.uint64),
        np.cumsum([0] + [len(parts) for parts in quarters]),
    )


def _distinct_parts(tables: list[int], cells: int) -> list[int]:
    """List the distinct halves of truth tables with a number of cells; none below eight cells."""
    half = cells >> 1
    return sorted({part for table in tables for part in (table & ((1 << half) - 1), table >> half)}) if cells >= 8 else []


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
    target: TargetEvidence, prior: SetPrior, flips: FlipRate, run: Run, *, most_inputs: int = MOST_INPUTS
) -> ScoredSets:
    """Find the sets with the highest scores."""
    packed, tables = pack_target(target), score_tables(target, prior, flips)
    levels = [_score_all(packed, tables, np.zeros((1, MOST_INPUTS), np.int64), 0, -np.inf, run)]
    for size in range(1, min(3, most_inputs, len(prior.allowed)) + 1):
        levels.append(_scan(packed, tables, _candidates(prior, levels, size), size, max(map(_best, levels)), run))
    for size in range(4, min(most_inputs, len(prior.allowed)) + 1):
        best = max(map(_best, levels))
        grown_in_vain = size > 4 and _best(levels[-1]) < best - NATS_GROWN
        if run.stop(Progress(stage="sets", done=size)) or grown_in_vain:
            break
        sets = np.array(sorted(_extensions(levels[-1], prior.allowed, size)), np.int64).reshape(-1, size)
        floor = best - (NATS_GROWN if size > 4 else NATS_BOUNDED)
        levels.append(_score_all(packed, tables, sets, size, floor, run))
    ranked = _ranked([pair for level in levels for pair in _listed(level)])
    return ScoredSets(tuple(genes for genes, _ in ranked), np.array([score for _, score in ranked]))


def _empty_top() -> TopSets:
    return TopSets(np.full((SETS_KEPT, MOST_INPUTS), -1, np.int64), np.full(SETS_KEPT, -np.inf), np.zeros(2, np.int64))


def _best(level: TopSets) -> float:
    return float(level.scores[: level.state[0]].max(initial=-np.inf))


def _score_all(
    packed: PackedTarget, tables: ScoreTables, sets: npt.NDArray[np.int64], size: int, floor: float, run: Run
) -> TopSets:
    top = _empty_top()
    for start in range(0, len(sets), SETS_PER_CALL):
        if start and run.stop(Progress(stage="sets", done=start, total=len(sets))):
            break
        score_sets(packed, tables, np.ascontiguousarray(sets[start : start + SETS_PER_CALL]), size, floor, top)
    return top


def _scan(
    packed: PackedTarget, tables: ScoreTables, candidates: npt.NDArray[np.int64], size: int, best: float, run: Run
) -> TopSets:
    top = _empty_top()
    for first in range(len(candidates) - size + 1):
        if run.stop(Progress(stage="sets", done=first, total=len(candidates))):
            break
        scan_from(packed, tables, candidates, first, size, max(best, _best(top)) - NATS_BOUNDED, top)
    return top


def _candidates(prior: SetPrior, levels: list[TopSets], size: int) -> npt.NDArray[np.int64]:
    """Genes to combine: all, or for triples those in the best pairs where there are very many."""
    if size < 3 or len(prior.allowed) <= GENES_IN_TRIPLES:
        return prior.allowed
    ranked = [gene for level in reversed(levels[1:]) for genes, _ in _listed(level) for gene in genes]
    return np.array(sorted(list(dict.fromkeys(ranked))[:GENES_IN_TRIPLES]), np.int64)


def _ranked(sets: list[tuple[tuple[int, ...], float]]) -> list[tuple[tuple[int, ...], float]]:
    """Return sets with the best first; equal scores in the order of the genes."""
    return sorted(sets, key=lambda scored: (-scored[1], scored[0]))


def _listed(level: TopSets) -> list[tuple[tuple[int, ...], float]]:
    """List the sets of a level with their scores, the best first."""
    count = int(level.state[0])
    pairs = zip(level.sets[:count].tolist(), level.scores[:count].tolist(), strict=True)
    return _ranked([(tuple(gene for gene in genes if gene >= 0), score) for genes, score in pairs])


def _extensions(level: TopSets, allowed: npt.NDArray[np.int64], size: int) -> set[tuple[int, ...]]:
    """Make sets with one gene more than the best of the level below."""
    return {
        tuple(sorted((*genes, gene)))
        for genes, _ in _listed(level)[: max(4, SETS_TRIED[size] // len(allowed))]
        for gene in allowed.tolist()
        if gene not in genes and len(genes) == size - 1
    }
