"""`find_curriculum`: orders targets by the number of columns that they need."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gradus._core.bits import column_names
from gradus._core.checks import OnConflict, check_choice, check_seed, check_time_limit, usable_cores
from gradus._core.run import Callback, Progress, Run
from gradus._core.wording import listed
from gradus._curriculum.coded_examples import CodedExamples, CodedInputs, code_examples, code_inputs
from gradus._curriculum.feature_sets import FeatureSet, find_feature_set
from gradus._pages.html import notebook_table
from gradus.errors import DataError

__all__ = ["Curriculum", "curriculum_of", "find_curriculum"]

WORK_FOR_THREADS = 1 << 24  # pairs times words over all targets, from which threads are worthwhile
COLUMNS_FOR_THREADS = 200
MOST_NAMED = 12  # targets that a repr names


@dataclass(frozen=True)
class Curriculum:
    """An order of targets and the feature sets it comes from; everything but `order` is indexed by target column.

    Attributes
    ----------
    order : tuple of int
        Target columns, easiest first; can be passed as it is to scikit-learn's ``ClassifierChain(order=...)``.
    feature_sets : tuple of FeatureSet
        The minimum feature set of each target.
    target_names, input_names : tuple of str
        Names of the columns of Y and X; empty if they had none.

    Examples
    --------
    >>> sets = [FeatureSet((0, 1), 2, True), FeatureSet((0,), 1, True)]
    >>> curriculum = Curriculum(order=(1, 0), feature_sets=tuple(sets))
    >>> curriculum
    Curriculum(z1 (1) → z0 (2))
    >>> curriculum.sizes, curriculum.nestedness, curriculum.hierarchy()
    ((2, 1), 1.0, {0: (), 1: (0,)})
    """

    order: tuple[int, ...]
    feature_sets: tuple[FeatureSet, ...]
    target_names: tuple[str, ...] = ()
    input_names: tuple[str, ...] = ()

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of columns that each target needs."""
        return tuple(features.size for features in self.feature_sets)

    @property
    def optimal(self) -> bool:
        """Whether every set is proven to be as small as possible."""
        return all(features.optimal for features in self.feature_sets)

    @property
    def tied_groups(self) -> tuple[tuple[int, ...], ...]:
        """Groups of two or more targets with equally large sets, whose order was drawn; smallest sets first."""
        by_size: dict[int, list[int]] = {}
        for target, size in enumerate(self.sizes):
            by_size.setdefault(size, []).append(target)
        return tuple(tuple(group) for _, group in sorted(by_size.items()) if len(group) > 1)

    @property
    def overlap(self) -> npt.NDArray[np.float64]:
        """Overlap σ of every two sets: the share of the smaller one that lies in the larger one; 1 if one is empty."""
        sets = [set(features) for features in self.feature_sets]
        return np.array([[_overlap(first, second) for second in sets] for first in sets])

    @property
    def nestedness(self) -> float:
        """Nestedness η: the mean overlap of successive targets in the order; 1 for a single target."""
        overlap = self.overlap
        successive = [overlap[a, b] for a, b in pairwise(self.order)]
        return float(np.mean(successive)) if successive else 1.0

    def hierarchy(self) -> dict[int, tuple[int, ...]]:
        """Return for each target its direct successors: the targets that may be learned right after it.

        Target b succeeds target a if a's set is a proper subset of b's and no third target's set lies properly between
        them. Targets with the same set do not succeed each other.

        Returns
        -------
        dict from int to tuple of int
        """
        sets = [frozenset(features) for features in self.feature_sets]
        return {
            target: tuple(
                later
                for later in range(len(sets))
                if sets[target] < sets[later] and not any(sets[target] < between < sets[later] for between in sets)
            )
            for target in range(len(sets))
        }

    def __repr__(self) -> str:
        steps = [f"{self._target(k)} ({self.sizes[k]})" for k in self.order]
        return f"Curriculum({listed(steps, MOST_NAMED, between=' → ')})"

    def _repr_html_(self) -> str:
        rows = []
        for k in self.order:
            features = self.feature_sets[k]
            names = [self.input_names[j] if self.input_names else f"column {j}" for j in features]
            size = str(features.size) if features.optimal else f"{features.lower_bound} to {features.size}"
            rows.append((self._target(k), size, ", ".join(names) or "none: it is constant"))
        return notebook_table("Targets, easiest first", ["target", "inputs needed", "one smallest set"], rows)

    def _target(self, k: int) -> str:
        return self.target_names[k] if self.target_names else f"z{k}"


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
    on_conflict: OnConflict = "raise",
    callback: Callback | None = None,
) -> Curriculum:
    """Order targets by the size of their minimum feature sets, easiest first.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n, l)
        Inputs: Booleans, or categories with at most 64 distinct values per column.
    Y : array-like or DataFrame of shape (n, m)
        Targets, one per column.
    seed : int
        Decides the order of targets with equally large sets, and which sets are drawn.
    choose : {"first", "random"}
        If a target has several minimum sets: take the lexicographically first one, or draw one uniformly.
    time_limit : float, optional
        Seconds for all targets together. Sets not proven minimal by then are the best found; 0 means "at once".
    on_conflict : {"raise", "ignore", "first"}
        What to do about rows with the same inputs and different targets, as for `minimum_feature_set`.
    callback : callable, optional
        Called with a `Progress` several times a second: `done` of `total` targets, the `target` being worked on, and as
        `detail` the bounds on its size ("between 6 and 12 inputs"). Returning True stops with the best sets so far.

    Returns
    -------
    Curriculum

    Raises
    ------
    ConflictError
        If rows with the same inputs differ in a target and `on_conflict` is "raise".
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
    run = Run(check_time_limit(time_limit), callback)
    return curriculum_of(X, Y, run, seed=seed, choose=choose, on_conflict=on_conflict)


def curriculum_of(
    X: Any, Y: Any, run: Run, *, seed: int = 0, choose: Literal["first", "random"] = "first", on_conflict: OnConflict = "raise"
) -> Curriculum:
    """Do the work of `find_curriculum` as a part of some other work."""
    check_choice("choose", choose, ("first", "random"))
    sequence = np.random.SeedSequence(check_seed(seed))
    targets = _read_targets(X, Y, on_conflict)
    tie_seed, *draw_seeds = sequence.spawn(len(targets) + 1)
    rngs = [np.random.default_rng(own) if choose == "random" else None for own in draw_seeds]
    feature_sets = _feature_sets(targets, rngs, run)
    ties = np.random.default_rng(tie_seed).random(len(targets))
    order = np.lexsort((ties, np.array([features.size for features in feature_sets])))
    return Curriculum(
        tuple(int(target) for target in order), tuple(feature_sets), column_names(Y, "Y") or (), column_names(X, "X") or ()
    )


def _read_targets(X: Any, Y: Any, on_conflict: OnConflict) -> list[CodedExamples]:
    """Check inputs and targets, and join each target with the inputs, which are coded only once."""
    names, values = column_names(Y, "Y"), np.asarray(Y)
    if values.ndim not in (1, 2) or (values.ndim == 2 and values.shape[1] == 0):
        raise DataError(f"Y must have one column for each target, but it has the shape {values.shape}.")
    inputs = code_inputs(X)
    examples = []
    for target, column in enumerate(values.reshape(len(values), -1).T):
        what = f"target {target}" if names is None else f"target {names[target]!r}"
        examples.append(code_examples(inputs, column, on_conflict=on_conflict, what=what))
    return examples


def _feature_sets(targets: list[CodedExamples], rngs: list[np.random.Generator | None], whole: Run) -> list[FeatureSet]:
    """Find the sets of several targets, in threads if that is faster: the kernels release the interpreter's lock."""
    run, total = whole.part(), len(targets)
    run.n_jobs = _threads(targets[0].inputs, total)
    # Each target has its share of the time, and the same grace at the end for a greedy answer.
    seconds = run.seconds_left()
    share = None if seconds is None else seconds / -(-total // run.n_jobs)
    ended: list[int] = []

    def solve(target: int) -> FeatureSet:
        part = run.part(seconds=share, describe=lambda sets: replace(sets, done=len(ended), total=total, target=target))
        part.stop(Progress(stage="sets"))
        features = find_feature_set(targets[target], part, rngs[target])
        ended.append(target)
        return features

    run.stop(Progress(stage="sets", total=total))  # workers in other processes report nothing else
    solved = run.map(solve, range(total))
    if run.stopped == "interrupted":
        raise KeyboardInterrupt
    # What is missing had not come back from a worker elsewhere at the stop.
    return [solve(target) if features is None else features for target, features in enumerate(solved)]


def _threads(inputs: CodedInputs, n_targets: int) -> int:
    """Return how many threads to use: one if a target takes milliseconds, otherwise one per core."""
    n_rows, planes, words = inputs.rows.shape
    few_pairs = n_targets * n_rows**2 * planes * words < WORK_FOR_THREADS
    few_columns = len(inputs.column_classes) < COLUMNS_FOR_THREADS
    return 1 if few_pairs and few_columns else max(1, min(n_targets, usable_cores()))
