from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from circuits import CIRCUITS, ripple_adder

import gradus
from gradus import Network
from gradus._formats.circuits import export
from gradus._formats.registry import WRITTEN
from gradus.errors import DataError, FormatError

FORMATS = [extension[1:] for extension in WRITTEN]


def same(one: str | bytes, other: str | bytes) -> bool:
    """A PDF holds the time at which it was made."""
    return len(one) == len(other) if other[:4] == b"%PDF" else one == other


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_holds_the_text_of_its_format_whether_extension_or_argument_says_so(name: str, tmp_path: Path) -> None:
    network = ripple_adder(2)
    expected = export(network, format=name)
    assert isinstance(expected, bytes) == (name in ("aig", "png", "pdf"))
    assert same(export(network, tmp_path / f"circuit.{name.upper()}"), expected)
    export(network, tmp_path / "circuit.data", format=name)
    for file in (tmp_path / f"circuit.{name.upper()}", tmp_path / "circuit.data"):
        assert same(file.read_bytes(), expected if isinstance(expected, bytes) else expected.encode())


def test_formulas_are_one_line_per_target(tmp_path: Path) -> None:
    export(ripple_adder(2), tmp_path / "rules.txt")
    lines = (tmp_path / "rules.txt").read_text().splitlines()
    assert lines[1] == "z0 = x0 ^ y0"
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


@pytest.mark.parametrize(
    ("arguments", "says"), [({}, "give a path or a format"), ({"format": "vhdl"}, "'vhdl' is not a format")]
)
def test_a_format_that_is_missing_or_unknown_is_refused(arguments: dict[str, str], says: str) -> None:
    with pytest.raises(FormatError, match=rf"{says}; use one of \.v, \.blif"):
        export(ripple_adder(2), **arguments)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="nowhere"):
        export(ripple_adder(2), tmp_path / "nowhere" / "circuit.v")


def test_a_network_loads_no_writer_until_it_is_asked() -> None:
    check = "import sys, gradus; gradus.Network; print([m for m in sys.modules if m.startswith('gradus._formats')])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_result_is_exported_as_its_best_circuit():
    X, Y = [[0, 0], [0, 1], [1, 0], [1, 1]], [[0], [1], [1], [0]]
    for result in (gradus.learn(X, Y), gradus.search(X, Y, seed=1)):
        for format in ("v", "json", "dot"):
            assert gradus.export(result, format=format) == gradus.export(result.network, format=format)


def test_what_has_no_circuit_is_refused_by_name():
    with pytest.raises(DataError, match="a dict cannot be exported; give a network"):
        gradus.export({}, format="v")
