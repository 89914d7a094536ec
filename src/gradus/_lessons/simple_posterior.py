"""The posterior of simple functions: constants, columns and gates of two columns, each exactly priced.

Where labels say little, no function is certain, and the shortest one is a poor guess. How often each of them is right weighs
all of them together: each leans towards 1 or 0 by how probable it is and by how much more than half of the labels it explains.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix
from gradus._core.checks import Noise
from gradus._lessons.description import BIT, error_table
from gradus._lessons.voting import WeightedVote, rounded_vote

__all__ = ["Known", "PairParity", "best_parity", "leaning_vote"]

PRIOR = 3 * BIT
"""By how much a family (columns, parities, other gates) is less likely than a constant."""
PAIR_WORK = 1 << 32  # rows times pairs: if all pairs of columns took more, none are formed
ROWS_AT_ONCE = 1 << 14
LEVELS = 15  # weights are whole numbers up to this one

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Known(NamedTuple):
    """The labels of one target that are known, and their rows."""

    X: BoolMatrix
    y: npt.NDArray[np.bool_]
    noise: Noise


class _Agreement(NamedTuple):
    """By how many rows functions are right more often than wrong."""

    constant: float
    columns: Floats
    parities: Floats
    """Of pairs of columns, shape (columns, columns)."""


def _agreement(X: BoolMatrix, y: npt.NDArray[np.bool_]) -> _Agreement:
    """Compare the labels with all columns and their pairs; true counts as 1 and false as -1."""
    n_columns = X.shape[1]
    signs = np.where(y, 1.0, -1.0)
    columns = np.zeros(n_columns)
    pairs = np.zeros((n_columns, n_columns) if len(X) * n_columns**2 <= PAIR_WORK else (0, 0))
    for start in range(0, len(X), ROWS_AT_ONCE):
        part, labels = np.where(X[start : start + ROWS_AT_ONCE], 1.0, -1.0), signs[start : start + ROWS_AT_ONCE]
        columns += labels @ part
        if len(pairs):
            pairs -= part.T @ (labels[:, np.newaxis] * part)  # two signs that differ have the product -1
    return _Agreement(float(signs.sum()), columns, pairs)


class PairParity(NamedTuple):
    """An exclusive or of two columns."""

    columns: tuple[int, int]
    inverted: bool
    errors: int
    length: int
    """Bits of its errors and of a choice among all pairs and their complements, in 1024ths."""


def best_parity(known: Known) -> PairParity | None:
    """Return the exclusive or of two columns that explains the labels best."""
    pairs = _agreement(known.X, known.y).parities
    if len(pairs) < 2:
        return None
    first, second = np.triu_indices(len(pairs), 1)
    best = int(np.argmax(np.abs(pairs[first, second])))
    i, j = int(first[best]), int(second[best])
    errors = (len(known.y) - int(abs(pairs[i, j]))) // 2
    choice = round(BIT * math.log2(len(pairs) * (len(pairs) - 1)))
    length = choice + int(error_table(len(known.y), known.noise)[errors])
    return PairParity((i, j), bool(pairs[i, j] < 0), errors, length)


def leaning_vote(known: Known, outputs: BoolMatrix, prices: Sequence[int]) -> WeightedVote:
    """Weigh simple functions and the outputs of circuits, given by their prices without errors, by their posterior."""
    said = _agreement(known.X, known.y)
    weighed = _Posterior(known, said, np.where(outputs.T, 1.0, -1.0) @ np.where(known.y, 1.0, -1.0), prices)
    parities: dict[tuple[int, ...], float] = {(int(i),): float(weighed.columns[i]) for i in np.flatnonzero(weighed.columns)}
    shares = (np.array(weighed.constant), weighed.columns, weighed.pairs, weighed.circuits)
    strongest = max(float(np.abs(share).max(initial=0.0)) for share in shares)
    # Of millions of pairs, those are left out whose weight would be 0.
    strong = np.argwhere(LEVELS * np.abs(weighed.pairs) > 0.4 * strongest)
    parities |= {(int(i), int(j)): float(weighed.pairs[i, j]) for i, j in strong}
    return rounded_vote(weighed.constant, parities, weighed.circuits.tolist(), LEVELS)


class _Posterior:
    """How much the constant, each column, each parity of two columns and each circuit add to the probability of a 1."""

    def __init__(self, known: Known, said: _Agreement, outputs: Floats, prices: Sequence[int]) -> None:
        n, n_columns = len(known.y), len(said.columns)
        self.n, self.noise = n, known.noise
        self.table = error_table(n, known.noise).astype(np.float64)
        first, second = np.triu_indices(len(said.parities), 1)
        family = PRIOR + BIT * math.log2(max(n_columns * (n_columns - 1) / 2, 1))
        a, b, both = said.columns[first], said.columns[second], said.parities[first, second]
        self.least = np.inf
        self.parts: list[tuple[Floats, Floats]] = []
        # Of a function and its complement, the one that is right more often counts; its sign is that of the agreement.
        self._weigh(np.array([said.constant]), 0.0)
        self._weigh(said.columns, PRIOR + BIT * math.log2(n_columns))
        self._weigh(both, family)
        signs = [(p, q) for p in (1, -1) for q in (1, -1)]
        for p, q in signs:
            # True where both columns, or their complements, are: half of -1 + p a + q b + p q a b.
            self._weigh((-said.constant + p * a + q * b - p * q * both) / 2, family + 2 * BIT)
        self._weigh(outputs, np.array(prices, dtype=np.float64))
        shares = self._shares()
        self.constant, self.columns = float(shares[0][0]), shares[1].copy()
        self.pairs, self.circuits = np.zeros_like(said.parities), shares[-1]
        self.pairs[first, second] = shares[2]
        for (p, q), share in zip(signs, shares[3:-1], strict=True):
            self.constant -= share.sum() / 2
            np.add.at(self.columns, first, p * share / 2)
            np.add.at(self.columns, second, q * share / 2)
            self.pairs[first, second] -= p * q * share / 2

    def _weigh(self, agreement: Floats, price: Floats | float) -> None:
        """Note the lengths of some functions with their errors."""
        errors = (self.n - np.abs(agreement)) / 2
        lengths = price + self.table[np.rint(errors).astype(np.int64)]
        self.least = min(self.least, float(lengths.min(initial=np.inf)))
        self.parts.append((agreement, lengths))

    def _shares(self) -> list[Floats]:
        """Return the posterior of each function times what it makes a label more probable than a half."""
        weights = [np.exp2((self.least - lengths) / BIT) for _, lengths in self.parts]
        total = sum(float(weight.sum()) for weight in weights)
        shares = []
        for (agreement, _), weight in zip(self.parts, weights, strict=True):
            beyond = agreement / (2 * (self.n + 1)) if isinstance(self.noise, str) else np.sign(agreement) * (0.5 - self.noise)
            shares.append(weight / total * beyond)
        return shares
