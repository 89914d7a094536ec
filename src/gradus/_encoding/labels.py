"""Class labels as bits: how labels become the outputs of a network, and come back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._bits import BoolMatrix
from gradus._encoding.features import shorten
from gradus.errors import FormatError

__all__ = ["TargetEncoding", "encode_target", "order_of_outputs"]


@dataclass(frozen=True)
class TargetEncoding:
    """How the class labels of one target become outputs of a network, and come back; made by `encode_target`.

    Two classes take one output that says "it is the second"; more take their number in binary, lowest bit first. A single
    class takes one output that is always true of it.

    Attributes
    ----------
    name : str
    classes : tuple
        The labels, sorted; label i has the code i.
    """

    name: str
    classes: tuple[Any, ...]

    @property
    def n_outputs(self) -> int:
        """Outputs that the target takes."""
        return max(1, (len(self.classes) - 1).bit_length())

    @property
    def output_names(self) -> tuple[str, ...]:
        """A name for each output."""
        if self.n_outputs > 1:
            return tuple(f"{self.name}[{bit}]" for bit in range(self.n_outputs))
        return (self.name if self._are_bits else f"{self.name}={self.classes[-1]}",)

    @property
    def _are_bits(self) -> bool:
        return all(not isinstance(label, str) and label in (0, 1) for label in self.classes)

    def encode(self, codes: npt.NDArray[np.integer[Any]]) -> BoolMatrix:
        """Turn class numbers into outputs, shape (n, n_outputs)."""
        if len(self.classes) == 1:
            # The output's name is a statement, "y" or "y=yes", and must be true of the rows it was learned from.
            true = bool(self.classes[0]) if self._are_bits else True
            return np.full((len(codes), 1), true, dtype=np.bool_)
        return np.asarray((codes[:, np.newaxis] >> np.arange(self.n_outputs)) & 1, dtype=np.bool_)

    def decode(self, bits: BoolMatrix) -> npt.NDArray[np.int64]:
        """Turn outputs into class numbers; outputs that are no code give the nearest one, the lower of equals."""
        if len(self.classes) == 1:
            return np.zeros(len(bits), dtype=np.int64)
        codes: npt.NDArray[np.int64] = bits.astype(np.int64) @ (1 << np.arange(self.n_outputs))
        # Every code without its highest bit is a class, so that an unused code is one bit away from this one.
        return np.where(codes < len(self.classes), codes, codes - (1 << (self.n_outputs - 1)))

    def to_json(self) -> dict[str, Any]:
        """Return a plain dictionary that JSON can hold."""
        return {"name": self.name, "classes": list(self.classes)}

    @classmethod
    def from_json(cls, document: Any) -> TargetEncoding:
        """Read what `to_json` returned.

        Raises
        ------
        FormatError
            If it is something else.
        """
        entry = document if isinstance(document, dict) else {}
        name, classes = entry.get("name"), entry.get("classes")
        if not isinstance(name, str) or not isinstance(classes, list) or not classes:
            raise FormatError(f"the model's target encoding cannot be understood: {shorten(document)}.")
        if not all(isinstance(label, str | int | float | bool) for label in classes):
            raise FormatError(f"the model's target {name!r} has a class that is neither a text nor a number.")
        return cls(name, tuple(classes))


def encode_target(labels: Any, name: str) -> tuple[TargetEncoding, npt.NDArray[Any], npt.NDArray[np.int64]]:
    """Decide how a target's labels become outputs.

    Parameters
    ----------
    labels : array-like of shape (n,)
    name : str

    Returns
    -------
    encoding : TargetEncoding
    classes : ndarray
        The distinct labels with the dtype of the input, sorted.
    codes : ndarray of int
        The number of each row's class.

    Examples
    --------
    >>> encoding, classes, codes = encode_target(["low", "high", "medium", "low"], "dose")
    >>> encoding.output_names, classes.tolist(), codes.tolist()
    (('dose[0]', 'dose[1]'), ['high', 'low', 'medium'], [1, 0, 2, 1])
    >>> encoding.decode(encoding.encode(codes)).tolist()
    [1, 0, 2, 1]
    """
    classes, codes = np.unique(np.asarray(labels), return_inverse=True)
    plain = tuple(label.item() if isinstance(label, np.generic) else label for label in classes)
    return TargetEncoding(name, plain), classes, codes.ravel().astype(np.int64)


def order_of_outputs(order: Any, encodings: Sequence[TargetEncoding]) -> Any:
    """Turn an order of targets into one of outputs; the outputs of a multi-class target stay together.

    Parameters
    ----------
    order : str, None or sequence of int
        As for `gradus.search`; words and None are returned as they are.
    encodings : sequence of TargetEncoding
        One for each target.

    Returns
    -------
    str, None or list of int

    Examples
    --------
    >>> order_of_outputs([1, 0], [TargetEncoding("a", (0, 1)), TargetEncoding("b", (0, 1, 2))])
    [1, 2, 0]
    """
    if order is None or isinstance(order, str):
        return order
    from gradus._curriculum.orders import check_order

    ends = np.cumsum([encoding.n_outputs for encoding in encodings]).tolist()
    targets = check_order(order, len(encodings))
    return [output for k in targets for output in range(ends[k] - encodings[k].n_outputs, ends[k])]
