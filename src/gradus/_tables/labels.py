"""Class labels: what may be a target, how labels become the outputs of a circuit, and labels from outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix
from gradus._core.cells import is_unknown
from gradus._core.wording import quoted_name
from gradus._tables.cells import MIN_ROWS_ID, read_cells
from gradus.errors import ConflictError, DataError, FormatError, SettingsError

__all__ = [
    "UNKNOWN", "CodeBit", "TargetEncoding", "check_classes", "cut_target", "encode_target", "groups_of_equal_rows",
    "labels_between", "labels_of", "majority", "merged_labels", "order_of_outputs", "output_names", "output_parts",
    "plain_label", "refuse_conflicts", "refuse_constant", "refuse_quantity", "renamed", "shown_label", "side_by_side",
]  # fmt: skip

UNKNOWN = -1
"""Code of a label that is not known."""
SHOWN_VALUE = 40  # characters of a bad value spelled out in a message
MOST_CLASSES = 256
FEW_CLASSES, ROWS_PER_CLASS = 20, 5
"""A target of numbers with more classes, and fewer rows of each on average, is a quantity."""
NO_CLASSES = (
    "a target must hold classes: replace its numbers by a few words, such as low and high (gradus learn --cut NAME=median)"
)
CUTS = {"median": (0.5,), "terciles": (1 / 3, 2 / 3)}
"""Shares of the rows below the cuts of a target of numbers."""

Ints = npt.NDArray[np.int64]


class CodeBit(NamedTuple):
    """An output that classes share."""

    name: str
    word: str
    """What it is for each class: "0", "1", or "-" if it may be either."""


@dataclass(frozen=True)
class TargetEncoding:
    """How the class labels of one target become outputs of a network, and come back; made by `encode_target`.

    Two classes take one output, which is 1 for the second class, and three or more take one output each: "it is a mammal"
    is what the data are about, while a bit of a class number is an arbitrary union of classes. A single class takes one
    constant output. Of many classes, several may share outputs (`class_codes`), or outputs may compare pairs (`pairs`).
    """

    name: str
    classes: tuple[Any, ...]
    """The labels, sorted; label i has the code i."""
    bits: tuple[CodeBit, ...] = ()
    """The outputs that classes share, if they do."""

    @property
    def n_outputs(self) -> int:
        """Outputs that the target takes."""
        if self.bits:
            return len(self.bits)
        return 1 if len(self.classes) <= 2 else len(self.classes)

    @property
    def output_names(self) -> tuple[str, ...]:
        """A name for each output."""
        if self.bits:
            return tuple(bit.name for bit in self.bits)
        if self.n_outputs == 1:
            return (self.name if self.are_bits else f"{self.name} = {shown_label(self.classes[-1])}",)
        return tuple(f"{self.name} = {shown_label(label)}" for label in self.classes)

    @property
    def are_bits(self) -> bool:
        """Whether the labels are 0 and 1 (or False and True) already."""
        return {0, 1}.issuperset(self.classes)

    @property
    def has_output_per_class(self) -> bool:
        """Whether each class has an output of its own."""
        return not self.bits and self.n_outputs == len(self.classes) > 1

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The two classes that each output compares, if all outputs compare two."""
        words = [bit.word for bit in self.bits]
        if not all(word.count("1") == word.count("0") == 1 for word in words):
            return []
        return [(word.index("1"), word.index("0")) for word in words]

    @property
    def output_labels(self) -> tuple[str, ...]:
        """The class of each output, if each has an output of its own."""
        return tuple(map(shown_label, self.classes)) if self.has_output_per_class else self.output_names

    @property
    def statement_names(self) -> list[str]:
        """What each output states."""
        name = quoted_name(self.name)
        if self.bits:
            return list(self.output_names)
        if self.n_outputs == 1 and self.are_bits:
            return [name]
        stated = self.classes if self.has_output_per_class else self.classes[-1:]
        return [f"{name} = {quoted_name(shown_label(label))}" for label in stated]

    @property
    def notes(self) -> list[str]:
        """What the outputs mean, in sentences; none for a target of 0 and 1."""
        if (self.are_bits and self.n_outputs == 1) or len(self.classes) < 2:
            return []
        if self.pairs:
            return [
                f"{quoted_name(self.name)} is the class that wins most of its comparisons; each output compares two classes"
            ]
        if self.bits:
            return [
                f"{quoted_name(self.name)} is the class whose outputs these most likely are; the model file has their code"
            ]
        name, outputs, labels = (
            quoted_name(self.name),
            list(map(repr, self.output_names)),
            map(quoted_name, map(shown_label, self.classes)),
        )
        if self.has_output_per_class:
            pairs = ", ".join(f"{output} for {label}" for output, label in zip(outputs, labels, strict=True))
            return [f"{name} has an output for each class, 1 where it holds: {pairs}"]
        return [f"{name} is {label} where {outputs[0]} is {int(bit)}" for label, bit in zip(labels, (0, 1), strict=True)]

    @property
    def codewords(self) -> npt.NDArray[Any]:
        """Outputs of each class, shape (classes, n_outputs): Booleans, or floats with NaN where one may be either."""
        if self.bits:
            value = {"0": 0.0, "1": 1.0, "-": np.nan}
            words = np.array([[value[sign] for sign in bit.word] for bit in self.bits]).T
            return words if np.isnan(words).any() else words.astype(np.bool_)
        if len(self.classes) == 1:
            # The output's name is a statement, "y" or "y = yes", and must be true of the rows it was learned from.
            return np.array([[bool(self.classes[0]) if self.are_bits else True]])
        return np.array([[False], [True]]) if self.n_outputs == 1 else np.eye(len(self.classes), dtype=np.bool_)

    def encode(self, codes: npt.NDArray[np.integer[Any]]) -> npt.NDArray[Any]:
        """Turn class numbers into outputs, shape (n, n_outputs): Booleans, or floats with NaN where a label is unknown."""
        bits = self.codewords[np.maximum(codes, 0)]
        unknown = codes == UNKNOWN
        return np.where(unknown[:, np.newaxis], np.nan, bits) if unknown.any() else bits

    def most_frequent(self, codes: Ints) -> Any:
        """Return the most frequent known label, the first of equals."""
        return self.classes[np.argmax(np.bincount(codes[codes != UNKNOWN]))]

    def decode(self, bits: BoolMatrix) -> npt.NDArray[np.int64]:
        """Turn outputs into class numbers: that of the nearest codeword, the lower of equals."""
        words = self.codewords.astype(np.float64)
        ones, zeros, given = (words == 1).astype(np.int64), (words == 0).astype(np.int64), bits.astype(np.int64)
        distance = (1 - given) @ ones.T + given @ zeros.T
        return np.asarray(np.argmin(distance, axis=1), dtype=np.int64)

    def to_json(self) -> dict[str, Any]:
        """Return a plain dictionary that JSON can hold."""
        for label in self.classes:
            if not isinstance(label, str | int | float | bool):
                raise DataError(f"target {self.name!r} has the class {_shorten(label)}, which is neither a text nor a number.")
        code = {"code": [list(bit) for bit in self.bits]} if self.bits else {}
        return {"name": self.name, "classes": list(self.classes), **code}

    @classmethod
    def from_json(cls, document: Any) -> TargetEncoding:
        """Read what `to_json` returned."""
        entry = document if isinstance(document, dict) else {}
        name, classes = entry.get("name"), entry.get("classes")
        if not isinstance(name, str) or not isinstance(classes, list) or not classes:
            raise FormatError(f"the model's target encoding is invalid: {_shorten(document)}.")
        if not all(isinstance(label, str | int | float | bool) for label in classes):
            raise FormatError(f"the model's target {name!r} has a class that is neither a text nor a number.")
        return cls(name, tuple(classes), _bits_from_json(entry.get("code", []), name, len(classes)))


