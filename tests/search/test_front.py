import _thread
import signal
import threading
import time

import numpy as np
import pytest

from gradus._search.front import attempt_seeds, resume, run_search
from gradus._search.settings import Settings
from gradus._search.workspace import Workspace
from gradus.errors import SettingsError
from gradus.losses import LOSSES

RNG = np.random.default_rng(0)
X = RNG.random((60, 6)) < 0.5
PARITY = np.logical_xor.accumulate(X, axis=1)
NOISE = RNG.random((60, 6)) < 0.5
ENDLESS = Settings(loss="l1", gates_per_target=3, max_iter=10**12, n_restarts=10**6)


def test_a_time_limit_returns_the_best_so_far():
    found = run_search(X, NOISE, Settings(**{**vars(ENDLESS), "time_limit": 0.3}), 1)
    assert found.stopped
    assert not found.converged
    assert found.iterations > 0


def test_a_time_limit_that_is_not_reached_changes_nothing():
    settings = {"loss": "lgh", "shrink": 50_000}
    free, limited = (run_search(X, PARITY[:, :3], Settings(**settings, time_limit=limit), 1) for limit in (None, 1000.0))
    assert np.array_equal(free.sources, limited.sources)
    assert not limited.stopped


def test_an_interrupt_ends_the_search_soon():
    run_search(X, NOISE, Settings(loss="l1", gates_per_target=3, max_iter=10, n_restarts=0), 1)  # compile first
    sent = []

    def interrupt():
        sent.append(time.monotonic())
        _thread.interrupt_main()

    # A process started in the background may ignore interrupts; this one is to take them.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, interrupt)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run_search(X, NOISE, Settings(**{**vars(ENDLESS), "time_limit": 60.0}), 1)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert sent


def test_whoever_watches_sees_progress_and_may_stop():
    seen = []

    def callback(progress):
        seen.append(progress)
        return len(seen) == 5

    found = run_search(X, NOISE, ENDLESS, 1, callback=callback)
    assert found.stopped
    assert len(seen) == 5
    steps = [progress.total_steps for progress in seen]
    assert steps == sorted(steps)
    assert steps[-1] == found.iterations
    assert all(0 <= progress.first_wrong < 6 for progress in seen)
    assert min(progress.cost for progress in seen) >= found.cost


def test_watching_does_not_change_the_result():
    settings = Settings(loss="lgh", shrink=200_000, attempts=2)
    plain = run_search(X, PARITY[:, :4], settings, 3)
    phases = set()
    watched = run_search(
        X, PARITY[:, :4], settings, 3, callback=lambda progress: phases.add((progress.attempt, progress.phase))
    )
    assert np.array_equal(plain.sources, watched.sources)
    assert phases == {(0, "search"), (0, "shrink"), (1, "search"), (1, "shrink")}


def test_the_smallest_of_several_attempts_is_kept():
    def gates(attempts):
        return run_search(X, PARITY[:, :3], Settings(loss="lgh", attempts=attempts, shrink=1000), 11)

    alone = [gates(k) for k in range(1, 6)]
    sizes = [found.live_gates for found in alone]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < sizes[0]
    assert all(found.converged for found in alone)


def test_without_zero_error_the_attempt_of_lowest_cost_is_kept():
    settings = {"loss": "l1", "gates_per_target": 2, "max_iter": 500, "n_restarts": 0}
    costs = [run_search(X, NOISE, Settings(**settings, attempts=k), 5).cost for k in range(1, 8)]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < costs[0]


def test_shrinking_never_breaks_an_example_and_never_grows():
    plain = run_search(X, PARITY, Settings(loss="lgh", history=1000), 2)
    shrunk = run_search(X, PARITY, Settings(loss="lgh", history=1000, shrink=300_000), 2)
    assert shrunk.converged
    assert shrunk.iterations == plain.iterations
    assert shrunk.live_gates < plain.live_gates


def test_seeds_of_attempts_do_not_depend_on_their_number():
    assert np.array_equal(attempt_seeds(9, 7)[:3], attempt_seeds(9, 3))
    assert len(np.unique(attempt_seeds(9, 100))) == 200


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
        ({"shrink": -5}, "shrink is -5"),
        ({"attempts": 0}, "attempts is 0"),
        ({"attempts": True}, "attempts is True"),
        ({"time_limit": 0}, "time_limit is 0; it must be a number of seconds above 0, or None"),
        ({"time_limit": float("nan")}, "time_limit is nan"),
    ],
)
def test_settings_outside_their_range_are_named(wrong, message):
    with pytest.raises(SettingsError, match=message):
        Settings(**wrong)


def test_too_many_targets_and_too_much_memory_are_refused_before_anything_is_built():
    with pytest.raises(SettingsError, match="there are 65 targets; one network takes at most 64"):
        run_search(X, np.zeros((60, 65), bool), Settings(), 0)
    with pytest.raises(SettingsError, match="GB; use fewer examples or fewer gates"):
        run_search(np.zeros((10**6, 1), bool), np.zeros((10**6, 1), bool), Settings(gates_per_target=10**6), 0)


def always_left(X, Y, settings, seed):
    """Run a search that is stopped again and again, as soon as it can be, and taken up from where it was left."""
    work = Workspace(X, Y, settings)
    work.seed(attempt_seeds(seed, 1)[0])
    work.start()
    checkpoint, times = work.leave(shrinking=False, iterations=0, restart=0), 0
    while checkpoint is not None:
        found, checkpoint = resume(X, Y, settings, checkpoint, callback=lambda _: True)
        times += 1
    return found, times


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    ("Y", "settings"),
    [
        (PARITY, {"history": 1000, "shrink": 30_000}),
        (PARITY[:, :4], {"history": 7, "shrink": 9_000}),
        (NOISE, {"gates_per_target": 3, "max_iter": 9_000, "n_restarts": 3}),
        (NOISE[:, :2], {"gates_per_target": 40, "max_iter": 30_000, "n_restarts": 2, "shrink": 9_000}),
    ],
)
def test_a_search_that_is_left_and_taken_up_ends_as_if_it_never_was(loss, Y, settings):
    whole = run_search(X, Y, Settings(loss=loss, **settings), 8)
    pieced, times = always_left(X, Y, Settings(loss=loss, **settings), 8)
    assert times > 1
    assert np.array_equal(pieced.sources, whole.sources)
    for name in ("cost", "iterations", "restarts", "live_gates", "stopped"):
        assert getattr(pieced, name) == getattr(whole, name), name
