"""Minimum sets of examples: the pairs collected, reduced, solved, and the answer checked against the rows."""

from __future__ import annotations

import numpy as np

from gradus._bits import WordMatrix, pack
from gradus._minfs.cover import reduce_masks
from gradus._minfs.deadline import Deadline
from gradus._minfs.deepening import Deepening, Solution
from gradus._minfs.heuristics import beam
from gradus._minfs.listing import SetVisitor, visit_sets
from gradus._minfs.pairs import PairCollector
from gradus._minfs.table import Examples, row_keys

__all__ = ["Solver"]

MASKS_KEPT = 2048
MASKS_ADDED = 1024
ROUNDS = 4  # answers that failed before more masks are held from the start
GROWTH = 4
MOST_WORDS = 1 << 24  # that the masks held may take
PAIR_WORK = 1 << 24  # pairs times words looked at, at most, to collect masks


class Solver:
    """Minimum sets of (merged) columns for one target.

    Where there are too many pairs, only the shortest masks are held: the solution of that relaxation is checked against
    the rows, and as long as it leaves pairs unseparated, their masks are added and it is solved again. A solution
    that passes is a minimum set of everything, and the first one if it was the first of the relaxation. Where that fails
    again and again, more masks are held.

    Parameters
    ----------
    examples : Examples
    deadline : Deadline
        When to stop.
    """

    def __init__(self, examples: Examples, deadline: Deadline) -> None:
        self.rows, self.classes, self.deadline = examples.rows, examples.classes, deadline
        self.n_columns = len(examples.table.column_classes)
        self.keep, self.failures = MASKS_KEPT, 0
        self.masks, self.complete = self._collector(self.keep).collect()
        self.cover = reduce_masks(self.masks, self.n_columns)

    def minimum(self) -> Solution:
        """Find the lexicographically first minimum set, or at the deadline the best set known."""
        best = tuple(range(self.n_columns)) if self.complete else self._greedy()
        lower = 0
        while True:
            solution = Deepening(self.cover, lower, best, self.deadline).run()
            lower = solution.lower_bound
            if not self._add_violated(solution.features):
                return solution
            if self.deadline.is_over():
                return Solution(best, lower, optimal=lower == len(best), first=False)

    def visit(self, size: int, visitor: SetVisitor) -> None:
        """Hand every minimum set to a visitor, given their size, until all are found or the time is over."""
        restart = True
        while restart:
            restart = False
            visitor.clear()
            cover = reduce_masks(self.masks, self.n_columns, drop_dominated=False)
            for batch in visit_sets(cover, size, visitor):
                if any(self._add_violated(columns) for columns in batch):
                    restart = True
                    break
                if self.deadline.is_over():
                    return

    def _collector(self, keep: int) -> PairCollector:
        return PairCollector(self.rows, self.classes, keep=keep, work=PAIR_WORK)

    def _greedy(self) -> tuple[int, ...]:
        """Construct a set that separates every pair of rows, adding the masks it misses as long as there is time."""
        while True:
            chosen: tuple[int, ...] = ()
            if self.cover.n_pairs:
                found = beam(self.cover.covers, self.cover.n_pairs, 1, longest=self.n_columns, deadline=Deadline())
                chosen = found if found is not None else tuple(range(len(self.cover.columns)))
            columns = (int(self.cover.columns[place]) for place in chosen)
            features = tuple(sorted([*self.cover.forced.tolist(), *columns]))
            if not self._add_violated(features):
                return features
            if self.deadline.is_over():
                return tuple(range(self.n_columns))

    def _add_violated(self, features: tuple[int, ...]) -> bool:
        """Add the masks of pairs that a set of columns does not separate; tell whether there were any."""
        if self.complete:
            return False
        selected = np.isin(np.arange(self.n_columns), features)
        words = pack(selected[:, np.newaxis], self.rows.shape[2])[0]
        _, cells = np.unique(row_keys(self.rows & words), return_inverse=True)
        missed, _ = self._collector(MASKS_ADDED).collect(cells.reshape(-1).astype(np.int64))
        if not len(missed):
            return False
        self._add(missed)
        return True

    def _add(self, masks: WordMatrix) -> None:
        """Add masks, and after some failures collect again and hold more of them."""
        self.masks = np.concatenate([self.masks, masks])
        self.failures += 1
        if self.failures % ROUNDS == 0 and self.keep * GROWTH * self.rows.shape[2] <= MOST_WORDS:
            self.keep *= GROWTH
            collected, self.complete = self._collector(self.keep).collect()
            self.masks = collected if self.complete else np.concatenate([self.masks, collected])
        self.cover = reduce_masks(self.masks, self.n_columns)
