"""Beam search: finds small feasible sets fast, by many greedy constructions at once.

Every construction adds one column at a time and is scored by how many pairs it leaves uncovered. A beam of width 1 is
the greedy algorithm; a wider one also follows constructions that start worse, which is what finds a planted set among
thousands of columns. Nothing is random, so the result depends on the masks alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._core.bits import WordMatrix, tail_mask
from gradus._core.kernels.compile import compiled
from gradus._core.kernels.intrinsics import popcount
from gradus._curriculum.deadline import Deadline

__all__ = ["beam"]

SCORES_AT_ONCE = 1 << 22


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
    covers: WordMatrix, n_pairs: int, width: int, *, longest: int, deadline: Deadline, grace: bool = False
) -> tuple[int, ...] | None:
    """Construct a set of columns that covers every pair, following the best `width` constructions at once."""
    uncovered = tail_mask(n_pairs, covers.shape[1])[np.newaxis]
    chosen = np.empty((1, 0), dtype=np.int64)
    # A set is recognised by the sum of its columns' fixed pseudo-random words, whatever order it was built in.
    names = np.random.default_rng(0).integers(0, 2**63, size=len(covers), dtype=np.int64).view(np.uint64)
    for _ in range(longest):
        rows, columns, scores = _best_extensions(uncovered, chosen, covers, names, width, deadline, grace)
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
    deadline: Deadline,
    grace: bool,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Extend every construction by every column; return the best distinct extensions: construction, column and score."""
    batch = max(1, SCORES_AT_ONCE // len(covers))
    keys = names[chosen].sum(axis=1, dtype=np.uint64)
    best: list[npt.NDArray[Any]] = [np.empty(0, dtype) for dtype in (np.int32, np.uint64, np.int64, np.int64)]
    for start in range(0, len(chosen), batch):
        deadline.check(grace=grace)
        scores = np.empty((min(batch, len(chosen) - start), len(covers)), dtype=np.int32)
        for begin, end in deadline.slices(len(scores), first=1, grace=grace):
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
