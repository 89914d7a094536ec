"""Orders drawn at a Kendall distance."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradus import kendall_tau
from gradus.errors import SettingsError
from gradus_paper.orders import all_taus, inversions_for_tau, permutation, permutation_with_inversions
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


@pytest.mark.parametrize(
    ("tau", "n", "message"),
    [
        (0.5, 3, "no order of 3 targets has tau = 0.5; the nearest possible: 0.333333 and 1."),
        (0.5, 28, "no order of 28 targets has tau = 0.5; the nearest possible: 0.497354 and 0.502646."),
        (-1.0, 1, "no order of 1 target has tau = -1; the nearest possible: 1."),
    ],
)
def test_an_impossible_tau_is_refused_with_the_nearest_possible_ones(tau, n, message):
    with pytest.raises(SettingsError) as caught:
        inversions_for_tau(tau, n)
    assert str(caught.value) == message


@given(n=st.integers(2, 64), data=st.data())
def test_a_tau_is_taken_as_it_is_printed(n, data):
    inversions = data.draw(st.integers(0, n * (n - 1) // 2))
    assert inversions_for_tau(float(f"{all_taus(n)[inversions]:.6g}"), n) == inversions


@given(n=st.integers(1, 30), seed=st.integers(0, 2**64 - 1))
def test_a_permutation_holds_everything_once(n, seed):
    assert sorted(permutation(n, seed)) == list(range(n))
