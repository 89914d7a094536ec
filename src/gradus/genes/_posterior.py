"""Posterior of one target: its regulator sets are searched and ranked, each with its best rule, signs and votes.

All sets of up to three genes are scored, then a beam to six. `tolerant_feature_sets` does it for any columns and any target.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._core.bits import as_bits
from gradus._core.cells import number_in
from gradus._core.checks import check_count, check_time_limit
from gradus._core.run import Callback, Progress, Run
from gradus.errors import DataError, SettingsError
from gradus.genes._edges import sign_odds
from gradus.genes._priors import MOST_INPUTS, FlipRate, SetPrior, flip_rate, is_majority, pooled_rate, score_tables
from gradus.genes._scan_kernel import Rules, cell_probabilities, scan_from, score_sets, vote
from gradus.genes._series import UNKNOWN, Codes
from gradus.genes._set_kernel import MOST_CELLS, Floats, PackedSets, PackedTarget, ScoreTables, TopSets, count_cells
from gradus.genes._transitions import TargetEvidence, pack_target

__all__ = [
    "NATS_GROWN",
    "RankedSet",
    "TargetPosterior",
    "TolerantSets",
    "ranked_set",
    "search_sets",
    "target_posterior",
    "tolerant_feature_sets",
]

SETS_KEPT, SETS_TRIED = 400, {4: 2500, 5: 1000, 6: 350}
"""Sets of each size that are kept; sets of four, five and six genes that are tried, about, grown from the best below."""
NATS_BOUNDED, NATS_GROWN = 7.0, 3.0
"""Sets less probable than the best by the first are bounded, not summed; if all sets of a size are so by the second, no larger
ones are tried."""
GENES_IN_TRIPLES = 100
"""All triples are scored among this many genes at most: the best by themselves and in pairs."""
SETS_PER_CALL = 64
"""Sets that are scored between two readings of the clock."""
SHARE_AVERAGED, SETS_AVERAGED = 0.998, 80
"""Sets that hold this share of the posterior are averaged, and at most this many."""
WEIGHT_UNITS = 16
"""Weights that are not whole numbers are rounded to this part of one."""
SURE_SIGN = 0.999
"""Probability of a sign that is given as known."""


@dataclass(frozen=True, eq=False)
class ScoredSets:
    """Sets with the log of prior times marginal likelihood, the best first."""

    sets: npt.NDArray[np.int64]
    """A row of genes for each, -1 after the last."""
    scores: npt.NDArray[np.float64]
    packed: PackedTarget
    tables: ScoreTables
    unit: float
    """What they were scored with, and what a unit of weight is."""

    def genes(self, number: int) -> tuple[int, ...]:
        """Return the genes of one set."""
        return tuple(gene for gene in self.sets[number].tolist() if gene >= 0)

    def masses(self) -> npt.NDArray[np.float64]:
        """Prior times marginal likelihood of each set, relative to the best one's."""
        return np.asarray(np.exp(self.scores - self.scores.max()))

    def summed(self, sets: Sequence[tuple[int, ...]]) -> npt.NDArray[np.float64]:
        """Return the same of other sets, of one size and at most `SETS_KEPT`, in their order."""
        size, rows = len(sets[0]), np.zeros((len(sets), MOST_INPUTS), np.int64)
        rows[:, :size] = sets
        top = _score_all(self.packed, self.tables, rows, size, -np.inf, Run())
        return np.asarray(np.exp(top.scores[: len(sets)] - self.scores.max()))

    def weights(self) -> npt.NDArray[np.float64]:
        """Posterior weight of each set among those scored."""
        masses = self.masses()
        return np.asarray(masses / masses.sum())


def search_sets(
    target: TargetEvidence, prior: SetPrior, flips: FlipRate, run: Run, *, most_inputs: int = MOST_INPUTS
) -> ScoredSets:
    """Find the sets with the highest scores."""
    packed = pack_target(target)
    tables = score_tables(prior, flips, packed.total, target.unit)
    levels = [_score_all(packed, tables, np.zeros((1, MOST_INPUTS), np.int64), 0, -np.inf, run)]
    for size in range(1, min(3, most_inputs, len(prior.allowed)) + 1):
        levels.append(_scan(packed, tables, _candidates(prior, levels, size), size, max(map(_best, levels)), run))
    for size in range(4, min(most_inputs, len(prior.allowed)) + 1):
        best = max(map(_best, levels))
        grown_in_vain = size > 4 and _best(levels[-1]) < best - NATS_GROWN
        if run.stop(Progress(stage="sets", done=size)) or grown_in_vain:
            break
        sets = _extensions(levels[-1], prior.allowed, size)
        floor = best - (NATS_GROWN if size > 4 else NATS_BOUNDED)
        levels.append(_score_all(packed, tables, sets, size, floor, run))
    sets, scores = (np.concatenate(parts) for parts in zip(*map(_listed, levels), strict=True))
    return ScoredSets(*_ranked(sets, scores), packed, tables, target.unit)


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
    ranked = [gene for level in reversed(levels[1:]) for gene in _listed(level)[0].ravel().tolist() if gene >= 0]
    return np.array(sorted(list(dict.fromkeys(ranked))[:GENES_IN_TRIPLES]), np.int64)


