import _thread
import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from gradus._core.run import Run
from gradus._search.driver import Workspace, resume, run_search
from gradus._search.job import Job, Settings, generator_state
from gradus.errors import SettingsError
from gradus.losses import LOSSES
from naive import NaiveSearch

RNG = np.random.default_rng(0)
X = RNG.random((60, 6)) < 0.5
PARITY = np.logical_xor.accumulate(X, axis=1)
NOISE = RNG.random((60, 6)) < 0.5
ENDLESS = Settings(loss="l1", gates_per_target=3, max_iter=10**12, n_restarts=10**6)


@pytest.fixture(autouse=True)
def report_at_every_chance(monkeypatch):
    monkeypatch.setattr("gradus._core.run.SECONDS_PER_REPORT", 0.0)


def run(Y, settings, seed=1, callback=None):
    return run_search(Job(X, Y, settings, seed), run=Run(callback=callback))


def test_a_time_limit_returns_the_best_so_far():
    found = run(NOISE, replace(ENDLESS, time_limit=0.3))
    assert found.stopped
    assert not found.converged
    assert found.iterations > 0


def test_a_time_limit_of_zero_returns_the_network_that_the_search_starts_from():
    for seed in range(5):
        found = run(NOISE, replace(ENDLESS, time_limit=0), seed)
        naive = NaiveSearch(
            X, NOISE, loss="l1", gates_per_target=3, history=1, max_iter=1, n_restarts=0, words=generator_state(seed)
        )
        assert found.sources.tolist() == naive.start()
        assert (found.stopped, found.iterations, found.restarts) == (True, 0, 0)


def test_a_time_limit_that_is_not_reached_changes_nothing():
    free, limited = (run(PARITY[:, :3], Settings(time_limit=limit)) for limit in (None, 1000.0))
    assert np.array_equal(free.sources, limited.sources)
    assert not limited.stopped


def test_an_interrupt_ends_the_search_soon():
    run(NOISE, replace(ENDLESS, max_iter=10, n_restarts=0))  # compile first
    sent = []

    def interrupt():
        sent.append(time.monotonic())
        _thread.interrupt_main()

    # A process started in the background may ignore interrupts; this one must not.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, interrupt)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run(NOISE, replace(ENDLESS, time_limit=60.0))
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - sent[0] < 0.5


def test_a_callback_sees_progress_and_may_stop():
    seen = []

    def callback(progress):
        seen.append(progress)
        return len(seen) == 5

    found = run(NOISE, ENDLESS, callback=callback)
    assert found.stopped
    assert len(seen) == 5
    steps = [progress.steps for progress in seen]
    assert steps == sorted(steps)
    assert steps[-1] == found.iterations
    assert all(0 <= progress.done < 6 == progress.total for progress in seen)
    assert {progress.stage for progress in seen} == {"search"}
    assert min(progress.cost for progress in seen) >= found.cost


def test_a_callback_does_not_change_the_result():
    settings = Settings(history=1000, max_iter=20_000, n_restarts=50)
    plain = run(PARITY, settings, 3)
    restarts = set()
    watched = run(PARITY, settings, 3, callback=lambda progress: restarts.add(progress.restart))
    assert np.array_equal(plain.sources, watched.sources)
    assert (plain.iterations, plain.restarts) == (watched.iterations, watched.restarts)
    assert restarts == set(range(plain.restarts + 1))


@pytest.mark.parametrize("loss", LOSSES)
def test_progress_counts_the_targets_before_the_first_wrong_one(loss):
    seen = []
    run(PARITY, Settings(loss=loss, history=1000), 2, callback=seen.append)
    assert seen[-1].done == seen[-1].total == 6
    assert all((progress.done == 6) == (progress.cost == 0) for progress in seen)
    if loss == "lgh":  # from the cost the first wrong target can be told
        assert all(progress.done == 5 - (progress.cost - 1) // 60 for progress in seen[:-1])


def test_different_seeds_give_different_generators():
    assert len({tuple(generator_state(seed)) for seed in range(100)}) == 100
    assert np.array_equal(generator_state(9), np.random.SeedSequence(9).spawn(1)[0].generate_state(2, np.uint64))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"loss": "l3"}, "loss is 'l3'"),
        ({"gates_per_target": 0}, "gates_per_target is 0; it must be a whole number of at least 1 \\(each target needs"),
        ({"gates_per_target": 2.5}, "gates_per_target is 2.5"),
        ({"history": -1}, "history is -1"),
        ({"max_iter": 0}, "max_iter is 0"),
        ({"max_iter": 2**63}, "max_iter is .* at most"),
        ({"n_restarts": -1}, "n_restarts is -1; it must be a whole number of at least 0"),
        ({"n_restarts": True}, "n_restarts is True"),
        ({"time_limit": -1}, "time_limit is -1; it must be a number of seconds of at least 0, or None"),
        ({"time_limit": True}, "time_limit is True"),
        ({"time_limit": float("nan")}, "time_limit is nan"),
    ],
)
def test_settings_outside_their_range_are_named(wrong, message):
    with pytest.raises(SettingsError, match=message):
        Settings(**wrong)


def test_too_many_targets_and_too_much_memory_are_refused_before_anything_is_built():
    with pytest.raises(SettingsError, match="there are 65 targets; one network takes at most 64"):
        run(np.zeros((60, 65), bool), Settings())
    with pytest.raises(SettingsError, match="GB; use fewer examples or fewer gates"):
        run_search(Job(np.zeros((10**6, 1), bool), np.zeros((10**6, 1), bool), Settings(gates_per_target=10**6), 0))


def always_interrupted(job):
    """Run a search that is stopped again and again, as soon as it can be, and continued from its checkpoint."""
    work = Workspace(job)
    work.start()
    checkpoint, times = work.checkpoint(iterations=0, restart=0), 0
    while checkpoint is not None:
        found, checkpoint = resume(job, checkpoint, run=Run(callback=lambda _: True))
        times += 1
    return found, times


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    ("Y", "settings"),
    [
        (PARITY, {"history": 1000}),
        (PARITY[:, :4], {"history": 7}),
        (NOISE, {"gates_per_target": 3, "max_iter": 9_000, "n_restarts": 3}),
        (NOISE[:, :2], {"gates_per_target": 40, "max_iter": 30_000, "n_restarts": 2}),
    ],
)
def test_a_search_that_is_interrupted_and_resumed_ends_as_if_it_had_not_been(loss, Y, settings):
    job = Job(X, Y, Settings(loss=loss, **settings), 8)
    whole = run_search(job)
    pieced, times = always_interrupted(job)
    assert times > 1
    assert np.array_equal(pieced.sources, whole.sources)
    for name in ("cost", "iterations", "restarts", "live_gates", "stopped"):
        assert getattr(pieced, name) == getattr(whole, name), name
