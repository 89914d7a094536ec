"""A network as named wires: what every netlist format (Verilog, BLIF, BENCH) spells in its own way."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from gradus._formats.names import fresh_name, map_lines, safe_names
from gradus._network import Network
from gradus._wording import counted

__all__ = ["Netlist", "interface_names", "netlist"]


@dataclass(frozen=True)
class Netlist:
    """The gates that some output depends on, with a name for every wire.

    Attributes
    ----------
    inputs, outputs : tuple of str
        Safe names, all different.
    gates : tuple of (str, str, str)
        Wire, and the two wires whose NAND it is, each defined before it is read.
    copies : tuple of (str, str)
        Output, and the wire it repeats: outputs that are inputs, or the same gate as an earlier output.
    wires : tuple of str
        The gates that are no outputs themselves.
    map_lines : list of str
        Comment lines with the names that had to be changed; see `gradus._formats.names`.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    gates: tuple[tuple[str, str, str], ...]
    copies: tuple[tuple[str, str], ...]
    wires: tuple[str, ...]
    map_lines: list[str]

    @property
    def counts(self) -> str:
        """Say how large it is."""
        parts = ((self.inputs, "input"), (self.outputs, "output"), (self.gates, "gate"))
        return ", ".join(counted(len(some), what) for some, what in parts)


def interface_names(
    network: Network, allowed: re.Pattern[str], reserved: AbstractSet[str] = frozenset()
) -> tuple[tuple[str, ...], tuple[str, ...], list[str]]:
    """Return safe input names, safe output names that differ from all of them, and the lines that map them back.

    Examples
    --------
    >>> gene = Network(1, [[0, 0]], [1], input_names=["SK"], output_names=["SK"])
    >>> interface_names(gene, re.compile("[A-Za-z_]+"))
    (('SK',), ('SK_next',), ['gradus-name: SK_next stands for "SK"'])
    """
    inputs = set(network.input_names)
    # An output named like an input is the next value of that input; one space of names must tell the two apart.
    every = {*network.input_names, *network.output_names}
    apart: dict[str, str] = {}
    for name in network.output_names:
        apart[name] = fresh_name(f"{name}_next", every.__contains__) if name in inputs else name
        every.add(apart[name])
    safe = safe_names([*network.input_names, *apart.values()], allowed, reserved)
    safe_inputs = tuple(safe[name] for name in network.input_names)
    safe_outputs = tuple(safe[apart[name]] for name in network.output_names)
    pairs = [*zip(safe_inputs, network.input_names, strict=True), *zip(safe_outputs, network.output_names, strict=True)]
    return safe_inputs, safe_outputs, map_lines(pairs)


def netlist(network: Network, allowed: re.Pattern[str], reserved: AbstractSet[str] = frozenset()) -> Netlist:
    """Name every wire of a network, leaving out the gates that no output depends on.

    Examples
    --------
    >>> twice = netlist(Network(2, [[0, 1], [2, 2]], [3, 3, 0]), re.compile("[a-z0-9]+"))
    >>> twice.gates
    (('g0', 'x0', 'x1'), ('z0', 'g0', 'g0'))
    >>> twice.copies
    (('z1', 'z0'), ('z2', 'x0'))
    """
    inputs, outputs, lines = interface_names(network, allowed, reserved)
    pruned = network.prune()
    used = {*inputs, *outputs}
    letter = "g"
    while any(f"{letter}{gate}" in used for gate in range(pruned.n_gates)):
        letter += "g"
    wire = {**dict(enumerate(inputs)), **{pruned.n_inputs + g: f"{letter}{g}" for g in range(pruned.n_gates)}}
    copies = []
    named: set[int] = set()
    for name, node in zip(outputs, pruned.outputs.tolist(), strict=True):
        if node < pruned.n_inputs or node in named:
            copies.append((name, wire[node]))
        else:
            wire[node] = name
            named.add(node)
    gates = tuple((wire[node], wire[a], wire[b]) for node, (a, b) in enumerate(pruned.sources.tolist(), start=pruned.n_inputs))
    inner = tuple(wire[node] for node in range(pruned.n_inputs, pruned.n_inputs + pruned.n_gates) if node not in named)
    return Netlist(inputs, outputs, gates, tuple(copies), inner, lines)
