"""The board that a walk works on: a circuit with the values of its nodes on every example, and scratch arrays.

Node numbers on a board: the inputs, then constant 0 and constant 1, then one slot per gate, then the spare gates that are
drawn afresh for every move. The live gates are listed in `order`, each after the gates it reads; slots keep their place when
the order changes, so that values never move.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._bits import WordMatrix
from gradus._lessons.gate_list import GateList
from gradus._lessons.kernel.walk import evaluate_board
from gradus._lessons.kernel.walk_arrays import N_SPARE, VECTOR, Board

__all__ = ["PackedExamples", "load_circuit", "new_board", "read_circuit"]

Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]


class PackedExamples(NamedTuple):
    """Packed examples: what is to be learned."""

    n_examples: int
    inputs: WordMatrix
    targets: WordMatrix
    known: WordMatrix
    everything: Words
    """One row with a bit set for every example."""


def new_board(task: PackedExamples, columns: list[int], n_slots: int) -> Board:
    """Make an empty board for some target columns with room for so many gates."""
    n_words = task.inputs.shape[1]
    n_inputs = len(task.inputs)
    n_nodes = n_inputs + 2 + n_slots + N_SPARE
    n_targets = len(columns)

    def words(rows: int) -> Any:
        return np.zeros((rows, n_words), dtype=np.uint64)

    def ints(*shape: int) -> Any:
        return np.zeros(shape, dtype=np.int64)

    values = words(n_nodes)
    values[:n_inputs] = task.inputs
    values[n_inputs + 1] = task.everything
    return Board(
        n_inputs=n_inputs,
        n_slots=n_slots,
        values=values,
        functions=ints(n_slots + N_SPARE),
        sources=ints(n_slots + N_SPARE, 2),
        order=ints(n_slots),
        n_live=ints(1),
        outputs=np.full(n_targets, n_inputs, dtype=np.int64),
        used=np.zeros(n_slots, dtype=np.uint8),
        everything=task.everything,
        targets=np.ascontiguousarray(task.targets[columns]),
        known=np.ascontiguousarray(task.known[columns]),
        wrong=words(n_targets),
        errors=ints(n_targets),
        cone=np.zeros(n_nodes, dtype=np.uint8),
        mark=np.zeros(n_nodes, dtype=np.uint8),
        flipped=words(n_nodes),
        breaks=words(n_targets),
        mends=words(n_targets),
        touched=ints(n_targets),
        new_errors=ints(n_targets),
        planes=words(max(n_targets.bit_length(), 1)),  # all outputs may read one gate
        negative=np.zeros(n_words, dtype=np.uint64),
        candidates=ints(n_nodes),
        candidate_values=np.zeros((n_nodes + VECTOR) * n_words, dtype=np.uint64),
        node_sums=ints(n_nodes + VECTOR),
        pair_sums=ints(n_nodes + VECTOR),
        sizes=ints(n_nodes + VECTOR),
        picks=ints(n_nodes * (n_nodes + 1) // 2 + 1),
        next_order=ints(n_slots + N_SPARE),
    )


def load_circuit(board: Board, circuit: GateList) -> None:
    """Put a circuit on a board; outputs that it does not have yet (-1) get the constant that fits them best."""
    n_inputs, first = board.n_inputs, board.n_inputs + 2
    constant = (circuit.functions == 0) | (circuit.functions == 15)
    n_gates = int(np.sum(~constant))
    # Constants are nodes of every board, so gates that are constant take no slot.
    slots = np.where(constant, n_inputs + (circuit.functions == 15), first + np.cumsum(~constant) - 1)
    number = np.concatenate([np.arange(n_inputs), slots]).astype(np.int64)
    board.functions[:n_gates] = circuit.functions[~constant]
    board.sources[:n_gates] = number[circuit.sources[~constant]]
    board.order[:n_gates] = first + np.arange(n_gates)
    board.n_live[0] = n_gates
    board.used[:] = 0
    board.used[:n_gates] = 1
    for place, node in enumerate(circuit.outputs.tolist()):
        if node >= 0:
            board.outputs[place] = number[node]
        else:
            ones = int(np.bitwise_count(board.targets[place] & board.known[place]).sum())
            known = int(np.bitwise_count(board.known[place]).sum())
            board.outputs[place] = n_inputs + int(2 * ones > known)
    evaluate_board(board)


def read_circuit(board: Board, functions: Ints, sources: Ints, order: Ints, outputs: Ints) -> GateList:
    """Read a circuit off slots: its live gates in order, constants as gates with the function 0 or 15."""
    n_inputs, first = board.n_inputs, board.n_inputs + 2
    number = {node: node for node in range(n_inputs)}
    new_functions: list[int] = []
    new_sources: list[tuple[int, int]] = []
    for place, node in enumerate(order.tolist()):
        slot = node - first
        number[node] = n_inputs + place
        new_functions.append(int(functions[slot]))
        pair = [number.get(int(source), -1) for source in sources[slot]]
        if -1 in pair:  # a constant source: the gate's function of the other one, or a constant
            new_functions[-1] = _without_constants(new_functions[-1], sources[slot].tolist(), n_inputs)
            pair = [max(pair), max(pair)] if max(pair) >= 0 else [0, 0]
        new_sources.append((pair[0], pair[1]))
    new_outputs = []
    for node in outputs.tolist():
        if node not in number:
            number[node] = n_inputs + len(new_functions)
            new_functions.append(15 if node == n_inputs + 1 else 0)
            new_sources.append((0, 0))
        new_outputs.append(number[node])
    return GateList(
        n_inputs,
        np.array(new_functions, dtype=np.uint8),
        np.array(new_sources, dtype=np.int64).reshape(-1, 2),
        np.array(new_outputs, dtype=np.int64),
    )


def _without_constants(function: int, sources: list[int], n_inputs: int) -> int:
    """Truth table of a gate over (x, x), where x is the source that is not constant."""
    table = 0
    for x in (0, 1):
        a, b = (source - n_inputs if n_inputs <= source < n_inputs + 2 else x for source in sources)
        if function >> (2 * a + b) & 1:
            table |= 0b1100 if x else 0b0011
    return table
