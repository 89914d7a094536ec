"""The four losses on an error matrix, in plain NumPy: the definitions that every fast kernel is checked against.

An error matrix E has one row per example and one column per target, in curriculum order: E[i, k] is 1 if target k is
wrong on example i. Every loss is 0 exactly if nothing is wrong, and 1 if everything is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np

from gradus._core.bits import BoolMatrix, as_bits
from gradus._core.checks import check_choice
from gradus.errors import DataError

__all__ = ["LOSSES", "LossName", "by_name", "l1", "lgh", "llh", "lw"]

LossName = Literal["l1", "lw", "llh", "lgh"]
LOSSES: tuple[LossName, ...] = get_args(LossName)


def _errors(E: Any) -> BoolMatrix:
    errors = as_bits(E, "E")
    if errors.shape[1] == 0:
        raise DataError("E has no columns; give at least one target.")
    return errors


def l1(E: Any) -> float:
    r"""Mean error: every target counts the same on every example.

    .. math:: L_1 = \frac{1}{nm} \sum_{i,k} E_{ik}

    Parameters
    ----------
    E : array-like of 0/1, shape (n, m)

    Returns
    -------
    float
        In [0, 1].

    Examples
    --------
    >>> l1([[0, 1], [0, 0]])
    0.25
    """
    return float(_errors(E).mean())


def lw(E: Any) -> float:
    r"""Weighted error: earlier targets weigh more, linearly.

    .. math:: L_w = \frac{2}{n\,m(m+1)} \sum_{k=0}^{m-1} (m-k) \sum_i E_{ik}

    Parameters
    ----------
    E : array-like of 0/1, shape (n, m)

    Returns
    -------
    float
        In [0, 1].

    Examples
    --------
    >>> lw([[1, 0], [1, 0]]), lw([[0, 1], [0, 1]])
    (0.6666666666666666, 0.3333333333333333)
    """
    errors = _errors(E)
    n, m = errors.shape
    weights = np.arange(m, 0, -1)
    return float(weights @ errors.sum(axis=0) / (n * m * (m + 1) / 2))


def llh(E: Any) -> float:
    r"""Local hierarchy: a target counts as right on an example only if all earlier ones are right on it.

    .. math:: H_{ik} = H_{i,k-1} \lor E_{ik}, \qquad L_{lh} = \frac{1}{nm} \sum_{i,k} H_{ik}

    Parameters
    ----------
    E : array-like of 0/1, shape (n, m)

    Returns
    -------
    float
        In [0, 1].

    Examples
    --------
    >>> llh([[1, 0, 0], [0, 0, 1]])
    0.6666666666666666
    """
    return float(np.logical_or.accumulate(_errors(E), axis=1).mean())


def lgh(E: Any) -> float:
    r"""Global hierarchy: a target counts only once all earlier ones are right on every example.

    With :math:`e_k = \sum_i E_{ik}` and f the first k with :math:`e_k > 0` (the loss is 0 if there is none):

    .. math:: L_{gh} = \frac{n (m - 1 - f) + e_f}{nm}

    Parameters
    ----------
    E : array-like of 0/1, shape (n, m)

    Returns
    -------
    float
        In [0, 1].

    Examples
    --------
    >>> lgh([[0, 1, 0], [0, 0, 0]])
    0.5
    """
    errors = _errors(E)
    n, m = errors.shape
    wrong = errors.sum(axis=0)
    if not wrong.any():
        return 0.0
    first = int(np.argmax(wrong > 0))
    return float((n * (m - 1 - first) + int(wrong[first])) / (n * m))


def by_name(name: str) -> Callable[[Any], float]:
    """Return the loss called `name`.

    Examples
    --------
    >>> by_name("lgh") is lgh
    True
    """
    losses: dict[str, Callable[[Any], float]] = {"l1": l1, "lw": lw, "llh": llh, "lgh": lgh}
    return losses[check_choice("loss", name, LOSSES)]


def largest_cost(loss: LossName, n_targets: int, n_examples: int) -> int:
    """Return the cost of a network that is wrong everywhere: the public loss is the integer cost divided by it."""
    weights = n_targets * (n_targets + 1) // 2 if loss == "lw" else n_targets
    return weights * n_examples
