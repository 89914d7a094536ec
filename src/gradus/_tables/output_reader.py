"""What the outputs of a circuit say about a class, by how often each of them was true of each class in training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix
from gradus._tables.labels import TargetEncoding
from gradus.errors import FormatError

__all__ = ["OutputReader"]

PSEUDO_ROWS = 0.1
"""Rows of either value, added to the counts so that nothing is taken for certain; few, since a class may have two rows."""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class OutputReader:
    """Turns the outputs that one circuit has for one target into probabilities of the classes.

    Outputs are taken as independent signs (naive Bayes). A circuit that was right on all rows is believed, one that was
    often wrong is believed less, and an output that never varies says nothing, so that unequal circuits can vote. Rows for
    which no output is true, or several are, have an answer too.
    """

    rows: Ints
    """Training rows of each class, shape (classes,)."""
    true: Ints
    """On how many of them each output is true, shape (classes, outputs)."""

    @classmethod
    def count(cls, outputs: BoolMatrix, codes: Ints, n_classes: int) -> OutputReader:
        """Count on training rows; rows of unknown class (-1) do not count."""
        member = codes[:, np.newaxis] == np.arange(n_classes)
        return cls(member.sum(axis=0), member.T.astype(np.int64) @ outputs.astype(np.int64))

    def probabilities(self, outputs: BoolMatrix) -> npt.NDArray[np.float64]:
        """Compute the probability of each class for each row of outputs, shape (n, classes)."""
        prior = (self.rows + PSEUDO_ROWS) / (self.rows.sum() + PSEUDO_ROWS * len(self.rows))
        true = (self.true + PSEUDO_ROWS) / (self.rows[:, np.newaxis] + 2 * PSEUDO_ROWS)
        given = outputs.astype(np.float64)
        score = np.log(prior) + given @ np.log(true).T + (1 - given) @ np.log1p(-true).T
        score = np.exp(score - score.max(axis=1, keepdims=True))
        return np.asarray(score / score.sum(axis=1, keepdims=True))

    def to_json(self) -> dict[str, Any]:
        """Return a plain dictionary that JSON can hold."""
        return {"rows": self.rows.tolist(), "true": self.true.tolist()}

    @classmethod
    def from_json(cls, document: Any, target: TargetEncoding) -> OutputReader:
        """Read what `to_json` returned for a target."""
        entry = document if isinstance(document, dict) else {}
        rows, true = (_counts(entry.get(key)) for key in ("rows", "true"))
        shape = (len(target.classes), target.n_outputs)
        fits = rows.shape == shape[:1] and true.shape == shape and bool((rows >= 0).all())
        if not fits or not bool(((true >= 0) & (true <= rows[:, np.newaxis])).all()):
            raise FormatError(
                f"the model's counts for {target.name!r} are not those of {shape[0]} classes and {shape[1]} outputs."
            )
        return cls(rows, true)


def _counts(values: Any) -> Ints:
    """Return whole numbers as an array; an empty one if they are something else."""
    try:
        counts = np.array(values)
    except ValueError:
        counts = np.empty(0)
    return counts.astype(np.int64) if counts.dtype.kind == "i" else np.empty(0, dtype=np.int64)
