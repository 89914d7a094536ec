from __future__ import annotations

import builtins
import graphlib
import re
import struct
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from gradus import Network
from gradus._circuit.drawing.diagram import (
    INPUT,
    OUTPUT,
    Group,
    Grouping,
    blocks,
    diagram,
    first_targets,
    palette,
    teaching_order,
)
from gradus._circuit.drawing.dot import hierarchy_dot, network_dot
from gradus._circuit.drawing.picture import draw_hierarchy, draw_network
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


def top_edge(group: ElementTree.Element) -> float:
    points = next(part for part in group if part.tag == f"{SVG}polygon").get("points", "")
    return min(float(point.split(",")[1]) for point in points.split())


def picture(network: Network, folder: Path, **options: Any) -> str:
    draw_network(network, folder / "net.svg", **options)
    return (folder / "net.svg").read_text(encoding="utf-8")


def symbols(svg: str) -> list[ElementTree.Element]:
    """The shapes of the gates: everything before the first node that has a line of its own and is not the legend."""
    graph = next(iter(ElementTree.fromstring(svg)))
    return [part for part in graph if part.get("stroke") == "#333333"]


def outlines(svg: str) -> list[ElementTree.Element]:
    """The bodies of the gates, in the order of the gates."""
    return [part for part in symbols(svg) if part.get("fill") not in ("none", "#ffffff", "white")]


def bubbles(svg: str) -> int:
    return sum(part.tag == f"{SVG}ellipse" and float(part.get("rx", 0)) < 4 for part in symbols(svg))


def test_inputs_are_red_on_the_left_and_outputs_green_on_the_right(tmp_path: Path) -> None:
    svg = picture(SHARED, tmp_path)
    drawn = boxes(svg)
    inputs, outputs = ([drawn[name] for name in drawn if name.startswith(kind)] for kind in ("in", "out"))
    assert (len(inputs), len(outputs), len(outlines(svg))) == (2, 3, 3)
    assert {fill(box) for box in inputs} == {INPUT}
    assert {fill(box) for box in outputs} == {OUTPUT}
    places = [float(re.findall(r"-?[\d.]+", part.get("d") or part.get("points") or "")[0]) for part in outlines(svg)]
    assert max(map(left_edge, inputs)) < min(places)
    assert max(places) < min(map(left_edge, outputs))


def test_a_gate_has_the_colour_of_the_first_target_taught_that_uses_it(tmp_path: Path) -> None:
    first, second, third = palette(3)
    assert [part.get("fill") for part in outlines(picture(SHARED, tmp_path))] == [first, second, third]
    taught = picture(SHARED, tmp_path, order=["z2", "z1", "z0"])
    assert [part.get("fill") for part in outlines(taught)] == [second, second, first]


# For each function: curved outlines, triangles, discs of constants, bubbles, and the extra arc of an XOR.
SHAPES = {
    0: (0, 0, 1, 0, 0), 1: (1, 0, 0, 1, 0), 2: (1, 0, 0, 1, 0), 3: (0, 1, 0, 1, 0), 4: (1, 0, 0, 1, 0), 5: (0, 1, 0, 1, 0),
    6: (1, 0, 0, 0, 1), 7: (1, 0, 0, 1, 0), 8: (1, 0, 0, 0, 0), 9: (1, 0, 0, 1, 1), 10: (0, 1, 0, 0, 0), 11: (1, 0, 0, 1, 0),
    12: (0, 1, 0, 0, 0), 13: (1, 0, 0, 1, 0), 14: (1, 0, 0, 0, 0), 15: (0, 0, 1, 0, 0),
}  # fmt: skip


