"""Edges ranked by measured levels: what a series says before its values are made binary."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gradus.genes._evidence import GeneSeries

__all__ = ["level_odds"]

LEAST_ODDS, MOST_ODDS = -1.0, 2.0
"""Neighbouring states are much alike, so levels never speak more strongly than this for or against an edge."""
FEWEST_TRANSITIONS = 10
"""Fewer say nothing of a correlation."""
Levels = npt.NDArray[np.float64]


def level_odds(series: Sequence[GeneSeries]) -> Levels | None:
    """Log-odds of each edge from measured levels, shape (targets, regulators); None if no series has levels."""
    # For each pair of genes: the partial correlation between the level of one and the next level of the other, given the
    # present level of the latter, turned into half the log of a Bayes factor. Self-edges have 0: every level that changes
    # slowly goes with its own next one.
    measured = [one for one in series if one.levels is not None and not one.steady]
    pairs = [(one, before, after) for one in measured for before, after in one.transitions()]
    if len(pairs) < FEWEST_TRANSITIONS:
        return None
    now = _standard(np.array([one.levels[before] for one, before, _ in pairs]))  # type: ignore[index]
    then = _standard(np.array([one.levels[after] for one, _, after in pairs]))  # type: ignore[index]
    free = np.array([[gene not in one.held for gene in range(now.shape[1])] for one, _, _ in pairs])
    odds = np.array([_target_odds(now[free[:, g]], then[free[:, g], g], g) for g in range(now.shape[1])])
    np.fill_diagonal(odds, 0.0)
    return odds


def _standard(levels: Levels) -> Levels:
    """Center and scale each gene; missing levels have the mean."""
    known = np.ma.masked_invalid(levels)
    spread = np.ma.filled(known.std(axis=0), 0.0)
    return np.asarray(np.ma.filled((known - known.mean(axis=0)) / np.where(spread > 0, spread, 1.0), 0.0))


def _target_odds(now: Levels, then: Levels, target: int) -> Levels:
    """Half the log Bayes factor, by the Bayesian information criterion, of each regulator beside the target's own level."""
    if len(then) < FEWEST_TRANSITIONS:
        return np.zeros(now.shape[1])
    own = now[:, target]
    ground = np.column_stack([np.ones(len(own)), own])
    rest = then - ground @ np.linalg.lstsq(ground, then, rcond=None)[0]
    others = now - ground @ np.linalg.lstsq(ground, now, rcond=None)[0]
    below = np.sqrt((rest**2).sum() * (others**2).sum(axis=0))
    correlations = np.divide(rest @ others, below, out=np.zeros(len(below)), where=below > 1e-9)
    gains = -len(then) * np.log1p(-np.minimum(correlations**2, 1 - 1e-12)) - np.log(len(then))
    return np.asarray(np.clip(gains / 4, LEAST_ODDS, MOST_ODDS))
