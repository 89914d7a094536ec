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
from gradus._formats import aiger_reader, blif_reader, bnet_reader
from gradus._formats.aiger_reader import parse_aiger
from gradus._formats.blif_reader import parse_blif
from gradus._formats.bnet_reader import parse_bnet
from gradus._formats.export import export
from gradus._formats.functions import TruthFunctions

READERS = {".blif": blif_reader.read, ".aag": aiger_reader.read, ".aig": aiger_reader.read}

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
def test_circuits_come_back(extension: str, case: str, tmp_path: Path) -> None:
    export(CIRCUITS[case], tmp_path / f"circuit{extension}")
    assert_same(READERS[extension](tmp_path / f"circuit{extension}"), CIRCUITS[case])


@pytest.mark.parametrize("case", CIRCUITS)
def test_rules_come_back(case: str, tmp_path: Path) -> None:
    export(CIRCUITS[case], tmp_path / "model.bnet")
    assert_same_rules(bnet_reader.read(tmp_path / "model.bnet", targets=CIRCUITS[case].output_names), CIRCUITS[case])


@given(st.integers(0, 10**6), names, names)
@settings(deadline=None, max_examples=60)
def test_any_names_come_back(seed: int, inputs: list[str], outputs: list[str]) -> None:
    network = random_network(4, 8, 4, seed).with_names(inputs, outputs)
    assert_same(parse_blif(network.to_blif()), network)
    assert_same(parse_aiger(network.to_aiger().encode("utf-8")), network)
    assert_same(parse_aiger(network.to_aiger_binary()), network)
    assert_same_rules(parse_bnet(network.to_bnet(), targets=outputs), network)
