"""Counts are recognised however they are built, and said in words that mean what the gates compute."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import gradus
from gradus._circuit.count_recognition import count_words, output_count
from gradus._circuit.drawing.diagram import diagram, live_logic
from gradus._circuit.drawing.recognition import boxed
from gradus._circuit.formulas import formulas, write_formulas
from gradus._circuit.gate_list import GateTable, as_nands, cleaned
from gradus._circuit.network import network_of
from gradus._circuit.weighted_counts import WeightedCount


def meant(words, total):
    """Whether a number of true literals is one that the words mean."""
    said, _, size = words.rpartition(" of ")
    if said in ("parity", "even parity"):
        return total % 2 == (said == "parity")

    def holds(part):
        *first, last = part.split(" ")
        if first == ["at", "least"]:
            return total >= int(last)
        if first == ["at", "most"]:
            return total <= int(last)
        return total == int(last) if first == ["exactly"] else int(first[0]) <= total <= int(last)

    assert total <= int(size)
    return any(holds(part) for part in said.split(" or "))


def built(count, n_inputs=8, nand=False):
    gates = GateTable(n_inputs)
    circuit = cleaned(gates.circuit([count.built(gates, [(k, False) for k in range(n_inputs)])]))
    return network_of(as_nands(circuit) if nand else circuit)


def naive_counts(table):
    """Every choice of signs, one per input, for which the value depends on the number of true literals alone."""
    width = table.ndim
    solutions = []
    for signs in itertools.product((1, -1), repeat=width):
        values = {}
        for row in itertools.product((0, 1), repeat=width):
            total = sum(bit if sign > 0 else 1 - bit for bit, sign in zip(row, signs, strict=True))
            values.setdefault(total, set()).add(bool(table[row]))
        if all(len(answers) == 1 for answers in values.values()):
            solutions.append(signs)
    return solutions


@st.composite
def plain_counts(draw):
    columns = tuple(sorted(draw(st.sets(st.integers(0, 7), min_size=3))))
    weights = tuple(draw(st.lists(st.sampled_from([1, -1]), min_size=len(columns), max_size=len(columns))))
    table = tuple(draw(st.lists(st.booleans(), min_size=len(columns) + 1, max_size=len(columns) + 1)))
    return WeightedCount(columns, weights, table)


def is_and_or_constant(table):
    changes = sum(a != b for a, b in itertools.pairwise(table))
    return changes == 0 or (changes == 1 and (table[0] != table[1] or table[-2] != table[-1]))


@settings(max_examples=80)
@given(plain_counts(), st.booleans())
def test_a_count_is_recognised_and_the_words_mean_what_the_gates_compute(count, nand):
    network = built(count, nand=nand)
    seen = output_count(network, 0)
    if is_and_or_constant(count.table):
        assert seen is None
        return
    assert seen.columns == count.columns
    X = np.array(list(itertools.product((False, True), repeat=8)))
    assert np.array_equal(seen.predict(X), count.predict(X))
    assert sum(seen.weights) >= 0
    literals = X[:, list(seen.columns)] ^ (np.array(seen.weights) < 0)
    words = [meant(count_words(seen), total) for total in literals.sum(axis=1).tolist()]
    assert np.array_equal(words, count.predict(X))


@settings(max_examples=150)
@given(st.integers(3, 4), st.data())
def test_what_is_no_count_is_not_taken_for_one(width, data):
    rows = np.array(list(itertools.product((False, True), repeat=width)))
    values = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))))
    gates = GateTable(width)
    terms = [(gates.gate(0, 0, 0), False)]
    for row in rows[values]:
        product = (gates.gate(15, 0, 0), False)
        for column, value in enumerate(row):
            product = gates.of(8, product, (column, not value))
        terms.append(gates.of(14, terms[-1], product))
    network = network_of(cleaned(gates.circuit([terms[-1]])))
    seen = output_count(network, 0)
    table = values.reshape((2,) * width)
    if seen is not None:
        assert np.array_equal(seen.predict(rows), values)
    elif naive_counts(table):
        layers = {
            int(row.sum()): bool(value)
            for row, value in zip(rows ^ (np.array(naive_counts(table)[0]) < 0), values, strict=True)
        }
        assert is_and_or_constant([layers[total] for total in range(width + 1)])


MAJORITY = WeightedCount((0, 1, 2, 3, 4), (1, 1, 1, 1, -1), (False, False, False, True, True, True))


def test_formulas_exports_and_rules_say_which_count_an_output_is():
    network = built(MAJORITY, 5).with_names(["a", "b", "c", "d e", "f"], ["most"])
    said = 'at least 3 of 5: a, b, c, "d e", !f'
    assert formulas(network)["most"].count == said
    assert f"# most: {said}" in write_formulas(network).split("\n")
    assert f"# most: {said}." in gradus.export(network, format="blif").split("\n")
    assert f"// most: {said}." in gradus.export(network, format="v").split("\n")
    X = np.array(list(itertools.product((False, True), repeat=5)))
    classifier = gradus.BooleanNetworkClassifier(n_circuits=1).fit(X, MAJORITY.predict(X))
    assert list(classifier.rules().values()) == ["at least 3 of 5: x0, x1, x2, x3, !x4"]


def test_a_count_that_shares_no_gate_is_drawn_as_one_box():
    network = built(MAJORITY, 5)
    parts = diagram(network, boxed=boxed(live_logic(network), frozenset(network.outputs.tolist())))
    (box,) = parts.gates.values()
    assert box.kind == "at least 3 of 5"
    assert sorted(box.pins) == [(0, False), (1, False), (2, False), (3, False), (4, True)]
    assert box.size == network.n_gates


def test_a_count_whose_gates_are_used_elsewhere_is_drawn_as_adders():
    network = built(MAJORITY, 5)
    both = gradus.Network(5, network.sources, [*network.outputs, 5], network.functions)
    found = boxed(live_logic(both), frozenset(both.outputs.tolist()))
    assert found is None or all(box.kind in ("FA", "HA", "MAJ", "MUX", "XOR") for box in found.boxes)
