"""A curriculum for targets: those that need few columns come first."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from gradus._bits import column_names
from gradus._machine import usable_cores
from gradus._minfs import FeatureSet
from gradus._minfs.deadline import Deadline, check_time_limit
from gradus._minfs.front import find_feature_set
from gradus.errors import DataError, SettingsError

if TYPE_CHECKING:
    from gradus._minfs.table import Examples, Table

__all__ = ["Curriculum", "find_curriculum"]

WORK_FOR_THREADS = 1 << 24  # pairs times words over all targets, from which on threads pay
COLUMNS_FOR_THREADS = 200


@dataclass(frozen=True)
class Curriculum:
    """An order of targets and where it comes from. Everything but `order` is indexed by the target's own column.

    Attributes
    ----------
    order : tuple of int
        Target columns, easiest first; it can be passed to scikit-learn's ``ClassifierChain(order=...)`` as it is.
    feature_sets : tuple of FeatureSet
        The minimum feature set of each target.

    Examples
    --------
    >>> sets = [FeatureSet((0, 1), 2, True), FeatureSet((0,), 1, True)]
    >>> curriculum = Curriculum(order=(1, 0), feature_sets=tuple(sets))
    >>> curriculum.sizes, curriculum.nestedness, curriculum.hierarchy()
    ((2, 1), 1.0, {0: (), 1: (0,)})
    """

    order: tuple[int, ...]
    feature_sets: tuple[FeatureSet, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of columns that each target needs."""
        return tuple(found.size for found in self.feature_sets)

    @property
    def optimal(self) -> bool:
        """Whether every set is proven to be as small as possible."""
        return all(found.optimal for found in self.feature_sets)

    @property
    def tied_groups(self) -> tuple[tuple[int, ...], ...]:
        """Groups of two or more targets with equally large sets, whose order was drawn; the smallest size first."""
        by_size: dict[int, list[int]] = {}
        for target, size in enumerate(self.sizes):
            by_size.setdefault(size, []).append(target)
        return tuple(tuple(group) for _, group in sorted(by_size.items()) if len(group) > 1)

    @property
    def overlap(self) -> npt.NDArray[np.float64]:
        """Overlap σ of every two sets: the part of the smaller that lies in the larger, and 1 where one is empty."""
        sets = [set(found.features) for found in self.feature_sets]
        return np.array([[_overlap(first, second) for second in sets] for first in sets])

    @property
    def nestedness(self) -> float:
        """Nestedness η: the mean overlap of targets that follow each other in the order, and 1 for a single target."""
        overlap = self.overlap
        successive = [overlap[a, b] for a, b in zip(self.order[:-1], self.order[1:], strict=True)]
        return float(np.mean(successive)) if successive else 1.0

    def hierarchy(self) -> dict[int, tuple[int, ...]]:
        """Say who may be learned after whom: for each target those whose set contains its own, without detours.

        Target b is listed under target a if a's set is a proper subset of b's and no third target's set lies properly
        between them. Targets with the same set are not listed under each other.

        Returns
        -------
        dict from int to tuple of int
        """
        sets = [frozenset(found.features) for found in self.feature_sets]
        return {
            target: tuple(
                later
                for later in range(len(sets))
                if sets[target] < sets[later] and not any(sets[target] < between < sets[later] for between in sets)
            )
            for target in range(len(sets))
        }


def _overlap(first: set[int], second: set[int]) -> float:
    """Overlap coefficient of two sets."""
    smaller = min(len(first), len(second))
    return len(first & second) / smaller if smaller else 1.0


