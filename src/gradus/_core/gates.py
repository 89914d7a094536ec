"""Gate functions: the sixteen Boolean functions of two bits, as 4-bit truth tables.

The value of function f at source values (a, b) is ``(f >> (2 * a + b)) & 1``, so NAND is 7, AND is 8 and XOR is 6.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = [
    "AND",
    "BUFFER",
    "GATE_NAMES",
    "NAND",
    "NOT",
    "ONE",
    "OR",
    "SYMBOLS",
    "XOR",
    "ZERO",
    "Symbol",
    "fix_a",
    "fix_b",
    "flip_a",
    "flip_b",
    "gate_words",
    "reads",
    "tie",
]

ZERO: Final = 0
NOT: Final = 3
"""NOT a."""
XOR: Final = 6
NAND: Final = 7
AND: Final = 8
BUFFER: Final = 12
"""A copy of a."""
OR: Final = 14
ONE: Final = 15

GATE_NAMES: Final = (
    *("0", "nor", "!a & b", "!a", "a & !b", "!b", "xor", "nand"),
    *("and", "xnor", "b", "!a | b", "a", "a | !b", "or", "1"),
)
"""Name of each function, as network files use it."""


class Symbol(NamedTuple):
    """A gate function as circuit diagrams show it: a basic gate with inverters at its pins."""

    kind: str
    """One of "and", "or" and "xor"; "a" or "b" for a gate that reads one source only; "0" for a constant."""
    not_a: bool = False
    not_b: bool = False
    not_out: bool = False
    """Whether there is an inverter at either source, and at the output."""


SYMBOLS: Final = (
    Symbol("0"),
    Symbol("or", not_out=True),
    Symbol("and", not_a=True),
    Symbol("a", not_out=True),
    Symbol("and", not_b=True),
    Symbol("b", not_out=True),
    Symbol("xor"),
    Symbol("and", not_out=True),
    Symbol("and"),
    Symbol("xor", not_out=True),
    Symbol("b"),
    Symbol("or", not_a=True),
    Symbol("a"),
    Symbol("or", not_b=True),
    Symbol("or"),
    Symbol("0", not_out=True),
)
"""The symbol of each function."""


def flip_a(function: int) -> int:
    """Return the function that reads the complement of its first source."""
    return function >> 2 | (function & 3) << 2


def flip_b(function: int) -> int:
    """Return the function that reads the complement of its second source."""
    return (function & 5) << 1 | (function & 10) >> 1


# Functions of the first source alone, by their values at 0 and at 1.
_OF_A = {(0, 0): ZERO, (1, 0): NOT, (0, 1): BUFFER, (1, 1): ONE}


def tie(function: int) -> int:
    """Return what a gate that reads one node twice computes, as a function of the first source."""
    return _OF_A[function & 1, function >> 3]


def fix_a(function: int, value: int) -> int:
    """Return what a gate computes if its first source is constant: a function of b, in the place of the first source."""
    return _OF_A[function >> 2 * value & 1, function >> (2 * value + 1) & 1]


def fix_b(function: int, value: int) -> int:
    """Return what a gate computes if its second source is constant: a function of a."""
    return _OF_A[function >> value & 1, function >> (2 + value) & 1]


def reads(function: int, tied: bool) -> tuple[bool, bool]:
    """Return which of its two sources a gate depends on."""
    if tied:
        function = tie(function)
    return flip_a(function) != function, flip_b(function) != function


def gate_words(function: int, a: npt.NDArray[np.uint64], b: npt.NDArray[np.uint64], out: npt.NDArray[np.uint64]) -> None:
    """Compute a gate on packed examples."""
    kind, not_a, not_b, not_out = SYMBOLS[function]
    if kind == "0":
        out.fill(0)
    elif kind in "ab":
        out[:] = a if kind == "a" else b
    else:
        operation = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}[kind]
        operation(~a if not_a else a, ~b if not_b else b, out=out)
    if not_out:
        np.invert(out, out=out)
