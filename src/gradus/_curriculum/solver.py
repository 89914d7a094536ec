"""The solver: collects and reduces masks, bounds the minimum from both sides, and checks the answer against the rows.

For the lower bound, branch and bound refutes one size after the other. For the upper bound, a beam search makes many greedy
constructions at once: every construction adds one column at a time and is scored by how many pairs it leaves uncovered. A
beam of width 1 is the greedy algorithm; a wider one also follows constructions that start worse, which is what finds a planted
set among thousands of columns. Whenever refuting has cost more than a wider beam would, the beam is widened. Effort is counted
in words touched, not in seconds, so that without a time limit the answer depends on the examples alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gradus._core.bits import WordMatrix, pack, tail_mask
from gradus._core.kernels.compile import compiled
from gradus._core.kernels.intrinsics import popcount
from gradus._core.run import Progress, Run, Stopped
from gradus._core.wording import counted
from gradus._curriculum.branch import (
    EXHAUSTED,
    FULL,
    HAS_RIVAL,
    N_FOUND,
    STEP_OVERHEAD,
    STEPS,
    BranchState,
    FixedSizeProblem,
    advance,
    new_state,
)
from gradus._curriculum.coded_examples import CodedExamples, group_rows
from gradus._curriculum.masks import CoveringProblem, collect_masks, reduce_masks

__all__ = ["DeepeningSearch", "SetVisitor", "Solution", "Solver", "beam"]

FIRST_WORK = 1 << 32  # words touched at most to prove that a minimum set is the lexicographically first one
MASKS_PER_STEP = 11  # masks that a step of the search intersects, roughly
SCORES_AT_ONCE = 1 << 22  # constructions times columns
BEAM_WIDTHS = (1, 16, 128, 1024, 8192, 65536)
MASKS_KEPT = 2048
MASKS_ADDED = 1024
FAILURES_BEFORE_GROWTH = 4  # answers that failed before more masks are held from the start
GROWTH = 4
MOST_WORDS = 1 << 24  # words that the masks held may take
PAIR_WORK = 1 << 24  # pairs times words looked at, at most, to collect masks


@dataclass(frozen=True)
class Solution:
    """A set of columns, a lower bound on the size of any, whether it is minimal, and whether it is the first minimum set."""

    features: tuple[int, ...]
    lower_bound: int
    optimal: bool
    first: bool


class SetVisitor(Protocol):
    """Handles sets as they are found."""

    def clear(self) -> None:
        """Forget what was seen: the search starts again."""

    def add(self, sets: list[tuple[int, ...]]) -> tuple[int, ...] | None:
        """Take more sets; return a set if only those lexicographically before it are still wanted."""


class DeepeningSearch:
    """Finds the lexicographically first minimum set of a covering problem."""

    def __init__(self, cover: CoveringProblem, lower: int, known: tuple[int, ...], run: Run) -> None:
        self.cover, self.run = cover, run
        self.size = max(lower - len(cover.forced), 1)
        self.known = known
        self.rival = self._as_bits(known)
        self.widths = list(BEAM_WIDTHS)
        self.steps = 0

    def solve(self) -> Solution:
        """Refute one size after the other until a set of the current size is found or time is up."""
        if self.cover.n_pairs == 0:
            features = tuple(int(column) for column in self.cover.forced)
            return Solution(features, len(features), optimal=True, first=True)
        if self.size == 1:
            alone = self.cover.columns_in_all()
            if len(alone):
                return Solution(self.cover.original_columns(alone[:1]), self._lower_bound(), optimal=True, first=True)
            self.size = 2
        while True:
            first = self._search_size()
            if first is None:
                return Solution(self.known, self._lower_bound(), len(self.known) == self._lower_bound(), first=False)
            if len(self.known) == self._lower_bound() and self.rival is not None:
                return Solution(self.known, len(self.known), optimal=True, first=first)
            self.size += 1

    def _lower_bound(self) -> int:
        """Return the smallest size that is not refuted, forced columns included."""
        return self.size + len(self.cover.forced)

    def _search_size(self) -> bool | None:
        """Look for sets of the current size."""
        # Return True if all were searched, False if only the proof that it is the first set was given up, None if time is up.
        cover = self.cover
        problem = FixedSizeProblem(cover.masks, cover.covers, self.size, True)
        state = new_state(problem, rival=self.rival if len(self.known) == self._lower_bound() else None, room=1)
        words = cover.masks.shape[1]
        before, steps_without_set, first = self.steps, 0, True
        self._describe()
        try:
            while advance(problem, state, self.run) != EXHAUSTED:
                self.steps = before + int(state.numbers[STEPS])
                if not state.numbers[HAS_RIVAL]:
                    steps_without_set = int(state.numbers[STEPS])
                    self._widen(state)
                elif (int(state.numbers[STEPS]) - steps_without_set) * (words + STEP_OVERHEAD) > FIRST_WORK:
                    first = False
                    break
                self.run.check()
        except Stopped:
            self._take(state)
            if not state.numbers[HAS_RIVAL] and 1 in self.widths:  # a greedy set is returned however short the time
                self._construct(1)
            return None
        self.steps = before + int(state.numbers[STEPS])
        self._take(state)
        return first

    def _take(self, state: BranchState) -> None:
        """Keep the set of the current size that a search has found, if any."""
        if state.numbers[HAS_RIVAL]:
            self.rival = state.rival[0].copy()
            self.known = self.cover.original(self.rival)

    def _widen(self, state: BranchState) -> None:
        """Widen the beam as far as the effort spent on refutation justifies; pass a set of the current size to the search."""
        n_columns, pair_words = self.cover.covers.shape
        spent = self.steps * self.cover.masks.shape[1] * MASKS_PER_STEP
        while self.widths and len(self.known) > self._lower_bound():
            longest = len(self.known) - len(self.cover.forced) - 1
            if self.widths[0] * n_columns * pair_words * longest > spent:
                return
            self._construct(self.widths.pop(0))
        if len(self.known) == self._lower_bound() and self.rival is not None:
            state.rival[0] = self.rival
            state.numbers[HAS_RIVAL] = 1

    def _construct(self, width: int) -> None:
        """Look for a smaller set with a beam; the greedy one may use the run's grace period."""
        longest = len(self.known) - len(self.cover.forced) - 1
        try:
            found = beam(self.cover.covers, self.cover.n_pairs, width, longest=longest, run=self.run, grace=width == 1)
        except Stopped:
            return
        if found is not None:
            self.known = self.cover.original_columns(found)
            self.rival = self._as_bits(self.known)
            self._describe()

    def _describe(self) -> None:
        """Note the bounds, for progress reports."""
        lower, upper = self._lower_bound(), len(self.known)
        detail = f"between {lower} and {upper} inputs" if lower < upper else counted(lower, "input")
        self.run.stop(Progress(stage="sets", detail=detail))

    def _as_bits(self, features: tuple[int, ...]) -> npt.NDArray[np.uint64] | None:
        """Turn original columns into bits of the covering problem; None if it has dropped one of them."""
        places = np.isin(self.cover.columns, features)
        kept = set(self.cover.columns[places].tolist()) | set(self.cover.forced.tolist())
        if kept != set(features):
            return None
        bits: npt.NDArray[np.uint64] = pack(places[:, np.newaxis], self.cover.masks.shape[1])[0]
        return bits


