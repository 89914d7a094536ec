"""`PackedExamples`: checked inputs and targets, packed, with a mask of the targets that are known."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix, WordMatrix, as_bits, as_table, check_examples, pack, tail_mask
from gradus._core.cells import is_unknown
from gradus._lessons.further_inputs import FurtherInput

__all__ = ["PackedExamples", "pack_examples", "read_targets"]


class PackedExamples(NamedTuple):
    """Packed columns of inputs and targets; see `gradus._core.bits.pack`."""

    n_examples: int
    inputs: WordMatrix
    targets: WordMatrix
    """Unknown targets are 0."""
    known: WordMatrix
    """Which targets are known."""
    everything: npt.NDArray[np.uint64]
    """One row with a bit set for every example."""
    further: tuple[FurtherInput, ...] = ()
    """What the last inputs are, if they are functions of the others."""


def pack_examples(inputs: BoolMatrix, targets: BoolMatrix, known: BoolMatrix) -> PackedExamples:
    """Check that inputs and targets belong together, and pack them."""
    check_examples(inputs, targets)
    return PackedExamples(len(inputs), pack(inputs), pack(targets & known), pack(known), tail_mask(len(inputs)))


def read_targets(Y: Any) -> tuple[BoolMatrix, BoolMatrix]:
    """Read targets whose cells may be unknown: NaN, None or masked."""
    table = as_table(Y, "Y")
    unknown = is_unknown(table)
    if isinstance(Y, np.ma.MaskedArray):
        unknown |= np.ma.getmaskarray(Y).reshape(table.shape)
    if not unknown.any():
        targets = as_bits(Y, "Y")
        return targets, np.ones_like(targets)
    filled = table.astype(object)
    filled[unknown] = 0
    return as_bits(filled, "Y"), ~unknown
