"""A circuit drawn with matplotlib: one lane per target in the order taught, with the usual gate symbols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, PathPatch, Polygon, Rectangle
from matplotlib.path import Path

from gradus._circuit import Network
from gradus._circuit.drawing.diagram import INK, INPUT, OUTPUT, Diagram, diagram, first_targets, teaching_order
from gradus._circuit.drawing.schematic import PIN, REACH, Point, draw_symbol
from gradus._core.wording import counted
from gradus_paper.figures.style import plain_text

__all__ = ["draw_lanes"]

# Sizes in points, on paper of the size that the circuit needs.
COLUMN, ROW, LANE_GAP = 76.0, 38.0, 14.0
LABEL_ROOM, TITLE_ROOM, MARGIN = 125.0, 34.0, 12.0
BOX = (13.0, 10.0)
"""Half the width and half the height of the box of an input or an output."""
LARGEST_WIDTH = 10.0
"""In inches; wider circuits are scaled down."""
LANE_COLOURS = ("#f4f6f9", "#ffffff")

Item = tuple[str, int]
"""Something to place: ("node", its number) for an input or gate, ("output", its position)."""


class Lanes(NamedTuple):
    """Where everything is drawn."""

    places: dict[Item, Point]
    bounds: list[tuple[float, float]]
    """The lowest and the highest point of each lane."""
    width: float
    height: float


def draw_lanes(network: Network, order: Sequence[int], title: str, lane: str = "target") -> Figure:
    """Draw a circuit: a lane holds the inputs and gates that its target is the first to use."""
    parts = diagram(network, list(order))
    taught = teaching_order(network.output_names, list(order))
    lanes = _lanes(parts, first_targets(network, taught).tolist(), taught)
    scale = min(1.0, LARGEST_WIDTH * 72 / lanes.width)
    figure = Figure(figsize=(lanes.width * scale / 72, lanes.height * scale / 72))
    panel = figure.add_axes((0, 0, 1, 1))
    panel.set_xlim(0, lanes.width)
    panel.set_ylim(-lanes.height, 0)
    panel.set_axis_off()
    panel.text(MARGIN, -TITLE_ROOM / 2, title, fontsize=17 * scale, va="center", weight="bold", color=INK)
    for number, (target, (low, high)) in enumerate(zip(taught, lanes.bounds, strict=True)):
        panel.add_patch(Rectangle((0, low), lanes.width, high - low, color=LANE_COLOURS[number % 2], zorder=0, linewidth=0))
        said = f"{lane} {number + 1}: {network.output_names[target]}\n{_added(parts, number)}"
        panel.text(MARGIN, (low + high) / 2, plain_text(said), fontsize=14 * scale, va="center", color="#555555")
    _draw_parts(panel, parts, lanes, scale)
    return figure


def _added(parts: Diagram, number: int) -> str:
    """Write how many gates a lesson added: those in its colour."""
    colour = parts.legend[2 + number][0]
    count = sum(gate.colour == colour for gate in parts.gates.values())
    return f"+ {counted(count, 'gate')}"


def _lanes(parts: Diagram, lane_of: Sequence[int], taught: Sequence[int]) -> Lanes:
    """Place everything: columns by depth, lanes from top to bottom."""
    columns = _columns(parts)
    lane = {item: taught.index(item[1]) if item[0] == "output" else lane_of[item[1]] for item in columns}
    sources = _sources(parts)
    places: dict[Item, Point] = {}
    bounds: list[tuple[float, float]] = []
    top = -TITLE_ROOM
    for number in range(len(taught)):
        here = [item for item in columns if lane[item] == number]
        inputs = _stacks([item for item in here if item not in sources], columns)
        others = _stacks([item for item in here if item in sources], columns)
        # Inputs have rows of their own, above the gates, so that wires do not run through them.
        rows = [max(map(len, stacks.values()), default=0) for stacks in (inputs, others)]
        height = sum(rows) * ROW + LANE_GAP
        bounds.append((top - height, top))
        for stacks, centre in ((inputs, rows[0] / 2), (others, rows[0] + rows[1] / 2)):
            for column, stack in sorted(stacks.items()):
                read = {item: [places[one][1] for one in sources.get(item, ()) if one in places] for item in stack}
                stack.sort(key=lambda item: (-_mean(read[item]), item))
                for place, item in enumerate(stack):
                    y = top - LANE_GAP / 2 - (centre + place - (len(stack) - 1) / 2) * ROW
                    places[item] = (MARGIN + LABEL_ROOM + (column + 0.5) * COLUMN, y)
        top -= height
    width = 2 * MARGIN + LABEL_ROOM + (max(columns.values(), default=0) + 1) * COLUMN
    return Lanes(places, bounds, width, -top + MARGIN)


def _stacks(items: Sequence[Item], columns: Mapping[Item, int]) -> dict[int, list[Item]]:
    """Return what is in each column."""
    stacks: dict[int, list[Item]] = {}
    for item in items:
        stacks.setdefault(columns[item], []).append(item)
    return stacks


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _sources(parts: Diagram) -> dict[Item, list[Item]]:
    """Return what every gate and output reads."""
    found: dict[Item, list[Item]] = {
        ("node", node): [("node", source) for source, _ in gate.pins] for node, gate in parts.gates.items()
    }
    return found | {("output", place): [("node", node)] for place, node in enumerate(parts.ends)}


def _columns(parts: Diagram) -> dict[Item, int]:
    """Return the column of everything: outputs as early as possible, all others just before their first reader."""
    sources = _sources(parts)
    earliest: dict[Item, int] = {}
    for item in sorted(sources):  # gates in the order of their numbers, which is that of their depth, then outputs
        earliest[item] = 1 + max((earliest.get(source, 0) for source in sources[item]), default=0)
    columns = {item: column for item, column in earliest.items() if item[0] == "output"}
    # Whatever reads a gate has a higher number, and so is placed before it.
    for item in [*sorted(sources, reverse=True), *(("node", node) for group in parts.inputs for node, _ in group.members)]:
        if item not in columns:
            columns[item] = min(columns[reader] for reader, read in sources.items() if item in read) - 1
    first = min(columns.values(), default=0)
    return {item: column - first for item, column in columns.items()}


def _draw_parts(panel: Any, parts: Diagram, lanes: Lanes, scale: float) -> None:
    """Draw wires, then gates, inputs and outputs over them."""
    pen = _FigurePen(panel, scale)
    for node, gate in parts.gates.items():
        x, y = lanes.places["node", node]
        pins = sorted(gate.pins, key=lambda pin: -lanes.places["node", pin[0]][1])
        heights = [PIN, -PIN] if len(pins) == 2 else [0.0]
        for (source, _), height in zip(pins, heights, strict=False):
            _draw_wire(panel, parts, source, lanes, (x - REACH, y + height))
        pen.place(x, y)
        draw_symbol(pen, gate, [bubble for _, bubble in pins])
    for group in parts.inputs:
        for node, name in group.members:
            _draw_box(panel, lanes.places["node", node], name, INPUT, scale)
    for group in parts.outputs:
        for place, name in group.members:
            x, y = lanes.places["output", place]
            _draw_wire(panel, parts, parts.ends[place], lanes, (x - BOX[0], y))
            _draw_box(panel, (x, y), name, OUTPUT, scale)


def _draw_wire(panel: Any, parts: Diagram, source: int, lanes: Lanes, end: Point) -> None:
    """Draw an arrow from a node to a pin; it leaves and arrives horizontally."""
    x, y = lanes.places["node", source]
    x += REACH if source in parts.gates else BOX[0]
    bend = max(18.0, (end[0] - x) / 2)
    path = Path([(x, y), (x + bend, y), (end[0] - bend, end[1]), end], [Path.MOVETO, *[Path.CURVE4] * 3])
    colour = parts.wire_colour(source)
    arrow = FancyArrowPatch(
        path=path, arrowstyle="-|>", mutation_scale=7, color=colour, linewidth=1.0, zorder=1, shrinkA=0, shrinkB=0
    )
    panel.add_patch(arrow)


def _draw_box(panel: Any, centre: Point, name: str, colour: str, scale: float) -> None:
    corner = (centre[0] - BOX[0], centre[1] - BOX[1])
    look: dict[str, Any] = {"facecolor": colour, "edgecolor": INK, "linewidth": 0.8, "zorder": 3}
    panel.add_patch(FancyBboxPatch(corner, 2 * BOX[0], 2 * BOX[1], "round,pad=0,rounding_size=4", **look))
    panel.text(*centre, plain_text(name), ha="center", va="center_baseline", fontsize=12 * scale, zorder=4)


class _FigurePen:
    """Draws gate symbols in a panel."""

    def __init__(self, panel: Any, scale: float) -> None:
        self._panel, self._scale = panel, scale
        self._x = self._y = 0.0
        self._line = self._fill = INK

    def place(self, x: float, y: float) -> None:
        self._x, self._y = x, y

    def colour(self, line: str, fill: str) -> None:
        self._line, self._fill = line, fill

    def curve(self, points: Sequence[Point], *, filled: bool = False) -> None:
        """Draw Bézier curves, each from the end of the one before."""
        path = Path(self._moved(points), [Path.MOVETO, *[Path.CURVE4] * (len(points) - 1)])
        self._add(PathPatch(path, facecolor=self._fill if filled else "none", edgecolor=self._line))

    def line(self, points: Sequence[Point]) -> None:
        self._add(PathPatch(Path(self._moved(points)), facecolor="none", edgecolor=self._line))

    def area(self, points: Sequence[Point]) -> None:
        self._add(Polygon(self._moved(points), facecolor=self._fill, edgecolor=self._line))

    def disc(self, x: float, y: float, radius: float) -> None:
        self._add(Circle((self._x + x, self._y + y), radius, facecolor=self._fill, edgecolor=self._line))

    def text(self, x: float, y: float, text: str) -> None:
        self._panel.text(self._x + x, self._y + y, text, ha="center", fontsize=10 * self._scale, zorder=4)

    def _moved(self, points: Sequence[Point]) -> list[Point]:
        return [(self._x + x, self._y + y) for x, y in points]

    def _add(self, patch: Any) -> None:
        patch.set(linewidth=0.9, zorder=2)
        self._panel.add_patch(patch)
