"""Codes for targets of many classes: outputs that several classes share, taken from what distinguishes the classes.

One output each would be a lesson for every class, learned from its few rows. But where classes lie in order along some
column, "the column exceeds 5" is true of all rows of some classes and of no row of the others, and a few such statements
distinguish all classes. Classes whose rows lie on both sides of a statement are left open in that output; classes that no
statement distinguishes get an output of their own among these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix
from gradus._tables.labels import UNKNOWN, CodeBit, TargetEncoding

__all__ = ["MANY_CLASSES", "coded"]

MANY_CLASSES = 20
"""More classes than these share outputs."""
CLEAR = 0.85  # share of a class's rows on one side, from which the class is on that side

Ints = npt.NDArray[np.int64]


def coded(target: TargetEncoding, codes: Ints, inputs: BoolMatrix, names: Sequence[str]) -> TargetEncoding:
    """Return a target of many classes with a code for them, if one with fewer outputs than classes distinguishes them all."""
    n_classes = len(target.classes)
    if n_classes <= MANY_CLASSES:
        return target
    sides = _sides(codes, inputs, n_classes)
    chosen, apart = _chosen(sides)
    bits = [CodeBit(f"{target.name} goes with {names[j]}", _word(sides[j])) for j in chosen]
    for label in np.flatnonzero(~apart.all(axis=1)):
        word = np.where(apart[label], -1, 0)
        word[label] = 1
        bits.append(CodeBit(f"{target.name} = {target.classes[label]}", _word(word)))
        apart[label] = apart[:, label] = True
    return replace(target, bits=tuple(bits)) if len(bits) < n_classes else target


def _sides(codes: Ints, inputs: BoolMatrix, n_classes: int) -> npt.NDArray[Any]:
    """Return for each input on which side of it each class is: 1, 0, or -1 if on both; shape (inputs, classes)."""
    known = codes != UNKNOWN
    rows = np.bincount(codes[known], minlength=n_classes)
    true = np.zeros((inputs.shape[1], n_classes))
    for j, column in enumerate(inputs.T):
        true[j] = np.bincount(codes[known & column], minlength=n_classes)
    share = true / np.maximum(rows, 1)
    return np.where(share >= CLEAR, 1, np.where(share <= 1 - CLEAR, 0, -1))


def _chosen(sides: npt.NDArray[Any]) -> tuple[list[int], npt.NDArray[np.bool_]]:
    """Choose inputs, each the one that distinguishes most further pairs of classes; also which are distinguished."""
    n_classes = sides.shape[1]
    apart = np.eye(n_classes, dtype=np.bool_)
    left = list(range(len(sides)))
    chosen: list[int] = []
    while left and not apart.all():
        ones, zeros = (sides[left] == 1).astype(np.float32), (sides[left] == 0).astype(np.float32)
        new = (~apart).astype(np.float32)
        gains = ((ones @ new) * zeros).sum(axis=1)
        best = int(np.argmax(gains))
        if gains[best] == 0:
            break
        j = left.pop(best)
        pairs = np.outer(sides[j] == 1, sides[j] == 0)
        apart |= pairs | pairs.T
        chosen.append(j)
    return sorted(chosen), apart


def _word(side: npt.NDArray[Any]) -> str:
    """Write the sides of all classes as a text of 0, 1 and -."""
    return "".join("-01"[value + 1] for value in side.tolist())
