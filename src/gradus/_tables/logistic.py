"""`ridge_logistic`: a logistic regression of classes on true and false signs: one sum of weights for each class."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["ridge_logistic", "shares_of_scores"]

RIDGE = 0.5
"""What a weight costs, in rows: half its square."""
NEWTON_STEPS, ENOUGH = 12, 1e-3
STEPS = 100  # for more than two classes, where each costs little
LARGEST = 100.0  # of a score
MANY_ROWS = 10_000

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def ridge_logistic(signs: Floats, codes: Ints, rows: Floats, offset: Floats) -> tuple[Floats, Floats]:
    """Return what is added to the scores of the classes, for each class alone and for each sign, shape (signs, classes).

    `signs` are centred, `rows` are weights, and `offset` is what is known without the signs, which the ridge shrinks to.
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


def _two_classes(signs: Floats, codes: Ints, rows: Floats, offset: Floats) -> tuple[float, Floats]:
    """Find the weights of the second class by Newton's method, with shorter steps where a whole one leads too far."""
    table = np.column_stack([np.ones(len(signs)), signs])
    # The curvature says how fast the best weights are reached, not where they are, so of many rows half the digits do.
    rough = table.astype(np.float32) if len(table) > MANY_ROWS else table

    def cost(weights: Floats) -> float:
        score = offset + table @ weights
        return float(rows @ (np.logaddexp(0, score) - codes * score) + RIDGE * (weights @ weights) / 2)

    weights = np.zeros(table.shape[1])
    for _ in range(NEWTON_STEPS):
        share = 1 / (1 + np.exp(-np.clip(offset + table @ weights, -LARGEST, LARGEST)))
        doubt = rows * share * (1 - share)
        curvature = (rough * doubt.astype(rough.dtype)[:, np.newaxis]).T @ rough + RIDGE * np.eye(len(weights))
        step = np.linalg.solve(curvature, table.T @ (rows * (codes - share)) - RIDGE * weights)
        now = cost(weights)
        while np.abs(step).max() >= ENOUGH and cost(weights + step) > now:
            step = step / 2
        weights = weights + step
        if np.abs(step).max() < ENOUGH:
            break
    return float(weights[0]), weights[1:]


def _more_classes(signs: Floats, codes: Ints, rows: Floats, offset: Floats) -> tuple[Floats, Floats]:
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
