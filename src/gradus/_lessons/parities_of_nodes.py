"""Labels that are a parity of the nodes that a circuit has already: inputs, targets learned earlier, and gates in between."""

from __future__ import annotations

import numpy as np

from gradus._circuit.gate_list import GateList
from gradus._circuit.network import network_of
from gradus._core.bits import unpack
from gradus._core.gates import XOR
from gradus._lessons.description import Solution
from gradus._lessons.packed_examples import PackedExamples
from gradus._lessons.parities import find_parity

__all__ = ["with_parity"]

XNOR = 15 ^ XOR
MOST_NODES = 500


def with_parity(solution: Solution, column: int, examples: PackedExamples) -> Solution | None:
    """Add one more column as a parity of at least two nodes that all its labels follow; None if the rows determine none."""
    circuit = solution.circuit
    n_nodes = circuit.n_inputs + len(circuit.functions)
    if n_nodes > MOST_NODES:
        return None
    known = unpack(examples.known[[column]], examples.n_examples)[:, 0]
    labels = unpack(examples.targets[[column]], examples.n_examples)[known, 0]
    values = unpack(network_of(circuit).node_words(examples.inputs), examples.n_examples)[known]
    # A node that is an exclusive or of two others, say, is no unknown: the rows could not tell them apart.
    parity = find_parity(values, labels, 0, 0)
    if parity is None or len(parity.columns) < 2:
        return None
    first, *others = parity.columns
    functions = np.full(len(others), XOR, dtype=np.uint8)
    functions[-1] = XNOR if parity.inverted else XOR
    chain = [first, *range(n_nodes, n_nodes + len(others) - 1)]
    grown = GateList(
        circuit.n_inputs,
        np.concatenate([circuit.functions, functions]),
        np.concatenate([circuit.sources, np.array([chain, others], dtype=np.int64).T]),
        np.append(circuit.outputs, n_nodes + len(others) - 1),
    )
    return Solution(grown, [*solution.columns, column], np.append(solution.errors, 0), True)