class Solver:
    """Finds minimum sets of (merged) columns for one target.

    Where there are too many pairs, only the shortest masks are held: the solution of that relaxation is checked against
    the rows, and as long as it leaves pairs unseparated, their masks are added and it is solved again. A solution
    that passes is a minimum set of the whole problem, and the first one if it was the first of the relaxation. If
    solutions keep failing, more masks are held.
    """

    def __init__(self, examples: CodedExamples, run: Run) -> None:
        self.examples, self.run = examples, run
        self.n_columns = len(examples.inputs.column_classes)
        self.keep, self.failures = MASKS_KEPT, 0
        self.words = examples.rows.shape[2]
        self.masks: WordMatrix = np.empty((0, self.words), dtype=np.uint64)
        self.complete = False

    def minimum(self) -> Solution:
        """Find the lexicographically first minimum set, or at the run the best set known."""
        best, lower = tuple(range(self.n_columns)), 0
        try:
            self.run.check(grace=True)
            self.masks, self.complete = self._collect(self.keep)
            self.cover = reduce_masks(self.masks, self.n_columns, self.run)
            # Where no pair is left out, the search itself builds a greedy set as soon as that is worthwhile.
            best = best if self.complete else self._greedy()
            while True:
                solution = DeepeningSearch(self.cover, lower, best, self.run).solve()
                lower = solution.lower_bound
                if not self._add_violated(solution.features):
                    return solution
                self.run.check()
        except Stopped:
            lower = max(lower, int(len(self.masks) > 0))
            return Solution(best, lower, optimal=lower == len(best), first=False)

    def visit(self, size: int, visitor: SetVisitor) -> None:
        """Pass every minimum set to a visitor, given their size; if time is up, the visitor is cleared."""
        try:
            restart = True
            while restart:
                restart = False
                visitor.clear()
                cover = reduce_masks(self.masks, self.n_columns, self.run, drop_dominated=False)
                for batch in visit_sets(cover, size, visitor, self.run):
                    if self._add_first_violated(batch):
                        restart = True
                        break
        except Stopped:
            visitor.clear()

    def _collect(self, keep: int, cells: npt.NDArray[np.int64] | None = None) -> tuple[WordMatrix, bool]:
        return collect_masks(self.examples, cells, keep=keep, work=PAIR_WORK, run=self.run)

    def _greedy(self) -> tuple[int, ...]:
        """Construct a set that separates every pair of rows, adding the masks it misses; all columns if time is up."""
        try:
            while True:
                chosen: tuple[int, ...] | None = ()
                if self.cover.n_pairs:
                    chosen = beam(self.cover.covers, self.cover.n_pairs, 1, longest=self.n_columns, run=self.run, grace=True)
                places = range(len(self.cover.columns)) if chosen is None else chosen
                features = self.cover.original_columns(places)
                if not self._add_violated(features):
                    return features
                self.run.check(grace=True)
        except Stopped:
            return tuple(range(self.n_columns))

    def _add_first_violated(self, sets: Sequence[tuple[int, ...]]) -> bool:
        """Add the masks that the first infeasible of several sets misses; return whether there was one."""
        for columns in () if self.complete else sets:
            self.run.check()
            if self._add_violated(columns):
                return True
        return False

    def _add_violated(self, features: tuple[int, ...]) -> bool:
        """Add the masks of pairs that a set of columns does not separate; return whether there were any."""
        # After some failures, masks are collected again, and more of them are held.
        if self.complete:
            return False
        selected = np.isin(np.arange(self.n_columns), features)
        _, cells = group_rows(self.examples.rows & pack(selected[:, np.newaxis], self.words)[0])
        missed, _ = self._collect(MASKS_ADDED, cells)
        if not len(missed):
            return False
        self.masks = np.concatenate([self.masks, missed])
        self.failures += 1
        if self.failures % FAILURES_BEFORE_GROWTH == 0 and self.keep * GROWTH * self.words <= MOST_WORDS:
            self.keep *= GROWTH
            collected, self.complete = self._collect(self.keep)
            self.masks = collected if self.complete else np.concatenate([self.masks, collected])
        self.cover = reduce_masks(self.masks, self.n_columns, self.run)
        return True


