"""Time limits, callbacks and Ctrl-C take effect on tables of any size, and do not change the answer otherwise."""

from __future__ import annotations

import signal
import threading
import time

import numpy as np
import pytest

import gradus
from naive_minfs import is_feasible


def noisy(rows, columns, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((rows, columns)) < 0.5, rng.random(rows) < 0.5


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    """Compile every kernel first: that takes CPU time, though a time limit does not count it."""
    X, y = noisy(40, 12)
    gradus.find_curriculum(X, np.column_stack([y, ~y]), on_conflict="ignore")
    gradus.all_minimum_feature_sets(X, y, on_conflict="ignore")
    for shape in LARGE:
        gradus.minimum_feature_set(*noisy(*shape), time_limit=0.1, on_conflict="ignore")


LARGE = [(1000, 90), (3000, 300), (60, 5000), (20_000, 50)]
CALLS = {
    "minimum_feature_set": lambda X, y, **settings: gradus.minimum_feature_set(X, y, on_conflict="ignore", **settings),
    "find_curriculum": lambda X, y, **settings: gradus.find_curriculum(
        X, np.column_stack([y, ~y, y]), on_conflict="ignore", **settings
    ),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("shape", LARGE, ids=str)
@pytest.mark.parametrize("time_limit", [0, 0.4])
def test_a_time_limit_holds_within_half_a_second_of_cpu_time(call, shape, time_limit):
    X, y = noisy(*shape)
    begin, cores = time.process_time(), 2
    call(X, y, time_limit=time_limit)
    assert time.process_time() - begin < cores * (time_limit + 0.5)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_callback_is_told_the_bounds_and_stops_the_search_by_returning_true(call):
    X, y = noisy(200, 400)
    seen = []

    def callback(progress):
        seen.append(progress)
        return "between" in progress.detail and len(seen) > 2

    found = call(X, y, callback=callback)
    first = found if isinstance(found, gradus.FeatureSet) else found.feature_sets[0]
    assert is_feasible(X, y, first.features)
    assert first.lower_bound <= first.size
    assert {progress.stage for progress in seen} == {"sets"}
    assert any(progress.detail.startswith("between ") and progress.detail.endswith(" inputs") for progress in seen)
    assert seen[0].total in (1, 3)  # before the first target is begun
    assert all(progress.target in range(progress.total) for progress in seen if progress.detail)


@pytest.mark.parametrize(
    "call", [*CALLS.values(), lambda X, y: gradus.all_minimum_feature_sets(X, y)], ids=[*CALLS, "all_minimum_feature_sets"]
)
def test_ctrl_c_is_answered_within_half_a_second_of_cpu_time(call):
    X, y = noisy(1000, 90)
    interrupted = []

    def interrupt():
        interrupted.append(time.process_time())
        signal.raise_signal(signal.SIGINT)

    timer = threading.Timer(0.3, interrupt)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            call(X, y)
        assert time.process_time() - interrupted[0] < 0.5
    finally:
        timer.cancel()


@pytest.mark.parametrize("seconds_per_call", [1e-4, 10.0])
def test_the_answer_does_not_depend_on_the_length_of_a_compiled_call(seconds_per_call, monkeypatch):
    rng = np.random.default_rng(1)
    tables = [(rng.integers(0, 3, (60, 25)), rng.integers(0, 2, (60, 2))) for _ in range(4)]
    expected = [gradus.find_curriculum(X, Y, choose="random", on_conflict="ignore") for X, Y in tables]
    monkeypatch.setattr("gradus._core.run.SECONDS_PER_SLICE", seconds_per_call)
    assert [gradus.find_curriculum(X, Y, choose="random", on_conflict="ignore") for X, Y in tables] == expected
