"""Cuts of numeric columns and bits of categories."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_cuts
from gradus._tables.cuts import choose_category_bits, cut_column, cuts_between, readable_cut


@pytest.mark.parametrize("seed", range(60))
def test_cuts_are_those_of_the_slow_twin(seed):
    rng = np.random.default_rng(seed)
    n, n_targets = int(rng.integers(8, 130)), int(rng.integers(1, 4))
    values = np.round(rng.normal(size=n), int(rng.integers(1, 4)))
    codes = np.column_stack(
        [
            np.where(rng.random(n) < 0.15, rng.integers(0, 3, n), np.searchsorted([-0.6, 0.5][: 1 + t % 2], values))
            for t in range(n_targets)
        ]
    )
    codes[rng.random(codes.shape) < 0.05] = -1
    values[rng.random(n) < 0.05] = np.nan
    found = cut_column(values, codes, few_values=1, fallback=False)
    expected = naive_cuts.paying_cuts(values.tolist(), [tuple(row) for row in codes.tolist()], 7)
    assert len(found) == len(expected)
    for cut, (low, high) in zip(found, expected, strict=True):
        assert low <= cut < high


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40), st.integers(0, 1000), st.integers(1, 7))
def test_cuts_ascend_lie_between_values_and_are_few(values, seed, max_cuts):
    column = np.array(values)
    codes = np.random.default_rng(seed).integers(-1, 3, (len(values), 2))
    cuts = cut_column(column, codes, max_cuts=max_cuts)
    assert list(cuts) == sorted(set(cuts))
    assert len(cuts) <= max_cuts
    for cut in cuts:
        assert (column > cut).any()
        assert (column <= cut).any()


def test_the_order_of_rows_does_not_matter():
    rng = np.random.default_rng(1)
    values, shuffle = rng.normal(size=200), rng.permutation(200)
    codes = (values > 0.3).astype(int)[:, np.newaxis]
    assert cut_column(values, codes) == cut_column(values[shuffle], codes[shuffle])


def test_noise_is_not_cut_but_for_one_cut_as_a_fallback():
    rng = np.random.default_rng(2)
    values, codes = rng.normal(size=300), rng.integers(0, 2, (300, 1))
    assert cut_column(values, codes, fallback=False) == ()
    assert len(cut_column(values, codes)) == 1


def test_a_column_of_few_values_is_cut_everywhere_even_if_it_tells_nothing_alone():
    assert cut_column(np.array([1.0, 2, 3, 1, 2, 3]), np.zeros((6, 1), int)) == (1, 2)


def test_constant_and_empty_columns_have_no_cut():
    assert cut_column(np.full(9, 3.0), np.zeros((9, 1), int)) == ()
    assert cut_column(np.full(9, np.nan), np.zeros((9, 1), int)) == ()


@settings(max_examples=200, deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_a_readable_cut_divides_its_neighbours(a, b):
    low, high = min(a, b), max(a, b)
    if low < high:
        assert low <= readable_cut(low, high) < high


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=8, unique=True), st.booleans(), st.booleans())
def test_cuts_lie_between_their_neighbours_and_among_whole_numbers_and_days_are_whole(numbers, whole, days):
    distinct = np.unique(np.floor(numbers) if whole else numbers)
    cuts = cuts_between(distinct, range(1, len(distinct)), days=days)
    for low, cut, high in zip(distinct, cuts, distinct[1:], strict=False):
        assert low <= cut < high
        if whole or (days and np.ceil(low) < high):
            assert cut == int(cut)


def test_a_target_without_information_does_not_hide_that_of_another():
    rng = np.random.default_rng(3)
    values = rng.normal(size=100)
    codes = np.column_stack([values > 0.2, *rng.integers(0, 2, (3, 100))]).astype(int)
    assert len(cut_column(values, codes, fallback=False)) == 1


def test_rare_categories_are_merged_and_many_are_grouped_by_what_they_tell():
    rng = np.random.default_rng(4)
    names = [f"c{i:02d}" for i in range(40)]
    place = rng.integers(0, 40, 2000)
    codes = (place % 2)[:, np.newaxis]
    groups, others = choose_category_bits(names, place, codes)
    assert others
    assert sum(len(group) == 1 for group in groups) == 12
    halves = [set(group) for group in groups if len(group) > 1]
    assert set(names[::2]) in halves or set(names[1::2]) in halves
