"""Circuits: adders, subtractors, multiplexers, majorities and parities of any size, and the 74181 chip."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gradus._core.bits import BoolMatrix
from gradus.errors import UnknownProblemError
from gradus.problems._problem import Problem

__all__ = [
    "FAMILIES",
    "Family",
    "add",
    "alu74181",
    "alu_74181",
    "cascaded_majority",
    "cascaded_multiplexer",
    "cascaded_parity",
    "subtract",
]

MOST_INPUTS = 4096
ALU_INPUTS = ("M", "S0", "S1", "S2", "S3", "A0", "A1", "A2", "A3", "B0", "B1", "B2", "B3", "Cn")
ALU_TARGETS = ("F0", "F1", "F2", "F3", "A=B", "X", "Cn+4", "Y")


def add(X: BoolMatrix) -> BoolMatrix:
    """Add two numbers of n bits modulo 2^n; bits from least significant."""
    n = X.shape[1] // 2
    x, y = X[:, :n], X[:, n:]
    Z = np.empty((len(X), n), dtype=np.bool_)
    carry = np.zeros(len(X), dtype=np.bool_)
    for i in range(n):
        differ = x[:, i] ^ y[:, i]
        Z[:, i] = differ ^ carry
        carry = (x[:, i] & y[:, i]) | (differ & carry)
    return Z


def subtract(X: BoolMatrix) -> BoolMatrix:
    """Subtract the second number of n bits from the first, modulo 2^n; bits from least significant."""
    n = X.shape[1] // 2
    return ~add(np.hstack([~X[:, :n], X[:, n:]]))  # modulo 2^n, the complement of x is -1 - x


def cascaded_multiplexer(X: BoolMatrix) -> BoolMatrix:
    """Select by s_i either d(i+1) or the selection before, for each i; the inputs are d0 … d(n-1), s0 … s(n-2)."""
    n = (X.shape[1] + 1) // 2
    d, s = X[:, :n], X[:, n:]
    Z = np.empty((len(X), n - 1), dtype=np.bool_)
    chosen = d[:, 0]
    for i in range(n - 1):
        chosen = np.where(s[:, i], d[:, i + 1], chosen)
        Z[:, i] = chosen
    return Z


def cascaded_majority(X: BoolMatrix) -> BoolMatrix:
    """Compute whether more than half of x0 … x(2i) are 1, for each i."""
    ones = np.cumsum(X, axis=1, dtype=np.int32)[:, ::2]
    return np.asarray(2 * ones > np.arange(1, X.shape[1] + 1, 2))


def cascaded_parity(X: BoolMatrix) -> BoolMatrix:
    """Compute whether the number of ones among x0 … x_i is odd, for each i."""
    return np.logical_xor.accumulate(X, axis=1)


@dataclass(frozen=True)
class Family:
    """Problems of one kind in every size; the size is the number in the name."""

    prefix: str
    function: Callable[[BoolMatrix], BoolMatrix]
    inputs: Callable[[int], tuple[str, ...]]
    n_targets: Callable[[int], int]
    smallest: int
    only_odd: bool
    about: str

    def problem(self, size: int) -> Problem:
        """Build the problem of this size."""
        name = f"{self.prefix}{size}"
        if size < self.smallest:
            raise UnknownProblemError(f"{name!r} is too small: the smallest is {self.prefix}{self.smallest}.")
        if self.only_odd and size % 2 == 0:
            raise UnknownProblemError(f"{name!r} does not exist: {self.prefix} problems have an odd number of inputs.")
        if size > MOST_INPUTS // (1 if self.prefix.startswith("c") else 2):
            raise UnknownProblemError(f"{name!r} is too large: problems have at most {MOST_INPUTS} inputs.")
        n_targets = self.n_targets(size)
        return Problem(
            name,
            input_names=self.inputs(size),
            target_names=_numbered("z", n_targets),
            function=self.function,
            known_order=range(n_targets),
            about=self.about,
        )


def _numbered(letter: str, count: int) -> tuple[str, ...]:
    return tuple(f"{letter}{i}" for i in range(count))


def _one_word(size: int) -> tuple[str, ...]:
    return _numbered("x", size)


def _two_words(size: int) -> tuple[str, ...]:
    return _numbered("x", size) + _numbered("y", size)


def _data_and_selectors(size: int) -> tuple[str, ...]:
    n = (size + 1) // 2
    return _numbered("d", n) + _numbered("s", n - 1)


FAMILIES = {
    family.prefix: family
    for family in (
        Family("cpar", cascaded_parity, _one_word, lambda n: n, 1, False, "Parity of the first 1, 2, … n inputs."),
        Family(
            "cmaj", cascaded_majority, _one_word, lambda n: (n + 1) // 2, 1, True, "Majority of the first 1, 3, … n inputs."
        ),
        Family("sub", subtract, _two_words, lambda n: n, 1, False, "Difference of two n-bit numbers, modulo 2^n."),
        Family("add", add, _two_words, lambda n: n, 1, False, "Sum of two n-bit numbers, modulo 2^n."),
        Family(
            "cmux",
            cascaded_multiplexer,
            _data_and_selectors,
            lambda n: (n - 1) // 2,
            3,
            True,
            "A chain of two-way multiplexers: (n+1)/2 data inputs and (n-1)/2 selectors.",
        ),
    )
}


def alu_74181(X: BoolMatrix) -> BoolMatrix:
    """Compute the eight outputs of the 74181, a four-bit arithmetic and logic unit with 14 inputs; `Cn` is active low."""
    m, s, a, b, carry_in = X[:, 0], X[:, 1:5].T, X[:, 5:9].T, X[:, 9:13].T, X[:, 13]
    e = ~(a | (b & s[0]) | (~b & s[1]))
    d = ~((~b & s[2] & a) | (a & b & s[3]))
    arithmetic = ~m
    carries = (
        ~(arithmetic & carry_in),
        ~(arithmetic & (e[0] | (d[0] & carry_in))),
        ~(arithmetic & (e[1] | (e[0] & d[1]) | (d[1] & d[0] & carry_in))),
        ~(arithmetic & (e[2] | (e[1] & d[2]) | (e[0] & d[2] & d[1]) | (d[2] & d[1] & d[0] & carry_in))),
    )
    f = e ^ d ^ np.array(carries)
    all_d = d[0] & d[1] & d[2] & d[3]
    y = ~(e[3] | (e[2] & d[3]) | (e[1] & d[3] & d[2]) | (e[0] & d[3] & d[2] & d[1]))
    carry_out = ~y | (all_d & carry_in)
    return np.column_stack([*f, f.all(axis=0), ~all_d, carry_out, y])


def alu74181() -> Problem:
    """Build the problem `alu74181`: the four-bit arithmetic and logic unit."""
    return Problem(
        "alu74181",
        input_names=ALU_INPUTS,
        target_names=ALU_TARGETS,
        function=alu_74181,
        about="The 74181 four-bit arithmetic and logic unit.",
    )
