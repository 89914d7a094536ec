"""Statements on tables 2 and 3: gains on two time series, leave-one-out, judged against the paper's values."""

from __future__ import annotations

from collections.abc import Iterator

from gradus_paper.estimates import Estimate
from gradus_paper.gains import gains_by_target
from gradus_paper.paper import GAIN_TABLES, LATER_TARGETS, problem_title
from gradus_paper.results import Results
from gradus_paper.verdicts import NOTICEABLE, Statement, above, as_points, together, within

__all__ = ["gains_in_the_tables", "later_targets_improve", "lgh_improves_on_time_series"]

TargetGains = tuple[str, dict[str, Estimate]]
"""A target, or "mean", and the gain of each loss over L1."""


def _tables(results: Results) -> Iterator[tuple[int, str, list[TargetGains], dict[str, Estimate]]]:
    """Yield the number of each table, its problem, the gains of its targets, and those of their mean."""
    for number, problem in enumerate(GAIN_TABLES, start=2):
        one = results.select(problem=problem, draw="leave-one-out")
        if not {"l1", "lgh"} <= set(one.loss.tolist()):
            continue
        *targets, (_, _, overall) = gains_by_target(one, problem)
        if overall["lgh"].n:
            yield number, problem, [(name, gains) for name, _, gains in targets], overall


def lgh_improves_on_time_series(results: Results) -> list[Statement]:
    """Check that on the two time series Lgh does better than L1 in leave-one-out, on the mean of the targets."""
    found = []
    for number, problem, targets, overall in _tables(results):
        gain = overall["lgh"]
        each = ", ".join(f"{target} {100 * gains['lgh'].value:+.1f}" for target, gains in targets)
        statement = f"Table {number}: Lgh improves on L1 for {problem_title(problem)}, leave-one-out"
        found.append((statement, "an improvement", f"{as_points(gain)}; {each}", above(gain, 0.0)))
    return found


def gains_in_the_tables(results: Results) -> list[Statement]:
    """Check the gain of every loss on every target against the table, up to one point."""
    found = []
    for number, problem, targets, _ in _tables(results):
        for target, gains in targets:
            paper = GAIN_TABLES[problem].get(target, {})
            judged = {loss: gain.scaled(100) for loss, gain in gains.items() if loss in paper}
            if judged:
                found.append((
                    f"Table {number}, {target}: gains over L1",
                    ", ".join(f"{loss} {paper[loss]:+.1f}" for loss in judged) + " points",
                    ", ".join(f"{loss} {gain.value:+.1f} [{gain.low:.1f}, {gain.high:.1f}]" for loss, gain in judged.items())
                    + f" points (n = {min(gain.n for gain in judged.values())})",
                    together([within(gain, paper[loss], 100 * NOTICEABLE) for loss, gain in judged.items()]),
                ))  # fmt: skip
    return found


def later_targets_improve(results: Results) -> list[Statement]:
    """Check that Lgh does better than L1 on the targets that come later in a hierarchy, as the paper's text says."""
    found = []
    for _, problem, targets, _ in _tables(results):
        for target, gains in targets:
            if target in LATER_TARGETS:
                statement = f"Lgh improves the later target {target} of {problem_title(problem)}"
                found.append((statement, "an improvement", as_points(gains["lgh"]), above(gains["lgh"], 0.0)))
    return found
