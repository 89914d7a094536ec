"""Tasks: one circuit learned from one training set, identified by a hash of exactly what affects the result."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from gradus.errors import SettingsError
from gradus.lab import Settings

BASELINES = ("majority", "tree", "chain", "forest", "boosting", "mlp")
METHODS = ("network", "lessons", "curriculum", "chains", *BASELINES)
IN_ORDER = ("network", "curriculum", "chain", "chains")  # methods whose result depends on the order of the targets
METHOD_VERSIONS: dict[str, int] = {"lessons": 2}  # of methods that changed since the first rows: 2, 3, …; part of their ids
GIVEN = "given"  # the first patterns of a pool are learned from, all others are tested on
DRAWS = ("random", "leave-one-out", GIVEN)
SELF_PACED = "self-paced"  # the order of lessons, which choose the next target as they go
BY_COLUMN = "auto-column"  # from minimum feature sets like "auto", but targets with equally large sets stay in column order
TOGETHER = "auto-together"  # the same, but targets with equally large sets are taught as one, with no order among them
FOUND_ORDERS = ("auto", "auto-random", BY_COLUMN, TOGETHER, "entropy", SELF_PACED)
ORDER_WORDS = ("known", "none", *FOUND_ORDERS, "random")
MOST_NOISE = 0.5
ID_BYTES = 16
# The words of the version that made the published rows: other ones would give every task another seed.
_FIXED = {"version": 1}
_FIXED_SETTINGS = {"shrink": 0, "attempts": 1}
_IDENTITY_NAMES = {"max_iter": "max_iterations", "n_restarts": "restarts"}


class TrainingSetKey(NamedTuple):
    """What a training set depends on: tasks with equal keys learn from the same examples."""

    problem: str
    draw: str
    targets: tuple[str, ...] | None
    n_train: int
    sample: int
    noise: float = 0.0

    def seed(self, what: str) -> int:
        """Return the seed of a choice that depends on the patterns alone, not on loss, settings, repetition or noise."""
        state = hashlib.blake2b(digest_size=8)
        state.update(json.dumps([self.problem, self.draw, self.targets], separators=(",", ":")).encode())
        state.update(f"{self.n_train},{self.sample},{what}".encode())
        return int.from_bytes(state.digest(), "little")


@dataclass(frozen=True)
class Design:
    """Everything about a task but its training set and its repetition; shared by many tasks."""

    problem: str  # a problem's name; for a user's own data its name and a digest of the data, ``name#digest``
    method: str = "network"  # the word "network" for the paper's search, "lessons", or one of `BASELINES`
    settings: Settings = field(default_factory=Settings)  # settings of the search; the defaults for every other method
    order: str = "known"
    """One of `ORDER_WORDS`, "tau:T" (drawn among the orders at that Kendall distance from the known one, for each training
    set), "tau:T/N" (N of them are drawn, and training set s has number s modulo N) or "given:2,0,1"."""
    shuffle: bool = False  # whether the targets are shuffled, per training set, before an order is found
    draw: str = "random"
    """How the training set is chosen; with "leave-one-out" the sample is the number of the pattern left out."""
    targets: tuple[str, ...] | None = None  # the targets to learn; None for all of them
    noise: float = 0.0  # share of the training labels that are flipped, each at random; never a label that is tested on
    method_version: int | None = None  # version of the method; None for that of today
    tolerance: float = 0.0  # share of the examples on which a target may be wrong and still count as learned, under Lgh

    def __post_init__(self) -> None:
        check_word("method", self.method, METHODS)
        check_word("draw", self.draw, DRAWS)
        _check_order_word(self.order)
        if not isinstance(self.noise, float | int) or not 0 <= self.noise <= MOST_NOISE:
            raise SettingsError(f"noise is {self.noise!r}; it must be a share of the labels from 0 to {MOST_NOISE:g}.")
        if not isinstance(self.tolerance, float | int) or not 0 <= self.tolerance < 1:
            raise SettingsError(f"tolerance is {self.tolerance!r}; it must be a share of the examples, from 0 to below 1.")
        if self.in_stages and self.settings.loss != "lgh":
            raise SettingsError(f"a tolerance and the order {TOGETHER!r} need the loss 'lgh', not {self.settings.loss!r}.")
        # Whatever does not affect the result must not make two tasks of one.
        object.__setattr__(self, "noise", float(self.noise))
        object.__setattr__(self, "tolerance", float(self.tolerance) if self.method == "network" else 0.0)
        if self.method != "network":
            object.__setattr__(self, "settings", Settings())
            if self.method not in IN_ORDER:
                object.__setattr__(self, "order", SELF_PACED if self.method == "lessons" else "none")
        if self.shuffle and self.order not in FOUND_ORDERS:
            object.__setattr__(self, "shuffle", False)
        if self.method_version is None:
            # Lessons also find the self-paced orders of other methods.
            learner = "lessons" if self.order == SELF_PACED else self.method
            object.__setattr__(self, "method_version", METHOD_VERSIONS.get(learner, 1))

    @property
    def in_stages(self) -> bool:
        """Whether the search is of the laboratory: Lgh whose stages are groups of targets, or end with errors left."""
        return self.method == "network" and (self.order == TOGETHER or self.tolerance > 0)

    @cached_property
    def identity(self) -> dict[str, Any]:
        """What the hash is computed from, as plain values."""
        known = {**_FIXED, **{name: getattr(self, name) for name in ("problem", "method", "order", "shuffle", "draw")}}
        known["targets"] = None if self.targets is None else list(self.targets)
        if self.method == "network":
            settings = {_IDENTITY_NAMES.get(name, name): value for name, value in asdict(self.settings).items()}
            known["settings"] = {**_FIXED_SETTINGS, **settings}
        # Named only where they are not what they were for the published rows, whose ids have neither.
        known |= {"noise": self.noise} if self.noise else {}
        known |= {"tolerance": self.tolerance} if self.tolerance else {}
        known |= {"method_version": self.method_version} if self.method_version != 1 else {}
        return known

    @cached_property
    def _hash(self) -> Any:
        text = json.dumps(self.identity, sort_keys=True, separators=(",", ":"))
        return hashlib.blake2b(text.encode(), digest_size=ID_BYTES)

    def __getstate__(self) -> dict[str, Any]:
        # Hash objects cannot be pickled; they are made again where they are needed.
        return {key: value for key, value in self.__dict__.items() if not key.startswith("_")}


@dataclass(frozen=True, slots=True)
class Task:
    """One circuit or classifier to be learned from one training set."""

    design: Design
    n_train: int  # training examples
    sample: int  # number of the training set; the set depends on (problem, n_train, sample) alone
    repeat: int = 0  # number of the repetition among those with the same training set

    @property
    def id_bytes(self) -> bytes:
        """The task's id as 16 bytes."""
        state = self.design._hash.copy()
        state.update(b"%d,%d,%d" % (self.n_train, self.sample, self.repeat))
        return bytes(state.digest())

    @property
    def id(self) -> str:
        """The task's id as 32 hexadecimal digits."""
        return self.id_bytes.hex()

    @property
    def search_seed(self) -> int:
        """Seed of the search, from the task's identity."""
        return int.from_bytes(self.id_bytes[:8], "little")

    @property
    def set_key(self) -> TrainingSetKey:
        """What the task's training set depends on."""
        design = self.design
        return TrainingSetKey(design.problem, design.draw, design.targets, self.n_train, self.sample, design.noise)


