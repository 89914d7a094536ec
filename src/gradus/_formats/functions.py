"""`TruthFunctions`: what every model file says in the end, names and a function from inputs to outputs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from gradus._bits import BoolMatrix, WordMatrix, as_bits, n_words, pack, unpack
from gradus.errors import DataError

__all__ = ["TruthFunctions"]

BYTES_AT_ONCE = 1 << 26
MOST_ROWS_AT_ONCE = 1 << 16


class TruthFunctions(ABC):
    """A Boolean function of several inputs with several outputs, read from a file.

    Attributes
    ----------
    input_names, output_names : tuple of str
    """

    input_names: tuple[str, ...]
    output_names: tuple[str, ...]

    @abstractmethod
    def output_words(self, inputs: WordMatrix) -> WordMatrix:
        """Work out the outputs on packed examples (see `gradus._bits.pack`)."""

    @abstractmethod
    def values_held(self) -> int:
        """Return about how many columns `output_words` holds at once, so that memory can be bounded."""

    def evaluate(self, X: Any) -> BoolMatrix:
        """Work out every output on every row.

        Parameters
        ----------
        X : array-like of 0/1, shape (n, n_inputs)

        Returns
        -------
        ndarray of bool, shape (n, n_outputs)
        """
        rows = as_bits(X)
        if rows.shape[1] != len(self.input_names):
            raise DataError(f"X has {rows.shape[1]} columns, but the model reads {len(self.input_names)} inputs.")
        result = np.empty((len(rows), len(self.output_names)), dtype=np.bool_)
        step = self._rows_at_once()
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            result[start : start + len(part)] = unpack(self.output_words(pack(part)), len(part))
        return result

    def _rows_at_once(self) -> int:
        columns = self.values_held() + len(self.input_names) + len(self.output_names)
        return max(64, min(MOST_ROWS_AT_ONCE, n_words(BYTES_AT_ONCE // max(columns, 1)) * 64))
