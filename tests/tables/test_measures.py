"""Recall, precision, balanced accuracy and the area under the curve, beside those of scikit-learn."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, precision_score, recall_score, roc_auc_score

from gradus._tables.labels import TargetEncoding
from gradus._tables.measures import measured, rarest, said_of_goals, said_of_rare


@given(st.integers(0, 10_000))
def test_measures_are_those_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    codes = np.concatenate([[0, 1], (rng.random(60) < 0.2).astype(int)])
    second = np.round(rng.random(62), 1)
    said = (second > 0.6).astype(int)
    found = measured(codes, said, np.column_stack([1 - second, second]), 2, 1)
    assert np.isclose(found["auc"], roc_auc_score(codes, second), atol=1e-6)
    assert np.isclose(found["balanced_accuracy"], balanced_accuracy_score(codes, said), atol=1e-6)
    assert np.isclose(found["recall"], recall_score(codes, said), atol=1e-6)
    assert np.isclose(found["precision"], precision_score(codes, said, zero_division=0), atol=1e-6)


def test_unknown_labels_do_not_count_and_the_rarest_class_has_rows():
    codes = np.array([0, 0, 0, 2, -1])
    assert rarest(codes, 3) == (2, 0.25)
    assert measured(codes, np.array([0, 0, 2, 2, 1]), None, 3, 2)["accuracy"] == 0.75


def test_what_is_said_names_the_class_and_the_option():
    target = TargetEncoding("ill", ("no", "yes"))
    found = {"accuracy": 0.9, "balanced_accuracy": 0.8, "recall": 0.7, "precision": 0.6, "auc": 0.85}
    lines = said_of_rare(target, 1, 0.05, {"model": found})
    assert lines[0] == "ill = yes has 5.0 % of the rows:"
    assert "finds 70.0 % of them, right in 60.0 %" in lines[1]
    assert "curve 0.850" in lines[1]
    assert said_of_goals("f1", {"f1": found, "accuracy": found})[0].startswith("  with --goal accuracy: finds 70.0 %")


def test_a_class_of_which_nothing_is_found_has_no_share_that_is_right():
    target, none = (
        TargetEncoding("ill", ("no", "yes")),
        {"recall": 0.0, "precision": 0.0, "balanced_accuracy": 0.5, "accuracy": 0.9},
    )
    assert said_of_rare(target, 1, 0.05, {"model": none})[1] == "  model: finds none of them; balanced accuracy 50.0 %"
    assert said_of_goals("f1", {"accuracy": none}) == [
        "  with --goal accuracy: finds none; balanced accuracy 50.0 %, accuracy 90.0 %"
    ]
