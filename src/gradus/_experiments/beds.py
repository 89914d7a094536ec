"""Training and test sets of tasks: built-in problems by name, users' tables carried along, each drawn once and kept."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gradus import problems
from gradus._bits import BoolMatrix, WordMatrix, pack, tail_mask
from gradus._experiments.tasks import Task
from gradus.errors import SettingsError
from gradus.problems import Problem

__all__ = ["OwnTable", "TrainingSet", "name_of", "own_tables", "problem_of", "register", "training_set"]

SETS_KEPT = 32
PROBLEMS_KEPT = 32


@dataclass(frozen=True)
class OwnTable:
    """A user's own examples: they travel to the workers with the tasks, so that no worker has to find a file.

    Examples
    --------
    >>> table = OwnTable.of("mine", np.eye(3, dtype=bool), np.eye(3, dtype=bool)[:, :1], ("a", "b", "c"), ("t",))
    >>> table.key.partition("#")[0], table.problem().n_patterns
    ('mine', 3)
    """

    name: str
    input_names: tuple[str, ...]
    target_names: tuple[str, ...]
    n_rows: int
    bits: bytes

    @classmethod
    def of(cls, name: str, X: BoolMatrix, Y: BoolMatrix, input_names: Iterable[str], target_names: Iterable[str]) -> OwnTable:
        """Pack two matrices with their names."""
        bits = np.packbits(np.column_stack([X, Y]), axis=None).tobytes()
        return cls(name, tuple(input_names), tuple(target_names), len(X), bits)

    @property
    def key(self) -> str:
        """The table's name with a digest of all it holds: the `problem` of its tasks."""
        head = repr((self.name, self.input_names, self.target_names, self.n_rows)).encode()
        return f"{self.name}#{hashlib.blake2b(head + self.bits, digest_size=8).hexdigest()}"

    def problem(self) -> Problem:
        """Make a problem of the table; its name is the key, so that other data draw other training sets."""
        columns = len(self.input_names) + len(self.target_names)
        bits = np.unpackbits(np.frombuffer(self.bits, dtype=np.uint8), count=self.n_rows * columns)
        table = bits.reshape(self.n_rows, columns).view(np.bool_)
        X, Y = table[:, : len(self.input_names)], table[:, len(self.input_names) :]
        return Problem(self.key, input_names=self.input_names, target_names=self.target_names, pool=X, targets=Y)


_tables: dict[str, OwnTable] = {}


def register(tables: Iterable[OwnTable]) -> None:
    """Make users' tables known to this process."""
    for table in tables:
        _tables.setdefault(table.key, table)


def own_tables(tasks: Iterable[Task]) -> tuple[OwnTable, ...]:
    """Find the users' tables that tasks need, to be sent along with them."""
    keys = {task.design.problem for task in tasks} if _tables else set()
    return tuple(_tables[key] for key in sorted(keys) if key in _tables)


def name_of(key: str) -> str:
    """Return a problem's name as people know it.

    Examples
    --------
    >>> name_of("add3"), name_of("mine#0123456789abcdef")
    ('add3', 'mine')
    """
    return key.partition("#")[0]


@functools.lru_cache(maxsize=PROBLEMS_KEPT)
def problem_of(key: str) -> Problem:
    """Load the problem that a task names; its truth table is built once in a process."""
    return _tables[key].problem() if key in _tables else problems.load(key)


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """What to learn from, and packed patterns to test on."""

    X: BoolMatrix
    Y: BoolMatrix
    """Only the targets of the task, in the problem's order."""
    known_order: tuple[int, ...] | None
    """The order known for these targets, as columns of `Y`."""
    inputs: WordMatrix
    targets: WordMatrix
    test_mask: npt.NDArray[np.uint64]
    n_test: int


def training_set(task: Task) -> TrainingSet:
    """Draw the training set of a task; it depends on (problem, n_train, sample) alone."""
    design = task.design
    return _training_set(design.problem, design.draw, design.targets, task.n_train, task.sample)


@functools.lru_cache(maxsize=SETS_KEPT)
def _training_set(key: str, draw: str, targets: tuple[str, ...] | None, n_train: int, sample: int) -> TrainingSet:
    problem = problem_of(key)
    columns = target_columns(problem, targets)
    known = _known_order(problem, columns)
    if problem.is_lazy:
        if draw != "random":
            raise SettingsError(f'problem {problem.name!r} has too many patterns to leave each out once; use draw = "random".')
        X, Y, X_test, Y_test = problem.examples(n_train, sample)
        words = pack(X_test), pack(Y_test[:, columns])
        return TrainingSet(X, Y[:, columns], known, *words, tail_mask(len(X_test)), len(X_test))
    rows = _training_rows(problem, draw, n_train, sample)
    inputs, all_targets = _packed(key)
    tested = np.ones((problem.n_patterns, 1), dtype=np.bool_)
    tested[rows] = False
    return TrainingSet(
        X=problem.X[rows],
        Y=problem.Y[rows][:, columns],
        known_order=known,
        inputs=inputs,
        targets=all_targets if targets is None else all_targets[columns],
        test_mask=pack(tested)[0],
        n_test=problem.n_patterns - n_train,
    )


def target_columns(problem: Problem, targets: tuple[str, ...] | None) -> list[int]:
    """Columns of the targets that a task names."""
    if targets is None:
        return list(range(problem.n_targets))
    unknown = [name for name in targets if name not in problem.target_names]
    if unknown:
        raise SettingsError(
            f"problem {problem.name!r} has no target {unknown[0]!r}; its targets are {', '.join(problem.target_names)}."
        )
    return [problem.target_names.index(name) for name in targets]


def _known_order(problem: Problem, columns: list[int]) -> tuple[int, ...] | None:
    if problem.known_order is None:
        return None
    rank = {column: place for place, column in enumerate(problem.known_order)}
    return tuple(sorted(range(len(columns)), key=lambda k: rank[columns[k]]))


def _training_rows(problem: Problem, draw: str, n_train: int, sample: int) -> npt.NDArray[np.int64]:
    if draw == "random":
        return problem.sample(n_train, sample)[0]
    if n_train != problem.n_patterns - 1 or not 0 <= sample < problem.n_patterns:
        raise SettingsError(
            f"leaving one out of the {problem.n_patterns} patterns of {problem.name!r} trains on "
            f"{problem.n_patterns - 1}, and the sample is the pattern left out; this task says {n_train} and {sample}."
        )
    return np.delete(np.arange(problem.n_patterns), sample)


@functools.lru_cache(maxsize=PROBLEMS_KEPT)
def _packed(key: str) -> tuple[WordMatrix, WordMatrix]:
    problem = problem_of(key)
    return pack(problem.X), pack(problem.Y)
