"""Discordant pairs as bit rows, collected without ever holding all of them.

A *mask* is the set of columns in which two rows of different classes differ, one bit a column. A set of columns is
feasible exactly if it meets every mask, so short masks say the most. `PairCollector` streams over the pairs, keeps
each mask once and, when its table is full, lets the longest masks go: what it holds is then a relaxation of the
problem.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._bits import WordMatrix
from gradus._compile import compiled, inlined
from gradus._intrinsics import popcount

__all__ = ["PairCollector", "mask_sizes", "minimal_rows", "subsets_of_earlier"]

ZERO, ONE = np.uint64(0), np.uint64(1)
HASH_MULTIPLIER, HASH_SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)
FINISHED, TABLE_FULL = 0, 1
MASKS_COMPARED = 256
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
def _stream(rows: Any, first: Any, stop: Any, cursor: Any, longest: Any, table: Any, masks: Any, n_masks: Any) -> Any:
    """Collect the masks of at most `longest` columns of rows i and first[i] <= j < stop[i], from cursor[0] on."""
    mask = np.empty(rows.shape[2], dtype=np.uint64)
    limit = np.uint64(longest)
    for i in range(cursor[0], rows.shape[0]):
        if n_masks + (stop[i] - first[i]) > masks.shape[0]:
            cursor[0] = i
            return TABLE_FULL, n_masks
        for j in range(first[i], stop[i]):
            size, key = _difference(rows, i, j, mask)
            if size <= limit and size > ZERO:
                n_masks = _insert(table, masks, n_masks, mask, key)
    cursor[0] = rows.shape[0]
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
def _contains_an_earlier(sets: Any, n_compared: Any) -> Any:
    """Mark each bit row that is a superset of one of the first `n_compared` unmarked ones before it."""
    n, words = sets.shape
    marked = np.zeros(n, dtype=np.bool_)
    kept = np.empty_like(sets)  # side by side, so that the inner loop runs through memory
    n_kept = 0
    for i in range(n):
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
    return marked


@compiled
def mask_sizes(masks: Any) -> Any:
    """Count the columns in each mask."""
    sizes = np.zeros(masks.shape[0], dtype=np.int64)
    for i in range(masks.shape[0]):
        for w in range(masks.shape[1]):
            sizes[i] += np.int64(popcount(masks[i, w]))
    return sizes


def minimal_rows(masks: WordMatrix, compared: int = MASKS_COMPARED) -> WordMatrix:
    """Drop masks that contain another: the rest comes shortest first, in an order fixed by the masks alone.

    Long masks are hardly ever contained in others, so a mask is compared with the shortest few only (`compared`), and
    always with all those of a single column.
    """
    sizes = mask_sizes(masks)
    masks = masks[np.lexsort((*masks.T, sizes))]
    masks = masks[np.append(True, (masks[1:] != masks[:-1]).any(axis=1))[: len(masks)]]
    compared = max(compared, int(np.count_nonzero(sizes == 1)))
    minimal: WordMatrix = masks[~_contains_an_earlier(masks, compared)]
    return minimal


def subsets_of_earlier(columns: WordMatrix) -> npt.NDArray[np.bool_]:
    """Mark every bit row that is a subset of an earlier one that is not marked itself."""
    marked: npt.NDArray[np.bool_] = _contains_an_earlier(~columns, len(columns))
    return marked


class PairCollector:
    """The masks of a table's discordant pairs: all of them, or the shortest where there are too many.

    Parameters
    ----------
    rows : ndarray of uint64, shape (n, planes, words)
        The distinct rows, bit c of plane b being bit b of the code in column c.
    classes : ndarray of int, shape (n,)
        The class of each row.
    keep : int
        How many masks to hold at most.
    work : int
        How many pairs times words to look at at most; beyond it, each row meets only some of its partners.
    """

    def __init__(self, rows: npt.NDArray[np.uint64], classes: Positions, *, keep: int, work: int) -> None:
        self.rows, self.classes, self.keep, self.work = rows, classes, keep, work

    def collect(self, cells: Positions | None = None) -> tuple[WordMatrix, bool]:
        """Collect the masks of all pairs, or only of those within a cell; say whether none was left out."""
        cells = np.zeros(len(self.rows), dtype=np.int64) if cells is None else cells
        order = np.lexsort((self.classes, cells))
        first, stop = _partners(cells[order], self.classes[order])
        cost = int((stop - first).sum()) * self.rows.shape[1] * self.rows.shape[2]
        if cost == 0:
            return np.empty((0, self.rows.shape[2]), dtype=np.uint64), True
        complete = cost <= self.work
        if not complete:
            share = int((stop - first).sum() * (self.work / cost) / np.count_nonzero(first < stop))
            # One partner of another class may equal the row where conflicts are ignored, one a class: never that few.
            first, stop = _nearby_partners(first, stop, max(share, int(self.classes.max()) + 2))
        masks, all_kept = _collect_shortest(np.ascontiguousarray(self.rows[order]), first, stop, self.keep)
        return masks, complete and all_kept


def _partners(cells: Positions, classes: Positions) -> tuple[Positions, Positions]:
    """For rows sorted by cell and class: where the later classes of each row's cell begin, and where the cell ends."""
    new_cell = np.flatnonzero(np.diff(cells)) + 1
    new_block = np.flatnonzero((np.diff(cells) != 0) | (np.diff(classes) != 0)) + 1
    rows = np.arange(len(cells))
    first = np.append(new_block, len(cells))[np.searchsorted(new_block, rows, side="right")]
    stop = np.append(new_cell, len(cells))[np.searchsorted(new_cell, rows, side="right")]
    return first, stop


