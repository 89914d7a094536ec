"""Exact search for sets of a given size that meet every mask: bit-parallel branch and bound in Numba.

A node has chosen some columns and excluded others. It takes an uncovered mask with the fewest columns left and tries
each of them, excluding those already tried, so that no set is found twice. The last choice needs no branching: the
columns that complete a set are the intersection of the masks still uncovered. All of the state lives in arrays, so
that a search can be paused and resumed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._core.bits import WordMatrix, tail_mask
from gradus._core.kernels.compile import compiled, inlined
from gradus._core.kernels.intrinsics import popcount, trailing_zeros
from gradus._core.run import Run

__all__ = ["EXHAUSTED", "FULL", "BranchState", "FixedSizeProblem", "advance", "new_state"]

ZERO, ONE, WORD_BITS = np.uint64(0), np.uint64(1), np.uint64(64)
LOW_BITS, WORD_SHIFT = np.uint64(63), np.uint64(6)
EXHAUSTED, PAUSED, FULL = 0, 1, 2
SCANNED_WORDS = 4096  # how much of the uncovered masks a node looks at to find a short one
ROUND_WORK = 1 << 25  # words touched in a round: fixed, so that results do not depend on how long the compiled calls are
CALL_WORK = 1 << 25  # words touched at most in the first compiled call
STEP_OVERHEAD = 16  # the time of a step besides touching words, in words
DEPTH, STARTED, N_FOUND, STEPS, HAS_RIVAL = range(5)


class FixedSizeProblem(NamedTuple):
    """The masks and the size of the sets to find: what stays the same while a search runs."""

    masks: WordMatrix  # (pairs, words): the columns that separate a pair, shortest first
    covers: WordMatrix  # (columns, pair words): the pairs that a column separates
    size: int  # of the sets to find; at most the minimum
    keep_first: bool  # keep the lexicographically first set only, else record every one


class BranchState(NamedTuple):
    """State of a search, one row per depth."""

    uncovered: WordMatrix  # (size, pair words)
    excluded: WordMatrix  # (size, words): tried before at this depth or above, chosen, or not a column
    untried: WordMatrix  # (size, words): columns still to be tried at this depth
    chosen: WordMatrix  # (size, words): columns chosen above this depth
    completing: WordMatrix  # (1, words): scratch for the last choice
    rival: WordMatrix  # (1, words): if HAS_RIVAL, only sets lexicographically before this one are wanted
    found: WordMatrix  # (room, words): recorded sets
    numbers: npt.NDArray[np.int64]  # DEPTH, STARTED, N_FOUND, STEPS, HAS_RIVAL


def new_state(problem: FixedSizeProblem, *, rival: WordMatrix | None = None, room: int = 4096) -> BranchState:
    """Return the state at the root; with a rival, only that set and sets lexicographically before it are sought."""
    n_pairs, words = problem.masks.shape
    n_columns, pair_words = problem.covers.shape
    state = BranchState(
        uncovered=np.zeros((problem.size, pair_words), dtype=np.uint64),
        excluded=np.zeros((problem.size, words), dtype=np.uint64),
        untried=np.zeros((problem.size, words), dtype=np.uint64),
        chosen=np.zeros((problem.size, words), dtype=np.uint64),
        completing=np.zeros((1, words), dtype=np.uint64),
        rival=np.zeros((1, words), dtype=np.uint64) if rival is None else rival.reshape(1, words).copy(),
        found=np.empty((room + n_columns, words), dtype=np.uint64),
        numbers=np.array([0, 0, 0, 0, rival is not None], dtype=np.int64),
    )
    state.uncovered[0] = tail_mask(n_pairs, pair_words)
    state.excluded[0] = ~tail_mask(n_columns, words)
    return state


@inlined
def _shortest(problem: Any, uncovered: Any, excluded: Any) -> Any:
    """Find the uncovered mask with the fewest columns that are not excluded; return it and that number."""
    words = np.uint64(problem.masks.shape[1])
    best, fewest, scanned = ZERO, np.uint64(0xFFFFFFFF), ZERO
    for block in range(np.uint64(uncovered.shape[0])):
        bits = uncovered[block]
        while bits:
            pair = (block << WORD_SHIFT) + trailing_zeros(bits)
            bits &= bits - ONE
            size = ZERO
            for w in range(words):
                size += popcount(problem.masks[pair, w] & ~excluded[w])
            if size < fewest:
                best, fewest = pair, size
                if size <= ONE:
                    return best, fewest
            scanned += words
        if scanned >= np.uint64(SCANNED_WORDS):
            break
    return best, fewest


@inlined
def _packing_exceeds(problem: Any, uncovered: Any, excluded: Any, used: Any, limit: Any) -> Any:
    """Return whether more than `limit` uncovered masks are disjoint, so that each needs a column of its own."""
    words = np.uint64(problem.masks.shape[1])
    used[:] = ZERO
    packed = ZERO
    for block in range(np.uint64(uncovered.shape[0])):
        bits = uncovered[block]
        while bits:
            pair = (block << WORD_SHIFT) + trailing_zeros(bits)
            bits &= bits - ONE
            shared = ZERO
            for w in range(words):
                shared |= problem.masks[pair, w] & ~excluded[w] & used[w]
            if shared == ZERO:
                packed += ONE
                if packed > limit:
                    return True
                for w in range(words):
                    used[w] |= problem.masks[pair, w]
    return False


@inlined
def _counting_exceeds(problem: Any, uncovered: Any, excluded: Any, limit: Any) -> Any:
    """Return whether `limit` columns cover too few masks even if each covered as many as the best column does."""
    blocks = np.uint64(uncovered.shape[0])
    wanted, most = ZERO, ZERO
    for block in range(blocks):
        wanted += popcount(uncovered[block])
    for column in range(np.uint64(problem.covers.shape[0])):
        if excluded[column >> WORD_SHIFT] >> (column & LOW_BITS) & ONE:
            continue
        covered = ZERO
        for block in range(blocks):
            covered += popcount(problem.covers[column, block] & uncovered[block])
        most = max(most, covered)
        if most * limit >= wanted:
            return False
    return True


@inlined
def _cannot_beat(rival: Any, chosen: Any, excluded: Any, left: Any) -> Any:
    """Return whether no completion comes lexicographically before the rival."""
    # Of two sets of the same size, the one with the smallest column in which they differ comes first. So the best possible
    # completion adds the smallest columns that are not excluded.
    for w in range(np.uint64(chosen.shape[0])):
        hoped = chosen[w]
        free = ~excluded[w]
        while left and free:
            hoped |= free & (~free + ONE)
            free &= free - ONE
            left -= ONE
        differing = hoped ^ rival[w]
        if differing:
            return hoped & differing & (~differing + ONE) == ZERO
    return True


@inlined
def _complete(problem: Any, uncovered: Any, column: Any, excluded: Any, completing: Any) -> Any:
    """Intersect the masks that are uncovered once `column` is chosen; return whether any column lies in all of them."""
    # Masks are taken four at a time, which costs a quarter of the passes over the intersection.
    masks = problem.masks
    words = completing.shape[0]
    for w in range(words):
        completing[w] = ~excluded[w]
    blocks = np.uint64(uncovered.shape[0])
    block = ZERO
    bits = uncovered[block] & ~problem.covers[column, block]
    first = second = third = fourth = ZERO
    none_yet = True
    while True:
        taken = 0
        while taken < 4:
            while bits == ZERO and block + ONE < blocks:
                block += ONE
                bits = uncovered[block] & ~problem.covers[column, block]
            if bits == ZERO:
                break
            first, second, third = second, third, fourth
            fourth = (block << WORD_SHIFT) + trailing_zeros(bits)
            if none_yet:  # with fewer than four masks, one of them is intersected more than once
                none_yet = False
                first = second = third = fourth
            bits &= bits - ONE
            taken += 1
        if taken == 0:
            return True
        left = ZERO
        for w in range(words):
            common = completing[w] & masks[first, w] & masks[second, w] & masks[third, w] & masks[fourth, w]
            completing[w] = common
            left |= common
        if left == ZERO:
            return False


@inlined
def _record(problem: Any, state: Any, depth: Any, column: Any) -> None:
    """Record the sets that `completing` finishes: all of them, or the first if it comes before the rival."""
    numbers, completing = state.numbers, state.completing[0]
    for w in range(np.uint64(completing.shape[0])):
        bits = completing[w]
        while bits:
            lowest = bits & (~bits + ONE)
            bits &= bits - ONE
            row = np.uint64(numbers[N_FOUND])
            state.found[row, :] = state.chosen[depth, :]
            state.found[row, column >> WORD_SHIFT] |= ONE << (column & LOW_BITS)
            state.found[row, w] |= lowest
            if not problem.keep_first:
                numbers[N_FOUND] += 1
                continue
            if numbers[HAS_RIVAL] == 0 or not _cannot_beat(state.rival[0], state.found[row], state.found[row], ZERO):
                state.rival[0, :] = state.found[row]
                numbers[HAS_RIVAL] = 1
            return


@inlined
def _open_node(problem: Any, state: Any, depth: Any) -> None:
    """Choose the columns to try at a new node: those of a short mask, or none if a bound rules the node out."""
    left = np.uint64(problem.size) - depth
    uncovered, excluded, untried = state.uncovered[depth], state.excluded[depth], state.untried[depth]
    untried[:] = ZERO
    if state.numbers[HAS_RIVAL] and _cannot_beat(state.rival[0], state.chosen[depth], excluded, left):
        return
    pair, fewest = _shortest(problem, uncovered, excluded)
    n_columns = np.uint64(problem.covers.shape[0])
    # The bound can only help if left + 1 disjoint masks of at least this many columns each would fit at all.
    if (left + ONE) * fewest <= n_columns and _packing_exceeds(problem, uncovered, excluded, state.completing[0], left):
        return
    if left > np.uint64(2) and _counting_exceeds(problem, uncovered, excluded, left):
        return
    for w in range(np.uint64(untried.shape[0])):
        untried[w] = problem.masks[pair, w] & ~excluded[w]


@inlined
def _next_untried(untried: Any) -> Any:
    """Take the smallest untried column; return the number of bits of all words if there is none."""
    for w in range(np.uint64(untried.shape[0])):
        if untried[w]:
            column = (w << WORD_SHIFT) + trailing_zeros(untried[w])
            untried[w] &= untried[w] - ONE
            return column
    return np.uint64(untried.shape[0]) << WORD_SHIFT


@inlined
def _descend(problem: Any, state: Any, depth: Any, column: Any) -> None:
    """Choose a column and go one level down; neither it nor those tried before are considered again."""
    below = depth + ONE
    for block in range(np.uint64(state.uncovered.shape[1])):
        state.uncovered[below, block] = state.uncovered[depth, block] & ~problem.covers[column, block]
    for w in range(np.uint64(state.excluded.shape[1])):
        state.excluded[below, w] = state.excluded[depth, w]
        state.chosen[below, w] = state.chosen[depth, w]
    state.chosen[below, column >> WORD_SHIFT] |= ONE << (column & LOW_BITS)


@compiled
def _search(problem: Any, state: Any, steps: Any) -> Any:
    """Take at most `steps` steps; return `EXHAUSTED`, `PAUSED` or, if there is no room for more sets, `FULL`."""
    numbers = state.numbers
    last = np.uint64(problem.size - 2)
    none = np.uint64(state.untried.shape[1]) << WORD_SHIFT
    room = state.found.shape[0] - problem.covers.shape[0]
    until = numbers[STEPS] + steps
    depth = np.uint64(numbers[DEPTH])
    if numbers[STARTED] == 0:
        numbers[STARTED] = 1
        _open_node(problem, state, depth)
    while numbers[STEPS] < until:
        if numbers[N_FOUND] > room:
            numbers[DEPTH] = depth
            return FULL
        numbers[STEPS] += 1
        column = _next_untried(state.untried[depth])
        if column == none:
            if depth == ZERO:
                return EXHAUSTED
            depth -= ONE
            continue
        state.excluded[depth, column >> WORD_SHIFT] |= ONE << (column & LOW_BITS)
        if depth == last:
            if _complete(problem, state.uncovered[depth], column, state.excluded[depth], state.completing[0]):
                _record(problem, state, depth, column)
        else:
            _descend(problem, state, depth, column)
            depth += ONE
            _open_node(problem, state, depth)
    numbers[DEPTH] = depth
    return PAUSED


def advance(problem: FixedSizeProblem, state: BranchState, run: Run) -> int:
    """Search for one more round, in compiled calls of about 40 ms; the sets must have at least 2 columns."""
    steps = ROUND_WORK // (problem.masks.shape[1] + STEP_OVERHEAD)
    costliest_step = problem.masks.size + problem.covers.size + STEP_OVERHEAD
    for begin, end in run.slices(steps, first=CALL_WORK // costliest_step):
        status: int = _search(problem, state, end - begin)
        if status != PAUSED:
            return status
    return PAUSED
