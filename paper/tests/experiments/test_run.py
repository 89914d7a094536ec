"""The same rows, whoever runs the tasks and whatever happens meanwhile."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
from concurrent.futures import BrokenExecutor, Executor, Future
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import gradus
from experiment_helpers import comparable, in_threads, on_cpu, slow_tasks
from gradus._search import cuda
from gradus._search.driver import run_search
from gradus.errors import SettingsError, StoreError, WorkerError
from gradus_paper import engines, execution, gpu_engine
from gradus_paper import run as run_module
from gradus_paper.engines import Batcher, DaskEngine, ExecutorEngine, LocalEngine, choose_engine
from gradus_paper.execution import TaskBatch
from gradus_paper.gpu_engine import CudaEngine
from gradus_paper.row import Row
from gradus_paper.run import RunSummary, run_tasks
from gradus_paper.store import Store
from gradus_paper.tasks import Design, Task

IMPORTABLE = os.pathsep.join([str(Path(__file__).parents[1]), str(Path(gradus.__file__).parents[1])])
"""Where processes that tests start find these helpers, and Gradus even if it is not installed."""


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_local_processes_give_the_rows_of_this_process(tmp_path, tasks, reference, n_jobs):
    progress = run_tasks(tasks, Store(tmp_path), LocalEngine(n_jobs))
    assert comparable(Store(tmp_path).table()) == reference
    assert (progress.done, progress.failed, progress.left) == (len(tasks) - 1, 1, 0)
    assert progress.not_converged == 16


def test_any_executor_gives_the_same_rows(tmp_path, tasks, reference):
    run_tasks(tasks, Store(tmp_path), in_threads(2))
    assert comparable(Store(tmp_path).table()) == reference


def test_only_failed_tasks_are_run_twice(tmp_path, tasks, monkeypatch):
    engine = in_threads()
    run_tasks(tasks[:20], Store(tmp_path), engine)
    run_tasks(tasks, Store(tmp_path), engine)
    ran = []
    monkeypatch.setattr(engines, "run_batch", lambda batch, _: ran.extend(batch.tasks) or execution.run_batch(batch))
    again = run_tasks(tasks, Store(tmp_path), engine)
    assert (again.done, again.failed, again.before) == (0, 1, len(tasks) - 1)
    assert [task.design.problem for task in ran] == ["mammalian"]
    assert len(Store(tmp_path).table()) == len(tasks)


class MortalExecutor(Executor):
    """Stands in for a pool of processes: once a batch has killed a worker, it is broken and takes no other."""

    def __init__(self, kills):
        self.kills, self.broken = kills, False

    def submit(self, run, batch, seconds):
        if self.broken:
            raise BrokenExecutor
        future = Future()
        self.broken = self.kills(batch)
        if self.broken:
            future.set_exception(BrokenExecutor())
        else:
            future.set_result(run(batch, seconds))
        return future


def _mortal(kills):
    return ExecutorEngine(lambda: MortalExecutor(kills), lambda: 1)


def test_a_task_that_was_once_alone_when_its_worker_died_is_not_blamed(tmp_path):
    died_alone = set()

    def kills(batch):
        if len(batch.tasks) != 1:
            return any(task.sample == 1 for task in batch.tasks)
        first_time = batch.tasks[0] not in died_alone
        died_alone.add(batch.tasks[0])
        return first_time

    tasks = [Task(Design("cpar3"), 5, sample) for sample in range(4)]
    progress = run_tasks(tasks, Store(tmp_path), _mortal(kills))
    assert (progress.done, progress.failed) == (4, 0)
    assert tasks[1] in died_alone


def test_a_worker_that_dies_while_it_starts_blames_no_task(tmp_path):
    starts = iter([True] * 12)

    def kills(batch):
        return next(starts, False)

    progress = run_tasks([Task(Design("cpar3"), 5, 0)], Store(tmp_path), _mortal(kills))
    assert (progress.done, progress.failed) == (1, 0)
    assert next(starts, None) is None


def test_workers_that_never_start_end_the_run_with_a_readable_error(tmp_path):
    with pytest.raises(WorkerError, match=r"20 worker processes .* died while they started .* kept"):
        run_tasks([Task(Design("cpar3"), 5, 0)], Store(tmp_path), _mortal(lambda batch: True))
    assert len(Store(tmp_path)) == 0


def _die(batch, seconds):
    """Stand in for `run_batch` with a task that kills its worker."""
    if any(task.sample == 5 for task in batch.tasks):
        os.kill(os.getpid(), signal.SIGKILL)
    return execution.run_batch(batch, seconds)


def test_a_task_that_kills_its_worker_is_recorded_and_the_others_are_run(tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "run_batch", _die)
    tasks = [Task(Design("cpar3"), 5, sample) for sample in range(4, 7)]
    progress = run_tasks(tasks, Store(tmp_path), LocalEngine(1))
    table = Store(tmp_path).table(["sample", "error"]).to_pylist()
    assert (progress.done, progress.failed) == (2, 1)
    assert [row["sample"] for row in table if row["status"] == "failed"] == [5]
    assert "the worker process died twice" in next(row["error"] for row in table if row["sample"] == 5)


RUNNER = """
import sys
from gradus_paper import run as run_module
from gradus_paper.engines import LocalEngine
from gradus_paper.store import Store
from experiment_helpers import in_threads, slow_tasks

