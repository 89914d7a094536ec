"""`GateList`: a circuit that is being built or changed; its clean form without needless gates, and its form of NAND gates."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._core.gates import NAND, NOT, ONE, SYMBOLS, ZERO, fix_a, fix_b, flip_a, flip_b, reads, tie

__all__ = [
    "GateList", "GateTable", "Literal", "as_nands", "cleaned", "constant_outputs", "empty_circuit", "is_constant",
    "is_gate_list", "select_outputs",
]  # fmt: skip

CONSTANTS = (ZERO, ONE)
Literal = tuple[int, bool]
"""A node, and whether its complement is meant."""


class GateList(NamedTuple):
    """A circuit whose gates may be any function of two nodes.

    Attributes
    ----------
    n_inputs : int
        Inputs are the nodes 0 … n_inputs-1; gate g is the node n_inputs+g and reads lower nodes only.
    functions : ndarray of uint8
        Truth table of each gate: its value for sources (a, b) is bit 2a+b. 0 and 15 are constants, which cost nothing.
    sources : ndarray of int64, shape (gates, 2)
    outputs : ndarray of int64
        The node of each target; -1 for a target that has none yet.
    """

    n_inputs: int
    functions: npt.NDArray[np.uint8]
    sources: npt.NDArray[np.int64]
    outputs: npt.NDArray[np.int64]


def empty_circuit(n_inputs: int, n_outputs: int = 0) -> GateList:
    """Return a circuit without gates, whose outputs have no nodes yet."""
    return GateList(n_inputs, np.zeros(0, np.uint8), np.zeros((0, 2), np.int64), np.full(n_outputs, -1, dtype=np.int64))


def is_constant(functions: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Return which functions are constant."""
    return np.asarray((functions == ZERO) | (functions == ONE))  # many times as fast as np.isin


def constant_outputs(circuit: GateList) -> list[int]:
    """Return the outputs that are constants, by their places."""
    constant = np.append(np.zeros(circuit.n_inputs, dtype=np.bool_), is_constant(circuit.functions))
    return [int(place) for place in np.flatnonzero(constant[circuit.outputs])]


def is_gate_list(circuit: GateList, n_inputs: int) -> bool:
    """Return whether a circuit from elsewhere has these inputs, and gates that read lower nodes only."""
    nodes = n_inputs + np.arange(len(circuit.functions))
    return bool(
        circuit.n_inputs == n_inputs
        and circuit.functions.dtype == np.uint8
        and circuit.functions.ndim == circuit.outputs.ndim == 1
        and circuit.sources.shape == (len(nodes), 2)
        and circuit.sources.dtype == circuit.outputs.dtype == np.int64
        and (circuit.functions <= ONE).all()
        and (circuit.sources >= 0).all()
        and (circuit.sources < nodes[:, np.newaxis]).all()
        and ((circuit.outputs >= -1) & (circuit.outputs < n_inputs + len(nodes))).all()
    )


def select_outputs(circuit: GateList, places: list[int]) -> GateList:
    """Keep some of the outputs, in the order given; a place of -1 adds an output without a node."""
    return circuit._replace(outputs=np.append(circuit.outputs, -1)[places])


def cleaned(circuit: GateList, *, nand: bool = False) -> GateList:
    """Return an equivalent circuit without dead, repeated or needless gates."""
    # Buffers, inverters and constants are absorbed into the gates that read them; only an output that is the complement of an
    # input or of another output keeps an inverter. In a NAND circuit only constants, repeated gates and double inverters are
    # removed.
    size = None
    while size != len(circuit.functions):
        size = len(circuit.functions)
        circuit = _live(_hashed(circuit, nand))
        if not nand:
            circuit = _live(_outputs_absorbed(circuit))
    return circuit


def _hashed(circuit: GateList, nand: bool) -> GateList:
    """Rebuild a circuit gate by gate, with equal gates made once and nodes replaced by simpler ones."""
    gates = GateTable(circuit.n_inputs)
    make = gates.nand_of if nand else gates.of
    literals: list[Literal] = list(zip(range(circuit.n_inputs), repeat(False)))
    for function, (a, b) in zip(circuit.functions.tolist(), circuit.sources.tolist(), strict=True):
        literals.append(make(function, literals[a], literals[b]))
    literals.append((-1, False))  # of an output without a node
    return gates.circuit(map(literals.__getitem__, circuit.outputs.tolist()))


