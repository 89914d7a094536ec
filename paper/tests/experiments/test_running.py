"""The same rows, whoever runs the tasks and whatever happens meanwhile."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import gradus
import gradus_paper
from experiment_helpers import Here, comparable, on_cpu, slow_tasks
from gradus.errors import SettingsError, StoreError, WorkerError
from gradus.lab import Settings, run_search
from gradus_paper import engines, execution
from gradus_paper import runs as runs_module
from gradus_paper.engines import CudaEngine, DaskEngine, LocalEngine, choose_engine
from gradus_paper.row import Row
from gradus_paper.runs import RunSummary, absorb, run_tasks
from gradus_paper.store import Store
from gradus_paper.tasks import Design, Task

IMPORTABLE = os.pathsep.join(
    [str(Path(__file__).parents[1]), *(str(Path(package.__file__).parents[1]) for package in (gradus, gradus_paper))]
)
"""Where processes that tests start find these helpers, and Gradus even if it is not installed."""
FEW = [Task(Design("cpar3"), 5, sample) for sample in range(5)]


@pytest.fixture(scope="module", autouse=True)
def _helpers_for_workers():
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = IMPORTABLE
    yield
    os.environ.pop("PYTHONPATH") if before is None else os.environ.update(PYTHONPATH=before)


def _made_up(batch, seconds=0.0):
    return [Row.of(task, converged=True) for task in batch.tasks]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_local_processes_give_the_rows_of_this_process(tmp_path, tasks, reference, n_jobs):
    progress = run_tasks(tasks, Store(tmp_path), LocalEngine(n_jobs))
    assert comparable(Store(tmp_path).table()) == reference
    assert (progress.done, progress.failed, progress.left) == (len(tasks) - 1, 1, 0)
    assert progress.not_converged == 16


def test_only_failed_tasks_are_run_twice(tmp_path, tasks):
    run_tasks(tasks[:20], Store(tmp_path), Here())
    run_tasks(tasks, Store(tmp_path), Here())
    engine = Here()
    again = run_tasks(tasks, Store(tmp_path), engine)
    assert (again.done, again.failed, again.before) == (0, 1, len(tasks) - 1)
    assert len(engine.ran) == 1
    assert len(Store(tmp_path).table()) == len(tasks)


def test_a_worker_that_dies_costs_nothing(tmp_path):
    tasks, killed = slow_tasks(60), []

    def kill(progress):
        if progress.done and not killed:
            killed.extend(_workers()[:1])
            os.kill(killed[0], signal.SIGKILL)

    progress = run_tasks(tasks, Store(tmp_path), LocalEngine(2), callback=kill)
    assert killed
    assert (progress.done, progress.failed, progress.left) == (60, 0, 0)
    assert len(Store(tmp_path)) == 60


def _workers():
    """Processes of joblib that this one has started."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            line, status = (folder / "cmdline").read_bytes(), (folder / "status").read_text()
            if b"popen_loky_posix" in line and f"\nPPid:\t{os.getpid()}\n" in status:
                found.append(int(folder.name))
    return found


def test_a_task_that_kills_every_worker_ends_the_run_with_a_sentence_after_all_others_are_done(tmp_path):
    tasks = [Task(Design("cpar3"), 5, sample) for sample in range(12)]

    class Deadly(LocalEngine):
        def _results(self, waiting, *, alone):
            for batch in waiting.batches():
                if any(task.sample == 5 for task in batch.tasks):
                    raise type("KilledWorker", (Exception,), {})
                yield batch, _made_up(batch), 0.5

    with pytest.raises(WorkerError, match=r"3 worker processes died in a row while they ran cpar3, 5 examples, sample 5"):
        run_tasks(tasks, Store(tmp_path), Deadly(2))
    rows = Store(tmp_path).table().to_pylist()
    assert sorted(row["sample"] for row in rows) == [n for n in range(12) if n != 5]
    assert {row["status"] for row in rows} == {"done"}  # nobody is blamed


