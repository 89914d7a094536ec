"""The phases of a lesson: screen targets, fit (errors only), tidy (gates only, no errors), tolerate (gates and errors)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._circuit.gate_list import GateList, cleaned, gate_count
from gradus._lessons.board import load_circuit, new_board, read_circuit
from gradus._lessons.control import Control
from gradus._lessons.description import BIT, FORBIDDEN, FUNCTION_BITS, NAND_BITS, error_tables, gate_table
from gradus._lessons.kernel.walk import BEST, BEST_LIVE, PRICED, RUNNING, WORK, restart_trail, scan, walk
from gradus._lessons.kernel.walk_arrays import N_SPARE, Board, Rules, Trail
from gradus._lessons.packed_examples import PackedExamples

__all__ = ["Draft", "PhaseSettings", "Start", "fit", "scaled", "screen", "tidy", "tolerate", "trail_for"]

SLICE_WORK = 40_000_000  # word operations: about 20 ms
PAIR_WORK = 20_000  # word operations for the pairs of one move; if all pairs took more, only some nodes are candidates
MIN_CANDIDATES = 24
WORK_OF_A_MOVE = 40_000
FIT_THRESHOLDS = np.array([0] * 10 + [-1, -1, 1, 1, 2, 3], dtype=np.int64)
NO_THRESHOLD = np.zeros(1, dtype=np.int64)
MORE_SLOTS = 4  # gates by which a circuit may grow temporarily on the way to a smaller one

Ints = npt.NDArray[np.int64]


class PhaseSettings(NamedTuple):
    """How long the phases take and how they move; the numbers were chosen on training sets that are not reported."""

    nand: bool = False
    noise_rate: float | None = None
    """Share of wrong labels, if it is known."""
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
    tidy_work: int = 15_000_000
    tolerate_work: int = 50_000_000


class Prices(NamedTuple):
    """The costs of a walk: of errors by kind of target, the kind of each target, and of gates; as in `Rules`."""

    errors: Ints
    kind: Ints
    gates: Ints


class Moves(NamedTuple):
    """How a walk moves and when it ends; fields that `Rules` has too mean the same."""

    exact: bool
    thresholds: Ints
    node_chance: int
    stop_cost: int
    shortens: bool
    """Whether it makes circuits smaller: it then has a long history, and ends when it has not improved for a while."""
    latest: bool = False


FITTING = Moves(exact=False, thresholds=FIT_THRESHOLDS, node_chance=32, stop_cost=0, shortens=False)
TIDYING = Moves(exact=True, thresholds=NO_THRESHOLD, node_chance=128, stop_cost=-1, shortens=True)
TOLERATING = Moves(exact=False, thresholds=FIT_THRESHOLDS, node_chance=64, stop_cost=-1, shortens=True)


class Start(NamedTuple):
    """Where a walk starts and what it may use."""

    examples: PackedExamples
    circuit: GateList
    columns: list[int]
    """The target of each output of the circuit."""
    seed: int
    work: int
    """Word operations after which the walk ends."""
    settings: PhaseSettings
    control: Control


class Draft(NamedTuple):
    """A circuit for some targets with its errors, and whether the phase that made it reached its goal."""

    circuit: GateList
    errors: Ints
    reached: bool
    priced: int = 0
    """Pairs of nodes priced by the phase."""
    work: int = 0
    """Word operations of the phase."""

    @property
    def n_gates(self) -> int:
        """Gates that are not constants."""
        return gate_count(self.circuit)


def _history(board: Board, n_gates: int, work: int, settings: PhaseSettings) -> int:
    """Return the length of the history: detours lead long walks to smaller circuits, and short ones have no time for them."""
    if work < settings.long_walk:
        return settings.history
    n_candidates = min(board.n_inputs + n_gates, _max_candidates(len(board.everything))) + settings.fresh_gates
    work_of_a_move = 400 + 2 * len(board.everything) * n_candidates**2
    return max(settings.history, int(settings.history_share * work / work_of_a_move))


def trail_for(board: Board, seed: int, history: int) -> Trail:
    """Make an empty trail for a walk on a board."""
    n_slots = board.n_slots
    return Trail(
        random=np.array([seed], dtype=np.uint64),
        history=np.zeros(history, dtype=np.int64),
        numbers=np.zeros(8, dtype=np.int64),
        sums=np.zeros(4 * len(board.planes), dtype=np.uint64),
        functions=np.zeros(n_slots + N_SPARE, dtype=np.int64),
        sources=np.zeros((n_slots + N_SPARE, 2), dtype=np.int64),
        order=np.zeros(n_slots, dtype=np.int64),
        outputs=np.zeros(len(board.outputs), dtype=np.int64),
    )


def _max_candidates(n_words: int) -> int:
    """Return how many nodes may be candidates of a move, so that pricing all pairs takes bounded time for any examples."""
    return max(int((2 * PAIR_WORK / n_words) ** 0.5), MIN_CANDIDATES)


def scaled(settings: PhaseSettings, examples: PackedExamples) -> PhaseSettings:
    """Increase the work with the number of examples, so that walks on many examples make about as many moves as on few."""
    n_words = examples.inputs.shape[1]
    n_candidates = min(_max_candidates(n_words) + settings.fresh_gates, len(examples.inputs) + settings.spare_gates)
    scale = max(1, 2 * n_words * n_candidates**2 // WORK_OF_A_MOVE)
    return settings._replace(
        fit_work=scale * settings.fit_work,
        noisy_fit_work=scale * settings.noisy_fit_work,
        tidy_work=scale * settings.tidy_work,
        tolerate_work=scale * settings.tolerate_work,
    )


def _run(board: Board, rules: Rules, trail: Trail, control: Control, settings: PhaseSettings, stall: int = 0) -> Draft:
    """Walk in slices until the walk ends or is stopped, and return the best circuit."""
    # With `stall`, it also ends after this much work without an improvement.
    restart_trail(board, rules, trail)
    best, since = int(trail.numbers[BEST]), 0
    size = min(SLICE_WORK, stall // 4) if stall else SLICE_WORK
    while walk(board, rules, trail, size) == RUNNING and not control.stop():
        if trail.numbers[BEST] < best:
            best, since = int(trail.numbers[BEST]), int(trail.numbers[WORK])
        if stall and trail.numbers[WORK] - since >= stall:
            break
    n_live = int(trail.numbers[BEST_LIVE])
    circuit = read_circuit(board, trail.functions, trail.sources, trail.order[:n_live], trail.outputs)
    circuit = cleaned(circuit, nand=settings.nand)
    load_circuit(board, circuit)  # which counts its errors
    reached = bool(trail.numbers[BEST] <= rules.stop_cost)
    return Draft(circuit, board.errors.copy(), reached, int(trail.numbers[PRICED]), int(trail.numbers[WORK]))


def _walk(start: Start, prices: Prices, moves: Moves) -> Draft:
    """Walk from a circuit, and return the best one on the way."""
    settings, work = start.settings, start.work
    board = new_board(start.examples, start.columns, len(prices.gates) - 1)
    load_circuit(board, start.circuit)
    rules = Rules(
        error_cost=prices.errors,
        kind=prices.kind,
        gate_cost=prices.gates,
        exact=moves.exact,
        nand=settings.nand,
        thresholds=moves.thresholds,
        node_chance=moves.node_chance,
        n_spare=settings.fresh_gates,
        max_candidates=_max_candidates(len(board.everything)) + settings.fresh_gates,
        stop_cost=moves.stop_cost,
        max_work=work,
        latest=moves.latest,
    )
    history = _history(board, gate_count(start.circuit), work, settings) if moves.shortens else settings.history
    stall = work // 3 if moves.shortens and not moves.latest else 0
    return _run(board, rules, trail_for(board, start.seed, history), start.control, settings, stall)


def screen(examples: PackedExamples, circuit: GateList, columns: list[int], seed: int) -> Ints:
    """Return the fewest errors that one node and one gate on two nodes make on each target: shape (targets, 2)."""
    # With many nodes or examples, only some of the pairs are tried.
    board = new_board(examples, columns, len(circuit.functions) + 1)
    load_circuit(board, circuit._replace(outputs=np.full(len(columns), -1, dtype=np.int64)))
    rules = Rules(
        error_cost=_error_counts(examples),
        kind=np.zeros(len(columns), dtype=np.int64),
        gate_cost=np.zeros(1, dtype=np.int64),
        exact=False,
        nand=False,
        thresholds=NO_THRESHOLD,
        node_chance=0,
        n_spare=0,
        max_candidates=2 * _max_candidates(examples.inputs.shape[1]),
        stop_cost=0,
        max_work=0,
    )
    return scan(board, rules, trail_for(board, seed, 1))


def _error_counts(examples: PackedExamples) -> Ints:
    """Return a table in which every error costs the same."""
    return BIT * np.arange(examples.n_examples + 1, dtype=np.int64)[np.newaxis]


def fit(start: Start) -> Draft:
    """Change a circuit until no target has an error; gates are free, but only some spare ones may be added."""
    gates = np.zeros(gate_count(start.circuit) + start.settings.spare_gates + 1, dtype=np.int64)
    prices = Prices(_error_counts(start.examples), np.zeros(len(start.columns), dtype=np.int64), gates)
    return _walk(start, prices, FITTING)


def tidy(start: Start, free_gates: int = 0) -> Draft:
    """Look for a smaller circuit without errors; the one given must have none."""
    # If gates up to some number are free, return where the walk ends: some circuit of about that size.
    errors = np.full((1, start.examples.n_examples + 1), FORBIDDEN, dtype=np.int64)
    errors[0, 0] = 0
    n_slots = max(gate_count(start.circuit), free_gates) + MORE_SLOTS
    gates = BIT * np.maximum(np.arange(n_slots + 1, dtype=np.int64) - free_gates, 0)
    prices = Prices(errors, np.zeros(len(start.columns), dtype=np.int64), gates)
    return _walk(start, prices, TIDYING._replace(latest=free_gates > 0))


def tolerate(start: Start) -> Draft:
    """Look for the shortest description: gates and errors, each at its price in bits."""
    examples, settings = start.examples, start.settings
    known = [int(count) for count in np.bitwise_count(examples.known[start.columns]).sum(axis=1)]
    errors, kind = error_tables(known, examples.n_examples, settings.noise_rate)
    n_slots = gate_count(start.circuit) + MORE_SLOTS
    gates = gate_table(len(examples.inputs), n_slots, NAND_BITS if settings.nand else FUNCTION_BITS)
    return _walk(start, Prices(errors, kind, gates), TOLERATING)
