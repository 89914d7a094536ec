"""Plain classifiers on the same training sets, so that nobody takes a gain for more than it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gradus._bits import BoolMatrix, unpack

if TYPE_CHECKING:
    from gradus._experiments.beds import TrainingSet
    from gradus._experiments.tasks import Task

__all__ = ["fit_baseline"]

Predictor = Callable[[BoolMatrix], BoolMatrix]


def fit_baseline(task: Task, data: TrainingSet, order: tuple[int, ...]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Train a baseline and count its errors, for each target, on the training and on the test patterns."""
    seed = task.search_seed % 2**32
    fit = {"majority": _majority, "tree": _tree, "chain": _chain, "forest": _forest, "mlp": _mlp}[task.design.method]
    predict = fit(data.X, data.Y, order, seed)
    train_errors = (predict(data.X) ^ data.Y).sum(axis=0)
    n_patterns = len(data.test_mask) * 64
    tested = unpack(data.test_mask[np.newaxis], n_patterns)[:, 0]
    X, Y = unpack(data.inputs, n_patterns)[tested], unpack(data.targets, n_patterns)[tested]
    test_errors = (predict(X) ^ Y).sum(axis=0) if len(X) else np.zeros(Y.shape[1])
    return train_errors.astype(np.int64), test_errors.astype(np.int64)


def _majority(X: BoolMatrix, Y: BoolMatrix, order: tuple[int, ...], seed: int) -> Predictor:
    common = 2 * Y.sum(axis=0) >= len(Y)
    return lambda X: np.repeat(common[np.newaxis], len(X), axis=0)


def _tree(X: BoolMatrix, Y: BoolMatrix, order: tuple[int, ...], seed: int) -> Predictor:
    from sklearn.tree import DecisionTreeClassifier

    return _each_target(lambda: DecisionTreeClassifier(random_state=seed), X, Y)


def _forest(X: BoolMatrix, Y: BoolMatrix, order: tuple[int, ...], seed: int) -> Predictor:
    from sklearn.ensemble import RandomForestClassifier

    return _each_target(lambda: RandomForestClassifier(n_estimators=100, random_state=seed), X, Y)


def _mlp(X: BoolMatrix, Y: BoolMatrix, order: tuple[int, ...], seed: int) -> Predictor:
    from sklearn.neural_network import MLPClassifier

    # With so few examples L-BFGS converges where stochastic gradients would need tuning.
    make = lambda: MLPClassifier((32,), solver="lbfgs", max_iter=1000, random_state=seed)  # noqa: E731
    return _each_target(make, X, Y)


def _chain(X: BoolMatrix, Y: BoolMatrix, order: tuple[int, ...], seed: int) -> Predictor:
    """Trees one after the other in the order of the curriculum, each seeing the targets before it."""
    from sklearn.tree import DecisionTreeClassifier

    trees: list[Any] = []
    for place, column in enumerate(order):
        seen = np.column_stack([X, Y[:, list(order[:place])]])
        trees.append(DecisionTreeClassifier(random_state=seed).fit(seen, Y[:, column]))

    def predict(X: BoolMatrix) -> BoolMatrix:
        result = np.empty((len(X), len(order)), dtype=np.bool_)
        for place, column in enumerate(order):
            seen = np.column_stack([X, result[:, list(order[:place])]])
            result[:, column] = trees[place].predict(seen)
        return result

    return predict


def _each_target(make: Callable[[], Any], X: BoolMatrix, Y: BoolMatrix) -> Predictor:
    """One classifier a target; a target that never changes in training is predicted to stay."""
    models = [None if column.min() == column.max() else make().fit(X, column) for column in Y.T]

    def predict(X: BoolMatrix) -> BoolMatrix:
        columns = [
            np.full(len(X), Y[0, k]) if model is None else model.predict(X).astype(np.bool_) for k, model in enumerate(models)
        ]
        return np.column_stack(columns)

    return predict
