"""The same rows, whoever runs the tasks and whatever happens meanwhile."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from experiment_helpers import comparable, slow_tasks
from gradus.errors import SettingsError, WorkerError
from gradus.experiments import run as run_module
from gradus.experiments.batches import Batcher
from gradus.experiments.engines import DaskEngine, ExecutorEngine, LocalEngine, choose_engine
from gradus.experiments.run import run_tasks
from gradus.experiments.store import Store
from gradus.experiments.tasks import Design, Task
from gradus.experiments.work import Batch


@pytest.mark.parametrize("workers", [1, 2])
def test_local_processes_give_the_rows_of_this_process(tmp_path, tasks, reference, workers):
    progress = run_tasks(tasks, Store(tmp_path), LocalEngine(workers))
    assert comparable(Store(tmp_path).table()) == reference
    assert (progress.done, progress.failed, progress.left) == (len(tasks) - 1, 1, 0)
    assert progress.not_converged == 16


def test_any_executor_will_do(tmp_path, tasks, reference):
    run_tasks(tasks, Store(tmp_path), ExecutorEngine(lambda: ThreadPoolExecutor(2), lambda: 2))
    assert comparable(Store(tmp_path).table()) == reference


def test_nothing_is_run_twice_and_failed_tasks_only_on_request(tmp_path, tasks):
    engine = ExecutorEngine(lambda: ThreadPoolExecutor(1), lambda: 1)
    run_tasks(tasks[:20], Store(tmp_path), engine)
    run_tasks(tasks, Store(tmp_path), engine)
    again = run_tasks(tasks, Store(tmp_path), engine)
    assert (again.done, again.before, again.failed) == (0, len(tasks) - 1, 1)
    retried = run_tasks(tasks, Store(tmp_path), engine, retry_failed=True)
    assert (retried.done, retried.failed, retried.before) == (0, 1, len(tasks) - 1)
    assert len(Store(tmp_path).table()) == len(tasks)


def _die(batch):
    """Stand in for `run_batch` with a task that kills its worker."""
    from gradus.experiments import work

    if any(task.sample == 5 for task in batch.tasks):
        os.kill(os.getpid(), signal.SIGKILL)
    return work.run_batch(batch)


def test_a_task_that_kills_its_worker_is_recorded_and_costs_no_other(tmp_path, monkeypatch):
    from gradus.experiments import engines

    monkeypatch.setattr(engines, "run_batch", _die)
    tasks = [Task(Design("cpar3"), 5, sample) for sample in range(8)]
    progress = run_tasks(tasks, Store(tmp_path), LocalEngine(1))
    table = Store(tmp_path).table(["sample", "error"]).to_pylist()
    assert (progress.done, progress.failed) == (7, 1)
    assert [row["sample"] for row in table if row["status"] == "failed"] == [5]
    assert "the worker process died" in next(row["error"] for row in table if row["sample"] == 5)


RUNNER = """
import sys
from gradus.experiments import run as run_module
from gradus.experiments.engines import LocalEngine
from gradus.experiments.store import Store
from experiment_helpers import slow_tasks

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
    count = 150
    script = tmp_path / "runner.py"
    script.write_text(RUNNER)
    mark = uuid.uuid4().hex
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "GRADUS_TEST_MARK": mark}
    command = [sys.executable, str(script), str(tmp_path / "killed"), str(count)]
    rng = random.Random(6)
    done = []
    for _ in range(5):
        process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE)
        before = len(Store(tmp_path / "killed"))
        deadline = time.monotonic() + 60
        while len(Store(tmp_path / "killed")) <= before and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.02)
        time.sleep(rng.uniform(0, 0.3))
        process.kill()
        process.wait()
        done.append(len(Store(tmp_path / "killed")))
    assert 0 < done[0] <= done[-1] < count  # each kill hit a run that was under way
    for _ in range(100):
        if not _marked(mark):
            break
        time.sleep(0.1)
    assert not _marked(mark), "a worker outlived the run that started it"
    assert subprocess.run(command, env=env, stdout=subprocess.PIPE, check=True).stdout.strip() == b"0"
    run_tasks(slow_tasks(count), Store(tmp_path / "whole"), ExecutorEngine(lambda: ThreadPoolExecutor(2), lambda: 2))
    killed, whole = (Store(tmp_path / name) for name in ("killed", "whole"))
    assert len(killed) == count  # no row stands twice
    assert comparable(killed.table()) == comparable(whole.table())


