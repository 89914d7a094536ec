"""`ridge_logistic`: a logistic regression of classes on true and false signs: one sum of weights for each class."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["centred", "ridge_logistic", "shares_of_scores"]

RIDGE = 0.5
"""What a weight costs, in rows: half its square."""
NEWTON_STEPS, ENOUGH = 12, 1e-3
STEPS = 100  # for more than two classes, where each costs little
LARGEST = 100.0  # of a score
MANY_ROWS, AT_ONCE = 10_000, 1 << 13
"""Rows from which on signs take half the memory, and how many are summed at once, in whole precision."""

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def centred(signs: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[Any], Floats]:
    """Return signs less their means, and the means."""
    centre = signs.mean(axis=0)
    return signs - (centre.astype(np.float32) if len(signs) > MANY_ROWS else centre), centre


def ridge_logistic(signs: npt.NDArray[Any], codes: Ints, rows: Floats, offset: Floats) -> tuple[Floats, Floats]:
    """Return what is added to the scores of the classes, for each class alone and for each sign, shape (signs, classes).

    `signs` are centred, `rows` are weights, and `offset` is what is known without them, which the ridge shrinks to.
    """
    if offset.shape[1] == 2:
        level, weights = _two_classes(signs, codes, rows, offset[:, 1] - offset[:, 0])
        half = np.array([-0.5, 0.5])
        return level * half, np.outer(weights, half)
    return _more_classes(signs, codes, rows, offset)


def shares_of_scores(scores: Floats) -> Floats:
    """Turn scores of classes into probabilities."""
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _two_classes(signs: npt.NDArray[Any], codes: Ints, rows: Floats, offset: Floats) -> tuple[float, Floats]:
    """Find the weights of the second class by Newton's method, with shorter steps where a whole one leads too far."""
    n = len(signs)
    parts = [slice(begin, begin + AT_ONCE) for begin in range(0, n, AT_ONCE)] if n > MANY_ROWS else [slice(0, n)]
    tables = [] if n > MANY_ROWS else [_table(signs)]

    def table(number: int) -> npt.NDArray[Any]:  # of many rows, some at a time
        return tables[number] if tables else _table(signs[parts[number]])

    def scores(weights: Floats) -> Floats:
        each = [table(k).astype(np.float64, copy=False) @ weights for k in range(len(parts))]
        return offset + np.concatenate(each)

    def cost(weights: Floats) -> float:
        score = scores(weights)
        return float(rows @ (np.logaddexp(0, score) - codes * score) + RIDGE * (weights @ weights) / 2)

    weights = np.zeros(signs.shape[1] + 1)
    for _ in range(NEWTON_STEPS):
        share = 1 / (1 + np.exp(-np.clip(scores(weights), -LARGEST, LARGEST)))
        doubt, wrong = rows * share * (1 - share), rows * (codes - share)
        slope, curvature = -RIDGE * weights, RIDGE * np.eye(len(weights))
        for k, part in enumerate(parts):
            some = table(k)
            slope = some.astype(np.float64, copy=False).T @ wrong[part] + slope
            # The curvature says how fast the best weights are reached, not where they are: half the digits do.
            curvature = (some * doubt[part, np.newaxis].astype(some.dtype)).T @ some + curvature
        step = np.linalg.solve(curvature, slope)
        now = cost(weights)
        while np.abs(step).max() >= ENOUGH and cost(weights + step) > now:
            step = step / 2
        weights = weights + step
        if np.abs(step).max() < ENOUGH:
            break
    return float(weights[0]), weights[1:]


def _table(signs: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return signs beside a sign that is always true."""
    return np.column_stack([np.ones(len(signs), dtype=signs.dtype), signs])


def _more_classes(signs: npt.NDArray[Any], codes: Ints, rows: Floats, offset: Floats) -> tuple[Floats, Floats]:
    """Find the weights of several classes by accelerated steps under one bound of the curvature for all (Böhning, 1992)."""
    table = np.column_stack([np.ones(len(signs)), signs])
    member = np.eye(offset.shape[1])[codes]
    bound = np.linalg.inv((table * rows[:, np.newaxis]).T @ table / 2 + RIDGE * np.eye(table.shape[1]))
    weights = ahead = np.zeros((table.shape[1], offset.shape[1]))
    for step in range(1, STEPS + 1):
        wrong = rows[:, np.newaxis] * (member - shares_of_scores(offset + table @ ahead))
        moved = ahead + bound @ (table.T @ wrong - RIDGE * ahead)
        change, weights = moved - weights, moved
        if np.abs(change).max() < ENOUGH:
            break
        ahead = moved + (step - 1) / (step + 2) * change
    return weights[0], weights[1:]
