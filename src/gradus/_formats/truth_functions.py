"""`TruthFunctions`: what every circuit or model file describes, a Boolean function with named inputs and outputs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from gradus._core.bits import BoolMatrix, WordMatrix, as_bits, n_words, pack, unpack
from gradus.errors import DataError, FormatError

__all__ = ["TruthFunctions", "dependency_order"]

Wire = TypeVar("Wire", int, str)

BYTES_AT_ONCE = 1 << 26
MOST_ROWS_AT_ONCE = 1 << 16


class TruthFunctions(ABC):
    """A Boolean function of several inputs with several outputs, read from a file."""

    input_names: tuple[str, ...]
    output_names: tuple[str, ...]

    @abstractmethod
    def output_words(self, inputs: WordMatrix) -> WordMatrix:
        """Compute the outputs on packed examples (see `gradus._core.bits.pack`)."""

    @abstractmethod
    def values_held(self) -> int:
        """Return about how many columns `output_words` holds at once, so that memory can be bounded."""

    def evaluate(self, X: Any) -> BoolMatrix:
        """Compute every output on every row."""
        rows = as_bits(X)
        if rows.shape[1] != len(self.input_names):
            raise DataError(f"X has {rows.shape[1]} columns, but the model reads {len(self.input_names)} inputs.")
        result = np.empty((len(rows), len(self.output_names)), dtype=np.bool_)
        columns = self.values_held() + len(self.input_names) + len(self.output_names)
        step = max(64, min(MOST_ROWS_AT_ONCE, n_words(BYTES_AT_ONCE // max(columns, 1)) * 64))
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            result[start : start + len(part)] = unpack(self.output_words(pack(part)), len(part))
        return result


def dependency_order(
    wanted: Iterable[Wire],
    given: Iterable[Wire],
    sources: Mapping[Wire, Sequence[Wire]],
    undefined: Callable[[Wire, Wire | None], FormatError],
    circular: Callable[[Wire], FormatError],
) -> list[Wire]:
    """Return the wires that the wanted ones need, each after those that it reads; without recursion, so of any depth."""
    done = dict.fromkeys(given, True)
    order: list[Wire] = []
    for start in wanted:
        stack: list[tuple[Wire, Wire | None]] = [(start, None)]
        while stack:
            wire, reader = stack[-1]
            if done.get(wire):
                stack.pop()
                continue
            if wire not in sources:
                raise undefined(wire, reader)
            waiting = [source for source in sources[wire] if not done.get(source)]
            if not waiting:
                done[wire] = True
                order.append(wire)
                stack.pop()
                continue
            if wire in done:
                raise circular(wire)
            done[wire] = False  # begun: coming here again with something still waiting means a circle
            stack += [(source, wire) for source in waiting]
    return order