def visit_sets(cover: CoveringProblem, size: int, visitor: SetVisitor, run: Run) -> Iterator[list[tuple[int, ...]]]:
    """Pass all sets of the minimum size to a visitor; yield every batch, so that the caller may check it or stop."""
    free = size - len(cover.forced)
    if free <= 1:
        batch = [cover.original_columns(())]
        if free:  # one column is missing: any that covers the rest alone
            batch = [cover.original_columns([place]) for place in cover.columns_in_all()]
        visitor.add(batch)
        yield batch
        return
    problem = FixedSizeProblem(cover.masks, cover.covers, free, False)
    state = new_state(problem)
    status = FULL
    while status != EXHAUSTED:
        status = advance(problem, state, run)
        batch = [cover.original(words) for words in state.found[: state.numbers[N_FOUND]]]
        state.numbers[N_FOUND] = 0
        rival = visitor.add(batch)
        if rival is not None:
            state.rival[0] = pack(np.isin(cover.columns, rival)[:, np.newaxis], cover.masks.shape[1])[0]
            state.numbers[HAS_RIVAL] = 1
        yield batch
        run.check()


@compiled
def _uncovered_after(uncovered: Any, covers: Any, scores: Any) -> None:
    """Count, for each construction and each column, the pairs that would be left uncovered."""
    blocks = uncovered.shape[1]
    for row in range(uncovered.shape[0]):
        for column in range(covers.shape[0]):
            left = np.uint64(0)
            for block in range(blocks):
                left += popcount(uncovered[row, block] & ~covers[column, block])
            scores[row, column] = left


