"""Orders drawn at a Kendall distance."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradus.curriculum import kendall_tau
from gradus.errors import SettingsError
from gradus.experiments.permutations import all_taus, inversions_for_tau, permutation, permutation_with_inversions
from naive_experiments import orders_with_inversions


@given(n=st.integers(1, 5), data=st.data(), seed=st.integers(0, 2**32))
def test_a_drawn_order_has_the_tau_asked_for(n, data, seed):
    tau = data.draw(st.sampled_from(all_taus(n)))
    order = permutation_with_inversions(n, inversions_for_tau(tau, n), seed)
    assert kendall_tau(order, tuple(range(n))) == pytest.approx(tau)


def test_orders_at_one_distance_are_drawn_uniformly():
    everyone = orders_with_inversions(4, 3)
    counts = Counter(permutation_with_inversions(4, 3, seed) for seed in range(3000))
    assert set(counts) == set(everyone)
    expected = 3000 / len(everyone)
    assert all(abs(count - expected) < 5 * expected**0.5 for count in counts.values())


def test_an_impossible_tau_is_refused_with_the_possible_ones():
    with pytest.raises(SettingsError, match=r"no order of 3 targets has tau = 0\.5; the values are 1, 0\.3333"):
        inversions_for_tau(0.5, 3)


@given(n=st.integers(1, 30), seed=st.integers(0, 2**64 - 1))
def test_a_permutation_holds_everything_once(n, seed):
    assert sorted(permutation(n, seed)) == list(range(n))
