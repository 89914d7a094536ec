"""Circuits of a given size: no larger than asked for, and as good as any that a slow search finds."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gradus import Network
from gradus._circuit.gate_list import GateList
from gradus._core.run import Run
from gradus._lessons.packed_examples import pack_examples
from gradus._lessons.small_circuits import fit_small, trimmed


def size(network):
    """Gates that depend on two sources."""
    return sum(
        function not in (0, 3, 5, 10, 12, 15) and a != b
        for function, (a, b) in zip(network.functions.tolist(), network.sources.tolist(), strict=True)
    )


def fewest_errors_of_one_gate(X, y):
    """Try every gate on every pair of inputs."""
    best = min(y.sum(), len(y) - y.sum())
    for a, b in itertools.product(range(X.shape[1]), repeat=2):
        for function in range(16):
            best = min(best, int((Network(X.shape[1], [[a, b]], [X.shape[1]], [function]).predict(X)[:, 0] != y).sum()))
    return int(best)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_one_gate_is_as_good_as_the_best_of_all_and_more_gates_are_no_worse(seed):
    rng = np.random.default_rng(seed)
    X = rng.random((80, 5)) < 0.5
    y = (X[:, 0] & X[:, 1]) | (X[:, 2] & ~X[:, 3]) ^ (rng.random(80) < 0.1)
    found = fit_small(X, y[:, np.newaxis], (1, 3, 6), n_tries=3, seed=seed, run=Run())
    errors = [int((network.predict(X)[:, 0] != y).sum()) for network in found]
    assert errors[0] <= fewest_errors_of_one_gate(X, y) + 1  # a gate that hardly any example needs is left out
    assert errors == sorted(errors, reverse=True)
    assert all(size(network) <= most for network, most in zip(found, (1, 3, 6), strict=True))


def test_sizes_are_the_same_for_any_number_of_threads_and_unknown_labels_do_not_count():
    rng = np.random.default_rng(0)
    X = rng.random((200, 8)) < 0.5
    Y = np.column_stack([X[:, 0] ^ X[:, 1], X[:, 2] & X[:, 3]]).astype(float)
    Y[::3, 0] = np.nan
    one, two = (fit_small(X, Y, (2, 4), n_tries=3, seed=5, run=Run(n_jobs=n_jobs)) for n_jobs in (1, 2))
    assert one == two
    known = ~np.isnan(Y)
    assert (one[-1].predict(X)[known] == Y[known]).all()


def test_gates_that_correct_few_labels_are_left_out_and_others_stay():
    X = np.array(list(itertools.product((False, True), repeat=3)) * 20)
    y = X[:, 0] & X[:, 1]
    rare = y.copy()
    rare[0] = ~rare[0]
    examples = pack_examples(X, rare[:, np.newaxis], np.ones((len(X), 1), dtype=bool))
    circuit = GateList(3, np.array([8, 6], np.uint8), np.array([[0, 1], [3, 2]]), np.array([3]))
    assert len(trimmed(circuit, examples, 1).functions) == 1
    assert len(trimmed(circuit, examples, len(X)).functions) <= 1


def test_a_stop_leaves_out_the_sizes_that_were_not_begun():
    X = np.random.default_rng(0).random((60, 4)) < 0.5
    assert fit_small(X, X[:, :1], (1, 2, 3), n_tries=2, seed=0, run=Run(0.0)) == []
