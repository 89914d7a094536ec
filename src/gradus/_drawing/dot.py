"""GraphViz text: a network with its inputs on the left and its outputs on the right, and the hierarchy of its targets."""

from __future__ import annotations

import colorsys
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from gradus._gates import SYMBOLS, tie
from gradus._wording import counted
from gradus.errors import SettingsError

__all__ = [
    "Circuit",
    "Diagram",
    "DiagramGate",
    "diagram",
    "first_targets",
    "frame",
    "hierarchy_dot",
    "network_dot",
    "palette",
    "quoted",
    "teaching_order",
]

INPUT, OUTPUT, INK, INPUT_WIRE = "#e8837e", "#7fc97f", "#333333", "#9a9a9a"
LEGEND_COLUMNS = 6
# Hues around the circle, in degrees, that differ from the red of inputs and the green of outputs.
HUES = (45, 205, 285, 25, 180, 325, 60, 240)
GATE_LABELS = {("and", False): "AND", ("and", True): "NAND", ("or", False): "OR", ("or", True): "NOR"}
GATE_LABELS |= {("xor", False): "XOR", ("xor", True): "XNOR", ("buffer", False): "BUF", ("buffer", True): "NOT"}
GATE_LABELS |= {("constant", False): "0", ("constant", True): "1"}


class Circuit(Protocol):
    """What a drawing needs to know of a network; `gradus.Network` has it."""

    @property
    def n_inputs(self) -> int: ...
    @property
    def functions(self) -> npt.NDArray[np.uint8]: ...
    @property
    def sources(self) -> npt.NDArray[np.int64]: ...
    @property
    def outputs(self) -> npt.NDArray[np.int64]: ...
    @property
    def input_names(self) -> tuple[str, ...]: ...
    @property
    def output_names(self) -> tuple[str, ...]: ...
    @property
    def live(self) -> npt.NDArray[np.bool_]: ...

    def cone(self, outputs: Sequence[int] | range) -> npt.NDArray[np.bool_]: ...


class DiagramGate(NamedTuple):
    """A gate as it is drawn."""

    number: int
    """Counted from 0 among the gates that are drawn."""
    kind: str
    """One of "and", "or", "xor", "buffer" and "constant"."""
    pins: tuple[tuple[int, bool], ...]
    """The nodes that it reads, and whether there is a bubble at the pin."""
    inverted: bool
    """Whether there is a bubble at the output; a constant is then 1."""
    colour: str


class Diagram(NamedTuple):
    """The parts of a network's drawing: what outputs depend on, and nothing else."""

    inputs: list[tuple[int, str]]
    outputs: list[tuple[int, str]]
    """Node and name of each input and of each output, the latter in their order."""
    gates: dict[int, DiagramGate]
    """By node."""
    legend: str
    """An HTML-like label."""

    def key(self, node: int) -> str:
        """Return a node's id in GraphViz text; gates are numbered as the wires of exported netlists."""
        return f"g{self.gates[node].number}" if node in self.gates else f"in{node}"

    def wire_colour(self, node: int) -> str:
        """Return the colour of the wires that begin at a node."""
        return _darker(self.gates[node].colour) if node in self.gates else INPUT_WIRE


def diagram(circuit: Circuit, order: Sequence[str | int] | None = None) -> Diagram:
    """Collect what a drawing of a network shows.

    A gate has the colour of the first target, in the order in which they are taught, that uses it.
    """
    taught = teaching_order(circuit.output_names, order)
    first = first_targets(circuit, taught)
    colours = palette(len(taught))
    used = circuit.cone(range(len(taught)))
    gates: dict[int, DiagramGate] = {}
    for gate in np.flatnonzero(circuit.live).tolist():
        a, b = circuit.sources[gate].tolist()
        function = int(circuit.functions[gate])
        kind, not_a, not_b, not_out = SYMBOLS[tie(function) if a == b else function]
        node = circuit.n_inputs + gate
        pins = {"0": (), "a": ((a, False),), "b": ((b, False),)}.get(kind, ((a, not_a), (b, not_b)))
        kind = {"0": "constant", "a": "buffer", "b": "buffer"}.get(kind, kind)
        gates[node] = DiagramGate(len(gates), kind, pins, not_out, colours[first[node]])
    added = np.bincount([first[node] for node in gates], minlength=len(taught) + 1)
    lines = [(INPUT, "input"), (OUTPUT, "output")]
    for place, target in enumerate(taught):
        lines.append((colours[place], f"new for {circuit.output_names[target]} ({counted(int(added[place]), 'gate')})"))
    return Diagram(
        [(node, name) for node, name in enumerate(circuit.input_names) if used[node]],
        list(zip(circuit.outputs.tolist(), circuit.output_names, strict=True)),
        gates,
        _legend(lines),
    )


