"""Whole series left out in turn: one-step and free-run accuracy of every gene beside constant and persistence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._inference.evidence import UNKNOWN, GeneSeries
from gradus._inference.free_run import free_run_matches
from gradus._inference.gene_learning import learn_genes
from gradus._inference.gene_model import GeneModel
from gradus._inference.work_watch import WorkWatch
from gradus._progress import Callback
from gradus.errors import DataError

__all__ = ["GeneScore", "SeriesScores", "leave_series_out"]

KINDS = ("one_step", "free_run", "constant", "persistence", "persistent_run")


@dataclass(frozen=True)
class GeneScore:
    """How well one gene of left-out series is foretold; shares of the known values, NaN where there are none.

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
        """Whether the rule beats both the constant and persistence from one step to the next."""
        return self.one_step > max(self.constant, self.persistence) or self.one_step == 1.0


@dataclass(frozen=True, eq=False)
class SeriesScores:
    """Scores of each gene, and their means over all known values."""

    genes: tuple[GeneScore, ...]
    overall: GeneScore
    stopped: str | None

    @property
    def not_learned(self) -> tuple[str, ...]:
        """Genes that their rules foretell no better than constant or persistence."""
        return tuple(one.gene for one in self.genes if not one.learned)


def leave_series_out(
    series: Sequence[GeneSeries],
    *,
    genes: Sequence[str] | None = None,
    time_limit: float | None = None,
    callback: Callback | None = None,
    **settings: Any,
) -> SeriesScores:
    """Learn without each series in turn and foretell it. Replicates, which share a name, are left out together.

    Parameters
    ----------
    series : sequence of GeneSeries
    genes : sequence of str, optional
    time_limit, callback
        As for `learn_genes`, for all together; what is scored by then counts.
    **settings
        Passed to `learn_genes`.

    Returns
    -------
    SeriesScores

    Raises
    ------
    DataError
        If there is only one series.
    """
    watch = WorkWatch(time_limit, callback)
    names = [one.name or f"series {s}" for s, one in enumerate(series)]
    groups = list(dict.fromkeys(names))
    if len(groups) < 2:
        raise DataError("Leaving series out needs at least two of them.")
    n = series[0].states.shape[1]
    right, told = {kind: np.zeros(n, np.int64) for kind in KINDS}, np.zeros(n, np.int64)
    for done, group in enumerate(groups):
        if watch.stop("left out", done, len(groups), detail=group):
            break
        rest = [one for one, name in zip(series, names, strict=True) if name != group]
        model = learn_genes(rest, genes=genes, callback=_within(watch), **settings)
        if watch.stop("left out", done, len(groups), detail=group):
            break
        for one in (one for one, name in zip(series, names, strict=True) if name == group):
            told += _add(right, model, one)
    labels = genes if genes is not None else [f"g{i}" for i in range(n)]
    scores = tuple(_score(str(labels[g]), {k: int(v[g]) for k, v in right.items()}, int(told[g])) for g in range(n))
    whole = _score("all", {kind: int(value.sum()) for kind, value in right.items()}, int(told.sum()))
    return SeriesScores(scores, whole, watch.stopped)


def _within(watch: WorkWatch) -> Callback:
    return lambda progress: watch.stop(progress.stage, progress.done, progress.total, target=progress.target)


def _add(right: dict[str, npt.NDArray[np.int64]], model: GeneModel, one: GeneSeries) -> npt.NDArray[np.int64]:
    """Count what each way of foretelling gets right in one series."""
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
