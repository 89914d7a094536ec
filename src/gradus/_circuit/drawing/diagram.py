"""What a drawing of a network shows: its inputs and outputs in groups, its gates or blocks of them, and their colours.

Circuits that are too large to be read gate by gate are folded: `blocks` chooses which gates become one box.
"""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._core.gates import SYMBOLS, tie
from gradus._core.wording import counted
from gradus.errors import SettingsError

if TYPE_CHECKING:
    from gradus._circuit.drawing.recognition import Box, BoxedCircuit, Logic

__all__ = [
    "MOST_GATES",
    "Diagram",
    "DiagramGate",
    "Group",
    "Grouping",
    "blocks",
    "diagram",
    "first_targets",
    "live_logic",
    "palette",
    "teaching_order",
]

INPUT, OUTPUT, INK, INPUT_WIRE = "#e8837e", "#7fc97f", "#333333", "#9a9a9a"
# Hues around the circle, in degrees, that differ from the red of inputs and the green of outputs.
HUES = (45, 205, 285, 25, 180, 325, 60, 240)
MOST_GATES = 60
"""Gates that a drawing shows one by one."""
MOST_BLOCKS = 40
LARGEST_BLOCKS = (8, 16, 32, 64, 128)
GATE_LABELS = {("and", False): "AND", ("and", True): "NAND", ("or", False): "OR", ("or", True): "NOR"}
GATE_LABELS |= {("xor", False): "XOR", ("xor", True): "XNOR", ("buffer", False): "BUF", ("buffer", True): "NOT"}
GATE_LABELS |= {("constant", False): "0", ("constant", True): "1"}


class Group(NamedTuple):
    """Inputs or outputs that are drawn as one box: the bits of a column, or the outputs of a target."""

    title: str
    members: tuple[tuple[int, str], ...]
    """The number of each input or output, and its label in the box."""


class Grouping(NamedTuple):
    """All inputs and all outputs in groups."""

    inputs: tuple[Group, ...]
    outputs: tuple[Group, ...]


class DiagramGate(NamedTuple):
    """A gate, or a block of folded gates, as it is drawn."""

    number: int
    """Counted from 0 among the gates that are drawn."""
    kind: str
    """One of "and", "or", "xor", "buffer", "constant", "block", or the kind of a `Box`."""
    pins: tuple[tuple[int, bool], ...]
    """The nodes that it reads, and whether there is a bubble at the pin."""
    inverted: bool
    """Whether there is a bubble at the output; a constant is then 1."""
    colour: str
    size: int = 1
    """The gates of a block."""
    outs: tuple[tuple[int, bool], ...] = ()
    """The nodes that a box computes, and whether there is a bubble; empty for a gate, which computes one."""


class Diagram(NamedTuple):
    """The parts of a network's drawing: what outputs depend on, and nothing else."""

    inputs: list[Group]
    outputs: list[Group]
    ends: list[int]
    """The node of each output."""
    gates: dict[int, DiagramGate]
    """By node; a block is at its last gate, a box at the first of its outputs."""
    legend: list[tuple[str, str]]
    """Colours and what they mean."""

    def gate_of(self, node: int) -> tuple[int, DiagramGate] | None:
        """Return the gate or box that computes a node, and where it is; None for an input."""
        if node in self.gates:
            return node, self.gates[node]
        boxes = ((at, gate) for at, gate in self.gates.items() if any(out == node for out, _ in gate.outs))
        return next(boxes, None)

    def key(self, node: int) -> str:
        """Return a node's id in GraphViz text; gates are numbered as the wires of exported netlists."""
        gate = self.gate_of(node)
        if gate is not None:
            return f"g{gate[1].number}"
        return f"in{_home(self.inputs, node).members[0][0]}"

    def output_key(self, place: int) -> str:
        """Return the id of the box of an output."""
        return f"out{_home(self.outputs, place).members[0][0]}"

    def port(self, groups: list[Group], number: int) -> str:
        """Return the port of an input or output in a box of several; nothing for one that has a box of its own."""
        return f":m{number}" if len(_home(groups, number).members) > 1 else ""

    @property
    def is_grouped(self) -> bool:
        """Whether several inputs or outputs share a box."""
        return any(len(group.members) > 1 for group in [*self.inputs, *self.outputs])

    def wire_colour(self, node: int) -> str:
        """Return the colour of the wires that begin at a node."""
        gate = self.gate_of(node)
        return INPUT_WIRE if gate is None else _darker(gate[1].colour)