def earlier_versions(task: Task) -> list[Task]:
    """Return the same task for the versions of its method before, the newest first."""
    newest = task.design.method_version or 1
    return [replace(task, design=replace(task.design, method_version=version)) for version in range(newest - 1, 0, -1)]


def in_running_order(tasks: Iterable[Task]) -> list[Task]:
    """Sort tasks so that any prefix of the list is a smaller experiment, and drop duplicates."""
    # Tasks with the same training set are neighbours, so that it is drawn once.
    once = {task.id_bytes: task for task in tasks}
    return sorted(once.values(), key=lambda task: (task.sample + task.repeat, task.design.problem, task.n_train, task.sample))


def check_word(name: str, word: Any, words: Sequence[str]) -> None:
    """Raise `SettingsError` unless a word is one of those that are possible."""
    if word not in words:
        raise SettingsError(f"{name} is {word!r}; it must be one of {', '.join(words)}.")


def _check_order_word(order: Any) -> None:
    """Raise `SettingsError` for an order that no targets can have."""
    kind, _, value = order.partition(":") if isinstance(order, str) else ("", "", "")
    with contextlib.suppress(ValueError):  # not a number
        if (
            order in ORDER_WORDS
            or (kind == "tau" and -1.0 <= float(value.partition("/")[0]) <= 1.0 and _drawn_orders(value) != 0)
            or (kind == "given" and all(part.strip().isdecimal() for part in value.split(",")))
        ):
            return
    raise SettingsError(
        f"order is {order!r}; it must be one of {', '.join(ORDER_WORDS)}, 'tau:T' or 'tau:T/N' with T from -1 to 1 and N "
        "orders drawn, or 'given:2,0,1'."
    )


def _drawn_orders(value: str) -> int | None:
    """Return the number of orders that "T/N" draws; None for "T", which draws one for each training set."""
    _, slash, count = value.partition("/")
    return int(count) if slash else None
