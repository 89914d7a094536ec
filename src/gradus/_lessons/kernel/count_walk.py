"""A walk over weights of columns: which weighted sum of the columns predicts the labels best."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._core.kernels.compile import compiled, uncounted
from gradus._core.kernels.intrinsics import by_reference

__all__ = ["Walk", "adjust_weights", "new_walk", "tally"]

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]


def tally(columns: Bytes, labels: Bytes, weights: Ints) -> Ints:
    """Count the rows by sum, from the lowest possible one up, and by label."""
    # Not compiled: the first call would take half a second longer. NumPy adds up floats fastest, and these exactly.
    sums = (weights.astype(np.float64) @ columns.astype(np.float64)).astype(np.int64)
    lowest, highest = np.minimum(weights, 0).sum(), np.maximum(weights, 0).sum()
    cells = np.bincount(2 * (sums - lowest) + labels, minlength=2 * (highest - lowest + 1))
    return cells.reshape(-1, 2)


@uncounted
def _add_up(columns, weights, sums):
    """Add the weighted columns to the sums of rows; returns the lowest and the highest possible sum."""
    lowest, highest = 0, 0
    for column in range(len(weights)):
        weight = weights[column]
        if weight:
            lowest += min(weight, 0)
            highest += max(weight, 0)
            for row in range(len(sums)):
                sums[row] += weight * columns[column, row]
    return lowest, highest


@uncounted
def _price_of_cells(cells, size, log_factorials):
    """Return the bits of the labels if each sum has a share of ones of its own, which must be described too."""
    price = 0
    for cell in range(size):
        zeros, ones = cells[cell, 0], cells[cell, 1]
        if zeros + ones:
            price += log_factorials[zeros + ones + 1] - log_factorials[zeros] - log_factorials[ones]
    return price


@uncounted
def _price_of_threshold(cells, size, n_ones, log_factorials):
    """Return the bits of the errors of the best threshold, and of its place."""
    n = n_ones
    for cell in range(size):
        n += cells[cell, 0]
    errors = n_ones  # if the output is 1 from this sum on; more errors than half are those of the complement
    least = min(errors, n - errors)
    for cell in range(size):
        errors += cells[cell, 0] - cells[cell, 1]
        least = min(least, errors, n - errors)
    return log_factorials[n] - log_factorials[least] - log_factorials[n - least] + log_factorials[2] * 10


class Walk(NamedTuple):
    """What a walk over weights works on."""

    columns: Bytes
    labels: Bytes
    weights: Ints
    allowed: Ints
    log_factorials: Ints
    price_of_size: Ints
    """By how many columns have a weight; no more may have one than there are prices."""
    threshold: bool
    """Whether the labels follow a threshold of the sum; if not, each sum has a share of ones of its own."""
    sums: Ints
    cells: Ints
    state: Ints


LOWEST, HIGHEST, USED, ONES, WORK = range(5)


def new_walk(
    columns: Bytes, labels: Bytes, weights: Ints, allowed: Ints, log_factorials: Ints, price_of_size: Ints, threshold: bool
) -> Walk:
    """Make a walk that changes these weights."""
    largest = max(np.abs(allowed).max(), np.abs(weights).max())
    cells = np.zeros((2 * largest * (len(price_of_size) + 2) + 1, 2), dtype=np.int64)
    sums, state = np.zeros(len(labels), dtype=np.int64), np.zeros(5, dtype=np.int64)
    return Walk(columns, labels, weights, allowed, log_factorials, price_of_size, threshold, sums, cells, state)


@uncounted
def _begin(walk):
    """Add up the sums for the present weights."""
    walk.sums[:] = 0
    walk.state[LOWEST], walk.state[HIGHEST] = _add_up(walk.columns, walk.weights, walk.sums)
    walk.state[USED] = walk.state[ONES] = 0
    for weight in walk.weights:
        walk.state[USED] += weight != 0
    for label in walk.labels:
        walk.state[ONES] += label


@uncounted
def _price_with(walk, i, new_i, j, new_j):
    """Return the price if two columns had other weights."""
    old_i, old_j = walk.weights[i], walk.weights[j]
    used = walk.state[USED] + (new_i != 0) - (old_i != 0) + (new_j != 0) - (old_j != 0)
    if used >= len(walk.price_of_size):
        return np.int64(1) << 60
    low = walk.state[LOWEST] - min(old_i, 0) + min(new_i, 0) - min(old_j, 0) + min(new_j, 0)
    size = walk.state[HIGHEST] - max(old_i, 0) + max(new_i, 0) - max(old_j, 0) + max(new_j, 0) - low + 1
    step_i, step_j = new_i - old_i, new_j - old_j
    walk.cells[:size] = 0
    if step_j:
        for row in range(len(walk.labels)):
            change = step_i * np.int64(walk.columns[i, row]) + step_j * np.int64(walk.columns[j, row])
            walk.cells[walk.sums[row] + change - low, walk.labels[row]] += 1
    else:
        for row in range(len(walk.labels)):
            walk.cells[walk.sums[row] + step_i * np.int64(walk.columns[i, row]) - low, walk.labels[row]] += 1
    walk.state[WORK] += len(walk.labels) + size
    if walk.threshold:
        price = _price_of_threshold(walk.cells, size, walk.state[ONES], walk.log_factorials)
    else:
        price = _price_of_cells(walk.cells, size, walk.log_factorials)
    return price + walk.price_of_size[used]


@uncounted
def _improve_one(walk, best):
    """Make the best change of one weight, if it is better than the best price so far; returns the new best price."""
    place, value = -1, 0
    for column in range(len(walk.weights)):
        other = 1 if column == 0 else 0  # keeps its weight
        for choice in range(len(walk.allowed)):
            new = walk.allowed[choice]
            if new != walk.weights[column]:
                price = _price_with(walk, column, new, other, walk.weights[other])
                if price < best:
                    best, place, value = price, column, new
    if place >= 0:
        walk.weights[place] = value
        _begin(walk)
    return best


@uncounted
def _improve_two(walk, best):
    """Make the first change of two weights that is better than the best price so far."""
    n_columns = len(walk.weights)
    for i in range(n_columns):
        for j in range(i):
            for new_i in walk.allowed:
                for new_j in walk.allowed:
                    if new_i != walk.weights[i] and new_j != walk.weights[j]:
                        price = _price_with(walk, i, new_i, j, new_j)
                        if price < best:
                            walk.weights[i], walk.weights[j] = new_i, new_j
                            _begin(walk)
                            return price
    return best


@compiled
def adjust_weights(walk: Walk, max_work: int, pair_work: int) -> int:
    """Change one weight after another, always the best change, and two where no single one is better; returns the price.

    Pairs are only tried if all of them take less than `pair_work`.
    """
    walk = by_reference(walk)
    _begin(walk)
    walk.state[WORK] = 0
    n_columns = len(walk.weights)
    best = _price_with(walk, np.int64(0), walk.weights[0], n_columns - 1, walk.weights[n_columns - 1])
    pairs = n_columns * (n_columns - 1) // 2 * (len(walk.allowed) - 1) ** 2
    paired = n_columns > 1 and pairs * len(walk.labels) < pair_work
    before = best + 1
    while best < before and walk.state[WORK] < max_work:
        before = best
        if n_columns > 1:
            best = _improve_one(walk, best)
        if best == before and paired:
            best = _improve_two(walk, best)
    return int(best)
