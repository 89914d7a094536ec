from __future__ import annotations

import builtins
import struct
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from gradus import Network
from gradus._drawing.dot import INPUT, OUTPUT, dumps, palette, teaching_order, users
from gradus._drawing.picture import draw_hierarchy, draw_network, hierarchy_dot
from gradus.errors import FormatError, MissingExtraError, SettingsError

pytest.importorskip("pygraphviz")

SVG = "{http://www.w3.org/2000/svg}"
# z0 = NAND(a, b); z1 = AND(a, b) uses z0's gate; z2 = NOT b has a gate of its own.
SHARED = Network(2, [[0, 1], [2, 2], [1, 1]], [2, 3, 4], input_names=["a", "b"])


def boxes(svg: str, kind: str = "node") -> dict[str, ElementTree.Element]:
    groups = ElementTree.fromstring(svg).iter(f"{SVG}g")
    return {group.findtext(f"{SVG}title", ""): group for group in groups if group.get("class") == kind}


def fill(group: ElementTree.Element) -> str | None:
    shape = next(part for part in group if part.tag in {f"{SVG}polygon", f"{SVG}ellipse"})
    return shape.get("fill")


def left_edge(group: ElementTree.Element) -> float:
    shape = next(part for part in group if part.tag in {f"{SVG}polygon", f"{SVG}ellipse"})
    points = shape.get("points")
    return float(shape.get("cx", 0)) if points is None else min(float(p.split(",")[0]) for p in points.split())


@pytest.fixture
def drawn(tmp_path: Path) -> dict[str, ElementTree.Element]:
    draw_network(SHARED, tmp_path / "net.svg")
    return boxes((tmp_path / "net.svg").read_text(encoding="utf-8"))


def test_inputs_are_red_on_the_left_and_outputs_green_on_the_right(drawn: dict[str, ElementTree.Element]) -> None:
    inputs, outputs = ([drawn[name] for name in drawn if name.startswith(kind)] for kind in ("in ", "out "))
    gates = [drawn[name] for name in drawn if name.startswith("g")]
    assert (len(inputs), len(outputs), len(gates)) == (2, 3, 3)
    assert {fill(box) for box in inputs} == {INPUT}
    assert {fill(box) for box in outputs} == {OUTPUT}
    assert max(map(left_edge, inputs)) < min(map(left_edge, gates))
    assert max(map(left_edge, gates)) < min(map(left_edge, outputs))


def test_a_gate_has_the_colour_of_the_first_target_taught_that_uses_it(tmp_path: Path) -> None:
    first, second, third = palette(3)
    draw_network(SHARED, tmp_path / "given.svg")
    colours = {name: fill(box) for name, box in boxes((tmp_path / "given.svg").read_text(encoding="utf-8")).items()}
    assert (colours["g0"], colours["g1"], colours["g2"]) == (first, second, third)
    draw_network(SHARED, tmp_path / "taught.svg", order=["z2", "z1", "z0"])
    colours = {name: fill(box) for name, box in boxes((tmp_path / "taught.svg").read_text(encoding="utf-8")).items()}
    assert (colours["g0"], colours["g1"], colours["g2"]) == (second, second, first)


def test_the_first_user_is_the_first_cone_that_holds_the_node() -> None:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        sources = [rng.integers(0, 3 + gate, size=2).tolist() for gate in range(12)]
        network = Network(3, sources, rng.integers(0, 15, size=4).tolist())
        taught = rng.permutation(4).tolist()
        for node, place in enumerate(users(network, taught).tolist()):
            holding = [k for k in range(4) if network.cone([taught[k]])[node]]
            assert place == min(holding, default=4)


def test_the_legend_counts_the_gates_each_target_adds() -> None:
    text = dumps(SHARED, order=["z1", "z0", "z2"])
    assert "new for z1 (2 gates)" in text
    assert "new for z0 (0 gates)" in text
    assert "new for z2 (1 gate)" in text


def test_png_is_a_png_of_readable_size(tmp_path: Path) -> None:
    draw_network(SHARED, tmp_path / "net.PNG")
    content = (tmp_path / "net.PNG").read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", content[16:24])
    assert width > 500
    assert height > 150