run_module.FLUSH_SECONDS = 0.1
if __name__ == "__main__":
    print(run_module.run_tasks(slow_tasks(int(sys.argv[2])), Store(sys.argv[1]), LocalEngine(1)).left)
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
    count = 200
    script = tmp_path / "runner.py"
    script.write_text(RUNNER)
    mark = uuid.uuid4().hex
    env = {**os.environ, "PYTHONPATH": IMPORTABLE, "GRADUS_TEST_MARK": mark}
    command = [sys.executable, str(script), str(tmp_path / "killed"), str(count)]
    rng = random.Random(6)
    done = []
    for _ in range(3):  # benchmarks/attack.py does it 50 times
        process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE)
        before = len(Store(tmp_path / "killed"))
        deadline = time.monotonic() + 300
        while len(Store(tmp_path / "killed")) <= before and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.02)
        time.sleep(rng.uniform(0, 0.3))
        process.kill()
        process.wait()
        done.append(len(Store(tmp_path / "killed")))
    assert 0 < done[0] <= done[-1] < count  # each kill hit a run that was under way
    for _ in range(600):
        if not _marked(mark):
            break
        time.sleep(0.1)
    assert not _marked(mark), "a worker outlived the run that started it"
    assert subprocess.run(command, env=env, stdout=subprocess.PIPE, check=True).stdout.strip() == b"0"
    run_tasks(slow_tasks(count), Store(tmp_path / "whole"), in_threads(2))
    killed, whole = (Store(tmp_path / name) for name in ("killed", "whole"))
    assert len(killed) == count  # no row stands twice
    assert comparable(killed.table()) == comparable(whole.table())


A_ROW = Row.of(Task(Design("add3"), 8, 0), converged=True)


@given(
    total=st.integers(1, 500), done=st.integers(0, 500), pace=st.floats(0.01, 5), start=st.floats(0, 100),
    expected=st.one_of(st.none(), st.floats(0.01, 5)),
)  # fmt: skip
def test_the_time_left_forgets_the_start_and_in_the_end_follows_the_speed_so_far(total, done, pace, start, expected):
    assume(done <= total)
    summary = RunSummary(total, 0, task_seconds=expected)
    for number in range(done):
        summary = run_module._count(summary, [A_ROW], start + pace * number)
    if done <= 1:
        began = 0.0 if done else run_module.STARTUP_SECONDS
        assert summary.eta == (None if expected is None else pytest.approx(expected * (total - done) + began))
    elif done > 1 + 0.2 * total or expected is None:
        assert summary.eta == pytest.approx(pace * (total - done))
    else:
        between = sorted([pace * (total - done), expected * (total - done)])
        assert between[0] - 1e-6 <= summary.eta <= between[1] + 1e-6


def test_a_callback_that_returns_true_stops_the_run_and_keeps_what_is_done(tmp_path):
    summary = run_tasks(slow_tasks(60), Store(tmp_path), LocalEngine(1), callback=lambda progress: progress.done >= 3)
    assert 3 <= summary.done == len(Store(tmp_path)) < 60


