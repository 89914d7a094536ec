"""A store that loses nothing, whatever happens to its files."""

from __future__ import annotations

import os
import subprocess

import numpy as np
import pytest

from experiment_helpers import Here, comparable
from gradus.errors import FormatError, StoreError
from gradus.lab import Checkpoint
from gradus_paper import store as store_module
from gradus_paper.row import Row
from gradus_paper.runs import run_tasks, split_tasks
from gradus_paper.store import Store
from gradus_paper.tasks import Design, Task


def rows(numbers, status="done"):
    return [Row(task=f"{n:032x}", status=status, sample=n) for n in numbers]


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path)
    store.begin()
    return store


def test_rows_are_read_back_from_few_parts(store, tmp_path, monkeypatch):
    monkeypatch.setattr(store_module, "PART_ROWS", 3)
    for number in range(5):
        store.append(rows([number]))
    assert [len(store_module.pq.read_table(path)) for path in sorted(store.parts_folder.iterdir())] == [3, 2]
    again = Store(tmp_path)
    assert again.table().column("sample").to_pylist() == [0, 1, 2, 3, 4]
    assert len(again.ids()) == len(again) == 5


def test_a_retried_task_counts_once_and_done_beats_failed(store):
    store.append(rows([1, 2], status="failed"))
    store.append(rows([2]))
    store.append(rows([1], status="failed"))
    table = store.table(["sample"])
    assert sorted(zip(table["sample"].to_pylist(), table["status"].to_pylist(), strict=True)) == [(1, "failed"), (2, "done")]
    assert sorted(store.ids().values()) == ["done", "failed"]


@pytest.mark.parametrize("damage", ["cut", "flip", "empty"])
def test_a_damaged_part_is_named_and_only_its_tasks_run_again(tmp_path, damage):
    tasks = [Task(Design("cpar3"), 5, sample) for sample in range(9)]
    for start in (0, 3, 6):
        run_tasks(tasks[start : start + 3], Store(tmp_path), Here())  # each with a part of its own
    store = Store(tmp_path)
    whole = comparable(Store(tmp_path).table())
    victim = sorted(store.parts_folder.glob("part-*"))[1]
    lost = {row["task"] for row in store_module.pq.read_table(victim).to_pylist()}
    content = bytearray(victim.read_bytes())
    content[len(content) // 3] ^= 1
    victim.write_bytes({"cut": bytes(content[:-20]), "flip": bytes(content), "empty": b""}[damage])
    again = Store(tmp_path)
    assert again.damaged == [victim.name]
    assert len(split_tasks(tasks, again)[0]) == len(lost)
    engine = Here()
    run_tasks(tasks, again, engine)
    assert set(engine.ran) == lost
    assert comparable(Store(tmp_path).table()) == whole
    assert (tmp_path / "damaged" / victim.name).exists()


def test_a_part_that_cannot_be_read_is_not_called_damaged(store, tmp_path, monkeypatch):
    store.append(rows([1]))

    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(store_module.Path, "read_bytes", refuse)
    with pytest.raises(StoreError, match=r"cannot be read: .*Permission denied"):
        Store(tmp_path)


def test_a_longer_part_that_was_not_yet_in_place_of_the_shorter_doubles_nothing(store, tmp_path):
    store.append(rows([0, 1]))
    (part,) = store.parts_folder.iterdir()
    kept = part.read_bytes()
    store.append(rows([2]))
    part.write_bytes(kept)  # as if the run had died between writing one and deleting the other
    assert sorted(Store(tmp_path).table()["sample"].to_pylist()) == [0, 1, 2]


def test_a_reader_finds_rows_whose_part_is_replaced_meanwhile(store, tmp_path):
    store.append(rows([0]))
    reader = Store(tmp_path)
    store.append(rows([1]))
    assert sorted(reader.table()["sample"].to_pylist()) == [0, 1]


def test_two_runs_in_one_folder_lose_and_double_nothing(tmp_path):
    tasks = [Task(Design("cpar3"), 5, sample) for sample in range(6)]
    first = Store(tmp_path)

    def other_run(progress):
        if progress.done == 3:
            run_tasks(tasks[2:], Store(tmp_path), Here())

    run_tasks(tasks, first, Here(), callback=other_run)
    assert sorted(Store(tmp_path).table()["sample"].to_pylist()) == list(range(6))


def test_interrupted_searches_are_read_back(store, tmp_path):
    since = Checkpoint(
        step=3, iterations=7, restart=1, best_cost=2, random=np.array([1, 2], np.uint64),
        history=np.arange(4, dtype=np.uint64),
        sources=np.array([[0, 1], [2, 3]], np.uint32), best=np.array([[1, 1], [0, 2]], np.uint32),
    )  # fmt: skip
    store.keep_begun({b"0" * 16: since})
    (again,) = Store(tmp_path).begun().values()
    for name, value in vars(since).items():
        assert np.array_equal(getattr(again, name), value)
    store.keep_begun({})
    assert Store(tmp_path).begun() == {}


def test_a_damaged_file_of_interrupted_searches_is_named(store, tmp_path):
    (tmp_path / "begun.parquet").write_bytes(b"no table")
    with pytest.raises(FormatError, match=r"begun\.parquet.*cannot be read as a table of interrupted searches"):
        store.begun()


def fill(store):
    for n in range(1000):
        store.append(rows(range(500 * n, 500 * n + 500)))


def test_a_full_disk_ends_with_a_clear_message_and_the_store_resumes(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system takes root")
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96k", "tmpfs", small], capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"a small file system cannot be mounted here: {mounted.stderr.strip()}")
    try:
        store = Store(small)
        store.begin()
        with pytest.raises(StoreError, match=r"the disk is full.*run the same command again"):
            fill(store)
        kept = Store(small)
        assert kept.damaged == []
        assert len(kept.table()) == len(kept) > 0
        subprocess.run(["mount", "-o", "remount,size=8m", small], check=True)
        tasks = [Task(Design("cpar3"), 5, sample) for sample in range(3)]
        assert run_tasks(tasks, Store(small), Here()).done == 3
    finally:
        subprocess.run(["umount", small], check=True)
