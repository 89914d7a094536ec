"""Small tasks and their rows."""

from __future__ import annotations

import pyarrow as pa
import pytest

from experiment_helpers import comparable, small_tasks
from gradus._experiments.execution import TaskBatch, run_batch
from gradus._experiments.row import table_of
from gradus._experiments.tasks import Task


@pytest.fixture(scope="session")
def tasks() -> list[Task]:
    return small_tasks()


@pytest.fixture(scope="session")
def reference(tasks: list[Task]) -> pa.Table:
    """Rows of the small tasks, run one after the other in this process."""
    return comparable(table_of(run_batch(TaskBatch(tuple(tasks)))))
