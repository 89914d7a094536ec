"""Small tasks and their rows."""

from __future__ import annotations

import pyarrow as pa
import pytest

from experiment_helpers import comparable, make_rows, small_tasks
from gradus._experiments.store import COLUMNS
from gradus._experiments.tasks import Task
from gradus._experiments.work import Batch, run_batch


@pytest.fixture(scope="session")
def tasks() -> list[Task]:
    return small_tasks()


@pytest.fixture(scope="session")
def reference(tasks: list[Task]) -> pa.Table:
    """Rows of the small tasks, run one after the other in this process."""
    return comparable(pa.Table.from_pylist(run_batch(Batch(tuple(tasks))), schema=COLUMNS))


@pytest.fixture(scope="session")
def made_up():
    """Return a maker of results tables: accuracy as a function of (loss or method, size, sample)."""
    return make_rows