@pytest.mark.parametrize("function", SHAPES)
def test_every_function_has_its_symbol_with_its_bubbles(function: int, tmp_path: Path) -> None:
    svg = picture(Network(2, [[0, 1]], [2], [function]), tmp_path)
    shapes = outlines(svg)
    arcs = [part for part in symbols(svg) if part.tag == f"{SVG}path" and part.get("fill") == "none"]
    kinds = [sum(part.tag == f"{SVG}{tag}" for part in shapes) for tag in ("path", "polygon", "ellipse")]
    assert (*kinds, bubbles(svg), len(arcs)) == SHAPES[function]
    texts = ["".join(part.itertext()) for part in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    assert texts.count("0") == (function == 0)
    assert texts.count("1") == (function == 15)


def test_inputs_that_nothing_reads_are_left_out(tmp_path: Path) -> None:
    assert "in1" not in boxes(picture(Network(3, [[0, 2]], [3]), tmp_path))
    assert "in1" not in network_dot(Network(2, [[0, 1]], [2], [12]))


def test_the_first_target_is_on_top(tmp_path: Path) -> None:
    for outputs in ([3, 4, 5, 6], [6, 5, 4, 3]):
        network = Network(3, [[0, 1], [3, 2], [4, 2], [5, 0]], outputs, [6, 8, 14, 7])
        drawn = boxes(picture(network, tmp_path))
        assert top_edge(drawn["out0"]) < top_edge(drawn["out3"])


def test_a_notebook_shows_the_drawing_unless_it_is_too_large() -> None:
    assert (SHARED._repr_svg_() or "").count("<title>g") >= 3
    assert large_network(900, 1, 0)._repr_svg_() is None


def test_the_first_user_is_the_first_cone_that_holds_the_node() -> None:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        sources = [rng.integers(0, 3 + gate, size=2).tolist() for gate in range(12)]
        network = Network(3, sources, rng.integers(0, 15, size=4).tolist())
        taught = rng.permutation(4).tolist()
        for node, place in enumerate(first_targets(network, taught).tolist()):
            holding = [k for k in range(4) if network.cone([taught[k]])[node]]
            assert place == min(holding, default=4)


def test_the_legend_counts_the_gates_each_target_adds() -> None:
    text = network_dot(SHARED, order=["z1", "z0", "z2"])
    assert "new for z1 (2 gates)" in text
    assert "new for z0 (0 gates)" in text
    assert "new for z2 (1 gate)" in text


def test_pdf_is_a_pdf(tmp_path: Path) -> None:
    draw_network(SHARED, tmp_path / "net.pdf")
    draw_hierarchy(tmp_path / "hierarchy.pdf", ["a"], {}, [])
    for name in ("net.pdf", "hierarchy.pdf"):
        assert (tmp_path / name).read_bytes().startswith(b"%PDF-")


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
     Network(1, [[0, 0]], [1] * 30), Network(2, [[0, 1]] * 16, range(2, 18), range(16))],
    ids=["no gates", "a gate without use", "nothing", "no outputs", "thirty targets", "every gate"],
)  # fmt: skip
def test_unusual_networks_are_drawn(network: Network, tmp_path: Path) -> None:
    draw_network(network, tmp_path / "net.svg")
    drawn = boxes((tmp_path / "net.svg").read_text(encoding="utf-8"))
    used = network.cone(range(network.n_outputs))
    assert len(drawn) == used.sum() + network.n_outputs


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
def test_an_order_that_is_not_one_of_all_targets_is_refused(order: list[str | int], tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="order"):
        draw_network(SHARED, tmp_path / "net.svg", order=order)


def test_names_come_before_positions_in_an_order() -> None:
    assert teaching_order(SHARED.output_names, ["z2", 0, "z1"]) == [2, 0, 1]


def test_other_extensions_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"\.svg, \.png or \.pdf"):
        draw_network(SHARED, tmp_path / "net.jpg")


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (ModuleNotFoundError("No module named 'pygraphviz'"), "pip install pygraphviz"),
        (ImportError("libgobject-2.0.so.0: cannot open shared object file"), r"\(libgobject.*apt-get install libglib"),
    ],
)
def test_the_message_says_what_to_install_when_pygraphviz_cannot_be_used(
    error: ImportError, remedy: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **options: Any) -> Any:
        if name == "pygraphviz":
            raise error
        return real(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=remedy):
        draw_network(SHARED, tmp_path / "net.svg")
    assert SHARED._repr_svg_() is None


