"""Minimum sums of products: prime implicants (Quine–McCluskey) and a smallest cover of the ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["MAX_VARIABLES", "SumOfProducts", "minimum_sum", "prime_implicants", "smallest_cover"]

MAX_VARIABLES = 12
"""All 3^12 products fit in half a megabyte; each further variable takes three times as much."""

# A product's value for a variable: it requires 0, requires 1, or does not read the variable (free).
FREE = 2
# One product more always costs more than any number of literals: twelve per product, at most 2^11 products.
PRODUCT_WEIGHT = 1 << 16
# Branches tried before a cover is returned as good but not proven minimum; a count, so that results do not depend on a clock.
MAX_BRANCHES = 4000
# Comparing all pairs of products for dominance is quadratic in their number.
MAX_COMPARED = 1500

Products = npt.NDArray[np.uint8]
Incidence = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class SumOfProducts:
    """A sum of products."""

    products: Products
    """Shape (n_products, n_variables): 0 or 1 where the product requires that value, 2 where it does not read the variable."""
    minimum: bool
    """Whether it is proven that no sum has fewer products, nor as few with fewer literals."""


def prime_implicants(table: npt.NDArray[np.bool_]) -> Products:
    """Return all prime implicants: products that imply the function and no longer do if any literal is left out."""
    # A product that leaves a variable free implies the function if both of its halves do. So one axis after the other
    # grows from (0, 1) to (0, 1, free), until all 3^n products are decided.
    implies = table
    for axis in range(table.ndim):
        if_zero, if_one = np.split(implies, 2, axis=axis)
        implies = np.concatenate([if_zero, if_one, if_zero & if_one], axis=axis)
    prime = implies.copy()
    for axis in range(table.ndim):
        fixed = np.moveaxis(prime, axis, 0)[:FREE]
        fixed &= ~np.moveaxis(implies, axis, 0)[FREE]
    return np.argwhere(prime).astype(np.uint8)


def minimum_sum(table: npt.NDArray[np.bool_]) -> SumOfProducts:
    """Return a sum of products with the fewest products, and among those the fewest literals."""
    # It is proven minimum if necessary products or a short branch and bound settle the cover; otherwise (``minimum`` is False)
    # it is a good cover from which no product can be left out.
    primes = prime_implicants(table)
    ones = np.argwhere(table).astype(np.uint8)
    covers = np.ones((len(primes), len(ones)), dtype=np.bool_)
    for variable in range(table.ndim):
        wanted = primes[:, variable, np.newaxis]
        covers &= (wanted == FREE) | (wanted == ones[:, variable])
    weights = PRODUCT_WEIGHT + (primes != FREE).sum(axis=1).astype(np.int64)
    chosen, minimum = smallest_cover(covers, weights)
    products = primes[sorted(chosen)]
    order = np.lexsort([*products.T[::-1], (products != FREE).sum(axis=1)])
    return SumOfProducts(products[order], minimum)


def smallest_cover(covers: Incidence, weights: npt.NDArray[np.int64]) -> tuple[list[int], bool]:
    """Choose rows of least total weight that cover every column; also return whether that is proven."""
    chosen, rows, columns = _reduced(covers, weights)
    if len(columns) == 0:
        return chosen, True
    core, core_weights = covers[np.ix_(rows, columns)], weights[rows]
    greedy = _greedy(core, core_weights)
    if len(rows) > MAX_COMPARED:
        return _needed(covers, weights, chosen + rows[greedy].tolist()), False
    best, proven = _branch_and_bound(core, core_weights, greedy)
    cover = chosen + rows[best].tolist()
    return (cover, True) if proven else (_needed(covers, weights, cover), False)


def _reduced(
    covers: Incidence, weights: npt.NDArray[np.int64]
) -> tuple[list[int], npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Choose the rows that are needed, drop those that are never better, and repeat until neither changes anything."""
    chosen: list[int] = []
    rows, columns = np.arange(covers.shape[0]), np.arange(covers.shape[1])
    while len(columns):
        part = covers[np.ix_(rows, columns)]
        needed = np.unique(rows[part[:, part.sum(axis=0) == 1].any(axis=1)])
        if len(needed):
            chosen += needed.tolist()
            columns = columns[~covers[np.ix_(needed, columns)].any(axis=0)]
            rows = rows[covers[np.ix_(rows, columns)].any(axis=1)]
            continue
        if len(rows) > MAX_COMPARED:
            break
        keep_rows, keep_columns = _not_dominated(part, weights[rows])
        if keep_rows.all() and keep_columns.all():
            break
        rows, columns = rows[keep_rows], columns[keep_columns]
    return chosen, rows, columns


