"""From a task to its row: make the job, search, score; separate steps, so that any engine can run the search."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus import Network, export
from gradus.lab import Checkpoint, Job, Outcome, Run, largest_cost, learn_whole, make_network, resume, run_search
from gradus.problems import Problem
from gradus_paper.orders import TargetOrder, another_order, order_of, shuffled_targets, tau_of
from gradus_paper.row import Row
from gradus_paper.stages import search_in_stages
from gradus_paper.tasks import GIVEN, TOGETHER, Task
from gradus_paper.training_sets import TrainingSet, register, training_set

BoolMatrix = npt.NDArray[np.bool_]
Predictor = Callable[[BoolMatrix], BoolMatrix]
Counts = npt.NDArray[np.int64]

CHAINS = 11  # chains that vote; an odd number, so that there are no ties


def job_of(task: Task) -> tuple[Job, TargetOrder]:
    """Return the job of a task's search, for any back end, and the order of the targets."""
    data, order = training_set(task.set_key), order_of(task)
    Y = np.ascontiguousarray(data.Y[:, list(order.order)])
    return Job(X=data.X, Y=Y, settings=task.design.settings, seed=task.search_seed), order


def fits(since: Checkpoint, job: Job) -> bool:
    """Return whether a checkpoint, which may come from a file, is one that the job can have; compiled code does not check."""
    m, settings = job.Y.shape[1], job.settings
    gates = settings.n_gates(m)
    readable = job.X.shape[1] + np.minimum(np.arange(gates), gates - m)[:, np.newaxis]
    return bool(
        since.sources.shape == since.best.shape == (gates, 2)
        and (since.sources < readable).all()
        and (since.best < readable).all()
        and since.history.shape == (settings.history,)
        and 0 <= since.step <= settings.max_iter
        and 0 <= since.restart <= settings.n_restarts
        and 0 <= since.iterations <= since.restart * settings.max_iter
        and since.best_cost >= 0
        and since.random.shape == (2,)
        and since.random.any()
    )


def finished_row(task: Task, order: TargetOrder, outcome: Outcome, cpu_seconds: float | None) -> Row:
    """Score the outcome of a search and return it as a row."""
    data = training_set(task.set_key)
    network = make_network(outcome, data.X.shape[1], order.order)
    wrong = (network.node_words(data.inputs)[network.outputs] ^ data.targets) & data.test_mask
    errors = np.bitwise_count(wrong).sum(axis=1, dtype=np.int64)
    measured = {name: getattr(outcome, name) for name in ("converged", "iterations", "restarts", "live_gates")}
    measured["train_loss"] = outcome.cost / largest_cost(task.design.settings.loss, *data.Y.shape[::-1])
    return Row.of(task, **_taught(order), **measured, cpu_seconds=cpu_seconds, **_accuracies(errors, data.n_test))


def _taught(order: TargetOrder) -> dict[str, Any]:
    """Return the columns of a row for the order in which the targets were taught."""
    sizes = None if order.sizes is None else list(order.sizes)
    return {"learned_order": list(order.order), "tau": order.tau, "eta": order.eta, "set_sizes": sizes}


def _accuracies(errors: Any, n_test: int) -> dict[str, Any]:
    """Return the columns of a row for its accuracy; a task may have nothing to test on."""
    if not n_test:
        return {"n_test": 0}
    accuracy = 1.0 - errors / n_test
    return {"n_test": n_test, "test_accuracy": accuracy.tolist(), "test_accuracy_mean": float(accuracy.mean())}


def run_task(task: Task, since: Checkpoint | None = None) -> Row:
    """Run one task in this process, a search from its checkpoint if there is one."""
    begin = time.thread_time()
    if task.design.method == "network":
        job, order = job_of(task)
        if task.design.in_stages:
            stages = order.stages if task.design.order == TOGETHER else [1] * len(order.order)
            outcome = search_in_stages(job, stages, task.design.tolerance)
        else:
            outcome = run_search(job) if since is None or not fits(since, job) else resume(job, since)[0]
        return finished_row(task, order, outcome, time.thread_time() - begin if since is None else None)
    measured = _OTHER_METHODS.get(task.design.method, _baseline)(task)
    return Row.of(task, **measured, cpu_seconds=time.thread_time() - begin)


class _Kept(threading.local):
    """The folder of the batch that a thread is at."""

    folder = ""


_kept = _Kept()


@dataclass(frozen=True)
class TaskBatch:
    """Tasks that are sent to a worker together, with the users' tables that they need."""

    tasks: tuple[Task, ...]
    tables: tuple[Problem, ...] = ()
    begun: tuple[Checkpoint | None, ...] = ()  # where the search of each task was interrupted; empty if none has begun
    folder: str = ""  # where tasks that take minutes keep checkpoints, if the worker can reach it


