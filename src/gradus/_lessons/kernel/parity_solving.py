"""Parities over GF(2): solved from as many independent rows as unknowns, or met in the middle from pairs and triples."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gradus._core.kernels.compile import compiled, uncounted
from gradus._core.kernels.intrinsics import popcount, trailing_zeros

__all__ = ["meet_in_the_middle", "solve"]

Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]


@uncounted
def _lowest(row, n_unknowns):
    """Return the first unknown in a row, or `n_unknowns` if there is none."""
    for word in range(len(row)):
        if row[word]:
            return min(64 * word + np.int64(trailing_zeros(row[word])), n_unknowns)
    return n_unknowns


@compiled
def solve(rows: Words, orders: Ints, n_unknowns: int, scratch: Words, best: Words) -> int:
    """Solve for the unknowns with rows in several orders; returns how many rows contradict `best`, the best solution.

    A row has a bit for each unknown and then one for its label. If the rows do not determine every unknown, as many rows
    as there are contradict. `scratch` has two rows more than there are unknowns.
    """
    # Every type of array that is made here would take a tenth of a second to compile.
    least, solution = len(rows), scratch[n_unknowns + 1]
    for order in orders:
        if _eliminate(rows, order, n_unknowns, scratch, solution) == n_unknowns:
            errors = _contradictions(rows, n_unknowns, solution)
            if errors < least:
                least = errors
                for word in range(len(best)):
                    best[word] = solution[word]
                if errors == 0:
                    break
    return least


@uncounted
def _contradictions(rows, n_unknowns, solution):
    """Count the rows that a solution contradicts; the label counts as an unknown whose coefficient is 1."""
    errors = 0
    for row in range(len(rows)):
        odd = rows[row, n_unknowns >> 6] >> np.uint64(n_unknowns & 63) & np.uint64(1)
        for word in range(len(solution)):
            odd ^= popcount(rows[row, word] & solution[word]) & np.uint64(1)
        errors += np.int64(odd)
    return errors


@uncounted
def _eliminate(rows, order, n_unknowns, basis, solution):
    """Solve for the unknowns with the first independent rows in some order; returns their rank.

    The solution is only set if the rank is the number of unknowns. `basis` is scratch space, with a row more than unknowns.
    """
    n_words, rank, row = rows.shape[1], 0, basis[n_unknowns]
    for pivot in range(n_unknowns):
        basis[pivot, pivot >> 6] = 0
    for place in order:
        for word in range(n_words):
            row[word] = rows[place, word]
        pivot = _lowest(row, n_unknowns)
        while pivot < n_unknowns and basis[pivot, pivot >> 6] >> np.uint64(pivot & 63) & np.uint64(1):
            for word in range(pivot >> 6, n_words):
                row[word] ^= basis[pivot, word]
            pivot = _lowest(row, n_unknowns)
        if pivot < n_unknowns:
            for word in range(n_words):
                basis[pivot, word] = row[word]
            rank += 1
            if rank == n_unknowns:
                _substitute(basis, n_unknowns, solution)
                break
    return rank


@uncounted
def _substitute(basis, n_unknowns, solution):
    """Find the unknowns from the last to the first."""
    solution[:] = 0
    for pivot in range(n_unknowns - 1, -1, -1):
        value = basis[pivot, n_unknowns >> 6] >> np.uint64(n_unknowns & 63)
        for word in range(len(solution)):
            value ^= popcount(basis[pivot, word] & solution[word])
        solution[pivot >> 6] |= (value & np.uint64(1)) << np.uint64(pivot & 63)


@compiled
def meet_in_the_middle(
    keys: Words, label: np.uint64, n_columns: int, triples: bool, slots: Ints, most: int, picks: Ints
) -> int:
    """Find sets of up to four columns, or five with triples, whose parity is the label on a window of rows.

    A key has the bits of a column in the window; `slots` is an empty hash table (-1) whose length is a power of two. The
    sets go to `picks`, padded with -1; returns how many there are.
    """
    mask = np.uint64(len(slots) - 1)
    n_picks = 0
    # Pairs (a, b) with a >= b; (a, a) stands for a alone and (-1, -1) for none, which are 0-valued or single keys.
    for a in range(n_columns):
        for b in range(a + 1):
            key = keys[a] ^ keys[b] if b < a else keys[a]
            place = _hash(key) & mask
            while slots[place] >= 0:
                place = (place + np.uint64(1)) & mask
            slots[place] = a * n_columns + b
    for a in range(n_columns):
        for b in range(a + 1):
            pair = keys[a] ^ keys[b] if b < a else keys[a]
            for c in range(-1, b if triples and b < a else 0):
                wanted = label ^ pair ^ (keys[c] if c >= 0 else np.uint64(0))
                place = _hash(wanted) & mask
                while slots[place] >= 0:
                    d, e = slots[place] // n_columns, slots[place] % n_columns
                    other = keys[d] ^ keys[e] if e < d else keys[d]
                    lowest = c if c >= 0 else b
                    if other == wanted and d < lowest:
                        picks[n_picks, 0], picks[n_picks, 1], picks[n_picks, 2] = a, b if b < a else -1, c
                        picks[n_picks, 3], picks[n_picks, 4] = d, e if e < d else -1
                        n_picks += 1
                        if n_picks == most:
                            return n_picks
                    place = (place + np.uint64(1)) & mask
    return n_picks


@uncounted
def _hash(key):
    key *= np.uint64(0x9E3779B97F4A7C15)
    return key ^ (key >> np.uint64(29))
