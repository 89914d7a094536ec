"""`Growth`: continues a lesson, one round of gates after another, as long as the description gets shorter.

A walk ends at some thirty gates, however much information the examples have. There are two ways to continue: more gates on top
of the whole circuit, and a circuit for its errors (the residue: label XOR output), which may read all of its nodes. Each gets
stuck where the other does not, and the description decides between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np

from gradus._circuit.gate_list import GateList, as_nands, cleaned, empty_circuit
from gradus._circuit.network import network_of
from gradus._core.gates import XOR
from gradus._core.run import Run
from gradus._lessons.description import BIT, Lengths, Solution, with_constant_at
from gradus._lessons.further_inputs import further_price, with_inputs
from gradus._lessons.packed_examples import PackedExamples
from gradus._lessons.table_lesson import join
from gradus._lessons.walks import LessonSettings, Walks, seed_from

__all__ = ["Growth", "Outlook", "with_correction"]

ENTRANTS = 6
EFFORTS, LAST_EFFORTS = (1, 4), (16,)
"""How many times the work of a lesson's walks a round gets; where both ways are stuck, the next effort is tried."""
SHARE, LAST_SHARE = 0.15, 0.55
"""Of the work for a target, to which several circuits grow before the best of them continues to the end."""
N_WAYS, IDLE = 2, 3
"""Rounds of each way in a row without a shorter solution, after which it counts as stuck."""
USUAL, MOST_USUAL = 0.15, 0.4
"""Share of rounds that find something shorter, as long as nothing is known, and the most that are expected to follow."""

SMALL = 5
"""Times the bits from which a lesson grows: where less is left, it continues only if its first rounds make it shorter."""
TO_THE_END = 1000  # in seeds, instead of the number of a start

Way = Callable[[Solution, int, int], Solution]
Spread = Callable[[Callable[[int], Solution], Sequence[int]], list[Solution]]
"""Calls a function with every number, side by side; after a stop, solutions may be missing."""
Tell = Callable[[Solution, int], None]
"""Called with the best solution and its length."""
Report = Callable[[Solution, int, float, float], None]
"""Called with the best solution, its length, the work so far and an estimate of the work to come."""

Part = tuple[bool, int]
"""Whether a solution grows to the end, and its number."""
Numbered = Callable[[Part, Solution, int, float, float], None]


class Outlook:
    """How much of a lesson is done; known only if it grows, since nothing else takes long."""

    def __init__(self, before: int) -> None:
        self._before = before
        self.parts: dict[Part, tuple[float, float]] = {}
        """Work done, if it is not counted yet, and work expected, of each solution that grows for a while or to the end."""

    def expect(self, growth: Growth, first: Iterable[int], last: Iterable[int]) -> None:
        """Set which solutions grow for a while, and which to the end."""
        self.parts = {(False, number): (0.0, growth.expected_work()) for number in first}
        self.parts |= {(True, number): (0.0, growth.expected_work(to_the_end=True)) for number in last}

    def share(self, counted: int) -> float:
        """Return the share that is done, after an amount of work."""
        left = sum(work for _, work in self.parts.values())
        done = counted - self._before + sum(work for work, _ in self.parts.values())
        return done / (done + left) if left else 0.0

    def report(self, tell: Tell, part: Part, solution: Solution, length: int, done: float, left: float) -> None:
        """Record how far a solution is, and report it."""
        self.parts[part] = (done, left)
        tell(solution, length)


def _untold(best: Solution, length: int, work: float, left: float) -> None:
    """Report nothing."""


