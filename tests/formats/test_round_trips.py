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
from gradus._formats.aiger import parse_aiger, read_aiger
from gradus._formats.blif import parse_blif, read_blif
from gradus._formats.bnet import parse_bnet, read_bnet
from gradus._formats.truth_functions import TruthFunctions
from gradus._formats.writers import export

READERS = {".blif": read_blif, ".aag": read_aiger, ".aig": read_aiger}

text = st.text(st.characters(exclude_categories=()), max_size=5)  # half of a surrogate pair included
names = st.lists(text, min_size=4, max_size=4, unique=True)


def assert_same(model: TruthFunctions, network: Network) -> None:
    assert model.input_names == network.input_names
    assert model.output_names == network.output_names
    X = patterns(network.n_inputs)
    np.testing.assert_array_equal(model.evaluate(X), network.predict(X))


def assert_same_rules(model: TruthFunctions, network: Network) -> None:
    assert set(model.input_names) >= set(network.input_names) - set(network.output_names)
    assert set(model.input_names) <= set(network.input_names)
    assert model.output_names == network.output_names
    X = patterns(network.n_inputs)
    columns = [network.input_names.index(name) for name in model.input_names]
    np.testing.assert_array_equal(model.evaluate(X[:, columns]), network.predict(X))


@pytest.mark.parametrize("case", CIRCUITS)
@pytest.mark.parametrize("extension", READERS)
def test_circuits_survive_a_round_trip(extension: str, case: str, tmp_path: Path) -> None:
    export(CIRCUITS[case], tmp_path / f"circuit{extension}")
    assert_same(READERS[extension](tmp_path / f"circuit{extension}"), CIRCUITS[case])


@pytest.mark.parametrize("case", CIRCUITS)
def test_rules_survive_a_round_trip(case: str, tmp_path: Path) -> None:
    export(CIRCUITS[case], tmp_path / "model.bnet")
    assert_same_rules(read_bnet(tmp_path / "model.bnet", targets=CIRCUITS[case].output_names), CIRCUITS[case])


@given(st.integers(0, 10**6), names, names, st.booleans())
@settings(deadline=None, max_examples=60)
def test_any_names_survive_a_round_trip(seed: int, inputs: list[str], outputs: list[str], any_gates: bool) -> None:
    network = random_network(4, 8, 4, seed, any_gates=any_gates).with_names(inputs, outputs)
    assert_same(parse_blif(export(network, format="blif")), network)
    assert_same(parse_aiger(export(network, format="aag").encode("utf-8")), network)
    assert_same(parse_aiger(export(network, format="aig")), network)
    assert_same_rules(parse_bnet(export(network, format="bnet"), targets=outputs), network)
