"""How a verdict comes from an estimate: by its interval, and only with enough observations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gradus._experiments.results import Floats, Results
from gradus._replication.stats import Estimate, bootstrap, gain_by_size, mean_interval, sample_matrix

__all__ = [
    "DOES_NOT_HOLD",
    "FEWEST_PAIRS",
    "HOLDS",
    "NOT_ENOUGH",
    "above",
    "alike",
    "changes_in_steps",
    "not_below",
    "peak",
    "peak_difference",
    "row_means",
    "shares_value",
    "together",
    "within",
]

HOLDS, DOES_NOT_HOLD, NOT_ENOUGH = "holds", "does not hold", "not enough samples"
FEWEST_PAIRS = 20
"""Observations below which nothing is concluded."""


def above(estimate: Estimate, threshold: float) -> str:
    """Whether a value is above a threshold: its whole interval on one side decides.

    Examples
    --------
    >>> above(Estimate(0.1, 0.05, 0.15, 100), 0.0), above(Estimate(0.1, -0.05, 0.25, 100), 0.0)
    ('holds', 'not enough samples')
    """
    if not _says_something(estimate):
        return NOT_ENOUGH
    if estimate.low > threshold:
        return HOLDS
    return DOES_NOT_HOLD if estimate.high < threshold else NOT_ENOUGH


def within(estimate: Estimate, paper: float, tolerance: float) -> str:
    """Whether a value agrees with the paper's to a tolerance: its whole interval inside or outside decides.

    Examples
    --------
    >>> within(Estimate(9.4, 8.7, 10.0, 100), 10.0, 2.0), within(Estimate(3.0, 2.0, 4.0, 100), 10.0, 2.0)
    ('holds', 'does not hold')
    >>> within(Estimate(9.4, 5.0, 14.0, 100), 10.0, 2.0)
    'not enough samples'
    """
    if not _says_something(estimate):
        return NOT_ENOUGH
    lowest, highest = paper - tolerance, paper + tolerance
    if estimate.high < lowest or estimate.low > highest:
        return DOES_NOT_HOLD
    return HOLDS if lowest <= estimate.low and estimate.high <= highest else NOT_ENOUGH


def not_below(difference: Estimate, tolerance: float) -> str:
    """Whether a difference is zero or more: not if its whole interval is below, and yes if none of it is by a tolerance.

    Examples
    --------
    >>> not_below(Estimate(0.1, -0.3, 0.5, 100), 1.0), not_below(Estimate(0.1, -3.0, 3.2, 100), 1.0)
    ('holds', 'not enough samples')
    """
    if not _says_something(difference):
        return NOT_ENOUGH
    if difference.high < 0:
        return DOES_NOT_HOLD
    return HOLDS if difference.low > -tolerance else NOT_ENOUGH


def alike(differences: Sequence[Estimate], tolerance: float) -> str:
    """Whether differences at several sizes are all next to nothing: each interval must be inside the tolerance.

    Examples
    --------
    >>> small, wide, large = (Estimate(v, v - w, v + w, 100) for v, w in ((0.1, 0.5), (0.1, 5.0), (3.0, 0.5)))
    >>> alike([small, small], 1.0), alike([small, wide], 1.0), alike([small, large], 1.0)
    ('holds', 'not enough samples', 'does not hold')
    """
    return together([within(one, 0.0, tolerance) for one in differences])


def _says_something(estimate: Estimate) -> bool:
    return estimate.n >= FEWEST_PAIRS and bool(np.isfinite([estimate.low, estimate.high]).all())


def together(verdicts: Sequence[str]) -> str:
    """Verdict on several things that must all hold.

    Examples
    --------
    >>> together(["holds", "not enough samples"]), together(["not enough samples", "does not hold"])
    ('not enough samples', 'does not hold')
    """
    if DOES_NOT_HOLD in verdicts:
        return DOES_NOT_HOLD
    return NOT_ENOUGH if NOT_ENOUGH in verdicts else HOLDS


def peak(rows: Results, base: Results) -> tuple[int, Estimate]:
    """Training size with the largest mean gain, and the gain there.

    A size with too few training sets to conclude anything from is no peak if there are others.
    """
    gains = gain_by_size(rows.pairs(base))
    if not gains:
        return 0, mean_interval([])
    enough = [point for point in gains if point[1].n >= FEWEST_PAIRS]
    return max(enough or gains, key=lambda point: point[1].value)


def peak_difference(first: Results, second: Results, base: Results) -> Estimate:
    """Peak gain of one loss less that of another, with its bootstrap interval over training sets.

    Peaks are looked for as in `peak`; n is the number of training sets at the one that has fewer.
    """
    sizes = sorted(set(first.sizes) & set(second.sizes) & set(base.sizes))
    samples = sorted(set(base.sample.tolist()) & set(first.sample.tolist()) & set(second.sample.tolist()))
    if not sizes or not samples:
        return mean_interval([])
    accuracy = [sample_matrix(rows, sizes, samples) for rows in (first, second, base)]
    gains = np.array([accuracy[0] - accuracy[2], accuracy[1] - accuracy[2]])
    counts = (~np.isnan(gains)).sum(axis=2)
    enough = (counts >= FEWEST_PAIRS).all(axis=0)
    if enough.any():
        gains, counts = gains[:, enough], counts[:, enough]

    def difference(drawn: npt.NDArray[np.int64]) -> float:
        one, other = (_largest_mean(gain[:, drawn]) for gain in gains)
        return one - other

    estimate = bootstrap(difference, len(samples), replicates=1000)
    if np.isnan(estimate.value):
        return replace(estimate, n=0)
    return replace(estimate, n=min(int(n[np.nanargmax(row_means(gain))]) for gain, n in zip(gains, counts, strict=True)))


def row_means(values: Floats) -> Floats:
    """Means of the known values of each row; NaN where there are none.

    Examples
    --------
    >>> row_means(np.array([[1.0, 3.0], [np.nan, 4.0], [np.nan, np.nan]]))
    array([ 2.,  4., nan])
    """
    known = ~np.isnan(values)
    counts = known.sum(axis=1)
    sums = np.where(known, values, 0.0).sum(axis=1)
    means = np.full(len(values), np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means


def _largest_mean(gain: Floats) -> float:
    means = row_means(gain)
    return float(np.nanmax(means)) if not np.isnan(means).all() else float("nan")


def shares_value(auto: Results, known: Results, base: Results, size: int) -> Estimate:
    """Share of the gain at one size that another variant keeps, with its bootstrap interval."""
    at = [rows.select(n_train=size) for rows in (auto, known, base)]
    samples = sorted(set.intersection(*(set(rows.sample.tolist()) for rows in at)))
    if not samples:
        return mean_interval([])
    first, second, third = (sample_matrix(rows, [size], samples)[0] for rows in at)

    def share(drawn: npt.NDArray[np.int64]) -> float:
        kept, whole = row_means(np.array([first[drawn] - third[drawn], second[drawn] - third[drawn]]))
        return float(kept / whole) if whole else float("nan")

    return bootstrap(share, len(samples), replicates=1000)


def changes_in_steps(rows: Results, base: Results) -> list[Floats]:
    """Logarithms of the steps over those of the base, one for each training set; for each training size that has any."""

    def logarithms(one: Results) -> dict[int, float]:
        steps = np.log(np.maximum(one.iterations.astype(np.float64), 1.0))
        return {sample: float(steps[one.sample == sample].mean()) for sample in set(one.sample.tolist())}

    rows, base = rows.usable_only(), base.usable_only()
    found = []
    for size in sorted(set(rows.sizes) & set(base.sizes)):
        first, second = (logarithms(one.select(n_train=size)) for one in (rows, base))
        shared = sorted(first.keys() & second.keys())
        if shared:
            found.append(np.array([first[sample] - second[sample] for sample in shared]))
    return found
