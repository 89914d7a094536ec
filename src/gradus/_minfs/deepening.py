"""The size of a minimum set of a reduced cover, from both sides until the bounds meet.

From below, the branch and bound refutes one size after the other. Whenever that has cost more than a wider beam
would, the beam is widened to come from above. Effort is counted in words touched, not in seconds, so that without a
deadline the answer depends on the cover alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gradus._bits import pack
from gradus._minfs.branch import EXHAUSTED, HAS_RIVAL, WORK, Search, SearchState, new_state, search
from gradus._minfs.cover import Cover
from gradus._minfs.deadline import Deadline
from gradus._minfs.heuristics import beam

__all__ = ["Deepening", "Solution", "slice_steps"]

SLICE_WORK = 1 << 25  # words touched between two looks at the clock
FIRST_WORK = 1 << 32  # words touched at most to prove that a minimum set is the lexicographically first one
STEP_OVERHEAD = 16  # words that a step of the search could touch in the time it takes beside touching words
MASKS_PER_STEP = 11  # masks that a step of the search intersects, roughly
BEAM_WIDTHS = (1, 16, 128, 1024, 8192, 65536)


@dataclass(frozen=True)
class Solution:
    """A set of columns, how small any can be, whether it is that small, and whether it is the first such set."""

    features: tuple[int, ...]
    lower_bound: int
    optimal: bool
    first: bool


def slice_steps(words: int) -> int:
    """Count the steps of a search between two looks at the clock, for masks of so many words."""
    return SLICE_WORK // (words + STEP_OVERHEAD)


def columns_in_all(cover: Cover) -> npt.NDArray[np.uint64]:
    """Bits of the columns that cover every pair alone."""
    common: npt.NDArray[np.uint64] = np.bitwise_and.reduce(cover.masks, axis=0)
    return common


class Deepening:
    """Find the lexicographically first minimum set of a cover.

    Parameters
    ----------
    cover : Cover
    lower : int
        A size that is known to be a lower bound, the forced columns included.
    known : tuple of int
        A set of original columns that covers every pair.
    deadline : Deadline
        When to stop.
    """

    def __init__(self, cover: Cover, lower: int, known: tuple[int, ...], deadline: Deadline) -> None:
        self.cover, self.deadline = cover, deadline
        self.size = max(lower - len(cover.forced), 1)
        self.known = known
        self.rival = self._as_bits(known)
        self.widths = list(BEAM_WIDTHS)
        self.steps = 0

    def run(self) -> Solution:
        """Refute one size after the other, until a set of the size at hand is found or the time is over."""
        if self.cover.n_pairs == 0:
            features = tuple(int(column) for column in self.cover.forced)
            return Solution(features, len(features), optimal=True, first=True)
        if self.size == 1:
            words = columns_in_all(self.cover)
            if words.any():
                return Solution(self.cover.original(_lowest_bit(words)), self._lower_bound(), optimal=True, first=True)
            self.size = 2
        while True:
            first = self._search_size()
            if first is None:
                return Solution(self.known, self._lower_bound(), len(self.known) == self._lower_bound(), first=False)
            if len(self.known) == self._lower_bound() and self.rival is not None:
                return Solution(self.known, len(self.known), optimal=True, first=first)
            self.size += 1

    def _lower_bound(self) -> int:
        """Sizes below this one are refuted."""
        return self.size + len(self.cover.forced)

    def _search_size(self) -> bool | None:
        """Look for sets of the present size.

        True if all were searched, False if only the proof of being first is given up, None if the time is over.
        """
        cover = self.cover
        problem = Search(cover.masks, cover.covers, self.size, True)
        state = new_state(problem, rival=self.rival if len(self.known) == self._lower_bound() else None, room=1)
        words = cover.masks.shape[1]
        before, steps_without_set = self.steps, 0
        while search(problem, state, slice_steps(words)) != EXHAUSTED:
            self.steps = before + int(state.numbers[WORK])
            if not state.numbers[HAS_RIVAL]:
                steps_without_set = int(state.numbers[WORK])
                self._widen(state)
            elif (int(state.numbers[WORK]) - steps_without_set) * (words + STEP_OVERHEAD) > FIRST_WORK:
                self._take(state)
                return False
            if self.deadline.is_over():
                self._take(state)
                return None
        self.steps = before + int(state.numbers[WORK])
        self._take(state)
        return True

    def _take(self, state: SearchState) -> None:
        """Take over the set that a search has found, which is of the present size."""
        if state.numbers[HAS_RIVAL]:
            self.rival = state.rival[0].copy()
            self.known = self.cover.original(self.rival)

    def _widen(self, state: SearchState) -> None:
        """Widen the beam as far as the effort spent on refutation justifies; tell the search of a set it seeks."""
        n_columns, pair_words = self.cover.covers.shape
        spent = self.steps * self.cover.masks.shape[1] * MASKS_PER_STEP
        while self.widths and len(self.known) > self._lower_bound():
            longest = len(self.known) - len(self.cover.forced) - 1
            if self.widths[0] * n_columns * pair_words * longest > spent:
                return
            width = self.widths.pop(0)
            deadline = self.deadline if width > 1 else Deadline()  # however short the time, there is a greedy set
            found = beam(self.cover.covers, self.cover.n_pairs, width, longest=longest, deadline=deadline)
            if found is not None:
                self.known = tuple(sorted([*self.cover.forced.tolist(), *self.cover.columns[list(found)].tolist()]))
                self.rival = self._as_bits(self.known)
        if len(self.known) == self._lower_bound() and self.rival is not None:
            state.rival[0] = self.rival
            state.numbers[HAS_RIVAL] = 1

    def _as_bits(self, features: tuple[int, ...]) -> npt.NDArray[np.uint64] | None:
        """Turn original columns into bits of the cover; None if the cover has dropped one of them."""
        places = np.isin(self.cover.columns, features)
        kept = set(self.cover.columns[places].tolist()) | set(self.cover.forced.tolist())
        if kept != set(features):
            return None
        bits: npt.NDArray[np.uint64] = pack(places[:, np.newaxis], self.cover.masks.shape[1])[0]
        return bits


def _lowest_bit(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Keep the lowest of the bits that are set."""
    lowest = np.zeros_like(words)
    place = int(np.flatnonzero(words)[0])
    bits = int(words[place])
    lowest[place] = bits & -bits
    return lowest
