"""Functions, rules, edges, joined circuits and wording."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from gradus._inference.rules import (
    FunctionCatalog,
    all_states,
    constant_network,
    edge_uses,
    find_rule,
    join_networks,
    sign_of,
    single_output,
)
from gradus._inference.rules_page import in_words
from hypothesis import given
from hypothesis import strategies as st

from gradus import Network
from gradus.errors import DataError


@st.composite
def networks(draw, n_inputs=4, n_outputs=2):
    n_gates = draw(st.integers(1, 8))
    sources = [[draw(st.integers(0, n_inputs + g - 1)) for _ in range(2)] for g in range(n_gates)]
    outputs = [draw(st.integers(0, n_inputs + n_gates - 1)) for _ in range(n_outputs)]
    return Network(n_inputs, sources, outputs, input_names=list("abcd")[:n_inputs])


@given(networks())
def test_signs_are_those_of_every_pair_of_neighbouring_states(network):
    for output, described in enumerate(FunctionCatalog(4).describe(network)):
        for i, gene in enumerate(network.input_names):
            changes = set()
            for rest in itertools.product([0, 1], repeat=3):
                low, high = list(rest), list(rest)
                low.insert(i, 0)
                high.insert(i, 1)
                values = network.predict([low, high])[:, output].astype(int)
                changes.add(int(values[1] - values[0]))
            expected = {frozenset({1}): "activating", frozenset({-1}): "inhibiting", frozenset({1, -1}): "both"}
            assert described.signs.get(gene) == expected.get(frozenset(changes - {0}))


@given(networks())
def test_a_function_is_described_alike_in_small_and_large_tables(network):
    small, large = FunctionCatalog(4), FunctionCatalog(13)
    wide = join_networks(
        [*network.input_names, *(f"x{i}" for i in range(9))],
        {name: single_output(network, k) for k, name in enumerate(network.output_names)},
    )
    for one, other in zip(small.describe(network), large.describe(wide), strict=True):
        assert one.formula.text == other.formula.text
        assert one.signs == other.signs


def test_signs_of_more_regulators_than_can_be_tried_out_are_found_by_sampling():
    genes = [f"x{i}" for i in range(14)]
    parity = [[0, 1], [0, 14], [1, 14], [15, 16]]
    for i in range(2, 14):
        last = 14 + len(parity) - 1
        base = last + 1
        parity += [[last, i], [last, base], [i, base], [base + 1, base + 2]]
    network = Network(14, parity, [14 + len(parity) - 1], input_names=genes)
    assert {sign_of(network, gene, tuple(genes)) for gene in genes} == {"both"}


def test_the_rule_is_the_most_frequent_of_those_with_the_fewest_regulators():
    a = Network(2, [[0, 0], [2, 2]], [3], input_names=["a", "b"])
    not_b = Network(2, [[1, 1]], [2], input_names=["a", "b"])
    both = Network(2, [[0, 1], [2, 2]], [3], input_names=["a", "b"])
    table = FunctionCatalog(2)
    functions = [table.describe(network)[0] for network in (both, both, both, a, not_b, a)]
    rule = find_rule("t", functions, 1)
    assert (rule.text, rule.regulators, rule.share, rule.minimal) == ("a", ("a",), 2 / 6, True)
    assert rule.alternatives[0] == ("a & b", 0.5)
    assert rule.agreement == pytest.approx((3 * 0.75 + 2 * 1 + 0.5) / 6)
    assert not find_rule("t", functions[:3], 1).minimal


def test_edges_are_counted_with_their_signs_and_unused_ones_of_minimum_sets_are_listed():
    table = FunctionCatalog(3)
    names = ["a", "b", "c"]
    nand = Network(3, [[0, 1]], [3], input_names=names)
    xor = Network(3, [[0, 1], [0, 3], [1, 3], [4, 5]], [6], input_names=names)
    a = Network(3, [[0, 0], [3, 3]], [4], input_names=names)
    functions = [table.describe(network)[0] for network in (nand, xor, a, a)]
    edges = {edge.regulator: edge for edge in edge_uses("t", functions, [("a", "c")])}
    assert (edges["a"].frequency, edges["a"].activating, edges["a"].inhibiting, edges["a"].both) == (1, 0.5, 0.25, 0.25)
    assert edges["a"].sign == "activating"
    assert (edges["b"].frequency, edges["b"].in_minimum_sets) == (0.5, 0)
    assert (edges["c"].frequency, edges["c"].sign, edges["c"].in_minimum_sets) == (0, None, 1)


@given(networks(), networks(n_inputs=3, n_outputs=1))
def test_a_joined_circuit_computes_what_its_parts_compute(first, second):
    joined = join_networks(["d", "c", "b", "a"], {"p": single_output(first, 0), "q": second, "r": single_output(first, 1)})
    states = all_states(4)
    expected = first.predict(states[:, ::-1])
    assert np.array_equal(joined.predict(states)[:, [0, 2]], expected)
    assert np.array_equal(joined.predict(states)[:, 1], second.predict(states[:, [3, 2, 1]])[:, 0])
    assert joined.output_names == ("p", "q", "r")


def test_a_part_must_read_inputs_of_the_whole():
    with pytest.raises(DataError, match="reads 'z'"):
        join_networks(["a"], {"p": constant_network("z", True)})
    assert constant_network("a", True).predict([[0], [1]]).all()


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("a", "a"),
        ("!a & b", "<i>not</i> a <i>and</i> b"),
        ("a | b & !c", "a <i>or</i> (b <i>and</i> <i>not</i> c)"),
        ('"x & <y>" | 0z', "x &amp; &lt;y&gt; <i>or</i> 0z"),
        ("(a | b) & !(c)", "(a <i>or</i> b) <i>and</i> <i>not</i> (c)"),
        ("0", "always 0"),
    ],
)
def test_formulas_are_spelled_in_words(formula, words):
    assert in_words(formula) == words
