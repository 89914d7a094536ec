"""`LearnResult.next_examples`: patterns that the circuits dispute, in an order in which each tells others apart."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradus
from gradus._lessons.queries import MOST_INPUTS, MOST_MORE, N_RIVALS, disputed_patterns, with_rivals


def circuits(n_inputs, tables):
    """One circuit for each list of gates, each gate (function, a, b) an output."""
    return [
        gradus.Network(
            n_inputs, [(a, b) for _, a, b in gates], range(n_inputs, n_inputs + len(gates)), [f for f, _, _ in gates]
        )
        for gates in tables
    ]


GATES = st.tuples(st.integers(0, 15), st.integers(0, 3), st.integers(0, 3))


def disputes(some, pattern):
    """Slow twin: how many pairs of circuits differ, target by target."""
    answers = [circuit.predict(pattern[np.newaxis])[0] for circuit in some]
    return sum(int((a != b).sum()) for a, b in combinations(answers, 2))


@settings(max_examples=25)
@given(st.lists(st.tuples(GATES, GATES), min_size=2, max_size=4))
def test_the_first_is_disputed_most_and_all_are_different(tables):
    some = circuits(4, tables)
    chosen = disputed_patterns(some, 16)
    every = (np.arange(16)[:, np.newaxis] >> np.arange(4) & 1).astype(bool)
    assert disputes(some, chosen[0]) == max(disputes(some, pattern) for pattern in every)
    assert len(np.unique(chosen, axis=0)) == 16


def test_a_second_pattern_tells_other_circuits_apart_than_the_first():
    # The first two differ where x0 & x1, the last two where x2 & x3, and there only.
    some = circuits(4, [[(0, 0, 1), (0, 2, 3)], [(8, 0, 1), (0, 2, 3)], [(0, 0, 1), (8, 2, 3)]])
    first, second = disputed_patterns(some, 2)
    assert (first[:2].all(), first[2:].all()) == (True, True)
    assert second[:2].all() or second[2:].all()


def test_wide_inputs_are_climbed_to_where_random_patterns_hardly_ever_are():
    n = 2 * MOST_INPUTS
    pairs = [(0, 1), *((n + k, k + 2) for k in range(n - 2))]  # the output of gate k: the first k + 2 inputs are all 1
    every, never = (gradus.Network(n, pairs, range(n, n + len(pairs)), [function] * len(pairs)) for function in (8, 0))
    first = disputed_patterns([every, never], 1)[0]
    assert first.all()


def test_a_result_asks_for_rows_on_which_its_circuits_differ():
    adder = gradus.problems.load("add3")
    result = gradus.learn(adder.X[::4], adder.Y[::4], n_circuits=4, noise=0)
    asked = result.next_examples(5)
    assert asked.dtype == bool
    assert asked.shape == (5, 6)
    assert np.array_equal(asked, result.next_examples(5))
    assert len(result.next_examples(1000)) == 64
    with pytest.raises(gradus.errors.SettingsError):
        result.next_examples(0)


def test_where_circuits_agree_patterns_are_random():
    n = 3 * MOST_INPUTS
    one = gradus.Network(n, [(0, 1)], [n], [8])
    chosen = disputed_patterns([one], 40)
    assert 0.3 < chosen[:, : n // 2].mean() < 0.7
    assert len(np.unique(chosen, axis=0)) == 40


def test_only_inputs_that_are_read_are_flipped(monkeypatch):
    n, tried = 1000, []
    some = [gradus.Network(n, [(0, 999)], [n], [function]) for function in (8, 0)]
    predict = gradus.Network.predict
    monkeypatch.setattr(gradus.Network, "predict", lambda self, X: tried.append(len(X)) or predict(self, X))
    assert disputed_patterns(some, 1)[0, [0, 999]].all()
    assert max(tried) < 5000  # not 64 patterns with a thousand flips each


@settings(max_examples=10)
@given(st.integers(0, 2**32), st.integers(6, 24))
def test_rivals_are_right_on_all_rows_and_a_few_gates_larger(seed, n):
    rng = np.random.default_rng(seed)
    adder = gradus.problems.load("add2")
    rows = rng.integers(0, 16, n)
    result = gradus.learn(adder.X[rows], adder.Y[rows], n_circuits=1, noise=0)
    rivals = with_rivals([result.network], *result._lesson)[1:]
    assert len(rivals) == N_RIVALS
    for rival in rivals:
        assert (rival.predict(adder.X[rows]) == adder.Y[rows]).all()
        assert rival.n_gates <= result.n_gates + MOST_MORE


def test_a_circuit_with_errors_has_no_rivals():
    X = np.repeat([[0, 1], [1, 0], [1, 1]], 20, axis=0)
    result = gradus.learn(X, [0] * 20 + [1] * 39 + [0], n_circuits=1)
    assert result.errors.sum() == 1
    assert len(with_rivals([result.network], *result._lesson)) == 1


def test_disputes_about_the_target_learned_first_count_most():
    # The first pair differs on two targets where x0 & x1, the second on one target where x2 & x3.
    some = circuits(4, [[(0, 0, 1), (0, 0, 1), (0, 2, 3)], [(8, 0, 1), (8, 0, 1), (8, 2, 3)]])
    assert disputed_patterns(some, 1)[0].all()
    first = disputed_patterns(circuits(4, [[(0, 0, 1), (0, 2, 3)], [(14, 0, 1), (8, 2, 3)]]), 4, order=(1, 0))
    assert first[:, 2:].all()


def test_one_circuit_is_disputed_by_its_rivals():
    adder = gradus.problems.load("add3")
    result = gradus.learn(adder.X[::5], adder.Y[::5], n_circuits=1, noise=0)
    rivals = with_rivals([result.network], *result._lesson)
    asked = result.next_examples(1)
    assert len({rival.predict(asked).tobytes() for rival in rivals}) > 1
