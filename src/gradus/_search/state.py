"""The named tuples of arrays that the compiled search works on; arrays are allocated once and changed in place."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._core.bits import n_words
from gradus.errors import SettingsError

__all__ = ["Number", "PackedTargets", "SearchShape", "State", "make_state"]

Words = npt.NDArray[np.uint64]
MAX_STATE_BYTES = 16 << 30


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
    """One of `gradus._search.job.LOSS_CODES`."""


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
