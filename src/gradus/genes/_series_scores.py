"""Whole series left out in turn: one-step and free-run accuracy of every gene beside constant and persistence."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._core.run import Callback
from gradus.errors import DataError
from gradus.genes._evidence import UNKNOWN, GeneSeries
from gradus.genes._free_run import free_run_matches
from gradus.genes._gene_learning import learn_genes
from gradus.genes._gene_model import GeneModel
from gradus.genes._work_watch import WorkWatch

__all__ = ["Fold", "GeneScore", "SeriesScores", "leave_series_out", "series_folds"]

MOST_BLOCKS = 10

KINDS = ("one_step", "free_run", "constant", "persistence", "persistent_run")


@dataclass(frozen=True)
class GeneScore:
    """How well one gene of left-out series is predicted; shares of the known values, NaN where there are none.

    Attributes
    ----------
    gene : str
    one_step, free_run : float
        From the state before, and from the first state of the series alone.
    constant, persistence, persistent_run : float
        The most frequent value; the value before; the first value of the series.
    scored : int
        Known next values.
    """

    gene: str
    one_step: float
    free_run: float
    constant: float
    persistence: float
    persistent_run: float
    scored: int

    @property
    def learned(self) -> bool:
        """Whether the rule beats both the constant and persistence from one step to the next, or is always right."""
        return self.one_step > max(self.constant, self.persistence) or self.one_step == 1.0


@dataclass(frozen=True, eq=False)
class SeriesScores:
    """Scores of each gene, and their means over all known values.

    Attributes
    ----------
    genes : tuple of GeneScore
    overall : GeneScore
    parts : int
        How many parts of the data were left out in turn.
    whole_series : bool
        Whether these were whole series; a single series is cut into blocks instead.
    stopped : str or None
        Why scoring ended early; what was scored by then counts.
    """

    genes: tuple[GeneScore, ...]
    overall: GeneScore
    parts: int
    whole_series: bool
    stopped: str | None

    @property
    def not_learned(self) -> tuple[str, ...]:
        """Genes that their rules predict no better than constant or persistence."""
        return tuple(one.gene for one in self.genes if not one.learned)


@dataclass(frozen=True, eq=False)
class Fold:
    """Series to predict, and those to learn from."""

    name: str
    left_out: tuple[GeneSeries, ...]
    rest: tuple[GeneSeries, ...]


def series_folds(series: Sequence[GeneSeries]) -> tuple[tuple[Fold, ...], bool]:
    """List what is left out in turn, and say whether it is whole series."""
    # Replicates, which share a name, are left out together. Where there is only one experiment, each of up to ten blocks of
    # its transitions is left out. Steady states are always learned from.
    names = [one.name or f"series {s + 1}" for s, one in enumerate(series)]
    groups = list(dict.fromkeys(name for name, one in zip(names, series, strict=True) if not one.steady))
    if len(groups) > 1:
        return tuple(
            Fold(
                group,
                tuple(one for one, name in zip(series, names, strict=True) if name == group and not one.steady),
                tuple(one for one, name in zip(series, names, strict=True) if name != group or one.steady),
            )
            for group in groups
        ), True
    return tuple(_block_folds(series)), False


def _block_folds(series: Sequence[GeneSeries]) -> Iterator[Fold]:
    longest = max((len(one.states) - 1 for one in series if not one.steady), default=0)
    edges = np.unique(np.linspace(0, longest, min(longest, MOST_BLOCKS) + 1).round().astype(int)).tolist()
    for first, last in itertools.pairwise(edges):
        # Replicates are cut at the same places, so that no replicate tells of the block that is left out.
        out = [one.part(first, last + 1) for one in series if not one.steady]
        rest = [part for one in series if not one.steady for part in (one.part(0, first + 1), one.part(last, len(one.states)))]
        kept = [one for one in series if one.steady] + [one for one in rest if len(one.states) > 1]
        if kept:
            yield Fold(f"steps {first + 1} to {last}", tuple(one for one in out if len(one.states) > 1), tuple(kept))


def leave_series_out(
    series: Sequence[GeneSeries],
    *,
    genes: Sequence[str] | None = None,
    time_limit: float | None = None,
    callback: Callback | None = None,
    watch: WorkWatch | None = None,
    **settings: Any,
) -> SeriesScores:
    """Learn without each series in turn and predict it; a single series is cut into blocks, see `series_folds`."""
    watch = WorkWatch(time_limit, callback) if watch is None else watch
    folds, whole_series = series_folds(series)
    if not folds:
        raise DataError("Leaving something out needs at least two transitions.")
    n = series[0].states.shape[1]
    right, told, parts = {kind: np.zeros(n, np.int64) for kind in KINDS}, np.zeros(n, np.int64), 0
    for done, fold in enumerate(folds):
        if watch.stop("left out", done, len(folds), detail=fold.name):
            break
        model = learn_genes(fold.rest, genes=genes, watch=watch.within("left out", done, len(folds)), **settings)
        if watch.stopped:
            break
        for one in fold.left_out:
            told += _add(right, model, one)
        parts += 1
    labels = genes if genes is not None else [f"g{i}" for i in range(n)]
    scores = tuple(_score(str(labels[g]), {k: int(v[g]) for k, v in right.items()}, int(told[g])) for g in range(n))
    overall = _score("all", {kind: int(value.sum()) for kind, value in right.items()}, int(told.sum()))
    return SeriesScores(scores, overall, parts, whole_series, watch.stopped)


def _add(right: dict[str, npt.NDArray[np.int64]], model: GeneModel, one: GeneSeries) -> npt.NDArray[np.int64]:
    """Count what each way of predicting gets right in one series."""
    told_run = np.zeros(one.states.shape[1], np.int64)
    if one.steady or len(one.states) < 2:
        return told_run
    now, then = one.states[:-1], one.states[1:]
    filled = np.where(now == UNKNOWN, model.constants, now == 1)
    matches, told = free_run_matches(model, [one])[0]
    right["free_run"] += matches.sum(axis=0)
    right["one_step"] += ((model.predict(filled) == (then == 1)) & told).sum(axis=0)
    right["constant"] += (((then == 1) == model.constants) & told).sum(axis=0)
    right["persistence"] += ((filled == (then == 1)) & told).sum(axis=0)
    right["persistent_run"] += ((filled[:1] == (then == 1)) & told).sum(axis=0)
    return np.asarray(told.sum(axis=0), np.int64)


def _score(gene: str, right: dict[str, int], told: int) -> GeneScore:
    shares = {kind: count / told if told else float("nan") for kind, count in right.items()}
    return GeneScore(gene=gene, scored=told, **shares)
