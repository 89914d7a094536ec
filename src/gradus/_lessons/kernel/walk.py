"""A walk over circuits: price a gate or an output, draw a replacement, accept it late, and continue.

One kernel serves to remove errors and to remove gates: walks differ in the cost, which is a table over the errors of each
target plus a table over the number of live gates. It runs in slices of bounded work and keeps its state on the board and in
the trail, so that the caller can stop it in between.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._core.kernels.compile import compiled, uncounted
from gradus._core.kernels.intrinsics import by_reference
from gradus._lessons.kernel.board import N_SPARE, Board, Ints, set_value
from gradus._lessons.kernel.moves import NODE, PAIR, apply_move, mark_live, price_move
from gradus._lessons.kernel.pricing import (
    choose_function,
    flip,
    flip_output,
    padded,
    price_nodes,
    price_pairs,
    weigh,
    weigh_both,
    weigh_cells,
    weight,
)  # fmt: skip

__all__ = [
    "BEST", "BEST_LIVE", "PRICED", "RUNNING", "WORK", "Rules", "Trail", "gather", "new_trail", "node_promise",
    "restart_trail", "scan", "walk",
]  # fmt: skip

RUNNING, REACHED, SPENT = 0, 1, 2
PROMISE_WORDS = 32
STEP, COST, BEST, WORK, PRICED, BEST_LIVE, MOVED = range(7)
"""Places in a trail's numbers."""


class Rules(NamedTuple):
    """What a walk minimises and how it moves."""

    error_cost: Ints
    """Cost by kind of target and number of errors."""
    kind: Ints
    """The row of `error_cost` for each target."""
    gate_cost: Ints
    """Cost by number of live gates; its length is one more than the most gates allowed."""
    exact: bool
    """Whether no move may add an error; nothing may be wrong at the start."""
    nand: bool
    thresholds: Ints
    """How many errors more a candidate may have to be drawn: one entry is drawn per move."""
    node_chance: int
    """How often, out of 256 times, an existing node is drawn rather than a pair, if there are both."""
    n_spare: int
    """Spare gates drawn afresh for every move."""
    max_candidates: int
    """Nodes, spare gates included, of which all pairs are priced; if there are more, some are drawn."""
    stop_cost: int
    """The walk ends when the best cost is no higher."""
    max_work: int
    """Word operations after which the walk ends."""
    entrants: int = 1
    """If there are too many nodes, each candidate is the best of this many nodes drawn at random."""
    latest: bool = False
    """Whether the latest of equally good circuits counts as the best, not the first."""


class Trail(NamedTuple):
    """State of a walk, and its best circuit so far."""

    random: npt.NDArray[np.uint64]
    history: Ints
    numbers: Ints
    sums: npt.NDArray[np.uint64]
    functions: Ints
    sources: Ints
    order: Ints
    outputs: Ints


def new_trail(board: Board, seed: int, history: int) -> Trail:
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


