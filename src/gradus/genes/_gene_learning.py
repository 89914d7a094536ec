"""`learn_genes`: from series to a `GeneModel`, with the flip rate estimated from all genes together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradus._core.checks import check_time_limit
from gradus._core.run import Callback
from gradus.genes._edge_prior import EdgeBelief, EdgePrior, busy_odds, usual_majorities, usual_signs
from gradus.genes._evidence import UNKNOWN, Evidence, GeneSeries, gather_evidence
from gradus.genes._free_run import most_frequent, trusted_genes
from gradus.genes._gene_model import GeneModel, Unexplained
from gradus.genes._level_prior import level_odds
from gradus.genes._noise_model import NOISELESS, FlipRate, flip_rate, pooled_rate
from gradus.genes._posterior import TargetPosterior, target_posterior
from gradus.genes._repair import SuspectCells, find_suspects
from gradus.genes._rule_prior import MOST_INPUTS
from gradus.genes._set_search import UNKNOWN_COST, SetPrior, search_sets
from gradus.genes._work_watch import WorkWatch

__all__ = ["learn_genes"]

QUICK_INPUTS = 3
QUICK_SETS = 20
"""Sets of a gene whose signs count in the passes before the last."""
REPAIRS = 4
"""Rounds of repair at most; they end once no value changes."""
LEAST_FLIPS = 0.002
SURELY_NOISY = 0.06
"""Above this rate it is not tried whether the data are free of errors."""
STRONG_EVIDENCE = 3.0
"""A gene whose allowed regulators are this many nats worse than any is reported."""


@dataclass(frozen=True, eq=False)
class _Learned:
    targets: tuple[TargetPosterior, ...]
    flips: FlipRate
    priors: tuple[SetPrior, ...]

    @property
    def log_evidence(self) -> float:
        return float(sum(one.sets[0].score for one in self.targets))


def learn_genes(
    series: Evidence | Sequence[GeneSeries],
    *,
    genes: Sequence[str] | None = None,
    prior: Sequence[EdgeBelief] | None = None,
    allow: Mapping[int, Sequence[int]] | None = None,
    forbid: Sequence[tuple[int, int]] | None = None,
    noise: str | float = "auto",
    repair: bool = True,
    time_limit: float | None = None,
    callback: Callback | None = None,
    watch: WorkWatch | None = None,
) -> GeneModel:
    """Learn the rules by which genes follow each other from noisy, incomplete series."""
    flip_rate(noise)  # an invalid setting is reported before any work
    watch = WorkWatch(check_time_limit(time_limit), callback) if watch is None else watch
    seen = series if isinstance(series, Evidence) else gather_evidence(series, genes)
    edges = EdgePrior(len(seen.genes), tuple(prior or ()), dict(allow or {}), tuple(forbid or ()))
    learned = _learn_auto(seen, edges, watch) if noise == "auto" else _learn(seen, edges, flip_rate(noise), 1, watch)
    learned, cells = _with_repair(seen, edges, repair, learned, watch)
    unexplained = _unexplained(seen, edges, learned, watch)
    model = GeneModel(
        seen.genes,
        learned.targets,
        learned.flips,
        most_frequent(seen.series),
        np.ones(len(seen.genes), np.bool_),
        cells.suspects,
        unexplained,
        watch.stopped,
    )
    return replace(model, trusted=trusted_genes(model, seen.series, watch))


def _learn(
    seen: Evidence,
    edges: EdgePrior,
    flips: FlipRate,
    passes: int,
    watch: WorkWatch,
    auto: bool = False,
    unknown_cost: float = UNKNOWN_COST,
) -> _Learned:
    """Learn all genes several times: how busy each regulator is, and with `auto` the flip rate, come from the pass before."""
    n = len(seen.genes)
    base = tuple(replace(edges.of_target(g), unknown_cost=unknown_cost) for g in range(n))
    measured = level_odds(seen.series)
    if measured is not None:
        base = tuple(replace(one, odds=one.odds + measured[g]) for g, one in enumerate(base))
    priors = base
    for once in range(passes + 1):
        last = once == passes
        targets = _pass(seen, priors, flips, MOST_INPUTS if last else QUICK_INPUTS, watch)
        if last or watch.stopped:
            break
        if auto:
            flips = _estimated_rate(targets, edges)
        found = np.array([one.edges for one in targets])
        rising = np.array([one.rising for one in targets])
        rules, majorities = np.array([one.majorities() for one in targets]).T
        priors = tuple(
            replace(
                one,
                odds=one.odds + busy_odds(found, g),
                signs=np.where(one.signs != 0, one.signs, usual_signs(found, rising, g)),
                majorities=usual_majorities(rules, majorities, g),
            )
            for g, one in enumerate(base)
        )
    return _Learned(targets, flips, priors)


def _estimated_rate(targets: Sequence[TargetPosterior], edges: EdgePrior) -> FlipRate:
    """Pool the errors of all genes, or of those that may have any regulator: what a missing regulator leaves is no noise."""
    free = [one for gene, one in enumerate(targets) if not edges.restricts(gene)] or targets
    return pooled_rate(np.array([one.total for one in free]), np.array([one.sets[0].errors for one in free]))


def _pass(
    seen: Evidence, priors: Sequence[SetPrior], flips: FlipRate, most_inputs: int, watch: WorkWatch
) -> tuple[TargetPosterior, ...]:
    targets = []
    for gene, (target, prior) in enumerate(zip(seen.targets, priors, strict=True)):
        watch.stop("sets", gene, len(priors), target=gene)
        found = search_sets(target, prior, flips, watch, most_inputs=most_inputs)
        # Quick passes only need edges with their signs, and the errors of the best rule.
        targets.append(
            target_posterior(target, prior, flips, found, watch, most=80 if most_inputs == MOST_INPUTS else QUICK_SETS)
        )
    return tuple(targets)


def _learn_auto(seen: Evidence, edges: EdgePrior, watch: WorkWatch) -> _Learned:
    """Learn as if the data were clean and with a rate estimated from all genes; the better evidence decides."""
    # Where the best rules have no error even if errors are allowed, the data are clean.
    noisy = _learn(seen, edges, flip_rate("auto"), 2, watch, auto=True)
    if watch.stopped or noisy.flips.rate > SURELY_NOISY:
        return noisy
    clean = _learn(seen, edges, NOISELESS, 1, watch)
    without_error = all(one.sets[0].errors == 0 for one in noisy.targets)
    better = without_error or clean.log_evidence > noisy.log_evidence
    return clean if better and not watch.stopped else noisy


def _with_repair(
    seen: Evidence, edges: EdgePrior, repair: bool, learned: _Learned, watch: WorkWatch
) -> tuple[_Learned, SuspectCells]:
    """Find suspect cells, and learn again from what the rules say instead."""
    # An input flipped spoils a next value about as often as the next value itself, so a cell is flipped half as often.
    rate = max(learned.flips.rate / 2, LEAST_FLIPS / 2)
    cells = find_suspects(seen.series, learned.targets, rate, watch)
    missing = any(bool((one.states == UNKNOWN).any()) for one in seen.series)
    if not repair or (learned.flips.clean and not missing):
        return learned, cells
    for done in range(REPAIRS):
        if watch.stop("repair", done, REPAIRS):
            break
        better = gather_evidence(cells.series, seen.genes)
        again = _learn_again(better, edges, learned, watch)
        if watch.stopped:
            break
        learned = again
        found = find_suspects(seen.series, learned.targets, max(cells.flipped_share, LEAST_FLIPS), watch)
        if watch.stop("repair", done, REPAIRS):
            break
        settled = all((one.states == two.states).all() for one, two in zip(found.series, cells.series, strict=True))
        cells = found
        if settled:
            break
    return learned, cells


def _learn_again(seen: Evidence, edges: EdgePrior, learned: _Learned, watch: WorkWatch) -> _Learned:
    if learned.flips.clean:
        # A value that was filled in may be wrong, so a rule that contradicts one is not ruled out.
        return _learn(seen, edges, flip_rate(0.0), 1, watch)
    # The rate stays as it was estimated: corrected values hide errors, and rules that fit what is left of them would win.
    # Most unknown values were recorded and are merely in doubt, which a set need not pay for.
    return _learn(seen, edges, learned.flips, 1, watch, unknown_cost=0.0)


def _unexplained(seen: Evidence, edges: EdgePrior, learned: _Learned, watch: WorkWatch) -> tuple[Unexplained, ...]:
    """Genes that the allowed regulators explain much worse than others would, with the strength of the evidence."""
    found = []
    for gene, (target, posterior) in enumerate(zip(seen.targets, learned.targets, strict=True)):
        if not edges.restricts(gene) or watch.stop("allowed", gene, len(seen.targets), target=gene):
            continue
        free = search_sets(target, edges.of_target(gene, free=True), learned.flips, watch, most_inputs=QUICK_INPUTS)
        gain = float(free.scores[0]) - posterior.sets[0].score
        if gain > STRONG_EVIDENCE:
            found.append(Unexplained(seen.genes[gene], gain, tuple(seen.genes[i] for i in free.sets[0])))
    return tuple(found)
