"""Gains over L1, for claims and figures: peaks and their differences, shares kept, gains by tau and by target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gradus_paper.estimates import (
    FEWEST_PAIRS,
    Estimate,
    accuracy_by_size,
    aligned_accuracies,
    bootstrap,
    gain_by_size,
    mean_interval,
    row_means,
)
from gradus_paper.results import Floats, Pairs, Results

HEADLINE_SIZE = 40
"""Training examples at which parity is summed up; the full replication has its largest gain there."""
HALFWAY = 0.75
"""Accuracy halfway between guessing and being right."""
STRICTER_LOSSES = ("lw", "llh", "lgh")
"""The losses that are compared with L1."""


def in_known_order(results: Results, problem: str, *losses: str) -> list[Results]:
    """Select the networks that were taught in the known order under each of these losses; nothing if one has none."""
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


def changes_in_steps(rows: Results, base: Results) -> list[Floats]:
    """Return, for each training size, the log ratio of the steps to those of the base, one per training set."""

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


def middle_size(one: Results) -> int | None:
    """Return the training size at which L1 is nearest to halfway between guessing and being right; None without pairs."""
    # Only sizes with networks of other losses count. The choice depends on L1 alone, so that it favours no order.
    base, others = one.select(loss="l1").usable_only(), one.select(loss="lgh").usable_only()
    sizes = [point for point in accuracy_by_size(base) if point[0] in others.sizes]
    return min(sizes, key=lambda point: abs(point[1].value - HALFWAY))[0] if sizes else None


def pairs_by_tau(one: Results) -> Iterator[tuple[float, Pairs]]:
    """Yield, for each tau, networks taught with Lgh in such orders paired with those of L1, one pair per training set."""
    base, lgh = one.select(loss="l1"), one.select(loss="lgh")
    taus = np.asarray(lgh.tau, dtype=np.float64).round(6)  # so that equal ones compare equal
    for tau in sorted(set(taus.tolist())):
        yield tau, lgh.where(taus == tau).pairs(base).by_training_set()


def gain_by_tau(one: Results, size: int) -> list[tuple[float, Estimate]]:
    """Return the gain in points over L1 at one training size, for each tau."""
    pairs = pairs_by_tau(one.select(n_train=size))
    return [(tau, mean_interval(found.gain).scaled(100)) for tau, found in pairs]


def gain_matrix(one: Results, size: int) -> tuple[Floats, Floats]:
    """Return every tau, and gains in points over L1 at one size: a row per complete training set, a column per tau."""
    pairs = pairs_by_tau(one.select(n_train=size))
    gains = {tau: dict(zip(found.sample.tolist(), found.gain.tolist(), strict=True)) for tau, found in pairs}
    complete = sorted(set.intersection(*(set(by_sample) for by_sample in gains.values()))) if gains else []
    matrix = [[100 * by_sample[sample] for by_sample in gains.values()] for sample in complete]
    return np.array(list(gains)), np.array(matrix, dtype=np.float64).reshape(len(complete), len(gains))


def gains_by_target(results: Results, problem: str) -> list[tuple[str, Estimate, dict[str, Estimate]]]:
    """Return, for each target and for their mean, its name, the accuracy of L1, and the gain of each other loss."""
    one = results.select(problem=problem)
    names = one.row(0).targets or [f"target {k + 1}" for k in range(one.per_target.shape[1])]
    base = one.select(loss="l1")
    usable = base.usable_only()
    pairs = {loss: one.select(loss=loss).pairs(base) for loss in STRICTER_LOSSES}
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
    at = {name: dict(accuracy_by_size(one)).get(HEADLINE_SIZE) for name, one in curves.items()}
    return {name: estimate for name, estimate in at.items() if estimate is not None}, gains[HEADLINE_SIZE]
