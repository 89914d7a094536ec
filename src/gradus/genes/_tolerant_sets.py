"""`tolerant_feature_sets`: feature sets that explain a target up to noise, ranked by their posterior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._core.bits import as_bits
from gradus._core.checks import check_count, check_time_limit
from gradus._core.run import Callback
from gradus.errors import DataError
from gradus.genes._edge_prior import BASE_RATE, EdgeBelief, EdgePrior
from gradus.genes._evidence import TargetEvidence, as_states, whole_units
from gradus.genes._noise_model import FlipRate, flip_rate, pooled_rate
from gradus.genes._posterior import RankedSet, TargetPosterior, target_posterior
from gradus.genes._rule_prior import MOST_INPUTS
from gradus.genes._set_search import SetPrior, search_sets
from gradus.genes._work_watch import WorkWatch

__all__ = ["TolerantSets", "tolerant_feature_sets"]


@dataclass(frozen=True, eq=False)
class TolerantSets:
    """Ranked feature sets of a target.

    Attributes
    ----------
    sets : tuple of RankedSet
        The best first.
    features : ndarray of float
        Posterior of each column, over all sets.
    noise : float
        Expected share of wrong values of the target.
    stopped : str or None
        Why the search ended early, if it did.
    """

    sets: tuple[RankedSet, ...]
    features: npt.NDArray[np.float64]
    noise: float
    stopped: str | None
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
        What each row counts; whole numbers exactly, others to a sixteenth.
    allowed : sequence of int, optional
        Columns to choose from; all of them if not given.
    signs : mapping of int to int, optional
        Columns with which the target is known to rise (+1) or fall (-1).
    noise : "auto" or float
        Share of wrong values of the target; "auto" weighs several, and takes the data as clean where that explains them
        better.
    most_inputs : int
        Largest set, at most 6.
    time_limit, callback
        As everywhere.

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
    watch = WorkWatch(check_time_limit(time_limit), callback)
    target = _evidence(X, y, weights)
    n = target.inputs.shape[1]
    known = {column: sign for column, sign in (signs or {}).items() if sign}
    beliefs = [
        EdgeBelief(column, 0, probability=BASE_RATE, sign=sign, sign_probability=0.999) for column, sign in known.items()
    ]
    # One target that any column may regulate: its number, 0, is not that of a column.
    prior = EdgePrior(n, beliefs, {} if allowed is None else {0: list(allowed)}).of_target(0)
    most = check_count("most_inputs", most_inputs, most=MOST_INPUTS)
    flips = flip_rate(noise)
    if noise == "auto":
        flips = _estimated(target, prior, flips, most, watch)
    found = search_sets(target, prior, flips, watch, most_inputs=most)
    posterior = target_posterior(target, prior, flips, found, watch)
    return TolerantSets(posterior.sets, posterior.edges, flips.rate, watch.stopped, posterior)


def _evidence(X: Any, y: Any, weights: Sequence[float] | None) -> TargetEvidence:
    inputs, nexts = as_states(X, "X"), as_states(np.asarray(y, dtype=object).reshape(-1, 1), "y")[:, 0]
    if len(inputs) != len(nexts):
        raise DataError(f"X has {len(inputs)} rows but y has {len(nexts)}.")
    counts = np.ones(len(nexts)) if weights is None else np.asarray(weights, dtype=np.float64)
    if counts.shape != nexts.shape or not (np.isfinite(counts).all() and (counts >= 0).all()):
        raise DataError(f"weights must be {len(nexts)} numbers of at least 0.")
    used = (nexts != 2) & (counts > 0)
    units, unit = whole_units(counts[used])
    return TargetEvidence(inputs[used], nexts[used], units, unit)


def _estimated(target: TargetEvidence, prior: SetPrior, first: FlipRate, most: int, watch: WorkWatch) -> FlipRate:
    """Rate from the errors of the best set, or no errors where an exact explanation is more probable."""
    start = search_sets(target, prior, first, watch, most_inputs=min(most, 3))
    errors = target_posterior(target, prior, first, start, most=1).sets[0].errors
    noisy, clean = pooled_rate(np.array([target.total]), np.array([errors])), flip_rate(0.0)
    if errors == 0 or watch.stopped:
        return clean if errors == 0 else noisy
    scores = [search_sets(target, prior, flips, watch, most_inputs=most).scores[0] for flips in (noisy, clean)]
    return clean if scores[1] > scores[0] else noisy