def test_the_hierarchy_has_a_box_per_target_and_an_arrow_per_edge(tmp_path: Path) -> None:
    targets = ["SK", "PP", "Ste9", "Cdc2/Cdc13*"]
    features = {"SK": ["start"], "PP": ["Slp1"], "Ste9": ["SK", "PP"], "Cdc2/Cdc13*": []}
    edges = [("SK", "Ste9"), ("PP", "Cdc2/Cdc13*")]
    draw_hierarchy(tmp_path / "hierarchy.svg", targets, features, edges)
    svg = (tmp_path / "hierarchy.svg").read_text(encoding="utf-8")
    texts = ["".join(part.itertext()) for part in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    assert sorted(texts) == sorted(["SK", "{start}", "PP", "{Slp1}", "Ste9", "{SK, PP}", "Cdc2/Cdc13*", "{}"])
    assert sorted(boxes(svg, "edge")) == ["t0->t2", "t1->t3"]


def test_a_hierarchy_refuses_unknown_targets() -> None:
    with pytest.raises(SettingsError, match="'q' is not one of the targets"):
        hierarchy_dot(["a"], {"a": []}, [("a", "q")])
    with pytest.raises(SettingsError, match="'q' is not one of the targets"):
        hierarchy_dot(["a"], {"q": []}, [])


def large_network(n_gates: int, n_targets: int, seed: int) -> Network:
    rng = np.random.default_rng(seed)
    sources = [[int(rng.integers(max(0, node - 30), node)), int(rng.integers(0, node))] for node in range(12, 12 + n_gates)]
    outputs = range(12 + n_gates - n_targets, 12 + n_gates)
    return Network(12, sources, outputs, rng.choice([6, 7, 8, 14], n_gates)).prune()


@pytest.mark.parametrize("seed", range(4))
def test_a_block_reads_only_blocks_and_inputs_before_it(seed: int) -> None:
    network = large_network(900, 9, seed)
    block = blocks(network)
    assert network.n_gates > 300
    assert len(set(block)) <= 40
    before: dict[int, set[int]] = {last: set() for last in block}
    for gate, last in enumerate(block):
        before[last] |= {block[source - 12] for source in network.read_sources[gate] if source >= 12} - {last}
    order = graphlib.TopologicalSorter(before)
    assert set(order.static_order()) == set(block)
    parts = diagram(network, block=block)
    assert sum(gate.size for gate in parts.gates.values()) == network.n_gates
    for gate in parts.gates.values():
        assert all(source < 12 or source in parts.gates for source, _ in gate.pins)


def test_a_tree_is_folded_into_blocks_with_one_output() -> None:
    # A ladder of 100 gates with an output at every tenth.
    network = Network(2, [[0, 1], *([gate + 1, gate % 2] for gate in range(1, 100))], range(11, 102, 10), [6] * 100)
    block = blocks(network)
    assert 10 <= len(set(block)) <= 40
    for gate, home in enumerate(block):
        outside = {block[g] for g, read in enumerate(network.read_sources) if gate + 2 in read} - {home}
        assert not outside or gate == home


def test_a_large_circuit_is_drawn_in_boxes(tmp_path: Path) -> None:
    network = large_network(600, 6, 1)
    drawn = boxes(picture(network, tmp_path))
    assert sum(key.startswith("g") for key in drawn) <= 40
    assert "gates</text>" in (tmp_path / "net.svg").read_text(encoding="utf-8")


def test_bits_of_a_column_share_a_box(tmp_path: Path) -> None:
    network = Network(3, [[0, 1], [3, 2]], [3, 4], [8, 14])
    inputs = Group("age", ((0, "> 18"), (1, "> 65"))), Group("on", ((2, "on"),))
    groups = Grouping(inputs, (Group("kind", ((0, "a"), (1, "b"))),))
    drawn = boxes(picture(network, tmp_path, grouping=groups))
    assert sorted(drawn) == ["g0", "g1", "in0", "in2", "out0"]
    assert "".join(drawn["in0"].itertext()).split() == ["in0", "age", ">", "18", ">", "65"]
    assert "".join(drawn["out0"].itertext()).split() == ["out0", "kind", "a", "b"]
    assert ":m1 ->" in network_dot(network, grouping=groups)
