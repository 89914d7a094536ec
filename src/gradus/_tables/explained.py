"""`Explainer`: the conditions that decide the shown circuit's answer for a row, whatever the rest of the row is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._core.bits import BoolMatrix
from gradus._tables.axes import Axis
from gradus._tables.conditions import axes_of, input_conditions
from gradus._tables.encoding import TableEncoding

__all__ = ["Explainer"]

Value = bool | None
"""Of a node: None if it is not known."""


class Explainer:
    """Finds conditions on columns that are true of a row and that settle some outputs of a circuit."""

    def __init__(self, network: Network, features: TableEncoding) -> None:
        self.network = network.prune()
        read = np.flatnonzero(self.network.cone(range(network.n_outputs))[: network.n_inputs]).tolist()
        self.axes = axes_of(read, input_conditions(features)) if read else []
        self._known: dict[tuple[bytes, int, int], str] = {}

    def explain(self, inputs: BoolMatrix, part: slice) -> list[str]:
        """Return, for each row of inputs, the conditions that settle the outputs of one target."""
        texts = []
        for row in inputs:
            key = (np.packbits(row).tobytes(), part.start, part.stop)
            if key not in self._known:
                self._known[key] = " & ".join(self._deciding(row, self.network.outputs[part].tolist())) or "always"
            texts.append(self._known[key])
        return texts

    def _deciding(self, row: npt.NDArray[np.bool_], outputs: Sequence[int]) -> list[str]:
        """Widen the cells allowed in one column after the other, as long as the outputs stay the same."""
        mine = [axis.cells.index(sum(int(row[node]) << i for i, node in enumerate(axis.nodes))) for axis in self.axes]
        chosen = [1 << cell for cell in mine]
        wanted = self._values(chosen, outputs)
        for k, axis in enumerate(self.axes):
            options = [cells for cells in (axis.full, *axis.words) if cells >> mine[k] & 1]
            for cells in sorted(options, key=lambda cells: (-cells.bit_count(), len(axis.words.get(cells, ("",))[0]))):
                wider = [*chosen[:k], cells, *chosen[k + 1 :]]
                if self._values(wider, outputs) == wanted:
                    chosen = wider
                    break
        return [text for axis, cells in zip(self.axes, chosen, strict=True) for text in axis.said(cells)]

    def _values(self, chosen: Sequence[int], outputs: Sequence[int]) -> list[Value]:
        """Compute outputs where of each column only some set of cells is known."""
        network = self.network
        values: list[Value] = [None] * network.n_inputs
        for axis, cells in zip(self.axes, chosen, strict=True):
            for node in axis.nodes:
                values[node] = _value(axis, node, cells)
        for function, (a, b) in zip(network.functions.tolist(), network.sources.tolist(), strict=True):
            values.append(_gate(function, values[a], values[b], a == b))
        return [values[node] for node in outputs]


def _value(axis: Axis, node: int, cells: int) -> Value:
    """Return the value of an input in some cells; None if it differs."""
    true = axis.where(node)
    return False if not cells & true else True if not cells & ~true else None


def _gate(function: int, a: Value, b: Value, tied: bool) -> Value:
    """Compute a gate of which sources may be unknown: its value if that is the same whatever they are."""
    first, second = ((0, 1) if value is None else (int(value),) for value in (a, b))
    pairs = {(x, y) for x in first for y in second if not tied or x == y}
    found = {function >> (2 * x + y) & 1 for x, y in pairs}
    return bool(found.pop()) if len(found) == 1 else None
