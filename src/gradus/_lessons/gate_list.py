"""`GateList`: circuits as the lessons work on them, and their clean form without needless gates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._core.gates import NAND, NOT, ONE, ZERO, fix_a, fix_b, flip_a, flip_b, reads, tie

__all__ = ["GateList", "cleaned", "empty_circuit", "gate_count", "is_constant", "network_of", "select_outputs"]

CONSTANTS = (ZERO, ONE)
Name = tuple[int, bool]
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
    return GateList(n_inputs, np.zeros(0, np.uint8), _pairs([]), np.full(n_outputs, -1, dtype=np.int64))


def is_constant(functions: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Return which functions are constant."""
    return np.asarray((functions == ZERO) | (functions == ONE))  # many times as fast as np.isin


def gate_count(circuit: GateList) -> int:
    """Count the gates of a circuit, without constants."""
    return int(np.count_nonzero(~is_constant(circuit.functions)))


def network_of(circuit: GateList, **names: Sequence[str] | None) -> Network:
    """Return a circuit whose outputs all have nodes as a `Network`."""
    return Network(circuit.n_inputs, circuit.sources, circuit.outputs, circuit.functions, **names)


def select_outputs(circuit: GateList, places: list[int]) -> GateList:
    """Keep some of the outputs, in the order given; a place of -1 adds an output without a node."""
    outputs = np.array([circuit.outputs[place] if place >= 0 else -1 for place in places], dtype=np.int64)
    return circuit._replace(outputs=outputs)


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
    gates = _GateTable(circuit.n_inputs)
    names: list[Name] = [(node, False) for node in range(circuit.n_inputs)]
    for function, (a, b) in zip(circuit.functions.tolist(), circuit.sources.tolist(), strict=True):
        (x, not_x), (y, not_y) = names[a], names[b]
        function = flip_a(function) if not_x else function
        function = flip_b(function) if not_y else function
        function = tie(function) if x == y else function
        names.append((gates.nand(function, x, y), False) if nand else gates.simplest(function, x, y))
    outputs = []
    for node in circuit.outputs.tolist():
        base, inverted = names[node] if node >= 0 else (-1, False)
        outputs.append(gates.gate(NOT, base, base) if inverted else base)
    functions = np.array(gates.functions, np.uint8)
    return GateList(circuit.n_inputs, functions, _pairs(gates.sources), np.array(outputs, dtype=np.int64))


class _GateTable:
    """Builds a list of distinct gates."""

    def __init__(self, n_inputs: int) -> None:
        self.n_inputs = n_inputs
        self.functions: list[int] = []
        self.sources: list[tuple[int, int]] = []
        self._known: dict[tuple[int, int, int], int] = {}

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

    def simplest(self, function: int, x: int, y: int) -> Name:
        """Return a gate as the complement of another node, as another node itself, or as a new gate."""
        x_value, y_value = self.constant(x), self.constant(y)
        reads_x, reads_y = reads(function, False)
        if x_value is not None or (y_value is None and not reads_x):
            function, node = fix_a(function, x_value or 0), y
        elif y_value is not None or not reads_y:
            function, node = fix_b(function, y_value or 0), x
        else:
            return self._normal(function, x, y)
        return (self.gate(function, 0, 0), False) if function in CONSTANTS else (node, function == NOT)

    def _normal(self, function: int, x: int, y: int) -> Name:
        """Sort the sources and, of a gate and its complement, make the one that is 0 at (0, 0)."""
        if x > y:
            x, y = y, x
            function = (function & 9) | (function >> 1 & 2) | (function << 1 & 4)
        inverted = bool(function & 1)
        return self.gate(function ^ ONE if inverted else function, x, y), inverted

    def nand(self, function: int, x: int, y: int) -> int:
        """Return the node of a NAND gate; its function may have become constant, or the complement of a complement."""
        values = self.constant(x), self.constant(y)
        if function in CONSTANTS:
            return self.gate(function, 0, 0)
        if 0 in values:
            return self.gate(ONE, 0, 0)
        if values == (1, 1):
            return self.gate(ZERO, 0, 0)
        if 1 in values:
            x = y = y if values[0] == 1 else x
        if x == y and x >= self.n_inputs and self.functions[x - self.n_inputs] == NAND:
            inner, other = self.sources[x - self.n_inputs]
            if inner == other:
                return inner
        return self.gate(NAND, min(x, y), max(x, y))


def _outputs_absorbed(circuit: GateList) -> GateList:
    """Replace an inverter at an output by complementing the gate that it reads, unless that gate is itself an output."""
    # Gates that read the complemented gate absorb the complement.
    functions, sources = circuit.functions.copy(), circuit.sources.copy()
    outputs = circuit.outputs.copy()
    for place, node in enumerate(circuit.outputs.tolist()):
        gate = node - circuit.n_inputs
        if gate < 0 or functions[gate] != NOT or sources[gate, 0] != sources[gate, 1]:
            continue
        inner = int(sources[gate, 0])
        if inner < circuit.n_inputs or inner in outputs.tolist() or functions[inner - circuit.n_inputs] in CONSTANTS:
            continue
        functions[inner - circuit.n_inputs] ^= 15
        for reader in range(len(functions)):
            for terminal, flip in enumerate((flip_a, flip_b)):
                if sources[reader, terminal] == inner:
                    functions[reader] = flip(int(functions[reader]))
        # The inverter is now a buffer of the complemented gate, so its readers read the gate instead.
        sources[sources == node] = inner
        outputs[outputs == node] = inner
        outputs[place] = inner
    return circuit._replace(functions=functions, sources=sources, outputs=outputs)


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
    return GateList(n_inputs, circuit.functions[keep], _pairs(number[sources]), number[circuit.outputs])


def _pairs(sources: object) -> npt.NDArray[np.int64]:
    return np.array(sources, dtype=np.int64).reshape(-1, 2)
