"""Circuits of two-input gates: values, and the clean form in which they are handed over."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._bits import BoolMatrix, WordMatrix, pack, tail_mask, unpack

__all__ = ["GateList", "cleaned", "evaluate", "gate_count", "gate_values", "select_outputs"]

NOT, BUFFER, NAND = 3, 12, 7
CONSTANTS = (0, 15)


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
        The node of each target; -1 where there is none yet.
    """

    n_inputs: int
    functions: npt.NDArray[np.uint8]
    sources: npt.NDArray[np.int64]
    outputs: npt.NDArray[np.int64]


def gate_count(circuit: GateList) -> int:
    """Count the gates that are not constants.

    Examples
    --------
    >>> gate_count(GateList(1, np.array([3, 15], np.uint8), np.zeros((2, 2), np.int64), np.array([1, 2])))
    1
    """
    return int(np.sum((circuit.functions != 0) & (circuit.functions != 15)))


def gate_values(function: int, a: WordMatrix, b: WordMatrix, everything: WordMatrix) -> WordMatrix:
    """Value of a gate on packed sources."""
    value = np.zeros_like(a)
    for cell in range(4):
        if function >> cell & 1:
            value |= (a if cell & 2 else ~a) & (b if cell & 1 else ~b)
    return value & everything


def evaluate(circuit: GateList, X: BoolMatrix) -> BoolMatrix:
    """Predict every output for every row.

    Examples
    --------
    >>> xor = GateList(2, np.array([6], np.uint8), np.array([[0, 1]]), np.array([2]))
    >>> evaluate(xor, np.array([[0, 1], [1, 1]], dtype=bool)).ravel().tolist()
    [True, False]
    """
    values = list(pack(X))
    everything = tail_mask(len(X))
    for function, (a, b) in zip(circuit.functions.tolist(), circuit.sources.tolist(), strict=True):
        values.append(gate_values(function, values[a], values[b], everything))
    return unpack(np.array([values[node] for node in circuit.outputs.tolist()]), len(X))


def select_outputs(circuit: GateList, places: list[int]) -> GateList:
    """Keep some of the outputs, in the order given; a place of -1 adds an output without a node."""
    outputs = np.array([circuit.outputs[place] if place >= 0 else -1 for place in places], dtype=np.int64)
    return circuit._replace(outputs=outputs)


def cleaned(circuit: GateList, *, nand: bool = False) -> GateList:
    """Return the same function without dead, repeated or needless gates.

    Buffers, inverters and constants are absorbed into the gates that read them; only an output that is the complement of
    an input or of another gate that is needed itself keeps an inverter. In a NAND circuit nothing is absorbed but
    constants, repetitions and double inversions.

    Examples
    --------
    >>> twice = GateList(1, np.array([3, 3], np.uint8), np.array([[0, 0], [1, 1]]), np.array([2]))
    >>> cleaned(twice).outputs.tolist(), len(cleaned(twice).functions)
    ([0], 0)
    """
    size = None
    while size != len(circuit.functions):
        size = len(circuit.functions)
        circuit = _live(_hashed(circuit, nand))
        if not nand:
            circuit = _live(_outputs_absorbed(circuit))
    return circuit


