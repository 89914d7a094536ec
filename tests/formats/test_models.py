"""`.bnet`, SBML-qual and formulas, as read by AEON."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from circuits import CIRCUITS, awkward_names, yeast_rules
from referees import assert_model_means

from gradus import Network, problems
from gradus._formats.circuits import export
from gradus._formats.names import restore
from gradus.errors import DataError, FormatError, MissingExtraError

aeon = pytest.importorskip("biodivine_aeon")

SPECIES = "{http://www.sbml.org/sbml/level3/version1/qual/version1}qualitativeSpecies"
ID = "{http://www.sbml.org/sbml/level3/version1/qual/version1}id"


@pytest.mark.parametrize("case", CIRCUITS)
def test_aeon_finds_the_networks_rules_in_bnet(case: str, tmp_path: Path) -> None:
    export(CIRCUITS[case], tmp_path / "model.bnet")
    text = (tmp_path / "model.bnet").read_text(encoding="utf-8")
    assert_model_means(aeon.BooleanNetwork.from_bnet(text), CIRCUITS[case], text)


@pytest.mark.parametrize("case", CIRCUITS)
def test_aeon_finds_the_networks_rules_in_sbml(case: str, tmp_path: Path) -> None:
    export(CIRCUITS[case], tmp_path / "model.sbml")
    text = (tmp_path / "model.sbml").read_text(encoding="utf-8")
    assert_model_means(aeon.BooleanNetwork.from_sbml(text), CIRCUITS[case], text)


def test_the_referee_refuses_a_model_with_one_wrong_rule() -> None:
    right = Network(2, [[0, 1]], [2])
    wrong = Network(2, [[0, 0]], [2])
    with pytest.raises(AssertionError):
        assert_model_means(aeon.BooleanNetwork.from_bnet(export(wrong, format="bnet")), right, "")


def test_a_target_named_like_an_input_is_that_genes_update() -> None:
    lines = export(yeast_rules(), format="bnet").split("\n")
    assert "Rum1, Rum1" in lines
    assert [line.split(",")[0] for line in lines].count("Cdc2_Cdc13") == 1
    assert "Cdc2_Cdc13, !Rum1 & !Slp1" in lines


def test_awkward_names_make_well_formed_xml() -> None:
    text = export(awkward_names(), format="sbml")
    species = [item.get(ID) for item in ElementTree.fromstring(text).iter(SPECIES)]
    assert sorted(restore(species, text)) == sorted(awkward_names().input_names)


def test_a_model_without_variables_is_refused() -> None:
    with pytest.raises(DataError, match="no inputs and no outputs"):
        export(Network(0, [], []), format="sbml")


def test_the_message_names_the_extra_when_aeon_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **options: Any) -> Any:
        if name == "biodivine_aeon":
            raise ImportError(name)
        return real(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match="pip install biodivine-aeon"):
        export(Network(1, [], [0]), format="sbml")


def test_rules_too_long_for_aeon_are_refused_before_it_sees_them(tmp_path: Path) -> None:
    n = 400
    pairs = [[2 * i, 2 * i + 1] for i in range(n)]
    chain = [[2 * n, 2 * n + 1], *([3 * n + i, 2 * n + i + 2] for i in range(n - 2))]
    product = Network(2 * n, pairs + chain, [4 * n - 2], [6] * n + [8] * (n - 1))
    with pytest.raises(FormatError, match=r"z0.*too many to be written as SBML; write \.bnet"):
        export(product, tmp_path / "wide.sbml")
    assert not (tmp_path / "wide.sbml").exists()


def test_deep_and_long_sbml_files_are_refused_before_aeon_sees_them(tmp_path: Path) -> None:
    path = tmp_path / "t.sbml"
    export(Network(2, [[0, 1]], [2], [6]), path)
    whole = path.read_text(encoding="utf-8")
    begin, end = whole.rindex("<math"), whole.rindex("</math>")
    begin = whole.index("<apply", begin)
    rule = whole[begin:end]
    for changed, says in (
        ("<apply><not/>" * 20_000 + rule + "</apply>" * 20_000, "nested more than 500 deep"),
        ("<apply><or/>" + rule * 3000 + "</apply>", "more than 2000 operators"),
    ):
        path.write_text(whole[:begin] + changed + whole[end:], encoding="utf-8")
        with pytest.raises(FormatError, match=says):
            problems.from_file(path)
    path.write_text("<!DOCTYPE sbml>" + whole.split("?>", 1)[1], encoding="utf-8")
    with pytest.raises(FormatError, match="document type"):
        problems.from_file(path)
