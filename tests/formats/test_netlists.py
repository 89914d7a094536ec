"""Verilog, BLIF, BENCH and AIGER, as read by Yosys, ABC and aigverse."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from circuits import CIRCUITS, awkward_names, random_network, ripple_adder
from hypothesis import given, settings
from hypothesis import strategies as st
from referees import abc_to_aiger, assert_aiger_means, yosys_to_aiger

from gradus import Network
from gradus._formats.circuits import export
from gradus._formats.names import IDENTIFIER, NET_NAME, restore
from gradus._formats.netlist import interface_names, netlist

CASES = [*CIRCUITS.values(), *(random_network(5, 25, 6, seed, any_gates=True) for seed in range(20))]
needs_yosys = pytest.mark.skipif(find_spec("pyosys") is None, reason="there is no pyosys for this platform or Python")


def written(folder: Path, extension: str) -> list[Path]:
    files = [folder / f"case{number}{extension}" for number in range(len(CASES))]
    for file, network in zip(files, CASES, strict=True):
        export(network, file)
    return files


def text_of(file: Path) -> str:
    return file.read_bytes().decode("utf-8", errors="replace")


@needs_yosys
@pytest.mark.parametrize("extension", [".v", ".blif"])
def test_yosys_finds_the_networks_functions_and_names(extension: str, tmp_path: Path) -> None:
    files = written(tmp_path, extension)
    for file, translated, network in zip(files, yosys_to_aiger(files), CASES, strict=True):
        assert_aiger_means(translated, network, text_of(file))


@needs_yosys
@pytest.mark.parametrize("extension", [".blif", ".bench", ".aig"])
def test_abc_finds_the_networks_functions_and_names(extension: str, tmp_path: Path) -> None:
    files = written(tmp_path, extension)
    for file, translated, network in zip(files, abc_to_aiger(files), CASES, strict=True):
        assert_aiger_means(translated, network, text_of(file))


@pytest.mark.parametrize("extension", [".aag", ".aig"])
def test_aigverse_finds_the_networks_functions_and_names(extension: str, tmp_path: Path) -> None:
    for file, network in zip(written(tmp_path, extension), CASES, strict=True):
        assert_aiger_means(file, network, text_of(file))


@needs_yosys
def test_the_referees_refuse_a_circuit_with_one_wrong_wire(tmp_path: Path) -> None:
    adder = ripple_adder(3)
    wiring = adder.sources.copy()
    wiring[adder.outputs[-1] - adder.n_inputs, 0] = 0
    wrong = Network(6, wiring, adder.outputs, adder.functions, input_names=adder.input_names)
    files = [tmp_path / f"wrong{extension}" for extension in (".v", ".blif", ".bench", ".aig")]
    for file in files:
        export(wrong, file)
    for translated in [*yosys_to_aiger(files[:2]), *abc_to_aiger(files[1:]), files[3]]:
        assert_aiger_means(translated, wrong, "")
        with pytest.raises(AssertionError):
            assert_aiger_means(translated, adder, "")


def test_writers_leave_out_dead_gates() -> None:
    network = Network(2, [[0, 1], [0, 0], [2, 2], [1, 1]], [4])
    assert export(network, format="v").count("assign") == 2
    assert export(network, format="blif").count(".names") == 2
    assert export(network, format="bench").count("=") == 2
    assert export(network, format="aag").startswith("aag 3 2 0 1 1\n")  # an inverter is a complemented wire


def test_a_network_without_inputs_and_outputs_is_written_too() -> None:
    empty = Network(0, [], [])
    assert "module gradus_network (\n);\nendmodule" in export(empty, format="v")
    assert ".inputs\n.outputs\n.end" in export(empty, format="blif")
    assert export(empty, format="bench").count("\n") == 1
    assert export(empty, format="aag").startswith("aag 0 0 0 0 0\nc\n")
    assert export(empty, format="aig").startswith(b"aig 0 0 0 0 0\nc\n")


def test_the_yeast_names_are_kept_in_netlists_that_can_hold_them() -> None:
    text = export(CIRCUITS["yeast"], format="blif")
    assert ".inputs Cdc2/Cdc13 Rum1 Cdc2/Cdc13* Slp1" in text
    assert '# gradus-name: Cdc2/Cdc13*_next stands for "Cdc2/Cdc13*"' in text


def test_binary_aiger_holds_distances_beyond_one_byte(tmp_path: Path) -> None:
    far = Network(200, [[0, 199]], [200], input_names=[f"x{i}" for i in range(200)])
    export(far, tmp_path / "far.aig")
    assert_aiger_means(tmp_path / "far.aig", far, "")


names = st.lists(st.text(max_size=6), min_size=2, max_size=5, unique=True)


@given(names, names, st.sampled_from([IDENTIFIER, NET_NAME]))
@settings(deadline=None)
def test_safe_names_are_allowed_distinct_and_restored(inputs: list[str], outputs: list[str], allowed: re.Pattern[str]) -> None:
    network = Network(len(inputs), [], [0] * len(outputs), input_names=inputs, output_names=outputs)
    safe_inputs, safe_outputs, lines = interface_names(network, allowed, {"wire", "a"})
    safe = [*safe_inputs, *safe_outputs]
    assert len(set(safe)) == len(safe)
    assert all(allowed.fullmatch(name) and name.lower() not in {"wire", "a"} for name in safe)
    assert restore(safe, "\n".join(f"# {line}" for line in lines)) == [*inputs, *outputs]


@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(0, 12), st.integers(0, 4), st.booleans())
@settings(deadline=None)
def test_a_netlist_read_wire_by_wire_is_the_network(
    seed: int, n_inputs: int, n_gates: int, n_outputs: int, any_gates: bool
) -> None:
    network = random_network(n_inputs, n_gates, n_outputs, seed, any_gates=any_gates)
    circuit = netlist(network, IDENTIFIER)
    X = np.random.default_rng(seed).random((8, n_inputs)) < 0.5
    value = dict(zip(circuit.inputs, X.T, strict=True))
    for wire, function, sources in circuit.gates:
        assert wire not in value
        assert len(set(sources)) == len(sources)
        # A gate of one wire or none reads it at any place that its function looks at.
        a, b = ([value[source] for source in sources] or [X[:, 0]]) * (1 if len(sources) == 2 else 2)
        value[wire] = (function >> (2 * a.astype(int) + b) & 1).astype(bool)
    for column, name in enumerate(circuit.outputs):
        np.testing.assert_array_equal(value[name], network.predict(X)[:, column])


def test_gate_names_never_meet_the_names_of_inputs() -> None:
    circuit = netlist(Network(2, [[0, 1], [2, 2]], [3], input_names=["g0", "gg0"]), IDENTIFIER)
    assert circuit.wires == ("ggg0",)


def test_awkward_names_cover_what_they_are_for() -> None:
    _, _, lines = interface_names(awkward_names(), NET_NAME)
    assert len(lines) > len(awkward_names().input_names)
