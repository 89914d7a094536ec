"""`Walks`: walks over circuits that remove errors, remove gates, or shorten the description of both.

Each is one kernel with a cost of its own: `fit` minimises errors, `minimise_gates` the gates of a circuit without errors, and
`minimise_length` the bits of gates and errors together. `rank_targets` returns the targets that need least.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._circuit.gate_list import GateList, cleaned
from gradus._core.checks import Noise
from gradus._core.plain import digest_of
from gradus._core.run import Run
from gradus._lessons.description import BIT, FORBIDDEN, Solution, belongs_to, error_tables, gate_table
from gradus._lessons.kernel.board import load_circuit, new_board, read_circuit
from gradus._lessons.kernel.walk import BEST, BEST_LIVE, PRICED, RUNNING, WORK, Rules, new_trail, restart_trail, scan, walk
from gradus._lessons.packed_examples import PackedExamples

__all__ = ["GROWTH_BITS", "GROWTH_WORK", "LessonSettings", "Walks", "seed_from"]

SLICE_WORK = 40_000_000  # word operations: about 20 ms
PAIR_WORK = 20_000  # word operations for the pairs of one move; if all pairs took more, only some nodes are candidates
MIN_CANDIDATES = 24
WORK_OF_A_MOVE = 40_000
THRESHOLDS = np.array([0] * 10 + [-1, -1, 1, 1, 2, 3], dtype=np.int64)
NO_THRESHOLD = np.zeros(1, dtype=np.int64)
GROWTH_BITS, GROWTH_WORK = 400, 2_400_000_000_000
MORE_SLOTS = 4  # gates by which a circuit may grow temporarily on the way to a smaller one

Ints = npt.NDArray[np.int64]


class LessonSettings(NamedTuple):
    """Settings of what is learned and how long it takes; the numbers were chosen on training sets that are not reported.

    Works are word operations. Walks on many examples get more, so that they make about as many moves as on few.
    """

    order: tuple[int, ...] | None = None
    """None: self-paced."""
    exact: bool | None = None
    """Whether errors are forbidden; None: as the examples suggest."""
    nand: bool = False
    noise: Noise = "auto"
    n_tries: int = 3
    spare_gates: int = 30
    """Gates that a fit may add."""
    fresh_gates: int = 10
    """Random gates drawn for every move."""
    history: int = 300
    """Length of the late-acceptance history."""
    history_share: float = 0.1
    """The same for long walks that make circuits smaller, as a share of the moves that their work allows."""
    long_walk: int = 60_000_000
    """Work from which on a walk is long."""
    fit_work: int = 3_000_000
    """Work of the first fits of a lesson; each further round gets four times as much."""
    noisy_fit_work: int = 48_000_000
    """Work of a fit where errors are allowed: it seldom ends early."""
    gates_work: int = 15_000_000
    """Work of removing gates after a lesson."""
    length_work: int = 50_000_000
    """Work of shortening gates and errors after a lesson."""
    growth_bits: int = GROWTH_BITS
    """Errors of a target that are described by fewer bits are left to the lesson; others make it grow."""
    growth_work: int = GROWTH_WORK
    """The most work for that, for all targets together."""
    entrants: int = 1
    """Nodes of which the most promising becomes a candidate of a move, if there are too many."""
    cheap_try: int = 200_000_000
    """Work of a fit up to which a lesson gets all tries; in harder lessons time is better spent on removing gates."""
    width: int = 8
    """Targets that are tried in one lesson."""
    first_rounds: int = 6
    """Rounds of fits in the first lesson; each further lesson has one more, up to `rounds`."""
    rounds: int = 7
    """Each round gives the fits of a lesson four times the work of the one before."""
    doubt: float = 33.0
    """How strong the evidence of noise must be before errors are allowed, see `CircuitLearner._is_doubtful`."""
    few: int = 4
    trust: float = 0.1
    """For each target learned exactly beyond the first `few`, the evidence must be stronger by this share."""
    least_saving: float = 2.5
    """What allowing errors must save at least, in square roots of the length of the exact circuit (both in bits)."""
    most_lost: float = 7.0
    """How much longer than a constant and its errors an exact circuit may be at most, in the same unit."""
    margin: int = 4 * 1024
    """What a circuit must save over a constant, in 1024ths of a bit."""


def seed_from(*numbers: int) -> int:
    """Return the seed of a walk, which depends on these numbers alone."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0])


