from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradus import problems
from gradus.errors import ConflictError, DataError, SettingsError
from gradus.genes import YEAST_SERIES, Series, from_series
from gradus.genes._transitions import transitions


def slow_transitions(several):
    """Distinct complete pairs of successive states in order, how often each was seen, and how many were incomplete."""
    seen, skipped = {}, 0
    for states in several:
        for before, after in itertools.pairwise(states):
            if None in before or None in after:
                skipped += 1
            else:
                pair = tuple(before), tuple(after)
                seen[pair] = seen.get(pair, 0) + 1
    return seen, skipped


cells = st.sampled_from([0, 1, 0, 1, 0, 1, None])


def several_series(n_genes):
    state = st.lists(cells, min_size=n_genes, max_size=n_genes)
    return st.lists(st.lists(state, min_size=1, max_size=8), min_size=1, max_size=3)


@settings(max_examples=200, deadline=None)
@given(several=st.integers(1, 3).flatmap(several_series), on_conflict=st.sampled_from(["raise", "ignore", "first"]))
def test_transitions_equal_those_found_one_by_one(several, on_conflict):
    genes = [f"g{i}" for i in range(len(several[0][0]))]
    seen, skipped = slow_transitions(several)
    successors = {}
    for before, after in seen:
        successors.setdefault(before, []).append(after)
    clashing = {before for before, afters in successors.items() if len(afters) > 1}
    kept = {
        (before, after): count
        for (before, after), count in seen.items()
        if before not in clashing or (on_conflict == "first" and successors[before][0] == after)
    }
    series = [Series(genes, states, name=f"s{i}") for i, states in enumerate(several)]
    if not seen or not kept or (clashing and on_conflict == "raise") or len({after for _, after in kept}) == 1:
        with pytest.raises(ConflictError if seen and clashing and on_conflict == "raise" else DataError):
            transitions(series, on_conflict=on_conflict)
        return
    moves = transitions(series, on_conflict=on_conflict)
    changing = [i for i in range(len(genes)) if len({after[i] for _, after in kept}) > 1]
    assert moves.X.astype(int).tolist() == [list(before) for before, _ in kept]
    assert moves.Y.astype(int).tolist() == [[after[i] for i in changing] for _, after in kept]
    assert moves.target_names == tuple(genes[i] for i in changing)
    assert moves.counts.tolist() == list(kept.values())
    assert moves.skipped == skipped
    assert set(moves.constant_targets) == set(genes) - set(moves.target_names)
    assert len(moves.contradictions) == len(clashing)
    assert moves.left_out == len(seen) - len(kept)


def test_no_transition_crosses_from_one_series_to_the_next():
    one, two = Series(["a", "b"], [[0, 0], [0, 1]], name="one"), Series(["a", "b"], [[1, 1], [1, 0]], name="two")
    moves = transitions([one, two])
    assert [str(step) for step in moves.steps] == ["one row 1", "two row 1"]
    assert moves.X.astype(int).tolist() == [[0, 0], [1, 1]]


def test_genes_may_be_in_another_order_in_another_series():
    one, two = Series(["a", "b"], [[0, 0], [0, 1]], name="one"), Series(["b", "a"], [[1, 0], [0, 1]], name="two")
    assert transitions([one, two]).Y.astype(int).tolist() == [[0, 1], [1, 0]]
    with pytest.raises(DataError, match="'two' has other genes"):
        transitions([one, Series(["a", "c"], [[0, 0], [0, 1]], name="two")])


def test_contradictions_are_listed_by_row():
    states = [[0, 0], [0, 1], [0, 0], [1, 1]]
    with pytest.raises(ConflictError) as caught:
        transitions(Series(["a", "b"], states, name="s", lines=(2, 3, 4, 5)))
    assert "s row 1 (line 2), s row 3 (line 4)" in str(caught.value)
    assert "different values of a" in str(caught.value)
    many = [[i >> b & 1 for b in range(4)] + [flip] for flip in (0, 1) for i in range(16) for _ in (0, 1)]
    with pytest.raises(ConflictError, match="more"):
        transitions(Series("abcde", many))


def test_the_report_says_everything_that_was_done():
    states = [[0, 0, 1], [1, 0, 1], [0, 0, 1], [1, 0, 1], [np.nan, 0, 1], [1, 1, 1], [0, 0, 1], [0, 0, 1]]
    moves = transitions(Series("abc", states, name="s"), on_conflict="first", notes=["Made up."])
    assert moves.report() == [
        "Made up.",
        "1 series of 3 genes gave 3 distinct transitions.",
        "1 transition was a repeat of an earlier one and counts once.",
        "2 transitions were left out because a value is missing.",
        "Left out as targets because their next value never changes: b (always 0), c (always 1).",
        "Contradiction: s row 1, s row 7: the same state is followed by different values of a.",
        "1 contradictory transition left out.",
    ]


@pytest.mark.parametrize(
    ("states", "says"),
    [
        ([[0, 1]], "only one state"),
        ([[0, 1], [np.nan, 1]], "all 1 have a missing value"),
        ([[0, np.nan], [0, np.nan]], "b has no value at all"),
        ([[0, 1], [0, 1], [0, 1]], "nothing to learn"),
        ([[0, 1], [0.5, 1]], "row 2 has the value 0.5 for 'a'"),
        ([[0, 1], [np.inf, 1]], "value inf"),
        ([[0, 1, 1]], "shape"),
        ([["x", 1]], "not a table of numbers"),
        (np.zeros((2, 2, 2)), "shape"),
    ],
)
def test_series_that_hold_nothing_to_learn_are_refused_with_the_reason(states, says):
    with pytest.raises(DataError, match=says):
        transitions(Series(["a", "b"], states))


def test_wrong_settings_are_refused():
    with pytest.raises(SettingsError, match="on_conflict"):
        transitions(Series(["a"], [[0], [1]]), on_conflict="ask")
    with pytest.raises(DataError, match="no series"):
        transitions([])
    with pytest.raises(DataError, match="two columns"):
        Series(["a", "a"], [[0, 1]])


def test_transitions_are_a_problem():
    problem, built_in = from_series(YEAST_SERIES, name="yeast"), problems.load("yeast")
    np.testing.assert_array_equal(problem.Y, built_in.Y)
    np.testing.assert_array_equal(problem.sample(4, 1)[0], built_in.sample(4, 1)[0])
    assert (problem.input_names, problem.target_names) == (built_in.input_names, built_in.target_names)


def test_what_was_done_to_make_a_problem_is_reported():
    problem = from_series(Series(["a", "b"], [[0, 5], [3, 9], [0, 5], [3, 5]]), binarize=2.0, on_conflict="first")
    assert "Values above 2 were made 1" in problem.about
    assert "Left out as a target because its next value never changes: b" in problem.about
