"""Small textbook circuits that the paper does not have: codes, counters, comparators, a display and others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gradus._core.bits import BoolMatrix
from gradus.problems._problem import Problem

__all__ = ["CIRCUITS"]

SEGMENTS = (0x3F, 0x06, 0x5B, 0x4F, 0x66, 0x6D, 0x7D, 0x07, 0x7F, 0x6F, 0x77, 0x7C, 0x39, 0x5E, 0x79, 0x71)
"""Lit segments a to g of the digits 0 to F, the lowest bit for a."""


def _number(bits: BoolMatrix) -> Any:
    """Read rows of bits, least significant first, as numbers."""
    return bits @ (1 << np.arange(bits.shape[1]))


def _bits(values: Any, width: int) -> BoolMatrix:
    """Write numbers as rows of bits, least significant first."""
    return np.asarray(values[:, np.newaxis] >> np.arange(width) & 1, dtype=np.bool_)


def _crc(X: BoolMatrix) -> BoolMatrix:
    register = np.zeros(len(X), dtype=np.int64)
    for column in X.T:
        feedback = (register >> 3 & 1) ^ column
        register = (register << 1 & 15) ^ 3 * feedback
    return _bits(register, 4)


def _gray_to_binary(X: BoolMatrix) -> BoolMatrix:
    return np.logical_xor.accumulate(X[:, ::-1], axis=1)[:, ::-1]


def _binary_to_gray(X: BoolMatrix) -> BoolMatrix:
    value = _number(X)
    return _bits(value ^ value >> 1, X.shape[1])


def _count_ones(X: BoolMatrix) -> BoolMatrix:
    return _bits(X.sum(axis=1), 3)


def _compare(X: BoolMatrix) -> BoolMatrix:
    a, b = _number(X[:, :5]), _number(X[:, 5:])
    return np.column_stack([a < b, a == b, a > b])


def _multiply(X: BoolMatrix) -> BoolMatrix:
    half = X.shape[1] // 2
    return _bits(_number(X[:, :half]) * _number(X[:, half:]), 2 * half)


def _count_up(X: BoolMatrix) -> BoolMatrix:
    return _bits(_number(X[:, :6]) + X[:, 6], 6)


def _priority(X: BoolMatrix) -> BoolMatrix:
    highest = np.where(X.any(axis=1), 7 - np.argmax(X[:, ::-1], axis=1), 0)
    return np.column_stack([_bits(highest, 3), X.any(axis=1)])


def _syndrome(X: BoolMatrix) -> BoolMatrix:
    places = np.arange(1, 8)
    return np.column_stack([np.logical_xor.reduce(X[:, places >> k & 1 == 1], axis=1) for k in range(3)])


def _three_to_six(X: BoolMatrix) -> BoolMatrix:
    ones = X.sum(axis=1)
    return np.column_stack([ones >= 3, ones <= 6, (ones >= 3) & (ones <= 6)])


def _johnson(X: BoolMatrix) -> BoolMatrix:
    up = np.column_stack([~X[:, 5], X[:, :5]])
    down = np.column_stack([X[:, 1:6], ~X[:, 0]])
    return np.where(X[:, 6:7], up, down)


def _traffic(X: BoolMatrix) -> BoolMatrix:
    state, waiting_a, waiting_b, over = _number(X[:, :2]), X[:, 2], X[:, 3], X[:, 4]
    leave = ((state == 0) & waiting_b & over) | ((state == 2) & waiting_a & over) | (state % 2 == 1)
    lamps = [state == 0, state == 1, state >= 2, state == 2, state == 3, state <= 1]
    return np.column_stack([_bits((state + leave) % 4, 2), *lamps])


def _shift_register(X: BoolMatrix) -> BoolMatrix:
    return np.column_stack([X[:, 7] ^ X[:, 5] ^ X[:, 4] ^ X[:, 3], X[:, :7]])


def _sort(X: BoolMatrix) -> BoolMatrix:
    return np.sort(X, axis=1)[:, ::-1]


def _absolute(X: BoolMatrix) -> BoolMatrix:
    value = _number(X)
    return _bits(np.where(value >= 32, 64 - value, value), 6)


def _segments(X: BoolMatrix) -> BoolMatrix:
    return _bits(np.array(SEGMENTS)[_number(X)], 7)


def _decode(X: BoolMatrix) -> BoolMatrix:
    return np.asarray((_number(X[:, :3])[:, np.newaxis] == np.arange(8)) & X[:, 3:4])


def _add_and_saturate(X: BoolMatrix) -> BoolMatrix:
    return _bits(np.minimum(_number(X[:, :4]) + _number(X[:, 4:]), 15), 4)


class _Circuit(NamedTuple):
    """A circuit: the names of its inputs and targets (``x0-3`` is x0, x1, x2 and x3), and its function."""

    inputs: str
    targets: str
    function: Callable[[BoolMatrix], BoolMatrix]
    about: str

    def problem(self, name: str) -> Problem:
        return Problem(
            name, input_names=_names(self.inputs), target_names=_names(self.targets), function=self.function, about=self.about
        )


def _names(text: str) -> tuple[str, ...]:
    names: list[str] = []
    for word in text.split():
        first, dash, last = word.partition("-")
        names += [f"{first[:-1]}{k}" for k in range(int(first[-1]), int(last) + 1)] if dash else [word]
    return tuple(names)


CIRCUITS = {
    "crc4": _Circuit("x0-7", "c0-3", _crc, "CRC of eight bits, the first bit first, with the polynomial x^4 + x + 1."),
    "gray2bin6": _Circuit("g0-5", "b0-5", _gray_to_binary, "From Gray code to binary, six bits."),
    "bin2gray6": _Circuit("b0-5", "g0-5", _binary_to_gray, "From binary to Gray code, six bits."),
    "popcount7": _Circuit("x0-6", "n0-2", _count_ones, "How many of seven inputs are 1, as a number of three bits."),
    "comparator5": _Circuit("a0-4 b0-4", "less equal greater", _compare, "Comparison of two five-bit numbers."),
    "mul3": _Circuit("a0-2 b0-2", "p0-5", _multiply, "Product of two three-bit numbers."),
    "mul4": _Circuit("a0-3 b0-3", "p0-7", _multiply, "Product of two four-bit numbers."),
    "counter6": _Circuit("q0-5 enable", "n0-5", _count_up, "Next state of a six-bit counter with enable."),
    "encoder8": _Circuit("x0-7", "n0-2 any", _priority, "Number of the highest input that is 1, and whether there is one."),
    "hamming7": _Circuit("w1-7", "s0-2", _syndrome, "Syndrome of a word of the Hamming(7, 4) code."),
    "sym9": _Circuit(
        "x0-8", "low high both", _three_to_six, "Whether at least 3, at most 6, and 3 to 6 of nine inputs are 1."
    ),
    "johnson6": _Circuit("q0-5 up", "n0-5", _johnson, "Next state of a six-stage Johnson counter with a direction."),
    "traffic": _Circuit(
        "s0-1 wait_a wait_b over",
        "n0-1 green_a yellow_a red_a green_b yellow_b red_b",
        _traffic,
        "Next state and lamps of a traffic light at two roads, from state, cars waiting and timer.",
    ),
    "lfsr8": _Circuit("q0-7", "n0-7", _shift_register, "Next state of a linear feedback shift register, taps 8, 6, 5 and 4."),
    "sorter5": _Circuit("x0-4", "z0-4", _sort, "Five bits sorted, ones first."),
    "abs6": _Circuit("x0-5", "z0-5", _absolute, "Absolute value of a six-bit number in two's complement."),
    "hex2seven": _Circuit("x0-3", "a b c d e f g", _segments, "The seven segments that show a hexadecimal digit."),
    "decoder4": _Circuit("x0-2 enable", "z0-7", _decode, "Three-to-eight decoder with enable."),
    "saturating4": _Circuit("a0-3 b0-3", "s0-3", _add_and_saturate, "Sum of two four-bit numbers, at most 15."),
}
"""The circuits by name."""
