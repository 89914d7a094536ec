"""Numbers beyond the paper for tables and figures: the league, orders and what they keep, CPU seconds to a level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradus._experiments.results import Results
from gradus._replication.estimates import Estimate, accuracy_by_size, mean_interval
from gradus._replication.gains import share_of_gain
from gradus._replication.learners import LEARNERS, LEVEL_WANTED, difference, rows_of_learner
from gradus._replication.paper import AUTOMATIC, KNOWN_ORDER, REAL_WORLD, problems_of

__all__ = ["PUBLISHED_SPEED", "Effort", "LeagueRow", "effort", "gain_kept", "league_rows", "learners_of", "orders_found"]

LEAGUE_SIZES = {
    "cpar7": 32, "cmaj9": 96, "sub5": 48, "add6": 80, "cmux15": 48, "mammalian": 32, "fabrca": 48, "alu74181": 192,
}  # fmt: skip
"""Sizes of the problems that also have curves; the others have one size."""
PUBLISHED_SPEED = {"cpar7": 0.32e6, "add6": 0.28e6, "cmux15": 0.31e6, "cmaj9": 0.31e6, "sub5": 0.31e6}
"""Steps per CPU second of the paper's published code, measured on the first three; the others take that of addition with 80
examples."""
OURS = ("circuit", "lessons")


@dataclass(frozen=True)
class LeagueRow:
    """One function: the mean accuracy and the median CPU seconds of each learner, and how lessons compare with the best."""

    problem: str
    size: int
    accuracy: dict[str, Estimate]
    seconds: dict[str, float]
    best_other: str
    """The learner with the highest mean accuracy, lessons apart."""
    lead: Estimate
    """Accuracy of the vote of lessons less that of `best_other`, paired by training set."""


def league_rows(results: Results) -> list[LeagueRow]:
    """Compare all learners on each function that lessons were run on."""
    found = []
    for problem in problems_of(results, (*KNOWN_ORDER, *REAL_WORLD)):
        one = results.select(problem=problem)
        size = LEAGUE_SIZES.get(problem, one.sizes[0])
        at = one.select(n_train=size)
        rows = {key: rows_of_learner(at, key).usable_only() for key in LEARNERS}
        rows = {key: these for key, these in rows.items() if len(these)}
        others = [key for key in rows if key not in OURS]
        if "lessons" not in rows or not others:
            continue
        accuracy = {key: dict(accuracy_by_size(these))[size] for key, these in rows.items()}
        best = max(others, key=lambda key: accuracy[key].value)
        # NaN unless all of them ran on a CPU.
        seconds = {key: float(np.median(np.asarray(these.cpu_seconds, dtype=np.float64))) for key, these in rows.items()}
        found.append(LeagueRow(problem, size, accuracy, seconds, best, difference(rows["lessons"], rows[best], size)))
    return found


def learners_of(rows: Sequence[LeagueRow]) -> list[str]:
    """Return the learners that any function has, in their usual order."""
    return [key for key in LEARNERS if any(key in row.accuracy for row in rows)]


def orders_found(one: Results) -> dict[str, Results]:
    """Return rows with the orders of one problem that were found in different ways; the rows of lessons are their own."""
    clean = one.select(noise=0.0)
    found = {
        "minimum sets": clean.select(method="network", order=AUTOMATIC),
        "entropy": clean.select(method="chain", order="entropy"),
        "self-paced": clean.select(method="lessons"),
    }
    return {name: rows for name, rows in found.items() if len(rows)}


def gain_kept(one: Results) -> tuple[int, dict[str, Estimate]]:
    """Return the size at which networks were taught in found orders, and the share of Lgh's gain over L1 that each keeps."""
    networks = one.select(method="network", noise=0.0)
    sizes = networks.select(order=("entropy", "self-paced")).sizes
    if not sizes:
        return 0, {}
    lgh, base = networks.select(loss="lgh"), networks.select(loss="l1")
    known = lgh.select(order="known")
    words = {"minimum sets": AUTOMATIC, "entropy": "entropy", "self-paced": "self-paced"}
    taught = {name: lgh.select(order=word, n_train=sizes[0]) for name, word in words.items()}
    return sizes[0], {name: share_of_gain(rows, known, base, sizes[0]) for name, rows in taught.items() if len(rows)}


@dataclass(frozen=True)
class Effort:
    """What it takes to get 99 % of the unseen bits right."""

    size: int
    """The smallest size measured with such a mean accuracy."""
    seconds: Estimate
    """Mean CPU seconds of a fit there."""


def effort(rows: Results, steps_per_second: float | None = None) -> Effort | None:
    """Return the effort at the first size with a mean accuracy of 99 %; None if there is none.

    With a speed, the seconds are those that so fast a program takes for the steps of the searches.
    """
    for size, accuracy in accuracy_by_size(rows):
        if accuracy.value >= LEVEL_WANTED:
            at = rows.select(n_train=size)
            if steps_per_second is None:
                return Effort(size, mean_interval(np.asarray(at.cpu_seconds, dtype=np.float64)))
            return Effort(size, mean_interval(np.asarray(at.iterations, dtype=np.float64) / steps_per_second))
    return None