RUNNER = """
import sys
from gradus_paper import runs
from gradus_paper.engines import LocalEngine
from gradus_paper.store import Store
from experiment_helpers import slow_tasks

runs.FLUSH_SECONDS = 0.1
if __name__ == "__main__":
    print(runs.run_tasks(slow_tasks(int(sys.argv[2])), Store(sys.argv[1]), LocalEngine(1)).left)
"""


def _marked(mark):
    """Processes that carry a mark in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return found


def test_a_run_killed_at_random_moments_ends_with_the_table_of_one_that_was_not(tmp_path):
    count = 150
    script = tmp_path / "runner.py"
    script.write_text(RUNNER)
    mark = uuid.uuid4().hex
    env = {**os.environ, "GRADUS_TEST_MARK": mark}
    command = [sys.executable, str(script), str(tmp_path / "killed"), str(count)]
    rng = random.Random(6)
    done = []
    for _ in range(2):  # benchmarks/attack.py does it 50 times
        process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE)
        before = len(Store(tmp_path / "killed"))
        deadline = time.monotonic() + 300
        while len(Store(tmp_path / "killed")) <= before and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.02)
        time.sleep(rng.uniform(0, 0.3))
        process.kill()
        process.wait()
        done.append(len(Store(tmp_path / "killed").table()))
    assert 0 < done[0] <= done[-1] < count  # each kill hit a run that was under way
    for _ in range(100):
        if not _marked(mark):
            break
        time.sleep(0.1)
    assert not _marked(mark), "a worker outlived the run that started it"
    assert subprocess.run(command, env=env, stdout=subprocess.PIPE, check=True).stdout.strip() == b"0"
    run_tasks(slow_tasks(count), Store(tmp_path / "whole"), Here())
    killed, whole = (Store(tmp_path / name).table() for name in ("killed", "whole"))
    assert len(killed) == count
    assert comparable(killed) == comparable(whole)


A_ROW = Row.of(Task(Design("add3"), 8, 0), converged=True)


@given(total=st.integers(1, 500), done=st.integers(0, 500), pace=st.floats(0.01, 5), start=st.floats(0, 100))
def test_the_time_left_follows_the_speed_since_the_first_rows(total, done, pace, start):
    assume(done <= total)
    summary = RunSummary(total, 0)
    for number in range(done):
        summary = summary.plus([A_ROW], start + pace * number)
    assert summary.eta == (None if done <= 1 else pytest.approx(pace * (total - done)))


def test_a_callback_that_returns_true_stops_the_run_and_keeps_what_is_done(tmp_path):
    summary = run_tasks(slow_tasks(200), Store(tmp_path), LocalEngine(1), callback=lambda progress: progress.done >= 3)
    assert 3 <= summary.done == len(Store(tmp_path)) < 200


def test_a_stop_does_not_wait_for_a_long_search(tmp_path):
    endless = Settings(loss="lgh", max_iter=10**12, gates_per_target=5)
    tasks = [Task(Design("cpar7", settings=endless), 100, 0)]
    begin = time.monotonic()
    summary = run_tasks(tasks, Store(tmp_path), LocalEngine(1), time_limit=1.0)
    assert time.monotonic() - begin < 2.5  # the limit, an interval of looking at the clock, and what starting takes
    assert summary.done == 0


def test_a_cluster_gives_the_same_rows_and_outlives_a_worker(tmp_path, tasks, reference):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
        distributed.Client(cluster) as client,
    ):
        run_tasks(tasks, Store(tmp_path / "plain"), DaskEngine(client))
        killed = []

        def kill(progress):
            if progress.done and not killed:
                killed.append(next(iter(cluster.workers.values())).pid)
                os.kill(killed[0], signal.SIGKILL)

        progress = run_tasks(slow_tasks(60), Store(tmp_path / "killed"), DaskEngine(client), callback=kill)
    assert comparable(Store(tmp_path / "plain").table()) == reference
    assert (progress.done, progress.left) == (60, 0)
    assert killed


def test_a_wrong_address_gives_a_readable_error():
    pytest.importorskip("distributed")
    with pytest.raises(WorkerError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:1"):
        DaskEngine("tcp://127.0.0.1:1", timeout="1s")


def test_workers_without_gradus_give_a_readable_error():
    pytest.importorskip("distributed")

    class Client:
        def run(self, function):
            raise ModuleNotFoundError("No module named 'gradus'")

    with pytest.raises(WorkerError, match=r"workers of the cluster cannot import Gradus \(No module named 'gradus'\)"):
        DaskEngine(Client())


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"n_jobs": 2, "dask": "tcp://a:1"}, "not both"),
        ({"backend": "tpu"}, "backend is 'tpu'"),
        ({"backend": "cuda", "dask": "tcp://a:1"}, "leave out --dask"),
        ({"backend": "cuda", "n_jobs": -2}, "n_jobs is -2"),
    ],
)
def test_contradictory_options_are_refused(wishes, message):
    with pytest.raises(SettingsError, match=message):
        choose_engine(**wishes)


def test_batches_grow_to_about_a_second_and_keep_the_order_of_tasks():
    tasks = [Task(Design("add3"), 8, sample) for sample in range(2000)]
    waiting = engines._Queue(tasks, {}, engines.MOST_TASKS_PER_BATCH)
    given, sizes = [], []
    for batch in waiting.batches():
        given += batch.tasks
        sizes.append(len(batch.tasks))
        waiting.take_back(batch, [A_ROW] * len(batch.tasks), 0.01 * len(batch.tasks))
    assert given == tasks
    assert sizes[0] < 10
    assert sizes[-2] == pytest.approx(100, abs=5)
    assert waiting.left() == []


def test_a_batch_that_takes_longer_than_expected_is_handed_back_with_what_is_done():
    waiting = engines._Queue(FEW, {}, engines.MOST_TASKS_PER_BATCH)
    batch = next(waiting.batches())
    rows = execution.run_batch(batch, 0.0)
    assert [row.task for row in rows] == [batch.tasks[0].id]
    waiting.take_back(batch, rows, 1.0)
    assert waiting.left() == FEW[1:]


def test_the_first_task_of_each_method_goes_alone_and_no_other_process_compiles_the_same():
    tasks = [
        Task(Design("add3", method=method), 8, sample) for sample in range(20) for method in ("lessons", "network", "tree")
    ]
    waiting = engines._Queue(tasks, {}, engines.MOST_TASKS_PER_BATCH)
    batches = waiting.batches()
    firsts = [next(batches) for _ in range(3)]
    assert [[task.design.method for task in batch.tasks] for batch in firsts] == [["lessons"], ["network"], ["tree"]]
    # Nothing else is left to do than what another process compiles too.
    assert {task.design.method for task in next(batches).tasks} == {"tree"}
    waiting.take_back(firsts[1], [A_ROW], 0.01)
    assert {task.design.method for task in next(batches).tasks} == {"network"}
    waiting.take_back(firsts[0], [A_ROW], 0.01)
    waiting.take_back(firsts[2], [A_ROW], 0.01)
    given = [task for batch in batches for task in batch.tasks]
    assert {task.design.method for task in given} == {"lessons", "network", "tree"}
    assert sorted(waiting.sent, key=tasks.index) == [task for task in tasks if task not in {b.tasks[0] for b in firsts}]


def test_what_is_expected_counts_for_less_and_less():
    summary = RunSummary(100, 0, expected=50.0)
    assert summary.eta == 50.0
    assert replace(summary, seconds=5.0).eta == pytest.approx(45.0)
    assert replace(summary, seconds=60.0).eta == pytest.approx(3 * 30.0)  # three times the start that was expected
    started = replace(summary, seconds=40.0, done=1, first=(40.0, 1))
    assert started.eta == pytest.approx(2 * 30.0 * 0.99)
    half = replace(started, seconds=140.0, done=50)
    assert half.eta == pytest.approx(0.5 * (2 * 30.0 * 0.5) + 0.5 * 50 * 100 / 49)
    assert replace(half, before=40, done=60).eta == 0.0
    assert replace(summary, seconds=2.0, done=1, first=(2.0, 1)).eta == pytest.approx(30.0 * 0.99)  # nothing was compiled


def test_rows_reach_the_disk_while_a_long_search_is_running(tmp_path, monkeypatch):
    monkeypatch.setattr(runs_module, "FLUSH_SECONDS", 0.2)
    monkeypatch.setattr(engines, "QUIET_SECONDS", 0.1)
    seen = []

    def last_waits(jobs, *, callback=None, failed=None, **options):
        for index, outcome in on_cpu(jobs):
            if index == 0:
                deadline = time.monotonic() + 60
                while not len(Store(tmp_path)) and time.monotonic() < deadline:
                    time.sleep(0.05)
                seen.append(len(Store(tmp_path)))
            yield index, outcome

    monkeypatch.setattr(engines, "run_many", last_waits)
    assert run_tasks(FEW, Store(tmp_path), CudaEngine()).done == 5
    assert seen == [4]


def test_rows_that_could_not_be_written_are_tried_once_more(tmp_path, monkeypatch):
    monkeypatch.setattr(runs_module, "FLUSH_SECONDS", 0.0)
    store = Store(tmp_path)
    plain, failures = store.append, [StoreError("not now")]

    def fail_once(rows):
        if failures:
            raise failures.pop()
        plain(rows)

    monkeypatch.setattr(store, "append", fail_once)
    with pytest.raises(StoreError, match="not now"):
        run_tasks(FEW, store, Here(_made_up))
    assert len(Store(tmp_path)) == 1


def test_a_run_ends_when_its_folder_vanishes_and_does_not_make_another(tmp_path, monkeypatch):
    monkeypatch.setattr(runs_module, "FLUSH_SECONDS", 0.0)

    def remove(progress):
        if progress.done >= 4 and (tmp_path / "store").exists():
            shutil.rmtree(tmp_path / "store")

    tasks = [Task(Design("cpar3"), 5, sample) for sample in range(60)]
    with pytest.raises(StoreError, match="was removed during the run"):
        run_tasks(tasks, Store(tmp_path / "store"), Here(_made_up), callback=remove)
    assert not (tmp_path / "store").exists()
    assert run_tasks(tasks, Store(tmp_path / "store"), Here(_made_up)).done == 60


def test_a_disk_that_fills_at_any_write_ends_the_run_with_a_message_and_loses_no_row(tmp_path, monkeypatch):
    monkeypatch.setattr(runs_module, "FLUSH_SECONDS", 0.0)
    tasks = [Task(Design("cpar3"), 5, sample) for sample in range(12)]
    plain = os.fsync
    for full_after in range(4):
        folder, writes = tmp_path / str(full_after), []

        def write(handle, full_after=full_after, writes=writes):
            writes.append(handle)
            if len(writes) > full_after:
                raise OSError(errno.ENOSPC, "No space left on device")
            plain(handle)

        monkeypatch.setattr(os, "fsync", write)
        with pytest.raises(StoreError, match=r"the disk is full.*run the same command again"):
            run_tasks(tasks, Store(folder), Here(_made_up))
        monkeypatch.setattr(os, "fsync", plain)
        kept = len(Store(folder).table())
        assert not list((folder / "parts").glob(".*"))
        assert kept + run_tasks(tasks, Store(folder), Here(_made_up)).done == 12
        assert len(Store(folder).table()) == 12


def test_parts_are_readable_as_the_umask_says(tmp_path):
    before = os.umask(0o027)
    try:
        run_tasks(FEW, Store(tmp_path), Here(_made_up))
    finally:
        os.umask(before)
    (part,) = (tmp_path / "parts").glob("*.parquet")
    assert part.stat().st_mode & 0o777 == 0o640


def test_a_search_that_raises_on_the_gpu_is_recorded_and_the_others_are_run(tmp_path, monkeypatch):
    def third_fails(jobs, *, callback=None, failed=None, **options):
        for index, job in enumerate(jobs):
            if job.seed == FEW[2].search_seed:
                failed(index, MemoryError("no room for it"))
            else:
                yield index, run_search(job)

    monkeypatch.setattr(engines, "run_many", third_fails)
    progress = run_tasks(FEW, Store(tmp_path), CudaEngine())
    table = Store(tmp_path).table(["sample", "error"]).to_pylist()
    assert (progress.done, progress.failed) == (4, 1)
    assert [(row["sample"], row["error"]) for row in table if row["error"]] == [(2, "MemoryError: no room for it")]


def test_a_gpu_that_fails_ends_the_run_with_a_readable_error_and_what_is_done_is_kept(tmp_path, monkeypatch):
    error = type("CUDARuntimeError", (RuntimeError,), {"__module__": "cupy_backends.cuda.api.runtime"})

    def falls_off(jobs, *, callback=None, failed=None, **options):
        yield next(on_cpu(jobs))
        raise error("unspecified launch failure")

    monkeypatch.setattr(engines, "run_many", falls_off)
    with pytest.raises(WorkerError, match=r"the GPU failed: CUDARuntimeError: unspecified launch failure"):
        run_tasks(FEW, Store(tmp_path), CudaEngine())
    assert len(Store(tmp_path)) == 1


def test_a_task_without_a_possible_job_is_recorded_and_the_others_are_run(tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "run_many", on_cpu)
    tasks = [Task(Design("cpar3", order=order), 5, 0) for order in ("known", "given:0,1", "none")]
    progress = run_tasks(tasks, Store(tmp_path), CudaEngine())
    assert (progress.done, progress.failed) == (2, 1)
    (error,) = [row["error"] for row in Store(tmp_path).table(["error"]).to_pylist() if row["error"]]
    assert "must name each of the targets 0 to 2 once" in error


def _interrupting(jobs, *, callback=None, since=None, left=None, failed=None, **options):
    """Stand in for a GPU that ends one search and is stopped in the middle of the others."""
    for index, job in enumerate(jobs):
        if index == 0:
            yield index, run_search(job)
        else:
            outcome, checkpoint = _part_of(job)
            left(index, checkpoint) if outcome.stopped else None
    while not callback(None):
        time.sleep(0.01)


def _part_of(job):
    """Stop a search before its first step, and return where it can be continued."""
    from gradus._core.run import Run
    from gradus._search.driver import Workspace, _search

    work = Workspace(job)
    work.start()
    return _search(work, Run(time_limit=0.0), iterations=0, restart=0)


def test_searches_that_a_gpu_leaves_are_continued_here_or_in_another_folder_with_the_same_rows(tmp_path, monkeypatch):
    tasks = [Task(Design("cpar7", settings=Settings(loss="lgh", history=1000)), 24, sample) for sample in range(4)]
    monkeypatch.setattr(engines, "run_many", _interrupting)
    over = threading.Event()
    threading.Timer(3.0, over.set).start()
    run_tasks(tasks, Store(tmp_path / "gpu"), CudaEngine(), callback=lambda progress: over.is_set())
    assert len(Store(tmp_path / "gpu")) == 1
    begun = Store(tmp_path / "gpu").begun()
    assert len(begun) == 3
    summary = absorb(tasks, tmp_path / "gpu", Store(tmp_path / "here"))
    assert (summary.total, summary.before, summary.done) == (4, 0, 1)
    assert Store(tmp_path / "here").begun().keys() == begun.keys()
    for folder in ("gpu", "here"):
        assert run_tasks(tasks, Store(tmp_path / folder), Here()).left == 0
        assert Store(tmp_path / folder).begun() == {}
    run_tasks(tasks, Store(tmp_path / "plain"), Here())
    expected = comparable(Store(tmp_path / "plain").table())
    assert all(comparable(Store(tmp_path / folder).table()) == expected for folder in ("gpu", "here"))


def test_a_checkpoint_that_its_search_cannot_have_is_not_used(tmp_path):
    job, _ = execution.job_of(FEW[0])
    other, _ = execution.job_of(Task(Design("cpar7"), 24, 0))
    _, checkpoint = _part_of(other)
    assert execution.fits(checkpoint, other)
    assert not execution.fits(checkpoint, job)
    plain, resumed = run_tasks(FEW[:1], Store(tmp_path / "a"), Here()), execution.run_task(FEW[0], checkpoint)
    assert plain.done == 1
    assert resumed.iterations == Store(tmp_path / "a").table()["iterations"].to_pylist()[0]
