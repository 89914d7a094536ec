"""The few named structures that the compiled search works on: arrays only, made once, changed in place."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Examples", "Number", "Objective", "Shape", "State"]

Words = npt.NDArray[np.uint64]


class Shape(NamedTuple):
    """Sizes of a search, as 64-bit unsigned numbers."""

    inputs: np.uint64
    gates: np.uint64
    targets: np.uint64
    words: np.uint64
    """Words a node's value takes."""
    examples: np.uint64
    history: np.uint64


class Examples(NamedTuple):
    """The packed targets, in curriculum order; the packed inputs stand in the first rows of `State.values`."""

    targets: Words
    mask: Words
    """Which bits of a value stand for an example."""


class Objective(NamedTuple):
    """What is minimised, in exact integers.

    Target k counts w_k times its errors if they are more than it tolerates, and nothing otherwise. Its prerequisites are
    earlier targets. In the local form it counts as wrong also on the examples on which a prerequisite counts as wrong; in the
    global form it counts as wrong everywhere while a prerequisite has more errors than that one tolerates.
    """

    form: np.uint64
    """0 local without prerequisites or tolerance, 1 local chain without tolerance, 2 any local, 3 global chain without
    tolerance, 4 any global: 0, 1 and 3 are short cuts for what 2 and 4 can do too."""
    weights: Words
    needs: Words
    """Bit j of needs[k]: target j is a prerequisite of target k (j < k)."""
    tolerated: Words


class State(NamedTuple):
    """A search that can be left and taken up again at any step."""

    values: Words
    """Value of every node, `words` words each. Those of gates that do not count now may be out of date, see Number.STALE."""
    undo: Words
    """Values before the step under way."""
    sources: npt.NDArray[np.uint32]
    """Node that terminal t of gate g reads, at 2 g + t."""
    best: npt.NDArray[np.uint32]
    """Sources of the best network so far."""
    live: Words
    """Bit set of the gates that the cost depends on now."""
    reach: Words
    """For each gate, the bit set of the live gates that depend on it; right only for the gates in `known`."""
    known: Words
    fanout: Words
    """For each gate, the bit set of the live gates that read it."""
    readers: npt.NDArray[np.uint32]
    """For each node, how many terminals of live gates read it, plus one for an output that counts now."""
    stack: npt.NDArray[np.uint32]
    bad: Words
    """Room for the error words of every target."""
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
    """Lowest cost since the best network was last forgotten."""
    STALE = 4
    """Gates below this one have right values; above it only the live ones have."""
    LIVE = 5
    """Number of live gates."""
    ROOTS = 6
    """Bit set of the targets whose errors the cost depends on now."""
    TRACED = 7
    """Rows of the reach traced one by one since it was last forgotten."""
