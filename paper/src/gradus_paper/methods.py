"""Methods other than the paper's search, on the same training sets: lessons, and plain classifiers as baselines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix
from gradus_paper.task_orders import TargetOrder, order_of, shuffled_targets, tau_of
from gradus_paper.tasks import Task
from gradus_paper.training_sets import TrainingSet

__all__ = ["Fit", "fit_method"]

Predictor = Callable[[BoolMatrix], BoolMatrix]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Fit:
    """The result of a method: errors of each target."""

    order: TargetOrder
    train_errors: Counts
    test_errors: Counts
    n_gates: int | None = None
    """Gates of the best circuit; None for a classifier that is not a circuit."""
    best_circuit_errors: Counts | None = None
    """Test errors of the best circuit alone, where several vote."""


def fit_method(task: Task, data: TrainingSet) -> Fit:
    """Train a task's method and count its errors on the training and on the test patterns."""
    if task.design.method == "lessons":
        return _lessons(task, data)
    order = order_of(task)
    if task.design.method != "chain":  # the others do not use it
        order = TargetOrder(order.order, None, None)
    from threadpoolctl import threadpool_limits

    # With more, results could depend on the number of cores, and tasks that run side by side would slow each other down.
    with threadpool_limits(limits=1):
        predict = _baseline(task.design.method, data.X, data.Y, order.order, task.search_seed % 2**32)
        return Fit(order, _errors(predict, data.X, data.Y), _errors(predict, *data.test_patterns()))


def _lessons(task: Task, data: TrainingSet) -> Fit:
    """Learn circuits, and score both their vote and the best of them alone."""
    from gradus._lessons import learn_whole

    m = data.Y.shape[1]
    shuffled = list(shuffled_targets(task.set_key, m) if task.design.shuffle else range(m))
    result = learn_whole(data.X, data.Y[:, shuffled], seed=task.search_seed, n_jobs=1)
    columns = tuple(shuffled[place] for place in result.order)
    places = np.argsort(shuffled)  # back to the problem's order of the targets
    X, Y = data.test_patterns()
    return Fit(
        TargetOrder(columns, tau_of(columns, data), None),
        train_errors=_errors(lambda X: result.predict(X)[:, places], data.X, data.Y),
        test_errors=_errors(lambda X: result.predict(X)[:, places], X, Y),
        n_gates=int(result.n_gates),
        best_circuit_errors=_errors(lambda X: result.network.predict(X)[:, places], X, Y),
    )


def _errors(predict: Predictor, X: BoolMatrix, Y: BoolMatrix) -> Counts:
    """Count the errors of each target; there may be no rows, which classifiers refuse."""
    errors = (predict(X) ^ Y).sum(axis=0) if len(X) else np.zeros(Y.shape[1])
    return np.asarray(errors, dtype=np.int64)


def _baseline(method: str, X: BoolMatrix, Y: BoolMatrix, order: tuple[int, ...], seed: int) -> Predictor:
    """Fit one of `gradus_paper.tasks.BASELINES`; the chain fits its trees in the order of the curriculum."""
    if method == "majority":
        common = 2 * Y.sum(axis=0) >= len(Y)
        return lambda X: np.repeat(common[np.newaxis], len(X), axis=0)
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.multioutput import ClassifierChain
    from sklearn.neural_network import MLPClassifier
    from sklearn.tree import DecisionTreeClassifier

    make: dict[str, Callable[[], Any]] = {
        "tree": lambda: DecisionTreeClassifier(random_state=seed),
        "forest": lambda: RandomForestClassifier(n_estimators=100, random_state=seed),
        "boosting": lambda: GradientBoostingClassifier(n_estimators=100, random_state=seed),
        # With so few examples L-BFGS converges where stochastic gradients would need tuning.
        "mlp": lambda: MLPClassifier((32,), solver="lbfgs", max_iter=1000, random_state=seed),
    }
    if method == "chain":
        chain = ClassifierChain(make["tree"](), order=order).fit(X, Y)
        return lambda X: chain.predict(X).astype(np.bool_)
    # A target that is constant in training is predicted to be that constant.
    models = [None if column.min() == column.max() else make[method]().fit(X, column) for column in Y.T]

    def predict(X: BoolMatrix) -> BoolMatrix:
        columns = [np.full(len(X), Y[0, k]) if model is None else model.predict(X) for k, model in enumerate(models)]
        return np.column_stack(columns).astype(np.bool_)

    return predict
