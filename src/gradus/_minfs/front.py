"""The calls that users make: one minimum feature set, all of them, or one drawn at random."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gradus._minfs.deadline import Deadline, check_time_limit
from gradus.errors import SettingsError

if TYPE_CHECKING:
    from gradus._minfs.table import Examples

__all__ = ["FeatureSet", "all_minimum_feature_sets", "find_feature_set", "minimum_feature_set"]


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
        Whether it is also proven to be the lexicographically first of the minimum sets. False where the time was
        over, the set was drawn at random, or the proof was given up because it would take far longer than that of the
        size.
    conflicts : int
        Pairs of rows that agree everywhere but in the target, and were ignored.

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
    X: Any, y: Any, *, time_limit: float | None = None, on_conflict: Literal["raise", "ignore"] = "raise"
) -> FeatureSet:
    """Find a smallest set of columns that determines a target: rows that agree on it agree on the target.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n, l)
        Inputs: Booleans, or categories of at most 64 distinct values a column.
    y : array-like of shape (n,)
        The target: Boolean or any other classes.
    time_limit : float, optional
        Seconds after which the best set found is returned, with the best lower bound proven.
    on_conflict : {"raise", "ignore"}
        What to do about rows with the same inputs and different targets: raise an error that names them, or leave
        such pairs out and report their number.

    Returns
    -------
    FeatureSet
        Without a time limit a minimum set, namely the lexicographically first one where its field `first` says so.

    Raises
    ------
    ConflictError
        If rows with the same inputs have different targets, unless they are ignored.
    DataError
        If the examples cannot be used: no rows, a missing value, too many distinct values in a column.

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
    from gradus._minfs.table import as_classes, label_examples, read_table

    deadline = Deadline(check_time_limit(time_limit))
    table = read_table(X)
    examples = label_examples(table, as_classes(y, table.n_rows), on_conflict=on_conflict)
    return find_feature_set(examples, deadline)


def all_minimum_feature_sets(
    X: Any, y: Any, *, limit: int | None = None, on_conflict: Literal["raise", "ignore"] = "raise"
) -> list[tuple[int, ...]]:
    """List every minimum feature set of a target, in lexicographic order.

    Parameters
    ----------
    X, y, on_conflict
        As for `minimum_feature_set`.
    limit : int, optional
        Return at most so many sets: the lexicographically first ones.

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
    from gradus._minfs.listing import AllSets, expand
    from gradus._minfs.solver import Solver
    from gradus._minfs.table import as_classes, label_examples, read_table

    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int | np.integer) or limit < 1):
        raise SettingsError(f"limit is {limit!r}; it must be a whole number of at least 1, or None for all sets.")
    table = read_table(X)
    examples = label_examples(table, as_classes(y, table.n_rows), on_conflict=on_conflict)
    solver = Solver(examples, Deadline())
    visitor = AllSets(limit)
    solver.visit(len(solver.minimum().features), visitor)
    return expand(visitor.sets, table.column_classes, limit)


def find_feature_set(examples: Examples, deadline: Deadline, rng: np.random.Generator | None = None) -> FeatureSet:
    """Find a minimum set of examples that are checked already: the first one, or with a generator a random one."""
    from gradus._minfs.listing import OneSet
    from gradus._minfs.solver import Solver

    classes = examples.table.column_classes
    solver = Solver(examples, deadline)
    solution = solver.minimum()
    features = tuple(sorted(classes[column][0] for column in solution.features))
    if rng is not None and solution.optimal:
        visitor = OneSet(rng, classes)
        solver.visit(len(features), visitor)
        features = visitor.result() if visitor.drawn is not None else features
    return FeatureSet(
        features, solution.lower_bound, solution.optimal, solution.first and rng is None, conflicts=examples.conflicts
    )
