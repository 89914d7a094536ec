"""Small sets of nodes that decide a target: hints, sets and tables against slow twins, and what lessons make of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lesson_cases import cases, evaluate, learner
from naive_feature_sets import decides, minimum_size, size_from_hints, strongest_parities
from naive_lessons import node_values

from gradus import learn, problems
from gradus._circuit.gate_list import GateList, cleaned, select_outputs
from gradus._core.bits import pack, unpack
from gradus._core.run import Run
from gradus._lessons.description import Lengths, Solution
from gradus._lessons.kernel.feature_sets import HINT_NODES, MAX_SET, Hints, collect_hints, decided_nodes, smallest_set
from gradus._lessons.next_target import FeatureSets
from gradus._lessons.packed_examples import pack_examples
from gradus._lessons.table_lesson import TableLessons, join
from gradus._lessons.walks import LessonSettings

N_HINTS = 5


@st.composite
def tables(draw):
    """Values of some nodes and labels, of which 2 is unknown: random, or a function of a few of the nodes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, n_nodes = draw(st.sampled_from((1, 2, 20, 63, 64, 65, 90))), draw(st.integers(1, 9))
    bits = rng.random((n, n_nodes)) < rng.choice([0.3, 0.5])
    chosen = rng.choice(n_nodes, min(n_nodes, draw(st.integers(0, 5))), replace=False)
    function = rng.random(1 << len(chosen)) < 0.5
    labels = function[bits[:, chosen] @ (1 << np.arange(len(chosen)))].astype(np.uint8)
    if draw(st.booleans()):
        labels ^= (rng.random(n) < 0.1).astype(np.uint8)
    labels[rng.random(n) < draw(st.sampled_from([0.0, 0.3, 1.0]))] = 2
    return bits, labels


def new_hints(count=N_HINTS):
    return Hints(np.zeros((count, HINT_NODES), np.int64), np.full(count, -1))


def columns_of(bits):
    """Columns as the hints are taken from: word by word, and the first without ones."""
    return np.ascontiguousarray(np.vstack([np.zeros((1, pack(bits).shape[1]), np.uint64), pack(bits)]).T)


def meet(bits, labels, hints, ranges, most_paired):
    target, known = pack((labels == 1)[:, np.newaxis])[0], pack((labels != 2)[:, np.newaxis])[0]
    for first, end in ranges:
        collect_hints(columns_of(bits[:, : end - 1]), target, known, first, end, most_paired, hints)
    return [pair for pair in zip(hints.strengths.tolist(), map(tuple, hints.nodes.tolist()), strict=True) if pair[0] >= 0]


@given(tables(), st.integers(1, 11), st.data())
def test_hints_are_the_strongest_parities_however_the_nodes_arrive(table, most_paired, data):
    bits, labels = table
    end = bits.shape[1] + 1
    between = data.draw(st.integers(1, end))
    at_once = meet(bits, labels, new_hints(), [(1, end)], most_paired)
    assert at_once == strongest_parities(bits, labels, N_HINTS, most_paired)
    assert meet(bits, labels, new_hints(), [(1, between), (between, end)], most_paired) == at_once


@given(tables(), st.integers(0, MAX_SET))
def test_a_set_decides_the_labels_and_is_as_small_as_any_that_two_nodes_complete(table, limit):
    bits, labels = table
    hints = new_hints()
    meet(bits, labels, hints, [(1, bits.shape[1] + 1)], 100)
    hints = hints.nodes[hints.strengths >= 0]
    best = np.zeros(MAX_SET, np.int64)
    size = smallest_set(pack(bits.T), labels, hints, limit, best)
    by_hints = size_from_hints(bits, labels, [[node - 1 for node in hint if node] for hint in hints.tolist()], limit)
    assert minimum_size(bits, labels, limit) <= size <= by_hints
    if size <= limit:
        assert len(set(best[:size].tolist())) == size
        assert decides(bits, labels, best[:size].tolist())


def test_no_set_is_returned_for_equal_rows_with_different_labels():
    rows = pack(np.array([[1, 0, 1], [1, 0, 1], [0, 1, 1]], dtype=bool).T)
    best = np.zeros(MAX_SET, np.int64)
    assert smallest_set(rows, np.array([0, 1, 1], np.uint8), np.zeros((0, HINT_NODES), np.int64), 3, best) == 4
    assert smallest_set(rows, np.array([0, 2, 1], np.uint8), np.zeros((0, HINT_NODES), np.int64), 3, best) == 1


def test_more_pairs_than_are_held_are_all_told_apart():
    """A label that differs from a parity of three on two of 600 rows needs the two nodes that mark these rows."""
    rng = np.random.default_rng(0)
    bits = rng.random((600, 40)) < 0.5
    bits[:, 20:22] = False
    bits[[11, 577], [20, 21]] = True
    labels = np.bitwise_xor.reduce(bits[:, [3, 4, 5, 20, 21]], axis=1).astype(np.uint8)
    best = np.zeros(MAX_SET, np.int64)
    assert smallest_set(pack(bits.T), labels, np.array([[4, 5, 6]]), 5, best) == 5
    assert sorted(best[:5].tolist()) == [3, 4, 5, 20, 21]


