"""What outputs say about columns: the same function, in one piece or in steps, and never cut off without a count."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_problems as naive
from gradus import Model, Network
from gradus._circuit.expressions import parse_expression
from gradus._circuit.gate_list import GateTable
from gradus._circuit.network import network_of
from gradus._tables.statements import LONG, statements


def random_network(seed, n_inputs=7, n_gates=40, n_outputs=4):
    rng = np.random.default_rng(seed)
    sources = [rng.integers(0, n_inputs + gate, 2).tolist() for gate in range(n_gates)]
    outputs = rng.integers(n_inputs + n_gates // 2, n_inputs + n_gates, n_outputs)
    return Network(n_inputs, sources, outputs, rng.integers(0, 16, n_gates)).prune()


def slow_values(found, X):
    """Evaluate statements one after another, each from the text of its formula and the names before it."""
    columns = {f"x{i}": X[:, i] for i in range(X.shape[1])}
    for statement in sorted(found, key=lambda statement: not statement.is_signal):  # steps are written last
        gates = GateTable(len(columns))
        output = parse_expression(statement.text, gates, {name: node for node, name in enumerate(columns)})
        columns[statement.name] = network_of(gates.circuit([output])).predict(np.column_stack(list(columns.values())))[:, 0]
    return columns


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_statements_and_their_steps_compute_the_outputs(seed):
    network = random_network(seed)
    found = statements(network, Model.of_bits(network).features, network.output_names)
    X = naive.every_pattern(7)
    values = slow_values(found, X)
    for name, expected in zip(network.output_names, network.predict(X).T, strict=True):
        assert np.array_equal(values[name] != 0, expected)
    assert sorted(statement.name for statement in found if not statement.is_signal) == sorted(network.output_names)
    steps = [statement.node for statement in found if statement.is_signal]
    assert not set(steps) & set(network.outputs.tolist())  # an output is stated once


def adder(n):
    """A ripple-carry adder: the carry is used twice, so the last outputs are long without steps."""
    functions, sources, outputs, carry = [], [], [], None

    def gate(function, a, b):
        functions.append(function)
        sources.append((a, b))
        return 2 * n + len(sources) - 1

    for i in range(n):
        half, both = gate(6, i, n + i), gate(8, i, n + i)
        outputs.append(half if carry is None else gate(6, half, carry))
        carry = both if carry is None else gate(14, both, gate(8, half, carry))
    return Network(2 * n, sources, outputs, functions)


def test_long_formulas_are_written_in_steps_that_are_short():
    network = adder(12)
    found = statements(network, Model.of_bits(network).features, network.output_names)
    assert any(statement.is_signal for statement in found)
    assert max(statement.n_conditions for statement in found) <= LONG
    X = np.random.default_rng(0).integers(0, 2, (500, 24)).astype(bool)
    values = slow_values(found, X)
    for name, expected in zip(network.output_names, network.predict(X).T, strict=True):
        assert np.array_equal(values[name] != 0, expected)
    assert [statement for statement in found if not statement.is_signal][-1].columns == network.input_names


def test_a_step_never_has_the_name_of_a_column():
    network = adder(8).with_names([f"s{i + 1}" for i in range(16)])
    found = statements(network, Model.of_bits(network).features, network.output_names)
    names = [statement.name for statement in found if statement.is_signal]
    assert names
    assert not set(names) & set(network.input_names)


def test_a_formula_that_is_cut_says_how_much_is_left():
    whole = adder(5)
    network = Network(10, whole.sources, whole.outputs[-1:], whole.functions)
    one = statements(network, Model.of_bits(network).features, network.output_names)[0]
    assert one.cut(10_000) == one.text
    kept, left = re.fullmatch(r"(.*) … \((\d+) more conditions?\)", one.cut(45)).groups()
    assert one.text.startswith(kept)
    assert len(one.cut(45)) <= 45
    assert len(re.findall(r"\w+", kept)) + int(left) == one.n_conditions


def test_rules_as_a_frame():
    model = Model.of_bits(Network(2, [[0, 1]], [2], [8], input_names=["é", "b"]))
    frame = model.rules(as_frame=True)
    assert isinstance(frame, pd.DataFrame)
    assert frame.drop(columns=["rows", "right"]).to_dict("records") == [
        {"statement": "z0", "rule": '"é" & b', "columns": "é, b", "conditions": 2}
    ]
    assert repr(model) == "Model(z0; 1 circuit, the best of 1 gate)"
    pytest.importorskip("pygraphviz")
    assert "<svg" in model._repr_html_()


def test_an_output_that_another_one_uses_is_named_there_and_its_quotes_are_kept():
    pairs, functions, total = [], [], None
    for k in range(9):  # x0 & x1 ^ x2 & x3 ^ …
        both = 19 + len(pairs)
        pairs.append((2 * k, 2 * k + 1))
        functions.append(8)
        if total is not None:
            pairs.append((total, both))
            functions.append(6)
        total = 19 + len(pairs) - 1
    network = Network(19, [*pairs, (total, 18)], [total, total + 1], [*functions, 8])
    found = {
        statement.name: statement.text for statement in statements(network, Model.of_bits(network).features, ['"A=B"', "g"])
    }
    assert found["g"] == 'x18 & "A=B"'


def test_what_rules_share_becomes_a_step_and_each_rule_stays_short():
    # x0 & (x1 | x2 & x3) decides three outputs, each with one more input.
    network = Network(7, [[2, 3], [1, 7], [0, 8], [9, 4], [9, 5], [9, 6]], [10, 11, 12], [8, 14, 8, 8, 8, 8])
    found = statements(network, Model.of_bits(network).features, ["a", "b", "c"])
    assert [(said.name, said.text) for said in found] == [
        ("a", "x4 & s1"),
        ("b", "x5 & s1"),
        ("c", "x6 & s1"),
        ("s1", "x0 & (x1 | x2 & x3)"),
    ]
    X = naive.every_pattern(7)
    values = slow_values(found, X)
    assert all(np.array_equal(values[name] != 0, column) for name, column in zip("abc", network.predict(X).T, strict=True))