def test_ctrl_c_keeps_what_is_done(tmp_path, monkeypatch):
    monkeypatch.setattr(run_module, "FLUSH_SECONDS", 1000.0)

    def interrupt(progress):
        if progress.done >= 3:
            raise KeyboardInterrupt

    tasks = slow_tasks(60)
    with pytest.raises(KeyboardInterrupt):
        run_tasks(tasks, Store(tmp_path), LocalEngine(1), callback=interrupt)
    assert 3 <= len(Store(tmp_path)) < 60


@contextlib.contextmanager
def dask_cluster(folder, n_workers):
    """Start a scheduler and workers as a user would; yield the address, the scheduler and the workers."""
    file = folder / "scheduler.json"
    env = {**os.environ, "PYTHONPATH": IMPORTABLE, "DASK_DISTRIBUTED__WORKER__DAEMON": "True"}
    dask = [sys.executable, "-m", "dask"]
    quiet = {"env": env, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    place = ["--host", "127.0.0.1", "--port", "0", "--dashboard-address", "127.0.0.1:0", "--scheduler-file", file]
    worker = [*dask, "worker", "--scheduler-file", file, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    scheduler = subprocess.Popen([*dask, "scheduler", *place], **quiet)
    workers = []
    try:
        deadline = time.monotonic() + 60
        while not file.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        workers += [subprocess.Popen(worker, **quiet) for _ in range(n_workers)]
        yield json.loads(file.read_text())["address"], scheduler, workers
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()


def dask_engine(address, n_workers):
    engine = DaskEngine(address)
    engine.client.wait_for_workers(n_workers, timeout=180)
    return engine


def test_a_scheduler_and_two_workers_from_the_command_line_give_the_same_rows(tmp_path, tasks, reference):
    pytest.importorskip("distributed")
    with dask_cluster(tmp_path, n_workers=2) as (address, _, _):
        run_tasks(tasks, Store(tmp_path), dask_engine(address, 2))
    assert comparable(Store(tmp_path).table()) == reference


def test_killing_a_dask_worker_mid_run_loses_nothing(tmp_path):
    pytest.importorskip("distributed")
    with dask_cluster(tmp_path, n_workers=2) as (address, _, workers):

        def kill_one(progress):
            if progress.done:
                workers[0].kill()

        progress = run_tasks(slow_tasks(120), Store(tmp_path), dask_engine(address, 2), callback=kill_one)
        assert workers[0].wait(timeout=60) == -signal.SIGKILL
    assert (progress.done, progress.left) == (120, 0)
    assert len(Store(tmp_path)) == 120


def test_a_local_cluster_gives_the_same_rows(tmp_path, tasks, reference):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
        distributed.Client(cluster) as client,
    ):
        run_tasks(tasks, Store(tmp_path), DaskEngine(client))
    assert comparable(Store(tmp_path).table()) == reference


def test_a_wrong_address_gives_a_readable_error():
    pytest.importorskip("distributed")
    with pytest.raises(WorkerError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:1"):
        DaskEngine("tcp://127.0.0.1:1", timeout="1s")


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"n_jobs": 2, "dask": "tcp://a:1"}, "not both"),
        ({"backend": "tpu"}, "backend is 'tpu'"),
        ({"backend": "cuda", "n_jobs": 2}, "leave out --n-jobs"),
    ],
)
def test_contradictory_options_are_refused(wishes, message):
    with pytest.raises(SettingsError, match=message):
        choose_engine(**wishes)


def test_batches_grow_to_about_a_second_and_keep_the_order_of_tasks():
    tasks = [Task(Design("add3"), 8, sample) for sample in range(2000)]
    batcher = Batcher(tasks)
    given = []
    sizes = []
    while len(batcher):
        batch = batcher.next()
        assert isinstance(batch, TaskBatch)
        given += batch.tasks
        sizes.append(len(batch.tasks))
        batcher.take_back(batch, [Row(cpu_seconds=0.01)] * len(batch.tasks))
    assert given == tasks
    assert sizes[0] < 10
    assert sizes[5] == pytest.approx(100, abs=2)


