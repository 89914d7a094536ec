"""Solutions judged by examples, with some of their outputs, or with constants as outputs."""

from __future__ import annotations

import numpy as np

from gradus._circuit.gate_list import GateList, cleaned, select_outputs
from gradus._circuit.network import network_of
from gradus._core.gates import ONE, ZERO
from gradus._lessons.description import Lengths, Solution
from gradus._lessons.packed_examples import PackedExamples

__all__ = ["judged", "selected", "with_constant", "with_constant_at"]


def judged(circuit: GateList, examples: PackedExamples) -> Solution:
    """Return a circuit of all targets with the labels that it gets wrong."""
    values = network_of(circuit).node_words(examples.inputs)[circuit.outputs]
    errors = np.bitwise_count((values ^ examples.targets) & examples.known).sum(axis=1, dtype=np.int64)
    return Solution(circuit, list(range(len(errors))), errors, not errors.any())


def selected(solution: Solution, places: list[int]) -> Solution:
    """Return the outputs at some places, in this order."""
    columns = list(map(solution.columns.__getitem__, places))
    return Solution(select_outputs(solution.circuit, places), columns, solution.errors[places])


def with_constant(column: int, solution: Solution, lengths: Lengths) -> Solution:
    """Return a solution with a constant for one more column."""
    circuit = solution.circuit
    function = ONE if 2 * lengths.ones[column] > lengths.known[column] else ZERO
    grown = GateList(
        circuit.n_inputs,
        np.append(circuit.functions, np.uint8(function)),
        np.concatenate([circuit.sources, np.zeros((1, 2), np.int64)]),
        np.append(circuit.outputs, circuit.n_inputs + len(circuit.functions)),
    )
    errors = np.append(solution.errors, lengths.minority[column])
    return Solution(cleaned(grown, nand=lengths.nand), [*solution.columns, column], errors)


def with_constant_at(place: int, solution: Solution, lengths: Lengths) -> Solution:
    """Return a solution with a constant in place of one of its outputs."""
    others = [k for k in range(len(solution.columns)) if k != place]
    constant = with_constant(solution.columns[place], selected(solution, others), lengths)
    return selected(constant, [*range(place), len(others), *range(place, len(others))])
