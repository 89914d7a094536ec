"""Small tasks and their rows."""

from __future__ import annotations

import pyarrow as pa
import pytest

from experiment_helpers import comparable, small_tasks
from gradus_paper.execution import TaskBatch, run_batch
from gradus_paper.row import table_of
from gradus_paper.tasks import Task


@pytest.fixture(scope="session")
def tasks() -> list[Task]:
    return small_tasks()


@pytest.fixture(scope="session")
def reference(tasks: list[Task]) -> pa.Table:
    """Rows of the small tasks, run one after the other in this process."""
    return comparable(table_of(run_batch(TaskBatch(tuple(tasks)))))
