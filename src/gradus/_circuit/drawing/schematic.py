"""Gate symbols: GraphViz places empty boxes with pins, and the usual shapes of AND, OR, XOR and NOT are drawn in them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from gradus._circuit.drawing.diagram import INK, Diagram, DiagramGate
from gradus._circuit.drawing.dot import frame

__all__ = ["PIN", "REACH", "Pen", "Point", "Sides", "draw_symbol", "placement", "upper_first", "with_symbols"]

# Sizes in points. A symbol lies between its pins: left at (-REACH, ±PIN), or (-REACH, 0) for one pin; right at (REACH, 0).
REACH, HALF, PIN = 23.0, 14.0, 7.0
BUBBLE = 2.8
# A block of folded gates is wider, and has at least this much room for each pin; so has a box of a known part, for its names.
BLOCK_REACH, LEAST_PIN = 34.0, 5.0
BOX_REACH, BOX_PIN = 44.0, 14.0
BOX_NAMES = {"FA": ("full", "adder"), "HA": ("half", "adder"), "MAJ": ("majority",), "MUX": ("mux",)}
SYMBOLS = ("and", "or", "xor", "buffer", "constant", "block")
"""Whatever else is drawn is a box."""
WIDEST = 12  # characters of a line in a box

# A place in the text of a drawing.
PLACE = re.compile(r"(-?[\d.]+(?:e[-+]?\d+)?),(-?[\d.]+(?:e[-+]?\d+)?)")

Point = tuple[float, float]
Ends = tuple[tuple[int, bool], ...]


class Sides(NamedTuple):
    """The pins of a gate from top to bottom, and the outputs of a box."""

    pins: Ends
    outs: Ends


Pins = dict[int, Sides]


def placement(parts: Diagram, pins: Pins) -> str:
    """Return the GraphViz text that places a drawing, with empty boxes for the gates."""
    lines = []
    for node, gate in parts.gates.items():
        lines.append(f"  {parts.key(node)} [shape=none, style=solid, margin=0, label=<{_box(gate, pins[node].outs)}>];")
        for pin, (source, _) in enumerate(pins[node].pins):
            lines.append(f"  {_wire(parts, source)} -> {parts.key(node)}:p{pin}:w {_look(parts, source)};")
    for place, node in enumerate(parts.ends):
        end = f"{parts.output_key(place)}{parts.port(parts.outputs, place)}:w"
        lines.append(f"  {_wire(parts, node)} -> {end} {_look(parts, node)};")
    return frame(parts, lines)


def _wire(parts: Diagram, source: int) -> str:
    gate = parts.gate_of(source)
    port = parts.port(parts.inputs, source) if gate is None else f":o{source}" if gate[1].outs else ":out"
    return f"{parts.key(source)}{port}:e"


def _look(parts: Diagram, source: int) -> str:
    return f'[color="{parts.wire_colour(source)}", arrowhead=none]'


def _half(gate: DiagramGate) -> float:
    """Return half of the height: blocks of many pins are taller than gates."""
    room = BOX_PIN if gate.kind not in SYMBOLS else LEAST_PIN
    return max(HALF, len(gate.pins) * room / 2)


def _box(gate: DiagramGate, outs: Ends) -> str:
    """Return a table without visible lines whose cells are the pins."""
    reach, half = BOX_REACH if gate.kind not in SYMBOLS else BLOCK_REACH if gate.kind == "block" else REACH, _half(gate)
    left = [f"p{pin}" for pin in range(max(len(gate.pins), 1))]
    right = [f"o{node}" for node, _ in outs] or ["out"]

    def column(ports: Sequence[str]) -> str:
        size = f'FIXEDSIZE="TRUE" WIDTH="{reach:g}" HEIGHT="{2 * half / len(ports):g}"'
        return "<TD>" + _frameless("".join(f'<TR><TD PORT="{port}" {size}></TD></TR>' for port in ports)) + "</TD>"

    return _frameless(f"<TR>{column(left)}{column(right)}</TR>")


def _frameless(rows: str) -> str:
    return f'<TABLE BORDER="0" CELLBORDER="0" CELLPADDING="0" CELLSPACING="0">{rows}</TABLE>'


def upper_first(parts: Diagram, graph: Any) -> Pins:
    """Return the pins of each gate such that wires from the same side do not cross in front of it."""
    rank = {node: place for group in parts.inputs for place, (node, _) in enumerate(group.members)}
    readers: dict[int, list[str]] = {}
    for node, gate in parts.gates.items():
        for source, _ in gate.pins:
            readers.setdefault(source, []).append(parts.key(node))
    for place, node in enumerate(parts.ends):
        readers.setdefault(node, []).append(parts.output_key(place))

    def height(pin: tuple[int, bool]) -> tuple[float, int]:
        # Inputs in one box are as high as their places in it.
        return _centre(graph, parts.key(pin[0]))[1], -rank.get(pin[0], 0)

    def goal(out: tuple[int, bool]) -> float:
        heights = [_centre(graph, key)[1] for key in readers.get(out[0], ())]
        return sum(heights) / max(len(heights), 1)

    return {
        node: Sides(tuple(sorted(gate.pins, key=height, reverse=True)), tuple(sorted(gate.outs, key=goal, reverse=True)))
        for node, gate in parts.gates.items()
    }


def with_symbols(parts: Diagram, graph: Any, pins: Pins) -> Any:
    """Draw the gate symbols into the boxes of a placed drawing."""
    # They are GraphViz's ``_background``, so that every picture format shows them. A drawing whose last target is on top is
    # flipped.
    ends = [f"out{group.members[0][0]}" for group in parts.outputs]
    inputs = [f"in{group.members[0][0]}" for group in parts.inputs]
    # The lines of a box cannot be turned over.
    heights = [_centre(graph, key)[1] for key in (ends if len(ends) > 1 else inputs)]
    first_is_below = sum((place - (len(heights) - 1) / 2) * height for place, height in enumerate(heights)) > 0
    if not parts.is_grouped and first_is_below:
        _flip(graph)
        pins = {node: Sides(sides.pins[::-1], sides.outs[::-1]) for node, sides in pins.items()}
    pen = _XdotPen()
    for node, gate in parts.gates.items():
        pen.place(*_centre(graph, parts.key(node)))
        if gate.kind not in SYMBOLS:
            _draw_box(pen, gate, pins[node])
        else:
            draw_symbol(pen, gate, [inverted for _, inverted in pins[node].pins])
    graph.graph_attr["_background"] = "".join(pen.operations)
    return graph


def _centre(graph: Any, key: str) -> Point:
    x, y = graph.get_node(key).attr["pos"].split(",")
    return float(x), float(y)


def _flip(graph: Any) -> None:
    """Exchange top and bottom of all nodes and wires; the legend stays."""
    items = [*graph.nodes(), *graph.edges()]
    heights = [float(y) for item in items for _, y in PLACE.findall(item.attr["pos"])]
    both = min(heights, default=0.0) + max(heights, default=0.0)
    for item in items:
        item.attr["pos"] = PLACE.sub(lambda place: f"{place[1]},{both - float(place[2]):.2f}", item.attr["pos"])


class Pen(Protocol):
    """Draws what symbols consist of, in coordinates relative to a place, in points."""

    def colour(self, line: str, fill: str) -> None: ...
    def curve(self, points: Sequence[Point], *, filled: bool = False) -> None: ...
    def line(self, points: Sequence[Point]) -> None: ...
    def area(self, points: Sequence[Point]) -> None: ...
    def disc(self, x: float, y: float, radius: float) -> None: ...
    def text(self, x: float, y: float, text: str) -> None: ...


class _XdotPen:
    """Writes drawing operations of GraphViz's xdot language, with coordinates relative to a place."""

    def __init__(self) -> None:
        self.operations: list[str] = []
        self._x = self._y = 0.0

    def place(self, x: float, y: float) -> None:
        self._x, self._y = x, y

    def colour(self, line: str, fill: str) -> None:
        self.operations.append(f"c {len(line)} -{line} C {len(fill)} -{fill} ")

    def curve(self, points: Sequence[Point], *, filled: bool = False) -> None:
        """Draw Bézier curves, each from the end of the one before."""
        self.operations.append(f"{'b' if filled else 'B'} {self._all(points)}")

    def line(self, points: Sequence[Point]) -> None:
        self.operations.append(f"L {self._all(points)}")

    def area(self, points: Sequence[Point]) -> None:
        self.operations.append(f"P {self._all(points)}")

    def disc(self, x: float, y: float, radius: float) -> None:
        self.operations.append(f"E {self._x + x:.2f} {self._y + y:.2f} {radius:g} {radius:g} ")

    def text(self, x: float, y: float, text: str, size: int = 11) -> None:
        self.operations.append(f"F {size} 9 -Helvetica T {self._x + x:.2f} {self._y + y:.2f} 0 10 {len(text)} -{text} ")

    def _all(self, points: Sequence[Point]) -> str:
        return f"{len(points)} " + "".join(f"{self._x + x:.2f} {self._y + y:.2f} " for x, y in points)


