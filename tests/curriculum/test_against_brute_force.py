"""The solver against its slow twin: size, lexicographic choice and the full list, whatever the instance looks like."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradus
from gradus._curriculum import solver
from naive_minfs import all_minimum_sets, is_feasible


@st.composite
def instances(draw, max_rows=14, max_columns=7):
    n = draw(st.integers(1, max_rows))
    k = draw(st.integers(0, max_columns))
    values = st.integers(0, draw(st.integers(0, 4)))
    classes = st.integers(0, draw(st.integers(0, 2)))
    X = draw(st.lists(st.lists(values, min_size=k, max_size=k), min_size=n, max_size=n))
    y = draw(st.lists(classes, min_size=n, max_size=n))
    return np.array(X, dtype=np.int64).reshape(n, k), np.array(y)


def random_instance(rng, max_columns):
    n, k, values = rng.integers(2, 40), rng.integers(1, max_columns + 1), rng.choice([2, 2, 3, 5])
    return rng.integers(0, values, (n, k)), rng.integers(0, rng.choice([2, 2, 3]), n)


def check(X, y):
    expected = all_minimum_sets(X, y)
    found = gradus.minimum_feature_set(X, y, on_conflict="ignore")
    assert (found.features, found.lower_bound, found.optimal, found.first) == (expected[0], len(expected[0]), True, True)
    assert gradus.all_minimum_feature_sets(X, y, on_conflict="ignore") == expected


@settings(max_examples=300, deadline=None)
@given(instances())
def test_size_choice_and_list_are_those_of_brute_force(instance):
    check(*instance)


@pytest.mark.parametrize("seed", range(4))
def test_two_thousand_random_instances_agree_with_brute_force(seed):
    rng = np.random.default_rng(seed)
    for _ in range(500):
        check(*random_instance(rng, 6))


@pytest.mark.parametrize("seed", range(3))
def test_instances_of_twelve_columns_agree_with_brute_force(seed):
    rng = np.random.default_rng(100 + seed)
    for _ in range(25):
        n = int(rng.integers(8, 24))
        check(rng.integers(0, 2 + seed % 2, (n, 12)), rng.integers(0, 2, n))


@settings(max_examples=150, deadline=None)
@given(instances(max_rows=20), st.integers(1, 6), st.integers(1, 60))
def test_the_answer_is_the_same_when_only_a_few_pairs_are_held(instance, keep, work):
    """With hardly any masks kept, the solver has to ask the rows again and again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solver, "MASKS_KEPT", keep)
        patch.setattr(solver, "MASKS_ADDED", 1)
        patch.setattr(solver, "PAIR_WORK", work)
        check(*instance)


@settings(max_examples=150, deadline=None)
@given(instances(), st.integers(1, 5))
def test_a_limit_gives_the_first_sets_of_the_list(instance, limit):
    X, y = instance
    first = gradus.all_minimum_feature_sets(X, y, limit=limit, on_conflict="ignore")
    assert first == all_minimum_sets(X, y)[:limit]


def test_a_limit_holds_among_more_sets_than_could_be_listed():
    """Twelve groups of ten equal columns: 10**12 minimum sets, of which the first ones are asked for."""
    inputs = np.vstack([np.zeros((1, 12), dtype=int), np.eye(12, dtype=int)])
    X = np.repeat(inputs, 10, axis=1)
    found = gradus.all_minimum_feature_sets(X, [0, *[1] * 12], limit=3)
    start = tuple(range(0, 110, 10))
    assert found == [(*start, 110), (*start, 111), (*start, 112)]


@settings(max_examples=100, deadline=None)
@given(instances())
def test_every_listed_set_is_feasible_where_nothing_conflicts(instance):
    X, y = instance
    y = np.array([hash(tuple(row)) % 2 for row in X.tolist()])
    assert all(is_feasible(X, y, features) for features in gradus.all_minimum_feature_sets(X, y))
