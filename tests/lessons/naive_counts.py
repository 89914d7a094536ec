"""Slow twins: parities by trying every set of columns, counts row by row, and walks over weights without shortcuts."""

from __future__ import annotations

import itertools
import math

import numpy as np


def all_parities(X, y):
    """Every set of columns, with whether it is complemented, whose parity is the label in every row."""
    solutions = []
    for size in range(X.shape[1] + 1):
        for columns in itertools.combinations(range(X.shape[1]), size):
            odd = [sum(bool(row[column]) for column in columns) % 2 == 1 for row in X]
            for inverted in (False, True):
                if all(value ^ inverted == bool(label) for value, label in zip(odd, y, strict=True)):
                    solutions.append((columns, inverted))
    return solutions


def value_of(columns, weights, table, row):
    """A function of a weighted count for one row: true literals count."""
    total = 0
    for column, weight in zip(columns, weights, strict=True):
        literal = bool(row[column]) if weight > 0 else not row[column]
        total += abs(weight) * literal
    return table[total]


def cells_of(X, y, weights):
    """How many rows of each label have each weighted count of true literals."""
    cells = np.zeros((sum(map(abs, weights)) + 1, 2), dtype=int)
    identity = list(range(sum(map(abs, weights)) + 1))
    for row, label in zip(X, y, strict=True):
        cells[value_of(range(len(weights)), weights, identity, row), int(label)] += 1
    return cells


def log2_choose(n, k):
    return math.log2(math.comb(n, k))


def bits_of_cells(cells):
    """The labels if each cell has a share of ones of its own, each share equally likely beforehand."""
    return sum(math.log2(zeros + ones + 1) + log2_choose(zeros + ones, ones) for zeros, ones in cells.tolist())


def least_errors_of_threshold(cells):
    """The fewest errors of an output that changes at most once as the count rises."""
    least = math.inf
    for place in range(len(cells) + 1):
        wrong = int(cells[:place, 1].sum() + cells[place:, 0].sum())
        least = min(least, wrong, int(cells.sum()) - wrong)
    return least


def cheapest_table(cells, price_of_errors):
    """The least price of a table and its errors, by trying every table."""
    best = math.inf
    for table in itertools.product((False, True), repeat=len(cells)):
        changes = sum(a != b for a, b in itertools.pairwise(table))
        errors = sum(int(cell[1 - value]) for cell, value in zip(cells, table, strict=True))
        price = 1 + max(changes, 1) + log2_choose(len(cells) - 1, changes) + price_of_errors[errors] / 1024
        best = min(best, price)
    return best
