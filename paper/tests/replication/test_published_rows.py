"""What is published beyond the paper belongs to its plan, and is what the page says."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from gradus_paper.results import Results
from gradus_paper.row import conform, with_task_ids
from gradus_paper.runs import rows_shown
from gradus_paper.study import load_study
from gradus_paper.tables import accuracy_with_noise, agreement_of_orders
from gradus_paper.tasks import earlier_versions

FOLDER = Path(__file__).parents[2] / "results" / "beyond"


@pytest.fixture(scope="module")
def table():
    return with_task_ids(conform(pq.read_table(FOLDER / "results.parquet")), FOLDER)


def test_every_row_is_of_a_task_of_the_plan(table):
    # Some were made by versions of a method that have been followed by others.
    known = {made.id for task in load_study("beyond").tasks() for made in (task, *earlier_versions(task))}
    ids = table.column("task").to_pylist()
    assert len(set(ids)) == len(ids)
    assert set(ids) <= known


def test_every_point_has_the_first_training_sets_and_no_others(table):
    """So that what was finished in time is not what was easy."""
    points = {}
    for row in table.select(["problem", "method", "loss", "order", "noise", "n_train", "sample"]).to_pylist():
        *point, sample = row.values()
        points.setdefault(tuple(point), set()).add(sample)
    assert all(samples == set(range(len(samples))) for samples in points.values())


@pytest.mark.parametrize(("name", "written"), [("noise", accuracy_with_noise), ("orders", agreement_of_orders)])
def test_the_page_has_the_tables_of_the_rows(table, name, written):
    rows = Results(rows_shown(table, load_study(name).tasks()))
    assert written(rows) in (FOLDER.parents[2] / "docs" / "results" / "beyond" / "tables.md").read_text(encoding="utf-8")
