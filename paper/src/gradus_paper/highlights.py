"""The few sentences that a short run ends with, from its results alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from gradus._core.wording import counted
from gradus_paper.claims import Claim
from gradus_paper.estimates import Estimate, accuracy_by_size, gain_by_size
from gradus_paper.gains import in_known_order
from gradus_paper.results import Results
from gradus_paper.verdicts import CLOSE, DIRECTION, DOES_NOT_HOLD, HOLDS, UNDECIDED, VERDICTS

__all__ = ["HEADLINE_SIZE", "headline_numbers", "highlights", "verdict_counts"]

HEADLINE_SIZE = 40
"""Training examples at which parity is summed up; the full replication has its largest gain there."""
WHAT = {"L1": "all targets at once", "Lgh": "the paper's curriculum", "lessons": "ours, given no order"}
COUNTED = {
    HOLDS: ("holds", "hold"),
    CLOSE: ("is close", "are close"),
    DIRECTION: ("is confirmed in direction", "are confirmed in direction"),
    UNDECIDED: ("is undecided", "are undecided"),
    DOES_NOT_HOLD: ("does not hold", "do not hold"),
}


def verdict_counts(claims: Sequence[Claim]) -> str:
    """Write how many statements have each verdict, leaving out verdicts that none has."""
    counts = Counter(claim.verdict for claim in claims)
    return ", ".join(f"{counts[word]} {COUNTED[word][counts[word] > 1]}" for word in VERDICTS if counts[word])


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


def highlights(results: Results, claims: Sequence[Claim]) -> tuple[str, ...]:
    """Sum up the rows of the quick run in sentences; nothing for results without them."""
    return tuple(line for line in (_parity(results), _adder(results), _statements(claims)) if line)


def _parity(results: Results) -> str:
    numbers = headline_numbers(results)
    if numbers is None:
        return ""
    accuracy, gain = numbers
    each = ", ".join(f"{name} {100 * estimate.value:.1f} % ({WHAT[name]})" for name, estimate in accuracy.items())
    points, sets = gain.scaled(100), counted(gain.n, "training set")
    return (
        f"7-bit parity from {HEADLINE_SIZE} of 128 patterns ({sets}), unseen bits right: {each}. "
        f"The curriculum gains {points.value:.1f} points [{points.low:.1f}, {points.high:.1f}]; the paper says up to 10."
    )


def _adder(results: Results) -> str:
    rows = results.select(problem="add6", method="lessons", n_train=80).usable_only()
    if not len(rows):
        return ""
    exact = int((rows.accuracy == 1.0).sum())
    gates = sorted(set(rows.where(rows.accuracy == 1.0).live_gates.tolist()))
    sizes = f" with {gates[0]} to {gates[-1]} gates" if len(gates) > 1 else "".join(f" with {size} gates" for size in gates)
    mean = f"; mean {100 * float(np.mean(rows.accuracy)):.1f} %" if exact < len(rows) else ""
    return (
        f"6-bit addition from 80 of 4,096 patterns: lessons are right on all 4,016 others for {exact} of "
        f"{counted(len(rows), 'training set')}{sizes}{mean}."
    )


def _statements(claims: Sequence[Claim]) -> str:
    if not claims:
        return ""
    is_short = any(claim.verdict in (DIRECTION, UNDECIDED) for claim in claims)
    more = " The page has the numbers of the full replication beside them." if is_short else ""
    return f"Statements of the paper that so short a run can check: {verdict_counts(claims)}.{more}"
