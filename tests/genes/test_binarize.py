from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradus.errors import DataError, SettingsError
from gradus.genes import Series
from gradus.genes._transitions import binarized, transitions, two_means_boundary


def slow_spread(values, boundary):
    """Sum of squares within the two sides of a boundary."""
    sides = [[v for v in values if v <= boundary], [v for v in values if v > boundary]]
    return sum(sum((v - sum(side) / len(side)) ** 2 for v in side) for side in sides if side)


@settings(max_examples=200, deadline=None)
@given(
    values=st.lists(st.floats(-100, 100).map(lambda v: round(v, 3)), min_size=2, max_size=12),
    shift=st.sampled_from([0.0, 1e6]),
)
def test_two_clusters_have_the_smallest_sum_of_squares(values, shift):
    known = [value + shift for value in values]
    boundary = two_means_boundary(np.array([*known, np.nan]))
    if len(set(known)) == 1:
        assert np.isnan(boundary)
        return
    assert min(known) <= boundary < max(known)
    distinct = sorted(set(known))
    every = [slow_spread(known, low) for low in distinct[:-1]]
    assert slow_spread(known, boundary) <= min(every) * (1 + 1e-9) + 1e-6


def test_huge_and_tiny_values_are_split_too():
    for scale in (1e308, 1e-308):
        values = np.array([-1.0, -0.9, 0.9, 1.0]) * scale
        assert np.array_equal(values > two_means_boundary(values), [False, False, True, True])


def test_a_gene_has_one_boundary_for_all_series_and_missing_stays_missing():
    one, two = Series(["a", "b"], [[0.0, 5], [1.0, np.nan]]), Series(["b", "a"], [[5, 9.0], [5, 10.0]])
    made, notes = binarized([one, two])
    np.testing.assert_array_equal(made[0].states, [[0, 0], [0, np.nan]])
    np.testing.assert_array_equal(made[1].states, [[1, 0], [1, 0]])
    assert notes[0] == "Each gene's values were split in two clusters; 1 is above: a 5."
    assert notes[1] == "Genes with a single value became 0: b."


def test_a_threshold_is_one_for_all_genes():
    made, notes = binarized(Series(["a", "b"], [[0.4, 0.5], [0.6, 2]]), 0.5)
    np.testing.assert_array_equal(made[0].states, [[0, 0], [1, 1]])
    assert notes == ("Values above 0.5 were made 1, all others 0.",)


def test_binary_series_stay_as_they_are_and_lead_to_transitions():
    states = [[0, 1], [1, 1], [1, 0]]
    made, notes = binarized(Series(["a", "b"], states, lines=(2, 3, 4)))
    np.testing.assert_array_equal(made[0].states, states)
    moves = transitions(made, notes=notes)
    assert moves.report()[0].startswith("Each gene's values were split")
    assert moves.steps[1].line == 3


@pytest.mark.parametrize("how", ["guess", True, float("nan"), float("inf")])
def test_wrong_settings_are_refused(how):
    with pytest.raises(SettingsError, match="finite number"):
        binarized(Series(["a"], [[0], [1]]), how)


def test_infinite_values_and_other_genes_are_refused():
    with pytest.raises(DataError, match="infinite"):
        binarized(Series(["a"], [[0], [np.inf]]))
    with pytest.raises(DataError, match="other genes"):
        binarized([Series(["a"], [[0], [1]]), Series(["b"], [[0], [1]])])
    with pytest.raises(DataError, match="no series"):
        binarized([])


def test_levels_are_kept_where_some_gene_has_more_than_two_values():
    levels = [[0.1, 5], [0.9, np.nan], [0.5, 5]]
    np.testing.assert_array_equal(binarized(Series(["a", "b"], levels))[0][0].levels, levels)
    assert binarized(Series(["a", "b"], [[0.1, 5], [0.9, np.nan]]))[0][0].levels is None
