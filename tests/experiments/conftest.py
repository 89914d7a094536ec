"""Small tasks, their rows, and made-up results tables."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from gradus.experiments.store import COLUMNS, TIMING
from gradus.experiments.tasks import Design, Task, in_running_order
from gradus.experiments.work import Batch, row_head, run_batch
from gradus.search.settings import Settings


def small_tasks() -> list[Task]:
    """Tasks of every kind, each a matter of milliseconds; one of them fails."""
    designs = [
        Design("add3", settings=Settings(loss="l1")),
        Design("add3", settings=Settings(loss="lgh")),
        Design("add3", settings=Settings(loss="lgh"), order="auto", shuffle=True),
        Design("cpar4", settings=Settings(loss="llh", history=50), order="tau:0"),
        Design("cpar4", settings=Settings(loss="lgh", max_iterations=50, restarts=0)),  # does not converge
        Design("cmaj5", method="tree"),
    ]
    tasks = [Task(design, size, sample) for design in designs for size in (6, 10) for sample in range(8)]
    left_out = Design("yeast", settings=Settings(loss="lgh"), draw="leave-one-out", order="none", targets=("SK", "PP"))
    tasks += [Task(left_out, 8, fold, repeat) for fold in (1, 2) for repeat in range(3)]
    return in_running_order([*tasks, Task(Design("mammalian"), 8, 0)])  # no order of it is known


@pytest.fixture(scope="session")
def tasks() -> list[Task]:
    return small_tasks()


@pytest.fixture(scope="session")
def reference(tasks: list[Task]) -> pa.Table:
    """Rows of the small tasks, run one after the other in this process."""
    return comparable(pa.Table.from_pylist(run_batch(Batch(tuple(tasks))), schema=COLUMNS))


def comparable(table: pa.Table) -> pa.Table:
    """A table without its times, in a fixed order."""
    return table.drop_columns(list(TIMING)).sort_by("task").combine_chunks()


@pytest.fixture(scope="session")
def made_up():
    """Return a maker of results tables: accuracy as a function of (loss or method, size, sample)."""
    return make_rows


def make_rows(problem, accuracy, *, losses=("l1", "lw", "llh", "lgh"), sizes=(8, 16, 24), samples=30, m=3, **design):
    """Rows whose accuracies are those that a function gives; searches that never ran."""
    order = design.pop("order", "known")
    rows = []
    for loss in losses:
        one = Design(problem, settings=Settings(loss=loss), order=order, **design)
        for size in sizes:
            for sample in range(samples):
                value = np.broadcast_to(np.asarray(accuracy(loss, size, sample), dtype=float), (m,))
                rows.append({
                    **row_head(Task(one, size, sample)),
                    "converged": True, "iterations": 1000 + sample, "restarts": 0, "live_gates": 20, "train_loss": 0.0,
                    "tau": 1.0, "eta": 1.0, "n_test": 100, "test_accuracy": value.tolist(),
                    "test_accuracy_mean": float(value.mean()), "cpu_seconds": 0.1,
                })  # fmt: skip
    return rows