def _bits_from_json(code: Any, name: str, n_classes: int) -> tuple[CodeBit, ...]:
    """Read the code of a target of many classes."""
    bits: list[Any] = code if isinstance(code, list) else [None]
    for bit in bits:
        texts = isinstance(bit, list) and len(bit) == 2 and all(isinstance(text, str) for text in bit)
        if not texts or len(bit[1]) != n_classes or not set(bit[1]) <= set("01-"):
            raise FormatError(f"the model's code for the classes of {name!r} cannot be understood.")
    return tuple(CodeBit(*bit) for bit in bits)


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
    return TargetEncoding(name, tuple(map(plain_label, classes))), classes, codes


def labels_of(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a column of a table as labels: texts or, where possible, whole numbers; None where there is none."""
    if column.dtype == object:
        missing = is_unknown(column)
        return np.where(missing, np.array(None, dtype=object), column) if missing.any() else column.astype(str)
    known = column[~np.isnan(column)]
    if not np.isfinite(known).all() or (known != np.round(known)).any():
        return column
    if len(known) == len(column):
        return column.astype(np.int64)
    return np.array([None if value != value else int(value) for value in column.tolist()], dtype=object)


def merged_labels(labels: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], dict[str, str]]:
    """Join labels that differ only in capitals under the commonest spelling; also returns which are changed."""
    if labels.dtype.kind not in "OU":
        return labels, {}
    cells = read_cells(labels)
    changed = {old: new for old, new in cells.spellings.items() if old != new}
    if not changed or not all(
        isinstance(value, str) or gone for value, gone in zip(cells.values, cells.missing_values, strict=True)
    ):
        return labels, {}
    return renamed(labels, changed), changed


def renamed(labels: npt.NDArray[Any], names: Mapping[str, str]) -> npt.NDArray[Any]:
    """Return labels of which some have other names."""
    return np.array([names.get(label, label) for label in labels.tolist()], dtype=object)


def check_classes(labels: npt.NDArray[Any], name: str) -> None:
    """Refuse a target that is no list of classes: numbers with fractions, or an id."""
    known = labels[~is_unknown(labels)]
    if known.dtype.kind == "f" and (known != np.round(known)).any():
        raise DataError(f"target {name!r} holds numbers with fractions; {NO_CLASSES}.")
    n_classes = len(np.unique(known))
    if n_classes > MOST_CLASSES:
        raise DataError(f"target {name!r} has more than {MOST_CLASSES} different values; a target must hold classes.")
    if n_classes == len(known) >= MIN_ROWS_ID:
        raise DataError(f"target {name!r} has another value in every row, as an id has; name another column as the target.")


def refuse_quantity(labels: npt.NDArray[Any], name: str) -> None:
    """Refuse a target that is a quantity: many different numbers, each in few rows."""
    known = labels[~is_unknown(labels)]
    n_classes = len(np.unique(known))
    if n_classes > FEW_CLASSES and len(known) < ROWS_PER_CLASS * n_classes and not isinstance(known[0], str):
        raise DataError(
            f"target {name!r} has {n_classes} different numbers in {len(known)} rows; {NO_CLASSES}, or give it as texts "
            f"(gradus learn --types {name}=category)."
        )


def refuse_constant(targets: Mapping[str, npt.NDArray[Any]]) -> None:
    """Refuse a lone target that has one class."""
    for name, labels in targets.items():
        if len(targets) == 1 and len(set(labels[~is_unknown(labels)].tolist())) == 1:
            raise DataError(f"target {name!r} is the same in every row, so that there is nothing to learn; name another one.")


def output_names(targets: Mapping[str, npt.NDArray[Any]]) -> list[str]:
    """Return the names of the outputs that targets become, given by their labels."""
    return [output for name, labels in targets.items() for output in encode_target(labels, name)[0].output_names]


def majority(labels: npt.NDArray[Any]) -> Any:
    """Return the most frequent known label, the first in sorted order of equals."""
    encoding, _, codes = encode_target(labels, "y")
    return encoding.most_frequent(codes)


def plain_label(label: Any) -> Any:
    """Return a label of NumPy as one of Python."""
    return label.item() if isinstance(label, np.generic) else label


def shown_label(label: Any) -> str:
    """Write a label: whole numbers without a fraction."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def cut_target(numbers: npt.NDArray[np.float64], how: str, name: str) -> tuple[npt.NDArray[Any], list[float]]:
    """Make classes of a target of numbers, cut at its median, its terciles, or at values; also the cuts."""
    known = numbers[np.isfinite(numbers)]
    if not len(known):
        raise DataError(f"target {name!r} holds no number that could be cut.")
    if how in CUTS:
        places = CUTS[how]
        cuts = sorted({float(np.quantile(known, share, method="lower")) for share in places})
    else:
        try:
            cuts = sorted({float(text) for text in how.split("/")})
        except ValueError as error:
            raise SettingsError(f"--cut has {how!r} for {name!r}; use median, terciles or numbers, as in 10/20.") from error
    return labels_between(numbers, cuts), cuts


def labels_between(numbers: npt.NDArray[np.float64], cuts: Sequence[float]) -> npt.NDArray[Any]:
    """Return the classes of numbers that are cut, None where there is no number."""
    shown = list(map(shown_label, map(float, cuts)))
    names = [f"<= {shown[0]}", *(f"{low} to {high}" for low, high in pairwise(shown)), f"> {shown[-1]}"]
    places = np.searchsorted(np.array(cuts), numbers, side="left")
    gone = np.isnan(numbers)
    return np.array([None if lost else names[place] for place, lost in zip(places, gone, strict=True)], dtype=object)


def order_of_outputs(order: Sequence[int], encodings: Sequence[TargetEncoding]) -> list[int]:
    """Turn an order of targets into one of outputs; the outputs of a multi-class target stay together."""
    parts = output_parts(encodings)
    return [output for k in order for output in range(parts[k].start, parts[k].stop)]


def output_parts(targets: Sequence[TargetEncoding]) -> list[slice]:
    """Return which outputs of a network belong to each target."""
    parts, start = [], 0
    for target in targets:
        parts.append(slice(start, start + target.n_outputs))
        start += target.n_outputs
    return parts


def side_by_side(columns: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Return columns as one array; with labels of different kinds, one of objects, so that no label changes its type."""
    if len({column.dtype.kind for column in columns}) > 1:
        columns = [column.astype(object) for column in columns]
    return np.column_stack(columns)


def _shorten(value: Any) -> str:
    text = repr(plain_label(value))
    return text if len(text) <= SHOWN_VALUE else text[:SHOWN_VALUE] + "…"


def groups_of_equal_rows(X: BoolMatrix) -> npt.NDArray[np.int64]:
    """Return, for each row, the number of its group of equal rows."""
    _, group = np.unique(np.packbits(X, axis=1), axis=0, return_inverse=True)
    return group.ravel().astype(np.int64)


def refuse_conflicts(inputs: BoolMatrix, targets: npt.NDArray[Any], names: Sequence[str], advice: str) -> None:
    """Raise an error that names two rows with equal inputs and different targets, if there are any; rows count from 1."""
    group = groups_of_equal_rows(inputs)
    _, first = np.unique(group, return_index=True)
    differ = targets != targets[first[group]]
    odd = np.flatnonzero(differ.any(axis=1))
    if not len(odd):
        return
    row, column = odd[0], int(np.argmax(differ[odd[0]]))
    others = int(np.isin(group, group[odd]).sum()) - 2
    more = f" ({others} more {'row is' if others == 1 else 'rows are'} in such a conflict)" if others else ""
    raise ConflictError(
        f"data rows {first[group[row]] + 1} and {row + 1} have the same inputs and differ in target "
        f"{names[column]!r}{more}, {advice}"
    )
