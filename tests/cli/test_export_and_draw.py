from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from gradus import Model, Network, problems
from gradus._cli import draw, export
from gradus._formats import circuits
from gradus._tables.encoding import TableColumn, TableEncoding
from gradus._tables.labels import TargetEncoding
from gradus.errors import DataError, FormatError, SettingsError

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
    assert f"wrote {target}: 2 inputs, 2 targets, 5 gates" in result.output
    assert target.read_text(encoding="utf-8") == circuits.export(ADDER, format=extension)


def test_bad_input_raises_our_own_error(model: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(app(), ["export", str(model), str(tmp_path / "circuit.doc")])
    assert isinstance(result.exception, FormatError)
    result = CliRunner().invoke(app(), ["export", str(tmp_path / "none.json"), str(tmp_path / "circuit.v")])
    assert isinstance(result.exception, FormatError)
    result = CliRunner().invoke(app(), ["draw", str(model), str(tmp_path / "net.svg"), "--order", "sum"])
    assert isinstance(result.exception, SettingsError)


def test_the_vote_of_a_model_is_exported_as_one_circuit(tmp_path: Path) -> None:
    """Two of three circuits say NAND; the best one is the first column."""
    of_one = Model.of_bits(Network(2, [], [0]))
    nand = Network(2, [[0, 1]], [2])
    Model((of_one.network, nand, nand), of_one.features, of_one.targets).save(tmp_path / "model.json")
    for options, rule in (([], "z0 = x0\n"), (["--vote"], "z0 = !x0 | !x1\n")):
        target = tmp_path / "rules.txt"
        result = CliRunner().invoke(app(), ["export", str(tmp_path / "model.json"), str(target), *options])
        assert result.exit_code == 0, result.output
        assert rule in target.read_text(encoding="utf-8")


def test_a_vote_on_three_classes_is_refused_with_a_reason(tmp_path: Path) -> None:
    network = Network(2, [[0, 1]], [0, 1, 2], input_names=["a", "b"], output_names=["t = p", "t = q", "t = r"])
    features = TableEncoding((TableColumn("a", "bit", strict=True), TableColumn("b", "bit", strict=True)))
    Model((network, network), features, (TargetEncoding("t", ("p", "q", "r")),)).save(tmp_path / "model.json")
    for verb, name in (("export", "circuit.v"), ("draw", "net.svg")):
        result = CliRunner().invoke(app(), [verb, str(tmp_path / "model.json"), str(tmp_path / name), "--vote"])
        assert isinstance(result.exception, DataError)
        assert "target 't' has 3 classes, and only votes on two classes become one circuit" in str(result.exception)


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
    assert f"drew {picture}: 2 targets, 5 gates" in result.output
    assert picture.read_bytes().startswith(begins)


@pytest.mark.parametrize("kept", ["sum", [0, 1], [["sum"], "carry"], {"sum": 1}])
def test_an_invalid_order_in_the_model_is_an_error(kept: object, model: Path, tmp_path: Path) -> None:
    ADDER.save(model, about={"order": kept})
    result = CliRunner().invoke(app(), ["draw", str(model), str(tmp_path / "net.svg")])
    assert isinstance(result.exception, FormatError)


@pytest.mark.parametrize("extension", [".v", ".blif", ".bench", ".bnet", ".txt", ".aag", ".aig", ".sbml"])
def test_exports_of_a_model_say_what_the_outputs_mean(extension: str, tmp_path: Path) -> None:
    if extension == ".sbml":
        pytest.importorskip("biodivine_aeon")
    warm = TargetEncoding("warm", ("no", "gradus-name: --> yes"))
    network = Network(2, [[0, 1]], [2], [8], output_names=warm.output_names)
    model = Model((network,), Model.of_bits(network).features, (warm,))
    circuits.export(model, tmp_path / f"m{extension}")
    content = (tmp_path / f"m{extension}").read_bytes()
    assert b"warm is no where" in content
    assert b'warm is "gradus-name' in content
    if extension in (".blif", ".bnet", ".aag", ".aig"):
        assert problems.from_file(tmp_path / f"m{extension}").Y.ravel().tolist() == [False, False, False, True]


def test_a_drawing_of_a_model_groups_the_bits_of_a_column(tmp_path: Path) -> None:
    pytest.importorskip("pygraphviz")
    features = TableEncoding((TableColumn("age", "above", (18, 65)), TableColumn("on", "bit")))
    network = Network(3, [[0, 1], [3, 2]], [4], [6, 8], input_names=features.input_names, output_names=["y"])
    Model((network,), features, (TargetEncoding("y", (0, 1)),)).save(tmp_path / "model.json")
    assert CliRunner().invoke(app(), ["draw", str(tmp_path / "model.json"), str(tmp_path / "net.svg")]).exit_code == 0
    texts = re.findall(r">([^<>]+)</text>", (tmp_path / "net.svg").read_text(encoding="utf-8"))
    assert [text for text in texts if text in ("age", "&gt; 18", "&gt; 65", "on", "y")] == [
        "age",
        "&gt; 18",
        "&gt; 65",
        "on",
        "y",
    ]