@given(tables())
def test_nodes_that_a_set_decides_have_one_value_in_each_cell(table):
    bits, _ = table
    _, firsts, cells = np.unique(bits[:, ::2], axis=0, return_index=True, return_inverse=True)
    decided = unpack(decided_nodes(pack(bits.T), cells.reshape(-1), firsts)[np.newaxis], bits.shape[1])[:, 0]
    chosen = range(0, bits.shape[1], 2)
    assert decided.tolist() == [decides(bits, bits[:, node].astype(np.uint8), chosen) for node in range(bits.shape[1])]


def feature_sets(X, Y, known):
    examples = pack_examples(X, Y & known, known)
    return FeatureSets(examples, Lengths(examples, False, "auto"), Run())


def first_gates(circuit, count):
    """The circuit of the first gates, all of which are outputs."""
    nodes = np.arange(circuit.n_inputs + count)
    return circuit._replace(functions=circuit.functions[:count], sources=circuit.sources[:count], outputs=nodes)


@given(cases(max_gates=12), st.data())
def test_sets_that_are_asked_for_as_gates_arrive_are_no_larger_than_those_of_the_whole_circuit(case, data):
    circuit, X, Y, known = case
    growing, whole = feature_sets(X, Y, known), feature_sets(X, Y, known)
    places = [0, *sorted(data.draw(st.lists(st.integers(0, len(circuit.functions)), max_size=3))), len(circuit.functions)]
    sizes = [MAX_SET + 1] * Y.shape[1]
    for place in places:
        growing.read(first_gates(circuit, place))
        asked = [growing._ask(column, MAX_SET) for column in range(Y.shape[1])]
        assert all(size <= before for size, before in zip(asked, sizes, strict=True))
        sizes = asked
    whole.read(first_gates(circuit, len(circuit.functions)))
    for column, size in enumerate(sizes):
        assert size <= whole._ask(column, MAX_SET)
        assert growing._hints[column].nodes.tolist() == whole._hints[column].nodes.tolist()
        assert growing._hints[column].strengths.tolist() == whole._hints[column].strengths.tolist()


@given(cases(max_gates=12))
def test_a_table_has_the_labels_and_the_values_of_its_nodes(case):
    circuit, X, Y, known = case
    sets = feature_sets(X, Y, known)
    sets.read(circuit)
    every = np.array([node_values(circuit, row) for row in X], dtype=bool)
    for column in range(Y.shape[1]):
        if not 0 < sets._ask(column, MAX_SET) <= MAX_SET:
            continue
        examples, nodes = sets.table(column)
        size = sets.size(column)
        assert examples.n_examples == len(np.unique(every[known[:, column]][:, nodes[:size]], axis=0)) <= 1 << size
        table = {}
        for row, label in zip(unpack(examples.inputs, examples.n_examples), unpack(examples.targets, 99)[:, 0], strict=False):
            table[tuple(row)] = label
        for row in np.flatnonzero(known[:, column]):
            assert table[tuple(every[row, nodes])] == Y[row, column]


def test_if_nodes_are_gone_sets_are_found_anew():
    X = (np.arange(16)[:, np.newaxis] >> np.arange(4) & 1).astype(bool)
    Y = np.column_stack([X[:, 0] ^ X[:, 1] ^ X[:, 2]])
    sets = feature_sets(X, Y, np.ones_like(Y))
    plain = GateList(4, np.zeros(0, np.uint8), np.zeros((0, 2), np.int64), np.arange(4))
    sets.read(plain._replace(functions=np.array([9], np.uint8), sources=np.array([[0, 1]]), outputs=np.arange(5)))
    assert (sets._ask(0, MAX_SET), sets._sets[0]) == (2, (2, 4))
    sets.read(plain)
    assert sets.size(0) == MAX_SET + 1
    assert (sets._ask(0, MAX_SET), sorted(sets._sets[0])) == (3, [0, 1, 2])


@given(cases(), st.data())
def test_a_joined_circuit_computes_what_its_part_computes_of_its_nodes(case, data):
    circuit, X, _, _ = case
    n_nodes = circuit.n_inputs + len(circuit.functions)
    part = data.draw(cases(masked=False))[0]
    nodes = data.draw(st.lists(st.integers(0, n_nodes - 1), min_size=part.n_inputs, max_size=part.n_inputs))
    joined = join(circuit, part, nodes)
    every = np.array([node_values(circuit, row) for row in X], dtype=bool)
    expected = np.hstack([evaluate(circuit, X), evaluate(part, every[:, nodes])])
    assert (evaluate(joined, X) == expected).all()
    assert (evaluate(cleaned(joined), X) == expected).all()


