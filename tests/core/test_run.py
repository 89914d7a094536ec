"""`Run`: limits, reports, stops and maps, whatever runs underneath."""

import contextlib
import itertools
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import joblib
import pytest

from gradus._core.run import Pace, Progress, Run, Stopped

STEP = Progress(stage="test", done=1, total=4)
BACKENDS = ["threading", "loky"]


def wait_until_stopped(run, latest=10.0):
    end = time.monotonic() + latest
    while not run.stop(STEP) and time.monotonic() < end:
        time.sleep(0.01)
    return time.monotonic() < end


def test_without_a_limit_nothing_stops():
    run = Run()
    assert not run.stop(STEP)
    assert run.stopped is None
    assert run.seconds_left() is None


def test_a_limit_of_zero_has_passed_but_for_a_first_answer():
    run = Run(0)
    assert run.stop()
    assert run.stopped == "time_limit"
    assert not run.stop(grace=True)
    time.sleep(0.25)
    assert run.stop(grace=True)


def test_check_raises_where_stop_says_so():
    with pytest.raises(Stopped):
        Run(0).check()


def test_a_callback_that_returns_true_stops_the_whole_and_its_parts():
    run = Run(callback=lambda progress: True)
    part = run.part()
    assert part.stop(STEP)
    assert run.stopped == part.stopped == "callback"


@pytest.mark.parametrize("answer", [None, 1, "yes", False])
def test_only_true_stops(answer):
    assert not Run(callback=lambda progress: answer).stop(STEP)


def test_a_callback_is_called_ten_times_a_second_at_most():
    calls = []
    run = Run(0.35, calls.append)
    assert wait_until_stopped(run)
    assert 2 <= len(calls) <= 5


def test_the_time_of_a_part_ends_only_that_part():
    run = Run(60)
    part = run.part(seconds=0)
    assert part.stop()
    assert not run.stop()
    assert run.part(seconds=1000).seconds_left() <= 60


def test_a_part_says_where_the_whole_is():
    seen = []
    run = Run(callback=seen.append)
    run.expect(2)
    first, second = (run.part(weight=1, describe=lambda own: Progress(stage="all", done=own.done, total=8)) for _ in range(2))
    first.stop(Progress(stage="part", done=4, total=4))
    second.stop(Progress(stage="part", done=1, total=2))
    time.sleep(0.11)
    run.stop()
    assert [progress.stage for progress in seen] == ["all", "all"]
    elapsed_for_three_quarters = 0.11
    assert seen[-1].eta == pytest.approx(elapsed_for_three_quarters / 3, rel=0.5)


def test_an_estimate_is_never_longer_than_the_limit():
    seen = []
    run = Run(5, seen.append)
    run.expect(1)
    part = run.part(weight=1)
    time.sleep(0.05)
    part.stop(Progress(stage="part"), share=1e-6)
    assert seen[0].eta <= 5


def test_slices_cover_everything_once():
    pieces = list(Run().slices(5000))
    assert pieces[0] == (0, 1024)
    assert pieces[-1][1] == 5000
    assert all(before[1] == after[0] for before, after in itertools.pairwise(pieces))


def test_slices_end_when_time_is_up():
    begun = []
    with pytest.raises(Stopped):
        begun.extend(time.sleep(0.02) for _ in Run(0.05).slices(10**9, first=1))


