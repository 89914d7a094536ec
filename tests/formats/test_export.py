from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from circuits import CIRCUITS, ripple_adder

from gradus import Network
from gradus._formats.export import EXTENSIONS, export
from gradus.errors import FormatError

METHODS = {
    ".v": "to_verilog", ".blif": "to_blif", ".bench": "to_bench", ".aag": "to_aiger", ".aig": "to_aiger_binary",
    ".bnet": "to_bnet", ".sbml": "to_sbml", ".dot": "to_dot", ".json": "to_json",
}  # fmt: skip


@pytest.mark.parametrize("extension", METHODS)
def test_the_extension_picks_what_the_method_returns(extension: str, tmp_path: Path) -> None:
    network = ripple_adder(2)
    file = tmp_path / f"circuit{extension.upper()}"
    export(network, file)
    expected = getattr(network, METHODS[extension])()
    assert file.read_bytes() == (expected if isinstance(expected, bytes) else expected.encode())


def test_every_extension_is_tried_here() -> None:
    assert {*METHODS, ".txt"} == set(EXTENSIONS)


def test_formulas_are_one_line_a_target(tmp_path: Path) -> None:
    export(ripple_adder(2), tmp_path / "rules.txt")
    lines = (tmp_path / "rules.txt").read_text().splitlines()
    assert lines[1] == "z0 = !x0 & y0 | x0 & !y0"
    assert len(lines) == 3


def test_json_is_read_back_as_the_same_network(tmp_path: Path) -> None:
    for network in CIRCUITS.values():
        export(network, tmp_path / "model.json")
        assert Network.load(tmp_path / "model.json") == network


@pytest.mark.parametrize("name", ["circuit.vhdl", "circuit", "circuit.v.gz"])
def test_other_extensions_are_refused_and_nothing_is_written(name: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"use one of \.v, \.blif"):
        export(ripple_adder(2), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="nowhere"):
        export(ripple_adder(2), tmp_path / "nowhere" / "circuit.v")


def test_a_network_loads_no_writer_until_it_is_asked() -> None:
    check = "import sys, gradus; gradus.Network; print([m for m in sys.modules if m.startswith('gradus._formats')])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
