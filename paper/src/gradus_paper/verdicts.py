"""Verdicts on estimates, decided by whole intervals and only with enough observations, and the wording of estimates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradus_paper.estimates import Estimate
from gradus_paper.gains import FEWEST_PAIRS

__all__ = [
    "CLOSE",
    "DIRECTION",
    "DOES_NOT_HOLD",
    "HOLDS",
    "NOTICEABLE",
    "UNDECIDED",
    "VERDICTS",
    "Statement",
    "above",
    "as_points",
    "as_share",
    "in_points",
    "not_below",
    "together",
    "within",
]

HOLDS, CLOSE, DIRECTION = "holds", "close", "direction confirmed"
UNDECIDED, DOES_NOT_HOLD = "undecided", "does not hold"
VERDICTS = (HOLDS, CLOSE, DIRECTION, UNDECIDED, DOES_NOT_HOLD)
"""Every verdict, from the best to the worst."""
Statement = tuple[str, str, str, str]
"""The statement, the paper's value, ours, and the verdict."""
NOTICEABLE = 0.01
"""Difference in mean accuracy (one point) below which two things count as not distinguishable."""


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
