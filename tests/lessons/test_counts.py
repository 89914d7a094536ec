"""Parities and counts: found exactly, priced as what they are, and built of gates that compute the same."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lesson_cases import learner
from naive_counts import (
    all_parities,
    bits_of_cells,
    cells_of,
    cheapest_table,
    least_errors_of_threshold,
    log2_choose,
    value_of,
)

from gradus import learn, problems
from gradus._circuit.gate_list import GateTable, cleaned
from gradus._circuit.network import network_of
from gradus._circuit.weighted_counts import WeightedCount
from gradus._core.run import Run
from gradus._lessons.best_ensemble import learn_circuits
from gradus._lessons.counts import PLAIN, WEIGHTS, choose_bits, fitted_table, log_factorials, price_of_sum, price_of_table
from gradus._lessons.description import BIT, Lengths, Solution, error_table
from gradus._lessons.further_inputs import expanded, further_price
from gradus._lessons.kernel.count_walk import adjust_weights, new_walk, tally
from gradus._lessons.offers import find_further_inputs, offered
from gradus._lessons.packed_examples import pack_examples
from gradus._lessons.parities import find_parity, with_parity
from gradus._lessons.walks import LessonSettings


@st.composite
def labelled_rows(draw, most_rows=40, most_columns=6):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = draw(st.integers(1, most_rows)), draw(st.integers(1, most_columns))
    return rng.random(shape) < rng.choice([0.2, 0.5]), rng.random(shape[0]) < rng.choice([0.3, 0.5]), rng


@st.composite
def weighted_counts(draw, most_columns=7):
    size = draw(st.integers(1, most_columns))
    columns = tuple(sorted(draw(st.sets(st.integers(0, 8), min_size=size, max_size=size))))
    weights = tuple(draw(st.lists(st.sampled_from([w for w in WEIGHTS if w]), min_size=size, max_size=size)))
    if draw(st.booleans()):
        weights = tuple(1 if weight > 0 else -1 for weight in weights)
    length = sum(map(abs, weights)) + 1
    return WeightedCount(columns, weights, tuple(draw(st.lists(st.booleans(), min_size=length, max_size=length))))


@settings(max_examples=60)
@given(labelled_rows(), st.booleans(), st.data())
def test_a_parity_is_solved_exactly_where_the_rows_determine_it_and_never_where_they_do_not(case, is_parity, data):
    X, y, rng = case
    if is_parity:
        y = np.bitwise_xor.reduce(X[:, rng.random(X.shape[1]) < 0.5], axis=1) ^ data.draw(st.booleans())
    solutions = all_parities(X, y)
    parity = find_parity(X, y, 0, 0)
    if len(solutions) == 1 and len(X) > X.shape[1] + 1:
        assert (parity.columns, parity.inverted, parity.errors) == (*solutions[0], 0)
    else:
        assert parity is None


@pytest.mark.parametrize(("n_rows", "n_columns", "size"), [(64, 10, 7), (90, 65, 5), (200, 130, 4), (300, 70, 60)])
def test_a_parity_among_many_columns_is_found_from_few_rows(n_rows, n_columns, size):
    rng = np.random.default_rng(n_columns)
    X = rng.random((n_rows, n_columns)) < 0.5
    columns = tuple(np.sort(rng.choice(n_columns, size, replace=False)).tolist())
    y = ~np.bitwise_xor.reduce(X[:, columns], axis=1)
    assert find_parity(X, y, 0, 0) == (columns, True, 0)


def test_wrong_labels_do_not_hide_a_small_parity():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.random((100, 64)) < 0.5
        columns = tuple(np.sort(rng.choice(64, 5, replace=False)).tolist())
        wrong = rng.random(100) < 0.05
        parity = find_parity(X, np.bitwise_xor.reduce(X[:, columns], axis=1) ^ wrong, seed, 12)
        assert parity == (columns, False, wrong.sum())


@settings(max_examples=80)
@given(weighted_counts())
def test_a_count_and_its_gates_compute_what_counting_row_by_row_does(count):
    X = np.random.default_rng(0).random((70, 9)) < 0.5
    X[:2] = [[False] * 9, [True] * 9]
    expected = [value_of(*count, row) for row in X]
    assert count.predict(X).tolist() == expected
    gates = GateTable(9)
    network = network_of(cleaned(gates.circuit([count.built(gates, [(k, False) for k in range(9)])])))
    assert network.predict(X)[:, 0].tolist() == expected


def test_gates_of_counts_are_few():
    sizes = []
    majority = WeightedCount(tuple(range(9)), (1,) * 9, (False,) * 5 + (True,) * 5)
    parity = WeightedCount(tuple(range(16)), (1,) * 16, tuple(k % 2 == 1 for k in range(17)))
    less = WeightedCount(tuple(range(10)), (1, 2, 4, 8, 16, -1, -2, -4, -8, -16), (False,) * 32 + (True,) * 31)
    for count in (majority, parity, less):
        gates = GateTable(16)
        circuit = cleaned(gates.circuit([count.built(gates, [(k, False) for k in range(16)])]))
        sizes.append(len(circuit.functions))
    assert sizes[0] <= 40  # seven adders of five gates
    assert sizes[1] == 15
    assert sizes[2] <= 20  # a chain of carries


@settings(max_examples=60)
@given(labelled_rows(most_columns=5), st.booleans(), st.data())
def test_changes_of_weights_are_priced_as_counting_row_by_row_does(case, threshold, data):
    X, y, _ = case
    n, n_columns = X.shape
    allowed = np.array(WEIGHTS if threshold else PLAIN, dtype=np.int64)
    weights = np.array(
        data.draw(st.lists(st.sampled_from(allowed.tolist()), min_size=n_columns, max_size=n_columns)), np.int64
    )
    prices = BIT * np.arange(n_columns + 1, dtype=np.int64)
    columns, labels = np.ascontiguousarray(X.T).view(np.uint8), y.astype(np.uint8)

    def price(weights):
        cells = cells_of(X, y, weights)
        if threshold:
            errors = least_errors_of_threshold(cells)
            return log2_choose(n, errors) + 10 + np.count_nonzero(weights)
        return bits_of_cells(cells) + np.count_nonzero(weights)

    assert np.array_equal(tally(columns, labels, weights), cells_of(X, y, weights))
    before = price(weights.tolist())
    table = log_factorials(n + 2)
    walk = new_walk(columns, labels, weights.copy(), allowed, table, prices, threshold)
    assert adjust_weights(walk, 0, 0) / BIT == pytest.approx(before, abs=0.05)
    after = adjust_weights(walk, 10_000_000, 10_000_000)
    assert after / BIT == pytest.approx(price(walk.weights.tolist()), abs=0.05)
    assert after / BIT <= before + 0.05
    for column, weight in itertools.product(range(n_columns), allowed.tolist()):  # no other single weight is better
        other = walk.weights.copy()
        other[column] = weight
        assert n_columns == 1 or price(other.tolist()) >= after / BIT - 0.05


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=8))
def test_the_table_of_a_count_is_priced_with_its_errors_and_nearly_the_cheapest(cells):
    cells = np.array([[1, 0], *cells], dtype=np.int64)
    errors_price = error_table(int(cells.sum()))
    table, errors, price = fitted_table(cells, errors_price)
    assert errors == sum(cell[1 - value] for cell, value in zip(cells.tolist(), table, strict=True))
    changes = sum(a != b for a, b in itertools.pairwise(table))
    assert price == price_of_table(len(cells), changes) + errors_price[errors]
    best = cheapest_table(cells, errors_price)
    assert price / BIT >= best - 0.01
    assert price / BIT <= best + 8
    if not cells.min(axis=1).any() and cells.max() > 2 and changes <= 1:
        assert price / BIT <= best + 0.01


@given(st.integers(1, 60), st.data())
def test_prices_are_those_of_choosing(n, data):
    k = data.draw(st.integers(1, n))
    assert choose_bits(n, k) == pytest.approx(BIT * log2_choose(n, k), abs=1)
    plain = price_of_sum(n, (1,) * k)
    assert plain == pytest.approx(BIT * (np.log2(n) + log2_choose(n, k) + k + 1), abs=2)
    assert price_of_sum(n, (1,) * (k - 1) + (2,)) > plain


def examples_of(name, size, number):
    problem = problems.load(name)
    train, test = problem.sample(size, number)
    (X, Y), rest = problem.rows(train), problem.rows(test)
    return X, Y, pack_examples(X, Y, np.ones_like(Y)), rest


def test_a_circuit_pays_for_the_further_inputs_that_it_reads_and_once_for_each_sum():
    X, Y, examples, _ = examples_of("popcount7", 64, 3)
    further = find_further_inputs(examples, "auto", 0, Run())
    more = offered(examples, further)
    assert len(further) == 3
    for place, entry in enumerate(further):
        assert np.array_equal(entry.function.predict(X), Y[:, entry.target])
        circuit = cleaned(GateTable(7 + len(further)).circuit([(7 + place, False)]))
        assert further_price(circuit, further) == entry.sum_price + entry.table_price
        assert np.array_equal(network_of(expanded(circuit, further)).predict(X)[:, 0], Y[:, entry.target])
    whole = cleaned(GateTable(7 + len(further)).circuit([(7 + place, False) for place in range(len(further))]))
    sums = {entry.group: entry.sum_price for entry in further}
    price = sum(entry.table_price for entry in further) + sum(sums.values())
    assert len(sums) == 2  # the parity is cheaper by itself
    solution = Solution(whole, [entry.target for entry in further], np.zeros(3, np.int64))
    assert Lengths(more, False, "auto").whole(solution) == price


@pytest.mark.parametrize(("name", "size"), [("sym9", 128), ("cmaj9", 96), ("popcount7", 64), ("sorter5", 24)])
def test_counts_are_learned_from_few_examples(name, size):
    X, Y, _, (T, U) = examples_of(name, size, 5)
    for gates in ("any", "nand"):
        result = learn(X, Y, gates=gates)
        assert (result.predict(T) == U).mean() > 0.95
        assert gates == "any" or set(result.network.functions.tolist()) <= {7, 0, 15}


def test_a_parity_of_nodes_with_the_label_is_found():
    """The second target is a parity of inputs and of the first target, which no set of inputs alone shows."""
    rng = np.random.default_rng(4)
    X, T = (rng.random((n, 14)) < 0.5 for n in (120, 500))

    def targets(X):
        both = (X[:, 0] & X[:, 1]) | X[:, 2]
        return np.stack([both, both ^ np.bitwise_xor.reduce(X[:, 4:13], axis=1)], axis=1)

    circuit = learner(X, targets(X)[:, :1]).learn().solution
    examples = pack_examples(X, targets(X), np.ones((120, 2), dtype=np.bool_))
    solution = with_parity(circuit, 1, examples)
    assert solution.columns == [0, 1]
    assert np.array_equal(network_of(solution.circuit).predict(T), targets(T))
    assert with_parity(circuit, 1, examples._replace(targets=examples.targets ^ np.uint64(1))) is None
    assert np.array_equal(learn(X, targets(X)).predict(T), targets(T))


def test_a_parity_with_unknown_and_wrong_labels_is_learned():
    rng = np.random.default_rng(2)
    X, T = rng.random((80, 9)) < 0.5, rng.random((500, 9)) < 0.5
    Y = (np.bitwise_xor.reduce(X[:, 2:8], axis=1) ^ (rng.random(80) < 0.05)).astype(float)
    Y[rng.random(80) < 0.1] = np.nan
    assert np.array_equal(learn(X, Y).predict(T)[:, 0], np.bitwise_xor.reduce(T[:, 2:8], axis=1))


def test_no_exact_circuit_is_built_around_a_parity_that_explains_more_with_its_errors():
    """Seven or eight wrong labels among a hundred look like gates at first: the parity is then learned with errors allowed."""
    rng = np.random.default_rng(7)
    X, T = rng.random((100, 64)) < 0.5, rng.random((500, 64)) < 0.5
    parity, others = np.bitwise_xor.reduce(X[:, 20:25], axis=1), np.bitwise_xor.reduce(T[:, 20:25], axis=1)
    for n_wrong in (7, 8, 9):
        wrong = np.isin(np.arange(100), rng.permutation(100)[:n_wrong])
        result = learn(X, parity ^ wrong)
        assert np.array_equal(result.predict(T)[:, 0], others)
        assert result.wrong_rows[0].tolist() == np.flatnonzero(wrong).tolist()


def test_labels_drawn_at_random_offer_nothing_and_stay_constants():
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, Y = rng.random((200, 10)) < 0.5, rng.random((200, 3)) < [0.2, 0.5, 0.7]
        assert find_further_inputs(pack_examples(X, Y, np.ones_like(Y)), "auto", 0, Run()) == []
    assert learn(X, Y).constant.all()


def test_circuits_that_counts_do_not_shorten_are_learned_as_without_them():
    """Further inputs are offered, and not taken, where a circuit of gates is shorter."""
    X, Y, examples, _ = examples_of("add4", 64, 1)
    assert find_further_inputs(examples, "auto", 0, Run())  # the lowest digit is a parity
    ensemble, read = learn_circuits(examples, LessonSettings(), 0, Run(), 1)
    assert read is examples
    alone = learner(X, Y, exact=None).learn()
    assert ensemble.ranked()[0][0].length == alone.length


def test_a_stopped_run_still_has_a_circuit():
    X, Y, *_ = examples_of("cmaj9", 64, 1)
    result = learn(X, Y, time_limit=0)
    assert result.stopped == "time_limit"
    assert result.predict(X).shape == Y.shape