def beam(
    covers: WordMatrix, n_pairs: int, width: int, *, longest: int, run: Run, grace: bool = False
) -> tuple[int, ...] | None:
    """Construct a set of columns that covers every pair, following the best `width` constructions at once."""
    uncovered = tail_mask(n_pairs, covers.shape[1])[np.newaxis]
    chosen = np.empty((1, 0), dtype=np.int64)
    # A set is recognised by the sum of its columns' fixed pseudo-random words, whatever order it was built in.
    names = np.random.default_rng(0).integers(0, 2**63, size=len(covers), dtype=np.int64).view(np.uint64)
    for _ in range(longest):
        rows, columns, scores = _best_extensions(uncovered, chosen, covers, names, width, run, grace)
        uncovered = uncovered[rows] & ~covers[columns]
        chosen = np.column_stack([chosen[rows], columns])
        if scores[0] == 0:
            return tuple(sorted(int(column) for column in chosen[0]))
    return None


def _best_extensions(
    uncovered: WordMatrix,
    chosen: npt.NDArray[np.int64],
    covers: WordMatrix,
    names: npt.NDArray[np.uint64],
    width: int,
    run: Run,
    grace: bool,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Extend every construction by every column; return the best distinct extensions: construction, column and score."""
    batch = max(1, SCORES_AT_ONCE // len(covers))
    keys = names[chosen].sum(axis=1, dtype=np.uint64)
    best: list[npt.NDArray[Any]] = [np.empty(0, dtype) for dtype in (np.int32, np.uint64, np.int64, np.int64)]
    for start in range(0, len(chosen), batch):
        run.check(grace=grace)
        scores = np.empty((min(batch, len(chosen) - start), len(covers)), dtype=np.int32)
        for begin, end in run.slices(len(scores), first=1, grace=grace):
            _uncovered_after(uncovered[start + begin : start + end], covers, scores[begin:end])
        # A set can be reached in as many ways as it has columns, so there may be that many copies of each.
        wanted = min(scores.size, width * (chosen.shape[1] + 1))
        flat = np.argpartition(scores, wanted - 1, axis=None)[:wanted]
        rows, columns = np.divmod(flat, len(covers))
        new = (scores.reshape(-1)[flat], keys[rows + start] + names[columns], rows + start, columns)
        best = [np.concatenate(parts) for parts in zip(best, new, strict=True)]
        _, different = np.unique(best[1], return_index=True)
        kept = different[np.lexsort([part[different] for part in (best[3], best[2], best[0])])][:width]
        best = [part[kept] for part in best]
    return best[2], best[3], best[0]
