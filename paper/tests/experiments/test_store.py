"""A store that loses nothing, whatever happens to its files."""

from __future__ import annotations

import os
import shutil
import subprocess

import pyarrow as pa
import pytest

from experiment_helpers import Here, comparable
from gradus.errors import StoreError
from gradus_paper import store as store_module
from gradus_paper.row import SCHEMA, Row, table_of
from gradus_paper.run import run_tasks, split_tasks
from gradus_paper.store import Store
from gradus_paper.tasks import Design, Task


def rows(numbers, status="done"):
    return [Row(task=f"{n:032x}", status=status, sample=n) for n in numbers]


def test_rows_are_read_back_and_parts_are_never_changed(tmp_path):
    store = Store(tmp_path)
    store.append(rows(range(3)))
    first = {path.name: path.read_bytes() for path in store.parts_folder.iterdir()}
    store.append(rows(range(3, 5)))
    assert {name: (store.parts_folder / name).read_bytes() for name in first} == first
    again = Store(tmp_path)
    assert again.table().column("sample").to_pylist() == [0, 1, 2, 3, 4]
    assert len(again.ids()) == len(again) == 5


def test_a_retried_task_counts_once_and_done_beats_failed(tmp_path):
    store = Store(tmp_path)
    store.append(rows([1, 2], status="failed"))
    store.append(rows([2]))
    store.append(rows([1], status="failed"))
    table = store.table(["sample"])
    assert sorted(zip(table["sample"].to_pylist(), table["status"].to_pylist(), strict=True)) == [(1, "failed"), (2, "done")]
    assert sorted(store.ids().values()) == ["done", "failed"]


def test_many_small_parts_become_one_and_no_row_is_seen_twice(tmp_path):
    store = Store(tmp_path)
    for n in range(100):
        store.append(rows([n]))
    assert len(list(store.parts_folder.glob("part-*"))) <= store_module.SMALL_PARTS + 1
    assert sorted(Store(tmp_path).table()["sample"].to_pylist()) == list(range(100))


def test_a_merge_that_died_before_deleting_is_finished_by_the_next_reader(tmp_path):
    store = Store(tmp_path)
    for n in range(3):
        store.append(rows([n]))
    kept = tmp_path / "kept"
    shutil.copytree(store.parts_folder, kept)
    store.compact()
    for path in kept.iterdir():  # as if the process had died between writing the merged part and deleting the others
        shutil.copy(path, store.parts_folder / path.name)
    again = Store(tmp_path)
    assert sorted(again.table()["sample"].to_pylist()) == [0, 1, 2]
    assert len(list(store.parts_folder.glob("part-*"))) == 1


@pytest.mark.parametrize("damage", ["cut", "flip", "empty"])
def test_a_damaged_part_is_named_and_only_its_tasks_run_again(tmp_path, damage):
    tasks = [Task(Design("cpar3"), 5, sample) for sample in range(9)]
    store = Store(tmp_path)
    for start in (0, 3, 6):
        run_tasks(tasks[start : start + 3], store, Here())
        store.compact = lambda: None  # keep three parts
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


def test_two_runs_cannot_write_to_one_folder(tmp_path):
    with Store(tmp_path).writing(), pytest.raises(StoreError, match="another run is writing"):
        run_tasks([], Store(tmp_path), Here())


def test_a_reader_beside_a_merging_writer_sees_every_row_once(tmp_path):
    writer = Store(tmp_path)
    for n in range(5):
        writer.append(rows([n]))
    reader = Store(tmp_path)
    writer.compact()
    assert sorted(reader.table()["sample"].to_pylist()) == [0, 1, 2, 3, 4]


def test_parts_merged_while_they_are_being_listed_lose_no_row(tmp_path, monkeypatch):
    writer = Store(tmp_path)
    for n in range(5):
        writer.append(rows([n]))
    plain = store_module._checked_metadata
    merges = [writer.compact]

    def merge_meanwhile(path):
        if merges:
            merges.pop()()
        return plain(path)

    monkeypatch.setattr(store_module, "_checked_metadata", merge_meanwhile)
    reader = Store(tmp_path)
    assert reader.damaged == []
    assert sorted(reader.table()["sample"].to_pylist()) == [0, 1, 2, 3, 4]


def test_a_part_that_cannot_be_read_is_not_called_damaged(tmp_path, monkeypatch):
    Store(tmp_path).append(rows([1]))

    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(store_module.Path, "read_bytes", refuse)
    with pytest.raises(StoreError, match=r"cannot be read: .*Permission denied"):
        Store(tmp_path)


def test_leftovers_of_a_killed_write_are_cleared_away(tmp_path):
    store = Store(tmp_path)
    store.append(rows([1]))
    (store.parts_folder / ".part-000002-abc.parquet.x1y2").write_bytes(b"half")
    run_tasks([], Store(tmp_path), Here())
    assert [path.name[:5] for path in store.parts_folder.iterdir()] == ["part-"]


def old_rows(shrink):
    """Rows as an earlier version wrote them: with a column for a setting that is gone."""
    table = table_of(rows(range(len(shrink)))).drop_columns(["eta"])
    return table.append_column("shrink", pa.array(shrink, pa.int64()))


def test_parts_of_an_earlier_version_are_read_without_the_rows_of_methods_that_are_gone(tmp_path):
    store = Store(tmp_path)
    store.append_table(old_rows([0, 1000, 0]))
    store.append(rows([3]))
    assert Store(tmp_path).table().schema == SCHEMA
    assert sorted(Store(tmp_path).table(["sample"])["sample"].to_pylist()) == [0, 2, 3]
    store.compact()
    assert len(list(store.parts_folder.glob("part-*"))) == 1
    again = Store(tmp_path)
    assert len(again) == 4  # a merge throws nothing away
    assert sorted(again.table(["sample"])["sample"].to_pylist()) == [0, 2, 3]


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
