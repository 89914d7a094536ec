"""GraphViz text: a network with its inputs on the left and its outputs on the right, and the hierarchy of its targets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from gradus._circuit import Network
from gradus._circuit.drawing.diagram import GATE_LABELS, INK, INPUT, OUTPUT, Diagram, Group, Grouping, diagram
from gradus.errors import SettingsError

__all__ = ["frame", "hierarchy_dot", "network_dot", "quoted"]

LEGEND_COLUMNS = 6


def network_dot(circuit: Network, *, order: Sequence[str | int] | None = None, grouping: Grouping | None = None) -> str:
    r"""Return a network as a GraphViz drawing, without the inputs and gates that no output depends on."""
    # Inputs are red and on the left, outputs green and on the right. A gate has the colour of the first target, in the order
    # in which they are taught, that uses it: a gate of an early colour that leads to a late output is reuse. An empty dot at
    # the end of a wire is an inverter.
    parts = diagram(circuit, order, grouping=grouping)
    lines = []
    for node, gate in parts.gates.items():
        label = GATE_LABELS[gate.kind, gate.inverted]
        lines.append(f'  {parts.key(node)} [label="{label}", shape=box, style="rounded,filled", fillcolor="{gate.colour}"];')
        for source, inverted in gate.pins:
            head = "odot" if inverted else "normal"
            colour = parts.wire_colour(source)
            lines.append(f'  {_end(parts, source)} -> {parts.key(node)} [color="{colour}", arrowhead={head}];')
    for place, node in enumerate(parts.ends):
        end = f"{parts.output_key(place)}{parts.port(parts.outputs, place)}"
        lines.append(f'  {_end(parts, node)} -> {end} [color="{parts.wire_colour(node)}"];')
    return frame(parts, lines)


def _end(parts: Diagram, node: int) -> str:
    return parts.key(node) if node in parts.gates else f"{parts.key(node)}{parts.port(parts.inputs, node)}"


def frame(parts: Diagram, lines: Sequence[str]) -> str:
    """Return a whole GraphViz text: the given lines between the inputs, the outputs and the legend."""
    return "\n".join(
        [
            "digraph gradus_network {",
            '  graph [rankdir=LR, ranksep=0.45, nodesep=0.14, splines=true, fontname="Helvetica", fontsize=12];',
            f'  node [fontname="Helvetica", fontsize=11, height=0.3, width=0.4, style=filled, color="{INK}", penwidth=0.8];',
            "  edge [arrowsize=0.5, penwidth=1.1];",
            f"  label=<{_legend(parts.legend)}>; labelloc=b;",
            *_side("min", "in", parts.inputs, INPUT),
            *_side("max", "out", parts.outputs, OUTPUT),
            *lines,
            "}\n",
        ]
    )


def quoted(text: str) -> str:
    r"""Quote a text as a DOT label, where a backslash starts an escape and an ampersand an HTML entity."""
    flat = "".join(character if character.isprintable() else "·" for character in text)
    return '"' + flat.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"') + '"'


def hierarchy_dot(targets: Sequence[str], feature_sets: Mapping[str, Sequence[str]], edges: Iterable[tuple[str, str]]) -> str:
    r"""Return a hierarchy of targets as GraphViz text; see `gradus._circuit.drawing.picture.draw_hierarchy`."""
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


def _side(rank: str, key: str, groups: Sequence[Group], colour: str) -> list[str]:
    nodes = []
    for title, members in groups:
        name = f"{key}{members[0][0]}"
        if len(members) == 1:
            label = members[0][1] if title in members[0][1] else f"{title} {members[0][1]}"
            nodes.append(f'    {name} [label={quoted(label)}, shape=box, fillcolor="{colour}"];')
        else:
            rows = "".join(
                f'<TR><TD PORT="m{member}" BGCOLOR="{colour}" ALIGN="LEFT">{_html(label)}</TD></TR>'
                for member, label in members
            )
            head = f'<TR><TD BORDER="0" ALIGN="LEFT"><B>{_html(title)}</B></TD></TR>'
            table = f'<TABLE BORDER="0" CELLBORDER="1" CELLSPACING="2" CELLPADDING="3">{head}{rows}</TABLE>'
            nodes.append(
                f'    {name} [label=<{table}>, shape=box, style="rounded,filled", fillcolor="#f4f4f4", margin="0.03"];'
            )
    return ["  {", f"    rank={rank};", *nodes, "  }"] if nodes else []


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
