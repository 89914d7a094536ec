"""The score on rows held out: forests that can be stopped, and what is said without one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from gradus._core import run as run_module
from gradus._core.run import Run
from gradus._tables import held_out
from gradus._tables.fit import FitSettings
from gradus._tables.held_out import FOREST, N_TREES, grow_forest, score_held_out


@pytest.fixture
def numbers():
    X = np.random.default_rng(0).normal(size=(60, 3))
    return X, (X[:, 0] + X[:, 1] > 0).astype(np.int64)


def score(X, y, callback=None, folds=1):
    columns = {f"x{j}": column for j, column in enumerate(X.T)}
    settings = FitSettings(n_circuits=2, n_tries=1)
    return score_held_out(columns, {"y": y}, settings, folds, Run(callback=callback))


@pytest.fixture
def every_report(monkeypatch):
    """Let every progress be reported, however soon it follows the last one."""
    monkeypatch.setattr(run_module, "SECONDS_PER_REPORT", 0.0)


@pytest.mark.parametrize("seconds", [0.0, 1e9])
def test_a_forest_grown_in_steps_is_the_one_grown_at_once(numbers, monkeypatch, seconds):
    monkeypatch.setattr(held_out, "SLICE_SECONDS", seconds)
    monkeypatch.setattr(held_out, "N_TREES", 40)
    X, y = numbers
    at_once = RandomForestClassifier(40, random_state=0).fit(X, y)
    assert np.array_equal(grow_forest(X, y, Run()).predict_proba(X), at_once.predict_proba(X))


def test_a_forest_asks_whether_to_stop_before_every_step(numbers, every_report):
    reports = []
    run = Run(callback=lambda progress: reports.append(progress) or len(reports) == 3)
    assert grow_forest(*numbers, run) is None
    assert [progress.done for progress in reports] == sorted({progress.done for progress in reports})
    assert reports[-1].total == N_TREES
    assert run.stopped == "callback"


def stops_in_forest(step):
    """A callback that stops the first forest before this step; the first one is announced before the tree is grown."""
    stages = []

    def stops(progress):
        stages.append(FOREST in progress.stage)
        return sum(stages) >= step

    return stops


def test_a_score_without_time_for_a_forest_names_the_others(numbers, every_report):
    scored = score(*numbers, stops_in_forest(2))
    assert list(scored.accuracy) == ["model", "circuit", "majority", "tree"]
    assert scored.mean("model") > scored.mean("majority")
    assert "no time to grow a random forest" in scored.verdict


def test_a_score_stopped_before_the_last_fold_is_none(numbers, every_report):
    assert score(*numbers, stops_in_forest(2), folds=2) is None


def test_progress_names_the_fold_and_estimates_the_time_that_all_of_them_take(numbers, every_report):
    reports = []
    score(*numbers, reports.append, folds=2)
    assert [stage for stage in dict.fromkeys(report.stage for report in reports) if FOREST in stage] == [
        "score 1 of 2, random forest",
        "score 2 of 2, random forest",
    ]
    assert reports[-1].eta >= 0


def test_the_majority_scores_its_share_of_the_rows():
    y = np.array(["yes", "no"] * 10)
    scored = score(np.arange(20.0)[:, np.newaxis] % 7, y, folds=5)
    assert scored.mean("majority") == 0.5


def test_only_rows_with_a_known_label_are_counted(numbers):
    X, y = numbers
    labels = y.astype(object)
    labels[[3, 9, 20]] = None
    assert score(X, labels, folds=2).rows == 57


def test_infinite_numbers_have_a_score(numbers):
    X, y = numbers
    X[::10, 0] = np.inf
    X[5, 0] = -1e300
    assert 0 <= score(X, y).mean("forest") <= 1