def run_batch(batch: TaskBatch, seconds: float = math.inf) -> list[Row]:
    """Run a batch in a worker; a task that raises becomes a failed row, and the others still run."""
    # After these seconds no further task is begun, so that rows do not wait for a batch that takes longer than expected.
    register(batch.tables)
    _kept.folder = batch.folder
    run = Run(seconds)
    rows: list[Row] = []
    for task, since in zip(batch.tasks, batch.begun or [None] * len(batch.tasks), strict=True):
        if rows and run.stop():
            break
        try:
            rows.append(run_task(task) if since is None else run_task(task, since))
        except Exception as error:  # part of the results, whatever it is
            rows.append(Row.failure(task, error))
    return rows


def _lessons(task: Task) -> dict[str, Any]:
    """Learn circuits, and score both their vote and the best of them alone."""
    data = training_set(task.set_key)
    m = data.Y.shape[1]
    shuffled = list(shuffled_targets(task.set_key, m) if task.design.shuffle else range(m))
    result = learn_whole(data.X, data.Y[:, shuffled], seed=task.search_seed, n_jobs=1, checkpoint=_checkpoint_of(task))
    columns = tuple(shuffled[place] for place in result.order)
    places = np.argsort(shuffled)  # back to the problem's order of the targets
    best = _errors(lambda X: result.network.predict(X)[:, places], *data.test_patterns())
    alone = float(1.0 - best.mean() / data.n_test) if data.n_test else None
    order = TargetOrder(columns, tau_of(columns, data), None)
    scores = _scores(data, order, lambda X: result.predict(X)[:, places])
    circuit = _solution(result.voting_network()) if task.design.draw == GIVEN else {}
    return {**scores, "live_gates": int(result.n_gates), "best_circuit_accuracy": alone, **circuit}


def _checkpoint_of(task: Task) -> Path | None:
    """Return the file from which a task that takes minutes continues after its worker was killed."""
    if task.design.draw != GIVEN or not _kept.folder or not Path(_kept.folder).is_dir():
        return None
    return Path(_kept.folder, f"{task.id}.checkpoint")


def _solution(network: Network) -> dict[str, Any]:
    """Return the columns of a row that hold a circuit, as binary AIGER."""
    content = export(network, format="aig")
    assert isinstance(content, bytes)
    return {"circuit": content, "and_gates": int(content.split(maxsplit=6)[5])}


def _curriculum(task: Task) -> dict[str, Any]:
    """Find the order alone: nothing is learned."""
    return {**_taught(order_of(task)), "n_test": 0}


def _chains(task: Task) -> dict[str, Any]:
    """Fit `CHAINS` chains of trees, each on rows drawn with replacement, and let them vote."""
    # Orders by minimum sets differ in their ties, and random ones in everything; an order of lessons is the same for all.
    data, first = training_set(task.set_key), order_of(task)
    rng = np.random.default_rng(task.search_seed)
    orders = [first.order if k == 0 else another_order(task, k).order for k in range(CHAINS)]
    drawn = [rng.integers(0, len(data.X), len(data.X)) for _ in orders]
    seeds = rng.integers(0, 2**32, CHAINS).tolist()
    fitted = [_fitted("chain", data.X[i], data.Y[i], order, seed) for i, order, seed in zip(drawn, orders, seeds, strict=True)]
    return _scores(data, first, lambda X: 2 * np.sum([predict(X) for predict in fitted], axis=0) > CHAINS)


def _baseline(task: Task) -> dict[str, Any]:
    """Fit a plain classifier and score it."""
    data, order = training_set(task.set_key), order_of(task)
    if task.design.method != "chain":  # the others do not use it
        order = TargetOrder(order.order, None, None)
    from threadpoolctl import threadpool_limits

    # With more, results could depend on the number of cores, and tasks that run side by side would slow each other down.
    with threadpool_limits(limits=1):
        return _scores(data, order, _fitted(task.design.method, data.X, data.Y, order.order, task.search_seed % 2**32))


def _scores(data: TrainingSet, order: TargetOrder, predict: Predictor) -> dict[str, Any]:
    """Return the columns of a row that every method but the search has."""
    errors = _errors(predict, data.X, data.Y)
    trained = {"converged": not errors.any(), "train_loss": float(errors.sum()) / data.Y.size}
    tested = _accuracies(_errors(predict, *data.test_patterns()), data.n_test)
    return {"learned_order": list(order.order), "tau": order.tau, **trained, **tested}


def _errors(predict: Predictor, X: BoolMatrix, Y: BoolMatrix) -> Counts:
    """Count the errors of each target; there may be no rows, which classifiers refuse."""
    errors = (predict(X) ^ Y).sum(axis=0) if len(X) else np.zeros(Y.shape[1])
    return np.asarray(errors, dtype=np.int64)


def _fitted(method: str, X: BoolMatrix, Y: BoolMatrix, order: Sequence[int], seed: int) -> Predictor:
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


_OTHER_METHODS = {"lessons": _lessons, "curriculum": _curriculum, "chains": _chains}  # all others are plain classifiers