def _hashed(circuit: GateList, nand: bool) -> GateList:
    """Rebuild gate by gate, naming every node by (node, complemented) of a simpler one where there is such a node."""
    names: list[tuple[int, bool]] = [(node, False) for node in range(circuit.n_inputs)]
    functions: list[int] = []
    sources: list[tuple[int, int]] = []
    known: dict[tuple[int, int, int], int] = {}

    def gate(function: int, a: int, b: int) -> int:
        key = (function, a, b)
        if key not in known:
            known[key] = circuit.n_inputs + len(functions)
            functions.append(function)
            sources.append((a, b))
        return known[key]

    for function, (a, b) in zip(circuit.functions.tolist(), circuit.sources.tolist(), strict=True):
        (x, not_x), (y, not_y) = names[a], names[b]
        table = _over(function, not_x, not_y, x == y)
        if nand:
            names.append(_nand_name(table, x, y, functions, sources, circuit.n_inputs, gate))
        elif x - circuit.n_inputs >= 0 and functions[x - circuit.n_inputs] in CONSTANTS:
            one = functions[x - circuit.n_inputs] == 15
            names.append(_name(table >> 2 & 3 if one else table & 3, y, gate))
        elif y - circuit.n_inputs >= 0 and functions[y - circuit.n_inputs] in CONSTANTS:
            shift = 1 if functions[y - circuit.n_inputs] == 15 else 0
            names.append(_name((table >> shift & 1) | (table >> 2 + shift & 1) << 1, x, gate))
        elif (table >> 2) == (table & 3):
            names.append(_name(table & 3, y, gate))
        elif (table >> 1 & 5) == (table & 5):
            names.append(_name((table & 1) | (table >> 1 & 2), x, gate))
        else:
            names.append(_normal(table, x, y, gate))
    outputs = []
    for node in circuit.outputs.tolist():
        base, inverted = names[node] if node >= 0 else (-1, False)
        outputs.append(gate(NOT, base, base) if inverted else base)
    return GateList(circuit.n_inputs, np.array(functions, np.uint8), _pairs(sources), np.array(outputs, dtype=np.int64))


def _over(function: int, not_a: bool, not_b: bool, same: bool) -> int:
    """Truth table over the sources themselves of a gate that reads them complemented or twice."""
    table = 0
    for cell in range(4):
        a, b = cell >> 1 ^ not_a, (cell >> 1 if same else cell & 1) ^ not_b
        table |= (function >> (2 * a + b) & 1) << cell
    return table


def _name(table: int, node: int, gate: object) -> tuple[int, bool]:
    """Name of a function of one node: bit 0 its value at 0, bit 1 its value at 1."""
    assert callable(gate)
    if table in (0, 3):
        return gate(15 if table else 0, 0, 0), False
    return node, table == 1


def _normal(table: int, x: int, y: int, gate: object) -> tuple[int, bool]:
    """Sort the sources, and keep of a gate and its complement the one that is 0 at (0, 0)."""
    assert callable(gate)
    if x > y:
        x, y = y, x
        table = (table & 9) | (table >> 1 & 2) | (table << 1 & 4)
    inverted = bool(table & 1)
    return gate(table ^ 15 if inverted else table, x, y), inverted


def _nand_name(
    table: int, x: int, y: int, functions: list[int], sources: list[tuple[int, int]], n_inputs: int, gate: object
) -> tuple[int, bool]:
    """Name of a NAND gate; its function may have become constant, or the complement of a complement."""
    assert callable(gate)
    kinds = [functions[node - n_inputs] if node >= n_inputs else -1 for node in (x, y)]
    if table in CONSTANTS:
        return gate(table, 0, 0), False
    if 0 in kinds:
        return gate(15, 0, 0), False
    if 15 in kinds:
        x = y = y if kinds[0] == 15 else x
        if kinds == [15, 15]:
            return gate(0, 0, 0), False
    if x == y and x >= n_inputs and functions[x - n_inputs] == NAND:
        inner = sources[x - n_inputs]
        if inner[0] == inner[1]:
            return inner[0], False
    return gate(NAND, min(x, y), max(x, y)), False


def _outputs_absorbed(circuit: GateList) -> GateList:
    """Turn an inverter at an output into the complement of the gate it reads, where nothing else needs that gate as it is.

    Readers of the gate inside the circuit absorb the complement; another output of it would need an inverter instead.
    """
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
            for terminal in (0, 1):
                if sources[reader, terminal] == inner:
                    functions[reader] = _over(int(functions[reader]), terminal == 0, terminal == 1, False)
        # The inverter has become a buffer of the complemented gate, so whatever read it reads the gate.
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
    constant = np.isin(circuit.functions[keep], CONSTANTS)
    sources = np.where(constant[:, np.newaxis], 0, sources)
    return GateList(n_inputs, circuit.functions[keep], _pairs(number[sources]), number[circuit.outputs])


def _pairs(sources: object) -> npt.NDArray[np.int64]:
    return np.array(sources, dtype=np.int64).reshape(-1, 2)
