"""Small tasks, made-up rows and stand-ins that the tests of gradus_paper share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from gradus.lab import Settings, resume, run_search
from gradus_paper.execution import TaskBatch, run_batch
from gradus_paper.results import Results
from gradus_paper.row import TIMING, Row, table_of
from gradus_paper.tasks import Design, Task, in_running_order

SLOW = Settings(loss="lgh", max_iter=300_000, n_restarts=0, gates_per_target=5)


def small_tasks() -> list[Task]:
    """Tasks of every kind, each a matter of milliseconds; one of them fails."""
    designs = [
        Design("add3", settings=Settings(loss="l1")),
        Design("add3", settings=Settings(loss="lgh")),
        Design("add3", settings=Settings(loss="lgh"), order="auto", shuffle=True),
        Design("cpar4", settings=Settings(loss="llh", history=50), order="tau:0"),
        Design("cpar4", settings=Settings(loss="lgh", max_iter=50, n_restarts=0)),  # does not converge
        Design("cmaj5", method="tree"),
    ]
    tasks = [Task(design, size, sample) for design in designs for size in (6, 10) for sample in range(8)]
    left_out = Design("yeast", settings=Settings(loss="lgh"), draw="leave-one-out", order="none", targets=("SK", "PP"))
    tasks += [Task(left_out, 8, fold, repeat) for fold in (1, 2) for repeat in range(3)]
    return in_running_order([*tasks, Task(Design("mammalian"), 8, 0)])  # no order of it is known


def comparable(table: pa.Table) -> pa.Table:
    """A table without its times, in a fixed order."""
    return table.drop_columns(list(TIMING)).sort_by("task").combine_chunks()


def slow_tasks(count):
    """Tasks of some hundredths of a second each: their networks are too small to ever fit."""
    return [Task(Design("cpar7", settings=SLOW), 100, sample) for sample in range(count)]


class Here:
    """An engine without workers: runs tasks one by one in this process, and lists them."""

    name = "this process"

    def __init__(self, run=run_batch):
        self.ran, self.left, self._run = [], {}, run

    def run(self, tasks, begun):
        for task in tasks:
            self.ran.append(task.id)
            yield self._run(TaskBatch((task,), begun=(begun.get(task.id_bytes),)))


def on_cpu(jobs, *, callback=None, n_jobs=0, since=None, left=None, failed=None):
    """Stand in for the GPU: the same contract, the last job first."""
    given, since = list(jobs), since or {}
    for index in reversed(range(len(given))):
        yield index, resume(given[index], since[index])[0] if index in since else run_search(given[index])


def make_rows(problem, accuracy, *, losses=("l1", "lw", "llh", "lgh"), sizes=(8, 16, 24), samples=30, m=3, **design):
    """Rows whose accuracies are those that a function gives; searches that never ran."""
    order = design.pop("order", "known")
    rows = []
    for loss in losses:
        one = Design(problem, settings=Settings(loss=loss), order=order, **design)
        for size in sizes:
            for sample in range(samples):
                value = np.broadcast_to(np.asarray(accuracy(loss, size, sample), dtype=float), (m,))
                rows.append(
                    Row.of(
                        Task(one, size, sample),
                        converged=True,
                        iterations=1000 + sample,
                        restarts=0,
                        live_gates=20,
                        train_loss=0.0,
                        tau=1.0,
                        eta=1.0,
                        n_test=100,
                        test_accuracy=value.tolist(),
                        test_accuracy_mean=float(value.mean()),
                        cpu_seconds=0.1,
                    )
                )
    return rows


def changed(rows, **columns):
    """The same rows with some columns changed."""
    return [replace(row, **columns) for row in rows]


def results_of(rows):
    """Results made of rows."""
    return Results(table_of(rows))
