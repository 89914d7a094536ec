"""The score on rows held out: forests that can be stopped, and what is said without one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from gradus._core.run import Run
from gradus._tables import held_out
from gradus._tables.column_kinds import column_kinds
from gradus._tables.fit import FitSettings
from gradus._tables.held_out import N_TREES, HeldOutTask, forest_chances, score_held_out


@pytest.fixture
def numbers():
    X = np.random.default_rng(0).normal(size=(120, 3))
    return X, (X[:, 0] + X[:, 1] > 0).astype(np.int64)


def score(X, y, folds=1, run=None):
    table = {f"x{j}": column for j, column in enumerate(X.T)}
    settings = FitSettings(n_circuits=2, n_tries=1, kinds=column_kinds(table))
    return score_held_out(HeldOutTask(table, {"y": y}, settings, folds), run or Run())


@pytest.mark.parametrize("seconds", [0.0, 1e9])
def test_a_forest_grown_in_steps_is_the_one_grown_at_once(numbers, monkeypatch, seconds):
    monkeypatch.setattr("gradus._core.run.SECONDS_PER_SLICE", seconds)
    monkeypatch.setattr(held_out, "N_TREES", 40)
    X, y = numbers
    at_once = RandomForestClassifier(40, random_state=0).fit(X, y)
    assert np.array_equal(forest_chances(X, y, X, Run()) / 40, at_once.predict_proba(X))


def test_a_forest_says_how_far_it_is_and_can_be_stopped(numbers, monkeypatch):
    monkeypatch.setattr("gradus._core.run.SECONDS_PER_REPORT", 0.0)
    monkeypatch.setattr("gradus._core.run.SECONDS_PER_SLICE", 0.0)  # a tree at a time
    seen = []
    run = Run(callback=lambda progress: seen.append(progress) or len(seen) == 3)
    assert forest_chances(*numbers, numbers[0], run) is None
    assert run.stopped == "callback"
    assert [progress.done for progress in seen] == sorted(progress.done for progress in seen)
    assert seen[-1].total == N_TREES


@pytest.fixture
def no_time_for_forests(monkeypatch):
    grow = held_out.forest_chances

    def late(X, codes, X_test, run, *weights):
        run._top._stopped = "time_limit"
        return grow(X, codes, X_test, run, *weights)

    monkeypatch.setattr(held_out, "forest_chances", late)


@pytest.mark.usefixtures("no_time_for_forests")
def test_a_score_without_time_for_a_forest_names_the_others(numbers):
    result = score(*numbers)
    assert list(result.accuracy) == ["model", "circuit", "majority", "tree"]
    assert result.mean("model") > result.mean("majority")
    assert "no time to grow a random forest" in result.verdict


@pytest.mark.usefixtures("no_time_for_forests")
def test_a_score_stopped_before_the_last_fold_is_none(numbers):
    assert score(*numbers, folds=2) is None


def test_a_score_says_which_fold_it_is_at_and_how_long_it_will_take(numbers):
    seen = []
    score(*numbers, folds=2, run=Run(callback=seen.append))
    assert {progress.stage.partition(",")[0] for progress in seen} == {"score 1 of 2", "score 2 of 2"}
    assert seen[-1].eta > 0


def test_a_callback_ends_a_score(numbers):
    assert score(*numbers, run=Run(callback=lambda progress: True)) is None


def test_the_majority_scores_its_share_of_the_rows():
    y = np.array(["yes", "no"] * 10)
    result = score(np.arange(20.0)[:, np.newaxis] % 7, y, folds=5)
    assert result.mean("majority") == 0.5


def test_only_rows_with_a_known_label_are_counted(numbers):
    X, y = numbers
    labels = y.astype(object)
    labels[[3, 9, 20]] = None
    assert score(X, labels, folds=2).rows == 117


def test_infinite_numbers_have_a_score(numbers):
    X, y = numbers
    X[::10, 0] = np.inf
    X[5, 0] = -1e300
    assert 0 <= score(X, y).mean("forest") <= 1