def test_ctrl_c_keeps_what_is_done(tmp_path, monkeypatch):
    monkeypatch.setattr(run_module, "FLUSH_SECONDS", 1000.0)

    def interrupt(progress):
        if progress.done >= 3:
            raise KeyboardInterrupt

    tasks = slow_tasks(60)
    with pytest.raises(KeyboardInterrupt):
        run_tasks(tasks, Store(tmp_path), LocalEngine(1), watch=interrupt)
    assert 3 <= len(Store(tmp_path)) < 60


@pytest.fixture(scope="module")
def command_line_cluster(tmp_path_factory):
    """A scheduler and two workers, started as a user would; yields the address and the worker processes."""
    pytest.importorskip("distributed")
    folder = tmp_path_factory.mktemp("cluster")
    file = folder / "scheduler.json"
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "DASK_DISTRIBUTED__WORKER__DAEMON": "True"}
    dask = [sys.executable, "-m", "dask"]
    quiet = {"env": env, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    place = ["--host", "127.0.0.1", "--port", "0", "--dashboard-address", "127.0.0.1:0", "--scheduler-file", file]
    scheduler = subprocess.Popen([*dask, "scheduler", *place], **quiet)
    worker = [*dask, "worker", "--scheduler-file", file, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    for _ in range(300):
        if file.exists():
            break
        time.sleep(0.1)
    workers = [subprocess.Popen(worker, **quiet) for _ in range(2)]
    try:
        yield json.loads(file.read_text())["address"], workers
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()


def _wait_for_workers(engine, count):
    engine.client.wait_for_workers(count, timeout=60)


def test_a_scheduler_and_two_workers_from_the_command_line_give_the_same_rows(
    tmp_path, tasks, reference, command_line_cluster
):
    address, _ = command_line_cluster
    engine = DaskEngine(address)
    _wait_for_workers(engine, 2)
    run_tasks(tasks, Store(tmp_path), engine)
    assert comparable(Store(tmp_path).table()) == reference


def test_killing_a_dask_worker_mid_run_loses_nothing(tmp_path, command_line_cluster):
    address, workers = command_line_cluster
    engine = DaskEngine(address)
    _wait_for_workers(engine, 2)
    tasks = slow_tasks(120)

    def kill_one(progress):
        if progress.done:
            workers[0].kill()

    progress = run_tasks(tasks, Store(tmp_path), engine, watch=kill_one)
    assert workers[0].wait(timeout=10) == -signal.SIGKILL
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


def test_a_wrong_address_is_answered_in_words():
    pytest.importorskip("distributed")
    with pytest.raises(WorkerError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:1"):
        DaskEngine("tcp://127.0.0.1:1", timeout="1s")


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"workers": 0}, "workers is 0"),
        ({"workers": 2, "dask": "tcp://a:1"}, "not both"),
        ({"backend": "tpu"}, "backend is 'tpu'"),
        ({"backend": "cuda", "workers": 2}, "leave out --workers"),
    ],
)
def test_wishes_that_contradict_each_other_are_refused(wishes, message):
    with pytest.raises(SettingsError, match=message):
        choose_engine(**wishes)


def test_batches_grow_to_about_a_second_and_keep_the_order_of_tasks():
    tasks = [Task(Design("add3"), 8, sample) for sample in range(2000)]
    batcher = Batcher(tasks)
    given = []
    sizes = []
    while len(batcher):
        batch = batcher.next()
        assert isinstance(batch, Batch)
        given += batch.tasks
        sizes.append(len(batch.tasks))
        batcher.learn(batch, [{"cpu_seconds": 0.01}] * len(batch.tasks))
    assert given == tasks
    assert sizes[0] < 10
    assert sizes[5] == pytest.approx(100, abs=2)
