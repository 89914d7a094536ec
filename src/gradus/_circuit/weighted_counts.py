"""`WeightedCount`: a function of how many of some literals are true, or of their weighted sum, in gates and in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._circuit.gate_list import GateTable, Literal
from gradus._core.bits import BoolMatrix
from gradus._core.gates import AND, ONE, OR, XOR, ZERO

__all__ = ["WeightedCount"]

ROWS_AT_ONCE = 1 << 16


class WeightedCount(NamedTuple):
    """A function of a weighted sum of columns: parities, majorities, comparisons of counts and of numbers."""

    columns: tuple[int, ...]
    """In rising order."""
    weights: tuple[int, ...]
    """One for each column, not 0; a negative one counts where the column is 0."""
    table: tuple[bool, ...]
    """The value for each weighted number of true literals, from 0 up."""

    @property
    def is_parity(self) -> bool:
        """Whether it is the exclusive or of its columns, or the complement."""
        return set(self.weights) == {1} and all(a != b for a, b in pairwise(self.table))

    @property
    def n_changes(self) -> int:
        """How often the value changes as the count rises."""
        return sum(a != b for a, b in pairwise(self.table))

    def predict(self, X: BoolMatrix) -> npt.NDArray[np.bool_]:
        """Evaluate it on every row."""
        values = np.empty(len(X), dtype=np.bool_)
        table, weights = np.array(self.table), np.array(self.weights)
        lowest = int(weights[weights < 0].sum())
        for start in range(0, len(X), ROWS_AT_ONCE):
            part = X[start : start + ROWS_AT_ONCE, list(self.columns)]
            values[start : start + len(part)] = table[part @ weights - lowest]
        return values

    def built(self, gates: GateTable, inputs: Sequence[Literal], rank: Callable[[int], int] = int) -> Literal:
        """Build it of gates: adders that count, columns of low rank first, and a choice by the digits of the count."""
        waiting: dict[int, list[Literal]] = {}
        for column, weight in sorted(zip(self.columns, self.weights, strict=True), key=lambda pair: (rank(pair[0]), pair)):
            node, inverted = inputs[column]
            for place in range(abs(weight).bit_length()):
                if abs(weight) >> place & 1:
                    waiting.setdefault(place, []).append((node, inverted ^ (weight < 0)))
        digits = _added(gates, waiting)
        return _chosen(gates, digits, self.table, {})


def _added(gates: GateTable, waiting: dict[int, list[Literal]]) -> list[Literal]:
    """Add literals, given by the power of two that each is worth; returns the digits of the sum, lowest first."""
    digits: list[Literal] = []
    place = 0
    while waiting:
        terms = waiting.pop(place, [])
        # The terms are added from the left, so that counts that begin with the same columns share gates.
        while len(terms) > 1:
            total, carry = _adder(gates, terms[:3])
            terms = [total, *terms[3:]]
            waiting.setdefault(place + 1, []).append(carry)
        digits.append(terms[0] if terms else (gates.gate(ZERO, 0, 0), False))
        place += 1
    return digits


def _adder(gates: GateTable, terms: Sequence[Literal]) -> tuple[Literal, Literal]:
    """Add two or three literals: the sum and the carry."""
    a, b = terms[:2]
    either = gates.of(XOR, a, b)
    if len(terms) == 2:
        return either, gates.of(AND, a, b)
    c = terms[2]
    # Where a and b are equal, both are the carry, and otherwise c is.
    changed = gates.of(AND, either, gates.of(XOR, a, c))
    return gates.of(XOR, either, c), gates.of(XOR, a, changed)


def _chosen(
    gates: GateTable, digits: list[Literal], table: tuple[bool, ...], known: dict[tuple[bool, ...], Literal]
) -> Literal:
    """Choose a value from a table by digits; a table that is too short has any value past its end."""
    if len(set(table)) == 1:
        return gates.gate(ONE if table[0] else ZERO, 0, 0), False
    half = 1 << (len(digits) - 1)
    low, high = table[:half], table[half:]
    if low[: len(high)] == high:
        return _chosen(gates, digits[:-1], low, known)
    full = (*high, *high[-1:] * (half - len(high)))
    if table not in known:
        off, on = (_chosen(gates, digits[:-1], part, known) for part in (low, full))
        known[table] = _multiplexer(gates, digits[-1], off, on)
        node, inverted = known[table]
        known[tuple(not value for value in table)] = node, not inverted
    return known[table]


def _multiplexer(gates: GateTable, digit: Literal, off: Literal, on: Literal) -> Literal:
    """Return `on` where a digit is 1 and `off` where it is 0."""
    if off == on:
        return off
    node, inverted = digit
    if (value := _constant(gates, on)) is not None:
        return gates.of(OR if value else AND, (node, inverted ^ (not value)), off)
    if (value := _constant(gates, off)) is not None:
        return gates.of(OR if value else AND, (node, inverted ^ value), on)
    if off[0] == on[0]:  # one is the complement of the other
        return gates.of(XOR, digit, off)
    return gates.of(XOR, off, gates.of(AND, digit, gates.of(XOR, off, on)))


def _constant(gates: GateTable, literal: Literal) -> bool | None:
    value = gates.constant(literal[0])
    return None if value is None else bool(value) ^ literal[1]
