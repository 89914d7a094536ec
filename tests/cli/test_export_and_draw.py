from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from gradus import Network
from gradus._cli import draw_verb as draw
from gradus._cli import export_verb as export
from gradus._formats import writers
from gradus.errors import FormatError, SettingsError

ADDER = Network(2, [[0, 1], [0, 2], [1, 2], [3, 4], [2, 2]], [5, 6], output_names=["sum", "carry"])


def app() -> typer.Typer:
    verbs = typer.Typer()
    verbs.command("export")(export.command)
    verbs.command("draw")(draw.command)
    return verbs


@pytest.fixture
def model(tmp_path: Path) -> Path:
    ADDER.save(tmp_path / "model.json")
    return tmp_path / "model.json"


@pytest.mark.parametrize("extension", [".v", ".blif", ".aag", ".bench", ".bnet", ".dot"])
def test_export_writes_what_the_function_returns(extension: str, model: Path, tmp_path: Path) -> None:
    target = tmp_path / f"circuit{extension}"
    result = CliRunner().invoke(app(), ["export", str(model), str(target)])
    assert result.exit_code == 0, result.output
    assert f"wrote {target}: 2 inputs, 2 targets, 5 live gates" in result.output
    assert target.read_text(encoding="utf-8") == writers.export(ADDER, format=extension)


def test_bad_input_raises_our_own_error(model: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(app(), ["export", str(model), str(tmp_path / "circuit.doc")])
    assert isinstance(result.exception, FormatError)
    result = CliRunner().invoke(app(), ["export", str(tmp_path / "none.json"), str(tmp_path / "circuit.v")])
    assert isinstance(result.exception, FormatError)
    result = CliRunner().invoke(app(), ["draw", str(model), str(tmp_path / "net.svg"), "--order", "sum"])
    assert isinstance(result.exception, SettingsError)


def legend(picture: Path) -> list[str]:
    lines = picture.read_text(encoding="utf-8").split("new for ")[1:]
    return [line.split("<")[0] for line in lines]


def test_draw_takes_the_order_given_or_kept_or_that_of_the_targets(model: Path, tmp_path: Path) -> None:
    pytest.importorskip("pygraphviz")
    picture = tmp_path / "net.svg"
    assert CliRunner().invoke(app(), ["draw", str(model), str(picture)]).exit_code == 0
    assert legend(picture) == ["sum (4 gates)", "carry (1 gate)"]
    assert CliRunner().invoke(app(), ["draw", str(model), str(picture), "--order", "carry, sum"]).exit_code == 0
    assert legend(picture) == ["carry (2 gates)", "sum (3 gates)"]
    ADDER.save(model, about={"order": ["carry", "sum"]})
    assert CliRunner().invoke(app(), ["draw", str(model), str(picture)]).exit_code == 0
    assert legend(picture) == ["carry (2 gates)", "sum (3 gates)"]


@pytest.mark.parametrize(("extension", "begins"), [(".png", b"\x89PNG"), (".pdf", b"%PDF")])
def test_pictures_of_other_kinds_are_drawn(extension: str, begins: bytes, model: Path, tmp_path: Path) -> None:
    pytest.importorskip("pygraphviz")
    picture = tmp_path / f"net{extension}"
    result = CliRunner().invoke(app(), ["draw", str(model), str(picture)])
    assert result.exit_code == 0, result.output
    assert f"drew {picture}: 2 targets, 5 live gates" in result.output
    assert picture.read_bytes().startswith(begins)


@pytest.mark.parametrize("kept", ["sum", [0, 1], [["sum"], "carry"], {"sum": 1}])
def test_a_kept_order_that_is_no_list_of_names_is_an_error(kept: object, model: Path, tmp_path: Path) -> None:
    ADDER.save(model, about={"order": kept})
    result = CliRunner().invoke(app(), ["draw", str(model), str(tmp_path / "net.svg")])
    assert isinstance(result.exception, FormatError)
