"""Estimates with 95 % intervals (t for means of paired differences, else the bootstrap), gains over L1, and verdicts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import stats

from gradus_paper.results import Floats, Pairs, Results
from gradus_paper.training_sets import problem_of

LEVEL = 0.95
REPLICATES = 1000
FEWEST_PAIRS = 20  # observations below which no conclusion is drawn
HOLDS, CLOSE, DIRECTION = "holds", "close", "direction confirmed"
UNDECIDED, DOES_NOT_HOLD = "undecided", "does not hold"
VERDICTS = (HOLDS, CLOSE, DIRECTION, UNDECIDED, DOES_NOT_HOLD)  # every verdict, from the best to the worst
Statements = Iterator[
    tuple[str, ...]
]  # of each: statement, paper's value, ours, verdict, and perhaps the training sets behind it
ONE_POINT = 0.01  # difference in mean accuracy (one point) below which two things count as not distinguishable
HEADLINE_SIZE = 40  # training examples at which parity is summed up; the full replication has its largest gain there
HALFWAY = 0.75  # accuracy halfway between guessing and being right
STRICTER_LOSSES = ("lw", "llh", "lgh")  # the losses that are compared with L1


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval and the number of observations."""

    value: float
    low: float
    high: float
    n: int

    def __format__(self, digits: str = "") -> str:
        digits = digits or ".3f"
        return f"{self.value:{digits}} [{self.low:{digits.lstrip('+')}}, {self.high:{digits.lstrip('+')}}]"

    __str__ = __format__

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
    data, at = np.asarray(values, dtype=np.float64), {size: results.n_train == size for size in results.sizes}
    return [(size, mean_interval(list(by_sample(results.where(there), data[there]).values()))) for size, there in at.items()]


def by_sample(results: Results, values: npt.ArrayLike) -> dict[int, float]:
    """Return one value per row by the number of the training set; repetitions are averaged."""
    samples, place = np.unique(results.sample, return_inverse=True)
    means = np.bincount(place, np.asarray(values, dtype=np.float64)) / np.maximum(np.bincount(place), 1)
    return dict(zip(samples.tolist(), means.tolist(), strict=True))


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


def above(estimate: Estimate, threshold: float = 0.0, tolerance: float = 0.0) -> str:
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
    return f"{estimate:+.1f} points (n = {estimate.n})"


def as_share(estimate: Estimate) -> str:
    """Write a share with its interval."""
    return f"{100 * estimate.value:.0f} % [{100 * estimate.low:.0f}, {100 * estimate.high:.0f}]"


def in_known_order(results: Results, problem: str, *losses: str) -> list[Results]:
    """Select the networks that were taught in the known order under each of these losses; empty if one has none."""
    networks = results.select(problem=problem, method="network", order="known")
    found = [networks.select(loss=loss) for loss in losses]
    return found if all(map(len, found)) else []


def peak(rows: Results, base: Results) -> tuple[int, Estimate]:
    """Return the training size with the largest mean gain, and the gain there."""
    # Sizes with fewer than `FEWEST_PAIRS` training sets are considered only if there are no others.
    gains = gain_by_size(rows.pairs(base))
    if not gains:
        return 0, mean_interval([])
    enough = [point for point in gains if point[1].n >= FEWEST_PAIRS]
    return max(enough or gains, key=lambda point: point[1].value)


def peak_difference(first: Results, second: Results, base: Results) -> Estimate:
    """Return the peak gain of one loss minus that of another, with a bootstrap interval over training sets."""
    # Peaks are defined as in `peak`; n is the number of training sets at the peak that has fewer.
    sizes = sorted(set(first.sizes) & set(second.sizes) & set(base.sizes))
    if not sizes:
        return mean_interval([])
    one, other, plain = aligned_accuracies(first, second, base, sizes=sizes)
    gains = np.array([one - plain, other - plain])
    counts = (~np.isnan(gains)).sum(axis=2)
    enough = (counts >= FEWEST_PAIRS).all(axis=0)
    if enough.any():
        gains, counts = gains[:, enough], counts[:, enough]

    def difference(drawn: npt.NDArray[np.int64]) -> float:
        one, other = (row_means(gain[:, drawn]) for gain in gains)
        # The largest known mean of each, or NaN, without the warning of nanmax.
        return float(np.fmax.reduce(one) - np.fmax.reduce(other))

    estimate = bootstrap(difference, one.shape[1])
    if np.isnan(estimate.value):
        return replace(estimate, n=0)
    return replace(estimate, n=min(int(n[np.nanargmax(row_means(gain))]) for gain, n in zip(gains, counts, strict=True)))


