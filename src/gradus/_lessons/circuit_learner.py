"""`CircuitLearner`: learns one circuit for all targets, one lesson at a time, the cheapest target first."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from gradus._circuit.gate_list import GateList, cleaned, empty_circuit, select_outputs
from gradus._core.run import Progress, Run
from gradus._lessons.description import (
    BIT,
    LearnedCircuit,
    Lengths,
    Solution,
    judged,
    selected,
    with_constant,
    with_constant_at,
)
from gradus._lessons.growth import Growth, Outlook
from gradus._lessons.packed_examples import PackedExamples, is_contradictory
from gradus._lessons.parities import with_parity
from gradus._lessons.table_lesson import TableLessons
from gradus._lessons.walks import LessonSettings, Walks, seed_from
from gradus._lessons.windows import Windows

__all__ = ["CircuitLearner"]

MAX_FIT_WORK = 6_000_000_000  # word operations: about two seconds
MAX_SHORTEN_WORK = 8_000_000_000
HARD_LESSON = 1_000_000_000
JOINT_STARTS = 2  # per try of a lesson
JOINT_SHARE = 0.75  # of the work of all lessons: the most that a joint start spends on fitting, and again on removing gates
MAX_JOINT_WORK = 4_000_000_000
MORE_GATES = 10  # how many gates more than the circuit it competes with a joint start may use
# A walk's seed is made of its purpose, and of numbers for its place.
FIT, GATES, LENGTH, RANK, GROWTH = range(5)
DOUBT, WHOLE = 3, 4


class CircuitLearner:
    """Learns all targets once; the results of walks in other threads or processes are recorded here, after they have ended."""

    def __init__(self, examples: PackedExamples, settings: LessonSettings, seed: int, number: int, run: Run) -> None:
        self.walks, self.run = Walks(examples, settings, run), run
        self.settings, self._unscaled = self.walks.settings, settings
        self.lengths = Lengths(examples, settings.nand, settings.noise)
        self._growth = Growth(examples, settings, self.lengths, run)
        self.seed, self.number = seed, number
        self.remaining = list(range(len(examples.targets)))
        self.solution = Solution(empty_circuit(len(examples.inputs)), [], np.zeros(0, np.int64), True)
        self.tolerant = settings.exact is False or is_contradictory(examples)
        self.unsolved = False
        self.rivals: list[Solution] = []
        self.work = 0
        self._outlook = Outlook(0)
        # Where a lesson cannot try all targets, small sets of nodes say which one is next.
        many = len(self.remaining) > settings.width and not self.tolerant
        self._tables = TableLessons(examples, self.lengths, settings, run) if many else None
        self._fallback: tuple[tuple[int, int], Solution] | None = None
        """The best trial of the present lesson, and its rank."""

    def learn(self) -> LearnedCircuit:
        """Learn every target, then make the whole circuit smaller."""
        try:
            while self.remaining and not self.run.stop():
                self._lesson()
            if not self.run.stop():
                self._finish()
        except KeyboardInterrupt:
            self.run.interrupt()
        self._fill_up()
        return self._result()

    def refine(self, learned: LearnedCircuit) -> LearnedCircuit:
        """Shorten a circuit that was learned from some of the examples, by the errors on all of them."""
        self.solution, self.remaining = judged(learned.solution.circuit, self.walks.examples), []
        self.tolerant = learned.tolerant or not self.solution.reached
        if self.tolerant:
            work = self.settings.length_work
            self.solution = self._counted(self.walks.minimise_length(self.solution, self._seed(LENGTH, WHOLE), work))
            self._back_to_constants()
        return self._result()._replace(order=learned.order, unsolved=learned.unsolved)

    # One lesson.

    def _seed(self, *place: int) -> int:
        return seed_from(self.seed, self.number, len(self.solution.columns), *place)

    def _map(self, function: Callable[[Any], Solution], items: Sequence[Any]) -> list[Solution]:
        """Walk from each of some items, side by side, and count the work; after a stop, solutions may be missing."""
        return list(map(self._counted, filter(None, self.run.map(function, items))))

    def _counted(self, solution: Solution) -> Solution:
        self.work += solution.work
        return solution

    def _lesson(self) -> None:
        self._outlook = Outlook(self.work)
        solution = self._table_lesson()
        if solution is not None:
            return self._accept(solution)
        residual = self.walks.rank_targets(self.solution.circuit, self.remaining, self._seed(RANK))
        errors = dict(zip(self.remaining, residual[:, 1].tolist(), strict=True))  # that one gate more makes
        easy = [column for column in self.remaining if errors[column] == 0]
        if self.settings.order is not None:
            candidates = [self.settings.order[len(self.solution.columns)]]
        elif easy and not self.tolerant:
            candidates = easy[:1]
        else:
            shares = {column: self._share_left(column, errors[column]) for column in self.remaining}
            candidates = sorted(self.remaining, key=shares.__getitem__)[: self.settings.width]
        if not self.tolerant:
            solution = self._exact_lesson(candidates, candidates[0] in easy)
            if solution is not None:
                return self._accept(solution)
            if self.run.stop():
                return None
            self.tolerant = True
        return self._accept(self._tolerant_lesson(candidates))

    def _table_lesson(self) -> Solution | None:
        """Learn the target that the smallest set of nodes decides, from its table; None if no such set is known."""
        if self._tables is None or self.tolerant:
            return None
        order, done = self.settings.order, len(self.solution.columns)
        columns = self.remaining if order is None else [order[done]]
        self._report(columns[0], self.lengths.minority[columns[0]])
        candidates = self._tables.candidates(self.solution.circuit, columns)
        if self.run.stop():
            return None
        solved = _solved(self._map(partial(self._tables.learn, self.solution, self._seed(FIT)), candidates))
        return min(solved, key=self._price, default=None)

    def _share_left(self, column: int, errors: int) -> float:
        """Return the bits of these errors, as a share of the bits that a constant leaves."""
        constant = self.lengths.labels(column)
        return self.lengths.errors(column, min(errors, self.lengths.minority[column])) / constant if constant else 0.0

    def _accept(self, solution: Solution) -> None:
        self.remaining.remove(solution.columns[-1])
        self.solution, self._fallback = solution, None

    def _report(self, target: int | None, errors: int, stage: str = "teach") -> None:
        self._tell(self.solution, self.lengths.whole(self.solution), Progress(stage=stage, target=target, errors=errors))

    def _tell(self, solution: Solution, length: int, progress: Progress) -> None:
        """Report on the circuit so far."""
        done, n = len(self.solution.columns), len(self.lengths.known)
        lesson = 2 * (done + 1) * self._outlook.share(self.work)
        share = 0.9 * (done * (done + 1) + lesson) / (n * (n + 1)) if done < n else 0.92
        known = replace(progress, done=done, total=n, gates=solution.n_gates, bits=length // BIT)
        self.run.stop(known, share=share)

    def _constant(self, column: int) -> Solution:
        """Return the present solution with a constant for one more column."""
        return with_constant(column, self.solution, self.lengths)

    def _trials(self, trials: Sequence[tuple[int, int]], work: int, spare: int | None = None) -> list[Solution]:
        """Try to learn columns on top of the present circuit; the best trial is kept in case of an early stop."""
        solutions = self._map(partial(self._try, work, spare), trials)
        for solution in solutions:
            column = solution.columns[-1]
            rank = self.lengths.whole(solution) - self.lengths.whole(self._constant(column)), column
            if rank[0] < 0 and (self._fallback is None or rank < self._fallback[0]):
                self._fallback = (rank, solution)
        return solutions

    def _try(self, work: int, spare: int | None, trial: tuple[int, int]) -> Solution:
        """Fit a column on top of the present circuit; then remove gates, or where errors are allowed, shorten both."""
        column, place = trial[0], (*trial, work)
        self._report(column, self.lengths.minority[column])
        circuit = select_outputs(self.solution.circuit, [*range(len(self.solution.columns)), -1])  # which has no node yet
        start = Solution(circuit, [*self.solution.columns, column], np.append(self.solution.errors, 0))
        fitted = self.walks.fit(start, self._seed(FIT, *place), work, spare)
        self._report(column, int(fitted.errors[-1]))
        if self.tolerant:
            short = self.walks.minimise_length(fitted, self._seed(LENGTH, *place), self.settings.length_work)
            return short._replace(work=fitted.work + short.work)
        if fitted.reached and spare is None:
            small = self.walks.minimise_gates(fitted, self._seed(GATES, *place), self.settings.gates_work)
            return small._replace(reached=True, work=fitted.work + small.work)
        return fitted

    def _exact_lesson(self, candidates: list[int], easy: bool) -> Solution | None:
        """Learn the candidate that needs the fewest gates, without errors; None if labels seem to be wrong."""
        if easy:
            first = self._trials([(candidates[0], 0)], self.settings.fit_work, spare=1)[0]
            if first.reached:
                return first
        field, before = candidates, self.work
        # Every target learned exactly suggests that labels are clean, so the next one gets more rounds.
        for round_number in range(min(self.settings.first_rounds + len(self.solution.columns), self.settings.rounds)):
            work = min(self.settings.fit_work * 4**round_number, MAX_FIT_WORK)
            trials = self._trials([(column, 0) for column in field], work)
            if self.run.stop():
                return None
            solved = _solved(trials) or (self._parities_of_nodes(field) if round_number == 0 else [])
            if solved:
                break
            trials = sorted(trials, key=lambda trial: int(trial.errors[-1]))[: max(2, len(field) // 2)]
            field = [trial.columns[-1] for trial in trials]  # the closest ones continue
        if not solved:
            return self._unsolved_lesson(trials)
        best = min(solved, key=self._price)
        if work <= self.settings.cheap_try:
            more = self._trials([(best.columns[-1], attempt) for attempt in range(1, self.settings.n_tries)], work)
            best = min([best, *_solved(more)], key=self._price)
        best = self._shortened(best, self.work - before)
        return self._noise_checked(best) if self.settings.exact is None else best

    def _parities_of_nodes(self, columns: list[int]) -> list[Solution]:
        """Return solutions for the columns that are parities of present nodes, if these gates are shorter than the labels."""
        solutions = [with_parity(self.solution, column, self.walks.examples) for column in columns if not self.settings.nand]
        return [solution for solution in solutions if solution is not None and self._price(solution)[0] < 1]

    def _unsolved_lesson(self, trials: list[Solution]) -> Solution | None:
        """Choose the target that came closest, unless its errors look like noise; later lessons may help to repair them."""
        closest = min(trials, key=lambda trial: int(trial.errors.sum()))
        # Each target that was learned exactly makes wrong labels less likely.
        doubt = self.settings.doubt * (1 + len(self.solution.columns))
        return None if self.settings.exact is None and self._is_doubtful(closest, 0, doubt) else closest

    def _shortened(self, solution: Solution, work: int) -> Solution:
        """Remove gates after a hard lesson for as long as it took: every needless gate makes the next lesson harder."""
        if work < HARD_LESSON or self.run.stop():
            return solution
        work = min(work, MAX_SHORTEN_WORK) // 2
        repaired = self._counted(self._repaired(solution, work, WHOLE))
        if not repaired.reached:
            return solution
        small = self._counted(self.walks.minimise_gates(repaired, self._seed(GATES, WHOLE), work // 4))
        return small._replace(reached=True) if small.n_gates < solution.n_gates else solution

    def _repaired(self, solution: Solution, work: int, *place: int) -> Solution:
        """Shorten with errors allowed, then repair these: this reaches smaller circuits than removing gates alone."""
        short = self.walks.minimise_length(solution, self._seed(LENGTH, *place), work)
        fitted = self.walks.fit(short, self._seed(FIT, WHOLE, *place), work)
        return fitted._replace(work=short.work + fitted.work)

    def _price(self, solution: Solution) -> tuple[float, int]:
        """Return the bits of gates that the last column adds, per bit of its labels: rare values prove little."""
        added = self.lengths.gates(solution.n_gates) - self.lengths.gates(self.solution.n_gates)
        return added / max(self.lengths.labels(solution.columns[-1]), 1), solution.columns[-1]

    def _noise_checked(self, solution: Solution) -> Solution | None:
        """Return an exact solution, made smaller if it is doubtful, or None if it is so long that labels must be wrong."""
        if not self._is_doubtful(solution, 0):
            return solution
        work, settings = 10 * self.settings.gates_work, self.settings
        smaller = self._map(lambda k: self.walks.minimise_gates(solution, self._seed(GATES, DOUBT, k), work), range(2))
        smallest = min(smaller, key=attrgetter("n_gates"), default=solution)._replace(reached=True)
        # With many targets there are many chances of a false alarm, and those learned exactly suggest clean labels.
        doubt = settings.doubt * (1 + settings.trust * max(len(self.solution.columns) - settings.few, 0))
        return None if self._is_doubtful(smallest, 1, doubt) else smallest

    def _is_doubtful(self, solution: Solution, attempt: int, doubt: float | None = None) -> bool:
        """Return whether allowing errors saves so much that the errors must be noise."""
        # A flipped label costs an exact circuit many gates, but few bits as an error; on clean examples, allowing an error
        # saves little. So the evidence is the bits saved, times the bits saved per error, over the square root of the length
        # (longer circuits leave more to chance). On training sets that are not reported it was at most 22 for clean examples
        # of the paper's problems, and at least 34 with 5 % of the labels flipped; some tiny tables exceed it by mistake.
        constant = self._constant(solution.columns[-1])
        lost = (self.lengths.whole(solution) - self.lengths.whole(constant)) / BIT
        # Nor is a circuit believed that is so much longer than the labels: of random labels by at least 9, of clean ones by at
        # most 4.5.
        if lost > self.settings.most_lost * math.sqrt(self.lengths.whole(solution) / BIT):
            return True
        work, seed = self.settings.length_work // 2, self._seed(LENGTH, DOUBT, attempt)
        rival = self._counted(self.walks.minimise_length(solution, seed, work))
        length = self.lengths.whole(solution) / BIT
        saved, errors = length - self.lengths.whole(rival) / BIT, int(rival.errors.sum())
        chance = math.sqrt(length)
        return saved > self.settings.least_saving * chance and saved * saved > (doubt or self.settings.doubt) * chance * errors

    def _tolerant_lesson(self, candidates: list[int]) -> Solution:
        """Learn the candidate with the shortest description, relative to that of its labels."""
        base = self.lengths.whole(self.solution)

        def score(solution: Solution) -> tuple[float, int]:
            column = solution.columns[-1]
            return (self.lengths.whole(solution) - base) / max(self.lengths.labels(column), 1), column

        work = self.settings.noisy_fit_work
        trials = self._trials([(column, 0) for column in candidates], work)
        best = min(trials, key=score, default=self._constant(candidates[0]))
        more = self._trials([(best.columns[-1], attempt) for attempt in range(1, self.settings.n_tries)], work)
        best = self._grown(min([best, *more], key=score))
        constant = self._constant(best.columns[-1])
        longer = self.lengths.whole(best) + self._margin(best.circuit, -1) > self.lengths.whole(constant)
        return constant if longer else best

    def _grown(self, solution: Solution) -> Solution:
        """Let a solution grow if it leaves many errors."""
        grown = self._growth.grown(solution, self._seed(GROWTH), self._map, self._outlook, self._grew)
        if grown:
            self.unsolved = False  # growth has tried other starts
            solution, *self.rivals = grown
        return solution

    def _grew(self, solution: Solution, length: int) -> None:
        """Report that a solution has grown."""
        self._tell(solution, length, Progress(stage="grow", target=solution.columns[-1], errors=int(solution.errors.sum())))

    def _margin(self, circuit: GateList, place: int) -> int:
        """By how much an output must be shorter to describe than its constant."""
        is_input = circuit.outputs[place] < circuit.n_inputs - len(self.lengths.further)
        # A gate pays for the choice of its sources, and a further input has a price; any other input that is the output was
        # chosen among all of them and their complements, too.
        return self.settings.margin + (round(BIT * math.log2(2 * circuit.n_inputs)) if is_input else 0)

    # The end.

    def _finish(self) -> None:
        """Make the whole circuit smaller, for longer than after a lesson."""
        self._report(None, int(self.solution.errors.sum()), "minimise")
        if not self.tolerant:
            if self.solution.errors.any() and self._is_close():
                self._repair_errors()
            self._compare_with_joint_starts()
            self.tolerant = bool(self.solution.errors.any())
            self.solution = self._grown(self.solution)
        if not self.tolerant and self.walks.is_wide(self.solution):
            windows = Windows(self.walks.examples, self._unscaled, self.run)
            self.solution = self._counted(windows.minimise_gates(self.solution, self._seed(GATES, WHOLE)))
        work = self.settings.length_work if self.tolerant else self.settings.gates_work
        work = max(2 * work, self.work // 40)
        improved = self._map(partial(self._improved, work), range(self.settings.n_tries))
        self.solution = min([self.solution, *improved], key=self.lengths.whole)
        if self.tolerant:
            self._back_to_constants()

    def _improved(self, work: int, attempt: int) -> Solution:
        """Return the solution with fewer gates, or where errors are allowed, of fewer bits."""
        start, seed = self.solution, self._seed(WHOLE, attempt)
        if self.tolerant:
            return self.walks.minimise_length(start, seed, work)
        if work < self.settings.long_walk:
            return self.walks.minimise_gates(start, seed, work)
        repaired = self._repaired(start, work, WHOLE, attempt)
        small = self.walks.minimise_gates(repaired if repaired.reached else start, seed, work)
        return small._replace(work=repaired.work + small.work)

    def _repair_errors(self) -> None:
        """Repair the errors that unsolved lessons left, now that the circuit can be shortened for all targets together."""
        start = best = self.solution
        attempt, idle = 0, -1  # the first time, shortening the circuit may well add errors
        while not best.reached and idle < 2 and not self.run.stop():
            self.solution = self._counted(self._repaired(self.solution, MAX_SHORTEN_WORK, WHOLE, attempt))
            attempt += 1
            better = idle < 0 or self.solution.errors.sum() < best.errors.sum() or self.solution.reached
            best, idle = (self.solution, 0) if better else (best, idle + 1)
        # After an early stop the circuit may be worse than at the start.
        self.solution = best if best.reached else min(start, best, key=self.lengths.whole)
        self.unsolved = self._is_close() and not best.reached

    def _compare_with_joint_starts(self) -> None:
        """Fit all targets at once if the lessons failed: errors are left, or the circuit is longer than the labels."""
        # If targets share no simple parts (multipliers), each lesson only lengthens the circuit, and one that is fitted to all
        # targets from the beginning can be shorter.
        failed = bool(self.solution.errors.any())
        labels = sum(map(self.lengths.labels, self.solution.columns))
        if self.run.stop() or not (failed or self.lengths.whole(self.solution) > labels):
            return
        most_gates = self.solution.n_gates + (self.settings.spare_gates if failed else MORE_GATES)
        work = min(int(JOINT_SHARE * self.work), MAX_JOINT_WORK)
        numbers = range(JOINT_STARTS * self.settings.n_tries)
        solutions = self._map(partial(self._joint_start, most_gates, work), numbers)
        best = min(_solved(solutions), key=attrgetter("n_gates"), default=None)
        if best is not None:
            self.solution = best if failed or best.n_gates < self.solution.n_gates else self.solution
            self.unsolved = False

    def _joint_start(self, most_gates: int, work: int, number: int) -> Solution:
        """Fit all targets at once with at most this many gates; if that succeeds, remove gates."""
        columns, place = self.solution.columns, (WHOLE, number, most_gates)
        circuit = empty_circuit(self.solution.circuit.n_inputs, len(columns))
        nothing = Solution(circuit, columns, np.zeros(len(columns), np.int64))
        fitted = self.walks.fit(nothing, self._seed(FIT, *place), work, most_gates)
        if not fitted.reached or self.run.stop():
            return fitted
        small = self.walks.minimise_gates(fitted, self._seed(GATES, *place), work)
        return small._replace(reached=True, work=fitted.work + small.work)

    def _is_close(self) -> bool:
        """Return whether so few labels are wrong that repairing them is worth the time."""
        return int(self.solution.errors.sum()) * 20 <= sum(self.lengths.known)

    def _back_to_constants(self) -> None:
        """Replace the circuit of a target by a constant if that is hardly longer: naming an output's node is not free."""
        for place in range(len(self.solution.columns)):
            plain = with_constant_at(place, self.solution, self.lengths)
            margin = self._margin(self.solution.circuit, place)
            if self.lengths.whole(plain) <= self.lengths.whole(self.solution) + margin:
                self.solution = plain

    def _fill_up(self) -> None:
        """Give the targets that were not learned in time the best trial so far, or a constant."""
        if self._fallback is not None:
            self._accept(self._fallback[1])
        for column in list(self.remaining):
            self._accept(self._constant(column))

    def _result(self) -> LearnedCircuit:
        columns = self.solution.columns
        in_order = selected(self.solution, list(map(columns.index, range(len(columns)))))
        return LearnedCircuit(
            solution=in_order._replace(circuit=cleaned(in_order.circuit, nand=self.settings.nand)),
            order=tuple(columns),
            length=self.lengths.whole(self.solution),
            tolerant=self.tolerant,
            unsolved=self.unsolved,
            work=self.work,
            rivals=tuple(self.rivals),
        )


def _solved(solutions: Sequence[Solution]) -> list[Solution]:
    """Return those that have no errors."""
    return [solution for solution in solutions if solution.reached]