def draw_symbol(pen: Pen, gate: DiagramGate, bubbles: Sequence[bool]) -> None:
    """Draw the symbol of a gate around the pen's place."""
    left, right = -HALF, HALF
    pen.colour(INK, gate.colour)
    if gate.kind == "block":
        _draw_block(pen, gate)
        return
    if gate.kind == "constant":
        pen.line([(8, 0), (REACH, 0)])
        pen.disc(0, 0, 9)
        pen.colour(INK, "#ffffff")
        pen.disc(0, 0, 6.5)
        pen.text(0, -4, "1" if gate.inverted else "0")
        return
    if gate.kind == "buffer":
        left, right = -9, 9
    # Wires end at the body, which for an OR or XOR is hollow on the left.
    hollow = {"or": 3.0, "xor": -1.5}.get(gate.kind, 0.0)
    heights = {1: [0.0], 2: [PIN, -PIN], 3: [2 * HALF / 3, 0.0, -2 * HALF / 3]}[len(bubbles)]
    for y, bubble in zip(heights, bubbles, strict=True):
        end = left + hollow - (2 * BUBBLE if bubble else 0)
        pen.line([(-REACH, y), (end, y)])
    pen.line([(right, 0), (REACH, 0)])
    if gate.kind == "buffer":
        pen.area([(left, 10), (left, -10), (right, 0)])
    elif gate.kind == "and":
        pen.curve(_and_outline(), filled=True)
    else:
        pen.curve(_or_outline(), filled=True)
        if gate.kind == "xor":
            pen.curve(_hollow(left - 4.5))
    pen.colour(INK, "#ffffff")
    for y, bubble in zip(heights, bubbles, strict=True):
        if bubble:
            pen.disc(left + hollow - BUBBLE, y, BUBBLE)
    if gate.inverted:
        pen.disc(right + BUBBLE, 0, BUBBLE)


