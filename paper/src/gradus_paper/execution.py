"""From a task to its row: make the job, search, score; separate steps, so that any engine can run the search."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradus._search.driver import run_search
from gradus._search.job import Job, Outcome, largest_cost
from gradus._search.search import make_network
from gradus_paper.methods import fit_method
from gradus_paper.row import Row
from gradus_paper.task_orders import TargetOrder, order_of
from gradus_paper.tasks import Task
from gradus_paper.training_sets import OwnTable, register, training_set

__all__ = ["TaskBatch", "finished_row", "job_of", "run_batch", "run_task"]


def job_of(task: Task) -> tuple[Job, TargetOrder]:
    """Return the job of a task's search, for any back end, and the order of the targets."""
    data, order = training_set(task.set_key), order_of(task)
    Y = np.ascontiguousarray(data.Y[:, list(order.order)])
    return Job(X=data.X, Y=Y, settings=task.design.settings, seed=task.search_seed), order


def finished_row(task: Task, order: TargetOrder, found: Outcome, cpu_seconds: float | None) -> Row:
    """Score the outcome of a search and return it as a row."""
    data = training_set(task.set_key)
    network = make_network(found, data.X.shape[1], order.order)
    wrong = (network.node_words(data.inputs)[network.outputs] ^ data.targets) & data.test_mask
    errors = np.bitwise_count(wrong).sum(axis=1, dtype=np.int64)
    return Row.of(
        task,
        learned_order=list(order.order),
        tau=order.tau,
        eta=order.eta,
        converged=found.converged,
        iterations=found.iterations,
        restarts=found.restarts,
        live_gates=found.live_gates,
        train_loss=found.cost / largest_cost(task.design.settings.loss, *data.Y.shape[::-1]),
        cpu_seconds=cpu_seconds,
        **_accuracies(errors, data.n_test),
    )


def _accuracies(errors: Any, n_test: int) -> dict[str, Any]:
    if not n_test:
        return {"n_test": 0}
    accuracy = 1.0 - errors / n_test
    return {
        "n_test": n_test,
        "test_accuracy": [float(value) for value in accuracy],
        "test_accuracy_mean": float(accuracy.mean()),
    }


def run_task(task: Task) -> Row:
    """Run one task in this process."""
    begin = time.thread_time()
    if task.design.method == "network":
        job, order = job_of(task)
        found = run_search(job)
        return finished_row(task, order, found, time.thread_time() - begin)
    data = training_set(task.set_key)
    fit = fit_method(task, data)
    best = fit.best_circuit_errors
    return Row.of(
        task,
        learned_order=list(fit.order.order),
        tau=fit.order.tau,
        converged=not fit.train_errors.any(),
        live_gates=fit.n_gates,
        train_loss=float(fit.train_errors.sum()) / data.Y.size,
        best_circuit_accuracy=None if best is None or not data.n_test else float(1.0 - best.mean() / data.n_test),
        cpu_seconds=time.thread_time() - begin,
        **_accuracies(fit.test_errors, data.n_test),
    )


@dataclass(frozen=True)
class TaskBatch:
    """Tasks that are sent to a worker together, with the users' tables they need."""

    tasks: tuple[Task, ...]
    tables: tuple[OwnTable, ...] = ()


def run_batch(batch: TaskBatch, seconds: float = math.inf) -> list[Row]:
    """Run a batch in a worker; a task that raises becomes a failed row, and the others still run."""
    # No task is begun after so many seconds, so that rows do not wait for a batch that takes longer than expected.
    register(batch.tables)
    end = time.monotonic() + seconds
    rows: list[Row] = []
    for task in batch.tasks:
        if rows and time.monotonic() >= end:
            break
        try:
            rows.append(run_task(task))
        except Exception as error:  # part of the results, whatever it is
            rows.append(Row.failure(task, error))
    return rows
