"""The score on rows held out: forests that can be stopped, and what is said without one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from gradus import BooleanNetworkClassifier
from gradus._tables import held_out
from gradus._tables.column_kinds import column_kinds
from gradus._tables.held_out import FOREST, N_TREES, grow_forest, score_held_out


@pytest.fixture
def numbers():
    X = np.random.default_rng(0).normal(size=(60, 3))
    return X, (X[:, 0] + X[:, 1] > 0).astype(np.int64)


def score(X, y, tell, folds=1):
    table = {f"x{j}": column for j, column in enumerate(X.T)}
    estimator = BooleanNetworkClassifier(n_circuits=2, n_tries=1, random_state=0)
    return score_held_out(estimator, table, {"y": y}, column_kinds(table), folds=folds, seed=0, tell=tell)


@pytest.mark.parametrize("seconds", [0.0, 1e9])
def test_a_forest_grown_in_steps_is_the_one_grown_at_once(numbers, monkeypatch, seconds):
    monkeypatch.setattr(held_out, "SLICE_SECONDS", seconds)
    monkeypatch.setattr(held_out, "N_TREES", 40)
    X, y = numbers
    at_once = RandomForestClassifier(40, random_state=0).fit(X, y)
    assert np.array_equal(grow_forest(X, y, lambda progress: False).predict_proba(X), at_once.predict_proba(X))


def test_a_forest_asks_whether_to_stop_before_every_step(numbers):
    told = []
    assert grow_forest(*numbers, lambda progress: told.append(progress) or len(told) == 3) is None
    assert [progress.done for progress in told] == sorted({progress.done for progress in told})
    assert told[-1].total == N_TREES
    assert told[-1].eta > 0


def test_a_score_without_time_for_a_forest_names_the_others(numbers):
    answers = iter([False])  # for the tree, and nothing for the forest
    found = score(*numbers, lambda fold, progress: progress.stage == FOREST and next(answers, True))
    assert list(found.accuracy) == ["model", "circuit", "majority", "tree"]
    assert found.mean("model") > found.mean("majority")
    assert "no time to grow a random forest" in found.verdict


def test_a_score_stopped_before_the_last_fold_is_none(numbers):
    answers = iter([False])
    assert score(*numbers, lambda fold, progress: progress.stage == FOREST and next(answers, True), folds=2) is None


def test_the_majority_scores_its_share_of_the_rows():
    y = np.array(["yes", "no"] * 10)
    found = score(np.arange(20.0)[:, np.newaxis] % 7, y, lambda fold, progress: False, folds=5)
    assert found.mean("majority") == 0.5


def test_only_rows_with_a_known_label_are_counted(numbers):
    X, y = numbers
    labels = y.astype(object)
    labels[[3, 9, 20]] = None
    assert score(X, labels, lambda fold, progress: False, folds=2).rows == 57


def test_infinite_numbers_have_a_score(numbers):
    X, y = numbers
    X[::10, 0] = np.inf
    X[5, 0] = -1e300
    assert 0 <= score(X, y, lambda fold, progress: False).mean("forest") <= 1
