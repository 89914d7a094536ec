"""Training and test sets of tasks, cached: built-in problems by name, and users' own tables, sent along with the tasks."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
import numpy.typing as npt

import gradus
from gradus import problems
from gradus.errors import SettingsError
from gradus.lab import pack
from gradus.problems import Problem
from gradus_paper.random_functions import random_functions
from gradus_paper.tasks import GIVEN, Task, TrainingSetKey

BoolMatrix = npt.NDArray[np.bool_]
WordMatrix = npt.NDArray[np.uint64]

CACHED_SETS = 32
CACHED_PROBLEMS = 32


_tables: dict[str, Problem] = {}  # users' own tables, sent to workers with the tasks, so that no worker needs the file


def own_table(
    path: str | PathLike[str], targets: Sequence[str], inputs: Sequence[str] | None = None, name: str | None = None
) -> str:
    """Read a table of zeros and ones from any file that Gradus reads and return the name of its problem for a study.

    Parameters
    ----------
    path : path-like
        The file; in a study, relative to the study's own file.
    targets : sequence of str
        Columns to learn.
    inputs : sequence of str, optional
        Columns to learn from; all others if not given.
    name : str, optional
        Name of the problem; that of the file if not given.
    """
    name = Path(path).stem if name is None else name
    if not name or "#" in name:
        raise SettingsError("the name of your data must be a text without '#'.")
    table = own_problem(name, *gradus.read_table(path).split(list(targets), inputs=inputs))
    register([table])
    return table.name


def own_problem(name: str, X: BoolMatrix, Y: BoolMatrix, input_names: Iterable[str], target_names: Iterable[str]) -> Problem:
    """Return examples as a problem whose name ends in a digest of them, so that other data have other training sets."""
    inputs, outputs = tuple(input_names), tuple(target_names)
    head = repr((name, inputs, outputs, len(X))).encode()
    bits = np.packbits(np.column_stack([X, Y]), axis=None).tobytes()
    key = f"{name}#{hashlib.blake2b(head + bits, digest_size=8).hexdigest()}"
    pool, targets = np.asarray(X, dtype=np.bool_), np.asarray(Y, dtype=np.bool_)
    return Problem(key, input_names=inputs, target_names=outputs, pool=pool, targets=targets)


def register(tables: Iterable[Problem]) -> None:
    """Make users' tables known to this process."""
    for table in tables:
        _tables.setdefault(table.name, table)


def own_tables(tasks: Iterable[Task]) -> tuple[Problem, ...]:
    """Return the users' tables that tasks need, to be sent with them."""
    keys = {task.design.problem for task in tasks} if _tables else set()
    return tuple(_tables[key] for key in sorted(keys) if key in _tables)


def name_of(key: str) -> str:
    """Return the name of a problem without the digest of its data."""
    return key.partition("#")[0]


@functools.lru_cache(maxsize=CACHED_PROBLEMS)
def problem_of(key: str) -> Problem:
    """Load the problem that a task names; its truth table is built once per process."""
    return _tables.get(key) or random_functions(key) or problems.load(key)


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Examples to learn from, and packed patterns to test on."""

    X: BoolMatrix
    Y: BoolMatrix  # only the targets of the task, in the problem's order; with the task's noise, some labels are flipped
    known_order: tuple[int, ...] | None  # the order known for these targets, as columns of `Y`
    inputs: WordMatrix
    targets: WordMatrix
    test_mask: npt.NDArray[np.uint64]  # which of the packed patterns to test on
    test_patterns: Callable[[], tuple[BoolMatrix, BoolMatrix]]  # returns the inputs and targets of the patterns to test on
    n_test: int


@functools.lru_cache(maxsize=CACHED_SETS)
def training_set(key: TrainingSetKey) -> TrainingSet:
    """Draw the training set of every task with this key."""
    problem = problem_of(key.problem)
    columns = target_columns(problem, key.targets)
    known = _known_order(problem, columns)
    if problem.is_lazy:
        if key.draw != "random":
            raise SettingsError(f'problem {problem.name!r} has too many patterns to leave each out once; use draw = "random".')
        X, Y, X_test, Y_test = problem.examples(key.n_train, key.sample)
        all_rows = pack(np.ones((len(X_test), 1), dtype=np.bool_))[0]
        words, test = (pack(X_test), pack(Y_test[:, columns]), all_rows), (X_test, Y_test[:, columns])
        return TrainingSet(X, _noisy(Y[:, columns], key), known, *words, lambda: test, len(X_test))
    rows = _training_rows(problem, key)
    inputs, all_targets = _packed(key.problem)
    tested = np.ones((problem.n_patterns, 1), dtype=np.bool_)
    tested[rows] = False
    return TrainingSet(
        X=problem.X[rows],
        Y=_noisy(problem.Y[rows][:, columns], key),
        known_order=known,
        inputs=inputs,
        targets=all_targets if key.targets is None else all_targets[columns],
        test_mask=pack(tested)[0],
        test_patterns=lambda: (problem.X[tested[:, 0]], problem.Y[tested[:, 0]][:, columns]),
        n_test=problem.n_patterns - key.n_train,
    )


def _noisy(Y: BoolMatrix, key: TrainingSetKey) -> BoolMatrix:
    """Flip labels: which ones depends on training set and rate alone, and a higher rate flips those of a lower one too."""
    if not key.noise:
        return Y
    words = np.random.PCG64(np.random.SeedSequence(key.seed("noise"))).random_raw(Y.size)
    return Y ^ (words < key.noise * 2.0**64).reshape(Y.shape)


def target_columns(problem: Problem, targets: tuple[str, ...] | None) -> list[int]:
    """Return the columns of the targets that a task names."""
    if targets is None:
        return list(range(problem.n_targets))
    unknown = [name for name in targets if name not in problem.target_names]
    if unknown:
        there = ", ".join(problem.target_names)
        raise SettingsError(f"problem {problem.name!r} has no target {unknown[0]!r}; its targets are {there}.")
    return [problem.target_names.index(name) for name in targets]


def _known_order(problem: Problem, columns: list[int]) -> tuple[int, ...] | None:
    if problem.known_order is None:
        return None
    rank = {column: place for place, column in enumerate(problem.known_order)}
    return tuple(sorted(range(len(columns)), key=lambda k: rank[columns[k]]))


def _training_rows(problem: Problem, key: TrainingSetKey) -> npt.NDArray[np.int64]:
    if key.draw == GIVEN:
        return np.arange(key.n_train)
    if key.draw == "random":
        return problem.sample(key.n_train, key.sample)[0]
    if key.n_train != problem.n_patterns - 1 or not 0 <= key.sample < problem.n_patterns:
        raise SettingsError(
            f"leaving one out of the {problem.n_patterns} patterns of {problem.name!r} trains on "
            f"{problem.n_patterns - 1}, and the sample is the pattern left out; this task says {key.n_train} and {key.sample}."
        )
    return np.delete(np.arange(problem.n_patterns), key.sample)


@functools.lru_cache(maxsize=CACHED_PROBLEMS)
def _packed(key: str) -> tuple[WordMatrix, WordMatrix]:
    problem = problem_of(key)
    return pack(problem.X), pack(problem.Y)
