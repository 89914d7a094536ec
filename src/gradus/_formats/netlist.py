"""A network as named wires, written and read: what all netlist formats have in common."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from gradus._circuit import Network
from gradus._circuit.gate_list import GateTable, Literal, cleaned
from gradus._circuit.network import given_names, network_of
from gradus._core.gates import BUFFER, tie
from gradus._core.wording import counted
from gradus._formats.names import fresh_name, map_lines, safe_names
from gradus.errors import DataError, FormatError

__all__ = ["Gate", "Netlist", "built_network", "dependency_order", "interface_names", "netlist"]

Wire = TypeVar("Wire", int, str)


class Gate(NamedTuple):
    """A wire and how it is computed."""

    wire: str
    function: int
    """Its truth table; see `gradus.Network`."""
    sources: tuple[str, ...]
    """The wires that it depends on: two different ones, one, or none for a constant."""


@dataclass(frozen=True)
class Netlist:
    """The gates that some output depends on, with a name for every wire."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    """Safe names, all different."""
    gates: tuple[Gate, ...]
    """Each after those that it reads; an output that is an input, or an earlier output, is a buffer at the end."""
    wires: tuple[str, ...]
    """The gates that are not outputs."""
    map_lines: list[str]
    """Comment lines with the names that had to be changed; see `gradus._formats.names`."""
    n_gates: int
    """The gates of the network, without the buffers of outputs."""
    _taken: set[str] = field(default_factory=set)

    @property
    def counts(self) -> str:
        """Describe the size in words."""
        parts = ((len(self.inputs), "input"), (len(self.outputs), "output"), (self.n_gates, "gate"))
        return ", ".join(counted(number, what) for number, what in parts)

    def fresh_wire(self, stem: str) -> str:
        """Return a name that no wire has yet, made from the stem."""
        if not self._taken:
            self._taken.update(self.inputs, self.outputs, self.wires)
        name = fresh_name(stem, self._taken.__contains__)
        self._taken.add(name)
        return name


def interface_names(
    network: Network, allowed: re.Pattern[str], reserved: AbstractSet[str] = frozenset()
) -> tuple[tuple[str, ...], tuple[str, ...], list[str]]:
    """Return safe input names, safe output names that differ from all of them, and the lines that map them back."""
    inputs = set(network.input_names)
    # An output named like an input is its next value; in one name space the two need different names.
    taken = {*network.input_names, *network.output_names}
    apart: dict[str, str] = {}
    for name in network.output_names:
        apart[name] = fresh_name(f"{name}_next", taken.__contains__) if name in inputs else name
        taken.add(apart[name])
    safe = safe_names([*network.input_names, *apart.values()], allowed, reserved)
    safe_inputs = tuple(safe[name] for name in network.input_names)
    safe_outputs = tuple(safe[apart[name]] for name in network.output_names)
    pairs = [*zip(safe_inputs, network.input_names, strict=True), *zip(safe_outputs, network.output_names, strict=True)]
    return safe_inputs, safe_outputs, map_lines(pairs)


def netlist(network: Network, allowed: re.Pattern[str], reserved: AbstractSet[str] = frozenset()) -> Netlist:
    """Name every wire of a network, without the gates that no output depends on."""
    inputs, outputs, lines = interface_names(network, allowed, reserved)
    pruned = network.prune(absorb=False)
    used = {*inputs, *outputs}
    letter = "g"
    while any(f"{letter}{gate}" in used for gate in range(pruned.n_gates)):
        letter += "g"
    wire = [*inputs, *(f"{letter}{gate}" for gate in range(pruned.n_gates))]
    copies = []
    named: set[int] = set()
    for name, node in zip(outputs, pruned.outputs.tolist(), strict=True):
        if node < pruned.n_inputs or node in named:
            copies.append((name, node))
        else:
            wire[node] = name
            named.add(node)
    gates = []
    rows = zip(pruned.functions.tolist(), pruned.sources.tolist(), pruned.read_sources, strict=True)
    for node, (function, (a, b), read) in enumerate(rows, start=pruned.n_inputs):
        gates.append(Gate(wire[node], tie(function) if a == b else function, tuple(wire[source] for source in read)))
    gates += [Gate(name, BUFFER, (wire[node],)) for name, node in copies]
    inner = tuple(wire[node] for node in range(pruned.n_inputs, len(wire)) if node not in named)
    return Netlist(inputs, outputs, tuple(gates), inner, lines, pruned.n_gates)


def built_network(gates: GateTable, outputs: Sequence[Literal], inputs: Sequence[str], names: Sequence[str]) -> Network:
    """Return a circuit that was read, as a network without needless gates."""
    if outputs and not inputs:
        raise FormatError("the circuit has no inputs; a network needs at least one.")
    try:
        return network_of(cleaned(gates.circuit(outputs)), **given_names(inputs, names))
    except DataError as error:
        raise FormatError(str(error)) from error


def dependency_order(
    wanted: Iterable[Wire],
    given: Iterable[Wire],
    sources: Mapping[Wire, Sequence[Wire]],
    undefined: Callable[[Wire, Wire | None], FormatError],
    circular: Callable[[Wire], FormatError],
) -> list[Wire]:
    """Return the wires that the wanted ones need, each after those that it reads; without recursion, so of any depth."""
    done = dict.fromkeys(given, True)
    order: list[Wire] = []
    for start in wanted:
        stack: list[tuple[Wire, Wire | None]] = [(start, None)]
        while stack:
            wire, reader = stack[-1]
            if done.get(wire):
                stack.pop()
                continue
            if wire not in sources:
                raise undefined(wire, reader)
            waiting = [source for source in sources[wire] if not done.get(source)]
            if not waiting:
                done[wire] = True
                order.append(wire)
                stack.pop()
                continue
            if wire in done:
                raise circular(wire)
            done[wire] = False  # begun: coming here again with something still waiting means a cycle
            stack += [(source, wire) for source in waiting]
    return order
