import itertools
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import gradus
from gradus._search.search import JOBS_IN_FLIGHT
from gradus.errors import DataError, SettingsError, WorkerError

ALL = np.array([[i >> b & 1 for b in range(4)] for i in range(16)], bool)
SUM = np.array([[(i & 3) + (i >> 2) >> b & 1 for b in range(3)] for i in range(16)], bool)
ENDLESS = {"X": [[0], [0]], "Y": [[0], [1]], "order": None, "n_restarts": 10**9}


def jobs(count, **changes):
    for seed in range(count):
        yield {"X": ALL, "Y": SUM, "order": None, "loss": "lgh", "seed": seed} | changes.get(f"job{seed}", {})


def networks(results):
    return [result.network for result in results]


def search_threads():
    return [thread for thread in threading.enumerate() if thread.name == "search"]


def wait_for_no_threads(seconds):
    deadline = time.monotonic() + seconds
    while search_threads() and time.monotonic() < deadline:
        time.sleep(0.01)
    return not search_threads()


def test_any_number_of_threads_gives_the_networks_of_search_in_job_order():
    alone = [gradus.search(**job).network for job in jobs(7)]
    for n_jobs in (1, 2, 3, None):
        assert networks(gradus.search_many(jobs(7), n_jobs=n_jobs)) == alone


def test_slow_jobs_do_not_change_the_order_of_results():
    slow = {"X": ALL, "Y": np.random.default_rng(0).random((16, 3)) < 0.5, "gates_per_target": 2, "n_restarts": 0}
    mixed = list(jobs(9, job0=slow | {"max_iter": 2_000_000}, job4=slow | {"max_iter": 1_000_000}))
    results = list(gradus.search_many(mixed, n_jobs=2))
    assert [result.iterations for result in results if not result.converged] == [2_000_000, 1_000_000]
    assert [k for k, result in enumerate(results) if not result.converged] == [0, 4]


def test_jobs_are_read_only_as_they_are_needed():
    taken = []
    endless = ((taken.append(job), job)[1] for job in itertools.cycle(jobs(5)))
    assert len(networks(itertools.islice(gradus.search_many(endless, n_jobs=2), 3))) == 3
    assert len(taken) <= 3 + 2 * JOBS_IN_FLIGHT


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_failed_job_is_named_and_loses_no_other_result(n_jobs):
    results = gradus.search_many(jobs(5, job2={"X": ALL * 5}), n_jobs=n_jobs)
    good = networks([next(results), next(results)])
    with pytest.raises(WorkerError, match="job 2 failed: X has the value 5 in row 1, column 0") as caught:
        next(results)
    assert isinstance(caught.value.__cause__, DataError)
    alone = [gradus.search(**job).network for job in jobs(5)]
    assert good + networks(results) == alone[:2] + alone[3:]


def test_no_jobs_give_no_results():
    assert list(gradus.search_many([], n_jobs=2)) == []


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_callback_of_a_job_can_stop_it_alone(n_jobs):
    seen = []
    stopping = ENDLESS | {"callback": lambda progress: seen.append(progress) or len(seen) == 3}
    results = list(gradus.search_many([stopping, *jobs(2)], n_jobs=n_jobs))
    assert [result.stopped for result in results] == [True, False, False]
    assert len(seen) == 3


def test_closing_the_results_stops_the_threads():
    results = gradus.search_many(itertools.chain(jobs(1), itertools.repeat(ENDLESS)), n_jobs=2)
    next(results)
    assert search_threads()
    began = time.monotonic()
    results.close()
    assert wait_for_no_threads(10)
    assert time.monotonic() - began < 0.5
    assert next(results, None) is None


def test_dropping_the_results_stops_the_threads():
    results = gradus.search_many(itertools.chain(jobs(1), itertools.repeat(ENDLESS)), n_jobs=2)
    next(results)
    del results
    assert wait_for_no_threads(10)


INTERRUPTED = """
import sys, threading, time
import gradus
job = dict(X=[[0], [0]], Y=[[0], [1]], order=None, n_restarts=10**9)
gradus.search(**{**job, "n_restarts": 0, "max_iter": 10})  # compile first
try:
    print("begun", flush=True)
    list(gradus.search_many([job] * 10, n_jobs=2))
except KeyboardInterrupt:
    print("stopped", [one.name for one in threading.enumerate() if one.name == "search"], flush=True)
    raise SystemExit(130)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_an_interrupt_stops_everything_soon():
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout.readline() == "begun\n"
        time.sleep(1)
        began = time.monotonic()
        os.kill(run.pid, signal.SIGINT)
        assert run.stdout.readline() == "stopped []\n"
        assert time.monotonic() - began < 0.5
        assert run.wait(timeout=60) == 130


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"n_jobs": 0}, "n_jobs is 0"), ({"n_jobs": True}, "n_jobs is True"), ({"backend": "tpu"}, "backend is 'tpu'")],
)
def test_settings_outside_their_range_are_named_at_once(wrong, message):
    with pytest.raises(SettingsError, match=message):
        gradus.search_many([], **wrong)
