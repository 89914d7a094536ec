"""Ids of the published rows: those that their columns describe, those that were published, and those that studies list."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from gradus_paper.row import conform, with_task_ids
from gradus_paper.study import load_study
from gradus_paper.tasks import earlier_versions

RESULTS = Path(__file__).parents[1] / "results"
# Of the ids in the order of the rows, by the version that made the rows.
PUBLISHED = {
    "results.parquet": (915_360, "07941d3b8dcabdebb917a86f2c88af35fe99bc69b11c8008b193c615fb9bcfad", "replication"),
    "beyond/results.parquet": (57_760, "c1a5967d58e157a243e768e5280fc065f54e29085835bd1ad3b5b135d380d19b", "beyond"),
}
UNFINISHED = {"replication": 3_763, "beyond": 0}  # tasks without a row: the page of the replication says which


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_published_row_has_the_id_it_had_and_is_one_of_its_study(name):
    rows, digest, study = PUBLISHED[name]
    ids = with_task_ids(conform(pq.read_table(RESULTS / name)), name).column("task").to_pylist()
    assert len(ids) == rows
    assert hashlib.sha256("".join(ids).encode()).hexdigest() == digest
    # The study lists the tasks of today's versions; these rows were made by the first.
    listed = {[task, *earlier_versions(task)][-1].id for task in load_study(study).tasks()}
    assert set(ids) <= listed
    parts = (conform(pq.read_table(path)) for path in (RESULTS / name).parent.glob("results_*.parquet"))
    more = [task for part in parts for task in with_task_ids(part, name).column("task").to_pylist()]
    assert not set(more) & set(ids)
    assert set(more) <= listed
    assert len(listed) - len(ids) - len(more) == UNFINISHED[study]
    if study == "replication":
        page = (RESULTS.parents[1] / "docs" / "results" / "README.md").read_text(encoding="utf-8")
        assert f"{len(ids) + len(more):,} trainings of {len(listed):,}" in page
        assert f"Missing, {UNFINISHED[study]:,} trainings" in page


@pytest.mark.parametrize("folder", [RESULTS, RESULTS / "beyond"], ids=["paper", "beyond"])
def test_the_archive_has_its_checksums(folder):
    sums = dict(line.split()[::-1] for line in (folder / "SHA256SUMS").read_text().splitlines())
    assert sorted(sums) == sorted(path.name for path in folder.iterdir() if path.is_file() and path.name != "SHA256SUMS")
    assert sums == {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in sums}
