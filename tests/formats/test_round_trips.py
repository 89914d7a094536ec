"""What our writers write, our readers read: the same function under the same names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from circuits import CIRCUITS, random_network
from hypothesis import given, settings
from hypothesis import strategies as st
from referees import patterns

from gradus import Network
from gradus._formats.aiger import read_aiger
from gradus._formats.blif import read_blif
from gradus._formats.bnet import read_bnet
from gradus._formats.circuits import export, read_network
from gradus._formats.registry import READ

RULES = (".bnet", ".sbml")


text = st.text(st.characters(exclude_categories=()), max_size=5)  # half of a surrogate pair included
names = st.lists(text, min_size=4, max_size=4, unique=True)


def assert_same(model: Network, network: Network) -> None:
    assert model.input_names == network.input_names
    assert model.output_names == network.output_names
    X = patterns(network.n_inputs)
    np.testing.assert_array_equal(model.predict(X), network.predict(X))


def assert_same_rules(model: Network, network: Network) -> None:
    assert set(model.input_names) >= set(network.input_names) - set(network.output_names)
    assert set(model.input_names) <= set(network.input_names)
    assert model.output_names == network.output_names
    X = patterns(network.n_inputs)
    columns = [network.input_names.index(name) for name in model.input_names]
    np.testing.assert_array_equal(model.predict(X[:, columns]), network.predict(X))


def part_that_reads(model: Network, names: tuple[str, ...]) -> Network:
    """The model without inputs that no gate reads."""
    read = model.cone(range(model.n_outputs))[: model.n_inputs].tolist()
    kept = [i for i, name in enumerate(model.input_names) if name in names or read[i]]
    new = {node: place for place, node in enumerate([*kept, *range(model.n_inputs, model.n_inputs + model.n_gates)])}
    sources = [[new.get(a, 0), new.get(b, 0)] for a, b in model.sources.tolist()]
    outputs = [new[node] for node in model.outputs.tolist()]
    inputs = [model.input_names[i] for i in kept]
    return Network(len(kept), sources, outputs, model.functions, input_names=inputs, output_names=model.output_names)


@pytest.mark.parametrize("case", CIRCUITS)
@pytest.mark.parametrize("extension", sorted({*READ} - {*RULES}))
def test_circuits_survive_a_round_trip(extension: str, case: str, tmp_path: Path) -> None:
    export(CIRCUITS[case], tmp_path / f"circuit{extension}")
    assert_same(read_network(tmp_path / f"circuit{extension}"), CIRCUITS[case])


@pytest.mark.parametrize("case", CIRCUITS)
@pytest.mark.parametrize("extension", RULES)
def test_rules_survive_a_round_trip(extension: str, case: str, tmp_path: Path) -> None:
    path, network = tmp_path / f"model{extension}", CIRCUITS[case]
    export(network, path)
    model = read_network(path, targets=network.output_names)
    if extension == ".sbml":  # AEON writes a constant as "z | !z", and so reads the variable itself
        model = part_that_reads(model, network.input_names)
    assert_same_rules(model, network)


@given(st.integers(0, 10**6), names, names, st.booleans())
@settings(deadline=None, max_examples=60)
def test_any_names_survive_a_round_trip(seed: int, inputs: list[str], outputs: list[str], any_gates: bool) -> None:
    network = random_network(4, 8, 4, seed, any_gates=any_gates).with_names(inputs, outputs)
    assert_same(read_blif(export(network, format="blif")), network)
    assert_same(read_aiger(export(network, format="aag").encode("utf-8")), network)
    assert_same(read_aiger(export(network, format="aig")), network)
    assert_same_rules(read_bnet(export(network, format="bnet"), targets=outputs), network)
