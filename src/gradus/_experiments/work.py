"""From a task to its row: prepare it, search, score. The halves stand apart so that any engine can do the search between."""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradus._curriculum import kendall_tau, resolve_order
from gradus._experiments.baselines import fit_baseline
from gradus._experiments.beds import OwnTable, TrainingSet, name_of, register, training_set
from gradus._experiments.permutations import check_order, inversions_for_tau, permutation, permutation_with_inversions
from gradus._experiments.tasks import FOUND_ORDERS, Task
from gradus._search.front import Outcome, run_search
from gradus._search.learner import Job
from gradus._search.objective import scale

__all__ = ["Batch", "Ordered", "Row", "failed_row", "finish", "order_of", "prepare", "run_batch", "run_task"]

Row = dict[str, Any]
ORDERS_KEPT = 64


@dataclass(frozen=True)
class Ordered:
    """The order in which a task's targets are taught, as columns, with what is known about it."""

    order: tuple[int, ...]
    tau: float | None
    """Kendall's tau with the known order, where one is known."""
    eta: float | None
    """Nestedness of the curriculum, where one was found."""


def order_of(task: Task) -> Ordered:
    """Find the order of a task's targets; a curriculum belongs to its training set and is found once for all losses."""
    if task.design.order in FOUND_ORDERS:
        return _found_order(task.design.order, task.design.shuffle, _SetKey(task))
    data = training_set(task)
    order = _plain_order(task, data)
    return Ordered(order, _tau(order, data), None)


class _SetKey:
    """A task seen as its training set alone."""

    def __init__(self, task: Task) -> None:
        design = task.design
        self.task = task
        self.key = (design.problem, design.draw, design.targets, task.n_train, task.sample)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SetKey) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@functools.lru_cache(maxsize=ORDERS_KEPT)
def _found_order(order: str, shuffle: bool, key: _SetKey) -> Ordered:
    task = key.task
    data = training_set(task)
    m = data.Y.shape[1]
    shuffled = permutation(m, task.set_seed("shuffle")) if shuffle else tuple(range(m))
    places, curriculum = resolve_order(
        data.X,
        np.ascontiguousarray(data.Y[:, list(shuffled)]),
        "auto" if order == "auto-random" else order,
        seed=task.set_seed("order"),
        choose="random" if order == "auto-random" else "first",
    )
    columns = tuple(shuffled[place] for place in places)
    return Ordered(columns, _tau(columns, data), None if curriculum is None else float(curriculum.nestedness))


def _plain_order(task: Task, data: TrainingSet) -> tuple[int, ...]:
    word, m = task.design.order, data.Y.shape[1]
    check_order(word, m, name_of(task.design.problem), known=data.known_order is not None)
    if word == "none":
        return tuple(range(m))
    if word == "random":
        return permutation(m, task.set_seed("random"))
    kind, _, value = word.partition(":")
    if kind == "given":
        return tuple(int(part) for part in value.split(","))
    known = data.known_order or ()  # where none is known, the check has refused words that need one
    if kind == "tau":
        places = permutation_with_inversions(m, inversions_for_tau(float(value), m), task.set_seed(word))
        return tuple(known[place] for place in places)
    return known


def _tau(order: tuple[int, ...], data: TrainingSet) -> float | None:
    if data.known_order is None:
        return None
    return 1.0 if order == data.known_order else kendall_tau(order, data.known_order)


def prepare(task: Task, ordered: Ordered | None = None) -> tuple[Job, Ordered]:
    """Everything that a search needs, on whichever back end."""
    data = training_set(task)
    ordered = order_of(task) if ordered is None else ordered
    prepared = Job(
        X=data.X,
        Y=np.ascontiguousarray(data.Y[:, list(ordered.order)]),
        settings=task.design.settings,
        seed=task.search_seed,
        order=ordered.order,
        curriculum=None,
        input_names=None,
        target_names=None,
    )
    return prepared, ordered