def share_of_gain(auto: Results, known: Results, base: Results, size: int) -> Estimate:
    """Return the share of the gain at one size that another variant keeps, with its bootstrap interval."""
    at = (rows.select(n_train=size) for rows in (auto, known, base))
    first, second, third = (accuracy[0] for accuracy in aligned_accuracies(*at, sizes=[size]))

    def share(drawn: npt.NDArray[np.int64]) -> float:
        kept, whole = row_means(np.array([first[drawn] - third[drawn], second[drawn] - third[drawn]]))
        return float(kept / whole) if whole else float("nan")

    return bootstrap(share, len(first))


def overall_gain(rows: Results, base: Results) -> Estimate:
    """Return the gain as the mean over all training sizes, with its interval over training sets."""
    sizes = sorted(set(rows.sizes) & set(base.sizes))
    if not sizes:
        return mean_interval([])
    first, second = aligned_accuracies(rows, base, sizes=sizes)
    gains = first - second
    return mean_interval(gains[:, ~np.isnan(gains).any(axis=0)].mean(axis=0))


def largest_gain_of_each_target(pairs: Pairs) -> list[tuple[int, dict[int, float]]]:
    """Return, for each target, the size where its mean gain is largest, and its gains there by training set."""
    pairs = pairs.by_training_set()
    enough = [size for size in pairs.sizes if (pairs.n_train == size).sum() >= FEWEST_PAIRS]
    found = []
    for gain in pairs.target_gain.T if enough else ():
        best = max(enough, key=lambda size: float(gain[pairs.n_train == size].mean()))
        there = pairs.n_train == best
        found.append((best, dict(zip(pairs.sample[there].tolist(), gain[there].tolist(), strict=True))))
    return found


def mean_difference(first: dict[int, float], second: dict[int, float]) -> Estimate:
    """Return the mean difference of two values of training sets, over those that have both."""
    return mean_interval([first[sample] - second[sample] for sample in sorted(first.keys() & second.keys())])


def gain_as_ended(rows: Results, base: Results) -> Estimate:
    """Return the mean difference in accuracy, paired by training set; all searches count as they ended."""
    # Wrong labels can seldom all be learned in few steps: means of those that did would be of easy training sets.
    return mean_difference(by_sample(rows, rows.accuracy), by_sample(base, base.accuracy))


def steps_of_a_set(rows: Sequence[Results], sizes: Iterable[int]) -> float:
    """Return the mean steps of the trainings that one more training set takes: one of each variant at each size."""
    return sum(float(np.mean(part.select(n_train=size).iterations)) for size in set(sizes) for part in rows)


def networks_to_decide(gain: Estimate, tolerance: float | None = None) -> int:
    """Return about how many observations make half of the interval as narrow as a tolerance, or as the value itself."""
    half, wanted = (gain.high - gain.low) / 2, abs(gain.value) if tolerance is None else tolerance
    needed = int(gain.n * (half / max(wanted, 1e-6)) ** 2) if np.isfinite(half) else 0
    return round(needed, -max(0, len(str(needed)) - 2))


def in_estimated_order(results: Results, problem: str) -> Results:
    """Return the networks of table 2 or 3: L1, which needs no order, and the other losses in the estimated one."""
    # Rows in the order listed, and those of all targets as one network, are comparisons.
    part = results.select(problem=problem, draw="leave-one-out")
    part = part.where(part.named_targets)
    return part.where((part.loss == "l1") | (part.order == "auto"))


def taught_in_orders(results: Results) -> tuple[Results, int]:
    """Return the networks of figure 6, and how many orders were drawn at each tau; 0 for one of each training set."""
    part = results.select(problem="add5", method="network")
    orders = part.order.tolist()
    drawn = np.array([order.startswith("tau:") and "/" in order for order in orders], dtype=np.bool_)
    if drawn.any():  # then the known order was taught once for all tau, and for other figures at other sizes
        part = part.where((drawn | (part.order == "known")) & np.isin(part.n_train, part.n_train[drawn]))
        return part, int(next(order.split("/")[1] for order in orders if "/" in order))
    each = np.array([order.startswith("tau:") for order in orders], dtype=np.bool_)
    return part.where((each | (part.loss == "l1")) & each.any()), 0