def _home(groups: list[Group], number: int) -> Group:
    return next(group for group in groups if any(member == number for member, _ in group.members))


def diagram(
    circuit: Network,
    order: Sequence[str | int] | None = None,
    *,
    grouping: Grouping | None = None,
    block: Sequence[int] | None = None,
    boxed: BoxedCircuit | None = None,
) -> Diagram:
    """Collect what a drawing of a network shows."""
    # A gate has the colour of the first target, in the order in which they are taught, that uses it.
    targets = teaching_order(circuit.output_names, order)
    first = first_targets(circuit, targets)
    colours = palette(len(targets))
    used = circuit.cone(range(len(targets)))
    logic = boxed.logic if boxed is not None else live_logic(circuit)
    gates = {
        node: _drawn_gate(gate, number, colours[first[node]]) for number, (node, gate) in enumerate(sorted(logic.items()))
    }
    added = np.bincount([first[node] for node in gates], minlength=len(targets) + 1)
    legend = [(INPUT, "input"), (OUTPUT, "output")]
    for place, target in enumerate(targets):
        # The gates of a box may be of several targets.
        number = f" ({counted(int(added[place]), 'gate')})" if boxed is None else ""
        legend.append((colours[place], f"new for {circuit.output_names[target]}{number}"))
    groups = grouping or Grouping(_each_alone(circuit.input_names), _each_alone(circuit.output_names))
    inputs = []
    for title, members in groups.inputs:
        read = tuple(member for member in members if used[member[0]])
        inputs += [Group(title, read)] if read else []
    ends = circuit.outputs.tolist()
    if boxed is not None:
        gates = _boxed(gates, boxed.boxes)
        shown = {INPUT, OUTPUT, *(gate.colour for gate in gates.values())}
        legend = [line for line in legend if line[0] in shown]
    if block is not None:
        home = {node: circuit.n_inputs + block[node - circuit.n_inputs] for node in gates}
        gates, ends = _folded(gates, home), [home.get(node, node) for node in ends]
    return Diagram(inputs, list(groups.outputs), ends, gates, legend)


def live_logic(circuit: Network) -> Logic:
    """Return the gates that an output depends on; a gate that reads one node has it twice, a constant reads node -1."""
    logic = {}
    for gate in np.flatnonzero(circuit.live).tolist():
        read = circuit.read_sources[gate] or [-1]
        a, b = circuit.sources[gate].tolist() if len(read) == 2 else (read[0], read[0])
        logic[circuit.n_inputs + gate] = int(circuit.functions[gate]), a, b
    return logic


def _drawn_gate(gate: tuple[int, int, int], number: int, colour: str) -> DiagramGate:
    function, a, b = gate
    kind, not_a, not_b, not_out = SYMBOLS[tie(function) if a == b else function]
    pins = {"0": (), "a": ((a, False),), "b": ((b, False),)}.get(kind, ((a, not_a), (b, not_b)))
    kind = {"0": "constant", "a": "buffer", "b": "buffer"}.get(kind, kind)
    return DiagramGate(number, kind, pins, not_out, colour)


def _each_alone(names: Sequence[str]) -> tuple[Group, ...]:
    return tuple(Group(name, ((number, name),)) for number, name in enumerate(names))


def _folded(gates: dict[int, DiagramGate], home: dict[int, int]) -> dict[int, DiagramGate]:
    """Draw the gates of a block as one box, which has the pins of all of them."""
    members: dict[int, list[int]] = {}
    for node in gates:
        members.setdefault(home[node], []).append(node)
    drawn = {}
    for last, inside in sorted(members.items()):
        pins = {(home.get(source, source), bubble): None for node in inside for source, bubble in gates[node].pins}
        if len(inside) == 1:
            drawn[last] = gates[last]._replace(pins=tuple(pins))
        else:
            outside = sorted({source for source, _ in pins} - {last})
            pinned = tuple((source, False) for source in outside)
            drawn[last] = gates[last]._replace(kind="block", pins=pinned, inverted=False, size=len(inside))
    return drawn


