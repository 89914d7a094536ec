"""`Windows`: makes a large circuit smaller a few neighbouring gates at a time.

A walk over a whole circuit prices pairs of all its nodes; where there are too many, each move sees a small part of them, and
seldom the one that helps. A window is an interval of the gate list, so no gate outside lies between two of its own: they may
be replaced by any others that give the nodes read from outside the same values on all examples.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gradus._circuit.gate_list import GateList, cleaned
from gradus._circuit.network import network_of
from gradus._core.bits import unpack
from gradus._core.run import Run
from gradus._lessons.description import Solution
from gradus._lessons.packed_examples import PackedExamples, pack_examples
from gradus._lessons.table_lesson import join
from gradus._lessons.walks import LessonSettings, Walks, seed_from

__all__ = ["Windows"]

GATES = 24  # of a window
STEP = 8  # from one window to the next
MAX_PASSES = 4

Ints = npt.NDArray[np.int64]


class Windows:
    """Windows on circuits for some examples."""

    def __init__(self, examples: PackedExamples, settings: LessonSettings, run: Run) -> None:
        self.examples, self.settings, self.run = examples, settings, run

    def minimise_gates(self, solution: Solution, seed: int) -> Solution:
        """Look for a smaller circuit that predicts the same, window by window, until no window of a pass gets smaller."""
        circuit, work = solution.circuit, 0
        for number in range(MAX_PASSES):
            n_gates = len(circuit.functions)
            # From the last window to the first, so that gates to come keep their places.
            for end in range(n_gates, 0, -STEP):
                if self.run.stop():
                    break
                circuit, spent = self._shrunk(circuit, max(0, end - GATES), end, seed_from(seed, number, end))
                work += spent
            circuit = cleaned(circuit, nand=self.settings.nand)
            if len(circuit.functions) == n_gates:
                break
        return solution._replace(circuit=circuit, work=work)

    def _shrunk(self, circuit: GateList, first: int, end: int, seed: int) -> tuple[GateList, int]:
        """Return the circuit with fewer gates in a window, or as it is, and the work."""
        part, leaves, ends = cut_window(circuit, first, end)
        if not len(ends):  # gates that have lost their readers
            return circuit, 0
        leaf_words = network_of(circuit).node_words(self.examples.inputs)[leaves]
        rows = np.unique(unpack(leaf_words, self.examples.n_examples), axis=0)
        values = network_of(part).predict(rows)
        walks = Walks(pack_examples(rows, values, np.ones_like(values)), self.settings, self.run)
        start = Solution(cleaned(part, nand=self.settings.nand), list(range(len(ends))), np.zeros(len(ends), np.int64))
        small = walks.minimise_gates(start, seed, walks.settings.gates_work)
        if len(small.circuit.functions) < end - first:
            circuit = replace_window(circuit, first, end, small.circuit, leaves, ends)
        return circuit, small.work


def cut_window(circuit: GateList, first: int, end: int) -> tuple[GateList, Ints, Ints]:
    """Return the gates from `first` to `end` as a circuit, the nodes that it reads, and its nodes that are read."""
    begin, stop = circuit.n_inputs + first, circuit.n_inputs + end
    sources, inside = circuit.sources[first:end], np.arange(begin, stop)
    leaves = np.unique(sources[sources < begin])
    ends = np.intersect1d(inside, np.append(circuit.sources[end:], circuit.outputs))
    place = np.zeros(stop, dtype=np.int64)
    place[leaves], place[inside] = np.arange(len(leaves)), len(leaves) + np.arange(end - first)
    return GateList(len(leaves), circuit.functions[first:end], place[sources], place[ends]), leaves, ends


def replace_window(circuit: GateList, first: int, end: int, part: GateList, leaves: Ints, ends: Ints) -> GateList:
    """Replace the gates from `first` to `end` by a circuit that reads `leaves` and whose outputs take the place of `ends`."""
    before = circuit._replace(
        functions=circuit.functions[:first], sources=circuit.sources[:first], outputs=np.zeros(0, np.int64)
    )
    joined = join(before, part, leaves.tolist())
    now = np.arange(circuit.n_inputs + len(circuit.functions))
    now[circuit.n_inputs + end :] += len(joined.functions) - end
    now[ends] = joined.outputs
    return GateList(
        circuit.n_inputs,
        np.append(joined.functions, circuit.functions[end:]),
        np.concatenate([joined.sources, now[circuit.sources[end:]]]),
        now[circuit.outputs],
    )
