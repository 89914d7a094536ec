"""The covering problem left after everything obvious is done."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gradus._bits import WordMatrix, pack, unpack
from gradus._minfs.pairs import mask_sizes, minimal_rows, subsets_of_earlier

__all__ = ["Cover", "reduce_masks"]

MAX_COMPARED = 1 << 14  # columns: beyond it, comparing each with each takes longer than it saves


@dataclass(frozen=True)
class Cover:
    """Columns that every solution has, and the masks that the others have to meet.

    `masks` and `covers` number the columns by their place in `columns`, which keeps their order: a set is
    lexicographically first here exactly if it is first among the sets of original columns.
    """

    forced: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    masks: WordMatrix  # (pairs, words), shortest first
    covers: WordMatrix  # (columns, pair words)

    @property
    def n_pairs(self) -> int:
        """Number of masks left."""
        return len(self.masks)

    def original(self, words: npt.NDArray[np.uint64]) -> tuple[int, ...]:
        """Turn a set given as bits into original columns, the forced ones included."""
        bits = unpack(words.reshape(1, -1), len(self.columns))[:, 0]
        return tuple(int(c) for c in np.sort(np.concatenate([self.forced, self.columns[bits]])))


def reduce_masks(masks: WordMatrix, n_columns: int, *, drop_dominated: bool = True) -> Cover:
    """Remove masks that contain others, force columns that are alone in a mask, drop columns that are never needed.

    Parameters
    ----------
    masks : ndarray of uint64, shape (pairs, words)
        None of them empty.
    n_columns : int
    drop_dominated : bool
        Drop a column if an earlier one covers all that it covers. The size of a minimum set and the lexicographically
        first one stay the same; other minimum sets may be lost, so this must be off to list them all.

    Returns
    -------
    Cover
    """
    forced = np.empty(0, dtype=np.int64)
    columns = np.arange(n_columns)
    while True:
        masks = minimal_rows(masks)
        alone = mask_sizes(masks) == 1
        separates = unpack(masks, len(columns)).T
        # No other mask has such a column: it would contain this one.
        forced = np.concatenate([forced, columns[separates[alone].any(axis=0)]])
        separates = separates[~alone]
        covers = pack(separates)
        needed = separates.any(axis=0)
        shrunk = False
        if drop_dominated and 0 < len(columns) <= MAX_COMPARED and len(separates):
            dominated = subsets_of_earlier(covers)
            shrunk = bool((dominated & needed).any())
            needed &= ~dominated
        columns, covers, separates = columns[needed], covers[needed], separates[:, needed]
        masks = pack(separates.T)
        if not shrunk:
            return Cover(np.sort(forced), columns, masks, np.ascontiguousarray(covers))
