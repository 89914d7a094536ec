"""The records of a search: settings, job, outcome and checkpoint on every back end, and the arrays of the compiled search."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix, n_words
from gradus._core.checks import check_choice, check_count, check_time_limit
from gradus.errors import SettingsError
from gradus.losses import LOSSES, LossName

__all__ = [
    "LOSS_CODES", "MAX_TARGETS", "Checkpoint", "Job", "Number", "Outcome", "PackedTargets", "SearchShape", "Settings", "State",
    "generator_state", "largest_cost", "make_state",
]  # fmt: skip

Words = npt.NDArray[np.uint64]
MAX_TARGETS = 64
MAX_STATE_BYTES = 16 << 30
LOSS_CODES = {name: code for code, name in enumerate(LOSSES)}
"""The number of each loss in compiled code."""
_COUNTS = {"gates_per_target": (1, 10**6), "history": (1, 10**9), "max_iter": (1, 2**62), "n_restarts": (0, 2**62)}
"""Smallest and largest value of each setting that is a whole number."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of a search, checked on creation; the defaults are the paper's.

    Examples
    --------
    >>> Settings(loss="l1").history
    250
    >>> Settings(history=0)
    Traceback (most recent call last):
        ...
    gradus.errors.SettingsError: history is 0; it must be a whole number of at least 1.
    """

    loss: LossName = "lgh"
    """The loss to minimise, see `gradus.losses`."""
    gates_per_target: int = 21
    """Gates of the network per target."""
    history: int = 250
    """Length of the late-acceptance history."""
    max_iter: int = 256_000_000
    """Steps after which a search that has not reached zero error starts again."""
    n_restarts: int = 20
    """How many times it may start again."""
    time_limit: float | None = None
    """Seconds after which the best network so far is returned."""

    def __post_init__(self) -> None:
        check_choice("loss", self.loss, LOSSES)
        for name, (least, most) in _COUNTS.items():
            hint = " (each target needs a gate of its own)" if name == "gates_per_target" else ""
            check_count(name, getattr(self, name), least=least, most=most, hint=hint)
        check_time_limit(self.time_limit)

    def n_gates(self, n_targets: int) -> int:
        """Return the number of gates for this many targets; raise if there are too many targets for one network."""
        if n_targets > MAX_TARGETS:
            raise SettingsError(
                f"there are {n_targets} targets; one network takes at most {MAX_TARGETS}, so split them into groups."
            )
        return self.gates_per_target * n_targets


@dataclass(frozen=True, eq=False)
class Job:
    """One search: everything that the outcome depends on."""

    X: BoolMatrix
    Y: BoolMatrix
    """Shapes (n, l) and (n, m): examples, the columns of Y in curriculum order."""
    settings: Settings
    seed: int


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of a search, with targets in curriculum order."""

    sources: npt.NDArray[np.int64]
    """Shape (gates, 2): wiring of the network; the last m gates are its outputs."""
    cost: int
    """Integer cost of the network under the job's loss."""
    iterations: int
    """Steps to zero error, or all steps if it was not reached."""
    restarts: int
    """How many times the search started again."""
    live_gates: int
    """Gates that an output depends on."""
    stopped: bool
    """Whether the time limit or the callback ended the search."""

    @property
    def converged(self) -> bool:
        """Whether every example is right."""
        return self.cost == 0


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """State of a search between two steps, from which any back end can continue it."""

    step: int
    """Steps taken since the last restart."""
    iterations: int
    """Steps taken before the last restart."""
    restart: int
    """Restarts so far."""
    best_cost: int
    """Cost of the best network so far."""
    random: npt.NDArray[np.uint64]
    """State of the generator, two words."""
    sources: npt.NDArray[np.uint32]
    best: npt.NDArray[np.uint32]
    """Wirings of the current network and of the best one so far, shape (gates, 2)."""
    history: npt.NDArray[np.uint64]
    """Costs after the last L steps; that of step s is at place s modulo L."""


