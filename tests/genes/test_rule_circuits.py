"""Truth tables as formulas and circuits, edges known beforehand, and attractors."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradus import read_network
from gradus._core.run import Run
from gradus._formats.bnet import read_bnet
from gradus._formats.sbml import write_sbml
from gradus.errors import FormatError
from gradus.genes import _attractors as long_run
from gradus.genes._attractors import find_long_run
from gradus.genes._edges import KnownEdge, known_edges, model_edges
from gradus.genes._model import GeneRule, rule_network, rule_text, rule_tokens

NAMES = ["a", "b", "c", "d"]
TABLES = st.integers(0, 4).flatmap(lambda k: st.lists(st.integers(0, 1), min_size=1 << k, max_size=1 << k))


@given(TABLES)
def test_formula_and_circuit_have_the_values_of_the_table(table):
    names = NAMES[: len(table).bit_length() - 1]
    cells = (np.arange(len(table))[:, None] >> np.arange(len(names))) & 1 == 1
    rule = GeneRule("t", tuple(names), tuple(table), 1.0, 0.0, 1.0)
    network = rule_network([*names, "t"], [rule])
    states = np.column_stack([cells, np.zeros(len(table), bool)])
    assert network.predict(states)[:, 0].astype(int).tolist() == table
    text = rule_text(rule)
    read = read_bnet("".join(f"{name}, {name}\n" for name in NAMES) + f"t, {text}", targets=["t", *NAMES])
    columns = np.column_stack([cells, np.zeros((len(cells), 4 - len(names)), bool)])
    assert read.predict(columns)[:, read.output_names.index("t")].astype(int).tolist() == table


def test_nested_rules_have_every_input_once():
    table = [int(bool((x & 1 or x & 2) and not x & 4)) for x in range(8)]
    rule = GeneRule("t", tuple(NAMES[:3]), tuple(table), 1.0, 0.0, 1.0)
    assert rule_text(rule) == "(a | b) & !c"
    assert rule_tokens(rule) == ["(", ("a", True), " | ", ("b", True), ")", " & ", ("c", False)]
    assert rule_tokens(GeneRule("t", (), (1,), 1.0, 0.0, 1.0)) == ["1"]


@pytest.mark.parametrize("text", ["regulator,target\na,b\nc,d\n", "a,b\nc,d\n", "target,note,regulator\nb,x,a\nd,y,c\n"])
def test_edges_are_read_with_and_without_headings(tmp_path, text):
    path = tmp_path / "edges.csv"
    path.write_text(text)
    assert [edge[:2] for edge in known_edges(path)] == [("a", "b"), ("c", "d")]


def test_probabilities_and_signs_are_read(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("a,b,0.5,activating\nc,d,,-\n")
    assert known_edges(path) == (KnownEdge("a", "b", 0.5, 1), KnownEdge("c", "d", 0.9, -1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no edge"),
        ("a\n", "line 1"),
        ("a,b\nc,\n", "line 2"),
        ('"a', "edges"),
        ("a,b,2\n", "0 to 1"),
        ("a,b,1,up\n", "sign"),
    ],
)
def test_files_that_hold_no_edges_are_refused(tmp_path, text, message):
    path = tmp_path / "edges.csv"
    path.write_text(text)
    with pytest.raises(FormatError, match=message):
        known_edges(path)


def test_models_go_out_as_sbml_and_come_back(tmp_path):
    rules = [GeneRule("PP*", ("b", "c"), (0, 1, 0, 0), 1.0, 0.0, 1.0), GeneRule("b", ("PP*",), (1, 0), 1.0, 0.0, 1.0)]
    network = rule_network(["PP*", "b", "c"], rules)
    path = tmp_path / "m.sbml"
    path.write_text(write_sbml(network))
    model = read_network(path)
    assert set(model.output_names) == {"PP*", "b"}
    edges = {edge[:2]: edge.sign for edge in known_edges(path)}
    assert edges == {("b", "PP*"): 1, ("c", "PP*"): -1, ("PP*", "b"): -1}
    states = np.array(list(itertools.product([0, 1], repeat=3)), bool)
    place = [network.input_names.index(name) for name in model.input_names]
    out = [model.output_names.index(name) for name in network.output_names]
    assert np.array_equal(model.predict(states[:, place])[:, out], network.predict(states))
    path.write_text("<sbml>")
    with pytest.raises(FormatError, match=r"m\.sbml, line 1, column 7: not XML"):
        read_network(path)


def test_an_edge_that_rises_and_falls_has_no_sign():
    assert [edge.sign for edge in model_edges(read_bnet("a, b & !c | !b & c\nb, b | b & c\nc, a"))] == [0, 0, 1, 1]


def stuck_states(network):
    states = np.array(list(itertools.product([0, 1], repeat=network.n_inputs)), bool)
    return {tuple(s) for s in states.tolist() if (network.predict([s])[0] == s).all()}


@pytest.mark.parametrize("seed", range(3))
def test_fixed_points_are_the_states_that_follow_themselves(seed):
    rng = np.random.default_rng(seed)
    rules = [
        GeneRule(
            gene, tuple(rng.choice(NAMES, 2, replace=False).tolist()), tuple(rng.integers(0, 2, 4).tolist()), 1.0, 0.0, 1.0
        )
        for gene in NAMES
    ]
    network = rule_network(NAMES, rules)
    found = find_long_run(network, Run())
    points = {tuple(name in attractor.on for name in NAMES) for attractor in found.attractors if attractor.states == 1}
    assert points == stuck_states(network)
    assert found.fixed_points == len(points)
    assert len(found.held) == 8
    for held in found.held:
        rule = GeneRule(held.gene, (), (held.value,), 1.0, 0.0, 1.0)
        changed = rule_network(NAMES, [rule if other.target == held.gene else other for other in rules])
        assert held.fixed_points == len(stuck_states(changed))


def test_the_search_for_attractors_ends_when_it_is_told_to():
    network = rule_network(["a"], [GeneRule("a", ("a",), (1, 0), 1.0, 0.0, 1.0)])
    assert find_long_run(network, Run(time_limit=0)) is None
    assert [attractor.changing for attractor in find_long_run(network, Run()).attractors] == [("a",)]


def ring(n):
    """Genes that copy the one before; the last one is negated, so no state follows itself."""
    names = [f"g{i}" for i in range(n)]
    rules = [GeneRule(names[i], (names[i - 1],), (1, 0) if i == 0 else (0, 1), 1.0, 0.0, 1.0) for i in range(n)]
    return rule_network(names, rules)


def test_attractors_of_more_than_24_genes_are_found():
    found = find_long_run(ring(26), Run())
    assert found.cyclic
    assert (found.count, found.fixed_points) == (1, 0)
    assert len(found.attractors[0].changing) == 26
    assert found.held[0].fixed_points == 1


def test_only_fixed_points_are_told_where_the_search_for_others_does_not_end_in_time(monkeypatch):
    monkeypatch.setattr(long_run, "CYCLE_SECONDS", 0.0)
    found = find_long_run(ring(26), Run())
    assert not found.cyclic
    assert (found.count, len(found.attractors), len(found.held)) == (0, 0, 52)
