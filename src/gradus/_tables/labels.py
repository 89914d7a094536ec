"""Class labels as bits: how labels become the outputs of a network, and come back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix
from gradus.errors import DataError, FormatError

__all__ = ["TargetEncoding", "encode_target", "is_unknown", "majority", "order_of_outputs", "output_parts", "side_by_side"]

UNKNOWN = -1
"""Code of a label that is not known."""
SHOWN_VALUE = 40  # characters of a bad value spelled out in a message


@dataclass(frozen=True)
class TargetEncoding:
    """How the class labels of one target become outputs of a network, and come back; made by `encode_target`.

    Two classes take one output, which is 1 for the second class, and three or more take one output each: "it is a mammal"
    is what the data are about, while a bit of a class number is an arbitrary union of classes. A single class takes one
    constant output.
    """

    name: str
    classes: tuple[Any, ...]
    """The labels, sorted; label i has the code i."""
    binary: bool = False
    """Whether three or more classes take their number in binary instead, lowest bit first, as in older models."""

    @property
    def n_outputs(self) -> int:
        """Outputs that the target takes."""
        if len(self.classes) <= 2:
            return 1
        return (len(self.classes) - 1).bit_length() if self.binary else len(self.classes)

    @property
    def output_names(self) -> tuple[str, ...]:
        """A name for each output."""
        if self.n_outputs == 1:
            sign = "=" if self.binary else " = "
            return (self.name if self.are_bits else f"{self.name}{sign}{self.classes[-1]}",)
        if self.binary:
            return tuple(f"{self.name}[{bit}]" for bit in range(self.n_outputs))
        return tuple(f"{self.name} = {label}" for label in self.classes)

    @property
    def are_bits(self) -> bool:
        """Whether the labels are 0 and 1 (or False and True) already."""
        return all(not isinstance(label, str) and label in (0, 1) for label in self.classes)

    @property
    def codewords(self) -> BoolMatrix:
        """Outputs of each class, shape (classes, n_outputs)."""
        if len(self.classes) == 1:
            # The output's name is a statement, "y" or "y = yes", and must be true of the rows it was learned from.
            return np.array([[bool(self.classes[0]) if self.are_bits else True]])
        if self.n_outputs == len(self.classes):
            return np.eye(len(self.classes), dtype=np.bool_)
        return np.asarray(np.arange(len(self.classes))[:, np.newaxis] >> np.arange(self.n_outputs) & 1, dtype=np.bool_)

    def encode(self, codes: npt.NDArray[np.integer[Any]]) -> npt.NDArray[Any]:
        """Turn class numbers into outputs, shape (n, n_outputs): Booleans, or floats with NaN where a label is unknown."""
        bits = self.codewords[np.maximum(codes, 0)]
        unknown = codes == UNKNOWN
        return np.where(unknown[:, np.newaxis], np.nan, bits) if unknown.any() else bits

    def decode(self, bits: BoolMatrix) -> npt.NDArray[np.int64]:
        """Turn outputs into class numbers: that of the nearest codeword, the lower of equals."""
        words, given = self.codewords.astype(np.int64), bits.astype(np.int64)
        distance = given.sum(axis=1)[:, np.newaxis] + words.sum(axis=1) - 2 * given @ words.T
        return np.asarray(np.argmin(distance, axis=1), dtype=np.int64)

    def to_json(self) -> dict[str, Any]:
        """Return a plain dictionary that JSON can hold."""
        for label in self.classes:
            if not isinstance(label, str | int | float | bool):
                raise DataError(f"target {self.name!r} has the class {_shorten(label)}, which is neither a text nor a number.")
        return {"name": self.name, "classes": list(self.classes), "binary": self.binary}

    @classmethod
    def from_json(cls, document: Any) -> TargetEncoding:
        """Read what `to_json` returned, by this version or an older one."""
        entry = document if isinstance(document, dict) else {}
        name, classes, binary = entry.get("name"), entry.get("classes"), entry.get("binary", True)
        if not isinstance(name, str) or not isinstance(classes, list) or not classes or not isinstance(binary, bool):
            raise FormatError(f"the model's target encoding is invalid: {_shorten(document)}.")
        if not all(isinstance(label, str | int | float | bool) for label in classes):
            raise FormatError(f"the model's target {name!r} has a class that is neither a text nor a number.")
        return cls(name, tuple(classes), binary)


def encode_target(labels: Any, name: str) -> tuple[TargetEncoding, npt.NDArray[Any], npt.NDArray[np.int64]]:
    """Decide how a target's labels become outputs."""
    values = np.asarray(labels)
    unknown = is_unknown(values)
    if unknown.all():
        raise DataError(f"target {name!r} has no known label; give at least one, or leave the target out.")
    known = values[~unknown]
    if unknown.any() and known.dtype == object and len({type(label) for label in known}) == 1:
        known = np.array(known.tolist())  # only None among the labels made objects of them
    classes, inverse = np.unique(known, return_inverse=True)
    codes = np.full(len(values), UNKNOWN, dtype=np.int64)
    codes[~unknown] = inverse.ravel()
    return TargetEncoding(name, tuple(plain_label(label) for label in classes)), classes, codes


def is_unknown(labels: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return where labels are NaN or None."""
    if labels.dtype.kind == "f":
        return np.asarray(np.isnan(labels))
    if labels.dtype.kind != "O":
        return np.zeros(labels.shape, dtype=np.bool_)

    def unknown(label: Any) -> bool:
        return label is None or (isinstance(label, float) and label != label) or str(label) == "<NA>"

    return np.asarray(np.frompyfunc(unknown, 1, 1)(labels), dtype=np.bool_)


def majority(labels: npt.NDArray[Any]) -> Any:
    """Return the most frequent known label, the first in sorted order of equals."""
    encoding, _, codes = encode_target(labels, "y")
    return encoding.classes[np.argmax(np.bincount(codes[codes != UNKNOWN]))]


def plain_label(label: Any) -> Any:
    """Return a label of NumPy as one of Python."""
    return label.item() if isinstance(label, np.generic) else label


def order_of_outputs(order: Sequence[int], encodings: Sequence[TargetEncoding]) -> list[int]:
    """Turn an order of targets into one of outputs; the outputs of a multi-class target stay together."""
    parts = output_parts(encodings)
    return [output for k in order for output in range(parts[k].start, parts[k].stop)]


def output_parts(targets: Sequence[TargetEncoding]) -> list[slice]:
    """Return which outputs of a network belong to each target."""
    ends = np.cumsum([target.n_outputs for target in targets]).tolist()
    return [slice(end - target.n_outputs, end) for end, target in zip(ends, targets, strict=True)]


def side_by_side(columns: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Return columns as one array; with labels of different kinds, one of objects, so that no label changes its type."""
    if len({column.dtype.kind for column in columns}) > 1:
        columns = [column.astype(object) for column in columns]
    return np.column_stack(columns)


def _shorten(value: Any) -> str:
    text = repr(plain_label(value))
    return text if len(text) <= SHOWN_VALUE else text[:SHOWN_VALUE] + "…"
