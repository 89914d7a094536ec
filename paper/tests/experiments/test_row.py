"""The row schema: everything that knows it follows from one class."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import gradus_paper
from experiment_helpers import small_tasks
from gradus.errors import FormatError
from gradus.lab import Settings
from gradus_paper.row import SCHEMA, Row, conform, table_of, with_task_ids
from gradus_paper.tasks import Design, Task

PUBLISHED = Path(__file__).parents[2] / "results" / "results.parquet"


@pytest.mark.parametrize(
    "task", [*small_tasks()[::5], Task(Design("add3", method="lessons", noise=0.1), 8, 1)], ids=lambda task: task.id
)
def test_a_row_says_which_task_it_is_of(task):
    row = Row.of(task)
    assert row.to_task() == task
    assert row.task == row.to_task().id == task.id
    (again,) = table_of([row]).to_pylist()
    assert Row(**again).to_task() == task


def test_a_failed_task_has_a_row_with_its_error():
    row = Row.failure(Task(Design("add3"), 8, 0), ValueError("x" * 5000))
    assert (row.status, len(row.error), row.converged) == ("failed", 2000, None)
    assert row.error.startswith("ValueError: xxx")


def test_names_of_the_published_columns_stay():
    names = set(pq.read_schema(PUBLISHED).names)
    # Ids follow from the other columns; those that came later are null for earlier rows.
    assert set(SCHEMA.names) - {"tolerance", "set_sizes", "circuit", "and_gates"} <= names | {"task", "method_version"}
    assert names <= set(SCHEMA.names)
    for name in names:
        assert pq.read_schema(PUBLISHED).field(name).type == SCHEMA.field(name).type


def test_published_rows_have_the_ids_of_their_tasks_and_are_all_of_methods_that_there_are():
    rows = pq.ParquetFile(PUBLISHED).read_row_group(0)
    table = with_task_ids(conform(rows).slice(0, 500), PUBLISHED)
    assert len(conform(rows)) == len(rows)
    for row in table.slice(0, 5).to_pylist():
        settings = Settings(loss=row["loss"], gates_per_target=row["gates_per_target"], history=row["history"])
        design = Design(row["problem"], settings=settings, order=row["order"], shuffle=row["shuffle"])
        assert row["task"] == Task(design, row["n_train"], row["sample"], row["repeat"]).id
    assert len(set(table.column("task").to_pylist())) == len(table)


def test_a_row_that_describes_no_task_is_refused_with_its_file():
    table = table_of([Row.of(Task(Design("add3"), 8, 0)), Row(problem="add3", method="svm", order="known", draw="random")])
    with pytest.raises(FormatError, match=r"there\.parquet: row 1 describes no task"):
        with_task_ids(table, "there.parquet")


WITH_NEW_COLUMNS = """
import sys
from gradus_paper.results import Results
from gradus_paper.row import SCHEMA, Row
from gradus_paper.store import Store
from gradus_paper.tasks import Design, Task

task = Task(Design("add3"), 8, 0)
store = Store(sys.argv[1])
store.begin()
store.append([Row.of(task, luck=7), Row.failure(Task(Design("add3"), 8, 1), "no")])
assert {"luck", "length"} <= set(SCHEMA.names)
assert sorted(Store(sys.argv[1]).table(["luck"])["luck"].to_pylist(), key=str) == [7, None, None]
results = Results(store.table())
old, new = map(results.row, range(2))
assert (old.luck, old.length, old.to_task()) == (None, None, Task(Design("cpar7"), 8, 0))
assert (new.luck, new.length, new.to_task()) == (7, 250, task)
assert results.luck.tolist()[1] == 7 and len(results.select(luck=7)) == 1
"""


def test_a_new_column_is_one_new_line(tmp_path):
    """With a line for each new column in `Row`, rows, store, results and the way back to a task know them."""
    from gradus_paper.store import Store

    before = Store(tmp_path / "store")  # by the version without them
    before.begin()
    before.append([Row.of(Task(Design("cpar7"), 8, 0))])
    copy = tmp_path / "src" / "gradus_paper"
    shutil.copytree(Path(gradus_paper.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    path = copy / "row.py"
    line = "    cpu_seconds: float | None ="
    assert line in path.read_text()
    new = '    luck: int | None = _column(pa.int32())\n    length: int = _column(pa.int32(), "settings.history")\n'
    path.write_text(path.read_text().replace(line, new + line))
    env = {**os.environ, "PYTHONPATH": str(copy.parent)}
    subprocess.run([sys.executable, "-c", WITH_NEW_COLUMNS, str(tmp_path / "store")], check=True, env=env, cwd=tmp_path)
