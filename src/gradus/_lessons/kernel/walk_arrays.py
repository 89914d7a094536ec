"""The named arrays that kernels work on: the board, the rules and the trail of a walk."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._core.bits import WordMatrix

__all__ = ["N_SPARE", "VECTOR", "Board", "Rules", "Trail"]

N_SPARE = 40
VECTOR = 8  # words

Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.uint8]


class Board(NamedTuple):
    """A circuit in slots, and every array that pricing and moving need, so that the kernels allocate nothing."""

    n_inputs: int
    n_slots: int
    values: WordMatrix
    functions: Ints
    sources: Ints
    order: Ints
    n_live: Ints
    outputs: Ints
    used: Flags
    everything: Words
    targets: WordMatrix
    known: WordMatrix
    wrong: WordMatrix
    errors: Ints
    # Scratch arrays for one move.
    cone: Flags
    mark: Flags
    flipped: WordMatrix
    breaks: WordMatrix
    mends: WordMatrix
    touched: Ints
    new_errors: Ints
    planes: WordMatrix
    negative: Words
    candidates: Ints
    candidate_values: Words
    node_sums: Ints
    pair_sums: Ints
    sizes: Ints
    picks: Ints
    next_order: Ints


class Rules(NamedTuple):
    """What a walk minimises and how it moves."""

    error_cost: Ints
    """Cost by kind of target and number of errors."""
    kind: Ints
    """The row of `error_cost` for each target."""
    gate_cost: Ints
    """Cost by number of live gates; its length is one more than the most gates allowed."""
    exact: bool
    """Whether no move may add an error; nothing may be wrong at the start."""
    nand: bool
    thresholds: Ints
    """How many errors more a candidate may have to be drawn: one entry is drawn per move."""
    node_chance: int
    """How often, out of 256 times, an existing node is drawn rather than a pair, if there are both."""
    n_spare: int
    """Spare gates drawn afresh for every move."""
    max_candidates: int
    """Nodes, spare gates included, of which all pairs are priced; if there are more, some are drawn."""
    stop_cost: int
    """The walk ends when the best cost is no higher."""
    max_work: int
    """Word operations after which the walk ends."""
    latest: bool = False
    """Whether the latest of equally good circuits counts as the best, not the first."""


class Trail(NamedTuple):
    """State of a walk, and its best circuit so far."""

    random: npt.NDArray[np.uint64]
    history: Ints
    numbers: Ints
    sums: npt.NDArray[np.uint64]
    functions: Ints
    sources: Ints
    order: Ints
    outputs: Ints