def _made_up(batch, seconds):
    return [Row.of(task, converged=True) for task in batch.tasks]


def test_a_batch_that_takes_longer_than_expected_is_handed_back_with_what_is_done(tmp_path, tasks, reference, monkeypatch):
    batcher = Batcher(tasks)
    batch = batcher.next()
    rows = execution.run_batch(batch, 0.0)
    batcher.take_back(batch, rows)
    assert [row.task for row in rows] == [batch.tasks[0].id]
    assert batcher.next().tasks[0] == batch.tasks[1]
    monkeypatch.setattr(engines, "LONGEST_BATCH_SECONDS", 0.0)
    run_tasks(tasks, Store(tmp_path), in_threads(2))
    assert comparable(Store(tmp_path).table()) == reference


def test_progress_is_told_while_no_task_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "QUIET_SECONDS", 0.01)
    told = []

    def waits_until_told(batch, seconds):
        deadline = time.monotonic() + 60
        while len(told) < 5 and time.monotonic() < deadline:
            time.sleep(0.01)
        return _made_up(batch, seconds)

    monkeypatch.setattr(engines, "run_batch", waits_until_told)
    engine = in_threads()
    run_tasks([Task(Design("cpar3"), 5, 0)], Store(tmp_path), engine, callback=lambda progress: told.append(progress.done))
    assert told[:5] == [0] * 5
    assert told[-1] == 1


def test_rows_reach_the_disk_while_a_long_search_is_running(tmp_path, monkeypatch):
    monkeypatch.setattr(run_module, "FLUSH_SECONDS", 0.5)
    monkeypatch.setattr(engines, "QUIET_SECONDS", 0.1)
    seen = []

    def second_batch_waits(batch, seconds):
        if batch.tasks[0].sample:
            deadline = time.monotonic() + 60
            while not len(Store(tmp_path)) and time.monotonic() < deadline:
                time.sleep(0.05)
            seen.append(len(Store(tmp_path)))
        return _made_up(batch, seconds)

    monkeypatch.setattr(engines, "run_batch", second_batch_waits)
    tasks = [Task(Design("cpar3"), 5, sample) for sample in range(8)]
    run_tasks(tasks, Store(tmp_path), in_threads(2))
    assert seen == [4]


def test_rows_of_a_gpu_reach_the_disk_while_a_long_search_is_running(tmp_path, monkeypatch):
    monkeypatch.setattr(run_module, "FLUSH_SECONDS", 0.5)
    monkeypatch.setattr(gpu_engine, "QUIET_SECONDS", 0.1)
    seen = []

    def last_waits(jobs, *, callback=None, failed=None, **options):
        for index, found in on_cpu(jobs):
            if index == 0:
                deadline = time.monotonic() + 60
                while not len(Store(tmp_path)) and time.monotonic() < deadline:
                    time.sleep(0.05)
                seen.append(len(Store(tmp_path)))
            yield index, found

    monkeypatch.setattr(cuda, "run_many", last_waits)
    tasks = [Task(Design("cpar3"), 5, sample) for sample in range(3)]
    run_tasks(tasks[:1], Store(tmp_path / "warm"), in_threads())
    assert run_tasks(tasks, Store(tmp_path), CudaEngine()).done == 3
    assert seen == [2]


def test_rows_that_could_not_be_written_are_tried_once_more(tmp_path, monkeypatch):
    monkeypatch.setattr(run_module, "FLUSH_SECONDS", 0.0)
    monkeypatch.setattr(engines, "run_batch", _made_up)
    store = Store(tmp_path)
    plain, failures = store.append, [StoreError("not now")]

    def fail_once(rows):
        if failures:
            raise failures.pop()
        plain(rows)

    monkeypatch.setattr(store, "append", fail_once)
    tasks = [Task(Design("cpar3"), 5, sample) for sample in range(4)]
    with pytest.raises(StoreError, match="not now"):
        run_tasks(tasks, store, in_threads())
    assert len(Store(tmp_path)) == 4


