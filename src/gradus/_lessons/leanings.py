"""Targets whose labels carry little information: an exclusive or instead of a constant, and votes weighted by probability.

Where no function is certain, the shortest one is a poor guess. Constants, columns and gates of two columns are priced exactly,
and each votes for 1 or 0 with a weight: its probability, times the share of labels beyond one half that it explains.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._circuit.gate_list import GateList, cleaned, constant_outputs, select_outputs
from gradus._circuit.network import network_of
from gradus._core.bits import BoolMatrix, unpack
from gradus._core.checks import Noise
from gradus._core.gates import ONE, XOR
from gradus._lessons.description import BIT, FORBIDDEN, LearnedCircuit, Lengths, Solution, error_table
from gradus._lessons.packed_examples import PackedExamples
from gradus._lessons.table_lesson import join
from gradus._lessons.voting import WeightedVote, rounded_vote
from gradus._lessons.walks import LessonSettings

__all__ = ["Known", "best_parity", "leaning_vote", "leanings", "with_parities"]

PARITY_MARGIN = 3 * BIT
"""What a parity must save over a constant: as often as an input, it is chance in one of 150 targets with random labels."""
CERTAIN = 64 * BIT
"""What an output saves over a constant if nothing simpler can be nearly as probable; then circuits vote as usual."""
PRIOR = 3 * BIT
"""By how much a family (columns, parities, other gates) is less likely than a constant."""
PAIR_WORK = 1 << 32  # rows times pairs: if all pairs of columns took more, none are formed
ROWS_AT_ONCE = 1 << 14
LEVELS = 15  # weights are whole numbers up to this one

Floats = npt.NDArray[np.float64]


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
    """Replace constants by exclusive ors of two columns that are shorter by a margin: no walk is sure to find them."""
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
    """Return the prices of circuits; those that repeat another one or a constant get one too high to count."""
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


class Known(NamedTuple):
    """The labels of one target that are known, and their rows."""

    X: BoolMatrix
    y: npt.NDArray[np.bool_]
    noise: Noise


class _Agreement(NamedTuple):
    """By how many rows functions are right more often than wrong."""

    constant: float
    columns: Floats
    parities: Floats
    """Of pairs of columns, shape (columns, columns)."""


def _agreement(X: BoolMatrix, y: npt.NDArray[np.bool_]) -> _Agreement:
    """Compare the labels with all columns and their pairs; true counts as 1 and false as -1."""
    n_columns = X.shape[1]
    signs = np.where(y, 1.0, -1.0)
    columns = np.zeros(n_columns)
    pairs = np.zeros((n_columns, n_columns) if len(X) * n_columns**2 <= PAIR_WORK else (0, 0))
    for start in range(0, len(X), ROWS_AT_ONCE):
        part, labels = np.where(X[start : start + ROWS_AT_ONCE], 1.0, -1.0), signs[start : start + ROWS_AT_ONCE]
        columns += labels @ part
        if len(pairs):
            pairs -= part.T @ (labels[:, np.newaxis] * part)  # two signs that differ have the product -1
    return _Agreement(float(signs.sum()), columns, pairs)


class PairParity(NamedTuple):
    """An exclusive or of two columns."""

    columns: tuple[int, int]
    inverted: bool
    errors: int
    length: int
    """Bits of its errors and of a choice among all pairs and their complements, in 1024ths."""


def best_parity(known: Known) -> PairParity | None:
    """Return the exclusive or of two columns that explains the labels best."""
    pairs = _agreement(known.X, known.y).parities
    if len(pairs) < 2:
        return None
    first, second = np.triu_indices(len(pairs), 1)
    best = int(np.argmax(np.abs(pairs[first, second])))
    i, j = int(first[best]), int(second[best])
    errors = (len(known.y) - int(abs(pairs[i, j]))) // 2
    choice = round(BIT * math.log2(len(pairs) * (len(pairs) - 1)))
    length = choice + int(error_table(len(known.y), known.noise)[errors])
    return PairParity((i, j), bool(pairs[i, j] < 0), errors, length)


def leaning_vote(known: Known, outputs: BoolMatrix, prices: Sequence[int]) -> WeightedVote:
    """Weigh simple functions and the outputs of circuits, given by their prices without errors, by their posterior."""
    said = _agreement(known.X, known.y)
    weighed = _Posterior(known, said, np.where(outputs.T, 1.0, -1.0) @ np.where(known.y, 1.0, -1.0), prices)
    parities: dict[tuple[int, ...], float] = {(int(i),): float(weighed.columns[i]) for i in np.flatnonzero(weighed.columns)}
    shares = (np.array(weighed.constant), weighed.columns, weighed.pairs, weighed.circuits)
    strongest = max(float(np.abs(share).max(initial=0.0)) for share in shares)
    # Of millions of pairs, those are left out whose weight would be 0.
    strong = np.argwhere(LEVELS * np.abs(weighed.pairs) > 0.4 * strongest)
    parities |= {(int(i), int(j)): float(weighed.pairs[i, j]) for i, j in strong}
    return rounded_vote(weighed.constant, parities, weighed.circuits.tolist(), LEVELS)


class _Posterior:
    """How much the constant, each column, each parity of two columns and each circuit add to the probability of a 1."""

    def __init__(self, known: Known, said: _Agreement, outputs: Floats, prices: Sequence[int]) -> None:
        n, n_columns = len(known.y), len(said.columns)
        self.n, self.noise = n, known.noise
        self.table = error_table(n, known.noise).astype(np.float64)
        first, second = np.triu_indices(len(said.parities), 1)
        family = PRIOR + BIT * math.log2(max(n_columns * (n_columns - 1) / 2, 1))
        a, b, both = said.columns[first], said.columns[second], said.parities[first, second]
        self.least = np.inf
        self.parts: list[tuple[Floats, Floats]] = []
        # Of a function and its complement, the one that is right more often counts; its sign is that of the agreement.
        self._weigh(np.array([said.constant]), 0.0)
        self._weigh(said.columns, PRIOR + BIT * math.log2(n_columns))
        self._weigh(both, family)
        signs = [(p, q) for p in (1, -1) for q in (1, -1)]
        for p, q in signs:
            # True where both columns, or their complements, are: half of -1 + p a + q b + p q a b.
            self._weigh((-said.constant + p * a + q * b - p * q * both) / 2, family + 2 * BIT)
        self._weigh(outputs, np.array(prices, dtype=np.float64))
        shares = self._shares()
        self.constant, self.columns = float(shares[0][0]), shares[1].copy()
        self.pairs, self.circuits = np.zeros_like(said.parities), shares[-1]
        self.pairs[first, second] = shares[2]
        for (p, q), share in zip(signs, shares[3:-1], strict=True):
            self.constant -= share.sum() / 2
            np.add.at(self.columns, first, p * share / 2)
            np.add.at(self.columns, second, q * share / 2)
            self.pairs[first, second] -= p * q * share / 2

    def _weigh(self, agreement: Floats, price: Floats | float) -> None:
        """Note the lengths of some functions with their errors."""
        errors = (self.n - np.abs(agreement)) / 2
        lengths = price + self.table[np.rint(errors).astype(np.int64)]
        self.least = min(self.least, float(lengths.min(initial=np.inf)))
        self.parts.append((agreement, lengths))

    def _shares(self) -> list[Floats]:
        """Return the posterior of each function times how far above one half it puts the probability of a label."""
        weights = [np.exp2((self.least - lengths) / BIT) for _, lengths in self.parts]
        total = sum(float(weight.sum()) for weight in weights)
        shares = []
        for (agreement, _), weight in zip(self.parts, weights, strict=True):
            beyond = agreement / (2 * (self.n + 1)) if isinstance(self.noise, str) else np.sign(agreement) * (0.5 - self.noise)
            shares.append(weight / total * beyond)
        return shares
