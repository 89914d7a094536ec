"""Discordant pairs as bit rows: collected without ever holding all of them, then reduced to a covering problem.

A *mask* is the set of columns in which two rows of different classes differ, one bit per column. A set of columns is
feasible exactly if it meets every mask, so short masks restrict it most. `collect_masks` streams over the pairs, keeps
each mask once and, when its table is full, drops the longest masks: what it returns is then a relaxation of the
problem. `reduce_masks` applies the standard reductions and returns a `CoveringProblem`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._core.bits import WordMatrix, n_words, unpack
from gradus._core.kernels.compile import compiled, inlined
from gradus._core.kernels.intrinsics import popcount, trailing_zeros
from gradus._core.run import Run
from gradus._curriculum.coded_examples import CodedExamples

__all__ = ["CoveringProblem", "collect_masks", "minimal_masks", "reduce_masks"]

ZERO, ONE = np.uint64(0), np.uint64(1)
LOW_BITS, WORD_SHIFT = np.uint64(63), np.uint64(6)
HASH_MULTIPLIER, HASH_SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)
FINISHED, TABLE_FULL = 0, 1
MASKS_COMPARED = 256
MAX_COLUMNS_COMPARED = 1 << 14  # beyond it, comparing each column with each takes longer than it saves
Positions = npt.NDArray[np.int64]


@inlined
def _difference(rows: Any, i: Any, j: Any, mask: Any) -> Any:
    """Write the mask of rows i and j; return its size and its hash."""
    size, key = ZERO, ZERO
    for w in range(mask.shape[0]):
        word = rows[i, 0, w] ^ rows[j, 0, w]
        for plane in range(1, rows.shape[1]):
            word |= rows[i, plane, w] ^ rows[j, plane, w]
        mask[w] = word
        size += popcount(word)
        key = (key ^ word) * HASH_MULTIPLIER
        key ^= key >> HASH_SHIFT
    return size, key


@inlined
def _insert(table: Any, masks: Any, n_masks: Any, mask: Any, key: Any) -> Any:
    """Add a mask unless the table has it; return the new number of masks."""
    last = np.uint64(table.shape[0] - 1)
    slot = key & last
    while table[slot] >= 0:
        same = True
        for w in range(mask.shape[0]):
            if masks[table[slot], w] != mask[w]:
                same = False
                break
        if same:
            return n_masks
        slot = (slot + ONE) & last
    table[slot] = n_masks
    masks[n_masks, :] = mask
    return n_masks + 1


@compiled
def _stream(
    rows: Any, first: Any, stop: Any, cursor: Any, end: Any, longest: Any, table: Any, masks: Any, n_masks: Any
) -> Any:
    """Collect the masks of at most `longest` columns of rows i and first[i] <= j < stop[i], cursor[0] <= i < end."""
    mask = np.empty(rows.shape[2], dtype=np.uint64)
    limit = np.uint64(longest)
    for i in range(cursor[0], end):
        if n_masks + (stop[i] - first[i]) > masks.shape[0]:
            cursor[0] = i
            return TABLE_FULL, n_masks
        for j in range(first[i], stop[i]):
            size, key = _difference(rows, i, j, mask)
            if size <= limit and size > ZERO:
                n_masks = _insert(table, masks, n_masks, mask, key)
    cursor[0] = end
    return FINISHED, n_masks


@compiled
def _refill(table: Any, masks: Any, n_masks: Any) -> None:
    """Rebuild the hash table over the first masks, which are all different."""
    table[:] = -1
    last = np.uint64(table.shape[0] - 1)
    for i in range(n_masks):
        key = ZERO
        for w in range(masks.shape[1]):
            key = (key ^ masks[i, w]) * HASH_MULTIPLIER
            key ^= key >> HASH_SHIFT
        slot = key & last
        while table[slot] >= 0:
            slot = (slot + ONE) & last
        table[slot] = i


@compiled
def _mark_supersets(sets: Any, begin: Any, end: Any, n_compared: Any, kept: Any, n_kept: Any, marked: Any) -> Any:
    """Mark each bit row that is a superset of one of the first `n_compared` kept ones; keep the others side by side."""
    words = sets.shape[1]
    for i in range(begin, end):
        head = ~sets[i, 0]
        for k in range(min(n_kept, n_compared)):
            if kept[k, 0] & head != ZERO:
                continue
            w = 1
            while w < words and kept[k, w] & ~sets[i, w] == ZERO:
                w += 1
            if w == words:
                marked[i] = True
                break
        if not marked[i]:
            kept[n_kept] = sets[i]
            n_kept += 1
    return n_kept


@compiled
def _transpose(masks: Any, begin: Any, end: Any, covers: Any) -> None:
    """Set the bit of each mask in the row of every column that it has."""
    for i in range(begin, end):
        block, bit = i >> 6, ONE << (np.uint64(i) & LOW_BITS)
        for w in range(np.uint64(masks.shape[1])):
            bits = masks[i, w]
            while bits:
                covers[(w << WORD_SHIFT) + trailing_zeros(bits), block] |= bit
                bits &= bits - ONE


@compiled
def _renumber(masks: Any, begin: Any, end: Any, new_number: Any, renumbered: Any) -> None:
    """Copy masks with every column under its new number, without the columns that have none (-1)."""
    for i in range(begin, end):
        for w in range(np.uint64(masks.shape[1])):
            bits = masks[i, w]
            while bits:
                number = new_number[(w << WORD_SHIFT) + trailing_zeros(bits)]
                bits &= bits - ONE
                if number >= 0:
                    renumbered[i, number >> 6] |= ONE << (np.uint64(number) & LOW_BITS)


def _mask_sizes(masks: WordMatrix) -> Positions:
    """Count the columns in each mask."""
    sizes: Positions = np.bitwise_count(masks).sum(axis=1, dtype=np.int64)
    return sizes


def _supersets_of_earlier(sets: WordMatrix, n_compared: int, run: Run) -> npt.NDArray[np.bool_]:
    """Mark every bit row that is a superset of one of the first `n_compared` unmarked ones before it."""
    marked, kept, n_kept = np.zeros(len(sets), dtype=np.bool_), np.empty_like(sets), 0
    for begin, end in run.slices(len(sets), grace=True):
        n_kept = _mark_supersets(sets, begin, end, n_compared, kept, n_kept, marked)
    return marked


def minimal_masks(masks: WordMatrix, run: Run, *, compared: int = MASKS_COMPARED) -> WordMatrix:
    """Drop masks that contain another, and return the rest, shortest first, in an order fixed by the masks alone."""
    # Hardly any mask contains a long one, so each is compared with the shortest few only (`compared`), and always with all
    # masks of a single column.
    sizes = _mask_sizes(masks)
    order = np.arange(len(masks))
    for key in (*masks.T, sizes):  # as np.lexsort does, but checking the clock between two keys
        order = order[np.argsort(key[order], kind="stable")]
        run.check(grace=True)
    masks = masks[order]
    run.check(grace=True)
    masks = masks[np.append(True, (masks[1:] != masks[:-1]).any(axis=1))[: len(masks)]]
    compared = max(compared, int(np.count_nonzero(sizes == 1)))
    minimal: WordMatrix = masks[~_supersets_of_earlier(masks, compared, run)]
    return minimal


@dataclass(frozen=True)
class CoveringProblem:
    """Columns that every solution has, and the masks that the others have to meet.

    `masks` and `covers` number the columns by their place in `columns`, which keeps their order: a set is
    lexicographically first here exactly if it is first among the sets of original columns.
    """

    forced: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    masks: WordMatrix  # (pairs, words), shortest first
    covers: WordMatrix  # (columns, pair words): the pairs that each column separates

    @property
    def n_pairs(self) -> int:
        """Number of masks left."""
        return len(self.masks)

    def original(self, words: npt.NDArray[np.uint64]) -> tuple[int, ...]:
        """Turn a set given as bits into original columns, the forced ones included."""
        return self.original_columns(np.flatnonzero(unpack(words.reshape(1, -1), len(self.columns))[:, 0]))

    def original_columns(self, places: Any) -> tuple[int, ...]:
        """Turn places in `columns` into original columns, the forced ones included, in ascending order."""
        chosen = self.columns[np.asarray(places, dtype=np.int64)]
        return tuple(int(column) for column in np.sort(np.concatenate([self.forced, chosen])))

    def columns_in_all(self) -> npt.NDArray[np.intp]:
        """Places of the columns that cover every pair alone."""
        common = np.bitwise_and.reduce(self.masks, axis=0, keepdims=True)
        return np.flatnonzero(unpack(common, len(self.columns))[:, 0])


def reduce_masks(masks: WordMatrix, n_columns: int, run: Run, *, drop_dominated: bool = True) -> CoveringProblem:
    """Remove masks that contain others, force columns that are alone in a mask, drop columns that are never needed."""
    forced = np.empty(0, dtype=np.int64)
    columns = np.arange(n_columns)
    while True:
        masks = minimal_masks(masks, run)
        alone = _mask_sizes(masks) == 1
        # No other mask has such a column: it would contain the mask in which the column is alone.
        single = np.bitwise_or.reduce(masks[alone], axis=0, initial=ZERO)
        forced = np.concatenate([forced, columns[unpack(single.reshape(1, -1), len(columns))[:, 0]]])
        masks = masks[~alone]
        covers = _covers(masks, len(columns), run)
        needed: npt.NDArray[np.bool_] = np.asarray(covers.any(axis=1))
        shrunk = False
        if drop_dominated and 0 < len(columns) <= MAX_COLUMNS_COMPARED and len(masks):
            dominated = _supersets_of_earlier(~covers, len(covers), run)
            shrunk = bool((dominated & needed).any())
            needed &= ~dominated
        masks = _without_columns(masks, needed, run)
        columns, covers = columns[needed], covers[needed]
        if not shrunk:
            return CoveringProblem(np.sort(forced), columns, masks, covers)


def _covers(masks: WordMatrix, n_columns: int, run: Run) -> WordMatrix:
    """Return, for each column, the masks that contain it."""
    covers = np.zeros((n_columns, n_words(len(masks))), dtype=np.uint64)
    for begin, end in run.slices(len(masks), grace=True):
        _transpose(masks, begin, end, covers)
    return covers


def _without_columns(masks: WordMatrix, keep: npt.NDArray[np.bool_], run: Run) -> WordMatrix:
    """Return the masks over the columns that are kept, which get new numbers."""
    new_number = np.where(keep, np.cumsum(keep) - 1, -1)
    renumbered = np.zeros((len(masks), n_words(int(keep.sum()))), dtype=np.uint64)
    for begin, end in run.slices(len(masks), grace=True):
        _renumber(masks, begin, end, new_number, renumbered)
    return renumbered


def collect_masks(
    examples: CodedExamples, cells: Positions | None = None, *, keep: int, work: int, run: Run
) -> tuple[WordMatrix, bool]:
    """Collect the masks of all discordant pairs, or the shortest where there are too many."""
    rows, classes = examples.rows, examples.classes
    cells = np.zeros(len(rows), dtype=np.int64) if cells is None else cells
    order = np.lexsort((classes, cells))
    first, stop = _partners(cells[order], classes[order])
    cost = int((stop - first).sum()) * rows.shape[1] * rows.shape[2]
    if cost == 0:
        return np.empty((0, rows.shape[2]), dtype=np.uint64), True
    complete = cost <= work
    if not complete:
        share = int((stop - first).sum() * (work / cost) / np.count_nonzero(first < stop))
        # Where conflicts are ignored, one partner per class may equal the row, so there must be more than that.
        first, stop = _nearby_partners(first, stop, max(share, int(classes.max()) + 2))
    masks, all_kept = _collect_shortest(np.ascontiguousarray(rows[order]), first, stop, keep, run)
    return masks, complete and all_kept


def _collect_shortest(
    rows: npt.NDArray[np.uint64], first: Positions, stop: Positions, keep: int, run: Run
) -> tuple[WordMatrix, bool]:
    """Stream over the pairs and keep the distinct masks, or the shortest if there are more than `keep`."""
    widest = int((stop - first).max())
    capacity = min(int((stop - first).sum()), 2 * keep) + widest
    masks = np.empty((capacity, rows.shape[2]), dtype=np.uint64)
    table = np.full(2 << int(capacity - 1).bit_length(), -1, dtype=np.int64)
    cursor = np.zeros(1, dtype=np.int64)
    longest, complete, n_masks = rows.shape[2] * 64, True, 0
    for _, end in run.slices(len(rows), first=64, grace=True):
        while cursor[0] < end:
            status, n_masks = _stream(rows, first, stop, cursor, end, longest, table, masks, n_masks)
            if status == TABLE_FULL and n_masks > keep:
                longest, n_masks = _shorten(masks, n_masks, keep)
                complete = False
                run.check(grace=True)
                _refill(table, masks, n_masks)
                run.check(grace=True)
    return masks[:n_masks].copy(), complete


def _partners(cells: Positions, classes: Positions) -> tuple[Positions, Positions]:
    """Return, for rows sorted by cell and class, where the later classes of each row's cell begin and where the cell ends."""
    new_cell = np.flatnonzero(np.diff(cells)) + 1
    new_block = np.flatnonzero((np.diff(cells) != 0) | (np.diff(classes) != 0)) + 1
    rows = np.arange(len(cells))
    first = np.append(new_block, len(cells))[np.searchsorted(new_block, rows, side="right")]
    stop = np.append(new_cell, len(cells))[np.searchsorted(new_cell, rows, side="right")]
    return first, stop


