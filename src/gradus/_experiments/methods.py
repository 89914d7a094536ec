"""Methods other than the paper's search, on the same training sets: lessons, and plain classifiers as baselines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._bits import BoolMatrix, unpack
from gradus._experiments.task_orders import TargetOrder, order_of, shuffled_targets, tau_of
from gradus._experiments.tasks import Task
from gradus._experiments.training_sets import TrainingSet

__all__ = ["Fit", "fit_method"]

Predictor = Callable[[BoolMatrix], BoolMatrix]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Fit:
    """What a method learned, as errors of each target."""

    order: TargetOrder
    train_errors: Counts
    test_errors: Counts
    n_gates: int | None = None
    """Gates of the best circuit; None for a classifier that is not a circuit."""
    best_circuit_errors: Counts | None = None
    """Errors on the test patterns of the best circuit alone, where several vote."""


def fit_method(task: Task, data: TrainingSet) -> Fit:
    """Train a task's method and count its errors on the training and on the test patterns."""
    if task.design.method == "lessons":
        return _lessons(task, data)
    order = order_of(task)
    if task.design.method != "chain":  # only the chain has a use for it
        order = TargetOrder(order.order, None, None)
    predict = _BASELINES[task.design.method](data.X, data.Y, order.order, task.search_seed % 2**32)
    return Fit(order, _errors(predict, data.X, data.Y), _errors(predict, *_test_patterns(data)))


def _lessons(task: Task, data: TrainingSet) -> Fit:
    """Learn circuits; one fit says how well they vote and how good the best of them is alone."""
    from gradus._lessons import learn

    m = data.Y.shape[1]
    shuffled = list(shuffled_targets(task.set_key, m) if task.design.shuffle else range(m))
    result = learn(data.X, data.Y[:, shuffled], seed=task.search_seed, n_jobs=1)
    columns = tuple(shuffled[place] for place in result.order)
    places = np.argsort(shuffled)  # back to the problem's order of the targets
    X, Y = _test_patterns(data)
    return Fit(
        TargetOrder(columns, tau_of(columns, data), None),
        train_errors=_errors(lambda X: result.predict(X)[:, places], data.X, data.Y),
        test_errors=_errors(lambda X: result.predict(X)[:, places], X, Y),
        n_gates=int(result.n_gates),
        best_circuit_errors=_errors(lambda X: result.network.predict(X)[:, places], X, Y),
    )


def _test_patterns(data: TrainingSet) -> tuple[BoolMatrix, BoolMatrix]:
    n_patterns = len(data.test_mask) * 64
    tested = unpack(data.test_mask[np.newaxis], n_patterns)[:, 0]
    return unpack(data.inputs, n_patterns)[tested], unpack(data.targets, n_patterns)[tested]


def _errors(predict: Predictor, X: BoolMatrix, Y: BoolMatrix) -> Counts:
    """Count the errors of each target; classifiers refuse to predict nothing."""
    errors = (predict(X) ^ Y).sum(axis=0) if len(X) else np.zeros(Y.shape[1])
    return np.asarray(errors, dtype=np.int64)


def _majority(X: BoolMatrix, Y: BoolMatrix, order: tuple[int, ...], seed: int) -> Predictor:
    common = 2 * Y.sum(axis=0) >= len(Y)
    return lambda X: np.repeat(common[np.newaxis], len(X), axis=0)


def _tree(X: BoolMatrix, Y: BoolMatrix, order: tuple[int, ...], seed: int) -> Predictor:
    from sklearn.tree import DecisionTreeClassifier

    return _each_target(lambda: DecisionTreeClassifier(random_state=seed), X, Y)


def _forest(X: BoolMatrix, Y: BoolMatrix, order: tuple[int, ...], seed: int) -> Predictor:
    from sklearn.ensemble import RandomForestClassifier

    return _each_target(lambda: RandomForestClassifier(n_estimators=100, random_state=seed), X, Y)


def _boosting(X: BoolMatrix, Y: BoolMatrix, order: tuple[int, ...], seed: int) -> Predictor:
    from sklearn.ensemble import GradientBoostingClassifier

    return _each_target(lambda: GradientBoostingClassifier(n_estimators=100, random_state=seed), X, Y)


def _mlp(X: BoolMatrix, Y: BoolMatrix, order: tuple[int, ...], seed: int) -> Predictor:
    from sklearn.neural_network import MLPClassifier

    # With so few examples L-BFGS converges where stochastic gradients would need tuning.
    make = lambda: MLPClassifier((32,), solver="lbfgs", max_iter=1000, random_state=seed)  # noqa: E731
    return _each_target(make, X, Y)


def _chain(X: BoolMatrix, Y: BoolMatrix, order: tuple[int, ...], seed: int) -> Predictor:
    """Fit trees one after the other in the order of the curriculum, each seeing the targets before it."""
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
    """Fit one classifier per target; a target that is constant in training is predicted to be that constant."""
    models = [None if column.min() == column.max() else make().fit(X, column) for column in Y.T]

    def predict(X: BoolMatrix) -> BoolMatrix:
        columns = [
            np.full(len(X), Y[0, k]) if model is None else model.predict(X).astype(np.bool_) for k, model in enumerate(models)
        ]
        return np.column_stack(columns)

    return predict


_BASELINES: dict[str, Callable[[BoolMatrix, BoolMatrix, tuple[int, ...], int], Predictor]] = {
    "majority": _majority,
    "tree": _tree,
    "chain": _chain,
    "forest": _forest,
    "boosting": _boosting,
    "mlp": _mlp,
}
