"""The board that a walk works on: a circuit with the values of its nodes on every example, and scratch arrays.

Node numbers on a board: the inputs, then constant 0 and constant 1, then one slot per gate, then the spare gates that are
drawn afresh for every move. The live gates are listed in `order`, each after the gates it reads; slots keep their place when
the order changes, so that values never move.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._circuit.gate_list import GateList, is_constant
from gradus._core.bits import WordMatrix
from gradus._core.gates import ONE, ZERO, fix_a, fix_b
from gradus._core.kernels.compile import compiled, uncounted
from gradus._core.kernels.intrinsics import by_reference, popcount
from gradus._lessons.packed_examples import PackedExamples

__all__ = [
    "N_SPARE", "VECTOR", "Board", "evaluate_board", "gate_word", "load_circuit", "new_board", "read_circuit", "set_value",
    "set_wrong",
]  # fmt: skip

N_SPARE = 40
VECTOR = 8  # words

Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.uint8]


class Board(NamedTuple):
    """A circuit in slots, and every array that pricing and moving need, so that the kernels allocate nothing."""

    n_inputs: int
    n_slots: int
    values: WordMatrix
    functions: Ints
    sources: Ints
    order: Ints
    n_live: Ints
    outputs: Ints
    used: Flags
    everything: Words
    targets: WordMatrix
    known: WordMatrix
    wrong: WordMatrix
    errors: Ints
    # Scratch arrays for one move.
    cone: Flags
    mark: Flags
    flipped: WordMatrix
    breaks: WordMatrix
    mends: WordMatrix
    touched: Ints
    new_errors: Ints
    planes: WordMatrix
    negative: Words
    candidates: Ints
    candidate_values: Words
    node_sums: Ints
    pair_sums: Ints
    sizes: Ints
    picks: Ints
    next_order: Ints


def new_board(examples: PackedExamples, columns: list[int], n_slots: int) -> Board:
    """Make an empty board for some target columns, with this many slots for gates."""
    n_words = examples.inputs.shape[1]
    n_inputs = len(examples.inputs)
    n_nodes = n_inputs + 2 + n_slots + N_SPARE
    n_targets = len(columns)

    def words(rows: int) -> Any:
        return np.zeros((rows, n_words), dtype=np.uint64)

    def ints(*shape: int) -> Any:
        return np.zeros(shape, dtype=np.int64)

    values = words(n_nodes)
    values[:n_inputs] = examples.inputs
    values[n_inputs + 1] = examples.everything
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
        everything=examples.everything,
        targets=np.ascontiguousarray(examples.targets[columns]),
        known=np.ascontiguousarray(examples.known[columns]),
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
    """Put a circuit on a board; outputs without a node (-1) get the constant that fits them best."""
    n_inputs, first = board.n_inputs, board.n_inputs + 2
    constant = is_constant(circuit.functions)
    n_gates = int(np.sum(~constant))
    # Every board has nodes for the constants, so constant gates take no slot.
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
    """Read a circuit from slots: its live gates in order, and constants as gates with the function 0 or 15."""
    n_inputs, first = board.n_inputs, board.n_inputs + 2
    constants = {n_inputs: 0, n_inputs + 1: 1}
    number = {node: node for node in range(n_inputs)}
    new_functions: list[int] = []
    new_sources: list[tuple[int, int]] = []
    for place, node in enumerate(order.tolist()):
        number[node] = n_inputs + place
        function, (a, b) = int(functions[node - first]), sources[node - first].tolist()
        if a in constants:  # what remains is a function of b, in the place of the first source
            function, a = fix_a(function, constants[a]), b
        if a in constants:
            function, a, b = fix_a(function, constants[a]), 0, 0
        elif b in constants:
            function, b = fix_b(function, constants[b]), a
        new_functions.append(function)
        new_sources.append((number[a], number[b]))
    new_outputs = []
    for node in outputs.tolist():
        if node not in number:
            number[node] = n_inputs + len(new_functions)
            new_functions.append(ONE if constants[node] else ZERO)
            new_sources.append((0, 0))
        new_outputs.append(number[node])
    return GateList(
        n_inputs,
        np.array(new_functions, dtype=np.uint8),
        np.array(new_sources, dtype=np.int64).reshape(-1, 2),
        np.array(new_outputs, dtype=np.int64),
    )


@uncounted
def gate_word(function, a, b, all_ones):
    """Compute a gate on one word of examples; bits past the last example stay 0."""
    value = np.uint64(0)
    if function & 1:
        value |= ~a & ~b
    if function & 2:
        value |= ~a & b
    if function & 4:
        value |= a & ~b
    if function & 8:
        value |= a & b
    return value & all_ones


@uncounted
def set_wrong(board, t):
    """Mark and count the examples on which an output differs from its target."""
    node = board.outputs[t]
    count = np.uint64(0)
    for w in range(len(board.everything)):
        board.wrong[t, w] = (board.values[node, w] ^ board.targets[t, w]) & board.known[t, w]
        count += popcount(board.wrong[t, w])
    board.errors[t] = np.int64(count)


@uncounted
def set_value(board, node):
    """Compute a gate from its sources."""
    slot = node - board.n_inputs - 2
    a, b = board.sources[slot, 0], board.sources[slot, 1]
    function = board.functions[slot]
    for w in range(len(board.everything)):
        board.values[node, w] = gate_word(function, board.values[a, w], board.values[b, w], board.everything[w])


@compiled
def evaluate_board(board: Board) -> None:
    """Compute every gate and every output's errors."""
    board = by_reference(board)
    for place in range(board.n_live[0]):
        set_value(board, board.order[place])
    for t in range(len(board.outputs)):
        set_wrong(board, t)