@pytest.mark.parametrize(
    "network",
    [Network(3, [], [1, 1]), Network(2, [[0, 1], [0, 0]], [2]), Network(0, [], []), Network(2, [], []),
     Network(1, [[0, 0]], [1] * 30)],
    ids=["no gates", "a gate without use", "nothing", "no outputs", "thirty targets"],
)  # fmt: skip
def test_unusual_networks_are_drawn(network: Network, tmp_path: Path) -> None:
    draw_network(network, tmp_path / "net.svg")
    drawn = boxes((tmp_path / "net.svg").read_text(encoding="utf-8"))
    assert len(drawn) == network.n_inputs + network.prune().n_gates + network.n_outputs


@pytest.mark.parametrize("name", ['say "a\\b"', "Cdc2/Cdc13*", "<b>&amp;", "é\n", "a\\", "\\N", "\x00", "in x", "-->"])
def test_any_name_can_be_drawn(name: str, tmp_path: Path) -> None:
    draw_network(Network(1, [[0, 0]], [1], input_names=[name], output_names=[name]), tmp_path / "net.svg")
    svg = (tmp_path / "net.svg").read_text(encoding="utf-8")
    shown = "".join(character if character.isprintable() else "·" for character in name)
    texts = ["".join(part.itertext()) for part in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    assert texts.count(shown) == 2
    assert any(shown in text and text.startswith("new for") for text in texts)
    draw_hierarchy(tmp_path / "hierarchy.svg", [name], {name: [name]}, [])
    assert len(boxes((tmp_path / "hierarchy.svg").read_text(encoding="utf-8"))) == 1


def test_colours_differ_for_as_many_targets_as_the_paper_has() -> None:
    colours = palette(28)
    assert len({*colours, INPUT, OUTPUT}) == 30


@pytest.mark.parametrize("order", [["z0"], ["z0", "z0", "z1"], ["z0", "z1", "q"], [0, 1, 3]])
def test_an_order_that_is_none_of_the_targets_is_refused(order: list[str | int], tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="order"):
        draw_network(SHARED, tmp_path / "net.svg", order=order)


def test_names_come_before_positions_in_an_order() -> None:
    assert teaching_order(SHARED, ["z2", 0, "z1"]) == [2, 0, 1]


def test_other_extensions_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"\.svg or \.png"):
        draw_network(SHARED, tmp_path / "net.pdf")


def test_the_message_names_the_extra_when_pygraphviz_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **options: Any) -> Any:
        if name == "pygraphviz":
            raise ImportError(name)
        return real(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match="pip install pygraphviz"):
        draw_network(SHARED, tmp_path / "net.svg")


def test_the_hierarchy_has_a_box_a_target_and_an_arrow_an_edge(tmp_path: Path) -> None:
    targets = ["SK", "PP", "Ste9", "Cdc2/Cdc13*"]
    features = {"SK": ["start"], "PP": ["Slp1"], "Ste9": ["SK", "PP"], "Cdc2/Cdc13*": []}
    edges = [("SK", "Ste9"), ("PP", "Cdc2/Cdc13*")]
    draw_hierarchy(tmp_path / "hierarchy.svg", targets, features, edges)
    svg = (tmp_path / "hierarchy.svg").read_text(encoding="utf-8")
    texts = ["".join(part.itertext()) for part in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    assert sorted(texts) == sorted(["SK", "{start}", "PP", "{Slp1}", "Ste9", "{SK, PP}", "Cdc2/Cdc13*", "{}"])
    assert sorted(boxes(svg, "edge")) == ["t0->t2", "t1->t3"]


def test_a_hierarchy_refuses_what_is_no_target() -> None:
    with pytest.raises(SettingsError, match="'q' is none of the targets"):
        hierarchy_dot(["a"], {"a": []}, [("a", "q")])
    with pytest.raises(SettingsError, match="'q' is none of the targets"):
        hierarchy_dot(["a"], {"q": []}, [])
