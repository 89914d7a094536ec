"""Experiments whose searches run elsewhere: write the searches to a file, and read the outcomes or rows that come back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from gradus._circuit import Network
from gradus._core.files import checked_size, read_guard
from gradus._search.job import Outcome
from gradus.errors import DataError, FormatError, SettingsError
from gradus_paper.engines import Engine
from gradus_paper.execution import finished_row
from gradus_paper.row import DONE, Row, conform, with_task_ids
from gradus_paper.run import RunSummary, run_tasks, split_tasks
from gradus_paper.search_files import TaskRecord, read_outcomes, read_searches, write_searches
from gradus_paper.store import Store
from gradus_paper.task_orders import TargetOrder, order_of
from gradus_paper.tasks import Task
from gradus_paper.training_sets import problem_of, target_columns, training_set

__all__ = ["REPLAYED", "absorb_files", "prepare_searches"]

ROWS_PER_PART = 2000
REPLAYED = "this machine, from searches run elsewhere"
"""Name of the engine in the record of the run."""


def prepare_searches(tasks: Iterable[Task], path: Path, *, callback: Callable[[], Any] | None = None) -> int:
    """Draw training sets, find orders, and write the searches of tasks to a file; return how many."""
    # Other methods need no search and are left out: a plain run does them. `callback` is called after each task.
    records: list[TaskRecord] = []
    for task in tasks:
        if task.design.method == "network":
            records.append(_record(task))
        if callback is not None:
            callback()
    write_searches(path, records)
    return len(records)


def _record(task: Task) -> TaskRecord:
    if task.design.settings.time_limit is not None:
        raise SettingsError("tasks with a time limit cannot be run elsewhere: their result depends on the machine.")
    data, order = training_set(task.set_key), order_of(task)
    return TaskRecord(
        task_id=task.id_bytes,
        set_key=task.set_key,
        X=data.X,
        Y=data.Y,
        order=order.order,
        settings=task.design.settings,
        seed=task.search_seed,
        tau=order.tau,
        eta=order.eta,
    )


def absorb_files(tasks: Sequence[Task], searches: Path | None, paths: Iterable[Path], store: Store) -> RunSummary:
    """Add the results in files from elsewhere to the store."""
    paths = list(paths)
    tables = [path for path in paths if path.suffix == ".parquet"]
    outcomes = [path for path in paths if path.suffix != ".parquet"]
    summary = RunSummary(0, 0)
    if searches is not None and outcomes:
        summary = _absorb_outcomes(tasks, searches, outcomes, store)
    done = summary.done + sum(_absorb_table(tasks, path, store) for path in tables)
    _, whole = split_tasks(tasks, store)
    return replace(summary, total=whole.total, before=whole.before - done, done=done)


def _absorb_outcomes(tasks: Sequence[Task], searches: Path, paths: Iterable[Path], store: Store) -> RunSummary:
    """Score networks that were found elsewhere and write their rows."""
    by_id = {task.id_bytes: task for task in tasks}
    orders = {one.task_id: TargetOrder(one.order, one.tau, one.eta) for one in read_searches(searches)}
    found: dict[bytes, Outcome] = {}
    for path in paths:
        for task_id, one in read_outcomes(path):
            if task_id not in by_id or task_id not in orders:
                raise FormatError("it holds results of tasks that are not part of this experiment.", path=path)
            _check(by_id[task_id], orders[task_id], one, searches, path)
            found[task_id] = one
    return run_tasks([by_id[task_id] for task_id in by_id if task_id in found], store, _Replay(orders, found))


def _absorb_table(tasks: Sequence[Task], path: Path, store: Store) -> int:
    """Write the rows of a published table that the store does not have; return how many."""
    checked_size(path)
    with read_guard(path, "a table of results"):
        table = conform(pq.read_table(path))
        table = with_task_ids(table.filter(pc.equal(table.column("status"), DONE)), path)
    with store.writing():
        left, _ = split_tasks(tasks, store)
        wanted = pa.array([task.id for task in left], pa.string())
        rows = table.filter(pc.is_in(table.column("task"), value_set=wanted))
        store.append_table(rows)
    return len(rows)


def _check(task: Task, order: TargetOrder, found: Outcome, searches: Path, path: Path) -> None:
    """Raise `FormatError` unless order and network are valid for the task: compiled code does not check them."""
    problem = problem_of(task.design.problem)
    m = len(target_columns(problem, task.design.targets))
    if sorted(order.order) != list(range(m)):
        raise FormatError(f"the order of task {task.id} does not name each of its {m} targets once.", path=searches)
    gates = task.design.settings.n_gates(m)
    if len(found.sources) != gates:
        raise FormatError(f"the network of task {task.id} has {len(found.sources)} gates instead of {gates}.", path=path)
    nodes = problem.n_inputs + gates
    try:
        Network(problem.n_inputs, found.sources, range(nodes - m, nodes))
    except DataError as error:
        raise FormatError(f"the network of task {task.id} is invalid: {error}", path=path) from error


class _Replay(Engine):
    """An engine whose searches have already been run."""

    name = REPLAYED

    def __init__(self, orders: dict[bytes, TargetOrder], found: dict[bytes, Outcome]) -> None:
        self.orders, self.found = orders, found

    def run(self, tasks: Sequence[Task]) -> Iterator[list[Row]]:
        """Yield the rows, a part at a time."""
        for start in range(0, len(tasks), ROWS_PER_PART):
            part = tasks[start : start + ROWS_PER_PART]
            yield [finished_row(task, self.orders[task.id_bytes], self.found[task.id_bytes], None) for task in part]
