"""GraphViz DOT: the layered drawing of a network, inputs left and outputs right."""

from __future__ import annotations

import colorsys
import json
from collections.abc import Sequence
from html import escape

import numpy as np
import numpy.typing as npt

from gradus._network import Network
from gradus.errors import SettingsError

__all__ = ["dumps", "palette", "quoted", "teaching_order", "users"]

INPUT, OUTPUT, INK = "#e8837e", "#7fc97f", "#333333"
LEGEND_COLUMNS = 6
# Hues around the circle, in degrees, that are taken for neither the red of inputs nor the green of outputs.
HUES = (45, 205, 285, 25, 180, 325, 60, 240)


def dumps(network: Network, *, order: Sequence[str | int] | None = None) -> str:
    r"""Return a network as a GraphViz drawing, without the gates that no output depends on.

    Inputs are red and on the left, outputs green and on the right. A gate has the colour of the first target, in the
    order in which they are taught, that uses it: a gate of an early colour that leads to a late output is reuse.

    Parameters
    ----------
    network : Network
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

    Examples
    --------
    >>> text = dumps(Network(2, [[0, 1], [2, 2]], [2, 3]))
    >>> [line.split("[")[0].strip() for line in text.split("\n") if "->" in line]
    ['"in x0" -> "g0"', '"in x1" -> "g0"', '"g0" -> "g1"', '"g0" -> "out z0"', '"g1" -> "out z1"']
    """
    pruned = network.prune()
    taught = teaching_order(pruned, order)
    first = users(pruned, taught)
    colours = palette(len(taught))
    gate_colours = [colours[position] for position in first[pruned.n_inputs :]]
    return "\n".join(
        [
            "digraph gradus_network {",
            '  graph [rankdir=LR, ranksep=0.6, nodesep=0.12, splines=true, fontname="Helvetica", fontsize=12];',
            f'  node [fontname="Helvetica", fontsize=11, style=filled, color="{INK}", penwidth=0.7];',
            "  edge [arrowsize=0.5, penwidth=1.1];",
            f"  label=<{_legend(pruned, taught, first, colours)}>; labelloc=b;",
            *_side("in", "min", pruned.input_names, INPUT),
            *_side("out", "max", pruned.output_names, OUTPUT),
            *_gates(pruned, gate_colours),
            *_edges(pruned, gate_colours),
            "}\n",
        ]
    )


def teaching_order(network: Network, order: Sequence[str | int] | None) -> list[int]:
    """Return the positions of the outputs in the order given by names or positions, all of them exactly once.

    Examples
    --------
    >>> teaching_order(Network(1, [[0, 0]], [0, 1], output_names=["a", "b"]), ["b", 0])
    [1, 0]
    """
    if order is None:
        return list(range(network.n_outputs))
    positions: dict[str | int, int] = {name: position for position, name in enumerate(network.output_names)}
    positions |= {position: position for position in range(network.n_outputs)}
    unknown = [target for target in order if target not in positions]
    if unknown:
        raise SettingsError(f"the order names {unknown[0]!r}, but the targets are {', '.join(network.output_names)}.")
    taught = [positions[target] for target in order]
    if sorted(taught) != list(range(network.n_outputs)):
        raise SettingsError(f"the order must name each of the {network.n_outputs} targets once; it has {len(taught)}.")
    return taught


def users(network: Network, taught: Sequence[int]) -> npt.NDArray[np.int64]:
    """For each node, the place in the order of the first target that depends on it (the number of targets if none).

    Examples
    --------
    >>> users(Network(2, [[0, 0], [1, 1]], [2, 3]), [1, 0])
    array([1, 0, 1, 0])
    """
    first = np.full(network.n_inputs + network.n_gates, len(taught), dtype=np.int64)
    for place in reversed(range(len(taught))):
        first[network.cone([taught[place]])] = place
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


def _side(kind: str, rank: str, names: tuple[str, ...], colour: str) -> list[str]:
    nodes = [f'    {_key(kind, name)} [label={quoted(name)}, shape=box, fillcolor="{colour}"];' for name in names]
    return ["  {", f"    rank={rank};", *nodes, "  }"] if nodes else []


def _key(kind: str, name: str) -> str:
    """Return a node id that no other node has: names are unique among inputs and among outputs."""
    return json.dumps(f"{kind} {name}")


def _gates(network: Network, colours: list[str]) -> list[str]:
    lines = []
    for gate, (a, b) in enumerate(network.sources.tolist()):
        # A gate that reads one node twice is a NOT, and is drawn as the triangle that every circuit diagram has for it.
        shape = "triangle, orientation=270, width=0.42, height=0.42" if a == b else "circle, width=0.36"
        lines.append(f'  "g{gate}" [label="{gate}", shape={shape}, fixedsize=true, fontsize=9, fillcolor="{colours[gate]}"];')
    return lines


def _edges(network: Network, colours: list[str]) -> list[str]:
    def source(node: int) -> tuple[str, str]:
        if node < network.n_inputs:
            return _key("in", network.input_names[node]), "#a0a0a0"
        gate = node - network.n_inputs
        return f'"g{gate}"', _darker(colours[gate])

    ends = [(node, f'"g{gate}"') for gate, pair in enumerate(network.sources.tolist()) for node in sorted(set(pair))]
    outputs = zip(network.outputs.tolist(), network.output_names, strict=True)
    ends += [(node, _key("out", name)) for node, name in outputs]
    return [f'  {source(node)[0]} -> {end} [color="{source(node)[1]}"];' for node, end in ends]


def _darker(colour: str) -> str:
    hue, light, strong = colorsys.rgb_to_hls(*(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)))
    rgb = colorsys.hls_to_rgb(hue, light * 0.72, strong * 0.55 if light > 0.7 else strong)
    return "#" + "".join(f"{round(255 * part):02x}" for part in rgb)


def _legend(network: Network, taught: list[int], first: npt.NDArray[np.int64], colours: list[str]) -> str:
    """Write the legend as a table: a swatch, and how many gates each target added to those before it."""
    cells = [(INPUT, "input"), (OUTPUT, "output")]
    counts = np.bincount(first[network.n_inputs :], minlength=len(taught) + 1)
    for place, target in enumerate(taught):
        gates = "1 gate" if counts[place] == 1 else f"{counts[place]} gates"
        cells.append((colours[place], f"new for {network.output_names[target]} ({gates})"))
    rows = [cells[start : start + LEGEND_COLUMNS] for start in range(0, len(cells), LEGEND_COLUMNS)]
    body = "".join(
        "<TR>"
        + "".join(f'<TD BGCOLOR="{colour}" WIDTH="14"></TD><TD ALIGN="LEFT">{_html(text)}</TD>' for colour, text in row)
        + "</TR>"
        for row in rows
    )
    return f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="4">{body}</TABLE>'


def _html(text: str) -> str:
    return escape("".join(character if character.isprintable() else "·" for character in text))
