"""`PackedExamples`: checked inputs and targets, packed, with a mask of the targets that are known."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix, WordMatrix, as_bits, as_table, check_examples, pack, tail_mask, unpack
from gradus._core.cells import is_unknown
from gradus._lessons.further_inputs import FurtherInput

__all__ = ["PackedExamples", "is_contradictory", "pack_examples", "read_targets"]


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


def is_contradictory(examples: PackedExamples) -> bool:
    """Return whether rows with equal inputs have different known values of a target, so that no circuit is exact."""
    n = examples.n_examples
    _, group = np.unique(unpack(examples.inputs, n), axis=0, return_inverse=True)
    targets, known = unpack(examples.targets, n), unpack(examples.known, n)
    for labels, is_known in zip(targets.T, known.T, strict=True):
        ones, all_known = np.bincount(group[is_known & labels]), np.bincount(group[is_known])
        if (ones != 0).any() and ((ones > 0) & (ones < all_known[: len(ones)])).any():
            return True
    return False
