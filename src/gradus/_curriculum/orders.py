"""One front for every way to order targets, and Kendall's tau between two orders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gradus._bits import BoolMatrix
from gradus._curriculum.entropy import entropy_order
from gradus.errors import SettingsError

if TYPE_CHECKING:
    from gradus._curriculum.find import Curriculum

__all__ = ["kendall_tau", "resolve_order"]

ORDER_HELP = "use 'auto', 'entropy', 'random', None or a sequence of target columns."


def resolve_order(
    X: BoolMatrix,
    Y: BoolMatrix,
    order: str | Sequence[int] | None,
    *,
    seed: int = 0,
    choose: Literal["first", "random"] = "first",
    time_limit: float | None = None,
    on_conflict: Literal["raise", "ignore"] = "raise",
) -> tuple[tuple[int, ...], Curriculum | None]:
    """Turn what a user may say about the order into the order itself.

    Parameters
    ----------
    X, Y : ndarray of bool, shapes (n, l) and (n, m)
        Checked examples.
    order : {"auto", "entropy", "random"}, None or sequence of int
        "auto" finds a curriculum from minimum feature sets, "entropy" minimises the pairwise conditional entropies,
        "random" draws an order, None keeps the columns as they stand, and a sequence of all target columns is used as
        it is.
    seed : int
        Decides ties and draws.
    choose, time_limit, on_conflict
        Passed to `find_curriculum` when the order is "auto".

    Returns
    -------
    order : tuple of int
        Target columns, the first to be learned first.
    curriculum : Curriculum or None
        Where the order came from; None unless it is "auto".

    Raises
    ------
    SettingsError
        If the order is an unknown word, or a sequence that does not name every target exactly once.

    Examples
    --------
    >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=bool)
    >>> Y = np.array([[0, 0], [0, 1], [0, 1], [1, 1]], dtype=bool)
    >>> resolve_order(X, Y, [1, 0])
    ((1, 0), None)
    """
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
        from gradus._curriculum.find import find_curriculum

        found = find_curriculum(X, Y, seed=seed, choose=choose, time_limit=time_limit, on_conflict=on_conflict)
        return found.order, found
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
    # SciPy correlates ranks, so each order is turned into "the place of target k".
    rounded = float(kendalltau(np.argsort(first), np.argsort(second)).statistic)
    # Without ties it is 1 - 2 d / pairs for a whole number d, so the rounding errors can be taken out again.
    pairs = len(first) * (len(first) - 1) // 2
    return 1 - 2 * round((1 - rounded) * pairs / 2) / pairs
