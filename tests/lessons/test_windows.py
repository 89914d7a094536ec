"""Windows of large circuits: cutting and replacing them, and that they only ever make a circuit smaller."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from lesson_cases import cases, evaluate, packed
from naive_lessons import node_values, outputs

from gradus import problems
from gradus._circuit.gate_list import GateList, cleaned
from gradus._circuit.network import network_of
from gradus._core.run import Run
from gradus._lessons.description import Solution
from gradus._lessons.packed_examples import pack_examples
from gradus._lessons.walks import LessonSettings
from gradus._lessons.windows import GATES, Windows, cut_window, replace_window


def places(data, circuit):
    """The first gate of a window, and the gate after its last."""
    first = data.draw(st.integers(0, len(circuit.functions) - 1))
    return first, data.draw(st.integers(first + 1, len(circuit.functions)))


@given(cases(max_gates=12), st.data())
def test_a_window_computes_the_nodes_that_are_read_from_those_that_it_reads(case, data):
    circuit, X, _, _ = case
    part, leaves, ends = cut_window(circuit, *places(data, circuit))
    every = np.array([node_values(circuit, row) for row in X], dtype=bool)
    if len(ends):
        assert (outputs(part, every[:, leaves]) == every[:, ends]).all()


@given(cases(max_gates=12), st.data())
def test_a_window_can_be_replaced_by_any_circuit_that_computes_the_same(case, data):
    circuit, X, _, _ = case
    first, end = places(data, circuit)
    part, leaves, ends = cut_window(circuit, first, end)
    if not len(ends):
        return
    detour = GateList(  # every output passes through two inverters
        part.n_inputs,
        np.concatenate([part.functions, np.full(2 * len(ends), 3, np.uint8)]),
        np.concatenate([part.sources, np.stack([part.outputs, part.outputs], axis=1), inverters(part, ends)]),
        part.n_inputs + len(part.functions) + len(ends) + np.arange(len(ends)),
    )
    for other in (cleaned(part), detour):
        replaced = replace_window(circuit, first, end, other, leaves, ends)
        assert (evaluate(replaced, X) == evaluate(circuit, X)).all()


def inverters(part, ends):
    nodes = part.n_inputs + len(part.functions) + np.arange(len(ends))
    return np.stack([nodes, nodes], axis=1)


@given(cases(max_gates=12))
def test_windows_never_change_a_prediction_on_the_examples_nor_add_a_gate(case):
    circuit, X, Y, _ = case
    start = Solution(cleaned(circuit), list(range(Y.shape[1])), np.zeros(Y.shape[1], np.int64))
    small = Windows(packed(case), LessonSettings(gates_work=100_000), Run()).minimise_gates(start, 1)
    assert (evaluate(small.circuit, X) == evaluate(circuit, X)).all()
    assert small.n_gates <= start.n_gates


def long_adder():
    """Examples of 10-bit addition, and a circuit whose carries have more gates than they need."""
    k = 10
    functions, sources, sums = [6, 8], [(0, k), (0, k)], [2 * k]
    carry = 2 * k + 1
    for bit in range(1, k):
        node = 2 * k + len(functions)
        x, y = bit, k + bit
        functions += [6, 6, 8, 8, 14, 8, 14]  # x ^ y, the sum, x & y, x & c, their or, y & c, the carry
        sources += [(x, y), (node, carry), (x, y), (x, carry), (node + 2, node + 3), (y, carry), (node + 4, node + 5)]
        sums.append(node + 1)
        carry = node + 6
    X = np.random.default_rng(0).random((300, 2 * k)) < 0.5
    circuit = GateList(2 * k, np.array(functions, np.uint8), np.array(sources), np.array(sums))
    return X, problems.load(f"add{k}").evaluate(X), cleaned(circuit)


def test_windows_find_the_smallest_adder():
    X, Y, circuit = long_adder()
    assert (evaluate(circuit, X) == Y).all()
    assert len(circuit.functions) > 2 * GATES
    windows = Windows(pack_examples(X, Y, np.ones_like(Y)), LessonSettings(), Run())
    small = windows.minimise_gates(Solution(circuit, list(range(10)), np.zeros(10, np.int64)), 0)
    assert (evaluate(small.circuit, X) == Y).all()
    assert small.n_gates <= 46  # 5 k - 6 = 44 are needed


def test_after_a_stop_the_circuit_stays_as_it_is():
    X, Y, circuit = long_adder()
    windows = Windows(pack_examples(X, Y, np.ones_like(Y)), LessonSettings(), Run(time_limit=0))
    same = windows.minimise_gates(Solution(circuit, list(range(10)), np.zeros(10, np.int64)), 0)
    assert network_of(same.circuit) == network_of(circuit)
