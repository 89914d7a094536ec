"""`Growth`: goes on with a lesson, one round of gates after another, as long as the description gets shorter.

A walk ends at some thirty gates, however much the examples have to say. Two ways lead on from there: more gates on top of the
whole circuit, and a circuit for what it gets wrong (the residue: label XOR output), which may read all of its nodes. Each gets
stuck where the other does not, and the description decides between them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gradus._circuit.gate_list import GateList, as_nands, cleaned, empty_circuit
from gradus._circuit.network import network_of
from gradus._core.gates import XOR
from gradus._core.run import Progress, Run
from gradus._lessons.description import BIT, Lengths, Solution
from gradus._lessons.packed_examples import PackedExamples
from gradus._lessons.table_lesson import join
from gradus._lessons.walks import LessonSettings, Walks, seed_from

__all__ = ["Growth", "with_correction"]

ENTRANTS = 6
EFFORTS, LAST_EFFORTS = (1, 4), (16,)
"""How many times the work of a lesson's walks a round gets; where all ways on are stuck, the next effort is tried."""
SHARE, LAST_SHARE = 0.15, 0.55
"""Of the work for a target, to which several circuits grow before the best of them goes on to the end."""
IDLE = 3
"""Rounds of each way in succession that find nothing shorter, before it counts as stuck."""

Way = Callable[[Solution, int, int], Solution]


class Growth:
    """Goes on with circuits for some examples."""

    def __init__(self, examples: PackedExamples, settings: LessonSettings, lengths: Lengths, run: Run) -> None:
        self.examples, self.settings, self.lengths, self.run = examples, settings._replace(entrants=ENTRANTS), lengths, run
        self.walks = Walks(examples, self.settings, run)

    def is_due(self, solution: Solution) -> bool:
        """Return whether so much is left to describe that more gates may pay."""
        return self.settings.growth_work > 0 and max(self._left(solution)) >= self.settings.growth_bits * BIT

    def worst(self, solution: Solution) -> int:
        """Return the place of the output whose errors take the most bits."""
        return int(np.argmax(self._left(solution)))

    def grow(self, solution: Solution, seed: int, *, to_the_end: bool = False) -> Solution:
        """Add gates, round after round, as long as the description gets shorter and the work allows it."""
        best, length, work = solution, self.lengths.whole(solution), 0
        most = int(self.settings.growth_work / len(self.examples.targets) * (LAST_SHARE if to_the_end else SHARE))
        ways: tuple[Way, ...] = (self._extended, self._corrected)
        turn = number = 0
        for effort in LAST_EFFORTS if to_the_end else EFFORTS:
            idle = 0
            while idle < IDLE * len(ways) and work < most and best.errors.any() and not self.run.stop():
                new = ways[turn % len(ways)](best, effort, seed_from(seed, number))
                work, number = work + new.work, number + 1
                new_length = self.lengths.whole(new)
                if new_length < length:  # the same way goes on
                    best, length, idle = new, new_length, 0
                    self._report(best, work / most)
                else:
                    turn, idle = turn + 1, idle + 1
        return best._replace(reached=not best.errors.any(), work=work)

    def without_further_inputs(self) -> Growth:
        """Return what grows circuits of the other inputs alone: a further input that is nearly right may lead astray."""
        n_inputs = len(self.examples.inputs) - len(self.examples.further)
        examples = self.examples._replace(inputs=np.ascontiguousarray(self.examples.inputs[:n_inputs]), further=())
        return Growth(examples, self.settings, Lengths(examples, self.settings.nand, self.settings.noise), self.run)

    def _left(self, solution: Solution) -> list[int]:
        """Return the length of each target's errors."""
        return list(map(self.lengths.errors, solution.columns, solution.errors.tolist()))

    def _report(self, best: Solution, share: float) -> None:
        self.run.stop(Progress(stage="grow", errors=int(best.errors.sum()), gates=best.n_gates), share=min(share, 1.0))

    def _extended(self, start: Solution, effort: int, seed: int) -> Solution:
        """Add gates anywhere to get rid of errors, and shorten the whole."""
        settings = self.walks.settings
        fitted = self.walks.fit(start, seed, effort * settings.noisy_fit_work)
        short = self.walks.minimise_length(fitted, seed, effort * settings.length_work)
        return short._replace(work=fitted.work + short.work)

    def _corrected(self, start: Solution, effort: int, seed: int) -> Solution:
        """Add a circuit that says where the output with the most errors is wrong, and shorten the whole."""
        place = self.worst(start)
        residue = self._residue(start, place)
        walks = Walks(residue, self.settings, self.run)
        nothing = Solution(empty_circuit(len(residue.inputs), 1), [0], np.zeros(1, np.int64))
        fitted = walks.fit(nothing, seed, effort * walks.settings.noisy_fit_work)
        wrong = walks.minimise_length(fitted, seed, effort * walks.settings.length_work)
        errors = start.errors.copy()
        errors[place] = wrong.errors[0]
        circuit = with_correction(start.circuit, place, wrong.circuit)
        circuit = cleaned(as_nands(circuit), nand=True) if self.settings.nand else cleaned(circuit)
        joined = Solution(circuit, start.columns, errors)
        short = self.walks.minimise_length(joined, seed, effort * self.walks.settings.length_work)
        return short._replace(work=fitted.work + wrong.work + short.work)

    def _residue(self, start: Solution, place: int) -> PackedExamples:
        """Return examples whose inputs are all nodes and whose target is whether an output is wrong."""
        nodes = network_of(start.circuit).node_words(self.examples.inputs) & self.examples.everything
        column = start.columns[place]
        known = self.examples.known[[column]]
        wrong = (self.examples.targets[[column]] ^ nodes[start.circuit.outputs[place]]) & known
        return self.examples._replace(inputs=np.ascontiguousarray(nodes), targets=wrong, known=known, further=())


def with_correction(circuit: GateList, place: int, correction: GateList) -> GateList:
    """Add a circuit that reads all nodes of another, and whose output inverts one of the other's outputs."""
    n_nodes = circuit.n_inputs + len(circuit.functions)
    joined = join(circuit, correction, list(range(n_nodes)))
    outputs = circuit.outputs.copy()
    pair = [[outputs[place], joined.outputs[-1]]]
    outputs[place] = joined.n_inputs + len(joined.functions)
    return GateList(
        joined.n_inputs, np.append(joined.functions, np.uint8(XOR)), np.concatenate([joined.sources, pair]), outputs
    )
