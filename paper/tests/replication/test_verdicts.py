"""Verdicts: decided by whole intervals, and what a verdict says stays true whatever the estimate."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gradus_paper.estimates import (
    CLOSE,
    DIRECTION,
    DOES_NOT_HOLD,
    FEWEST_PAIRS,
    HOLDS,
    UNDECIDED,
    VERDICTS,
    Estimate,
    above,
    not_below,
    together,
    within,
)

numbers = st.floats(-50, 50, allow_nan=False)
tolerances = st.floats(0.01, 20)
estimates = st.builds(
    lambda low, width, share, n: Estimate(low + share * width, low, low + width, n),
    numbers,
    st.floats(0, 50),
    st.floats(0, 1),
    st.integers(FEWEST_PAIRS, 1000),
)
RULES = {
    "above": lambda one, at, tolerance: above(one, at, tolerance),
    "within": lambda one, at, tolerance: within(one, at, tolerance),
    "not below": lambda one, at, tolerance: not_below(one, tolerance),
}


def plain_within(low, high, paper, tolerance):
    """The rule of agreement with a number, written out over the edges of the band."""
    edges = [paper - tolerance, paper + tolerance]
    if all(low <= edge <= high for edge in edges) or any(low < edge < high for edge in edges):
        if high - low <= 2 * tolerance:
            return CLOSE
        return DIRECTION if min(low * paper, high * paper) > 0 else UNDECIDED
    return HOLDS if edges[0] <= (low + high) / 2 <= edges[1] else DOES_NOT_HOLD


@given(estimates, numbers, tolerances)
def test_agreement_with_a_number_is_judged_by_the_edges_of_its_band(interval, paper, tolerance):
    # Where an interval only touches an edge, both readings are right.
    assume(all(abs(end - paper - side * tolerance) > 1e-9 for end in (interval.low, interval.high) for side in (-1, 1)))
    assume(abs(interval.high - interval.low - 2 * tolerance) > 1e-9)
    assume(interval.high > interval.low and abs(paper) > 1e-9 and min(abs(interval.low), abs(interval.high)) > 1e-9)
    assert within(interval, paper, tolerance) == plain_within(interval.low, interval.high, paper, tolerance)


@given(estimates, numbers, tolerances)
def test_a_statement_and_its_opposite_never_both_hold(one, threshold, tolerance):
    mirrored = Estimate(-one.value, -one.high, -one.low, one.n)
    verdict, opposite = above(one, threshold, tolerance), above(mirrored, -threshold, tolerance)
    expected = {HOLDS: {DOES_NOT_HOLD}, DOES_NOT_HOLD: {HOLDS}, CLOSE: {CLOSE}, UNDECIDED: {UNDECIDED}}
    assert opposite in expected[verdict]


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@given(one=estimates, at=numbers, tolerance=tolerances)
def test_close_means_that_the_value_is_known_to_within_the_tolerance(rule, one, at, tolerance):
    verdict = rule(one, at, tolerance)
    narrow = (one.high - one.low) / 2 <= tolerance
    assert verdict in ({HOLDS, DOES_NOT_HOLD, CLOSE} if narrow else {HOLDS, DOES_NOT_HOLD, DIRECTION, UNDECIDED})


@given(estimates, numbers, tolerances)
def test_a_direction_is_confirmed_only_by_an_interval_without_zero(one, paper, tolerance):
    if within(one, paper, tolerance) == DIRECTION:
        # Signs, not products, which can be too small for a number.
        assert (one.low > 0) if paper > 0 else (one.high < 0)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@given(one=estimates, at=numbers, tolerance=tolerances, n=st.integers(0, FEWEST_PAIRS - 1))
def test_few_observations_and_infinite_intervals_decide_nothing(rule, one, at, tolerance, n):
    assert rule(Estimate(one.value, one.low, one.high, n), at, tolerance) == UNDECIDED
    for low, high in ((-math.inf, math.inf), (math.nan, math.nan)):
        assert rule(Estimate(one.value, low, high, one.n), at, tolerance) == UNDECIDED


@given(st.lists(st.sampled_from(VERDICTS), min_size=1))
def test_several_verdicts_together_are_the_worst_of_them(verdicts):
    worst = together(verdicts)
    assert worst in verdicts
    assert all(VERDICTS.index(verdict) <= VERDICTS.index(worst) for verdict in verdicts)
    assert together([]) == HOLDS
