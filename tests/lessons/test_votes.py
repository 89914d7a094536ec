"""Votes: their circuit, the posterior of simple functions, and labels that say little."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lesson_cases import cases
from naive_votes import posterior_leaning, vote_of_row

import gradus
from gradus._circuit.network import network_of
from gradus._lessons.description import Lengths
from gradus._lessons.leanings import PARITY_MARGIN, Known, _agreement, _Posterior, best_parity, leaning_vote
from gradus._lessons.packed_examples import pack_examples
from gradus._lessons.voting import WeightedVote, joined, majority, rounded_vote


@given(st.data())
def test_the_circuit_of_a_vote_says_what_the_vote_says(data):
    circuits = [data.draw(cases(masked=False))[0]]
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    n_inputs, n_outputs = circuits[0].n_inputs, len(circuits[0].outputs)
    # Neighbours: the same circuit with other functions, which shares gates and has constants.
    for _ in range(data.draw(st.integers(0, 4))):
        functions = np.where(rng.random(len(circuits[0].functions)) < 0.3, rng.integers(16), circuits[0].functions)
        circuits.append(circuits[0]._replace(functions=functions.astype(np.uint8)))
    networks = [network_of(circuit) for circuit in circuits]
    votes = []
    for _ in range(n_outputs):
        pairs = [tuple(sorted(rng.choice(n_inputs, 2, replace=False).tolist()))] if n_inputs > 1 else []
        parities = {columns: float(rng.normal()) for columns in [(0,), *pairs]}
        weights = rng.normal(size=len(circuits)).tolist()
        votes.append(rounded_vote(float(rng.normal()), parities, weights, int(rng.choice([1, 3, 15]))))
    votes[0] = majority(len(networks)) if rng.random() < 0.5 else votes[0]
    X = np.array(list(np.ndindex(*[2] * n_inputs)), dtype=bool)
    said = np.stack([network.predict(X) for network in networks], axis=2)
    predicted = network_of(joined(networks, votes)).predict(X)
    for k, vote in enumerate(votes):
        sums = [vote_of_row(vote, row, outputs) for row, outputs in zip(X.tolist(), said[:, k].tolist(), strict=True)]
        assert vote.sums(X, said[:, k]).tolist() == sums
        assert all(total % 2 for total in sums)
        assert predicted[:, k].tolist() == [total > 0 for total in sums]


@pytest.mark.parametrize("n_circuits", [1, 2, 3, 4, 9])
def test_a_majority_is_that_of_the_circuits_and_the_first_decides_ties(n_circuits):
    said = np.array(list(np.ndindex(*[2] * n_circuits)), dtype=bool)
    share = said.mean(axis=1)
    expected = np.where(share == 0.5, said[:, 0], share > 0.5)
    assert (majority(n_circuits).sums(np.zeros((len(said), 1), bool), said) > 0).tolist() == expected.tolist()


@given(st.integers(0, 2**32), st.sampled_from([1, 2, 5, 64]), st.integers(1, 4), st.sampled_from(["auto", 0.2]))
def test_the_posterior_is_that_of_every_function_by_itself(seed, n, n_columns, noise):
    rng = np.random.default_rng(seed)
    X, y, outputs = rng.random((n, n_columns)) < 0.5, rng.random(n) < rng.choice([0.1, 0.5]), rng.random((n, 2)) < 0.5
    known, prices = Known(X, y, noise), rng.integers(0, 20_000, 2).tolist()
    weighed = _Posterior(known, _agreement(X, y), np.where(outputs.T, 1.0, -1.0) @ np.where(y, 1.0, -1.0), prices)
    rows, row_outputs = rng.random((6, n_columns)) < 0.5, rng.random((6, 2)) < 0.5
    s, o = np.where(rows, 1.0, -1.0), np.where(row_outputs, 1.0, -1.0)
    # The exclusive or of two columns is true where their signs differ.
    pairs = -np.einsum("ri,ij,rj->r", s, weighed.pairs, s)
    found = weighed.constant + s @ weighed.columns + pairs + o @ weighed.circuits
    assert found == pytest.approx(posterior_leaning(X, y, noise, outputs, prices, rows, row_outputs))
    vote = leaning_vote(known, outputs, prices)
    largest = max(map(abs, (vote.constant, *vote.circuits, *(weight for _, weight in vote.parities))))
    assert largest in (14, 15, 16)  # the constant may be one more or less, so that there are no ties


@given(st.integers(0, 2**32), st.sampled_from([1, 2, 65]), st.integers(1, 5))
def test_the_best_parity_of_two_columns_has_the_fewest_errors(seed, n, n_columns):
    rng = np.random.default_rng(seed)
    X, y = rng.random((n, n_columns)) < 0.5, rng.random(n) < 0.5
    found = best_parity(Known(X, y, "auto"))
    if n_columns < 2:
        assert found is None
        return
    errors = [((X[:, i] ^ X[:, j] ^ c) != y).sum() for i in range(n_columns) for j in range(i) for c in (False, True)]
    i, j = found.columns
    assert found.errors == min(errors) == ((X[:, i] ^ X[:, j] ^ found.inverted) != y).sum()


def noisy_parity(seed, n, share):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 12)) < 0.5
    a, b = rng.choice(12, 2, replace=False)
    rows = rng.random((2000, 12)) < 0.5
    return X, (X[:, a] ^ X[:, b]) ^ (rng.random(n) < share), rows, rows[:, [a]] ^ rows[:, [b]]


def test_an_exclusive_or_with_40_percent_of_the_labels_flipped_is_leant_to_and_found_from_more_rows():
    """Over ten sets of 200 rows the vote gains; no circuit is believed that is not shorter by a margin."""
    gains = []
    for seed in range(10):
        X, y, rows, truth = noisy_parity(seed, 200, 0.4)
        result = gradus.learn(X, y)
        assert result.constant.all() or result.n_gates == 1
        gains.append((result.predict(rows) == truth).mean() - 0.5)
        assert (result.voting_network().predict(rows) == result.predict(rows)).all()
        assert ((result.predict_proba(rows) > 0.5) == result.predict(rows)).all()
    assert np.mean(gains) > 0.03
    X, y, rows, truth = noisy_parity(0, 1000, 0.4)
    result = gradus.learn(X, y)
    assert result.n_gates == 1
    assert (result.network.predict(rows) == truth).all()
    assert (result.predict(rows) == truth).all()


def test_a_constant_among_several_targets_becomes_a_parity_if_that_is_shorter_by_a_margin():
    X, y, _, _ = noisy_parity(3, 1000, 0.38)
    Y = np.column_stack([X[:, 0], y, np.random.default_rng(0).random(1000) < 0.5])
    result = gradus.learn(X, Y)
    assert result.constant.tolist() == [False, False, True]
    assert result.errors.tolist() == [int(count) for count in (result.network.predict(X) != Y).sum(axis=0)]
    examples = pack_examples(X, Y, np.ones_like(Y))
    lengths = Lengths(examples, False, "auto")
    parity = best_parity(Known(X, y, "auto"))
    assert parity.length + PARITY_MARGIN < lengths.labels(1)
    assert parity.errors >= result.errors[1]


def test_labels_without_a_rule_stay_constants_however_many_gates_would_fit_them():
    """From 12 columns 200 random labels are learned without an error by some fifty gates; that is noise all the same."""
    for seed in (70006, 70007):
        rng = np.random.default_rng(seed)
        X, y = rng.random((200, 12)) < 0.5, rng.random((200, 1)) < 0.5
        result = gradus.learn(X, y)
        assert result.constant.all()
        assert result.n_gates == 0


def test_with_one_circuit_there_is_no_vote_and_without_errors_no_leaning():
    X, y, rows, _ = noisy_parity(1, 200, 0.4)
    one = gradus.learn(X, y, n_circuits=1)
    assert one.leanings == (None,)
    assert (one.predict(rows) == one.network.predict(rows)).all()
    assert one.voting_network() == one.network.prune()
    exact = gradus.learn(X[:20], X[:20, 0] & X[:20, 1], noise=0)
    assert exact.leanings == (None,)


def test_a_vote_of_nand_circuits_keeps_names_and_becomes_nands():
    table = gradus.problems.load("popcount7")
    X, Y = table.X[::5], table.Y[::5]
    result = gradus.learn(X, Y, gates="nand", n_circuits=3, n_tries=1)
    voting = result.voting_network()
    assert voting.output_names == result.network.output_names
    rewritten = voting.to_nand()
    assert (rewritten.functions == 7).all()
    assert (rewritten.predict(table.X) == result.predict(table.X)).all()


def test_leanings_are_the_same_in_threads():
    X, y, rows, _ = noisy_parity(2, 200, 0.4)
    first, second = (gradus.learn(X, y, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert first.leanings == second.leanings
    assert isinstance(first.leanings[0], WeightedVote)
    assert (first.predict(rows) == second.predict(rows)).all()


def test_labels_as_often_1_as_0_on_equal_rows_are_as_probable():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 2)
    result = gradus.learn(X, [0] * 4 + [1] * 4)
    assert result.predict_proba(X)[:, 0].tolist() == [0.5] * 8
    assert (result.voting_network().predict(X) == result.predict(X)).all()
