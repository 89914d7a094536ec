"""A lesson as a table: the target that the smallest set of nodes decides is learned from the cells of this set alone.

The table has at most 64 rows, one word, and few inputs, so learning it takes milliseconds, whatever the size of the circuit
and the number of examples.
"""

from __future__ import annotations

import numpy as np

from gradus._circuit.gate_list import GateList, cleaned, empty_circuit
from gradus._core.run import Run
from gradus._lessons.description import Lengths, Solution
from gradus._lessons.next_target import FeatureSets
from gradus._lessons.packed_examples import PackedExamples
from gradus._lessons.walks import LessonSettings, Walks, seed_from

__all__ = ["TableLessons", "join"]


class TableLessons:
    """Lessons on tables, with the settings of a learner."""

    def __init__(self, examples: PackedExamples, lengths: Lengths, settings: LessonSettings, run: Run) -> None:
        self.sets, self.settings, self.run = FeatureSets(examples, lengths, run), settings, run

    def candidates(self, circuit: GateList, columns: list[int]) -> list[int]:
        """Return the columns that the smallest sets of nodes decide; none if no set is reliable."""
        self.sets.read(circuit)
        return self.sets.easiest(columns)[: self.settings.width]

    def learn(self, start: Solution, seed: int, column: int) -> Solution:
        """Learn a column on top of a circuit, from its table; if that succeeds, the solution has reached its goal."""
        examples, nodes = self.sets.table(column)
        part = self._smallest(examples, self.sets.size(column), seed_from(seed, column))
        if not part.reached:
            return part
        circuit = cleaned(join(start.circuit, part.circuit, nodes), nand=self.settings.nand)
        return Solution(circuit, [*start.columns, column], np.append(start.errors, 0), True, part.work)

    def _smallest(self, examples: PackedExamples, size: int, seed: int) -> Solution:
        """Learn a table that depends on `size` nodes a few times, and return the smallest circuit."""
        walks, work, best = Walks(examples, self.settings, self.run), 0, None
        nothing = Solution(empty_circuit(len(examples.inputs), 1), [0], np.zeros(1, np.int64))
        for attempt in range(self.settings.n_tries):
            solution = walks.fit(nothing, seed_from(seed, attempt), walks.settings.noisy_fit_work)
            work += solution.work
            if solution.reached and solution.n_gates >= size:
                solution = walks.minimise_gates(solution, seed_from(seed, attempt), walks.settings.gates_work)
                work += solution.work
            elif not solution.reached:
                continue
            best = solution if best is None or solution.n_gates < best.n_gates else best
            if best.n_gates < size:  # fewer gates cannot read so many nodes
                break
        return nothing._replace(work=work) if best is None else best._replace(reached=True, work=work)


def join(circuit: GateList, part: GateList, nodes: list[int]) -> GateList:
    """Add the gates and outputs of a circuit whose inputs are some nodes of another."""
    first = circuit.n_inputs + len(circuit.functions)
    place = np.array([*nodes, *range(first, first + len(part.functions))], dtype=np.int64)
    return GateList(
        circuit.n_inputs,
        np.append(circuit.functions, part.functions),
        np.concatenate([circuit.sources, place[part.sources]]),
        np.append(circuit.outputs, place[part.outputs]),
    )
