"""Categories as bits: one for each category with enough rows, and a few for groups of categories that act alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._tables.cuts import cut_places

__all__ = ["MIN_ROWS", "CategoryBits", "choose_category_bits"]

MAX_SINGLE = 12
MIN_ROWS = 2
GROUP_CUTS = 2

Ints = npt.NDArray[np.int64]


class CategoryBits(NamedTuple):
    """Which categories become inputs.

    Attributes
    ----------
    groups : tuple of tuples of str
        The categories for which each input is true.
    others : bool
        Whether one more input says "none of the categories that have an input of their own".
    """

    groups: tuple[tuple[str, ...], ...]
    others: bool


def choose_category_bits(
    categories: Sequence[str], place: Ints, codes: Ints, *, max_single: int = MAX_SINGLE, min_rows: int = MIN_ROWS
) -> CategoryBits:
    """Choose the inputs of a column of categories."""
    # Every category with at least `min_rows` rows gets an input, the most frequent ones if there are more than `max_single`;
    # the others are rare, and together get one if they have enough rows. Where there are too many for an input each,
    # categories are also sorted by how often they go with a class, and cut into groups like numbers.
    present = place >= 0
    counts = np.bincount(place[present], minlength=len(categories))
    by_count = sorted(range(len(categories)), key=lambda i: (-counts[i], categories[i]))
    single = [i for i in by_count if counts[i] >= min_rows][:max_single]
    rare = [i for i in by_count if i not in set(single) and counts[i]]
    groups: list[tuple[str, ...]] = sorted((categories[i],) for i in single)
    if len(groups) == 2 and not rare and present.all():
        groups = groups[1:]  # of two categories, "is the second" says it all
    if not groups and rare and present.all():
        return CategoryBits((), False)
    if rare and len(single) == max_single:
        groups += _groups(categories, place[present], codes[present], counts)
    others = bool(counts[rare].sum() >= min_rows) if rare else False
    return CategoryBits(tuple(groups), others)


def _groups(categories: Sequence[str], place: Ints, codes: Ints, counts: Ints) -> list[tuple[str, ...]]:
    """Cut the categories, in the order of how often they go with the commonest class of a target, into groups."""
    found: list[tuple[str, ...]] = []
    for target in codes.T:
        known = target >= 0
        if not known.any():
            continue
        common = int(np.bincount(target[known]).argmax())
        hits = np.bincount(place[known & (target == common)], minlength=len(categories))
        rows = np.bincount(place[known], minlength=len(categories))
        # Half a row of each kind is added, so that a category with one row is not taken for a sure sign.
        share = (hits + 0.5) / (rows + 1.0)
        order = np.lexsort((np.arange(len(categories)), share))
        rank = np.empty(len(categories), dtype=np.int64)
        rank[order] = np.arange(len(categories))
        for cut in cut_places(rank[place], target[:, np.newaxis], len(categories), GROUP_CUTS):
            low = [categories[i] for i in order[:cut] if counts[i]]
            high = [categories[i] for i in order[cut:] if counts[i]]
            group = tuple(sorted(low if len(low) <= len(high) else high))
            if len(group) > 1 and group not in found:
                found.append(group)
    return found
