"""Learners compared beyond the paper: their rows, and what claims, figures and tables say about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gradus.lab import circuit_bits
from gradus_paper import estimates as est
from gradus_paper.beyond import LEAGUE_SIZES
from gradus_paper.paper import AUTOMATIC, by_problem
from gradus_paper.results import Results
from gradus_paper.training_sets import problem_of

LEVEL_WANTED = 0.99  # share of the unseen bits that a learner must get right
# Steps per CPU second of the published code, measured on the first three; the others take that of add6 with 80 examples.
PUBLISHED_SPEED = {"cpar7": 0.32e6, "add6": 0.28e6, "cmux15": 0.31e6, "cmaj9": 0.31e6, "sub5": 0.31e6}
ORDERS = {"minimum sets": AUTOMATIC, "entropy": "entropy", "self-paced": "self-paced"}

METHOD_NAMES = {
    "majority": "majority", "tree": "decision tree", "chain": "chain of trees", "forest": "random forest",
    "boosting": "gradient boosting", "mlp": "small MLP", "lessons": "lessons",
}  # fmt: skip


class Learner(NamedTuple):
    """One curve, or one column of a table."""

    name: str
    select: Callable[[Results], Results]


def _rows(**columns: Any) -> Callable[[Results], Results]:
    return lambda rows: rows.select(**columns)


LEARNERS = {  # every learner by its key, in the order of curves and columns
    "l1": Learner("network, L1", _rows(method="network", loss="l1")),
    "lgh": Learner("network, Lgh, given order", _rows(method="network", loss="lgh", order="known")),
    "auto": Learner("network, Lgh, found order", _rows(method="network", loss="lgh", order=AUTOMATIC)),
    "chain": Learner(METHOD_NAMES["chain"], _rows(method="chain", order=("known", "auto"))),
    **{name: Learner(METHOD_NAMES[name], _rows(method=name)) for name in ("forest", "boosting", "mlp")},
    "circuit": Learner("lessons, one circuit", lambda rows: rows.select(method="lessons").scored_by("best_circuit_accuracy")),
    "lessons": Learner("lessons, vote", _rows(method="lessons")),
}


def rows_of_learner(results: Results, key: str, noise: float = 0.0) -> Results:
    """Return the rows of a learner with this share of flipped labels."""
    return LEARNERS[key].select(results.select(noise=noise))


def difference(first: Results, second: Results, size: int) -> est.Estimate:
    """Return the mean difference in accuracy at one size over the training sets that both have."""
    return est.gain_as_ended(*(rows.usable_only().select(n_train=size) for rows in (first, second)))


def smallest_right_circuit(results: Results) -> int | None:
    """Return the gates of the smallest circuit of lessons that is right on every pattern; None if there is none."""
    rows = results.select(method="lessons", noise=0.0, converged=True, best_circuit_accuracy=1.0)
    return int(rows.live_gates.min()) if len(rows) else None


def limit_in_examples(problem: str, n_gates: int) -> float:
    """Return how many examples have as many bits in their targets as the description of a circuit of this size."""
    # No learner that prefers short circuits can be expected to find it from fewer.
    known = problem_of(problem)
    ones = np.clip(known.Y.mean(axis=0), 1e-12, 1 - 1e-12)
    bits_per_example = float(-(ones * np.log2(ones) + (1 - ones) * np.log2(1 - ones)).sum())
    return circuit_bits(known.n_inputs, n_gates) / bits_per_example


@dataclass(frozen=True)
class LeagueRow:
    """One function: the mean accuracy and the median CPU seconds of each learner, and how lessons compare with the best."""

    problem: str
    size: int
    accuracy: dict[str, est.Estimate]
    seconds: dict[str, float]  # NaN unless all fits ran on a CPU
    best_other: str  # the learner with the highest mean accuracy, apart from lessons
    lead: est.Estimate  # accuracy of the vote of lessons minus that of `best_other`, paired by training set


def league_rows(results: Results) -> list[LeagueRow]:
    """Compare all learners on each function that lessons were run on."""
    found = []
    for problem, part in by_problem(results):
        size = LEAGUE_SIZES.get(problem, part.sizes[0])
        at = part.select(n_train=size)
        rows = {key: rows_of_learner(at, key).usable_only() for key in LEARNERS}
        rows = {key: these for key, these in rows.items() if len(these)}
        others = [key for key in rows if key not in ("circuit", "lessons")]
        if "lessons" not in rows or not others:
            continue
        accuracy = {key: dict(est.accuracy_by_size(these))[size] for key, these in rows.items()}
        best = max(others, key=lambda key: accuracy[key].value)
        seconds = {key: float(np.median(np.asarray(these.cpu_seconds, dtype=np.float64))) for key, these in rows.items()}
        found.append(LeagueRow(problem, size, accuracy, seconds, best, difference(rows["lessons"], rows[best], size)))
    return found


def learners_of(rows: Sequence[LeagueRow]) -> list[str]:
    """Return the learners that any function has, in their usual order."""
    return [key for key in LEARNERS if any(key in row.accuracy for row in rows)]


def orders_found(part: Results) -> dict[str, Results]:
    """Return the rows of one problem whose order was found in each way; self-paced orders are those of lessons."""
    clean = part.select(noise=0.0)
    found = clean.select(method="network", order=AUTOMATIC), clean.select(method="chain", order="entropy")
    rows = zip(ORDERS, (*found, clean.select(method="lessons")), strict=True)
    return {name: these for name, these in rows if len(these)}


def gain_kept(part: Results) -> tuple[int, dict[str, est.Estimate]]:
    """Return the size at which networks were taught in found orders, and the share of Lgh's gain over L1 that each keeps."""
    networks = part.select(method="network", noise=0.0)
    sizes = networks.select(order=("entropy", "self-paced")).sizes
    if not sizes:
        return 0, {}
    lgh, base = networks.select(loss="lgh"), networks.select(loss="l1")
    known = lgh.select(order="known")
    taught = {name: lgh.select(order=words, n_train=sizes[0]) for name, words in ORDERS.items()}
    return sizes[0], {name: est.share_of_gain(rows, known, base, sizes[0]) for name, rows in taught.items() if len(rows)}


@dataclass(frozen=True)
class Effort:
    """What it takes to get 99 % of the unseen bits right."""

    size: int  # the smallest size measured with such a mean accuracy
    seconds: est.Estimate  # mean CPU seconds of a fit there


def effort(rows: Results, steps_per_second: float | None = None) -> Effort | None:
    """Return the effort at the first size with a mean accuracy of 99 %; None if there is none."""
    # With a speed, the seconds are those that a program of this speed takes for the steps of the searches.
    for size, accuracy in est.accuracy_by_size(rows):
        if accuracy.value >= LEVEL_WANTED:
            at = rows.select(n_train=size)
            if steps_per_second is None:
                return Effort(size, est.mean_interval(np.asarray(at.cpu_seconds, dtype=np.float64)))
            return Effort(size, est.mean_interval(np.asarray(at.iterations, dtype=np.float64) / steps_per_second))
    return None
