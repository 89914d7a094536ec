"""`Ensemble`: several circuits for the same examples, of which the equally good ones vote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from operator import attrgetter

import numpy as np

from gradus._circuit.gate_list import GateList, empty_circuit
from gradus._circuit.network import network_of
from gradus._core.plain import digest_of
from gradus._core.run import Progress, Run
from gradus._lessons.circuit_learner import CircuitLearner
from gradus._lessons.continued import ContinuedLearner
from gradus._lessons.description import LearnedCircuit, Lengths, Solution, belongs_to
from gradus._lessons.packed_examples import PackedExamples
from gradus._lessons.walks import LessonSettings, Walks, seed_from

__all__ = ["Ensemble"]

MAX_CIRCUITS, USUAL_CIRCUITS = 5, 3
ALL_WORK = 6_000_000_000  # word operations for all circuits together, if their number is not given
ROWS_TO_COMPARE = 4096
RESTARTS = 2
N_VOTES = 9  # if fewer circuits are learned, neighbours about as small join the vote
EQUALLY_GOOD = 1.1  # a circuit votes if its description is at most this many times as long as the shortest
MORE_GATES = 3  # that neighbours may have
NEIGHBOUR_WORK = 4  # times the work of removing gates after a lesson


class Ensemble:
    """Learns circuits that differ in their seeds alone."""

    def __init__(
        self, examples: PackedExamples, settings: LessonSettings, seed: int, run: Run, start: GateList | None = None
    ) -> None:
        self.examples, self.settings, self.seed, self.run, self.start = examples, settings, seed, run, start
        self.circuits: list[LearnedCircuit] = []

    def learn(self, n_circuits: int | None) -> None:
        """Learn this many circuits, or as many as are worth their time; those not begun before a stop are left out."""
        if n_circuits is not None:
            self._learn(range(n_circuits), n_circuits)
            return
        self._learn_enough()
        self._add_rivals()
        ranked, n_voting = self.ranked()
        if not ranked[0].tolerant and not (n_voting > 1 and _agree(ranked[:n_voting])):
            self._add_neighbours(ranked[:n_voting], N_VOTES // n_voting - 1)

    def ranked(self) -> tuple[list[LearnedCircuit], int]:
        """Sort circuits, best first and equal ones in the order they came, and count those about as good as the best."""
        # If some circuits are exact, those that allow errors do not vote.
        ranked = sorted(self.circuits, key=attrgetter("tolerant", "length"))
        best, n_voting = ranked[0], 0
        for circuit in ranked:
            n_voting += circuit.tolerant == best.tolerant and circuit.length <= EQUALLY_GOOD * best.length
        return ranked, n_voting

    def _learn_enough(self) -> None:
        """Learn a second circuit if the first took little work, and if they differ, as many as the work allows."""
        # If two compute the same, no further circuit would change the vote. If the first did not solve all lessons, up to two
        # more are started instead.
        self._learn([0], MAX_CIRCUITS)
        while all(map(attrgetter("unsolved"), self.circuits)) and len(self.circuits) <= RESTARTS:
            if self.run.stopped is not None:
                break
            self._learn([len(self.circuits)], MAX_CIRCUITS)
        # A circuit that was there and is exact needs no rival.
        given = self.start is not None and not self.circuits[0].tolerant
        if len(self.circuits) > 1 or given or self._affordable() == 1:
            return
        self._learn([1], MAX_CIRCUITS)
        if not _agree(self.circuits):
            affordable = self._affordable()
            self._learn(range(2, affordable), max(affordable, 2))

    def _affordable(self) -> int:
        """Return how many circuits the work allows, if all take as much as the longest so far."""
        most_work = max(self.circuits, key=attrgetter("work")).work
        return max(1, min(MAX_CIRCUITS, ALL_WORK // max(1, most_work)))

    def _learn(self, numbers: Sequence[int], of: int) -> None:
        """Learn the circuits of these numbers; `of` is how many there will be at most."""
        self.run.expect(of if len(numbers) > 1 or of < MAX_CIRCUITS else USUAL_CIRCUITS)
        self.circuits += filter(None, self.run.map(partial(self._learn_one, of), numbers))
        if not self.circuits:  # the first one was stopped in another process
            self.circuits += filter(None, [self._learn_one(of, 0)])

    def _learn_one(self, of: int, number: int) -> LearnedCircuit | None:
        """Learn a circuit; only the first is begun after a stop."""
        if number and self.run.stopped is not None:
            return None

        def describe(progress: Progress) -> Progress:
            if of == MAX_CIRCUITS and not self.circuits:  # no more will be learned than their work allows, and seldom so many
                self.run.expect(min(max(1, ALL_WORK // max(1, learner.work)), USUAL_CIRCUITS))
            return replace(progress, detail=f"circuit {number + 1} of up to {of}" if of > 1 else "")

        part = self.run.part(weight=1, describe=describe)
        about = (self.examples, self.settings, self.seed, number, part)
        if number == 0 and self.start is not None:
            learner: CircuitLearner = ContinuedLearner(*about, self.start)
        else:
            learner = CircuitLearner(*about)
        key = partial(digest_of, "circuit", self._digest, number)
        circuit = part.recall(key, learner.learn, (LearnedCircuit, Solution, GateList), self._is_one)
        part.complete()
        return circuit

    @cached_property
    def _digest(self) -> str:
        """A digest of the examples, the settings and the seed."""
        return digest_of(self.examples, self.settings, self.seed, self.start)

    def _is_one(self, circuit: LearnedCircuit) -> bool:
        """Return whether a circuit from a file is one for these examples."""
        columns = list(range(len(self.examples.targets)))
        nothing = Solution(empty_circuit(len(self.examples.inputs)), columns, np.zeros(0, np.int64))
        solutions = (circuit.solution, *circuit.rivals)
        return sorted(circuit.order) == columns and all(belongs_to(solution, nothing) for solution in solutions)

    def _add_rivals(self) -> None:
        """Add the circuits that have grown beside the others."""
        lengths = Lengths(self.examples, self.settings.nand, self.settings.noise)
        for circuit in list(self.circuits):
            for rival in circuit.rivals:
                self.circuits.append(circuit._replace(solution=rival, length=lengths.whole(rival), rivals=()))

    def _add_neighbours(self, parents: Sequence[LearnedCircuit], count: int) -> None:
        """Walk on from each exact circuit through others with a few gates more, and add `count` of these for each."""
        # A neighbour takes a small part of the work of another circuit, and differs where the examples do not decide a value.
        # It gets the description length of the circuit that it comes from.
        walks = Walks(self.examples, self.settings, self.run)

        def walk_on(number: int) -> list[LearnedCircuit]:
            latest, neighbours = parents[number], []
            free_gates = latest.solution.n_gates + MORE_GATES
            for place in range(count):
                if self.run.stop():
                    break
                seed = seed_from(self.seed, number, place, len(latest.order))
                work = NEIGHBOUR_WORK * walks.settings.gates_work
                latest = latest._replace(solution=walks.minimise_gates(latest.solution, seed, work, free_gates))
                neighbours.append(latest)
            return neighbours

        for neighbours in self.run.map(walk_on, range(len(parents))):
            self.circuits += neighbours or []


def _agree(circuits: Sequence[LearnedCircuit]) -> bool:
    """Return whether all circuits are equally long and predict the same on many random rows."""
    first = circuits[0]
    rows = np.random.default_rng(0).random((ROWS_TO_COMPARE, first.solution.circuit.n_inputs)) < 0.5
    answers = network_of(first.solution.circuit).predict(rows)
    for other in circuits[1:]:
        if other.length != first.length or (network_of(other.solution.circuit).predict(rows) != answers).any():
            return False
    return True
