"""Every minimum set of a covering problem: listed, or one drawn uniformly."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterable, Iterator
from typing import Protocol

import numpy as np

from gradus._core.bits import pack
from gradus._curriculum.branch import EXHAUSTED, FULL, HAS_RIVAL, N_FOUND, FixedSizeProblem, advance, new_state
from gradus._curriculum.deadline import Deadline
from gradus._curriculum.masks import CoveringProblem

__all__ = ["DrawnSet", "ListedSets", "SetVisitor", "expand", "visit_sets"]

ColumnClasses = tuple[tuple[int, ...], ...]


class SetVisitor(Protocol):
    """Handles sets as they are found."""

    def clear(self) -> None:
        """Forget what was seen: the search starts again."""

    def add(self, sets: list[tuple[int, ...]]) -> tuple[int, ...] | None:
        """Take more sets; return a set if only those lexicographically before it are still wanted."""


class ListedSets:
    """Collects all sets, or the lexicographically first ones."""

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self.sets: list[tuple[int, ...]] = []

    def clear(self) -> None:
        """Forget what was seen."""
        self.sets = []

    def add(self, sets: list[tuple[int, ...]]) -> tuple[int, ...] | None:
        """Take more sets; once the limit is reached, return the last of those kept."""
        self.sets += sets
        if self.limit is None or len(self.sets) < self.limit:
            return None
        self.sets = sorted(self.sets)[: self.limit]
        return self.sets[-1]


class DrawnSet:
    """Draws one set, each with the same probability, however many there are (a reservoir of one)."""

    def __init__(self, rng: np.random.Generator, column_classes: ColumnClasses) -> None:
        self.rng, self.column_classes = rng, column_classes
        self.clear()

    def clear(self) -> None:
        """Forget what was seen."""
        self.total = 0
        self.drawn: tuple[int, ...] | None = None

    def add(self, sets: list[tuple[int, ...]]) -> None:
        """Take more sets: each also stands for the sets with equal columns in place of its own."""
        for columns in sets:
            ways = math.prod(len(self.column_classes[column]) for column in columns)
            self.total += ways
            if self.rng.random() < ways / self.total:
                self.drawn = columns

    def result(self) -> tuple[int, ...]:
        """Draw among equal columns, and return original columns."""
        if self.drawn is None:
            raise ValueError("no set was seen")
        return tuple(sorted(int(self.rng.choice(self.column_classes[column])) for column in self.drawn))


def visit_sets(cover: CoveringProblem, size: int, visitor: SetVisitor, deadline: Deadline) -> Iterator[list[tuple[int, ...]]]:
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
        status = advance(problem, state, deadline)
        batch = [cover.original(words) for words in state.found[: state.numbers[N_FOUND]]]
        state.numbers[N_FOUND] = 0
        rival = visitor.add(batch)
        if rival is not None:
            state.rival[0] = pack(np.isin(cover.columns, rival)[:, np.newaxis], cover.masks.shape[1])[0]
            state.numbers[HAS_RIVAL] = 1
        yield batch
        deadline.check()


def expand(sets: Iterable[tuple[int, ...]], column_classes: ColumnClasses, limit: int | None = None) -> list[tuple[int, ...]]:
    """Replace columns by equal ones in every way; return the sets sorted, and cut at the limit."""
    # Replacing a column by a later one makes a set come later, so a heap finds the sets in lexicographic order without holding
    # many more than asked for.
    started = [tuple(column_classes[column] for column in columns) for columns in sets]
    if limit is None:
        return sorted(tuple(sorted(choice)) for classes in started for choice in itertools.product(*classes))
    smallest = (tuple(sorted(members[0] for members in classes)) for classes in started)
    heap = [(columns, i, (0,) * len(columns)) for i, columns in enumerate(smallest)]
    heapq.heapify(heap)
    seen = {(i, places) for _, i, places in heap}
    result: list[tuple[int, ...]] = []
    while heap and len(result) < limit:
        columns, i, places = heapq.heappop(heap)
        result.append(columns)
        for k, members in enumerate(started[i]):
            later = (*places[:k], places[k] + 1, *places[k + 1 :])
            if later[k] < len(members) and (i, later) not in seen:
                seen.add((i, later))
                chosen = tuple(sorted(c[p] for c, p in zip(started[i], later, strict=True)))
                heapq.heappush(heap, (chosen, i, later))
    return result
