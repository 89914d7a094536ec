"""Votes with whole numbers as weights, and the circuit that computes them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._circuit.gate_list import GateList, GateTable, Literal, cleaned
from gradus._circuit.weighted_counts import WeightedCount
from gradus._core.bits import BoolMatrix
from gradus._core.gates import ONE, XOR, ZERO

__all__ = ["WeightedVote", "joined", "majority", "rounded_vote", "stacked"]


class WeightedVote(NamedTuple):
    """A vote about one target, by circuits and by parities of at most two columns.

    A voter of weight w adds w where it is true and -w where it is false. The sum is odd, so there are no ties.
    """

    unit: float
    """Probability of a 1, beyond a half, that each unit of the sum is worth."""
    constant: int
    parities: tuple[tuple[tuple[int, ...], int], ...]
    """Columns and weights."""
    circuits: tuple[int, ...]
    """The weight of each circuit's output."""

    def sums(self, X: BoolMatrix, outputs: BoolMatrix) -> npt.NDArray[np.int64]:
        """Return the sum for each row; `outputs` are those of the circuits, one column each."""
        sums = self.constant - sum(self.circuits) + outputs @ (2 * np.array(self.circuits, dtype=np.int64))
        for columns, weight in self.parities:
            sums += np.where(np.bitwise_xor.reduce(X[:, columns], axis=1), weight, -weight)
        return np.asarray(sums, dtype=np.int64)


def majority(n_circuits: int) -> WeightedVote:
    """Return the vote of equal circuits; the first one decides ties."""
    weights = (2 - n_circuits % 2, *[1] * (n_circuits - 1))
    return WeightedVote(0.5 / sum(weights), 0, (), weights)


def rounded_vote(
    constant: float, parities: Mapping[tuple[int, ...], float], circuits: Sequence[float], levels: int
) -> WeightedVote:
    """Return a vote with weights in proportion to some probabilities, as whole numbers of which the largest is `levels`."""
    unit = float(max(map(abs, (constant, *parities.values(), *circuits)))) / levels
    scale = unit or 1.0  # if nothing is more probable than its opposite, the sum is worth nothing either
    of_circuits = tuple(round(weight / scale) for weight in circuits)
    of_parities = tuple((columns, round(weight / scale)) for columns, weight in parities.items() if round(weight / scale))
    rest = round(constant / scale)
    if (rest + sum(of_circuits) + sum(weight for _, weight in of_parities)) % 2 == 0:
        rest += 1 if constant > rest * scale else -1
    return WeightedVote(unit, rest, of_parities, of_circuits)


def joined(circuits: Sequence[Network], votes: Sequence[WeightedVote]) -> GateList:
    """Return one circuit with an output for each vote; gates that circuits share are made once."""
    gates = GateTable(circuits[0].n_inputs)
    outputs = [_outputs(gates, circuit) for circuit in circuits]
    said = zip(*outputs, strict=True)
    return cleaned(gates.circuit([_voted(gates, vote, literals) for vote, literals in zip(votes, said, strict=True)]))


def stacked(circuits: Sequence[Network]) -> GateList:
    """Return one circuit with the outputs of all; gates that circuits share are made once."""
    gates = GateTable(circuits[0].n_inputs)
    return cleaned(gates.circuit([literal for circuit in circuits for literal in _outputs(gates, circuit)]))


def _outputs(gates: GateTable, circuit: Network) -> list[Literal]:
    """Add the gates of a circuit; returns its outputs."""
    literals: list[Literal] = [(node, False) for node in range(circuit.n_inputs)]
    for function, (a, b) in zip(circuit.functions.tolist(), circuit.sources.tolist(), strict=True):
        literals.append(gates.of(function, literals[a], literals[b]))
    return [literals[node] for node in circuit.outputs.tolist()]


def _voted(gates: GateTable, vote: WeightedVote, literals: Sequence[Literal]) -> Literal:
    """Add the gates of a vote."""
    constant, weights = vote.constant, dict[int, int]()
    for (node, inverted), weight in _voters(gates, vote, literals):
        signed = -weight if inverted else weight
        value = gates.constant(node)
        if value is None:
            weights[node] = weights.get(node, 0) + signed
        else:
            constant += signed if value else -signed
    used = {node: weight for node, weight in weights.items() if weight}
    total = sum(map(abs, used.values()))
    for node, weight in used.items():
        if 2 * abs(weight) > total + abs(constant):
            return node, weight < 0
    if abs(constant) > total:
        return gates.gate(ONE if constant > 0 else ZERO, 0, 0), False
    unit = math.gcd(*used.values())
    table = tuple(2 * count * unit + constant > total for count in range(total // unit + 1))
    count = WeightedCount(tuple(range(len(used))), tuple(weight // unit for weight in used.values()), table)
    return count.built(gates, [(node, False) for node in used])


def _voters(gates: GateTable, vote: WeightedVote, literals: Sequence[Literal]) -> Iterator[tuple[Literal, int]]:
    """Yield the voters as literals, and their weights."""
    yield from zip(literals, vote.circuits, strict=True)
    for columns, weight in vote.parities:
        first, *others = [(column, False) for column in columns]
        yield gates.of(XOR, first, others[0]) if others else first, weight