def _ranked(sets: npt.NDArray[np.int64], scores: Floats) -> tuple[npt.NDArray[np.int64], Floats]:
    """Return sets and their scores with the best first; equal scores in the order of the genes."""
    order = np.lexsort((*sets.T[::-1], -scores))
    return sets[order], scores[order]


def _listed(level: TopSets) -> tuple[npt.NDArray[np.int64], Floats]:
    """List the sets of a level with their scores, the best first."""
    count = int(level.state[0])
    return _ranked(level.sets[:count], level.scores[:count])


def _extensions(level: TopSets, allowed: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.int64]:
    """Make sets with one gene more than the best of the level below."""
    below = _listed(level)[0][: max(4, SETS_TRIED[size] // len(allowed)), : size - 1]
    pairs = np.column_stack([np.repeat(below, len(allowed), axis=0), np.tile(allowed, len(below))])
    new = pairs[(pairs[:, :-1] != pairs[:, -1:]).all(axis=1)]
    return np.unique(np.sort(new, axis=1), axis=0)


@dataclass(frozen=True, eq=False)
class RankedSet:
    """A regulator set with its posterior."""

    features: tuple[int, ...]
    """Column indices, sorted."""
    weight: float
    """Posterior weight among all sets scored."""
    score: float
    """Log of prior times marginal likelihood."""
    errors: float
    """Weight of the transitions that its best rule gets wrong."""
    table: int
    """The best rule's truth table: bit x is the next value in cell x, and bit i of x is the value of `features[i]`."""
    probabilities: npt.NDArray[np.float64]
    """Probability of a next value 1 in each cell, over all rules of the set; shape (2 ** size,)."""
    rising: tuple[float, ...]
    """Probability that the target rises with each gene."""
    table_share: float
    """Posterior of the best rule among the rules of this set."""


@dataclass(frozen=True, eq=False)
class TargetPosterior:
    """What is known of one target after the data."""

    sets: tuple[RankedSet, ...]
    """The best first; their weights add up to nearly 1."""
    edges: npt.NDArray[np.float64]
    """Posterior probability that each gene is a regulator, over all sets scored; shape (genes,)."""
    rising: npt.NDArray[np.float64]
    """Probability that the target rises with each gene, given that it is a regulator; one half where nothing is known;
    shape (genes,)."""
    total: float
    """Weight of the target's transitions."""
    scored: ScoredSets
    """All sets, with what they were scored with."""

    @property
    def best_rule(self) -> RankedSet:
        """The set whose best rule is the most probable single rule; not always the first set."""
        return max(self.sets, key=lambda ranked: ranked.weight * ranked.table_share)

    def majorities(self) -> tuple[float, float]:
        """Posterior of the best rules of three inputs or more, and of those among them that are majorities."""
        large = [ranked for ranked in self.sets if len(ranked.features) > 2]
        among = [ranked for ranked in large if is_majority(ranked.table, len(ranked.features))]
        shares = [sum(ranked.weight * ranked.table_share for ranked in rules) for rules in (large, among)]
        return shares[0], shares[1]

    def predict_proba(self, states: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
        """Probability of a next value 1 after each state, averaged over sets and rules."""
        votes = np.zeros(len(states))
        vote(np.ascontiguousarray(states), self.packed(len(self.sets)), votes)
        # Rounding may bring the sum a little above 1.
        return np.clip(votes, 0.0, 1.0)

    def packed(self, most: int) -> PackedSets:
        """Return the best sets as the kernels read them, their weights adding up to 1."""
        sets = self.sets[:most]
        features, probabilities = np.zeros((len(sets), MOST_INPUTS), np.int64), np.zeros((len(sets), 1 << MOST_INPUTS))
        for s, ranked in enumerate(sets):
            features[s, : len(ranked.features)] = ranked.features
            probabilities[s, : len(ranked.probabilities)] = ranked.probabilities
        weights, sizes = np.array([ranked.weight for ranked in sets]), np.array([len(ranked.features) for ranked in sets])
        return PackedSets(features, sizes, weights / weights.sum(), probabilities)


def ranked_set(scored: ScoredSets, number: int, weight: float, *, listing: bool = False) -> tuple[RankedSet, Rules]:
    """Describe a set with its best rule; with `listing`, list its rules too."""
    zero, one, ones = np.zeros(MOST_CELLS, np.int64), np.zeros(MOST_CELLS, np.int64), np.zeros(MOST_CELLS)
    genes, tables, rising = scored.genes(number), scored.tables, np.zeros(MOST_INPUTS)
    size, columns = len(genes), np.array(genes, np.int64)
    count_cells(scored.packed, columns, zero, one)
    room = int(tables.start[size + 1] - tables.start[size]) << size if listing else 0
    rules = Rules(np.zeros(1, np.uint64), np.empty(room, np.uint64), np.empty(room), np.zeros(1, np.int64))
    errors, share = cell_probabilities(tables, columns, zero, one, scored.packed.total, ones, rising, rules)
    described = RankedSet(
        features=genes,
        weight=weight,
        score=float(scored.scores[number]),
        errors=float(errors * scored.unit),
        table=int(rules.best[0]),
        probabilities=ones[: 1 << size],
        rising=tuple(rising[:size].tolist()),
        table_share=share,
    )
    return described, rules


def target_posterior(scored: ScoredSets, run: Run, *, most: int = SETS_AVERAGED) -> TargetPosterior:
    """Describe the sets that hold nearly all of the posterior; once the run stops, only the best one."""
    weights = scored.weights()
    n, inside = len(scored.tables.gene_odds), scored.sets >= 0
    edges = np.asarray(
        np.bincount(scored.sets[inside], np.broadcast_to(weights[:, None], inside.shape)[inside], n), np.float64
    )
    rises, listed = np.zeros((2, n))
    count = min(most, int(np.searchsorted(np.cumsum(weights), SHARE_AVERAGED)) + 1, len(weights))
    sets: list[RankedSet] = []
    for number, weight in enumerate(weights[:count].tolist()):
        if sets and run.stop(Progress(stage="rules", done=len(sets), total=count)):
            break
        sets.append(ranked_set(scored, number, weight)[0])
        for gene, probability in zip(sets[-1].features, sets[-1].rising, strict=True):
            rises[gene] += weight * probability
            listed[gene] += weight
    with np.errstate(invalid="ignore", divide="ignore"):
        signs = np.where(listed > 0, rises / listed, 0.5)
    return TargetPosterior(tuple(sets), edges, signs, scored.packed.total * scored.unit, scored)


@dataclass(frozen=True, eq=False)
class TolerantSets:
    """Ranked feature sets of a target."""

    sets: tuple[RankedSet, ...]
    """The best first."""
    features: npt.NDArray[np.float64]
    """Posterior of each column, over all sets."""
    noise: float
    """Expected share of wrong values of the target."""
    stopped: str | None
    """Why the search ended early, if it did: "time_limit" or "callback"."""
    posterior: TargetPosterior

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Probability that the target is 1, averaged over sets and functions."""
        return self.posterior.predict_proba(as_bits(X))


def tolerant_feature_sets(
    X: Any,
    y: Any,
    *,
    weights: Sequence[float] | None = None,
    allowed: Sequence[int] | None = None,
    signs: Mapping[int, int] | None = None,
    noise: str | float = "auto",
    most_inputs: int = MOST_INPUTS,
    time_limit: float | None = None,
    callback: Callback | None = None,
) -> TolerantSets:
    """Find the sets of columns that explain a target up to noise: all sets of up to three, and a beam to six.

    Parameters
    ----------
    X : array-like of shape (n, k)
        0, 1 or missing.
    y : array-like of shape (n,)
        0, 1 or missing; rows without it do not count.
    weights : sequence of float, optional
        The weight of each row, rounded to a sixteenth.
    allowed : sequence of int, optional
        Columns to choose from; all of them if not given.
    signs : mapping of int to int, optional
        Columns with which the target is known to rise (+1) or fall (-1).
    noise : "auto" or float
        Share of wrong values of the target; "auto" weighs several, and takes the data as clean where that explains them
        better.
    most_inputs : int
        Largest set, at most 6.
    time_limit : float, optional
        Seconds; the best so far is returned.
    callback : callable, optional
        Gets a `Progress` several times a second, and stops the work by returning True.

    Returns
    -------
    TolerantSets

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((200, 8)) < 0.5
    >>> y = (X[:, 2] & ~X[:, 5]) ^ (rng.random(200) < 0.05)
    >>> found = tolerant_feature_sets(X, y)
    >>> found.sets[0].features, format(found.sets[0].table, "04b")
    ((2, 5), '0010')
    """
    run = Run(check_time_limit(time_limit), callback)
    target = _evidence(X, y, weights)
    prior = _prior(target.inputs.shape[1], allowed, signs or {})
    most = check_count("most_inputs", most_inputs, most=MOST_INPUTS)
    flips = flip_rate(noise)
    if noise == "auto":
        flips = _estimated(target, prior, flips, most, run)
    scored = search_sets(target, prior, flips, run, most_inputs=most)
    posterior = target_posterior(scored, run)
    return TolerantSets(posterior.sets, posterior.edges, flips.rate, run.stopped, posterior)


def _prior(n: int, allowed: Sequence[int] | None, signs: Mapping[int, int]) -> SetPrior:
    columns = np.arange(n) if allowed is None else np.array(sorted(set(allowed)), np.int64)
    for column in (*columns.tolist(), *signs):
        if not 0 <= column < n:
            raise SettingsError(f"column {column} is named, but X has {n} columns, counted from 0.")
    odds = np.zeros((n, 2))
    for column, sign in signs.items():
        if sign not in (-1, 0, 1):
            raise SettingsError(f"the sign of column {column} is {sign!r}; it must be -1, 0 or 1.")
        odds[column] = sign_odds(sign, SURE_SIGN) if sign else 0.0
    return SetPrior(columns, np.zeros(n), odds)


def _evidence(X: Any, y: Any, weights: Sequence[float] | None) -> TargetEvidence:
    inputs, nexts = _codes(X, "X"), _codes(np.asarray(y, dtype=object).reshape(-1, 1), "y")[:, 0]
    if len(inputs) != len(nexts):
        raise DataError(f"X has {len(inputs)} rows but y has {len(nexts)}.")
    counts = np.ones(len(nexts)) if weights is None else np.asarray(weights, dtype=np.float64)
    if counts.shape != nexts.shape or not (np.isfinite(counts).all() and (counts >= 0).all()):
        raise DataError(f"weights must be {len(nexts)} numbers of at least 0.")
    used = (nexts != UNKNOWN) & (counts > 0)
    whole = bool((counts[used] == np.round(counts[used])).all())
    unit = 1.0 if whole else 1 / WEIGHT_UNITS
    return TargetEvidence(inputs[used], nexts[used], np.round(counts[used] / unit).astype(np.int64), unit)


def _codes(values: Any, what: str) -> Codes:
    """Cells as 0, 1 and 2, which is unknown, for those that are missing or masked."""
    table: npt.NDArray[Any] = np.ma.filled(np.ma.asarray(values, dtype=object), None)
    if table.ndim != 2:
        raise DataError(f"{what} must have rows and columns, but it has {table.ndim} dimensions.")
    codes = [[_code(cell, what, r, c) for c, cell in enumerate(row)] for r, row in enumerate(table)]
    return np.array(codes, np.uint8).reshape(table.shape)


def _code(cell: Any, what: str, row: int, column: int) -> int:
    value = cell if isinstance(cell, bool | int | float | np.bool_) else number_in(str(cell))
    if value in (0, 1):
        return int(value)
    if value is not None and np.isnan(value):
        return UNKNOWN
    raise DataError(f"{what} has the value {cell!r} in row {row}, column {column}; every value must be 0, 1 or missing.")


def _estimated(target: TargetEvidence, prior: SetPrior, first: FlipRate, most: int, run: Run) -> FlipRate:
    """Rate from the errors of the best set, or no errors where an exact explanation is more probable."""
    start = search_sets(target, prior, first, run, most_inputs=min(most, 3))
    errors = target_posterior(start, run, most=1).sets[0].errors
    noisy, clean = pooled_rate(np.array([target.total]), np.array([errors])), flip_rate(0.0)
    if errors == 0 or run.stopped:
        return clean if errors == 0 else noisy
    scores = [search_sets(target, prior, flips, run, most_inputs=most).scores[0] for flips in (noisy, clean)]
    return clean if scores[1] > scores[0] else noisy