def test_a_run_ends_when_its_folder_vanishes_and_does_not_make_another(tmp_path, monkeypatch):
    monkeypatch.setattr(run_module, "FLUSH_SECONDS", 0.0)
    monkeypatch.setattr(engines, "run_batch", _made_up)
    tasks = [Task(Design("cpar3"), 5, sample) for sample in range(60)]

    def remove(progress):
        if progress.done >= 4 and (tmp_path / "store").exists():
            shutil.rmtree(tmp_path / "store")

    engine = in_threads()
    with pytest.raises(StoreError, match="was removed or replaced during the run"):
        run_tasks(tasks, Store(tmp_path / "store"), engine, callback=remove)
    assert not (tmp_path / "store").exists()
    assert run_tasks(tasks, Store(tmp_path / "store"), engine).done == 60


def test_a_disk_that_fills_at_any_write_ends_the_run_with_a_message_and_loses_no_row(tmp_path, monkeypatch):
    monkeypatch.setattr(run_module, "FLUSH_SECONDS", 0.0)
    monkeypatch.setattr(engines, "run_batch", _made_up)
    tasks = [Task(Design("cpar3"), 5, sample) for sample in range(12)]
    plain, engine = os.fsync, in_threads()
    for full_after in range(4):
        folder, writes = tmp_path / str(full_after), []

        def write(handle, full_after=full_after, writes=writes):
            writes.append(handle)
            if len(writes) > full_after:
                raise OSError(errno.ENOSPC, "No space left on device")
            plain(handle)

        monkeypatch.setattr(os, "fsync", write)
        with pytest.raises(StoreError, match=r"the disk is full.*run the same command again"):
            run_tasks(tasks, Store(folder), engine)
        monkeypatch.setattr(os, "fsync", plain)
        kept = len(Store(folder))
        assert not list((folder / "parts").glob(".*"))
        assert kept + run_tasks(tasks, Store(folder), engine).done == 12
        assert len(Store(folder).table()) == 12


def test_parts_are_readable_as_the_umask_says(tmp_path):
    before = os.umask(0o027)
    try:
        Store(tmp_path).append([Row(task="00ff", status="done")])
    finally:
        os.umask(before)
    (part,) = (tmp_path / "parts").glob("*.parquet")
    assert part.stat().st_mode & 0o777 == 0o640


def test_a_scheduler_that_dies_ends_the_run_with_a_readable_error_and_rows_are_kept(tmp_path):
    # Imported first: a setting made before that takes Dask's own settings with it when it ends.
    pytest.importorskip("distributed")
    settings = pytest.importorskip("dask").config
    with (
        dask_cluster(tmp_path, n_workers=1) as (address, scheduler, _),
        settings.set({"distributed.comm.timeouts.connect": "3s"}),
    ):
        engine = dask_engine(address, 1)
        with pytest.raises(WorkerError, match="what is done is kept"):
            run_tasks(slow_tasks(200), Store(tmp_path / "s"), engine, callback=lambda one: one.done and scheduler.kill())
    kept = len(Store(tmp_path / "s"))
    assert 0 < kept < 200
    again = run_tasks(slow_tasks(kept + 2), Store(tmp_path / "s"), in_threads())
    assert again.left == again.failed == 0


def test_a_suspect_runs_when_nothing_else_does(tmp_path, monkeypatch):
    """Of two batches of a broken executor one is told late; the other must not be tried before."""
    monkeypatch.setattr(engines, "QUIET_SECONDS", 0.1)
    late = Future()
    early = []

    class Breaking(Executor):
        given = 0

        def submit(self, run, batch, seconds):
            self.given += 1
            if self.given > 2:
                raise BrokenExecutor
            future = Future() if self.given == 1 else late
            if self.given == 1:
                future.set_exception(BrokenExecutor())
            else:
                threading.Timer(0.5, late.set_exception, [BrokenExecutor()]).start()
            return future

    class Sound(Executor):
        def submit(self, run, batch, seconds):
            early.append(not late.done())
            future = Future()
            future.set_result(_made_up(batch, seconds))
            return future

    executors = [Breaking(), Sound()]
    tasks = [Task(Design("cpar3"), 5, sample) for sample in range(8)]
    assert run_tasks(tasks, Store(tmp_path), ExecutorEngine(lambda: executors.pop(0), lambda: 1)).done == 8
    assert early == [False, False, False]  # a batch without tasks, which shows that the worker lives, and two suspects


