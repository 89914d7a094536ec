"""What a task is, and the hash that names it: exactly what affects its result and nothing else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from gradus._search.settings import Settings
from gradus.errors import SettingsError

__all__ = ["BASELINES", "Design", "Task", "in_running_order"]

IDENTITY_VERSION = 1
"""Raised whenever the same task would give another result than before."""
BASELINES = ("majority", "tree", "chain", "forest", "mlp")
METHODS = ("network", *BASELINES)
DRAWS = ("random", "leave-one-out")
ORDER_WORDS = ("known", "none", "auto", "auto-random", "entropy", "random")
FOUND_ORDERS = ("auto", "auto-random", "entropy")
ID_BYTES = 16
_IDENTITY_NAMES = {"max_iter": "max_iterations", "n_restarts": "restarts"}
"""Settings that the hash knows under another name: a new one would give every task another seed."""


@dataclass(frozen=True)
class Design:
    """Everything about a task but its training set and its repetition; shared by many tasks.

    Attributes
    ----------
    problem : str
        A problem's name; for a user's own data its name and a digest of the data, ``name#digest``.
    method : str
        "network" for a search, or one of `BASELINES`.
    settings : Settings
        Settings of the search; the defaults for a baseline.
    order : str
        "known", "none" (as the columns stand), "auto", "auto-random" (a minimum set drawn among all), "entropy", "random",
        "tau:T" (drawn uniformly among the orders at that Kendall distance from the known one) or "given:2,0,1".
    shuffle : bool
        Whether the targets are shuffled, per training set, before an order is found.
    draw : {"random", "leave-one-out"}
        How a training set comes about; with "leave-one-out" the sample is the number of the pattern left out.
    targets : tuple of str, or None
        The targets to learn, where they are not all.

    Examples
    --------
    >>> Design("cpar7").order
    'known'
    """

    problem: str
    method: str = "network"
    settings: Settings = field(default_factory=Settings)
    order: str = "known"
    shuffle: bool = False
    draw: str = "random"
    targets: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise SettingsError(f"method is {self.method!r}; it must be one of {', '.join(METHODS)}.")
        if self.draw not in DRAWS:
            raise SettingsError(f"draw is {self.draw!r}; it must be one of {', '.join(DRAWS)}.")
        _check_order_word(self.order)
        # What has no say in the result must not make two tasks of one.
        if self.shuffle and self.order not in FOUND_ORDERS:
            object.__setattr__(self, "shuffle", False)
        if self.method != "network":
            object.__setattr__(self, "settings", Settings())
            if self.method != "chain":
                object.__setattr__(self, "order", "none")

    @cached_property
    def identity(self) -> dict[str, Any]:
        """What the hash is taken of, as plain values."""
        known = {
            "version": IDENTITY_VERSION,
            "problem": self.problem,
            "method": self.method,
            "order": self.order,
            "shuffle": self.shuffle,
            "draw": self.draw,
            "targets": None if self.targets is None else list(self.targets),
        }
        if self.method == "network":
            known["settings"] = {_IDENTITY_NAMES.get(name, name): value for name, value in asdict(self.settings).items()}
        return known

    @classmethod
    def from_identity(cls, identity: dict[str, Any]) -> Design:
        """Rebuild a design from its `identity`, for instance out of a file; everything is checked again.

        Examples
        --------
        >>> design = Design("add3", order="auto")
        >>> Design.from_identity(design.identity) == design
        True
        """
        values = dict(identity)
        if values.pop("version", None) != IDENTITY_VERSION:
            raise SettingsError("these tasks were made by another version of Gradus; prepare them again.")
        targets = values.get("targets")
        values["targets"] = None if targets is None else tuple(targets)
        names = {old: new for new, old in _IDENTITY_NAMES.items()}
        values["settings"] = Settings(**{names.get(name, name): one for name, one in values.pop("settings", {}).items()})
        return cls(**values)

    @cached_property
    def _hash(self) -> Any:
        text = json.dumps(self.identity, sort_keys=True, separators=(",", ":"))
        return hashlib.blake2b(text.encode(), digest_size=ID_BYTES)

    @cached_property
    def _set_hash(self) -> Any:
        """Hash of what training sets, and the random choices that belong to them, depend on."""
        text = json.dumps([self.problem, self.draw, self.targets], separators=(",", ":"))
        return hashlib.blake2b(text.encode(), digest_size=8)

    def __getstate__(self) -> dict[str, Any]:
        # Hash objects cannot be pickled and are made again where they are needed.
        return {key: value for key, value in self.__dict__.items() if not key.startswith("_")}


@dataclass(frozen=True, slots=True)
class Task:
    """One network (or baseline) to be learned from one training set.

    Attributes
    ----------
    design : Design
    n_train : int
        Training examples.
    sample : int
        Number of the training set; the set depends on (problem, n_train, sample) alone.
    repeat : int
        Number of the network among those learned from the same training set.

    Examples
    --------
    >>> one = Task(Design("cpar7"), 56, 0)
    >>> one.id == Task(Design("cpar7", shuffle=True), 56, 0).id  # shuffling says nothing where the order is known
    True
    >>> one.id == Task(Design("cpar7"), 56, 1).id
    False
    """

    design: Design
    n_train: int
    sample: int
    repeat: int = 0

    @property
    def id_bytes(self) -> bytes:
        """The task's name as 16 bytes."""
        state = self.design._hash.copy()
        state.update(b"%d,%d,%d" % (self.n_train, self.sample, self.repeat))
        return bytes(state.digest())

    @property
    def id(self) -> str:
        """The task's name as 32 hexadecimal digits."""
        return self.id_bytes.hex()

    @property
    def search_seed(self) -> int:
        """Seed of the search, from the task's identity."""
        return int.from_bytes(self.id_bytes[:8], "little")

    def set_seed(self, what: str) -> int:
        """Seed of a random choice that belongs to the training set, the same for every loss, setting and repetition."""
        state = self.design._set_hash.copy()
        state.update(f"{self.n_train},{self.sample},{what}".encode())
        return int.from_bytes(state.digest(), "little")

    def describe(self) -> str:
        """One line for people.

        Examples
        --------
        >>> Task(Design("cpar7"), 56, 3).describe()
        'cpar7, 56 examples, sample 3, lgh, known order'
        """
        design = self.design
        what = design.settings.loss if design.method == "network" else design.method
        again = f", network {self.repeat}" if self.repeat else ""
        return f"{design.problem}, {self.n_train} examples, sample {self.sample}{again}, {what}, {design.order} order"


