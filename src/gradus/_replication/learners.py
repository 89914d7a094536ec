"""Learners that are compared beyond the paper: their rows, the sizes at which they pass a level, and what limits them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gradus._experiments.results import Floats, Results
from gradus._experiments.training_sets import problem_of
from gradus._lessons.description import BIT, gate_table
from gradus._replication.estimates import (
    Estimate,
    bootstrap,
    crossing,
    mean_interval,
    row_means,
    sample_matrix,
    shared_samples,
)
from gradus._replication.paper import AUTOMATIC

__all__ = [
    "LEARNERS",
    "LEVEL_WANTED",
    "Learner",
    "difference",
    "limit_in_examples",
    "rows_of_learner",
    "size_at_level",
    "smallest_right_circuit",
]

LEVEL_WANTED = 0.99
"""Share of the unseen bits that a learner must get right."""
REPLICATES = 1000


@dataclass(frozen=True)
class Learner:
    """One curve, or one column of a table."""

    key: str
    name: str
    select: Callable[[Results], Results]


def _method(name: str) -> Callable[[Results], Results]:
    return lambda rows: rows.select(method=name)


LEARNERS = {
    learner.key: learner
    for learner in (
        Learner("l1", "network, L1", lambda rows: rows.select(method="network", loss="l1")),
        Learner("lgh", "network, Lgh, given order", lambda rows: rows.select(method="network", loss="lgh", order="known")),
        Learner("auto", "network, Lgh, found order", lambda rows: rows.select(method="network", loss="lgh", order=AUTOMATIC)),
        Learner("chain", "chain of trees", lambda rows: rows.select(method="chain", order=("known", "auto"))),
        Learner("forest", "random forest", _method("forest")),
        Learner("boosting", "gradient boosting", _method("boosting")),
        Learner("mlp", "small MLP", _method("mlp")),
        Learner("circuit", "lessons, one circuit", lambda rows: _method("lessons")(rows).scored_by("best_circuit_accuracy")),
        Learner("lessons", "lessons, vote", _method("lessons")),
    )
}


def rows_of_learner(results: Results, key: str, **wanted: object) -> Results:
    """Return the rows of a learner without flipped labels, or with those asked for."""
    return LEARNERS[key].select(results.select(**{"noise": 0.0, **wanted}))


def size_at_level(rows: Results) -> Estimate:
    """Return the training size at which the mean accuracy passes 99 %, with a bootstrap interval; NaN if it never does."""
    sizes, samples = rows.sizes, shared_samples(rows)
    if not samples:
        return mean_interval([])
    accuracy = sample_matrix(rows, sizes, samples)

    def size(drawn: npt.NDArray[np.int64]) -> float:
        return crossing(sizes, row_means(accuracy[:, drawn]), LEVEL_WANTED)

    return bootstrap(size, len(samples), replicates=REPLICATES)


def difference(first: Results, second: Results, size: int) -> Estimate:
    """Return the mean difference in accuracy at one size over the training sets that both have."""
    at = [rows.select(n_train=size) for rows in (first, second)]
    shared = shared_samples(*at)
    if not shared:
        return mean_interval([])
    one, other = (sample_matrix(rows, [size], shared)[0] for rows in at)
    gains: Floats = one - other
    return mean_interval(gains[~np.isnan(gains)])


def smallest_right_circuit(results: Results) -> int | None:
    """Return the gates of the smallest circuit of lessons that is right on every pattern; None if there is none."""
    rows = results.select(method="lessons", noise=0.0, converged=True, best_circuit_accuracy=1.0)
    return int(rows.live_gates.min()) if len(rows) else None


def limit_in_examples(problem: str, n_gates: int) -> float:
    """Return how many examples have as many bits in their targets as the description of a circuit of this size.

    No learner that prefers short circuits can be expected to find it from fewer.

    Examples
    --------
    >>> round(limit_in_examples("cpar7", 6), 1)  # 48.7 bits, 7 in each example
    7.0
    """
    known = problem_of(problem)
    ones = np.clip(known.Y.mean(axis=0), 1e-12, 1 - 1e-12)
    bits_per_example = float(-(ones * np.log2(ones) + (1 - ones) * np.log2(1 - ones)).sum())
    return float(gate_table(known.n_inputs, n_gates)[n_gates]) / BIT / bits_per_example
