"""Conflicts and bad input: every error names the place and the remedy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import gradus
from gradus.errors import ConflictError, DataError, SettingsError

XOR = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])


def test_conflicting_rows_are_named_with_the_target():
    with pytest.raises(ConflictError, match=r"Rows 1 and 4 have the same inputs but differ in y.*There are 2 such pairs"):
        gradus.minimum_feature_set([*XOR.tolist(), [0, 1], [0, 1]], [0, 1, 1, 0, 0, 0])
    targets = pd.DataFrame({"sum": [0, 0, 1], "carry": [0, 1, 1]})
    with pytest.raises(ConflictError, match=r"Rows 0 and 1 have the same inputs but differ in target 'carry'"):
        gradus.find_curriculum([[0], [0], [1]], targets)


def test_ignored_conflicts_are_counted_and_the_other_pairs_still_count():
    found = gradus.minimum_feature_set([*XOR.tolist(), [0, 1], [0, 1]], [0, 1, 1, 0, 0, 0], on_conflict="ignore")
    assert found.conflicts == 2
    assert found.features == (0, 1)
    assert gradus.minimum_feature_set([[0], [0]], [0, 1], on_conflict="ignore").features == ()


def test_on_conflict_first_trusts_the_first_of_conflicting_rows():
    X, y = [[0, 0], [0, 1], [0, 1], [1, 0]], [0, 1, 0, 0]
    found = gradus.minimum_feature_set(X, y, on_conflict="first")
    assert (found.features, found.conflicts) == ((1,), 1)
    assert gradus.minimum_feature_set(X, [0, 0, 1, 0], on_conflict="first").features == ()
    assert gradus.find_curriculum(X, y, on_conflict="first").feature_sets[0] == found


@pytest.mark.parametrize("X", [XOR, np.empty((4, 0)), [[7], [7], [7], [7]]])
def test_a_constant_target_needs_no_column(X):
    found = gradus.minimum_feature_set(X, [1, 1, 1, 1])
    assert (found.features, found.size, found.lower_bound, found.optimal) == ((), 0, 0, True)
    assert gradus.all_minimum_feature_sets(X, [1, 1, 1, 1]) == [()]


def test_without_columns_a_target_that_varies_is_a_conflict():
    with pytest.raises(ConflictError, match="Rows 0 and 1"):
        gradus.minimum_feature_set(np.empty((2, 0)), [0, 1])


def test_a_continuous_column_is_named_and_the_error_says_how_to_discretise_it():
    X = pd.DataFrame({"gene": np.arange(65) % 2, "level": np.linspace(0, 1, 65)})
    with pytest.raises(DataError, match=r"65 distinct values in column 'level'.*Discretise.*median.*KBinsDiscretizer"):
        gradus.minimum_feature_set(X, np.arange(65) % 2)
    assert gradus.minimum_feature_set(X.iloc[:64], np.arange(64) % 2).features == (0,)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_a_missing_value_is_found_and_placed(missing):
    with pytest.raises(DataError, match="X, column 1 has a missing value in row 2"):
        gradus.minimum_feature_set(np.array([[0, "a"], [1, "b"], [1, missing]], dtype=object), [0, 1, 1])
    with pytest.raises(DataError, match="y has a missing value in row 0"):
        gradus.minimum_feature_set([[0], [1]], np.array([missing, 1], dtype=object))


def test_words_and_numbers_are_categories():
    X = pd.DataFrame({"colour": ["red", "blue", "green", "red"], "size": [1.5, 1.5, 2.5, 2.5]})
    assert gradus.minimum_feature_set(X, ["no", "yes", "no", "no"]).features == (0,)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([], [], "X has no rows; give at least one example"),
        (np.empty((0, 3)), [], "X has no rows"),
        ([[0, 1], [1]], [0, 1], "X is not a table"),
        (np.zeros((2, 2, 2)), [0, 1], "3 dimensions"),
        (XOR, [0, 1, 1], "X has 4 rows but y has 3"),
        (XOR, XOR, r"y must be one column, but it has the shape \(4, 2\)"),
    ],
)
def test_tables_of_a_wrong_shape_are_refused(X, y, message):
    with pytest.raises(DataError, match=message):
        gradus.minimum_feature_set(X, y)


@pytest.mark.parametrize("limit", [0, -1, True, 1.5])
def test_a_limit_must_be_a_positive_whole_number(limit):
    with pytest.raises(SettingsError, match="limit is"):
        gradus.all_minimum_feature_sets(XOR, [0, 1, 1, 0], limit=limit)


@pytest.mark.parametrize("time_limit", [-1, float("nan"), "1", True])
def test_a_time_limit_must_be_a_number_of_seconds(time_limit):
    with pytest.raises(SettingsError, match="time_limit is"):
        gradus.minimum_feature_set(XOR, [0, 1, 1, 0], time_limit=time_limit)


def test_an_unknown_way_to_treat_conflicts_is_refused():
    with pytest.raises(SettingsError, match="on_conflict is 'skip'"):
        gradus.minimum_feature_set(XOR, [0, 1, 1, 0], on_conflict="skip")
