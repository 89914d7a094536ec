"""Solutions and their description lengths: bits for the gates of a circuit, and bits for the examples that it gets wrong.

A circuit of g gates among N nodes is described by two sources and a function per gate, and the order of the gates is free;
e errors among n examples, by a choice of e out of n. Lengths are in 1024ths of a bit, so that costs are exact integers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._circuit.gate_list import GateList, cleaned, is_constant, is_gate_list, select_outputs
from gradus._circuit.network import network_of
from gradus._core.checks import Noise
from gradus._core.gates import ONE, ZERO
from gradus._lessons.further_inputs import further_price
from gradus._lessons.packed_examples import PackedExamples

__all__ = [
    "BIT", "FORBIDDEN", "LearnedCircuit", "Lengths", "Solution", "belongs_to", "error_table", "error_tables", "gate_table",
    "judged", "selected", "with_constant", "with_constant_at",
]  # fmt: skip

BIT = 1024
FUNCTION_BITS = 2.3  # log2 of the ten functions that depend on both sources, less 1 because their order does not matter
NAND_BITS = -1.0  # a single function, less 1 for the order of the sources
FORBIDDEN = 1 << 50

Ints = npt.NDArray[np.int64]


class Solution(NamedTuple):
    """A circuit for some targets, with its errors."""

    circuit: GateList
    columns: list[int]
    """The target of each output of the circuit."""
    errors: Ints
    reached: bool = False
    """Whether the walk that led to it reached its goal."""
    work: int = 0
    """Word operations that led to it, if they are not counted yet."""
    priced: int = 0
    """Pairs of nodes priced by the walk."""

    @property
    def n_gates(self) -> int:
        """Gates that are not constants."""
        return int(np.count_nonzero(~is_constant(self.circuit.functions)))


class LearnedCircuit(NamedTuple):
    """A circuit that has learned all targets."""

    solution: Solution
    """Its outputs are in the order of the columns."""
    order: tuple[int, ...]
    length: int
    """Description length in 1024ths of a bit."""
    tolerant: bool
    """Whether errors were allowed."""
    unsolved: bool
    """Whether errors are left although nothing suggests wrong labels: another start may avoid them."""
    work: int
    """Word operations: how long it took, measured without a clock."""
    rivals: tuple[Solution, ...] = ()
    """Other circuits that have grown for its only target."""


def belongs_to(solution: Any, start: Solution) -> bool:
    """Return whether a solution from a file is one for the inputs and targets of another; compiled code does not check."""
    circuit, n_inputs = solution.circuit, start.circuit.n_inputs
    return (
        is_gate_list(circuit, n_inputs)
        and len(circuit.outputs) == len(solution.columns) == len(solution.errors)
        and list(solution.columns) == start.columns
    )


def gate_table(n_inputs: int, max_gates: int, nand: bool = False) -> Ints:
    """Return the cost of 0, 1, … gates; more gates never cost less."""
    table, function_bits = [0], NAND_BITS if nand else FUNCTION_BITS
    for gates in range(1, max_gates + 1):
        each = 2 * math.log2(n_inputs + gates) + function_bits
        table.append(max(table[-1], round(BIT * (gates * each - math.lgamma(gates + 1) / math.log(2)))))
    return np.array(table, dtype=np.int64)


def error_table(n_examples: int, noise: Noise = "auto") -> Ints:
    """Return the cost of 0, 1, … n errors among n examples; from n / 2 on it stays the same."""
    # If the rate of wrong labels is given, every error costs the same, according to that rate.
    if not isinstance(noise, str) and noise > 0:
        flat: Ints = round(BIT * math.log2((1 - noise) / noise)) * np.arange(n_examples + 1, dtype=np.int64)
        return flat
    k = np.arange(1, n_examples + 1)
    steps = np.log2((n_examples - k + 1) / k)
    bits: Ints = np.rint(BIT * np.concatenate([[0.0], np.cumsum(np.maximum(steps, 0.0))])).astype(np.int64)
    return bits


def error_tables(known: Sequence[int], width: int, noise: Noise = "auto") -> tuple[Ints, Ints]:
    """Return the tables of targets with these numbers of known cells: one row per distinct number, and each target's row."""
    distinct, kind = np.unique(known, return_inverse=True)
    tables = np.zeros((len(distinct), width + 1), dtype=np.int64)
    for row, count in enumerate(distinct.tolist()):
        table = error_table(count, noise)
        tables[row, : len(table)] = table
        tables[row, len(table) :] = table[-1]
    return tables, kind.astype(np.int64)


class Lengths:
    """Description lengths of circuits and of labels, for some examples."""

    def __init__(self, examples: PackedExamples, nand: bool, noise: Noise) -> None:
        self.n_inputs, self.nand, self.noise = len(examples.inputs), nand, noise
        self.further = examples.further
        known = np.bitwise_count(examples.known).sum(axis=1, dtype=np.int64)
        ones = np.bitwise_count(examples.targets & examples.known).sum(axis=1, dtype=np.int64)
        self.known: list[int] = known.tolist()
        self.ones: list[int] = ones.tolist()
        self.minority: list[int] = np.minimum(ones, known - ones).tolist()
        self._gates = np.zeros(0, dtype=np.int64)

    def gates(self, n_gates: int) -> int:
        """Return the length of this many gates."""
        table = self._gates  # another thread may replace it meanwhile
        if n_gates >= len(table):
            table = self._gates = gate_table(self.n_inputs, max(64, 2 * n_gates), self.nand)
        return int(table[n_gates])

    def errors(self, column: int, errors: int) -> int:
        """Return the length of this many errors in a column."""
        return int(error_table(self.known[column], self.noise)[errors])

    def labels(self, column: int) -> int:
        """Return the length of a column without a circuit: a constant and its errors."""
        return self.errors(column, self.minority[column])

    def whole(self, solution: Solution) -> int:
        """Return the length of a circuit, of the further inputs that it reads, and of its errors."""
        gates = self.gates(solution.n_gates) + further_price(solution.circuit, self.further)
        return gates + sum(map(self.errors, solution.columns, solution.errors.tolist()))


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