def test_calls_become_as_long_as_a_slice():
    pace = Pace(1)
    for _ in range(20):
        time.sleep(pace.length * 1e-4)
        pace.took(pace.length)
    assert 50 < pace.length < 1000


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("n_jobs", [1, 2, 8])
def test_map_keeps_the_order_whatever_runs_it(backend, n_jobs):
    with joblib.parallel_config(backend=backend):
        assert Run(n_jobs=n_jobs).map(lambda number: number**2, range(20)) == [number**2 for number in range(20)]


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_error_in_a_worker_is_raised_here(backend):
    with joblib.parallel_config(backend=backend), pytest.raises(ZeroDivisionError):
        Run(n_jobs=2).map(lambda number: 1 // number, range(4))


def test_threads_end_early_and_hand_in_what_they_have():
    run = Run(0.1, n_jobs=2)
    assert run.map(lambda number: (wait_until_stopped(run), number), range(4)) == [(True, number) for number in range(4)]


def test_the_callback_runs_in_the_thread_of_the_caller():
    threads = []
    run = Run(0.4, lambda progress: threads.append(threading.get_ident()), n_jobs=2)
    run.map(lambda _: wait_until_stopped(run), range(2))
    assert set(threads) == {threading.get_ident()}


def test_an_error_of_the_callback_is_raised_once_the_threads_have_ended():
    ended = []

    def refuse(progress):
        raise RuntimeError("no")

    run = Run(callback=refuse, n_jobs=2)
    with pytest.raises(RuntimeError, match="no"):
        run.map(lambda _: ended.append(wait_until_stopped(run)), range(2))
    assert ended == [True, True]


@pytest.mark.parametrize("backend", BACKENDS)
def test_ctrl_c_while_workers_work_stops_them(backend):
    run = Run(n_jobs=2)
    sent = []

    def interrupt():
        sent.append(time.process_time())
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    with joblib.parallel_config(backend=backend):
        run.map(abs, range(4))  # starts the workers
        threading.Timer(1.5, interrupt).start()
        found = run.map(lambda number: wait_until_stopped(run, 60.0), range(4))
    assert run.stopped == "interrupted"
    assert time.process_time() - sent[0] < 0.5  # on a busy machine a clock on the wall says nothing
    assert found == ([True] * 4 if backend == "threading" else [None] * 4)  # nobody has worked to the end


def test_a_dead_worker_is_an_error_and_no_silence():
    with joblib.parallel_config(backend="loky"), pytest.raises(Exception, match=r"terminated|killed"):
        Run(n_jobs=2).map(lambda number: os.kill(os.getpid(), signal.SIGKILL) if number == 1 else number, range(4))


def work_for_long(note):
    note.with_suffix(f".{os.getpid()}").touch()
    end = time.monotonic() + 60
    while time.monotonic() < end:
        pass


def is_running(process):
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_a_stop_ends_the_workers_of_other_processes_and_the_next_call_starts_new_ones(tmp_path):
    with joblib.parallel_config(backend="loky"):
        Run(n_jobs=2).map(abs, range(4))
        run = Run(callback=lambda _: len(list(tmp_path.iterdir())) == 2, n_jobs=2)
        run.stop(STEP)  # something to report
        assert run.map(work_for_long, [tmp_path / "worker"] * 3) == [None] * 3
        workers = [int(path.suffix[1:]) for path in tmp_path.iterdir()]
        end = time.monotonic() + 20  # they work for 60 s
        while any(map(is_running, workers)) and time.monotonic() < end:
            time.sleep(0.05)
        assert len(workers) == 2
        assert not any(map(is_running, workers))
        assert Run(n_jobs=2).map(abs, range(4)) == [0, 1, 2, 3]


GROUP = """
import os, signal, threading, time, joblib
from gradus._core.run import Run
run = Run(n_jobs=2)
with joblib.parallel_config(backend="loky"):
    run.map(abs, range(4))
    threading.Timer(1.0, os.killpg, (os.getpgid(0), signal.SIGINT)).start()
    print(run.map(time.sleep, [60] * 4), run.stopped)
"""


@pytest.mark.skipif(os.name != "posix", reason="needs process groups")
def test_ctrl_c_at_a_terminal_reaches_the_workers_too_and_is_no_error():
    done = subprocess.run([sys.executable, "-c", GROUP], start_new_session=True, capture_output=True, text=True, timeout=60)
    assert done.stdout.split("\n")[0] == "[None, None, None, None] interrupted", done.stderr


def test_a_cluster_gives_the_same_and_a_stop_leaves_it_behind():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        assert Run(n_jobs=2).map(lambda number: number**2, range(10)) == [number**2 for number in range(10)]
        began = time.monotonic()
        run = Run(0.3, n_jobs=2)
        assert None in run.map(lambda number: time.sleep(2), range(4))
        assert time.monotonic() - began < 0.3 + 0.5 + 0.3  # of which .3 for a machine that does other things
        assert run.stopped == "time_limit"


def test_in_another_process_it_is_a_run_with_the_time_that_is_left():
    copy = pickle.loads(pickle.dumps(Run(10, lambda progress: None, n_jobs=4)))
    assert 9 < copy.seconds_left() <= 10
    assert not copy.stop(STEP)
