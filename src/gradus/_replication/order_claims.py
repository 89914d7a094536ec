"""The paper's statements about orders: those found automatically, and those at every distance from the known one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradus._experiments.results import Results
from gradus._replication.estimates import mean_by_size, mean_interval
from gradus._replication.gains import gain_matrix, peak, peak_size, share_of_gain
from gradus._replication.paper import AUTOMATIC, problem_title, problems_of
from gradus._replication.verdicts import (
    DOES_NOT_HOLD,
    HOLDS,
    NOT_ENOUGH,
    NOTICEABLE,
    Statement,
    above,
    as_number,
    as_points,
    as_share,
    in_known_order,
    in_points,
    not_below,
    together,
    within,
)

__all__ = ["automatic_order_keeps_the_gain", "gain_grows_with_tau", "order_and_nesting_are_found"]

EXCEPTION = "cmux15"
"""The problem on which an automatic order does not help, according to the paper."""
OPPOSITE = {HOLDS: DOES_NOT_HOLD, DOES_NOT_HOLD: HOLDS, NOT_ENOUGH: NOT_ENOUGH}
NEARLY_ALL = 0.7
"""Share of the gain that counts as nearly all of it."""
AS_LARGE = 0.4
"""Relative difference up to which the loss in the reverse order counts as large as the gain."""


def _problems_with_automatic_orders(results: Results) -> Iterator[tuple[str, Results, Results, Results]]:
    """Yield each problem with its networks of L1, and those of Lgh in the known and in automatic orders."""
    for problem in problems_of(results, others=False):
        base, known = in_known_order(results, problem, "l1"), in_known_order(results, problem, "lgh")
        auto = results.select(problem=problem, loss="lgh", order=AUTOMATIC)
        if len(base) and len(known) and len(auto):
            yield problem, base, known, auto


def automatic_order_keeps_the_gain(results: Results) -> list[Statement]:
    """Check that the automatic order keeps nearly all of the gain, except on the multiplexer."""
    found = []
    for problem, base, known, auto in _problems_with_automatic_orders(results):
        size, gain = peak(known, base)
        kept = share_of_gain(auto, known, base, size)
        keeps = above(kept, NEARLY_ALL) if gain.low > 0 else NOT_ENOUGH
        exception = problem == EXCEPTION
        found.append((
            f"The automatic order {'does not keep' if exception else 'keeps'} the gain on {problem_title(problem)}",
            "much less" if exception else "nearly all",
            f"{as_share(kept)} of {as_points(gain)} at {size} examples",
            OPPOSITE[keeps] if exception else keeps,
        ))  # fmt: skip
    return found


def order_and_nesting_are_found(results: Results) -> list[Statement]:
    """Check that tau and eta are above one half just before and at the peak of the gain, except on the multiplexer."""
    found = []
    for problem, base, known, auto in _problems_with_automatic_orders(results):
        top, _ = peak(known, base)
        # The size before the peak, and the peak itself: the first one tells whether they passed before it.
        sizes = [size for size in auto.sizes if size <= top][-2:]
        if not sizes:
            continue
        at = {size: [dict(mean_by_size(auto, values))[size] for values in (auto.tau, auto.eta)] for size in sizes}
        both = together([above(one, 0.5) for pair in at.values() for one in pair])
        exception = problem == EXCEPTION
        found.append((
            f"On {problem_title(problem)} τ and η are {'not both ' if exception else ''}above 0.5 at the size before the peak "
            "of the gain and at the peak",
            "not both" if exception else "both",
            "; ".join(f"τ = {as_number(tau)}, η = {as_number(eta)} at {size} examples" for size, (tau, eta) in at.items())
            + f" (n = {min(one.n for pair in at.values() for one in pair)})",
            OPPOSITE[both] if exception else both,
        ))  # fmt: skip
    return found


def gain_grows_with_tau(results: Results) -> list[Statement]:
    """Check that on addition the gain grows with tau, is largest at 1, and is as negative at -1."""
    one = results.select(problem="add5", method="network")
    ordered = np.array([str(order).startswith("tau:") for order in one.order.tolist()], dtype=np.bool_)
    if not ordered.any() or "l1" not in one.loss.tolist():
        return []
    # Networks taught in the known order may be there at other sizes, too, for another figure.
    one = one.where(ordered | (one.loss == "l1"))
    size = peak_size(one)
    if size is None:
        return []
    taus, gains = gain_matrix(one, size)
    if taus[0] != -1.0:  # these are statements on all orders, from the known one to its reverse
        return []
    slope = mean_interval(np.polyfit(taus, gains.T, 1)[0] if len(gains) else [])
    means = gains.mean(axis=0) if len(gains) else np.full(len(taus), np.nan)
    best, next_best = (int(np.argmax(one)) for one in (means, means[:-1]))
    first, last = mean_interval(gains[:, -1]), mean_interval(gains[:, 0])
    lead, mirror = mean_interval(gains[:, -1] - gains[:, next_best]), mean_interval(gains[:, -1] + gains[:, 0])
    rise = f"{in_points(slope)} from τ = 0 to 1, over {len(taus)} values at {size} examples"
    on_addition = "On 5-bit addition the"
    return [
        (f"{on_addition} gain grows with τ", "grows", rise, above(slope, 0.0)),
        (
            f"{on_addition} gain is largest at τ = 1",
            "largest",
            f"largest at τ = {taus[best]:.1f}; {in_points(first)} at τ = 1, "
            f"{in_points(lead)} more than at {taus[next_best]:.1f}",
            not_below(lead, 100 * NOTICEABLE),
        ),
        (
            f"{on_addition} loss at τ = -1 is as large as the gain at τ = 1",
            "as negative",
            f"{in_points(last)} against {in_points(first)}; together {in_points(mirror)}",
            within(mirror, 0.0, tolerance=AS_LARGE * abs(first.value)),
        ),
    ]