@uncounted
def draw_word(random):
    """Draw the next 64 random bits (splitmix64)."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    z = random[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@uncounted
def draw(random, n):
    """Draw a whole number below n."""
    return np.int64((draw_word(random) >> np.uint64(32)) * np.uint64(n) >> np.uint64(32))


@uncounted
def total_cost(rules, errors, n_live):
    """Cost of a circuit with these errors and gates."""
    cost = rules.gate_cost[n_live]
    for t in range(len(errors)):
        cost += rules.error_cost[rules.kind[t], errors[t]]
    return cost


def restart_trail(board: Board, rules: Rules, trail: Trail) -> None:
    """Start a walk at the circuit on the board."""
    # Not compiled: the first call would take half a second longer, and each walk no less.
    n_live = int(board.n_live[0])
    cost = rules.gate_cost[n_live] + rules.error_cost[rules.kind, board.errors].sum()
    trail.numbers[:] = 0
    trail.numbers[[COST, BEST, BEST_LIVE]] = cost, cost, n_live
    trail.history[:] = cost
    trail.functions[: board.n_slots] = board.functions[: board.n_slots]
    trail.sources[: board.n_slots] = board.sources[: board.n_slots]
    trail.order[:n_live] = board.order[:n_live]
    trail.outputs[:] = board.outputs


@uncounted
def _keep_best(board, trail, cost):
    trail.numbers[BEST] = cost
    trail.numbers[BEST_LIVE] = board.n_live[0]
    for slot in range(board.n_slots):
        trail.functions[slot] = board.functions[slot]
        trail.sources[slot, 0] = board.sources[slot, 0]
        trail.sources[slot, 1] = board.sources[slot, 1]
    for place in range(board.n_live[0]):
        trail.order[place] = board.order[place]
    for t in range(len(board.outputs)):
        trail.outputs[t] = board.outputs[t]


@uncounted
def draw_function(random, nand):
    """Draw a function that depends on both sources: XOR one time in three, else one with a single 1 or a single 0."""
    if nand:
        return 7
    which = draw(random, 12)
    if which < 4:
        return 6
    return 1 << (which & 3) if which < 8 else 15 ^ 1 << (which & 3)


@uncounted
def gather(board, rules, trail, gate, n_planes):
    """List the candidates: nodes outside the cone, then spare gates; returns the number of nodes and of all."""
    n_nodes = _list_nodes(board, rules, trail, gate, n_planes)
    _draw_spare_gates(board, rules, trail, n_nodes)
    total = n_nodes + rules.n_spare
    n_words, stride = len(board.everything), padded(total)
    for i in range(stride):
        for w in range(n_words):
            board.candidate_values[w * stride + i] = board.values[board.candidates[i], w] if i < total else np.uint64(0)
    return n_nodes, total


@uncounted
def _list_nodes(board, rules, trail, gate, n_planes):
    """List the nodes outside the cone, or some of them if there are too many; returns how many are listed."""
    n_outside = 0
    for node in range(board.n_inputs):
        board.candidates[n_outside] = node
        n_outside += 1
    for place in range(board.n_live[0]):
        node = board.order[place]
        if not board.cone[node]:
            board.candidates[n_outside] = node
            n_outside += 1
    limit = max(rules.max_candidates - rules.n_spare, 2)
    if n_outside <= limit:
        return n_outside
    # The present sources are always among those drawn, so that a move can change only one source.
    kept = 0
    if gate >= 0:
        slot = gate - board.n_inputs - 2
        a, b = board.sources[slot, 0], board.sources[slot, 1]
        for i in range(n_outside):
            if board.candidates[i] == a or board.candidates[i] == b:
                board.candidates[i], board.candidates[kept] = board.candidates[kept], board.candidates[i]
                kept += 1
    window = draw(trail.random, len(board.everything))
    for i in range(kept, limit):
        j = i + draw(trail.random, n_outside - i)
        if rules.entrants > 1:
            best = node_promise(board, board.candidates[j], window, n_planes)
            for _ in range(rules.entrants - 1):
                rival = i + draw(trail.random, n_outside - i)
                promise = node_promise(board, board.candidates[rival], window, n_planes)
                if promise > best:
                    best, j = promise, rival
        board.candidates[i], board.candidates[j] = board.candidates[j], board.candidates[i]
    return limit


@uncounted
def node_promise(board, node, window, n_planes):
    """Return the absolute weights of a node's ones and zeros on some words of examples: how much a gate could gain from it."""
    n_words = len(board.everything)
    ones, total = np.int64(0), np.int64(0)
    for i in range(min(n_words, PROMISE_WORDS)):
        w = window + i
        w -= n_words if w >= n_words else 0
        for k in range(n_planes):
            plane, negative = board.planes[k, w], board.negative[w]
            total += weight(plane, negative, k)
            ones += weight(plane & board.values[node, w], negative, k)
    return abs(ones) + abs(total - ones)


@uncounted
def _draw_spare_gates(board, rules, trail, n_nodes):
    """Add spare gates on two of the listed nodes each; the first quarter of them may be read by those that follow."""
    first = board.n_inputs + 2
    n_readable = n_nodes
    for i in range(rules.n_spare):
        slot = board.n_slots + i
        x = draw(trail.random, n_readable)
        y = draw(trail.random, n_readable - 1)
        y += y >= x
        board.functions[slot] = draw_function(trail.random, rules.nand)
        if n_readable < 2:  # a single input: there is only its complement
            y = x
            board.functions[slot] = 7 if rules.nand else 3
        board.sources[slot, 0] = board.candidates[x]
        board.sources[slot, 1] = board.candidates[y]
        set_value(board, first + slot)
        board.candidates[n_nodes + i] = first + slot
        if i < rules.n_spare // 4:
            n_readable += 1