def _draw_block(pen: Pen, gate: DiagramGate) -> None:
    wide, half = BLOCK_REACH - 4, _half(gate)
    pen.line([(wide, 0), (BLOCK_REACH, 0)])
    for pin in range(len(gate.pins)):
        y = half - (pin + 0.5) * 2 * half / len(gate.pins)
        pen.line([(-BLOCK_REACH, y), (-wide, y)])
    pen.area([(-wide, half), (-wide, -half), (wide, -half), (wide, half)])
    pen.colour(INK, INK)
    pen.text(0, -4, f"{gate.size} gates")


def _draw_box(pen: _XdotPen, gate: DiagramGate, sides: Sides) -> None:
    """Draw a known part: a box with its name, and with names at the pins that are not all alike."""
    wide, half = BOX_REACH - 8, _half(gate)
    names = dict(zip([node for node, _ in gate.pins], ("s", "1", "0"), strict=False)) if gate.kind == "MUX" else {}
    if len(gate.outs) == 2:
        names |= dict(zip([node for node, _ in gate.outs], ("sum", "carry"), strict=True))
    ends = [
        (side, half - (place + 0.5) * 2 * half / len(pins), node, inverted)
        for side, pins in ((-1, sides.pins), (1, sides.outs))
        for place, (node, inverted) in enumerate(pins)
    ]
    pen.colour(INK, gate.colour)
    for side, y, _, _ in ends:
        pen.line([(side * wide, y), (side * BOX_REACH, y)])
    pen.area([(-wide, half), (-wide, -half), (wide, -half), (wide, half)])
    pen.colour(INK, INK)
    for side, y, node, _ in ends:
        if node in names:
            pen.text(side * (wide - 3 - 2.1 * len(names[node])), y - 3, names[node], 8)
    lines = BOX_NAMES.get(gate.kind) or textwrap.wrap(gate.kind, WIDEST)
    for line, word in enumerate(lines):
        pen.text(-14 if len(gate.outs) == 2 else 0, -3.5 + 6 * (len(lines) - 1) - 12 * line, word, 10)
    pen.colour(INK, "#ffffff")
    for side, y, _, inverted in ends:
        if inverted:
            pen.disc(side * (wide + BUBBLE), y, BUBBLE)


def _straight(start: Point, end: Point) -> list[Point]:
    """Return the control points and the end of a straight Bézier curve."""
    (x0, y0), (x1, y1) = start, end
    return [(x0 + (x1 - x0) * t, y0 + (y1 - y0) * t) for t in (1 / 3, 2 / 3, 1)]


def _and_outline() -> list[Point]:
    round_ = 0.5523 * HALF  # control points of a quarter circle
    points: list[Point] = [(-HALF, HALF), *_straight((-HALF, HALF), (0, HALF))]
    points += [(round_, HALF), (HALF, round_), (HALF, 0), (HALF, -round_), (round_, -HALF), (0, -HALF)]
    points += _straight((0, -HALF), (-HALF, -HALF))
    return [*points, *_straight((-HALF, -HALF), (-HALF, HALF))]


def _or_outline() -> list[Point]:
    points: list[Point] = [(-HALF, HALF), (-2, HALF), (7, 11), (HALF, 0), (7, -11), (-2, -HALF), (-HALF, -HALF)]
    return [*points, *_hollow(-HALF)[1:]]


def _hollow(x: float) -> list[Point]:
    """Return the left side of an OR, from the bottom to the top."""
    return [(x, -HALF), (x + 5.5, -HALF / 3), (x + 5.5, HALF / 3), (x, HALF)]
