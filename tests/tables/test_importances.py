"""Columns that matter, columns that tell all, and targets of numbers made classes."""

from __future__ import annotations

import numpy as np
import pytest

from gradus import BooleanNetworkClassifier
from gradus._tables.cuts import encode_table
from gradus._tables.importances import telling_columns
from gradus._tables.labels import cut_target, encode_target, labels_between
from gradus.errors import DataError, SettingsError


def test_a_feature_is_worth_the_bits_that_it_saves():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] > 0.2) ^ (X[:, 1] > 1.2)
    classifier = BooleanNetworkClassifier(n_circuits=5, n_tries=1, random_state=0).fit(X, y)
    bits = classifier.feature_importances_
    assert bits.shape == (3,)
    assert bits[0] > bits[1] > abs(bits[2])
    assert bits[0] > 1.0


def test_a_single_circuit_says_what_its_columns_save_on_the_rows_of_the_table():
    X = np.random.default_rng(0).random((60, 4)) < 0.5
    bits = BooleanNetworkClassifier(n_circuits=1).fit(X, X[:, 0] & X[:, 2]).feature_importances_
    assert (bits > 0).tolist() == [True, False, True, False]
    assert BooleanNetworkClassifier(time_limit=0).fit(X, X[:, 0] & X[:, 2]).feature_importances_.shape == (4,)


def test_a_column_that_decides_the_target_alone_is_named_with_its_condition():
    rng = np.random.default_rng(0)
    late = rng.random(200) < 0.3
    table = {"hours": np.where(late, rng.integers(7, 20, 200), rng.integers(0, 7, 200)), "age": rng.integers(20, 60, 200)}
    target, _, codes = encode_target(late, "late")
    encoding = encode_table(table, codes)
    (told,) = telling_columns(encoding, [target], encoding.encode(table), codes[:, np.newaxis])
    assert (told["target"], told["column"]) == ("late", "hours")
    assert told["says"].startswith("hours > 6")
    assert not telling_columns(encoding, [target], encoding.encode(table)[::-1], codes[:, np.newaxis])


@pytest.mark.parametrize(
    ("how", "cuts", "labels"),
    [
        ("median", [3.0], ["<= 3", "<= 3", "<= 3", "> 3", "> 3", None]),
        ("terciles", [2.0, 3.0], ["<= 2", "<= 2", "2 to 3", "> 3", "> 3", None]),
        ("4.5/1", [1.0, 4.5], ["<= 1", "1 to 4.5", "1 to 4.5", "1 to 4.5", "> 4.5", None]),
    ],
)
def test_a_target_of_numbers_is_cut_as_asked(how, cuts, labels):
    numbers = np.array([1.0, 2, 3, 4, 5, np.nan])
    found, at = cut_target(numbers, how, "price")
    assert (found.tolist(), at) == (labels, cuts)
    assert labels_between(numbers, at).tolist() == labels


def test_cuts_that_are_none_are_refused():
    with pytest.raises(SettingsError, match="median, terciles or numbers"):
        cut_target(np.array([1.0, 2]), "half", "price")
    with pytest.raises(DataError, match="no number"):
        cut_target(np.array([np.nan]), "median", "price")