def _nearby_partners(first: Positions, stop: Positions, share: int) -> tuple[Positions, Positions]:
    """Leave each row only so many of its partners: those at about the same place in their classes.

    Rows come sorted within a class, so these are more alike than others, and like rows make short masks.
    """
    rows = np.arange(len(first))
    begin = np.concatenate([[0], np.flatnonzero(np.diff(first)) + 1])
    begin = begin[np.searchsorted(begin, rows, side="right") - 1]
    place = (rows - begin) / np.maximum(first - begin, 1)
    start = first + (place * (stop - first)).astype(np.int64) - share // 2
    start = np.clip(start, first, np.maximum(stop - share, first))
    return start, np.minimum(start + share, stop)


def _collect_shortest(rows: npt.NDArray[np.uint64], first: Positions, stop: Positions, keep: int) -> tuple[WordMatrix, bool]:
    """Stream over the pairs and keep the distinct masks, the shortest if they are more than `keep`."""
    widest = int((stop - first).max())
    capacity = min(int((stop - first).sum()), 2 * keep) + widest
    masks = np.empty((capacity, rows.shape[2]), dtype=np.uint64)
    table = np.full(2 << int(capacity - 1).bit_length(), -1, dtype=np.int64)
    cursor = np.zeros(1, dtype=np.int64)
    longest, complete, n_masks = rows.shape[2] * 64, True, 0
    while True:
        status, n_masks = _stream(rows, first, stop, cursor, longest, table, masks, n_masks)
        if status == FINISHED:
            return masks[:n_masks].copy(), complete
        if n_masks > keep:
            longest, n_masks = _shorten(masks, n_masks, keep)
            complete = False
            _refill(table, masks, n_masks)


def _shorten(masks: WordMatrix, n_masks: int, keep: int) -> tuple[int, int]:
    """Let the longest masks go until at most `keep` are left; return the longest size wanted and the number left."""
    sizes = mask_sizes(masks[:n_masks])
    up_to = np.cumsum(np.bincount(sizes))
    fitting = np.flatnonzero(up_to <= keep)
    longest = int(fitting[-1])
    kept = np.flatnonzero(sizes <= longest)
    if not len(kept):  # more of the shortest size than fit: some of them have to do
        kept = np.flatnonzero(sizes == sizes.min())[:keep]
    masks[: len(kept)] = masks[kept]
    return longest, len(kept)
