"""Description lengths: bits for the gates of a circuit, and bits for the examples that it gets wrong.

A circuit of g gates among N nodes is described by two sources and a function per gate, and the order of the gates is free;
e errors among n examples, by a choice of e out of n. Lengths are in 1024ths of a bit, so that costs are exact integers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["BIT", "FORBIDDEN", "FUNCTION_BITS", "NAND_BITS", "error_table", "error_tables", "gate_table"]

BIT = 1024
FUNCTION_BITS = 2.3  # log2 of the ten functions that depend on both sources, less 1 because their order does not matter
NAND_BITS = -1.0  # a single function, less 1 for the order of the sources
FORBIDDEN = 1 << 50

Ints = npt.NDArray[np.int64]


def gate_table(n_inputs: int, max_gates: int, function_bits: float = FUNCTION_BITS) -> Ints:
    """Return the cost of 0, 1, … gates; more gates never cost less."""
    table = [0]
    for gates in range(1, max_gates + 1):
        each = 2 * math.log2(n_inputs + gates) + function_bits
        table.append(max(table[-1], round(BIT * (gates * each - math.lgamma(gates + 1) / math.log(2)))))
    return np.array(table, dtype=np.int64)


def error_table(n_examples: int, rate: float | None = None) -> Ints:
    """Return the cost of 0, 1, … n errors among n examples; from n / 2 on it stays the same."""
    # If the rate of wrong labels is given, every error costs the same, according to that rate.
    if rate is not None:
        flat: Ints = round(BIT * math.log2((1 - rate) / rate)) * np.arange(n_examples + 1, dtype=np.int64)
        return flat
    k = np.arange(1, n_examples + 1)
    steps = np.log2((n_examples - k + 1) / k)
    bits: Ints = np.rint(BIT * np.concatenate([[0.0], np.cumsum(np.maximum(steps, 0.0))])).astype(np.int64)
    return bits


def error_tables(known: Sequence[int], width: int, rate: float | None = None) -> tuple[Ints, Ints]:
    """Return the tables of targets with these numbers of known cells: one row per distinct number, and each target's row."""
    distinct = sorted(set(known))
    tables = np.zeros((len(distinct), width + 1), dtype=np.int64)
    for row, count in enumerate(distinct):
        table = error_table(count, rate)
        tables[row, : len(table)] = table
        tables[row, len(table) :] = table[-1]
    return tables, np.array([distinct.index(count) for count in known], dtype=np.int64)