def find_curriculum(
    X: Any,
    Y: Any,
    *,
    seed: int = 0,
    choose: Literal["first", "random"] = "first",
    time_limit: float | None = None,
    on_conflict: Literal["raise", "ignore"] = "raise",
) -> Curriculum:
    """Order targets by the size of their minimum feature sets, easiest first.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n, l)
        Inputs: Booleans, or categories of at most 64 distinct values a column.
    Y : array-like or DataFrame of shape (n, m)
        Targets, one a column.
    seed : int
        Decides the order of targets with equally large sets, and the sets when they are drawn.
    choose : {"first", "random"}
        Where a target has several minimum sets: take the lexicographically first one, or draw one uniformly.
    time_limit : float, optional
        Seconds for all targets together. Sets not proven to be minimal by then are the best found.
    on_conflict : {"raise", "ignore"}
        What to do about rows with the same inputs and different targets, as for `minimum_feature_set`.

    Returns
    -------
    Curriculum

    Raises
    ------
    ConflictError
        If rows with the same inputs differ in a target, unless that is ignored.
    DataError
        If the examples cannot be used.
    SettingsError
        If a setting is out of its range.

    Examples
    --------
    The sum of two 2-bit numbers, the higher bit given first. The lower bit needs two inputs and the higher all four:

    >>> X = [[a >> 0 & 1, a >> 1 & 1, b >> 0 & 1, b >> 1 & 1] for a in range(4) for b in range(4)]
    >>> Y = [[(a + b) >> 1 & 1, (a + b) & 1] for a in range(4) for b in range(4)]
    >>> curriculum = find_curriculum(X, Y)
    >>> curriculum.order, curriculum.sizes, curriculum.nestedness
    ((1, 0), (4, 2), 1.0)

    The order can be used for a chain of classifiers:

    >>> from sklearn.multioutput import ClassifierChain
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> chain = ClassifierChain(DecisionTreeClassifier(random_state=0), order=curriculum.order).fit(X, Y)
    >>> chain.order_.tolist()
    [1, 0]
    """
    if choose not in ("first", "random"):
        raise SettingsError(f"choose is {choose!r}; use 'first' or 'random'.")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise SettingsError(f"seed is {seed!r}; it must be a whole number of at least 0.")
    seconds = check_time_limit(time_limit)
    table, targets = _read_targets(X, Y, on_conflict)
    tie_seed, *draw_seeds = np.random.SeedSequence(int(seed)).spawn(len(targets) + 1)
    workers = _workers(table, len(targets))
    share = None if seconds is None else seconds / -(-len(targets) // workers)
    cancelled = threading.Event()

    def solve(target: int) -> FeatureSet:
        rng = np.random.default_rng(draw_seeds[target]) if choose == "random" else None
        return find_feature_set(targets[target], Deadline(share, cancelled), rng)

    try:
        found = _map(solve, len(targets), workers)
    finally:
        cancelled.set()  # after an error or Ctrl-C, threads that still run have nobody to run for
    ties = np.random.default_rng(tie_seed).random(len(targets))
    order = np.lexsort((ties, np.array([features.size for features in found])))
    return Curriculum(order=tuple(int(target) for target in order), feature_sets=tuple(found))


def _read_targets(X: Any, Y: Any, on_conflict: Literal["raise", "ignore"]) -> tuple[Table, list[Examples]]:
    """Check inputs and targets, and join each target with the inputs, which are coded once for all."""
    from gradus._minfs.table import as_classes, label_examples, read_table

    names = column_names(Y, "Y")
    values = np.asarray(Y)
    if values.ndim == 1:
        values = values[:, np.newaxis]
    if values.ndim != 2 or values.shape[1] == 0:
        raise DataError(f"Y must have one column for each target, but it has the shape {values.shape}.")
    table = read_table(X)
    examples = []
    for target in range(values.shape[1]):
        what = f"target {target}" if names is None else f"target {names[target]!r}"
        classes = as_classes(values[:, target], table.n_rows, what)
        examples.append(label_examples(table, classes, on_conflict=on_conflict, what=what))
    return table, examples


def _workers(table: Table, n_targets: int) -> int:
    """Threads that pay: one where a target takes milliseconds, else as many as there are cores."""
    n_rows, planes, words = table.rows.shape
    few_pairs = n_targets * n_rows**2 * planes * words < WORK_FOR_THREADS
    few_columns = len(table.column_classes) < COLUMNS_FOR_THREADS
    return 1 if few_pairs and few_columns else max(1, min(n_targets, usable_cores()))


def _map(solve: Callable[[int], FeatureSet], n_targets: int, workers: int) -> list[FeatureSet]:
    """Solve every target, in threads if there is more than one worker: the kernels leave the interpreter free."""
    if workers == 1:
        return [solve(target) for target in range(n_targets)]
    pool = ThreadPoolExecutor(workers)
    try:
        return list(pool.map(solve, range(n_targets)))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