def adder(k, n, seed):
    """Rows of k-bit addition, targets shuffled, training and others, and the order of the columns that adds bit by bit."""
    problem, rng = problems.load(f"add{k}"), np.random.default_rng(seed)
    X, T = rng.random((n, 2 * k)) < 0.5, rng.random((500, 2 * k)) < 0.5
    columns = rng.permutation(k)
    return X, problem.evaluate(X)[:, columns], T, problem.evaluate(T)[:, columns], tuple(np.argsort(columns).tolist())


def test_wide_addition_is_learned_bit_by_bit_with_hardly_more_gates_than_it_needs():
    X, Y, T, U, order = adder(16, 200, 5)
    result = learn(X, Y, n_circuits=1)
    assert result.order == order
    assert result.converged
    assert (result.predict(T) == U).all()
    assert result.n_gates <= 76  # 74 are needed


class StopsAfter(Run):
    """A run that stops when it is asked for the n-th time."""

    def __init__(self, n):
        super().__init__()
        self.left = n

    def stop(self, *arguments, **options):
        self.left -= 1
        return super().stop(*arguments, **options) or self.left <= 0

    @property
    def stopped(self):
        return "callback" if self.left <= 0 else None


@pytest.mark.parametrize("n", [1, 2, 9, 40, 120, 300])
def test_many_targets_stopped_anywhere_leave_a_circuit_that_says_its_errors(n):
    X, Y, *_ = adder(16, 200, 5)
    result = learner(X, Y, StopsAfter(n)).learn()
    assert sorted(result.order) == list(range(16))
    wrong = (evaluate(result.solution.circuit, X) != Y).sum(axis=0)
    assert result.solution.errors.tolist() == wrong.tolist()


@pytest.mark.parametrize("settings", [{"gates": "nand"}, {"order": "random", "seed": 2}])
def test_many_targets_are_learned_with_other_gates_and_in_other_orders(settings):
    X = np.random.default_rng(3).random((100, 10)) < 0.5
    Y = np.column_stack([X[:, k] & X[:, (k + 3) % 10] for k in range(10)] + [np.ones(100, bool)])
    T = np.random.default_rng(4).random((100, 10)) < 0.5
    result = learn(X, Y, n_circuits=1, noise=0, **settings)
    assert result.converged
    assert (result.predict(T)[:, :10] == np.column_stack([T[:, k] & T[:, (k + 3) % 10] for k in range(10)])).all()


def test_many_targets_are_the_same_in_threads():
    X, Y, *_ = adder(10, 150, 1)
    first, second = learn(X, Y, n_circuits=1), learn(X, Y, n_circuits=1, n_jobs=2)
    assert first.circuits == second.circuits
    assert first.order == second.order


def test_sets_of_labels_without_structure_are_not_believed():
    rng = np.random.default_rng(8)
    X, Y = rng.random((24, 12)) < 0.5, rng.random((24, 10)) < 0.5
    sets = feature_sets(X, Y, np.ones_like(Y))
    sets.read(GateList(12, np.zeros(0, np.uint8), np.zeros((0, 2), np.int64), np.arange(12)))
    assert sets.easiest(list(range(10))) == []
    assert min(map(sets.size, range(10))) <= MAX_SET  # there are sets, but they are chance


def test_a_lesson_without_a_set_goes_to_the_walks():
    """Each target is a parity of eight columns that share no gates: no set of at most six nodes decides it."""
    X = np.random.default_rng(2).random((300, 12)) < 0.5
    Y = np.column_stack([np.bitwise_xor.reduce(np.delete(X, [k, k + 1, k + 2, k + 3], axis=1), axis=1) for k in range(9)])
    own = learner(X, Y)
    assert own._tables is not None
    assert own._table_lesson() is None


def test_after_a_stop_no_lesson_is_made_of_a_set():
    X, Y, *_ = adder(10, 100, 1)
    result = learner(X, Y, Run(time_limit=0)).learn()
    assert sorted(result.order) == list(range(10))
    lessons = TableLessons(pack_examples(X, Y, np.ones_like(Y)), learner(X, Y).lengths, LessonSettings(), Run(time_limit=0))
    assert lessons.candidates(select_outputs(result.solution.circuit, [0]), [0, 1]) == []


def test_a_lesson_keeps_what_was_learned_and_adds_few_gates():
    X, Y, _, _, order = adder(10, 150, 4)
    own = learner(X, Y)
    for done in range(4):
        before = own.solution
        own._lesson()
        assert isinstance(own.solution, Solution)
        assert own.solution.columns == [*before.columns, order[done]]
        assert own.solution.n_gates <= before.n_gates + 6
        assert (evaluate(own.solution.circuit, X) == Y[:, own.solution.columns]).all()