class Growth:
    """Grows circuits for some examples."""

    def __init__(self, examples: PackedExamples, settings: LessonSettings, lengths: Lengths, run: Run) -> None:
        self.examples, self.settings, self.lengths, self.run = examples, settings._replace(entrants=ENTRANTS), lengths, run
        self.walks = Walks(examples, self.settings, run)

    def is_due(self, solution: Solution) -> bool:
        """Return whether enough is left to describe that more gates may pay."""
        return self.settings.growth_work > 0 and max(self._left(solution)) >= self.settings.growth_bits * BIT

    def worst(self, solution: Solution) -> int:
        """Return the place of the output whose errors take the most bits."""
        return int(np.argmax(self._left(solution)))

    def _most_work(self, to_the_end: bool) -> int:
        return int(self.settings.growth_work / len(self.examples.targets) * (LAST_SHARE if to_the_end else SHARE))

    def expected_work(self, *, to_the_end: bool = False) -> float:
        """Estimate the work of `grow`."""
        unit = self.walks.settings.noisy_fit_work + 1.5 * self.walks.settings.length_work
        expected = unit * sum(LAST_EFFORTS if to_the_end else EFFORTS) * _rounds_to_come(IDLE * N_WAYS, USUAL)
        return min(expected, self._most_work(to_the_end))

    def grown(self, solution: Solution, seed: int, spread: Spread, outlook: Outlook, tell: Tell) -> list[Solution]:
        """Let a solution grow, and its worst target from nothing, too; the shortest first, none if nothing gets shorter."""
        if not self.is_due(solution):
            return []
        report = partial(outlook.report, tell)
        numbers = range(self.settings.n_tries)
        # All circuits of a single target grow to the end, and the others may vote.
        last = numbers if len(self.lengths.known) == 1 else range(1)
        outlook.expect(self, numbers, last)
        grown = spread(partial(self._begun, solution, seed, report), numbers[:1])
        if self._is_longer_than(solution, grown) and self._is_small(solution):
            return []
        outlook.expect(self, numbers[1:], last)
        grown += spread(partial(self._begun, solution, seed, report), numbers[1:])
        grown.sort(key=self.lengths.whole)
        if self._is_longer_than(solution, grown):
            return []
        if self.run.stop():
            return grown[:1]
        outlook.expect(self, (), last)
        ended = spread(partial(self._ended, grown, seed, report), last)
        return sorted(ended, key=self.lengths.whole) or grown[:1]

    def _is_longer_than(self, solution: Solution, others: list[Solution]) -> bool:
        """Return whether no other solution is shorter."""
        return all(self.lengths.whole(other) >= self.lengths.whole(solution) for other in others)

    def _is_small(self, solution: Solution) -> bool:
        """Return whether so little is left that the first rounds must shorten it."""
        return max(self._left(solution)) < SMALL * self.settings.growth_bits * BIT

    def _begun(self, solution: Solution, seed: int, report: Numbered, attempt: int) -> Solution:
        """Let a solution grow, or for further attempts, its worst target from a constant."""
        own_seed, told = seed_from(seed, attempt), partial(report, (False, attempt))
        if not attempt:
            return self.grow(solution, own_seed, told)
        start = with_constant_at(self.worst(solution), solution, self.lengths)
        if further_price(start.circuit, self.lengths.further):
            return self.grow(start, own_seed, told)
        n_inputs = start.circuit.n_inputs
        plain = start._replace(circuit=with_inputs(start.circuit, n_inputs - len(self.lengths.further)))
        grown = self.without_further_inputs().grow(plain, own_seed, told)
        return grown._replace(circuit=with_inputs(grown.circuit, n_inputs))

    def _ended(self, grown: Sequence[Solution], seed: int, report: Numbered, number: int) -> Solution:
        """Let one of some solutions grow for as long as that makes it shorter."""
        own_seed = seed_from(seed, TO_THE_END, number)
        return self.grow(grown[number], own_seed, partial(report, (True, number)), to_the_end=True)

    def grow(self, solution: Solution, seed: int, report: Report = _untold, *, to_the_end: bool = False) -> Solution:
        """Add gates, round after round, as long as the description gets shorter and the work allows it."""
        best, length, work = solution, self.lengths.whole(solution), 0
        most, efforts = self._most_work(to_the_end), LAST_EFFORTS if to_the_end else EFFORTS
        ways: tuple[Way, ...] = (self._extended, self._corrected)
        turn = number = spent = 0
        for place, effort in enumerate(efforts):
            idle = found = rounds = 0
            while idle < IDLE * len(ways) and work < most and best.errors.any() and not self.run.stop():
                try:
                    new = ways[turn % len(ways)](best, effort, seed_from(seed, number))
                except KeyboardInterrupt:  # what has grown is kept
                    self.run.interrupt()
                    break
                work, number, spent, rounds = work + new.work, number + 1, spent + effort, rounds + 1
                new_length = self.lengths.whole(new)
                if new_length < length:  # the same way again
                    best, length, idle, found = new, new_length, 0, found + 1
                else:
                    turn, idle = turn + 1, idle + 1
                left = effort * _rounds_to_come(IDLE * len(ways) - idle, (found + 6 * USUAL) / (rounds + 6))
                left += sum(efforts[place + 1 :]) * _rounds_to_come(IDLE * len(ways), USUAL)
                report(best, length, work, max(0.0, min(left * work / spent, most - work)))
            if best is solution and self._is_small(best):
                break
        return best._replace(reached=not best.errors.any(), work=work)

    def without_further_inputs(self) -> Growth:
        """Return a grower of circuits of the other inputs alone: a further input that is nearly right may mislead."""
        n_inputs = len(self.examples.inputs) - len(self.examples.further)
        examples = self.examples._replace(inputs=np.ascontiguousarray(self.examples.inputs[:n_inputs]), further=())
        return Growth(examples, self.settings, Lengths(examples, self.settings.nand, self.settings.noise), self.run)

    def _left(self, solution: Solution) -> list[int]:
        """Return the length of each target's errors."""
        return list(map(self.lengths.errors, solution.columns, solution.errors.tolist()))

    def _extended(self, start: Solution, effort: int, seed: int) -> Solution:
        """Add gates anywhere to remove errors, and shorten the whole."""
        settings = self.walks.settings
        fitted = self.walks.fit(start, seed, effort * settings.noisy_fit_work)
        short = self.walks.minimise_length(fitted, seed, effort * settings.length_work)
        return short._replace(work=fitted.work + short.work)

    def _corrected(self, start: Solution, effort: int, seed: int) -> Solution:
        """Add a circuit for the rows where the output with the most errors is wrong, and shorten the whole."""
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


def _rounds_to_come(idle: int, share: float) -> float:
    """Return the rounds expected before a given number in a row find nothing, if this share of them finds something."""
    share = min(share, MOST_USUAL)
    return float((1.0 / (1.0 - share) ** idle - 1.0) / share)


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