class Walks:
    """Walks on some examples; each starts at a solution and returns the best one on the way."""

    def __init__(self, examples: PackedExamples, settings: LessonSettings, run: Run) -> None:
        self.examples, self.run = examples, run
        n_words = examples.inputs.shape[1]
        self._max_candidates = max(int((2 * PAIR_WORK / n_words) ** 0.5), MIN_CANDIDATES)
        n_candidates = min(self._max_candidates + settings.fresh_gates, len(examples.inputs) + settings.spare_gates)
        scale = max(1, 2 * n_words * n_candidates**2 // WORK_OF_A_MOVE)
        self.settings = settings._replace(
            fit_work=scale * settings.fit_work,
            noisy_fit_work=scale * settings.noisy_fit_work,
            gates_work=scale * settings.gates_work,
            length_work=scale * settings.length_work,
        )

    def rank_targets(self, circuit: GateList, columns: list[int], seed: int) -> Ints:
        """Return the fewest errors that one node and one gate on two nodes make on each target: shape (targets, 2)."""
        # With many nodes or examples, only some of the pairs are tried.
        board = new_board(self.examples, columns, len(circuit.functions) + 1)
        load_circuit(board, circuit._replace(outputs=np.full(len(columns), -1, dtype=np.int64)))
        costs = _error_counts(self.examples.n_examples), np.zeros(1, dtype=np.int64)
        rules = self._rules(columns, *costs, 0, nand=False, n_spare=0, max_candidates=2 * self._max_candidates)
        best = np.zeros((len(columns), 2), dtype=np.int64)
        scan(board, rules, new_trail(board, seed, 1), best)
        return best

    def is_wide(self, solution: Solution) -> bool:
        """Return whether a circuit has more nodes than a move can price the pairs of."""
        return solution.circuit.n_inputs + solution.n_gates > self._max_candidates

    def fit(self, start: Solution, seed: int, work: int, spare: int | None = None) -> Solution:
        """Change a circuit until no target has an error; gates are free, but only some spare ones may be added."""
        gates = np.zeros(start.n_gates + (self.settings.spare_gates if spare is None else spare) + 1, dtype=np.int64)
        errors = _error_counts(self.examples.n_examples)
        rules = self._rules(start.columns, errors, gates, work, thresholds=THRESHOLDS, node_chance=32)
        return self._walk(start, seed, rules)

    def minimise_gates(self, start: Solution, seed: int, work: int, free_gates: int = 0) -> Solution:
        """Look for a smaller circuit without errors; the one given must have none."""
        # If gates up to some number are free, return where the walk ends: some circuit of about that size.
        errors = np.full((1, self.examples.n_examples + 1), FORBIDDEN, dtype=np.int64)
        errors[0, 0] = 0
        n_slots = max(start.n_gates, free_gates) + MORE_SLOTS
        gates = BIT * np.maximum(np.arange(n_slots + 1, dtype=np.int64) - free_gates, 0)
        rules = self._rules(
            start.columns, errors, gates, work, exact=True, node_chance=128, stop_cost=-1, latest=free_gates > 0
        )
        return self._walk(start, seed, rules)

    def minimise_length(self, start: Solution, seed: int, work: int) -> Solution:
        """Look for the shortest description: gates and errors, each at its price in bits."""
        examples, settings = self.examples, self.settings
        known = np.bitwise_count(examples.known[start.columns]).sum(axis=1).tolist()
        errors, kind = error_tables(known, examples.n_examples, settings.noise)
        gates = gate_table(len(examples.inputs), start.n_gates + MORE_SLOTS, settings.nand)
        rules = self._rules(start.columns, errors, gates, work, kind=kind, thresholds=THRESHOLDS, node_chance=64, stop_cost=-1)
        return self._walk(start, seed, rules)

    def _rules(self, columns: list[int], error_cost: Ints, gate_cost: Ints, work: int, **others: Any) -> Rules:
        """Return rules with these costs; what is not given is as in walks that remove errors."""
        rules = Rules(
            error_cost=error_cost,
            kind=np.zeros(len(columns), dtype=np.int64),
            gate_cost=gate_cost,
            exact=False,
            nand=self.settings.nand,
            thresholds=NO_THRESHOLD,
            node_chance=0,
            n_spare=self.settings.fresh_gates,
            max_candidates=self._max_candidates + self.settings.fresh_gates,
            stop_cost=0,
            max_work=work,
            entrants=self.settings.entrants,
        )
        return rules._replace(**others)

    def _walk(self, start: Solution, seed: int, rules: Rules) -> Solution:
        """Walk, unless the checkpoint has the result."""
        return self.run.recall(
            lambda: digest_of(self._digest, start.circuit, start.columns, seed, rules),
            lambda: self._walked(start, seed, rules),
            (Solution, GateList),
            lambda solution: belongs_to(solution, start),
        )

    @cached_property
    def _digest(self) -> str:
        """A digest of the examples and the settings."""
        return digest_of(self.examples, self.settings)

    def _walked(self, start: Solution, seed: int, rules: Rules) -> Solution:
        """Walk in slices until the walk ends or is stopped, and return the best circuit."""
        board = new_board(self.examples, start.columns, len(rules.gate_cost) - 1)
        load_circuit(board, start.circuit)
        shortens = rules.stop_cost < 0
        trail = new_trail(board, seed, self._history(start, rules.max_work) if shortens else self.settings.history)
        restart_trail(board, rules, trail)
        # A walk that shortens has no goal: it also ends when it has not improved for a third of its work.
        stall = rules.max_work // 3 if shortens and not rules.latest else 0
        size = min(SLICE_WORK, stall // 4) if stall else SLICE_WORK
        best, since = int(trail.numbers[BEST]), 0
        try:
            while walk(board, rules, trail, size) == RUNNING and not self.run.stop():
                if trail.numbers[BEST] < best:
                    best, since = int(trail.numbers[BEST]), int(trail.numbers[WORK])
                if stall and trail.numbers[WORK] - since >= stall:
                    break
        except KeyboardInterrupt:
            self.run.interrupt()
        n_live = int(trail.numbers[BEST_LIVE])
        circuit = read_circuit(board, trail.functions, trail.sources, trail.order[:n_live], trail.outputs)
        circuit = cleaned(circuit, nand=self.settings.nand)
        load_circuit(board, circuit)  # which counts its errors
        reached = bool(trail.numbers[BEST] <= rules.stop_cost)
        work, priced = int(trail.numbers[WORK]), int(trail.numbers[PRICED])
        return Solution(circuit, start.columns, board.errors.copy(), reached, work, priced)

    def _history(self, start: Solution, work: int) -> int:
        """Return the length of the history: detours lead long walks to smaller circuits, and short ones have no time."""
        settings, n_words = self.settings, self.examples.inputs.shape[1]
        if work < settings.long_walk:
            return settings.history
        n_candidates = min(start.circuit.n_inputs + start.n_gates, self._max_candidates) + settings.fresh_gates
        work_of_a_move = 400 + 2 * n_words * n_candidates**2
        return max(settings.history, int(settings.history_share * work / work_of_a_move))


def _error_counts(n_examples: int) -> Ints:
    """Return a table in which every error costs the same."""
    return BIT * np.arange(n_examples + 1, dtype=np.int64)[np.newaxis]
