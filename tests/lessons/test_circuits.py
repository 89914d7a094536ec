"""Circuits as gate lists: their values and their clean form."""

import numpy as np
import pytest
from hypothesis import given
from lesson_cases import cases, evaluate
from naive_lessons import live_gates, outputs, value

from gradus._circuit.gate_list import GateList, cleaned, is_constant


@given(cases())
def test_evaluation_agrees_with_the_slow_twin(case):
    circuit, X, _, _ = case
    assert (evaluate(circuit, X) == outputs(circuit, X)).all()


@pytest.mark.parametrize("function", range(16))
def test_a_truth_table_is_read_as_bit_2a_plus_b(function):
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=bool)
    circuit = GateList(2, np.array([function], np.uint8), np.array([[0, 1]]), np.array([2]))
    assert evaluate(circuit, X).ravel().tolist() == [bool(value(function, a, b)) for a, b in X.astype(int).tolist()]


@given(cases(max_gates=12))
def test_cleaning_keeps_the_function_and_removes_every_needless_gate(case):
    circuit, _, _, _ = case
    X = (np.arange(1 << circuit.n_inputs)[:, np.newaxis] >> np.arange(circuit.n_inputs) & 1).astype(bool)
    clean = cleaned(circuit)
    assert (evaluate(clean, X) == evaluate(circuit, X)).all()
    assert np.count_nonzero(~is_constant(clean.functions)) <= len(live_gates(circuit)) + len(set(circuit.outputs.tolist()))
    assert live_gates(clean) == set(range(circuit.n_inputs, circuit.n_inputs + len(clean.functions)))
    read = set(clean.sources[~np.isin(clean.functions, (0, 15))].ravel().tolist())
    for gate, function in enumerate(clean.functions.tolist()):
        node = clean.n_inputs + gate
        assert function not in (5, 10, 12)  # no buffers, and inverters in one form
        if function in (0, 3, 15):
            assert node in clean.outputs
            assert node not in read


@given(cases(max_gates=12))
def test_cleaning_nand_circuits_leaves_nand_gates(case):
    circuit = case[0]._replace(functions=np.full(len(case[0].functions), 7, np.uint8))
    X = (np.arange(1 << circuit.n_inputs)[:, np.newaxis] >> np.arange(circuit.n_inputs) & 1).astype(bool)
    clean = cleaned(circuit, nand=True)
    assert (evaluate(clean, X) == evaluate(circuit, X)).all()
    assert set(clean.functions.tolist()) <= {0, 7, 15}
