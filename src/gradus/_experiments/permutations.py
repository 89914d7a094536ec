"""Orders as specs name them: which there are, and how they are drawn, the same with every version of numpy."""

from __future__ import annotations

import functools

import numpy as np

from gradus._wording import counted
from gradus.errors import SettingsError

__all__ = ["all_taus", "check_order", "inversions_for_tau", "permutation", "permutation_with_inversions"]


def permutation(n: int, seed: int) -> tuple[int, ...]:
    """Draw a permutation of 0 … n-1.

    Examples
    --------
    >>> sorted(permutation(5, 1))
    [0, 1, 2, 3, 4]
    """
    words = np.random.PCG64(np.random.SeedSequence(seed)).random_raw(n)
    return tuple(int(k) for k in np.argsort(words, kind="stable"))


def all_taus(n: int) -> list[float]:
    """Every value that Kendall's tau of two orders of n targets can take, from 1 down; there are n(n-1)/2 + 1.

    Examples
    --------
    >>> len(all_taus(5)), [round(tau, 2) for tau in all_taus(3)]
    (11, [1.0, 0.33, -0.33, -1.0])
    """
    pairs = n * (n - 1) // 2
    return [1.0 - 2.0 * k / pairs for k in range(pairs + 1)] if pairs else [1.0]


def inversions_for_tau(tau: float, n: int) -> int:
    """Pairs that stand the wrong way round in an order of n targets with this tau.

    Examples
    --------
    >>> inversions_for_tau(0.8, 5)
    1
    """
    pairs = n * (n - 1) // 2
    exact = (1.0 - tau) / 2.0 * pairs
    if abs(exact - round(exact)) > 1e-3 or (not pairs and tau != 1.0):
        near = sorted(all_taus(n), key=lambda value: abs(value - tau))[:2]
        values = " and ".join(f"{value:.6g}" for value in sorted(near))
        raise SettingsError(f"no order of {counted(n, 'target')} has tau = {tau:g}; the nearest possible: {values}.")
    return round(exact)


def check_order(order: str, n_targets: int, problem: str, *, known: bool) -> None:
    """Refuse an order that the targets of a problem cannot have.

    Parameters
    ----------
    order : str
        A word that `gradus._experiments.tasks.Design` takes.
    n_targets : int
    problem : str
        Its name, for the message.
    known : bool
        Whether an order of its targets is known.

    Examples
    --------
    >>> check_order("given:1,0", 3, "add3", known=True)
    Traceback (most recent call last):
        ...
    gradus.errors.SettingsError: order is 'given:1,0'; it must name each of the targets 0 to 2 once.
    """
    kind, _, value = order.partition(":")
    if kind in ("known", "tau") and not known:
        raise SettingsError(
            f"order is {order!r}, but no order of the targets of {problem!r} is known; use 'auto', 'none' or 'given:...'."
        )
    if kind == "tau":
        inversions_for_tau(float(value), n_targets)
    if kind == "given" and sorted(map(int, value.split(","))) != list(range(n_targets)):
        raise SettingsError(f"order is {order!r}; it must name each of the targets 0 to {n_targets - 1} once.")


@functools.cache
def _counts(n: int, inversions: int) -> int:
    """How many orders of n things have so many inversions."""
    if inversions < 0 or inversions > n * (n - 1) // 2:
        return 0
    if n <= 1:
        return 1
    return sum(_counts(n - 1, inversions - k) for k in range(n))


def permutation_with_inversions(n: int, inversions: int, seed: int) -> tuple[int, ...]:
    """Draw uniformly among the orders of 0 … n-1 with so many inversions.

    Examples
    --------
    >>> permutation_with_inversions(4, 0, seed=3), permutation_with_inversions(4, 6, seed=3)
    ((0, 1, 2, 3), (3, 2, 1, 0))
    """
    total = _counts(n, inversions)
    if not total:
        raise SettingsError(f"no order of {n} targets has {inversions} inversions.")
    stream = np.random.PCG64(np.random.SeedSequence(seed))
    left, remaining = inversions, list(range(n))
    chosen: list[int] = []
    for size in range(n, 0, -1):
        ways = [_counts(size - 1, left - k) for k in range(size)]
        pick = int(stream.random_raw()) % sum(ways)
        place = 0
        while pick >= ways[place]:
            pick -= ways[place]
            place += 1
        chosen.append(remaining.pop(place))
        left -= place
    return tuple(chosen)