@uncounted
def pick_move(board, rules, trail, n_nodes, n_candidates, n_planes, old, threshold):
    """Draw a replacement among those at or below the threshold: (whether there is one, kind, a, b, function)."""
    zero, total = price_nodes(board, old, n_candidates, n_planes)
    n_cheap = 0
    if draw(trail.random, 256) < rules.node_chance:
        for i in range(n_nodes):
            board.picks[n_cheap] = i
            n_cheap += zero + board.node_sums[i] <= threshold
        if zero <= threshold and not rules.nand:
            board.picks[n_cheap] = -1
            n_cheap += 1
        if zero + total <= threshold and not rules.nand:
            board.picks[n_cheap] = -2
            n_cheap += 1
    if n_cheap:
        i = board.picks[draw(trail.random, n_cheap)]
        node = board.n_inputs - 1 - i if i < 0 else board.candidates[i]
        return node != old, NODE, node, node, 12
    n_picks = price_pairs(board, n_candidates, n_planes, zero, total, threshold, rules.nand)
    if n_picks == 0:
        return False, NODE, 0, 0, 0
    pair = board.picks[draw(trail.random, n_picks)]
    i, j = pair >> 32, pair & 0xFFFFFFFF
    a, b = board.candidates[i], board.candidates[j]
    if rules.nand:
        return True, PAIR, a, b, 7
    coins = np.int64(draw_word(trail.random) >> np.uint64(60))
    function = choose_function(board, i, j, n_candidates, n_planes, total, coins)
    if function == 12 or function == 10:
        node = a if function == 12 else b
        return node != old, NODE, node, node, 12
    if function == 0 or function == 15:
        node = board.n_inputs + (function == 15)
        return node != old, NODE, node, node, 12
    if function == 3:
        b = a
    elif function == 5:
        a, function = b, 3
    return True, PAIR, a, b, function


@compiled
def walk(board: Board, rules: Rules, trail: Trail, slice_work: int) -> int:
    """Continue a walk for about `slice_work` word operations; returns `RUNNING`, `REACHED` or `SPENT`."""
    # A move is tried here and not in a function of its own, because LLVM optimises a piece once more in each that calls it.
    board, rules, trail = by_reference(board), by_reference(rules), by_reference(trail)
    end = min(trail.numbers[WORK] + slice_work, rules.max_work)
    n_outputs, n_words = len(board.outputs), len(board.everything)
    while trail.numbers[WORK] < end and trail.numbers[BEST] > rules.stop_cost:
        n_live = board.n_live[0]
        place = draw(trail.random, n_live + n_outputs)
        gate, t = np.int64(-1), np.int64(0)
        if place < n_live:
            gate = board.order[place]
            old = gate
            n_touched = flip(board, gate)
        else:
            t = place - n_live
            old = board.outputs[t]
            n_touched = flip_output(board, t)
        n_planes, n_filled = weigh(board, old, n_touched, rules.exact, trail.sums)
        n_nodes, n_candidates = gather(board, rules, trail, gate, n_planes)
        threshold = rules.thresholds[draw(trail.random, len(rules.thresholds))]
        there, kind, a, b, function = pick_move(board, rules, trail, n_nodes, n_candidates, n_planes, old, threshold)
        n_pairs = n_candidates * (n_candidates - 1) // 2
        trail.numbers[PRICED] += n_pairs
        cost = trail.numbers[COST]
        late = trail.numbers[STEP] % len(trail.history)
        if there:
            count = mark_live(board, gate, t, kind, a, b)
            if count < len(rules.gate_cost):
                changed = price_move(board, old, kind, a, b, function, n_touched)
                new_cost = total_cost(rules, board.new_errors, count)
                if new_cost < trail.history[late] or new_cost <= cost:
                    apply_move(board, gate, t, kind, a, b, function, changed)
                    cost = new_cost
                    trail.numbers[COST] = cost
                    trail.numbers[MOVED] += 1
                    if cost < trail.numbers[BEST] or (rules.latest and cost == trail.numbers[BEST]):
                        _keep_best(board, trail, cost)
        trail.history[late] = cost
        trail.numbers[STEP] += 1
        trail.numbers[WORK] += 400 + n_words * (2 * n_pairs * max(n_filled, 1) + 4 * n_candidates + 8 * n_live)
    if trail.numbers[BEST] <= rules.stop_cost:
        return REACHED
    return SPENT if trail.numbers[WORK] >= rules.max_work else RUNNING


@compiled
def scan(board: Board, rules: Rules, trail: Trail, best: Ints) -> None:
    """Find the fewest errors that one node and one gate on two nodes make, for every output of a board."""
    board, rules, trail = by_reference(board), by_reference(rules), by_reference(trail)
    for t in range(len(board.outputs)):
        n_touched = flip_output(board, t)
        n_planes, _ = weigh(board, board.outputs[t], n_touched, rules.exact, trail.sums)
        _, n = gather(board, rules, trail, np.int64(-1), n_planes)
        zero, total = price_nodes(board, board.outputs[t], n, n_planes)
        node, pair = 0, 0
        for a in range(np.uint64(n)):
            sum_a = board.node_sums[a]
            node = min(node, zero + sum_a, zero + total - sum_a)
            weigh_both(board, a, n, n_planes)
            pair = min(pair, (2 * zero + total - weigh_cells(board, a, a, total)) // 2)
        best[t, 0] = board.errors[t] + node
        best[t, 1] = board.errors[t] + min(node, pair)