def finish(task: Task, ordered: Ordered, found: Outcome, cpu_seconds: float | None) -> Row:
    """Score what a search found, and write everything down as a row."""
    from gradus._experiments.scoring import count_errors

    data = training_set(task)
    m = data.Y.shape[1]
    outputs = np.empty(m, dtype=np.int64)
    outputs[list(ordered.order)] = data.X.shape[1] + len(found.sources) - m + np.arange(m)
    errors = count_errors(found.sources, outputs, data.inputs, data.targets, data.test_mask)
    settings = task.design.settings
    return {
        **row_head(task),
        "learned_order": list(ordered.order),
        "tau": ordered.tau,
        "eta": ordered.eta,
        "converged": found.converged,
        "iterations": found.iterations,
        "restarts": found.restarts,
        "live_gates": found.live_gates,
        "train_loss": found.cost / scale(settings.loss, m, len(data.Y)),
        **_accuracies(errors, data.n_test),
        "cpu_seconds": cpu_seconds,
    }


def row_head(task: Task) -> Row:
    """Write the part of a row that says which task it is of; the status is that of a success."""
    design = task.design
    return {
        "task": task.id,
        "problem": design.problem,
        "method": design.method,
        "loss": design.settings.loss if design.method == "network" else None,
        "order": design.order,
        "shuffle": design.shuffle,
        "draw": design.draw,
        "targets": None if design.targets is None else list(design.targets),
        "n_train": task.n_train,
        "sample": task.sample,
        "repeat": task.repeat,
        "gates_per_target": design.settings.gates_per_target,
        "history": design.settings.history,
        "max_iterations": design.settings.max_iter,
        "max_restarts": design.settings.n_restarts,
        "shrink": design.settings.shrink,
        "attempts": design.settings.attempts,
        "time_limit": design.settings.time_limit,
        "status": "done",
        "error": None,
    }


def failed_row(task: Task, error: BaseException | str) -> Row:
    """Write the row of a task that failed: what it was and what went wrong."""
    text = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
    return {**row_head(task), "status": "failed", "error": text[:2000]}


def _accuracies(errors: Any, n_test: int) -> Row:
    if not n_test:
        return {"n_test": 0, "test_accuracy": None, "test_accuracy_mean": None}
    accuracy = 1.0 - errors / n_test
    return {
        "n_test": n_test,
        "test_accuracy": [float(value) for value in accuracy],
        "test_accuracy_mean": float(accuracy.mean()),
    }


def run_task(task: Task) -> Row:
    """Run one task here and now.

    Examples
    --------
    >>> from gradus._experiments.tasks import Design
    >>> row = run_task(Task(Design("add3"), 40, sample=0))
    >>> row["converged"], row["n_test"]
    (True, 24)
    """
    begin = time.thread_time()
    if task.design.method != "network":
        return _run_baseline(task, begin)
    prepared, ordered = prepare(task)
    found = run_search(prepared.X, prepared.Y, prepared.settings, prepared.seed)
    return finish(task, ordered, found, time.thread_time() - begin)


def _run_baseline(task: Task, begin: float) -> Row:
    data = training_set(task)
    ordered = order_of(task)
    train_errors, test_errors = fit_baseline(task, data, ordered.order)
    return {
        **row_head(task),
        "learned_order": list(ordered.order),
        "tau": ordered.tau if task.design.method == "chain" else None,
        "converged": not train_errors.any(),
        "train_loss": float(train_errors.sum()) / data.Y.size,
        **_accuracies(test_errors, data.n_test),
        "cpu_seconds": time.thread_time() - begin,
    }


@dataclass(frozen=True)
class Batch:
    """Tasks that travel to a worker together, with the users' tables they need."""

    tasks: tuple[Task, ...]
    tables: tuple[OwnTable, ...] = ()


def run_batch(batch: Batch) -> list[Row]:
    """Run a batch in a worker; a task that raises becomes a row that says so, and the rest goes on."""
    register(batch.tables)
    return [_run_or_record(task) for task in batch.tasks]


def _run_or_record(task: Task) -> Row:
    try:
        return run_task(task)
    except Exception as error:  # whatever a task raises is its result; the others must not pay for it
        return failed_row(task, error)