def _nearby_partners(first: Positions, stop: Positions, share: int) -> tuple[Positions, Positions]:
    """Keep only this many partners of each row: those at about the same place in their classes."""
    # Rows are sorted within a class, so these are more similar than others, and similar rows have short masks.
    rows = np.arange(len(first))
    begin = np.concatenate([[0], np.flatnonzero(np.diff(first)) + 1])
    begin = begin[np.searchsorted(begin, rows, side="right") - 1]
    place = (rows - begin) / np.maximum(first - begin, 1)
    start = first + (place * (stop - first)).astype(np.int64) - share // 2
    start = np.clip(start, first, np.maximum(stop - share, first))
    return start, np.minimum(start + share, stop)


def _shorten(masks: WordMatrix, n_masks: int, keep: int) -> tuple[int, int]:
    """Drop the longest masks until at most `keep` are left; return the longest size still collected and the number left."""
    sizes = _mask_sizes(masks[:n_masks])
    up_to = np.cumsum(np.bincount(sizes))
    fitting = np.flatnonzero(up_to <= keep)
    longest = int(fitting[-1])
    kept = np.flatnonzero(sizes <= longest)
    if not len(kept):  # more of the shortest size than fit: keep some of them
        kept = np.flatnonzero(sizes == sizes.min())[:keep]
    masks[: len(kept)] = masks[kept]
    return longest, len(kept)
