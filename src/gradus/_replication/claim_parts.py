"""What the claims share: the rows they look at, how much counts as a difference, and how an estimate is said."""

from __future__ import annotations

from gradus._experiments.results import Results
from gradus._replication.figures.style import BEDS
from gradus._replication.stats import Estimate

__all__ = [
    "NOTICEABLE",
    "Statement",
    "as_number",
    "as_percent",
    "as_points",
    "as_share",
    "beds_of",
    "in_known_order",
    "in_points",
]

Statement = tuple[str, str, str, str]
"""The statement, the paper's value, ours, and the verdict."""
NOTICEABLE = 0.01
"""Difference in mean accuracy (one point) below which two things count as not distinguishable."""


def in_known_order(results: Results, problem: str, loss: str) -> Results:
    """Networks that were taught in the known order, not shrunk and not chosen among several."""
    return results.select(problem=problem, method="network", loss=loss, order="known", shrink=0, attempts=1)


def beds_of(results: Results) -> list[str]:
    """Those of the paper's five problems that there are results for."""
    there = set(results.problems)
    return [bed for bed in BEDS if bed in there]


def as_points(estimate: Estimate) -> str:
    """Say a difference in accuracy.

    Examples
    --------
    >>> as_points(Estimate(0.0941, 0.087, 0.1004, 1000))
    '+9.4 [8.7, 10.0] points (n = 1000)'
    """
    return in_points(estimate.scaled(100))


def in_points(estimate: Estimate) -> str:
    """Say a difference that is in points already."""
    return f"{estimate.value:+.1f} [{estimate.low:.1f}, {estimate.high:.1f}] points (n = {estimate.n})"


def as_number(estimate: Estimate) -> str:
    """Say a value with its interval."""
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


def as_percent(estimate: Estimate) -> str:
    """Say an accuracy."""
    return f"{100 * estimate.value:.1f} %"


def as_share(estimate: Estimate) -> str:
    """Say a share with its interval."""
    return f"{100 * estimate.value:.0f} % [{100 * estimate.low:.0f}, {100 * estimate.high:.0f}]"
