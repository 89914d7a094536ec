"""`learn_genes`: from series to a `GeneModel`, and how well what it learns predicts series that were left out."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gradus._core.run import Progress, Run
from gradus.errors import DataError
from gradus.genes._edges import EdgePrior, expected_majorities, expected_signs, hub_odds, level_odds
from gradus.genes._model import GeneModel, Unexplained, free_run_matches, most_frequent, trusted_genes
from gradus.genes._posterior import SETS_AVERAGED, TargetPosterior, search_sets, target_posterior
from gradus.genes._priors import MOST_INPUTS, NOISELESS, FlipRate, SetPrior, flip_rate, pooled_rate
from gradus.genes._repair import SuspectCells, find_suspects
from gradus.genes._series import UNKNOWN, Series
from gradus.genes._transitions import TargetEvidence, gather_evidence

__all__ = ["Fold", "GeneScore", "SeriesScores", "experiments", "learn_genes", "leave_series_out", "series_folds"]

QUICK_INPUTS, QUICK_SETS = 3, 20
"""Largest sets, and sets of a gene whose signs count, in the passes before the last."""
MOST_REPAIRS = 4
"""Rounds of repair at most; they end once no value changes."""
LEAST_FLIPS = 0.002
NOISY_RATE = 0.06
"""Above this rate it is not tried whether the data are free of errors."""
UNEXPLAINED_FROM = 3.0
"""A gene is reported whose allowed regulators are less probable than others by this much (in nats)."""
MOST_BLOCKS = 10
Targets = Sequence[TargetEvidence]
KINDS = ("one_step", "free_run", "constant", "persistence", "persistent_run")


@dataclass(frozen=True, eq=False)
class _Learned:
    """The posterior of every gene, and what it was computed with."""

    targets: tuple[TargetPosterior, ...]
    flips: FlipRate

    @property
    def log_evidence(self) -> float:
        """Log evidence of the best sets."""
        return float(sum(target.sets[0].score for target in self.targets))


def learn_genes(
    series: Sequence[Series], edges: EdgePrior | None = None, noise: str | float = "auto", *, run: Run
) -> GeneModel:
    """Learn the rules by which genes follow each other from noisy, incomplete series, prepared by `recorded`."""
    first_rate = flip_rate(noise)  # an invalid setting is reported before any work
    genes, evidence = series[0].genes, gather_evidence(series)
    edges = EdgePrior(genes) if edges is None else edges
    priors = [edges.of_target(gene) for gene in range(len(genes))]
    measured = level_odds(series)
    if measured is not None:
        priors = [replace(prior, odds=prior.odds + odds) for prior, odds in zip(priors, measured, strict=True)]
    learned = _learn_auto(evidence, priors, run) if noise == "auto" else _learn(evidence, priors, first_rate, 1, run)
    learned, cells = _with_repair(series, priors, learned, run)
    model = GeneModel(
        genes=genes,
        targets=learned.targets,
        flips=learned.flips,
        constants=most_frequent(series),
        trusted=np.ones(len(genes), np.bool_),
        suspects=cells.suspects,
        unexplained=_unexplained(evidence, edges, learned, run),
        stopped=run.stopped,
    )
    return replace(model, trusted=trusted_genes(model, series, run))


def _learn(
    evidence: Targets, base: Sequence[SetPrior], flips: FlipRate, passes: int, run: Run, *, estimate: bool = False
) -> _Learned:
    """Learn all genes several times: which regulators are hubs and, if asked, the flip rate come from the pass before."""
    priors = base
    for _ in range(passes):
        targets = _pass(evidence, priors, flips, run, quick=True)
        if run.stopped:
            return _Learned(targets, flips)
        if estimate:
            # Errors of genes that may have any regulator: what a missing regulator leaves is no noise.
            free = [target for target, prior in zip(targets, base, strict=True) if not prior.restricted] or targets
            errors = np.array([target.sets[0].errors for target in free])
            flips = pooled_rate(np.array([target.total for target in free]), errors)
        priors = _expecting(base, targets)
    return _Learned(_pass(evidence, priors, flips, run), flips)


def _expecting(base: Sequence[SetPrior], targets: Sequence[TargetPosterior]) -> list[SetPrior]:
    """Add to the prior of each gene what follows from the other genes about regulators, signs and majorities."""
    probabilities = np.array([target.edges for target in targets])
    rising = np.array([target.rising for target in targets])
    rules, majorities = np.array([target.majorities() for target in targets]).T
    return [
        replace(
            prior,
            odds=prior.odds + hub_odds(probabilities, gene),
            signs=np.where(prior.signs != 0, prior.signs, expected_signs(probabilities, rising, gene)),
            majorities=expected_majorities(rules, majorities, gene),
        )
        for gene, prior in enumerate(base)
    ]


def _pass(
    evidence: Targets, priors: Sequence[SetPrior], flips: FlipRate, run: Run, *, quick: bool = False
) -> tuple[TargetPosterior, ...]:
    # Quick passes only need edges with their signs, and the errors of the best rule.
    most_inputs, most = (QUICK_INPUTS, QUICK_SETS) if quick else (MOST_INPUTS, SETS_AVERAGED)
    targets = []
    for gene, (target, prior) in enumerate(zip(evidence, priors, strict=True)):
        run.stop(Progress(stage="sets", done=gene, total=len(priors), target=gene))
        scored = search_sets(target, prior, flips, run, most_inputs=most_inputs)
        targets.append(target_posterior(scored, run, most=most))
    return tuple(targets)


def _learn_auto(evidence: Targets, priors: Sequence[SetPrior], run: Run) -> _Learned:
    """Learn as if the data were clean and with a rate estimated from all genes; the better evidence decides."""
    # Where the best rules have no error even if errors are allowed, the data are clean.
    noisy = _learn(evidence, priors, flip_rate("auto"), 2, run, estimate=True)
    if run.stopped or noisy.flips.rate > NOISY_RATE:
        return noisy
    clean = _learn(evidence, priors, NOISELESS, 1, run)
    without_error = all(target.sets[0].errors == 0 for target in noisy.targets)
    better = without_error or clean.log_evidence > noisy.log_evidence
    return clean if better and not run.stopped else noisy


def _with_repair(
    series: Sequence[Series], priors: Sequence[SetPrior], learned: _Learned, run: Run
) -> tuple[_Learned, SuspectCells]:
    """Find suspect cells, and learn again with the values of the rules in their place, until no value changes."""
    # An input flipped spoils a next value about as often as the next value itself, so a cell is flipped half as often.
    rate = max(learned.flips.rate / 2, LEAST_FLIPS / 2)
    cells = find_suspects(series, learned.targets, rate, run)
    if learned.flips.clean and not any((single.codes == UNKNOWN).any() for single in series):
        return learned, cells
    # Where the data are clean, a value that was filled in may be wrong, so a rule that contradicts one is not ruled out. Else
    # the rate stays as it was estimated: corrected values hide errors, and rules that fit what is left of them would win; and
    # most unknown values were recorded and are merely in doubt, which a set need not pay for.
    flips = flip_rate(0.0) if learned.flips.clean else learned.flips
    free = priors if learned.flips.clean else [replace(prior, unknown_cost=0.0) for prior in priors]
    for done in range(MOST_REPAIRS):
        progress = Progress(stage="repair", done=done, total=MOST_REPAIRS)
        if run.stop(progress):
            break
        again = _learn(gather_evidence(cells.series), free, flips, 1, run)
        if run.stopped:
            break
        learned, before = again, cells.series
        repaired = find_suspects(series, learned.targets, max(cells.flipped_share, LEAST_FLIPS), run)
        if run.stop(progress):
            break
        cells = repaired
        if all(np.array_equal(new.codes, old.codes) for new, old in zip(cells.series, before, strict=True)):
            break
    return learned, cells


def _unexplained(evidence: Targets, edges: EdgePrior, learned: _Learned, run: Run) -> tuple[Unexplained, ...]:
    """Genes that the allowed regulators explain much worse than others would, with the strength of the evidence."""
    unexplained = []
    for gene, (target, posterior) in enumerate(zip(evidence, learned.targets, strict=True)):
        progress = Progress(stage="allowed", done=gene, total=len(evidence), target=gene)
        if not edges.of_target(gene).restricted or run.stop(progress):
            continue
        free = search_sets(target, edges.of_target(gene, free=True), learned.flips, run, most_inputs=QUICK_INPUTS)
        gain = float(free.scores[0]) - posterior.sets[0].score
        if gain > UNEXPLAINED_FROM:
            unexplained.append(Unexplained(edges.genes[gene], gain, tuple(edges.genes[i] for i in free.genes(0))))
    return tuple(unexplained)


@dataclass(frozen=True)
class GeneScore:
    """How well one gene of left-out series is predicted; shares of the known values, NaN where there are none."""

    gene: str
    one_step: float
    free_run: float
    """From the state before, and from the first state of the series alone."""
    constant: float
    persistence: float
    persistent_run: float
    """The most frequent value; the value before; the first value of the series."""
    scored: int
    """Known next values."""

    @property
    def learned(self) -> bool:
        """Whether the rule beats both the constant and persistence from one step to the next, or is always right."""
        return self.one_step > max(self.constant, self.persistence) or self.one_step == 1.0


@dataclass(frozen=True, eq=False)
class SeriesScores:
    """Scores of each gene, and their means over all known values."""

    genes: tuple[GeneScore, ...]
    overall: GeneScore
    parts: int
    """How many parts of the data were left out in turn."""
    whole_series: bool
    """Whether these were whole series; a single series is cut into blocks instead."""
    stopped: str | None
    """Why scoring ended early; what was scored by then counts."""

    @property
    def not_learned(self) -> tuple[str, ...]:
        """Genes that their rules predict no better than constant or persistence."""
        return tuple(score.gene for score in self.genes if not score.learned)


@dataclass(frozen=True, eq=False)
class Fold:
    """Series to predict, and those to learn from."""

    name: str
    left_out: tuple[Series, ...]
    rest: tuple[Series, ...]


def experiments(series: Sequence[Series]) -> list[str]:
    """Name the experiment of each series; those without any name are experiments of their own."""
    return [
        single.experiment or (f"{single.name} {number}" if single.name == "series" else single.name)
        for number, single in enumerate(series, start=1)
    ]


def series_folds(series: Sequence[Series]) -> tuple[tuple[Fold, ...], bool]:
    """Parts of the data to leave out in turn, and whether they are whole series."""
    # Series of one experiment are left out together. Where there is only one, each of up to ten blocks of its transitions is
    # left out. Steady states are always learned from.
    pairs = list(zip(experiments(series), series, strict=True))
    groups = list(dict.fromkeys(name for name, single in pairs if not single.steady))
    if len(groups) < 2:
        return tuple(_block_folds(series)), False
    folds = []
    for group in groups:
        left_out = tuple(single for name, single in pairs if name == group and not single.steady)
        folds.append(Fold(group, left_out, tuple(single for name, single in pairs if name != group or single.steady)))
    return tuple(folds), True


def _block_folds(series: Sequence[Series]) -> Iterator[Fold]:
    steady, runs = [single for single in series if single.steady], [single for single in series if not single.steady]
    longest = max((len(single.states) - 1 for single in runs), default=0)
    edges = np.unique(np.linspace(0, longest, min(longest, MOST_BLOCKS) + 1).round().astype(int)).tolist()
    for first, last in itertools.pairwise(edges):
        # Replicates are cut at the same places, so that no replicate shows the block that is left out.
        out = [single.part(first, last + 1) for single in runs]
        rest = [part for single in runs for part in (single.part(0, first + 1), single.part(last, len(single.states)))]
        kept = steady + [part for part in rest if len(part.states) > 1]
        if kept:
            yield Fold(f"steps {first + 1} to {last}", tuple(part for part in out if len(part.states) > 1), tuple(kept))


def leave_series_out(
    series: Sequence[Series], edges: EdgePrior | None = None, noise: str | float = "auto", *, run: Run
) -> SeriesScores:
    """Learn without each series in turn and predict it; a single series is cut into blocks, see `series_folds`."""
    folds, whole_series = series_folds(series)
    if not folds:
        raise DataError("Leaving something out needs at least two transitions.")
    genes = series[0].genes
    right, scored = {kind: np.zeros(len(genes), np.int64) for kind in KINDS}, np.zeros(len(genes), np.int64)
    parts = 0
    for done, fold in enumerate(folds):
        progress = Progress(stage="left out", done=done, total=len(folds), detail=fold.name)
        if run.stop(progress):
            break

        def described(_: Progress, part: Progress = progress) -> Progress:
            return part

        model = learn_genes(fold.rest, edges, noise, run=run.part(describe=described))
        if run.stopped:
            break
        for single in fold.left_out:
            scored += _add(right, model, single)
        parts += 1
    scores = tuple(
        _score(gene, {kind: int(counts[place]) for kind, counts in right.items()}, int(scored[place]))
        for place, gene in enumerate(genes)
    )
    overall = _score("all", {kind: int(counts.sum()) for kind, counts in right.items()}, int(scored.sum()))
    return SeriesScores(scores, overall, parts, whole_series, run.stopped)


def _add(right: dict[str, npt.NDArray[np.int64]], model: GeneModel, single: Series) -> npt.NDArray[np.int64]:
    """Add what each way of predicting gets right in one series; return how many values of each gene were compared."""
    if single.steady or len(single.codes) < 2:
        return np.zeros(len(single.genes), np.int64)
    now, then = single.codes[:-1], single.codes[1:] == 1
    filled = np.where(now == UNKNOWN, model.constants, now == 1)
    matches, known = free_run_matches(model, [single])[0]
    right["free_run"] += matches.sum(axis=0)
    guesses = {"one_step": model.predict(filled), "constant": model.constants}
    guesses |= {"persistence": filled, "persistent_run": filled[:1]}
    for kind, guess in guesses.items():
        right[kind] += ((guess == then) & known).sum(axis=0)
    return np.asarray(known.sum(axis=0), np.int64)


def _score(gene: str, right: dict[str, int], scored: int) -> GeneScore:
    shares = {kind: count / scored if scored else float("nan") for kind, count in right.items()}
    return GeneScore(gene=gene, scored=scored, **shares)
