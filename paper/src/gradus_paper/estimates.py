"""Estimates with 95 % intervals (t for means of paired differences, else the bootstrap), and verdicts on them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from gradus_paper.results import Floats, Pairs, Results

LEVEL = 0.95
REPLICATES = 1000
FEWEST_PAIRS = 20
"""Number of observations below which nothing is concluded."""
HOLDS, CLOSE, DIRECTION = "holds", "close", "direction confirmed"
UNDECIDED, DOES_NOT_HOLD = "undecided", "does not hold"
VERDICTS = (HOLDS, CLOSE, DIRECTION, UNDECIDED, DOES_NOT_HOLD)
"""Every verdict, from the best to the worst."""
Statement = tuple[str, str, str, str]
"""The statement, the paper's value, ours, and the verdict."""
NOTICEABLE = 0.01
"""Difference in mean accuracy (one point) below which two things count as not distinguishable."""


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval and the number of observations."""

    value: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"

    def scaled(self, factor: float) -> Estimate:
        """Return the estimate in another unit."""
        return Estimate(self.value * factor, self.low * factor, self.high * factor, self.n)

    def below(self, bound: float) -> Estimate:
        """Return how far the value is below a bound."""
        return Estimate(bound - self.value, bound - self.high, bound - self.low, self.n)


def mean_interval(values: npt.ArrayLike, level: float = LEVEL) -> Estimate:
    """Return the mean with its t interval, which is infinite for a single value."""
    data = np.asarray(values, dtype=np.float64)
    n = len(data)
    if n == 0:
        return Estimate(np.nan, np.nan, np.nan, 0)
    mean = float(data.mean())
    if n == 1:
        return Estimate(mean, -np.inf, np.inf, 1)
    half = float(stats.t.ppf((1 + level) / 2, n - 1) * data.std(ddof=1) / np.sqrt(n))
    return Estimate(mean, mean - half, mean + half, n)


def gain_by_size(pairs: Pairs) -> list[tuple[int, Estimate]]:
    """Return the mean paired difference at each training size; a training set counts once, with all its repetitions."""
    pairs = pairs.by_training_set()
    return [(size, mean_interval(pairs.gain[pairs.n_train == size])) for size in pairs.sizes]


def target_gain_by_size(pairs: Pairs) -> list[list[tuple[int, Estimate]]]:
    """Return the same for each target."""
    pairs = pairs.by_training_set()
    return [[(size, mean_interval(gain[pairs.n_train == size])) for size in pairs.sizes] for gain in pairs.target_gain.T]


def accuracy_by_size(results: Results) -> list[tuple[int, Estimate]]:
    """Return the mean test accuracy at each training size, of the usable rows; a training set counts once."""
    usable = results.usable_only()
    return mean_by_size(usable, usable.accuracy)


def mean_by_size(results: Results, values: npt.ArrayLike) -> list[tuple[int, Estimate]]:
    """Return the mean of one value per row at each training size; repetitions of a training set are averaged first."""
    data = np.asarray(values, dtype=np.float64)
    found = []
    for size in results.sizes:
        there = results.n_train == size
        _, place = np.unique(results.sample[there], return_inverse=True)
        found.append((size, mean_interval(np.bincount(place, data[there]) / np.bincount(place))))
    return found


def sample_matrix(results: Results, sizes: Sequence[int], samples: Sequence[int]) -> Floats:
    """Return accuracies by training size and sample, both ascending; NaN where there is none."""
    # Repetitions of a sample are averaged.
    usable = results.usable_only().select(n_train=list(sizes), sample=list(samples))
    total, count = np.zeros((2, len(sizes), len(samples)))
    places = np.searchsorted(sizes, usable.n_train), np.searchsorted(samples, usable.sample)
    np.add.at(total, places, usable.accuracy)
    np.add.at(count, places, 1)
    return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)


def aligned_accuracies(*results: Results, sizes: Sequence[int] | None = None) -> list[Floats]:
    """Return a `sample_matrix` of each variant, with the training sets that all of them have as columns."""
    # Without `sizes`, the rows of a matrix are the variant's own training sizes.
    samples = sorted(set.intersection(*(set(rows.sample.tolist()) for rows in results)))
    return [sample_matrix(rows, rows.sizes if sizes is None else sizes, samples) for rows in results]


def crossing(sizes: Sequence[int], accuracy: Floats, level: float) -> float:
    """Return the training size at which an accuracy curve first passes a level, interpolated; NaN if it never does."""
    known = [(size, value) for size, value in zip(sizes, accuracy, strict=True) if not np.isnan(value)]
    if known and known[0][1] >= level:
        return float(known[0][0])
    for (size, value), (next_size, next_value) in itertools.pairwise(known):
        if value < level <= next_value:
            return float(size + (level - value) / (next_value - value) * (next_size - size))
    return float("nan")


def bootstrap(statistic: Callable[[npt.NDArray[np.int64]], float], n: int, *, replicates: int = REPLICATES) -> Estimate:
    """Return a statistic of n samples, given as indices, with its 95 % percentile interval."""
    # Replicates in which the statistic is undefined (NaN) are left out; if more than one in ten are, there is no interval.
    # Without samples there is no value either.
    if not n:
        return mean_interval([])
    value = statistic(np.arange(n))
    rng = np.random.default_rng(np.random.SeedSequence(n))
    drawn = np.array([statistic(rng.integers(0, n, n)) for _ in range(replicates)])
    drawn = drawn[~np.isnan(drawn)]
    if np.isnan(value) or len(drawn) < 0.9 * replicates:
        return Estimate(value, np.nan, np.nan, n)
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(value, float(low), float(high), n)


def row_means(values: Floats) -> Floats:
    """Return the mean of the known values of each row, NaN where there are none."""
    known = ~np.isnan(values)
    counts = known.sum(axis=1)
    sums = np.where(known, values, 0.0).sum(axis=1)
    means = np.full(len(values), np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means


def size_at_level(rows: Results, level: float) -> Estimate:
    """Return the training size at which the mean accuracy passes a level, with a bootstrap interval; NaN if it never does."""
    (accuracy,) = aligned_accuracies(rows)
    sizes = rows.sizes
    return bootstrap(lambda drawn: crossing(sizes, row_means(accuracy[:, drawn]), level), accuracy.shape[1])


def ratio_of_sizes(first: Results, second: Results, level: float, *, replicates: int = REPLICATES) -> Estimate:
    """Return the ratio of the training sizes at which two variants pass a level, with a bootstrap interval."""
    curves = list(zip((first.sizes, second.sizes), aligned_accuracies(first, second), strict=True))

    def ratio(drawn: npt.NDArray[np.int64]) -> float:
        one, other = (crossing(sizes, row_means(accuracy[:, drawn]), level) for sizes, accuracy in curves)
        return one / other

    return bootstrap(ratio, curves[0][1].shape[1], replicates=replicates)


def above(estimate: Estimate, threshold: float, tolerance: float = 0.0) -> str:
    """Decide whether a value is above a threshold: its whole interval must be on one side."""
    # An interval on both sides is close if the value is known to within the tolerance: if half of its width is no more.
    # Statements that name a direction only have no tolerance.
    if not _is_conclusive(estimate):
        return UNDECIDED
    if estimate.low > threshold:
        return HOLDS
    return DOES_NOT_HOLD if estimate.high < threshold else _at_the_edge(estimate, tolerance)


def within(estimate: Estimate, paper: float, tolerance: float) -> str:
    """Decide whether a value agrees with the paper's up to a tolerance: its whole interval must be inside or outside."""
    # An interval on both sides of an edge is close if the value is known to within the tolerance. A wider one still confirms
    # the direction if all of it is on the paper's side of zero.
    if not _is_conclusive(estimate):
        return UNDECIDED
    lowest, highest = paper - tolerance, paper + tolerance
    if estimate.high < lowest or estimate.low > highest:
        return DOES_NOT_HOLD
    if lowest <= estimate.low and estimate.high <= highest:
        return HOLDS
    same_sign = paper > 0 < estimate.low or paper < 0 > estimate.high
    verdict = _at_the_edge(estimate, tolerance)
    return DIRECTION if verdict == UNDECIDED and same_sign else verdict


