"""Further inputs of lessons: functions of the columns that a lesson may read like inputs, at a price."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gradus._circuit.gate_list import GateList, GateTable, Literal, as_nands, cleaned
from gradus._circuit.weighted_counts import WeightedCount

__all__ = ["FurtherInput", "expanded", "further_price", "with_inputs"]


class FurtherInput(NamedTuple):
    """A function of the columns that a lesson may read like an input, at a price."""

    function: WeightedCount
    group: int
    """Inputs of the same sum have the same number, and pay for the sum once."""
    sum_price: int
    table_price: int
    target: int
    """The target for which it was found."""
    length: int
    """Bits of its table and of the labels that it gets wrong, in 1024ths."""


def further_price(circuit: GateList, further: Sequence[FurtherInput]) -> int:
    """Return the price of the further inputs that a circuit reads; they are the last of its inputs."""
    if not further:
        return 0
    first = circuit.n_inputs - len(further)
    read = {*circuit.sources.ravel().tolist(), *circuit.outputs.tolist()}
    used = [entry for place, entry in enumerate(further, start=first) if place in read]
    return sum(entry.table_price for entry in used) + sum({entry.group: entry.sum_price for entry in used}.values())


def with_inputs(circuit: GateList, n_inputs: int) -> GateList:
    """Return a circuit with more inputs, or without the last ones, which it must not read."""
    node = np.arange(circuit.n_inputs + len(circuit.functions))
    node[circuit.n_inputs :] += n_inputs - circuit.n_inputs
    return GateList(n_inputs, circuit.functions, node[circuit.sources], node[circuit.outputs])


def expanded(circuit: GateList, further: Sequence[FurtherInput], *, nand: bool = False) -> GateList:
    """Return a circuit of the other inputs alone, in which further inputs are made of gates."""
    if not further:
        return circuit
    n_inputs = circuit.n_inputs - len(further)
    gates = GateTable(n_inputs)
    literals: list[Literal] = [(node, False) for node in range(n_inputs)]
    readers = Counter(column for entry in further for column in entry.function.columns)
    literals += [entry.function.built(gates, literals, lambda column: -readers[column]) for entry in further]
    for function, (a, b) in zip(circuit.functions.tolist(), circuit.sources.tolist(), strict=True):
        literals.append(gates.of(function, literals[a], literals[b]))
    built = cleaned(gates.circuit(literals[node] for node in circuit.outputs.tolist()))
    return cleaned(as_nands(built), nand=True) if nand else built