def test_a_search_that_raises_on_the_gpu_is_recorded_and_the_others_are_run(tmp_path, monkeypatch):
    def third_fails(jobs, *, callback=None, failed=None, **options):
        for index, job in enumerate(jobs):
            if job.seed == tasks[2].search_seed:
                failed(index, MemoryError("no room for it"))
            else:
                yield index, run_search(job)

    monkeypatch.setattr(cuda, "run_many", third_fails)
    tasks = [Task(Design("cpar3"), 5, sample) for sample in range(5)]
    progress = run_tasks(tasks, Store(tmp_path), CudaEngine())
    table = Store(tmp_path).table(["sample", "error"]).to_pylist()
    assert (progress.done, progress.failed) == (4, 1)
    assert [(row["sample"], row["error"]) for row in table if row["error"]] == [(2, "MemoryError: no room for it")]


def test_a_gpu_that_fails_ends_the_run_with_a_readable_error_and_what_is_done_is_kept(tmp_path, monkeypatch):
    error = type("CUDARuntimeError", (RuntimeError,), {"__module__": "cupy_backends.cuda.api.runtime"})

    def falls_off(jobs, *, callback=None, failed=None, **options):
        yield next(on_cpu(jobs))
        raise error("unspecified launch failure")

    monkeypatch.setattr(cuda, "run_many", falls_off)
    with pytest.raises(WorkerError, match=r"the GPU failed: CUDARuntimeError: unspecified launch failure"):
        run_tasks([Task(Design("cpar3"), 5, sample) for sample in range(5)], Store(tmp_path), CudaEngine())
    assert len(Store(tmp_path)) == 1


def test_the_gpu_begins_before_every_job_is_made(tmp_path, monkeypatch):
    prepared = []
    plain = gpu_engine.job_of
    monkeypatch.setattr(gpu_engine, "job_of", lambda task: prepared.append(task) or plain(task))
    seen = []

    def one_by_one(jobs, *, callback=None, failed=None, **options):
        for index, job in enumerate(jobs):
            seen.append(len(prepared))
            yield index, run_search(job)

    monkeypatch.setattr(cuda, "run_many", one_by_one)
    tasks = [Task(Design("cpar3"), 5, sample) for sample in range(5)]
    assert run_tasks(tasks, Store(tmp_path), CudaEngine()).done == 5
    assert seen == [1, 2, 3, 4, 5]


def test_a_task_without_a_possible_job_is_recorded_and_the_others_are_run(tmp_path, monkeypatch):
    monkeypatch.setattr(cuda, "run_many", on_cpu)
    tasks = [Task(Design("cpar3", order=order), 5, 0) for order in ("known", "given:0,1", "none")]
    progress = run_tasks(tasks, Store(tmp_path), CudaEngine())
    assert (progress.done, progress.failed) == (2, 1)
    (error,) = [row["error"] for row in Store(tmp_path).table(["error"]).to_pylist() if row["error"]]
    assert "must name each of the targets 0 to 2 once" in error


def test_closing_a_gpu_run_asks_its_searches_to_stop(monkeypatch):
    stopped = threading.Event()

    def until_asked(jobs, *, callback=None, failed=None, **options):
        yield next(on_cpu(jobs))
        while not callback(None):
            time.sleep(0.01)
        stopped.set()

    monkeypatch.setattr(cuda, "run_many", until_asked)
    stream = CudaEngine().run([Task(Design("cpar3"), 5, sample) for sample in range(2)])
    next(rows for rows in stream if rows)
    stream.close()
    assert stopped.is_set()


def test_workers_without_gradus_give_a_readable_error():
    pytest.importorskip("distributed")

    class Client:
        def run(self, function):
            raise ModuleNotFoundError("No module named 'gradus'")

    with pytest.raises(WorkerError, match=r"workers of the cluster cannot import Gradus \(No module named 'gradus'\)"):
        DaskEngine(Client())
