"""A rival order: the linear order with the least sum of pairwise conditional entropies (after Lad et al. 2009)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gradus._bits import BoolMatrix

__all__ = ["conditional_entropies", "entropy_order", "linear_order"]

MAX_EXACT = 12
DECIMALS = 12  # entropies that differ by less are rounding errors of the same value
Costs = npt.NDArray[np.float64]


def conditional_entropies(Y: BoolMatrix) -> Costs:
    """Entropy in bits that is left in target j once target i is known.

    Parameters
    ----------
    Y : ndarray of bool, shape (n, m)

    Returns
    -------
    ndarray of shape (m, m)
        H(Y_j | Y_i) in row i, column j.

    Examples
    --------
    >>> conditional_entropies(np.array([[0, 0], [0, 1], [1, 1], [1, 1]], dtype=bool)).round(2).tolist()
    [[0.0, 0.5], [0.69, 0.0]]
    """
    ones = Y.astype(np.float64)
    together = np.zeros((Y.shape[1], Y.shape[1]))
    for first in (ones, 1 - ones):
        for second in (ones, 1 - ones):
            together += _plogp(first.T @ second / len(Y))
    alone = _plogp(ones.mean(axis=0)) + _plogp(1 - ones.mean(axis=0))
    left: Costs = np.maximum(together - alone[:, np.newaxis], 0.0).round(DECIMALS)
    return left


def _plogp(p: Costs) -> Costs:
    """-p log2 p, which is 0 at 0."""
    return -p * np.log2(np.where(p > 0, p, 1.0))


def entropy_order(Y: BoolMatrix, rng: np.random.Generator) -> tuple[int, ...]:
    """Order targets so that each is predictable from those before it: least sum of H(Y_j | Y_i) over all i before j.

    Equally good orders are chosen between at random. The order is exact for up to 12 targets; above, it is the best
    of all that are one insertion away from it.

    Examples
    --------
    >>> entropy_order(np.array([[0, 0], [0, 1], [1, 1], [1, 1]], dtype=bool), np.random.default_rng(0))
    (0, 1)
    """
    names = rng.permutation(Y.shape[1])
    order = linear_order(conditional_entropies(Y[:, names]))
    return tuple(int(names[place]) for place in order)


def linear_order(costs: Costs) -> list[int]:
    """Solve the linear ordering problem: least sum of costs[i, j] over all i placed before j.

    Exactly for up to 12 items, by dynamic programming over the sets that may come first; above, by insertions until
    none helps.

    Examples
    --------
    >>> linear_order(np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]]))
    [2, 1, 0]
    """
    return _exact_order(costs) if len(costs) <= MAX_EXACT else _order_by_insertion(costs)


def _exact_order(costs: Costs) -> list[int]:
    """Least cost of each set coming first, and which item of it comes last."""
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
    """Sort by how much each item costs in front of the others, then move single items while that lowers the cost."""
    difference = costs - costs.T
    order: list[int] = np.argsort(difference.sum(axis=1).round(DECIMALS), kind="stable").tolist()
    improved = True
    while improved:
        improved = False
        for item in list(order):
            rest = [other for other in order if other != item]
            # Moving the item one place back puts one more in front of it: what that saves, summed up.
            profile = np.concatenate([[0.0], np.cumsum(difference[rest, item])])
            here, best = order.index(item), int(np.argmin(profile))
            if profile[best] < profile[here] - 10.0**-DECIMALS:
                order = [*rest[:best], item, *rest[best:]]
                improved = True
    return order
