"""The 74181: a four-bit arithmetic and logic unit of 14 inputs and 8 outputs."""

from __future__ import annotations

import numpy as np

from gradus._bits import BoolMatrix
from gradus.problems._problem import Problem

__all__ = ["alu74181", "alu_74181"]

INPUTS = ("M", "S0", "S1", "S2", "S3", "A0", "A1", "A2", "A3", "B0", "B1", "B2", "B3", "Cn")
TARGETS = ("F0", "F1", "F2", "F3", "A=B", "X", "Cn+4", "Y")


def alu_74181(X: BoolMatrix) -> BoolMatrix:
    """Work out the eight outputs of the chip; `Cn` is read as active low.

    Examples
    --------
    >>> logic_not_a = [1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0]  # M = 1, S = 0: F is the complement of A
    >>> alu_74181(np.array([logic_not_a], dtype=bool))[0, :4].astype(int)
    array([0, 1, 0, 1])
    """
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
    """Build the problem `alu74181`."""
    return Problem(
        "alu74181",
        input_names=INPUTS,
        target_names=TARGETS,
        function=alu_74181,
        about="The 74181 four-bit arithmetic and logic unit.",
    )