def changes_in_steps(rows: Results, base: Results) -> list[Floats]:
    """Return, for each training size, the log ratio of the steps to those of the base, one per training set."""
    rows, base = rows.usable_only(), base.usable_only()
    found = []
    for size in sorted(set(rows.sizes) & set(base.sizes)):
        parts = [part.select(n_train=size) for part in (rows, base)]
        first, second = (by_sample(part, np.log(np.maximum(part.iterations, 1.0))) for part in parts)
        found.append(np.array([first[sample] - second[sample] for sample in sorted(first.keys() & second.keys())]))
    return list(filter(len, found))


def middle_size(part: Results) -> int | None:
    """Return the training size at which L1 is nearest to halfway between guessing and being right; None without pairs."""
    # Only sizes with networks of other losses count. The choice depends on L1 alone, so that it favours no order.
    base, others = part.select(loss="l1").usable_only(), part.select(loss="lgh").usable_only()
    sizes = [point for point in accuracy_by_size(base) if point[0] in others.sizes]
    return min(sizes, key=lambda point: abs(point[1].value - HALFWAY))[0] if sizes else None


def pairs_by_tau(part: Results) -> Iterator[tuple[float, Pairs]]:
    """Yield, for each tau, networks taught with Lgh in such orders paired with those of L1, one pair per training set."""
    base, lgh = part.select(loss="l1"), part.select(loss="lgh")
    taus = np.asarray(lgh.tau, dtype=np.float64).round(6)  # so that equal ones compare equal
    for tau in sorted(set(taus.tolist())):
        yield tau, lgh.where(taus == tau).pairs(base).by_training_set()


def gain_matrix(part: Results, size: int, drawn: int = 0, *, ends: bool = False) -> tuple[Floats, Floats]:
    """Return every tau, and gains in points over L1 at one size: a row per complete training set, a column per tau."""
    # With `drawn` orders at each tau, training sets that share an order are averaged: they are not independent. `ends` leaves
    # all but the first and the last tau out.
    pairs = pairs_by_tau(part.select(n_train=size))
    gains = {tau: dict(zip(paired.sample.tolist(), paired.gain.tolist(), strict=True)) for tau, paired in pairs}
    if ends:
        gains = {tau: gains[tau] for tau in (min(gains), max(gains))}
    complete = sorted(set.intersection(*(set(by_sample) for by_sample in gains.values()))) if gains else []
    matrix = np.array([[100 * by_sample[sample] for by_sample in gains.values()] for sample in complete], dtype=np.float64)
    matrix = matrix.reshape(len(complete), len(gains))
    if drawn:
        order = np.array(complete, dtype=np.int64) % drawn
        matrix = np.array([matrix[order == k].mean(axis=0) for k in sorted(set(order.tolist()))]).reshape(-1, len(gains))
    return np.array(list(gains)), matrix


def gains_by_target(results: Results, problem: str) -> list[tuple[str, Estimate, dict[str, Estimate]]]:
    """Return, for each target and for their mean, its name, the accuracy of L1, and the gain of each other loss."""
    part = results.select(problem=problem)
    names = part.row(0).targets or problem_of(problem).target_names
    base = part.select(loss="l1")
    usable = base.usable_only()
    pairs = {loss: part.select(loss=loss).pairs(base) for loss in STRICTER_LOSSES}
    rows = []
    for k, name in enumerate(names):
        gains = {loss: mean_interval(pair.target_gain[:, k]) for loss, pair in pairs.items() if len(pair.gain)}
        rows.append((name, mean_interval(usable.per_target[:, k] if len(usable) else []), gains))
    overall = {loss: mean_interval(pair.gain) for loss, pair in pairs.items()}
    return [*rows, ("mean", mean_interval(usable.accuracy), overall)]


def headline_numbers(results: Results) -> tuple[dict[str, Estimate], Estimate] | None:
    """Return the accuracies on parity at `HEADLINE_SIZE` (L1, Lgh, lessons where there are) and the gain of Lgh."""
    # There are none without rows of both losses there.
    rows = in_known_order(results, "cpar7", "l1", "lgh")
    if not rows:
        return None
    base, lgh = rows
    gains = dict(gain_by_size(lgh.pairs(base)))
    if HEADLINE_SIZE not in gains:
        return None
    lessons = results.select(problem="cpar7", method="lessons")
    curves = {"L1": base, "Lgh": lgh, "lessons": lessons}
    at = {name: dict(accuracy_by_size(curve)).get(HEADLINE_SIZE) for name, curve in curves.items()}
    return {name: estimate for name, estimate in at.items() if estimate is not None}, gains[HEADLINE_SIZE]