def _boxed(gates: dict[int, DiagramGate], boxes: Sequence[Box]) -> dict[int, DiagramGate]:
    """Put boxes in the place of their gates; an adder has the colour of its sum."""
    drawn = dict(gates)
    for box in boxes:
        at = box.outs[0][0]
        for node in box.inside:
            del drawn[node]
        kind, outs = ("xor", ()) if box.kind == "XOR" else (box.kind, box.outs)
        drawn[at] = gates[at]._replace(kind=kind, pins=box.pins, inverted=box.outs[0][1], outs=outs, size=len(box.inside))
    return dict(sorted(drawn.items()))


def teaching_order(names: Sequence[str], order: Sequence[str | int] | None) -> list[int]:
    """Return the positions of the targets in the order given by names or positions, each exactly once."""
    if order is None:
        return list(range(len(names)))
    positions: dict[str | int, int] = {name: position for position, name in enumerate(names)}
    positions |= {position: position for position in range(len(names))}
    unknown = [target for target in order if target not in positions]
    if unknown:
        raise SettingsError(f"the order names {unknown[0]!r}, but the targets are {', '.join(names)}.")
    targets = [positions[target] for target in order]
    if sorted(targets) != list(range(len(names))):
        raise SettingsError(f"the order must name each of the {len(names)} targets once; it has {len(targets)}.")
    return targets


def first_targets(circuit: Network, order: Sequence[int]) -> npt.NDArray[np.int64]:
    """For each node, the place in the order of the first target that depends on it (the number of targets if none)."""
    first = np.full(circuit.n_inputs + len(circuit.sources), len(order), dtype=np.int64)
    for place in reversed(range(len(order))):
        first[circuit.cone([order[place]])] = place
    return first


def blocks(circuit: Network, order: Sequence[str | int] | None = None) -> list[int]:
    """Return a block for each gate, the number of its last gate; -1 for gates that no output depends on."""
    # A gate that serves only gates of one block belongs to that block, so that a block has one output. Where gates are shared
    # so much that this leaves too many blocks, the gates that are new for a target, in the order in which the targets are
    # taught, are one block.
    block: list[int] = []
    for largest in LARGEST_BLOCKS:
        block = _cones(circuit, largest)
        if len(set(block)) <= MOST_BLOCKS:
            return block
    by_target = _new_gates(circuit, order)
    return by_target if len(set(by_target)) > 1 else block


def _cones(circuit: Network, largest: int) -> list[int]:
    """Let every gate, from the last to the first, join the block of its readers, if all are in one that has room."""
    reads = circuit.read_sources
    readers: list[set[int]] = [set() for _ in reads]
    block, size = [-1] * len(reads), [0] * len(reads)
    outputs = set(circuit.outputs.tolist())
    for gate in reversed(np.flatnonzero(circuit.live).tolist()):
        around = readers[gate]
        alone = len(around) != 1 or circuit.n_inputs + gate in outputs
        home = gate if alone or size[next(iter(around))] >= largest else next(iter(around))
        block[gate] = home
        size[home] += 1
        for source in reads[gate]:
            if source >= circuit.n_inputs:
                readers[source - circuit.n_inputs].add(home)
    return block


def _new_gates(circuit: Network, order: Sequence[str | int] | None) -> list[int]:
    """Put the gates into blocks by the first target that uses them; a block reads only blocks of earlier targets."""
    first = first_targets(circuit, teaching_order(circuit.output_names, order))[circuit.n_inputs :].tolist()
    live = circuit.live.tolist()
    last = {target: gate for gate, target in enumerate(first) if live[gate]}
    return [last[target] if alive else -1 for target, alive in zip(first, live, strict=True)]


def palette(count: int) -> list[str]:
    """Return fill colours that differ from one another and from those of inputs and outputs."""
    colours = []
    for index in range(count):
        hue, round_ = HUES[index % len(HUES)] / 360, index // len(HUES)
        # Each further round of the same hues is darker and greyer.
        rgb = colorsys.hls_to_rgb(hue, 0.75 - 0.13 * (round_ % 4), 0.8 - 0.2 * (round_ % 4))
        colours.append(f"#{bytes(map(round, 255 * np.array(rgb))).hex()}")
    return colours


def _darker(colour: str) -> str:
    hue, light, strong = colorsys.rgb_to_hls(*(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)))
    rgb = colorsys.hls_to_rgb(hue, light * 0.72, strong * 0.55 if light > 0.7 else strong)
    return "#" + "".join(f"{round(255 * part):02x}" for part in rgb)
