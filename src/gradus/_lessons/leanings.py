"""Targets of which labels say little: an exclusive or in place of a constant, and votes that lean to what is probable."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradus._circuit.gate_list import GateList, cleaned, constant_outputs, select_outputs
from gradus._circuit.network import network_of
from gradus._core.bits import BoolMatrix, unpack
from gradus._core.gates import ONE, XOR
from gradus._lessons.description import BIT, FORBIDDEN, LearnedCircuit, Lengths, Solution
from gradus._lessons.packed_examples import PackedExamples
from gradus._lessons.simple_posterior import Known, best_parity, leaning_vote
from gradus._lessons.table_lesson import join
from gradus._lessons.voting import WeightedVote
from gradus._lessons.walks import LessonSettings

__all__ = ["leanings", "with_parities"]

PARITY_MARGIN = 3 * BIT
"""What a parity must save over a constant: as often as an input, it is chance in one of 150 targets with random labels."""
CERTAIN = 64 * BIT
"""What an output saves over a constant if nothing simpler can be nearly as probable; then circuits vote as usual."""


class _Labels:
    """The labels of some examples, target by target."""

    def __init__(self, examples: PackedExamples, settings: LessonSettings) -> None:
        n = examples.n_examples
        self.X = unpack(examples.inputs[: len(examples.inputs) - len(examples.further)], n)
        self.inputs = unpack(examples.inputs, n)
        self.Y, self.known = unpack(examples.targets, n), unpack(examples.known, n)
        self.noise = settings.noise

    def of(self, target: int) -> Known:
        rows = self.known[:, target]
        return Known(self.X[rows], self.Y[rows, target], self.noise)


def with_parities(learned: LearnedCircuit, examples: PackedExamples, settings: LessonSettings) -> LearnedCircuit:
    """Replace constants by exclusive ors of two columns that are shorter by a margin: no walk is sure to meet them."""
    # A gate is priced as one of all functions of all nodes, but of two columns among few there are not many parities.
    constant = constant_outputs(learned.solution.circuit)
    if not (constant and learned.tolerant) or settings.nand:
        return learned
    labels, lengths = _Labels(examples, settings), Lengths(examples, settings.nand, settings.noise)
    solution = learned.solution
    for target in constant:
        known = labels.of(target)
        best = best_parity(known) if len(known.y) else None
        if best is not None and best.length + PARITY_MARGIN < lengths.labels(target):
            solution = _with_gate(solution, target, best.columns, XOR ^ ONE if best.inverted else XOR, best.errors)
    if solution is learned.solution:
        return learned
    return learned._replace(solution=solution, length=lengths.whole(solution))


def _with_gate(solution: Solution, place: int, columns: tuple[int, int], function: int, errors: int) -> Solution:
    """Make an output a gate of two inputs."""
    gate = GateList(2, np.array([function], np.uint8), np.array([[0, 1]], dtype=np.int64), np.array([2], dtype=np.int64))
    n_outputs = len(solution.circuit.outputs)
    places = [n_outputs if k == place else k for k in range(n_outputs)]
    circuit = cleaned(select_outputs(join(solution.circuit, gate, list(columns)), places))
    new_errors = solution.errors.copy()
    new_errors[place] = errors
    return solution._replace(circuit=circuit, errors=new_errors)


def leanings(
    voters: Sequence[LearnedCircuit], examples: PackedExamples, settings: LessonSettings
) -> tuple[WeightedVote | None, ...]:
    """Return a vote for each target whose circuits are hardly shorter than a constant; None for the others."""
    lengths = Lengths(examples, settings.nand, settings.noise)

    def uncertain(target: int) -> bool:
        solution = voters[0].solution
        left = _price(solution, target, lengths) + lengths.errors(target, int(solution.errors[target]))
        return 0 < lengths.labels(target) <= left + CERTAIN

    wanted = [target for target in range(len(examples.targets)) if voters[0].tolerant and uncertain(target)]
    votes: list[WeightedVote | None] = [None] * len(examples.targets)
    if wanted:
        labels = _Labels(examples, settings)
        outputs = [network_of(voter.solution.circuit).predict(labels.inputs) for voter in voters]
        for target in wanted:
            said = np.column_stack([output[labels.known[:, target], target] for output in outputs])
            prices = [_price(voter.solution, target, lengths) for voter in voters]
            votes[target] = leaning_vote(labels.of(target), said, _once(said, prices))
    return tuple(votes)


def _once(said: BoolMatrix, prices: Sequence[int]) -> list[int]:
    """Return the prices of circuits, so high for those that repeat another one or a constant that they do not count."""
    seen = {np.ones(len(said), bool).tobytes(), np.zeros(len(said), bool).tobytes()}
    counted = []
    for column, price in zip(said.T, prices, strict=True):
        counted.append(FORBIDDEN if column.tobytes() in seen else price)
        seen.add(column.tobytes())
    return counted


def _price(solution: Solution, place: int, lengths: Lengths) -> int:
    """Return the length of the gates and further inputs that only one of the outputs needs."""
    others = [other for other in range(len(solution.columns)) if other != place]
    circuit = cleaned(select_outputs(solution.circuit, others))
    rest = solution._replace(circuit=circuit, columns=[], errors=solution.errors[:0])
    return lengths.whole(solution._replace(columns=[], errors=solution.errors[:0])) - lengths.whole(rest)