def _not_dominated(part: Incidence, weights: npt.NDArray[np.int64]) -> tuple[Incidence, Incidence]:
    """Return which rows no other row dominates; if all stay, also which columns are not covered along with another."""
    inside, order = _contained(part), np.arange(len(part))
    cheaper = weights[:, np.newaxis] > weights
    # Of rows that cost the same the larger one stays, and of equal ones the first.
    larger = (weights[:, np.newaxis] == weights) & (~inside.T | (order[:, np.newaxis] > order))
    keep_rows = np.asarray(~(inside & (cheaper | larger)).any(axis=1))
    if not keep_rows.all():
        return keep_rows, np.ones(part.shape[1], dtype=np.bool_)
    inside, order = _contained(part.T), np.arange(part.shape[1])
    # If every row that covers column i covers column j too, j need not be considered.
    redundant = (inside & (~inside.T | (order[:, np.newaxis] < order))).any(axis=0)
    return keep_rows, np.asarray(~redundant)


def _contained(sets: Incidence) -> Incidence:
    """Return whether row i is a subset of row j."""
    numbers = sets.astype(np.float32)  # exact: counts stay far below 2^24
    return np.asarray(numbers @ numbers.T == numbers.sum(axis=1)[:, np.newaxis])


def _greedy(covers: Incidence, weights: npt.NDArray[np.int64]) -> list[int]:
    """Take the row that covers the most open columns until none is open, then leave out what is not needed."""
    gain = covers.sum(axis=1)
    open_columns = np.ones(covers.shape[1], dtype=np.bool_)
    chosen: list[int] = []
    while open_columns.any():
        row = int(np.lexsort((weights, -gain))[0])
        gain -= covers[:, covers[row] & open_columns].sum(axis=1)
        open_columns &= ~covers[row]
        chosen.append(row)
    return _needed(covers, weights, chosen)


def _needed(covers: Incidence, weights: npt.NDArray[np.int64], chosen: list[int]) -> list[int]:
    """Leave out rows, the most expensive first, as long as every column stays covered."""
    kept = list(chosen)
    times = covers[kept].sum(axis=0)
    for row in sorted(sorted(chosen), key=(-weights).__getitem__):
        if (times[covers[row]] > 1).all():
            times -= covers[row]
            kept.remove(row)
    return kept


def _branch_and_bound(covers: Incidence, weights: npt.NDArray[np.int64], start: list[int]) -> tuple[list[int], bool]:
    """Improve a cover until it is proven minimal or `MAX_BRANCHES` are used up; sets are bits of Python integers."""
    cost = weights.tolist()
    covered_by = [np.flatnonzero(column).tolist() for column in covers.T]
    row_sets, column_rows = list(map(_as_set, covers)), list(map(_as_set, covers.T))
    cheapest = np.where(covers, weights[:, np.newaxis], np.iinfo(np.int64).max).min(axis=0).tolist()
    by_choice = np.argsort(covers.sum(axis=0), kind="stable").tolist()
    best, best_cost = list(start), int(weights[start].sum())
    stack: list[tuple[int, int, tuple[int, ...]]] = [((1 << len(covered_by)) - 1, 0, ())]
    branches = 0
    while stack:
        open_columns, spent, taken = stack.pop()
        if spent >= best_cost:
            continue
        if not open_columns:
            best, best_cost = list(taken), spent
            continue
        branches += 1
        if branches > MAX_BRANCHES:
            return best, False
        # Columns that share no row need one row each: their cheapest rows together bound what is still to spend.
        bound, blocked, branch_on = spent, 0, -1
        for column in by_choice:
            if open_columns >> column & 1 and not column_rows[column] & blocked:
                bound += cheapest[column]
                blocked |= column_rows[column]
                branch_on = column if branch_on < 0 else branch_on
        if bound < best_cost:
            choices = [(row_sets[r] & open_columns, spent + cost[r], (*taken, r)) for r in covered_by[branch_on]]
            choices.sort(key=lambda choice: (choice[0].bit_count(), -choice[1]))  # the most promising is popped first
            stack += [(open_columns & ~covered, total, rows) for covered, total, rows in choices]
    return best, True


def _as_set(flags: npt.NDArray[np.bool_]) -> int:
    """Return a number with a bit set for every flag."""
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")