class GateTable:
    """Builds a list of distinct gates."""

    def __init__(self, n_inputs: int) -> None:
        self.n_inputs = n_inputs
        self.functions: list[int] = []
        self.sources: list[tuple[int, int]] = []
        self._known: dict[tuple[int, int, int], int] = {}

    def circuit(self, outputs: Iterable[Literal]) -> GateList:
        """Return the circuit of these outputs, in which complements are inverters."""
        nodes = []
        for node, inverted in outputs:
            nodes.append(self.gate(NOT, node, node) if inverted else node)
        functions, sources = np.array(self.functions, np.uint8), np.array(self.sources, dtype=np.int64).reshape(-1, 2)
        return GateList(self.n_inputs, functions, sources, np.array(nodes, dtype=np.int64))

    def of(self, function: int, a: Literal, b: Literal) -> Literal:
        """Return a gate of two literals as the complement of another node, as another node itself, or as a new gate."""
        (x, not_x), (y, not_y) = a, b
        function = flip_a(function) if not_x else function
        function = flip_b(function) if not_y else function
        function = tie(function) if x == y else function
        x_value, y_value = self.constant(x), self.constant(y)
        reads_x, reads_y = reads(function, False)
        if x_value is not None or (y_value is None and not reads_x):
            function, node = fix_a(function, x_value or 0), y
        elif y_value is not None or not reads_y:
            function, node = fix_b(function, y_value or 0), x
        else:
            if x > y:  # exchange the sources
                x, y, function = y, x, (function & 9) | (function >> 1 & 2) | (function << 1 & 4)
            inverted = bool(function & 1)  # of a gate and its complement, the one that is 0 at (0, 0) is made
            return self.gate(function ^ ONE if inverted else function, x, y), inverted
        return (self.gate(function, 0, 0), False) if function in CONSTANTS else (node, function == NOT)

    def gate(self, function: int, a: int, b: int) -> int:
        """Return the node of a gate, which is made if there is none."""
        node = self._known.setdefault((function, a, b), self.n_inputs + len(self.functions))
        if node == self.n_inputs + len(self.functions):
            self.functions.append(function)
            self.sources.append((a, b))
        return node

    def constant(self, node: int) -> int | None:
        """Return the value of a node that is constant, else None."""
        function = self.functions[node - self.n_inputs] if node >= self.n_inputs else NOT
        return int(function == ONE) if function in CONSTANTS else None

    def nand_of(self, function: int, a: Literal, b: Literal) -> Literal:
        """Return a NAND gate; its function may have become constant, or the complement of a complement."""
        x, y = a[0], b[0]
        if (tie(function) if x == y else function) in CONSTANTS:
            return self.gate(tie(function), 0, 0), False
        values = self.constant(x), self.constant(y)
        if 0 in values:
            return self.gate(ONE, 0, 0), False
        if values == (1, 1):
            return self.gate(ZERO, 0, 0), False
        if 1 in values:
            x = y = y if values[0] == 1 else x
        return self.nand(x, y), False

    def nand(self, x: int, y: int) -> int:
        """Return the node of a NAND gate, or what the complement of a complement is."""
        if x == y and x >= self.n_inputs and self.functions[x - self.n_inputs] == NAND:
            inner, other = self.sources[x - self.n_inputs]
            if inner == other:
                return inner
        return self.gate(NAND, min(x, y), max(x, y))

    def nands(self, function: int, a: int, b: int) -> int:
        """Return the node of a gate made of NAND gates."""
        kind, not_a, not_b, not_out = SYMBOLS[tie(function) if a == b else function]
        if kind == "xor":
            not_both = self.nand(a, b)
            return self._signed(self.nand(self.nand(a, not_both), self.nand(b, not_both)), not_out)
        if kind == "and":
            return self._signed(self.nand(self._signed(a, not_a), self._signed(b, not_b)), not not_out)
        if kind == "or":
            return self._signed(self.nand(self._signed(a, not not_a), self._signed(b, not not_b)), not_out)
        if kind == "0":
            return self._signed(self.nand(a, self.nand(a, a)), not not_out)
        return self._signed(a if kind == "a" else b, not_out)

    def _signed(self, node: int, inverted: bool) -> int:
        return self.nand(node, node) if inverted else node


def as_nands(circuit: GateList) -> GateList:
    """Rewrite every gate as NAND gates; equal ones are made once, and double inverters are removed."""
    gates = GateTable(circuit.n_inputs)
    nodes = list(range(circuit.n_inputs))
    for function, (a, b) in zip(circuit.functions.tolist(), circuit.sources.tolist(), strict=True):
        nodes.append(gates.nands(function, nodes[a], nodes[b]))
    return gates.circuit((nodes[output], False) for output in circuit.outputs.tolist())


def _outputs_absorbed(circuit: GateList) -> GateList:
    """Complement the gates of which only the complement is an output, instead of inverting them there."""
    # Gates that read a complemented gate absorb the complement; the inverters become buffers, which are dead.
    n_inputs, sources = circuit.n_inputs, circuit.sources
    gates = circuit.outputs[circuit.outputs >= n_inputs] - n_inputs
    inverters = gates[(circuit.functions[gates] == NOT) & (sources[gates, 0] == sources[gates, 1])]
    if not len(inverters):
        return circuit
    turned = np.zeros(n_inputs + len(circuit.functions), dtype=np.bool_)
    turned[sources[inverters, 0]] = True
    turned[:n_inputs] = False
    turned[circuit.outputs[circuit.outputs >= 0]] = False
    turned[n_inputs:] &= ~is_constant(circuit.functions)
    functions = circuit.functions.copy()
    for terminal, flip in enumerate((flip_a, flip_b)):
        flipped = np.array([flip(function) for function in range(16)], np.uint8)
        read = turned[sources[:, terminal]]
        functions[read] = flipped[functions[read]]
    functions[turned[n_inputs:]] ^= ONE
    now = np.append(np.arange(len(turned)), -1)
    absorbed = inverters[turned[sources[inverters, 0]]]
    now[n_inputs + absorbed] = sources[absorbed, 0]
    return circuit._replace(functions=functions, outputs=now[circuit.outputs])


def _live(circuit: GateList) -> GateList:
    """Drop the gates that no output depends on."""
    n_inputs = circuit.n_inputs
    live = np.zeros(n_inputs + len(circuit.functions), dtype=np.bool_)
    live[circuit.outputs[circuit.outputs >= 0]] = True
    for gate in range(len(circuit.functions) - 1, -1, -1):
        if live[n_inputs + gate] and circuit.functions[gate] not in CONSTANTS:
            live[circuit.sources[gate]] = True
    live[:n_inputs] = True
    number = np.append(np.cumsum(live) - 1, -1)
    keep = live[n_inputs:]
    sources = circuit.sources[keep]
    sources = np.where(is_constant(circuit.functions[keep])[:, np.newaxis], 0, sources)
    return GateList(n_inputs, circuit.functions[keep], number[sources], number[circuit.outputs])
