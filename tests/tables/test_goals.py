"""Weights of rows and classes, and cuts of a vote for a goal."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradus._tables.goals import class_weights, goal_multipliers, row_weights
from gradus._tables.labels import UNKNOWN, TargetEncoding
from gradus.errors import DataError, SettingsError

TARGET = TargetEncoding("y", ("no", "yes"))


def test_balanced_classes_weigh_alike_in_all():
    codes = np.array([0, 0, 0, 1, UNKNOWN])
    weights = class_weights("balanced", TARGET, codes, np.ones(5))
    assert weights[0] * 3 == weights[1] * 1
    assert class_weights(None, TARGET, codes, np.ones(5)).tolist() == [1, 1]
    assert class_weights({"yes": 3}, TARGET, codes, np.ones(5)).tolist() == [1, 3]


@pytest.mark.parametrize("asked", ["even", {"maybe": 1}, {"yes": 0}, {"yes": float("nan")}, 3])
def test_weights_that_are_none_are_refused(asked):
    with pytest.raises(SettingsError, match="class_weight"):
        class_weights(asked, TARGET, np.array([0, 1]), np.ones(2))


@pytest.mark.parametrize("given", [[1, 2], [[1], [2], [3]], [1, -1, 1], [0, 0, 0], [1, np.inf, 1]])
def test_row_weights_must_be_numbers_for_every_row(given):
    with pytest.raises(DataError, match="sample_weight"):
        row_weights(given, 3)


def predicted(shares, multipliers):
    return np.argmax(shares * multipliers, axis=1)


@given(st.integers(0, 1000))
def test_calibrated_votes_keep_the_usual_cuts(seed):
    rng = np.random.default_rng(seed)
    second = rng.beta(1, 4, 4000)
    codes = (rng.random(4000) < second).astype(int)
    found = goal_multipliers(np.column_stack([1 - second, second]), codes, np.ones(4000))
    assert abs(np.log(found["accuracy"][1] / found["accuracy"][0])) < 0.8
    rate = codes.mean()
    assert abs(np.log(found["balanced_accuracy"][1] / found["balanced_accuracy"][0] * rate / (1 - rate))) < 0.8


def test_a_vote_that_is_shy_of_a_rare_class_is_cut_lower():
    rng = np.random.default_rng(0)
    codes = (rng.random(5000) < 0.02).astype(int)
    second = np.where(codes == 1, rng.uniform(0.2, 0.4, 5000), rng.uniform(0.0, 0.1, 5000))
    shares = np.column_stack([1 - second, second])
    found = goal_multipliers(shares, codes, np.ones(5000))
    assert np.array_equal(predicted(shares, found["accuracy"]), codes)
    assert np.array_equal(predicted(shares * found["accuracy"], found["f1"]), codes)


def test_each_goal_is_best_served_by_its_own_cut():
    rng = np.random.default_rng(1)
    score = rng.normal(size=6000)
    rate = 1 / (1 + np.exp(4 - 2 * score))
    codes = (rng.random(6000) < rate).astype(int)
    shares = np.column_stack([1 - rate, rate])
    found = goal_multipliers(shares, codes, np.ones(6000))
    tilted = shares * found["accuracy"]

    def recall(goal, label):
        said = predicted(tilted, np.ones(2) if goal == "accuracy" else found[goal])
        return (said[codes == label] == label).mean()

    def f1(goal):
        said = predicted(tilted, np.ones(2) if goal == "accuracy" else found[goal])
        return 2 * (said & codes).sum() / (said.sum() + codes.sum())

    balanced = {goal: recall(goal, 0) + recall(goal, 1) for goal in found}
    assert max(balanced, key=balanced.get) == "balanced_accuracy"
    assert max(found, key=f1) == "f1"
    assert recall("accuracy", 1) < recall("f1", 1) < recall("balanced_accuracy", 1)


def test_rows_of_unknown_class_and_without_a_vote_do_not_count():
    shares = np.array([[0.2, 0.8], [0.7, 0.3], [np.nan, np.nan], [0.1, 0.9]])
    one = goal_multipliers(shares, np.array([1, 0, 0, UNKNOWN]), np.ones(4))
    other = goal_multipliers(shares[:2], np.array([1, 0]), np.ones(2))
    assert all(np.array_equal(one[goal], other[goal]) for goal in one)


def test_rare_classes_of_many_count_as_much_as_the_others_where_balance_is_asked_for():
    codes = np.array([0] * 90 + [1] * 9 + [2])
    found = goal_multipliers(np.full((100, 3), 1 / 3), codes, np.ones(100))
    assert np.allclose(found["balanced_accuracy"] * [90, 9, 1], found["balanced_accuracy"][2], rtol=1e-3)
    assert found["accuracy"].tolist() == [1, 1, 1]
