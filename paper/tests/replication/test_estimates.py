"""Means, pairs, intervals and crossings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from experiment_helpers import changed, results_of
from gradus_paper.estimates import (
    accuracy_by_size,
    bootstrap,
    crossing,
    gain_as_ended,
    gain_by_size,
    mean_interval,
    sample_matrix,
    target_gain_by_size,
)
from naive_experiments import paired_gains


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=50))
def test_a_t_interval_is_scipys(values):
    estimate = mean_interval(values)
    if np.std(values) > 1e-6:
        low, high = stats.t.interval(0.95, len(values) - 1, np.mean(values), stats.sem(values))
        assert (estimate.low, estimate.high) == pytest.approx((low, high))


def test_one_value_has_no_interval_and_no_values_have_no_mean():
    assert mean_interval([0.5]).low == -np.inf
    assert np.isnan(mean_interval([]).value)


def test_gains_are_paired_by_training_set_and_leave_out_what_did_not_converge(made_up):
    rng = np.random.default_rng(3)
    rows = made_up("cpar7", lambda loss, size, sample: rng.random(3))
    for number in rng.choice(len(rows), 40, replace=False):
        rows[number] = replace(rows[number], converged=False)
    for number in rng.choice(len(rows), 20, replace=False):
        rows[number] = replace(rows[number], status="failed")
    dropped = [row for row in rows if rng.random() < 0.8]
    results = results_of(dropped)
    fast = gain_by_size(results.select(loss="lgh").pairs(results.select(loss="l1")))
    assert {size: gain.value for size, gain in fast} == pytest.approx(paired_gains(dropped, "lgh", "l1"))
    assert results.n_failed == sum(row.status == "failed" for row in dropped)
    assert results.n_not_converged == sum(row.status == "done" and not row.converged for row in dropped)


def test_pairing_removes_what_training_sets_have_in_common(made_up):
    rows = made_up("cpar7", lambda loss, size, sample: 0.5 + 0.3 * np.sin(sample) + (0.1 if loss == "lgh" else 0.0))
    results = results_of(rows)
    gain = dict(gain_by_size(results.select(loss="lgh").pairs(results.select(loss="l1"))))[8]
    assert (gain.value, gain.low, gain.high) == pytest.approx((0.1, 0.1, 0.1))
    spread = dict(accuracy_by_size(results.select(loss="l1")))[8]
    assert spread.high - spread.low > 0.1


def test_a_crossing_is_interpolated_and_nan_where_there_is_none():
    assert crossing([10, 20], np.array([0.8, 1.0]), 0.9) == 15.0
    assert np.isnan(crossing([10, 20], np.array([0.5, 0.6]), 0.9))
    assert crossing([10, 20], np.array([0.95, 1.0]), 0.9) == 10.0
    assert crossing([8, 16, 24], np.array([0.95, 0.85, 0.95]), 0.9) == 8.0
    assert crossing([10, 20, 30], np.array([0.8, np.nan, 1.0]), 0.9) == 20.0


def test_a_bootstrap_interval_has_its_coverage():
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(60):
        values = rng.normal(size=60)
        estimate = bootstrap(lambda drawn, values=values: float(values[drawn].mean()), 60, replicates=300)
        hits += estimate.low <= 0 <= estimate.high
    assert 50 <= hits <= 60


def test_repetitions_of_a_sample_are_averaged(made_up):
    rows = made_up("cpar7", lambda loss, size, sample: 0.2, losses=("lgh",), sizes=(8,), samples=2)
    again = changed(rows, repeat=1, test_accuracy_mean=0.4)
    assert sample_matrix(results_of([*rows, *again]), [8, 16], [0, 1])[0].tolist() == pytest.approx([0.3, 0.3])


def test_repetitions_of_a_training_set_are_no_observations_of_their_own(made_up):
    rng = np.random.default_rng(8)
    rows = made_up("add5", lambda *_: rng.random(3), losses=("l1", "lgh"), sizes=(8, 16), samples=6)
    copies = [replace(row, repeat=repeat) for row in rows for repeat in range(5)]
    once, often = results_of(rows), results_of(copies)
    for estimates in (
        lambda results: gain_by_size(results.select(loss="lgh").pairs(results.select(loss="l1"))),
        lambda results: accuracy_by_size(results.select(loss="l1")),
        lambda results: target_gain_by_size(results.select(loss="lgh").pairs(results.select(loss="l1")))[1],
        lambda results: [(8, gain_as_ended(results.select(loss="lgh", n_train=8), results.select(loss="l1", n_train=8)))],
    ):
        assert flat(estimates(often)) == pytest.approx(flat(estimates(once)))
    assert len(often.select(loss="lgh").pairs(often.select(loss="l1")).gain) == 5 * 12  # a table may count networks


def flat(estimates):
    """The numbers in a list of estimates, each after its size."""
    return [number for _, estimate in estimates for number in (estimate.value, estimate.low, estimate.high, estimate.n)]


def test_rows_without_test_patterns_count_nowhere_and_shift_nothing(made_up):
    rows = made_up("cpar7", lambda loss, size, sample: [0.1 * sample, 0.5, 1.0], losses=("l1", "lgh"), sizes=(8,), samples=4)
    untested = {"n_test": 0, "test_accuracy": None, "test_accuracy_mean": None}
    rows = [replace(row, **untested) if row.sample == 1 else row for row in rows]
    results = results_of(rows)
    assert results.n_not_converged == 0
    assert results.usable_only().sample.tolist() == [0, 2, 3] * 2
    assert results.per_target[:4, 0] == pytest.approx([0.0, np.nan, 0.2, 0.3], nan_ok=True)
    pairs = results.select(loss="lgh").pairs(results.select(loss="l1"))
    assert pairs.first_targets[:, 0] == pytest.approx([0.0, 0.2, 0.3])
    assert results_of([row for row in rows if row.sample == 1]).per_target.shape == (2, 0)


def test_rows_with_other_gates_or_histories_are_not_paired(made_up):
    rows = made_up("mammalian", lambda *_: 0.5, losses=("l1", "lgh"), sizes=(8,), samples=4)
    base, other = ([row for row in rows if row.loss == loss] for loss in ("l1", "lgh"))
    odd = [replace(row, **({"gates_per_target": 22} if row.sample % 2 else {"history": 251})) for row in other]
    results = results_of([*base, *odd])
    assert not len(results.select(loss="lgh").pairs(results.select(loss="l1")).gain)
    assert len(results.pairs(results).gain) == 8