def in_running_order(tasks: Iterable[Task]) -> list[Task]:
    """Sort tasks so that any beginning of the list is a smaller experiment, and drop repeated ones.

    Tasks with the same training set stand together, so that it is drawn once.

    Examples
    --------
    >>> tasks = [Task(Design("add3"), n, sample) for n in (8, 12) for sample in (1, 0)] * 2
    >>> [(task.sample, task.n_train) for task in in_running_order(tasks)]
    [(0, 8), (0, 12), (1, 8), (1, 12)]
    """
    once = {task.id_bytes: task for task in tasks}
    return sorted(once.values(), key=_place)


def _place(task: Task) -> tuple[int, str, int, int]:
    return task.sample + task.repeat, task.design.problem, task.n_train, task.sample


def _check_order_word(order: Any) -> None:
    if isinstance(order, str):
        if order in ORDER_WORDS:
            return
        kind, _, value = order.partition(":")
        if kind == "tau" and _is_number(value):
            return
        if kind == "given" and all(part.strip().isdecimal() for part in value.split(",")):
            return
    raise SettingsError(
        f"order is {order!r}; it must be one of {', '.join(ORDER_WORDS)}, 'tau:T' with T from -1 to 1, or 'given:2,0,1'."
    )


def _is_number(text: str) -> bool:
    try:
        return -1.0 <= float(text) <= 1.0
    except ValueError:
        return False
