"""Orders of targets: the one a user asks for, the one by conditional entropies, and Kendall's tau of two orders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix
from gradus._core.checks import OnConflict
from gradus._core.run import Run
from gradus.errors import SettingsError

if TYPE_CHECKING:
    from gradus._curriculum.curriculum import Curriculum

__all__ = ["check_order", "conditional_entropies", "entropy_order", "kendall_tau", "linear_order", "resolve_order"]

ORDER_HELP = "use 'auto', 'entropy', 'random', None or a sequence of target columns."
MAX_EXACT = 12
DECIMALS = 12  # entropies that differ by less are rounding errors of the same value
Costs = npt.NDArray[np.float64]


def resolve_order(
    X: BoolMatrix,
    Y: BoolMatrix,
    order: str | Sequence[int] | npt.NDArray[np.integer[Any]] | None,
    *,
    seed: int = 0,
    choose: Literal["first", "random"] = "first",
    on_conflict: OnConflict = "raise",
    run: Run | None = None,
) -> tuple[tuple[int, ...], Curriculum | None]:
    """Turn the argument `order` of `search` or `learn` into an order of target columns."""
    n_targets = Y.shape[1]
    if order is None:
        return tuple(range(n_targets)), None
    if not isinstance(order, str):
        return check_order(order, n_targets), None
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    if order == "random":
        return tuple(int(k) for k in rng.permutation(n_targets)), None
    if order == "entropy":
        return entropy_order(Y, rng), None
    if order == "auto":
        from gradus._curriculum.curriculum import curriculum_of  # not above: other orders need no feature sets

        curriculum = curriculum_of(X, Y, Run() if run is None else run, seed=seed, choose=choose, on_conflict=on_conflict)
        return curriculum.order, curriculum
    raise SettingsError(f"order is {order!r}; {ORDER_HELP}")


def check_order(order: Any, n_targets: int) -> tuple[int, ...]:
    """Check that a sequence names every target column once, and return it as a tuple of plain integers."""
    try:
        values = [value.item() if isinstance(value, np.generic) else value for value in order]
    except TypeError:
        raise SettingsError(f"order is {order!r}; {ORDER_HELP}") from None
    for position, value in enumerate(values):
        if isinstance(value, bool) or not isinstance(value, int):
            raise SettingsError(f"order has {value!r} at position {position}; every entry must be a column number.")
        if not 0 <= value < n_targets:
            raise SettingsError(f"order has {value} at position {position}, but the targets are columns 0 to {n_targets - 1}.")
        if value in values[:position]:
            raise SettingsError(f"order names target {value} twice (the second time at position {position}).")
    if len(values) != n_targets:
        raise SettingsError(f"order names {len(values)} of {n_targets} targets; it must name each of them once.")
    return tuple(values)


def kendall_tau(order_a: Sequence[int], order_b: Sequence[int]) -> float:
    """Kendall's rank correlation of two orders of the same targets.

    Parameters
    ----------
    order_a, order_b : sequence of int
        Two orders of the targets 0 … m-1.

    Returns
    -------
    float
        1 if they are the same, -1 if one is the other backwards; 1 for a single target.

    Examples
    --------
    >>> kendall_tau([0, 1, 2], [0, 1, 2]), kendall_tau([0, 1, 2], [2, 1, 0])
    (1.0, -1.0)
    """
    from scipy.stats import kendalltau

    first = check_order(order_a, len(order_a))
    second = check_order(order_b, len(first))
    if len(first) == 1:
        return 1.0
    # SciPy correlates ranks, so each order is turned into the rank of every target.
    rounded = float(kendalltau(np.argsort(first), np.argsort(second)).statistic)
    # Without ties it is 1 - 2 d / pairs for a whole number d, so rounding errors can be removed.
    pairs = len(first) * (len(first) - 1) // 2
    return 1 - 2 * round((1 - rounded) * pairs / 2) / pairs


def conditional_entropies(Y: BoolMatrix) -> Costs:
    """Compute the conditional entropy in bits of every target, given every other."""
    ones = Y.astype(np.float64)
    together = np.zeros((Y.shape[1], Y.shape[1]))
    for first in (ones, 1 - ones):
        for second in (ones, 1 - ones):
            together += _plogp(first.T @ second / len(Y))
    alone = _plogp(ones.mean(axis=0)) + _plogp(1 - ones.mean(axis=0))
    left: Costs = np.maximum(together - alone[:, np.newaxis], 0.0).round(DECIMALS)
    return left


def _plogp(p: Costs) -> Costs:
    """Return -p log2 p, which is 0 at 0."""
    return -p * np.log2(np.where(p > 0, p, 1.0))


def entropy_order(Y: BoolMatrix, rng: np.random.Generator) -> tuple[int, ...]:
    """Order targets so that each is predictable from those before it: least sum of H(Y_j | Y_i) over all i before j."""
    # Ties are broken at random. Up to 12 targets the order is optimal; above, no move of a single target improves it.
    names = rng.permutation(Y.shape[1])
    order = linear_order(conditional_entropies(Y[:, names]))
    return tuple(int(names[place]) for place in order)


def linear_order(costs: Costs) -> list[int]:
    """Solve the linear ordering problem: least sum of costs[i, j] over all i placed before j."""
    # Up to 12 items are solved exactly, by dynamic programming over the sets that may come first; more, by moving single items
    # until no move helps.
    return _exact_order(costs) if len(costs) <= MAX_EXACT else _order_by_insertion(costs)


def _exact_order(costs: Costs) -> list[int]:
    """Find the best order from the least cost of every set of items that may come first, and the last item of each."""
    m = len(costs)
    members = np.arange(1 << m)[:, np.newaxis] >> np.arange(m) & 1
    cost_after = members @ costs  # [set, j]: what item j costs when placed right after the set
    best = np.full(1 << m, np.inf)
    best[0] = 0.0
    last = np.zeros(1 << m, dtype=np.int64)
    bits = 1 << np.arange(m)
    for subset in range(1, 1 << m):
        items = np.flatnonzero(members[subset])
        before = subset ^ bits[items]
        totals = (best[before] + cost_after[before, items]).round(DECIMALS)
        last[subset] = items[np.argmin(totals)]
        best[subset] = totals.min()
    order, subset = [], (1 << m) - 1
    while subset:
        order.append(int(last[subset]))
        subset ^= 1 << order[-1]
    return order[::-1]


def _order_by_insertion(costs: Costs) -> list[int]:
    """Sort by the cost of each item before the others, then move single items while that lowers the total cost."""
    difference = costs - costs.T
    order: list[int] = np.argsort(difference.sum(axis=1).round(DECIMALS), kind="stable").tolist()
    improved = True
    while improved:
        improved = False
        for item in list(order):
            rest = [other for other in order if other != item]
            # The cost of placing the item after none, one, two, … of the others.
            profile = np.concatenate([[0.0], np.cumsum(difference[rest, item])])
            here, best = order.index(item), int(np.argmin(profile))
            if profile[best] < profile[here] - 10.0**-DECIMALS:
                order = [*rest[:best], item, *rest[best:]]
                improved = True
    return order
