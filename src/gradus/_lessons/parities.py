"""Parities that the rows determine, of columns or of the nodes that a circuit has already.

They are found by elimination, and small ones by search where labels may be wrong or columns are many.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._circuit.gate_list import GateList
from gradus._circuit.network import network_of
from gradus._core.bits import BoolMatrix, unpack
from gradus._core.gates import XOR
from gradus._lessons.description import Solution
from gradus._lessons.kernel.parity_solving import meet_in_the_middle, solve
from gradus._lessons.packed_examples import PackedExamples

__all__ = ["Parity", "find_parity", "with_parity"]

SPARE_ROWS = 64  # by which rows outnumber unknowns where possible: all of them agree by chance with probability 2 ** -64
MOST_ORDERS = 24
ORDERS_WORK = 3_000_000  # word operations for solving with rows in other orders
LARGE = 30  # unknowns above which hardly all of the rows needed are right, if some labels are wrong
MOST_PAIRED = 600  # columns of which sets of up to four are found
MOST_TRIPLED = 72  # columns of which sets of five are found
WINDOWS, WINDOWS_IF_WIDE = 40, 8
MOST_PICKS = 64
WINDOW_BITS = 60
XNOR = 15 ^ XOR
MOST_NODES = 500  # of which a parity is looked for


class Parity(NamedTuple):
    """An exclusive or of columns."""

    columns: tuple[int, ...]
    inverted: bool
    errors: int


def find_parity(X: BoolMatrix, y: npt.NDArray[np.bool_], seed: int, most_errors: int) -> Parity | None:
    """Find the parity of columns that the fewest labels contradict, at most a given number; None if there is none.

    It is exact if the labels are a parity of independent columns. If not, it is one that contradicts few of the labels.
    """
    rng = np.random.default_rng(seed)
    n_rows, n_columns = X.shape
    sample = _spread(n_rows, 4 * (n_columns + 1 + SPARE_ROWS))
    parity = _checked(_solved(X[sample], y[sample], rng), X, y)
    if parity is not None and parity.errors <= most_errors and (parity.errors == 0 or n_columns < LARGE):
        return parity
    small = _small_parity(X, y, rng, most_errors) if n_columns >= LARGE else None
    return small if small is not None and small.errors <= most_errors else None


def _spread(n: int, most: int) -> npt.NDArray[np.int64]:
    """Return the numbers of at most this many rows, evenly spread."""
    return np.arange(n) if n <= most else np.arange(most) * n // most


def _solved(X: BoolMatrix, y: npt.NDArray[np.bool_], rng: np.random.Generator) -> tuple[list[int], bool] | None:
    """Solve with several sets of rows: one of them may have no wrong label."""
    n_rows, n_columns = X.shape
    unknowns = n_columns + 1
    if n_rows <= unknowns:
        return None
    table = np.ones((n_rows, unknowns + 1), dtype=np.bool_)
    table[:, :n_columns], table[:, unknowns] = X, y
    packed = np.zeros((n_rows, -(-(unknowns + 1) // 64) * 8), dtype=np.uint8)
    as_bytes = np.packbits(table, axis=1, bitorder="little")
    packed[:, : as_bytes.shape[1]] = as_bytes
    rows = packed.view("<u8").astype(np.uint64, copy=False)
    n_orders = 1 if unknowns > LARGE else min(MOST_ORDERS, 1 + ORDERS_WORK // unknowns**2)
    orders = np.tile(np.arange(n_rows, dtype=np.int64), (n_orders, 1))
    orders[1:] = rng.permuted(orders[1:], axis=1)
    scratch, solution = np.zeros((unknowns + 2, rows.shape[1]), dtype=np.uint64), np.zeros(rows.shape[1], dtype=np.uint64)
    if solve(rows, orders, unknowns, scratch, solution) == n_rows:
        return None
    bits = np.unpackbits(solution.astype("<u8").view(np.uint8), count=unknowns, bitorder="little")
    return np.flatnonzero(bits[:n_columns]).tolist(), bool(bits[n_columns])


def _checked(solution: tuple[list[int], bool] | None, X: BoolMatrix, y: npt.NDArray[np.bool_]) -> Parity | None:
    """Count the labels that a parity contradicts."""
    if solution is None:
        return None
    columns, inverted = solution
    wrong = int(np.count_nonzero(np.bitwise_xor.reduce(X[:, columns], axis=1) ^ inverted ^ y))
    return Parity(tuple(columns), inverted, wrong)


def _small_parity(X: BoolMatrix, y: npt.NDArray[np.bool_], rng: np.random.Generator, most_errors: int) -> Parity | None:
    """Look for parities of three to five columns that agree with all labels in a window of rows."""
    # A window is just large enough that hardly any other set agrees by chance, so that it often has no wrong label.
    n_rows, n_columns = X.shape
    if n_columns > MOST_PAIRED:
        return None
    tripled = n_columns <= MOST_TRIPLED
    pairs = n_columns * (n_columns + 1) // 2
    sets = pairs * (n_columns**3 // 6 if tripled else pairs)
    size = min(sets.bit_length() + 2, WINDOW_BITS)
    if n_rows < size:
        return None
    slots = np.empty(1 << (2 * pairs).bit_length(), dtype=np.int64)
    picks = np.empty((MOST_PICKS, 5), dtype=np.int64)
    powers = np.uint64(1) << np.arange(size, dtype=np.uint64)
    best: Parity | None = None
    for _ in range(WINDOWS if tripled else WINDOWS_IF_WIDE):
        rows = np.sort(rng.choice(n_rows, size, replace=False))
        # The difference to the first row of a window has no constant part.
        window, labels = X[rows[1:]] ^ X[rows[0]], y[rows[1:]] ^ y[rows[0]]
        keys, label = window.T @ powers[:-1], labels @ powers[:-1]
        slots.fill(-1)
        n_picks = meet_in_the_middle(keys, np.uint64(label), n_columns, tripled, slots, MOST_PICKS, picks)
        for pick in picks[:n_picks].tolist():
            best = _better(best, sorted(column for column in pick if column >= 0), X, y)
        if best is not None and best.errors <= most_errors:
            break
    return best


def _better(best: Parity | None, columns: list[int], X: BoolMatrix, y: npt.NDArray[np.bool_]) -> Parity:
    """Return the better of a parity and that of some columns, with the complement that suits the labels."""
    plain = _checked((columns, False), X, y)
    assert plain is not None
    if 2 * plain.errors > len(y):
        plain = Parity(plain.columns, True, len(y) - plain.errors)
    return plain if best is None or plain.errors < best.errors else best


def with_parity(solution: Solution, column: int, examples: PackedExamples) -> Solution | None:
    """Add one more column as a parity of at least two nodes that all its labels follow; None if the rows determine none."""
    circuit = solution.circuit
    n_nodes = circuit.n_inputs + len(circuit.functions)
    if n_nodes > MOST_NODES:
        return None
    known = unpack(examples.known[[column]], examples.n_examples)[:, 0]
    labels = unpack(examples.targets[[column]], examples.n_examples)[known, 0]
    values = unpack(network_of(circuit).node_words(examples.inputs), examples.n_examples)[known]
    # A node that is an exclusive or of two others, say, is no unknown: the rows could not tell them apart.
    parity = find_parity(values, labels, 0, 0)
    if parity is None or len(parity.columns) < 2:
        return None
    first, *others = parity.columns
    functions = np.full(len(others), XOR, dtype=np.uint8)
    functions[-1] = XNOR if parity.inverted else XOR
    chain = [first, *range(n_nodes, n_nodes + len(others) - 1)]
    grown = GateList(
        circuit.n_inputs,
        np.concatenate([circuit.functions, functions]),
        np.concatenate([circuit.sources, np.array([chain, others], dtype=np.int64).T]),
        np.append(circuit.outputs, n_nodes + len(others) - 1),
    )
    return Solution(grown, [*solution.columns, column], np.append(solution.errors, 0), True)