def network_dot(circuit: Circuit, *, order: Sequence[str | int] | None = None) -> str:
    r"""Return a network as a GraphViz drawing, without the inputs and gates that no output depends on.

    Inputs are red and on the left, outputs green and on the right. A gate has the colour of the first target, in the
    order in which they are taught, that uses it: a gate of an early colour that leads to a late output is reuse. An empty
    dot at the end of a wire is an inverter.

    Parameters
    ----------
    order : sequence of str or int, optional
        Targets, by name or position, in the order taught; the order of the outputs if not given.

    Returns
    -------
    str
        The text of a ``.dot`` file.

    Raises
    ------
    SettingsError
        If the order is not an order of all the targets.
    """
    parts = diagram(circuit, order)
    lines = []
    for node, gate in parts.gates.items():
        label = GATE_LABELS[gate.kind, gate.inverted]
        lines.append(f'  {parts.key(node)} [label="{label}", shape=box, style="rounded,filled", fillcolor="{gate.colour}"];')
        for source, inverted in gate.pins:
            head = "odot" if inverted else "normal"
            colour = parts.wire_colour(source)
            lines.append(f'  {parts.key(source)} -> {parts.key(node)} [color="{colour}", arrowhead={head}];')
    for place, (node, _) in enumerate(parts.outputs):
        lines.append(f'  {parts.key(node)} -> out{place} [color="{parts.wire_colour(node)}"];')
    return frame(parts, lines)


def frame(parts: Diagram, lines: Sequence[str]) -> str:
    """Return a whole GraphViz text: the given lines between the inputs, the outputs and the legend."""
    return "\n".join(
        [
            "digraph gradus_network {",
            '  graph [rankdir=LR, ranksep=0.45, nodesep=0.14, splines=true, fontname="Helvetica", fontsize=12];',
            f'  node [fontname="Helvetica", fontsize=11, height=0.3, width=0.4, style=filled, color="{INK}", penwidth=0.8];',
            "  edge [arrowsize=0.5, penwidth=1.1];",
            f"  label=<{parts.legend}>; labelloc=b;",
            *_side("min", {parts.key(node): name for node, name in parts.inputs}, INPUT),
            *_side("max", {f"out{place}": name for place, (_, name) in enumerate(parts.outputs)}, OUTPUT),
            *lines,
            "}\n",
        ]
    )


def teaching_order(names: Sequence[str], order: Sequence[str | int] | None) -> list[int]:
    """Return the positions of the targets in the order given by names or positions, each exactly once.

    Examples
    --------
    >>> teaching_order(["a", "b"], ["b", 0])
    [1, 0]
    """
    if order is None:
        return list(range(len(names)))
    positions: dict[str | int, int] = {name: position for position, name in enumerate(names)}
    positions |= {position: position for position in range(len(names))}
    unknown = [target for target in order if target not in positions]
    if unknown:
        raise SettingsError(f"the order names {unknown[0]!r}, but the targets are {', '.join(names)}.")
    taught = [positions[target] for target in order]
    if sorted(taught) != list(range(len(names))):
        raise SettingsError(f"the order must name each of the {len(names)} targets once; it has {len(taught)}.")
    return taught


def first_targets(circuit: Circuit, taught: Sequence[int]) -> npt.NDArray[np.int64]:
    """For each node, the place in the order of the first target that depends on it (the number of targets if none)."""
    first = np.full(circuit.n_inputs + len(circuit.sources), len(taught), dtype=np.int64)
    for place in reversed(range(len(taught))):
        first[circuit.cone([taught[place]])] = place
    return first


