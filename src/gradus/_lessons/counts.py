"""Counts: how many of some literals are true, or their weighted sum, found by changing one weight after another."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix
from gradus._lessons.description import BIT
from gradus._lessons.kernel.count_walk import adjust_weights, new_walk

__all__ = [
    "choose_bits", "find_weights", "fitted_table", "log_factorials", "price_of_sum", "price_of_table", "refined_weights",
]  # fmt: skip

MOST_ROWS = 4096
MOST_COLUMNS = 48
MOST_USED = 32
WALK_WORK = 20_000_000
PAIR_WORK = 600_000  # for all changes of two weights
PLAIN = (0, 1, -1)
WEIGHTS = (0, 1, -1, 2, -2, 4, -4, 8, -8, 16, -16)
N_POWERS = 5
TRIED_FURTHER = 0.8
"""A threshold of weights that follow correlations is refined if it leaves at most this share of the bits of the labels."""

Ints = npt.NDArray[np.int64]


@cache
def log_factorials(n: int) -> Ints:
    """Return log2 k! for k up to n, in 1024ths of a bit."""
    sums = np.cumsum(np.log2(np.maximum(np.arange(n + 1), 1)))
    return np.asarray(np.rint(BIT * sums), dtype=np.int64)


def choose_bits(n: int, k: int) -> int:
    """Return log2 of n over k, in 1024ths of a bit."""
    return round(BIT * (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)) / math.log(2))


def price_of_sum(n_columns: int, weights: tuple[int, ...]) -> int:
    """Return the price of a sum: which columns, their signs, and which powers of two where they differ."""
    size = len(weights)
    price = round(BIT * math.log2(n_columns)) + choose_bits(n_columns, size) + BIT * (size + 1)
    return price + (round(BIT * size * math.log2(N_POWERS)) if max(map(abs, weights)) > 1 else 0)


def price_of_table(length: int, n_changes: int) -> int:
    """Return the price of a table: its first value, how often it changes, and where."""
    return BIT * (1 + max(n_changes, 1)) + choose_bits(length - 1, n_changes)


def find_weights(X: BoolMatrix, y: npt.NDArray[np.bool_]) -> Iterator[Ints]:
    """Find weights of columns whose sum predicts the labels well, from several starts."""
    signs = _correlations(X, y)
    walk, kept = _walk_of(X, y, signs)
    for weights in (*walk.plain(signs[kept]), *walk.weighted(walk.powers())):
        yield _scattered(weights, kept, X.shape[1])


def refined_weights(X: BoolMatrix, y: npt.NDArray[np.bool_], weights: Ints) -> Iterator[Ints]:
    """Continue from the weights that explain another target: where both compare the same numbers, each corrects the other."""
    walk, kept = _walk_of(X, y, np.where(weights, np.inf, _correlations(X, y)))
    for better in walk.weighted(weights[kept]):
        yield _scattered(better, kept, X.shape[1])


def _walk_of(X: BoolMatrix, y: npt.NDArray[np.bool_], worth: npt.NDArray[np.float64]) -> tuple[_Walk, Ints]:
    """Return a walk on some of the rows and the most promising columns, and which columns these are."""
    n_rows, n_columns = X.shape
    rows = np.arange(n_rows) if n_rows <= MOST_ROWS else np.arange(MOST_ROWS) * n_rows // MOST_ROWS
    kept = np.sort(np.argsort(-np.abs(worth), kind="stable")[:MOST_COLUMNS])
    return _Walk(X[np.ix_(rows, kept)], y[rows], n_columns), kept


def _scattered(weights: Ints, kept: Ints, n_columns: int) -> Ints:
    everywhere = np.zeros(n_columns, dtype=np.int64)
    everywhere[kept] = weights
    return everywhere


def _correlations(X: BoolMatrix, y: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """Return the correlation of each column with the labels, in standard errors."""
    n, ones = len(y), np.count_nonzero(y)
    column_ones = np.count_nonzero(X, axis=0)
    both = np.count_nonzero(X[y], axis=0)
    spread = np.sqrt(np.maximum(column_ones * (n - column_ones) * float(ones * (n - ones)), 1.0))
    return np.asarray((both * n - column_ones * ones) / spread * math.sqrt(n))


class _Walk:
    """Walks over the weights of some columns."""

    def __init__(self, X: BoolMatrix, y: npt.NDArray[np.bool_], n_columns: int) -> None:
        self.X, self.y = X, y
        self.columns, self.y_bytes = np.ascontiguousarray(X.T).view(np.uint8), y.astype(np.uint8)
        self.log_factorials = log_factorials(len(y) + 2)
        self.labels = choose_bits(len(y), int(np.count_nonzero(y)))
        sizes = range(min(X.shape[1], MOST_USED) + 1)
        prices = np.array([choose_bits(n_columns, size) + BIT * size for size in sizes], dtype=np.int64)
        more = np.rint(BIT * math.log2(N_POWERS) * np.arange(len(prices))).astype(np.int64)
        # No sum may cost more than the labels.
        self.prices, self.prices_if_weighted = (
            table[np.cumprod(table < self.labels) > 0] for table in (prices, prices + more)
        )

    def plain(self, signs: npt.NDArray[np.float64]) -> Iterator[Ints]:
        """Find counts: each weight is 0, 1 or -1."""
        starts = [np.zeros(len(signs)), np.ones(len(signs)), np.where(signs < 0, -1, 1), np.sign(signs) * (np.abs(signs) > 2)]
        for start in starts:
            weights = start.astype(np.int64)
            if np.count_nonzero(weights) < len(self.prices) and self._price(weights, PLAIN, WALK_WORK) < self.labels:
                yield weights

    def weighted(self, start: Ints) -> Iterator[Ints]:
        """Find a threshold of a sum whose weights are powers of two."""
        promising = self._price_of_start(start) < TRIED_FURTHER * self.labels
        if promising and self._price(start, WEIGHTS, WALK_WORK) < self.labels:
            yield start

    def _price(self, weights: Ints, allowed: tuple[int, ...], work: int) -> int:
        """Improve the weights, and return the bits that they leave to describe."""
        threshold = allowed is not PLAIN
        prices = self.prices_if_weighted if threshold else self.prices
        choices = np.array(allowed, dtype=np.int64)
        walk = new_walk(self.columns, self.y_bytes, weights, choices, self.log_factorials, prices, threshold)
        return int(adjust_weights(walk, work, PAIR_WORK))

    def _price_of_start(self, weights: Ints) -> int:
        used = np.count_nonzero(weights)
        if not 1 < used < len(self.prices_if_weighted):
            return self.labels
        return self._price(weights, WEIGHTS, 0) - int(self.prices_if_weighted[used])

    def powers(self) -> Ints:
        """Return powers of two that are nearly proportional to the coefficients of a linear fit."""
        X = np.where(self.X, 1.0, -1.0)
        coefficients = np.linalg.lstsq(X, np.where(self.y, 1.0, -1.0), rcond=None)[0]
        largest = np.abs(coefficients).max(initial=1e-9)
        best, least = np.zeros(len(coefficients), dtype=np.int64), self.labels
        for scale in (0.75, 1.0, 1.33):
            with np.errstate(divide="ignore"):
                exponents = np.rint(np.log2(np.abs(coefficients) / largest * scale)) + N_POWERS - 1
            powers = np.where(exponents < 0, 0.0, np.exp2(np.clip(exponents, 0, N_POWERS - 1)))
            powers[np.argsort(-powers, kind="stable")[max(len(self.prices_if_weighted) - 1, 0) :]] = 0
            weights = (np.sign(coefficients) * powers).astype(np.int64)
            if (price := self._price_of_start(weights)) < least:
                best, least = weights, price
        return best


def fitted_table(cells: Ints, price_of_errors: Ints) -> tuple[tuple[bool, ...], int, int]:
    """Return the table over sums that is shortest to describe with its errors; its errors, and the price of both."""
    length, n_rows = len(cells), int(cells.sum())
    best: tuple[tuple[bool, ...], int, int] | None = None
    change = BIT * 2 + choose_bits(max(length - 1, 1), 1) // 2
    for each in (choose_bits(n_rows, 1), 3 * BIT):
        values = _path(cells.tolist(), each, change)
        errors = int(cells[np.arange(length), 1 - np.array(values, dtype=np.int64)].sum())
        changes = sum(a != b for a, b in pairwise(values))
        price = price_of_table(length, changes) + int(price_of_errors[errors])
        if best is None or price < best[2]:
            best = values, errors, price
    assert best is not None
    return best


def _path(cells: list[list[int]], each: int, change: int) -> tuple[bool, ...]:
    """Return the values, one per sum, with the least cost if each error and each change has a price."""
    costs = [0, 0]
    came: list[tuple[int, int]] = []
    for zeros, ones in cells:
        before = (0 if costs[0] <= costs[1] + change else 1, 1 if costs[1] <= costs[0] + change else 0)
        came.append(before)
        costs = [costs[was] + change * (was != value) + each * (zeros if value else ones) for value, was in enumerate(before)]
    value = int(costs[1] < costs[0])
    values = []
    for sources in reversed(came):
        values.append(bool(value))
        value = sources[value]
    return tuple(reversed(values))