def not_below(difference: Estimate, tolerance: float) -> str:
    """Decide whether a difference is zero or more."""
    # It is not if its whole interval is below zero, and it is if no part of the interval is below zero by the tolerance.
    # Otherwise it is close if the difference is known to within the tolerance.
    if not _is_conclusive(difference):
        return UNDECIDED
    if difference.high < 0:
        return DOES_NOT_HOLD
    return HOLDS if difference.low > -tolerance else _at_the_edge(difference, tolerance)


def _is_conclusive(estimate: Estimate) -> bool:
    return estimate.n >= FEWEST_PAIRS and bool(np.isfinite([estimate.low, estimate.high]).all())


def _at_the_edge(estimate: Estimate, tolerance: float) -> str:
    """Judge an interval with an edge inside: more samples would not matter if it is as narrow as the tolerance."""
    return CLOSE if (estimate.high - estimate.low) / 2 <= tolerance else UNDECIDED


def together(verdicts: Sequence[str]) -> str:
    """Combine the verdicts on several things that must all hold: the worst of them."""
    return max(verdicts, key=VERDICTS.index, default=HOLDS)


def as_points(estimate: Estimate) -> str:
    """Write a difference in accuracy."""
    return in_points(estimate.scaled(100))


def in_points(estimate: Estimate) -> str:
    """Write a difference that is in points already."""
    return f"{estimate.value:+.1f} [{estimate.low:.1f}, {estimate.high:.1f}] points (n = {estimate.n})"


def as_share(estimate: Estimate) -> str:
    """Write a share with its interval."""
    return f"{100 * estimate.value:.0f} % [{100 * estimate.low:.0f}, {100 * estimate.high:.0f}]"