def palette(count: int) -> list[str]:
    """Return fill colours that differ from one another and from those of inputs and outputs.

    Examples
    --------
    >>> palette(2)
    ['#f2d98c', '#8cc8f2']
    """
    colours = []
    for index in range(count):
        hue, round_ = HUES[index % len(HUES)] / 360, index // len(HUES)
        # Each further round of the same hues is darker and greyer.
        rgb = colorsys.hls_to_rgb(hue, 0.75 - 0.13 * (round_ % 4), 0.8 - 0.2 * (round_ % 4))
        colours.append("#" + "".join(f"{round(255 * part):02x}" for part in rgb))
    return colours


def quoted(text: str) -> str:
    r"""Quote a text as a DOT label, where a backslash starts an escape and an ampersand an HTML entity.

    Examples
    --------
    >>> print(quoted('say "a\\b"'))
    "say \"a\\b\""
    """
    flat = "".join(character if character.isprintable() else "·" for character in text)
    return '"' + flat.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"') + '"'


def hierarchy_dot(targets: Sequence[str], feature_sets: Mapping[str, Sequence[str]], edges: Iterable[tuple[str, str]]) -> str:
    r"""Return a hierarchy of targets as GraphViz text; see `gradus._drawing.picture.draw_hierarchy`.

    Examples
    --------
    >>> print(hierarchy_dot(["z0", "z1"], {"z0": ["x0"], "z1": ["x0", "x1"]}, [("z0", "z1")]).split("\n")[-3].strip())
    t0 -> t1;
    """
    keys = {name: f"t{position}" for position, name in enumerate(targets)}
    lines = list(edges)
    unknown = [name for name in [*feature_sets, *(end for edge in lines for end in edge)] if name not in keys]
    if unknown:
        raise SettingsError(f"{unknown[0]!r} is not one of the targets ({', '.join(targets)}).")
    return "\n".join(
        [
            "digraph hierarchy {",
            '  graph [rankdir=LR, ranksep=0.7, nodesep=0.25, fontname="Helvetica"];',
            f'  node [fontname="Helvetica", fontsize=11, shape=box, style="rounded,filled", fillcolor="{OUTPUT}"];',
            f'  edge [arrowsize=0.7, color="{INK}"];',
            *(f"  {keys[name]} [label={_card(name, feature_sets.get(name))}];" for name in targets),
            *(f"  {keys[easier]} -> {keys[harder]};" for easier, harder in lines),
            "}\n",
        ]
    )


def _card(name: str, features: Sequence[str] | None) -> str:
    """Label a target with its feature set, the set broken into lines of four."""
    if features is None:
        return quoted(name)
    rows = [", ".join(quoted(feature)[1:-1] for feature in features[i : i + 4]) for i in range(0, len(features), 4)]
    return "".join([quoted(name)[:-1], "\\n{", ",\\n".join(rows), '}"'])


def _side(rank: str, names: Mapping[str, str], colour: str) -> list[str]:
    nodes = [f'    {key} [label={quoted(name)}, shape=box, fillcolor="{colour}"];' for key, name in names.items()]
    return ["  {", f"    rank={rank};", *nodes, "  }"] if nodes else []


def _darker(colour: str) -> str:
    hue, light, strong = colorsys.rgb_to_hls(*(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)))
    rgb = colorsys.hls_to_rgb(hue, light * 0.72, strong * 0.55 if light > 0.7 else strong)
    return "#" + "".join(f"{round(255 * part):02x}" for part in rgb)


def _legend(lines: Sequence[tuple[str, str]]) -> str:
    """Write the legend as a table of colours and texts."""
    rows = [lines[start : start + LEGEND_COLUMNS] for start in range(0, len(lines), LEGEND_COLUMNS)]
    body = "".join(
        "<TR>"
        + "".join(f'<TD BGCOLOR="{colour}" WIDTH="14"></TD><TD ALIGN="LEFT">{_html(text)}</TD>' for colour, text in row)
        + "</TR>"
        for row in rows
    )
    return f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="4">{body}</TABLE>'


def _html(text: str) -> str:
    return escape("".join(character if character.isprintable() else "·" for character in text))