def generator_state(seed: int) -> npt.NDArray[np.uint64]:
    """Return the two words that the generator of a search starts from."""
    words = np.random.SeedSequence(seed).spawn(1)[0].generate_state(2, np.uint64).astype(np.uint64, copy=False)
    # The generator cannot leave the state of all zeros, which practically never occurs among 128 bits.
    return words if words.any() else np.ones(2, dtype=np.uint64)


def largest_cost(loss: LossName, n_targets: int, n_examples: int) -> int:
    """Return the cost of a network that is wrong everywhere: the public loss is the integer cost divided by it."""
    weights = n_targets * (n_targets + 1) // 2 if loss == "lw" else n_targets
    return weights * n_examples


class SearchShape(NamedTuple):
    """Sizes of a search and its loss, as 64-bit unsigned numbers."""

    inputs: np.uint64
    gates: np.uint64
    targets: np.uint64
    words: np.uint64
    """Words of a node's value."""
    examples: np.uint64
    history: np.uint64
    loss: np.uint64
    """One of `LOSS_CODES`."""


class PackedTargets(NamedTuple):
    """The packed targets, in curriculum order; the packed inputs are the first rows of `State.values`."""

    targets: Words
    mask: Words
    """The bits of a value that stand for examples."""


class State(NamedTuple):
    """State of a search, which can be interrupted and continued at any step."""

    values: Words
    """Values of all nodes, `words` words each; those of dead gates may be out of date, see Number.STALE."""
    undo: Words
    """Values before the current step."""
    sources: npt.NDArray[np.uint32]
    """The node that terminal t of gate g reads, at 2 g + t."""
    best: npt.NDArray[np.uint32]
    """Sources of the best network so far."""
    live: Words
    """Bit set of the gates that the cost depends on now."""
    reach: Words
    """For each gate, the bit set of the live gates that depend on it; valid only for the gates in `known`."""
    known: Words
    fanout: Words
    """For each gate, the bit set of the live gates that read it."""
    readers: npt.NDArray[np.uint32]
    """For each node, the number of terminals of live gates that read it, plus one if it is an output that counts now."""
    stack: npt.NDArray[np.uint32]
    history: Words
    random: Words
    numbers: Words
    """The scalars of the search, at the places that `Number` names."""


class Number(IntEnum):
    """Places in `State.numbers`."""

    STEP = 0
    SLOT = 1
    """STEP modulo the length of the history."""
    COST = 2
    BEST = 3
    """Lowest cost so far."""
    STALE = 4
    """Gates below this one have current values; from it on, only the live ones have."""
    ROOTS = 5
    """Bit set of the targets whose errors the cost depends on now."""
    TRACED = 6
    """Rows of `reach` traced one by one since it was last invalidated."""


def make_state(shape: SearchShape) -> State:
    """Allocate the arrays of a search; raise if they are too large."""
    inputs, gates, _, words, examples, history, _ = (int(size) for size in shape)
    nodes, gate_words = inputs + gates, n_words(gates)
    size = 8 * (2 * nodes * words + 2 * gates * gate_words + history)
    if size > MAX_STATE_BYTES:
        raise SettingsError(
            f"a search with {gates} gates on {examples} examples takes {size >> 30} GB; use fewer examples or fewer gates."
        )
    return State(
        values=np.zeros(nodes * words, dtype=np.uint64),
        undo=np.zeros(nodes * words, dtype=np.uint64),
        sources=np.zeros(2 * gates, dtype=np.uint32),
        best=np.zeros(2 * gates, dtype=np.uint32),
        live=np.zeros(gate_words, dtype=np.uint64),
        reach=np.zeros(gates * gate_words, dtype=np.uint64),
        known=np.zeros(gate_words, dtype=np.uint64),
        fanout=np.zeros(gates * gate_words, dtype=np.uint64),
        readers=np.zeros(nodes, dtype=np.uint32),
        stack=np.zeros(2 * gates + 2, dtype=np.uint32),
        history=np.zeros(history, dtype=np.uint64),
        random=np.zeros(2, dtype=np.uint64),
        numbers=np.zeros(len(Number), dtype=np.uint64),
    )
