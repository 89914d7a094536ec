"""Rules that know that cuts are ordered and that nobody is in two classes: the same function, and never a longer text."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_rules as naive
from gradus import Network
from gradus._circuit.expressions import parse_expression
from gradus._circuit.gate_list import GateTable
from gradus._circuit.network import network_of
from gradus._circuit.weighted_counts import WeightedCount
from gradus._core.gates import AND, OR
from gradus._tables.axes import column_axis
from gradus._tables.conditions import in_words, input_conditions
from gradus._tables.encoding import TableColumn, TableEncoding
from gradus._tables.statements import node_tokens

COLUMNS = (
    TableColumn("petal", "above", (1.5, 2.45, 4.95)),
    TableColumn("size", "above", (3, 7), missing=True),
    TableColumn("date", "after", (15_780, 15_783), day_format="%Y-%m-%d"),
    TableColumn("class", "group", (("1st",), ("2nd",), ("3rd",)), missing=True),
    TableColumn("deck", "group", (("A",), ("B",), ("C", "D", "E")), others=True),
    TableColumn("late", "bit", missing=True),
)
CELLS = {
    "petal": [1.0, 2.0, 3.0, 5.0],
    "size": [None, 1.0, 5.0, 9.0],
    "date": ["2013-03-10", "2013-03-18", "2013-03-22"],
    "class": [None, "1st", "2nd", "3rd", "4th"],
    "deck": [None, "A", "B", "C", "E", "F"],
    "late": [None, 0, 1],
}
DAYS = {"2013-03-10": 15_774, "2013-03-16": 15_780, "2013-03-18": 15_782, "2013-03-19": 15_783, "2013-03-22": 15_786}


def drawn(seed):
    """A random circuit over some of the columns, and rows with every value there is."""
    rng = np.random.default_rng(seed)
    chosen = [COLUMNS[k] for k in sorted(rng.choice(len(COLUMNS), rng.integers(1, 4), replace=False))]
    features = TableEncoding(tuple(chosen))
    n_inputs, n_gates = len(features.input_names), int(rng.integers(1, 12))
    sources = [rng.integers(max(0, n_inputs + gate - 6), n_inputs + gate, 2).tolist() for gate in range(n_gates)]
    network = Network(n_inputs, sources, [n_inputs + n_gates - 1], rng.integers(0, 16, n_gates)).prune()
    table = {column.name: rng.choice(np.array(CELLS[column.name], dtype=object), 300) for column in chosen}
    return network, features, features.encode(table)


def count_holds(words, n_true):
    """Tell whether a count is true, from its words: "2 or at least 4 of 6: "."""
    ranges, n = re.fullmatch(r"(.*) of ([0-9]+): ", words).groups()
    if "parity" in ranges:
        return n_true % 2 == (0 if "even" in ranges else 1)
    for part in ranges.split(" or "):
        numbers = list(map(int, re.findall("[0-9]+", part)))
        low, high = (numbers * 2)[:2]
        low, high = (low, int(n)) if "least" in part else (0, high) if "most" in part else (low, high)
        if low <= n_true <= high:
            return True
    return False


def slow_value(pieces, row):
    """Evaluate a formula of comparisons on one row of inputs, from its pieces; a count ends with its bracket."""
    text, words, n_true = "", "", 0
    for piece in [*pieces, ""]:
        if not isinstance(piece, str):
            holds = sum(int(row[node]) << i for i, node in enumerate(piece.nodes)) in piece.patterns
            n_true += holds
            text += "" if words else f"({holds})"
        elif piece.endswith(": "):
            words, n_true = piece, 0
        elif words and piece in (")", ""):
            text += f"({count_holds(words, n_true)}){piece}"
            words = ""
        elif not words:
            text += {"0": "False", "1": "True"}.get(piece, piece)
    return bool(eval(text))


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_rule_says_what_the_circuit_computes_and_its_text_is_never_longer_than_it_was(seed):
    network, features, inputs = drawn(seed)
    pieces = node_tokens(network, int(network.outputs[0]), (), input_conditions(features))
    expected = network.predict(inputs)[:, 0]
    assert [slow_value(pieces, row) for row in inputs] == expected.tolist()
    before = {node: naive.Condition(features.columns[j], key) for node, (j, key) in enumerate(features.input_keys)}
    old = naive.node_tokens(network, int(network.outputs[0]), (), before)
    assert len(in_words(pieces)) <= len(naive.in_words(old, before))
    assert sum(not isinstance(piece, str) for piece in pieces) <= sum(not isinstance(token, str) for token in old)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_counts_are_found_however_they_are_built_and_are_true_of_the_rows(seed):
    rng = np.random.default_rng(seed)
    features = TableEncoding(tuple(COLUMNS[k] for k in sorted(rng.choice(len(COLUMNS), rng.integers(2, 5), replace=False))))
    n = len(features.input_names)
    signs = tuple(rng.choice([-1, 1], n).tolist())
    fewest = int(rng.integers(1, n))
    count = WeightedCount(tuple(range(n)), signs, tuple(k >= fewest for k in range(n + 1)))
    gates = GateTable(n)
    output = count.built(gates, [(node, False) for node in range(n)])
    alone = bool(rng.integers(2))
    if not alone:
        output = gates.of(int(rng.choice([AND, OR])), output, (int(rng.integers(n)), bool(rng.integers(2))))
    network = network_of(gates.circuit([output])).prune()
    table = {column.name: rng.choice(np.array(CELLS[column.name], dtype=object), 200) for column in features.columns}
    inputs = features.encode(table)
    pieces = node_tokens(network, int(network.outputs[0]), (), input_conditions(features))
    assert [slow_value(pieces, row) for row in inputs] == network.predict(inputs)[:, 0].tolist()
    assert not alone or sum(not isinstance(piece, str) for piece in pieces) <= n


@given(st.sampled_from(COLUMNS), st.integers(0, 10**6))
def test_the_words_for_a_set_of_cells_are_true_of_the_rows_in_it(column, seed):
    rng = np.random.default_rng(seed)
    keys = [key for key in column.input_keys if rng.random() < 0.6] or list(column.input_keys[:1])
    axis = column_axis(column, list(range(len(keys))), keys)
    cells = CELLS[column.name]
    bits = column.encode(np.array(cells, dtype=object))[:, [column.input_keys.index(key) for key in keys]]
    for chosen in axis.words:
        said = axis.test(chosen)
        for cell, row in zip(cells, bits.tolist(), strict=True):
            pattern = sum(bit << i for i, bit in enumerate(row))
            assert pattern in axis.cells
            assert (pattern in said.patterns) == is_true(said.plain, column, cell), (said.plain, cell)


def is_true(text, column, cell):
    """Say whether a comparison in words is true of a cell, by reading the words."""
    if text.startswith("!"):
        return not is_true(text[1:].removeprefix("(").removesuffix(")"), column, cell)
    rest = text.replace(column.name, "", 1).strip()
    if "missing" in rest:
        return (cell is None) != ("not" in rest)
    if column.kind == "bit":
        return cell == 1
    if column.kind == "group":
        if "another" in rest:
            return (cell is not None and (cell,) not in column.values) != rest.startswith("is not")
        listed = rest.partition("{")[2].rstrip("}").split(", ") if "{" in rest else [rest.split()[-1]]
        return (cell in listed) != rest.startswith(("not", "!="))
    if cell is None and column.missing:
        return False  # no comparison is true of it
    value = -np.inf if cell is None else DAYS.get(cell, cell)
    words = [str(DAYS.get(word, word)) for word in text.replace(column.name, str(value)).split()]
    return bool(eval(" ".join(words), {"inf": np.inf}))


CASES = [
    ('"petal > 2.45" & !"petal > 4.95"', "2.45 < petal <= 4.95"),
    ('!"petal > 1.5" & "late" | !"petal > 2.45" & "late"', "petal <= 2.45 & late"),
    ('"petal > 1.5" ^ "petal > 4.95"', "1.5 < petal <= 4.95"),
    ('"date > 2013-03-16" ^ "date > 2013-03-19"', "2013-03-16 < date <= 2013-03-19"),
    ('!"class = 3rd" & "late" | !"class = 3rd" & "petal > 1.5"', 'class != "3rd" & (petal > 1.5 | late)'),
    ('"class = 1st" | "class = 2nd"', 'class in {"1st", "2nd"}'),
    ('"size > 3" & !"size > 7"', "3 < size <= 7"),
    ('!"size > 7"', "!(size > 7)"),
    ('!"size > 7" & !"size is missing"', "size <= 7"),
    ('"deck is another" | "deck = A"', "deck = A | deck is another"),
]


@pytest.mark.parametrize(("formula", "text"), CASES)
def test_conditions_of_one_column_become_one(formula, text):
    features = TableEncoding(COLUMNS)
    gates = GateTable(len(features.input_names))
    plain = re.sub('"([^"]*)"', lambda name: f"v{features.input_names.index(name[1])}", formula)
    output = parse_expression(plain, gates, {f"v{node}": node for node in range(len(features.input_names))})
    network = network_of(gates.circuit([output]))
    assert in_words(node_tokens(network, int(network.outputs[0]), (), input_conditions(features))) == text
