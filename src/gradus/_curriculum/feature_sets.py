"""Minimum feature sets for users: one of them, all of them, or one drawn at random."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradus._core.checks import OnConflict, check_count, check_time_limit
from gradus._core.run import Callback, Run
from gradus._curriculum.coded_examples import CodedExamples, code_examples, code_inputs
from gradus._curriculum.solver import Solver

__all__ = ["FeatureSet", "all_minimum_feature_sets", "find_feature_set", "minimum_feature_set"]

ColumnClasses = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class FeatureSet:
    """A set of columns that determines a target on the examples given.

    Attributes
    ----------
    features : tuple of int
        Column indices in ascending order.
    lower_bound : int
        No feasible set is smaller than this.
    optimal : bool
        Whether the set is proven to be as small as possible.
    first : bool
        Whether it is also proven to be the lexicographically first of the minimum sets. False if time was up, the set
        was drawn at random, or the proof was given up because it would take far longer than that of the size.
    conflicts : int
        Pairs of rows that agree everywhere but in the target; they were not counted.

    Examples
    --------
    >>> found = FeatureSet((0, 2), lower_bound=2, optimal=True, first=True)
    >>> found.size, 2 in found, list(found)
    (2, True, [0, 2])
    """

    features: tuple[int, ...]
    lower_bound: int
    optimal: bool
    first: bool = False
    conflicts: int = 0

    @property
    def size(self) -> int:
        """Number of columns in the set."""
        return len(self.features)

    def __len__(self) -> int:
        return len(self.features)

    def __iter__(self) -> Iterator[int]:
        return iter(self.features)

    def __contains__(self, column: object) -> bool:
        return column in self.features


def minimum_feature_set(
    X: Any, y: Any, *, time_limit: float | None = None, on_conflict: OnConflict = "raise", callback: Callback | None = None
) -> FeatureSet:
    """Find a smallest set of columns that determines a target: rows that agree on these columns agree on the target.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n, l)
        Inputs: Booleans, or categories with at most 64 distinct values per column.
    y : array-like of shape (n,)
        The target: Boolean or any other classes.
    time_limit : float, optional
        Seconds after which the best set found is returned, with the best lower bound proven; 0 means "at once".
    on_conflict : {"raise", "ignore", "first"}
        What to do about rows with the same inputs and different targets: raise an error that names them, leave
        such pairs out, or trust the first such row. The result says how many pairs there are.
    callback : callable, optional
        Called with a `Progress` several times a second (its `detail` is "between 6 and 12 inputs", for example);
        returning True stops the search with the best set so far.

    Returns
    -------
    FeatureSet
        Without a time limit a minimum set, and the lexicographically first one if its attribute `first` is true.

    Raises
    ------
    ConflictError
        If rows with the same inputs have different targets and `on_conflict` is "raise".
    DataError
        If the examples cannot be used: no rows, a missing value, too many distinct values in a column.
    SettingsError
        If a setting is out of its range.

    Examples
    --------
    Four columns, of which the target needs two:

    >>> X = [[0, 0, 0, 1], [0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 0], [1, 1, 1, 1]]
    >>> found = minimum_feature_set(X, [0, 0, 0, 1, 1])
    >>> found.features, found.size, found.optimal
    ((0, 1), 2, True)
    >>> minimum_feature_set(X, [True, True, True, True, True]).features
    ()
    """
    seconds = check_time_limit(time_limit)
    examples = code_examples(code_inputs(X), y, on_conflict=on_conflict)
    whole = Run(seconds, callback)
    return find_feature_set(examples, whole.part(describe=lambda sets: replace(sets, total=1, target=0)))


def all_minimum_feature_sets(
    X: Any, y: Any, *, limit: int | None = None, on_conflict: OnConflict = "raise"
) -> list[tuple[int, ...]]:
    """List every minimum feature set of a target, in lexicographic order.

    Parameters
    ----------
    X, y, on_conflict
        As for `minimum_feature_set`.
    limit : int, optional
        Return at most this many sets: the lexicographically first ones.

    Returns
    -------
    list of tuple of int

    Examples
    --------
    >>> all_minimum_feature_sets([[0, 0, 1], [0, 1, 0], [1, 1, 1]], [0, 1, 1])
    [(1,)]
    >>> all_minimum_feature_sets([[0, 0, 0], [0, 1, 1], [1, 0, 0], [1, 1, 1]], [0, 0, 0, 1])
    [(0, 1), (0, 2)]
    """
    if limit is not None:
        limit = check_count("limit", limit, hint=", or None for all sets")
    examples = code_examples(code_inputs(X), y, on_conflict=on_conflict)
    solver = Solver(examples, Run())
    visitor = ListedSets(limit)
    solver.visit(len(solver.minimum().features), visitor)
    return expand(visitor.sets, examples.inputs.column_classes, limit)


def find_feature_set(examples: CodedExamples, run: Run, rng: np.random.Generator | None = None) -> FeatureSet:
    """Find a minimum set of coded examples: the first one or, with a generator, a random one."""
    classes = examples.inputs.column_classes
    solver = Solver(examples, run)
    solution = solver.minimum()
    features = tuple(sorted(classes[column][0] for column in solution.features))
    if rng is not None and solution.optimal:
        visitor = DrawnSet(rng, classes)
        solver.visit(len(features), visitor)
        features = visitor.result() if visitor.drawn is not None else features
    return FeatureSet(
        features, solution.lower_bound, solution.optimal, solution.first and rng is None, conflicts=examples.conflicts
    )


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
        """Take more sets: each represents the sets with equal columns in place of its own, too."""
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
