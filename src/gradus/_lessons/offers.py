"""Parities and counts that are shorter to describe than the labels that they explain, offered to lessons as further inputs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gradus._circuit.weighted_counts import WeightedCount
from gradus._core.bits import BoolMatrix, pack, unpack
from gradus._core.checks import Noise
from gradus._core.run import Run
from gradus._lessons.counts import find_weights, fitted_table, price_of_sum, refined_weights
from gradus._lessons.description import BIT, error_table
from gradus._lessons.further_inputs import FurtherInput
from gradus._lessons.kernel.count_walk import tally
from gradus._lessons.packed_examples import PackedExamples
from gradus._lessons.parities import find_parity

__all__ = ["find_further_inputs", "offered"]

FEWEST_COUNTED = 3
"""Counts of fewer columns are single gates, which are cheaper."""
MARGIN = 8 * BIT
"""By how much a sum and its tables must be shorter than the labels that they explain."""

Ints = npt.NDArray[np.int64]


def find_further_inputs(examples: PackedExamples, noise: Noise, seed: int, run: Run) -> list[FurtherInput]:
    """Find parities and counts that explain targets in fewer bits than constants do."""
    return _Finder(examples, noise, seed).choose(run)


class _Finder:
    """Looks for weighted sums that explain targets, and chooses those that pay for themselves."""

    def __init__(self, examples: PackedExamples, noise: Noise, seed: int) -> None:
        n = examples.n_examples
        self.X = unpack(examples.inputs, n)
        self.columns = np.ascontiguousarray(self.X.T).view(np.uint8)
        self.Y, self.known = unpack(examples.targets, n), unpack(examples.known, n)
        self.noise, self.seed = noise, seed
        self.prices = [error_table(int(known.sum()), noise) for known in self.known.T]
        ones = np.count_nonzero(self.Y & self.known, axis=0)
        minority = np.minimum(ones, np.count_nonzero(self.known, axis=0) - ones)
        self.labels = [int(prices[few]) for prices, few in zip(self.prices, minority.tolist(), strict=True)]

    def choose(self, run: Run) -> list[FurtherInput]:
        """Add the sum that saves the most, again and again, until none saves enough; each target keeps the best."""
        offers = self._offers(run)
        best: dict[int, FurtherInput] = {}
        left = [self._plain_length(target) for target in range(len(self.labels))] if offers else []
        for group in range(len(offers)):
            savings = [_saving(inputs, left) for inputs in offers]
            inputs = offers.pop(int(np.argmax(savings)))
            useful = [entry for entry in inputs if entry.length < left[entry.target]]
            # Of two that explain a target, the shorter is taken; one that explains what nothing else does must prove it.
            if max(savings) <= (0 if all(entry.target in best for entry in useful) else MARGIN):
                break
            for entry in useful:
                left[entry.target], best[entry.target] = entry.length, entry._replace(group=group)
        distinct = {(entry.group, entry.function.table): entry for entry in best.values()}
        return list(distinct.values())

    def _plain_length(self, target: int) -> int:
        """Return the length of a target's labels as a constant, or as one of the columns."""
        X, y = self._rows(target)
        errors = np.count_nonzero(X ^ y[:, np.newaxis], axis=0)
        least = int(np.minimum(errors, len(y) - errors).min())
        column = round(BIT * math.log2(2 * X.shape[1])) + int(self.prices[target][least])
        return min(self.labels[target], column)

    def _offers(self, run: Run) -> list[list[FurtherInput]]:
        """Return, for each sum that may explain something, an input for each target that it explains."""
        offers = []
        sums: dict[bytes, Ints] = {}
        for target in range(self.Y.shape[1]):
            if run.stop():
                break
            if self.labels[target] <= MARGIN:
                continue
            X, y = self._rows(target)
            parity = self._parity(X, y, target)
            if parity is not None:
                offers.append([parity])
                if parity.length == parity.table_price:  # no label is left
                    continue
            for weights in find_weights(X, y):
                if np.count_nonzero(weights) >= FEWEST_COUNTED:
                    sums.setdefault(weights.tobytes(), weights)
        for weights in [weights for weights in sums.values() if np.abs(weights).max() > 1]:
            for target in range(self.Y.shape[1]):
                entry = self._input(weights, target)
                if entry is None or 2 * entry.length > self.labels[target]:
                    continue
                for better in refined_weights(*self._rows(target), weights):
                    sums.setdefault(better.tobytes(), better)
        for weights in sums.values():
            inputs = (self._input(weights, target) for target in range(self.Y.shape[1]) if self.labels[target])
            useful = [entry for entry in inputs if entry is not None]
            if useful:
                offers.append(useful)
        return offers

    def _rows(self, target: int) -> tuple[BoolMatrix, npt.NDArray[np.bool_]]:
        known = self.known[:, target]
        if known.all():
            return self.X, self.Y[:, target]
        return self.X[known], self.Y[known, target]

    def _parity(self, X: BoolMatrix, y: npt.NDArray[np.bool_], target: int) -> FurtherInput | None:
        prices, labels = self.prices[target], self.labels[target]
        least = MARGIN + round(BIT * math.log2(X.shape[1] + 1)) + BIT
        most_errors = int(np.searchsorted(prices, labels - least)) - 1
        if most_errors < 0:
            return None
        parity = find_parity(X, y, self.seed, most_errors)
        if parity is None or len(parity.columns) < 2:
            return None
        size = len(parity.columns)
        table = tuple(bool(count & 1) ^ parity.inverted for count in range(size + 1))
        count = WeightedCount(parity.columns, (1,) * size, table)
        # Signs do not matter, and the table is one of two.
        price = price_of_sum(X.shape[1], count.weights) - BIT * size
        return FurtherInput(count, -1, price, BIT, target, BIT + int(prices[parity.errors]))

    def _input(self, weights: Ints, target: int) -> FurtherInput | None:
        """Return the function of a sum that explains a target best, if it is shorter than the labels."""
        used = np.flatnonzero(weights)
        columns, labels = self.columns[used], self.Y[:, target].view(np.uint8)
        if not self.known[:, target].all():
            known = self.known[:, target]
            columns, labels = columns[:, known], labels[known]
        cells = tally(columns, labels, weights[used])
        table, errors, length = fitted_table(cells, self.prices[target])
        if length + BIT >= self.labels[target]:
            return None
        wanted = tuple(weights[used].tolist())
        count = WeightedCount(tuple(used.tolist()), wanted, table)
        price = price_of_sum(len(weights), wanted)
        return FurtherInput(count, -1, price, length - int(self.prices[target][errors]), target, length)


def _saving(inputs: Sequence[FurtherInput], left: Sequence[int]) -> int:
    """Return what inputs of the same sum save of the lengths that are left."""
    return sum(max(left[entry.target] - entry.length, 0) for entry in inputs) - inputs[0].sum_price


def offered(examples: PackedExamples, further: Sequence[FurtherInput]) -> PackedExamples:
    """Return the examples with further inputs after the others."""
    X = unpack(examples.inputs, examples.n_examples)
    columns = np.stack([entry.function.predict(X) for entry in further], axis=1)
    return examples._replace(inputs=np.concatenate([examples.inputs, pack(columns)]), further=tuple(further))
