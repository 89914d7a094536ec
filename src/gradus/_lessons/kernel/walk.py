"""A walk over circuits: price a gate or an output, draw a replacement, accept it late, and continue.

One kernel serves fitting and tidying; they differ in the cost, which is a table over the errors of each target plus a table
over the number of live gates. It runs in slices of bounded work and keeps its state on the board and in the trail, so that
the caller can stop it in between.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gradus._core.kernels.compile import compiled, uncounted
from gradus._core.kernels.intrinsics import popcount
from gradus._lessons.kernel.pricing import (
    choose_function,
    flip,
    flip_output,
    gate_word,
    padded,
    price_nodes,
    price_pairs,
    weigh,
    weigh_both,
    weigh_cells,
)
from gradus._lessons.kernel.walk_arrays import N_SPARE, Board, Rules, Trail

__all__ = ["BEST", "BEST_LIVE", "PRICED", "RUNNING", "WORK", "evaluate_board", "gather", "restart_trail", "scan", "walk"]

RUNNING, REACHED, SPENT = 0, 1, 2
NODE, PAIR = 0, 1
STEP, COST, BEST, WORK, PRICED, BEST_LIVE, MOVED = range(7)
"""Places in a trail's numbers."""


@uncounted
def draw_word(trail):
    """Draw the next 64 random bits (splitmix64)."""
    trail.random[0] += np.uint64(0x9E3779B97F4A7C15)
    z = trail.random[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@uncounted
def draw(trail, n):
    """Draw a whole number below n."""
    return np.int64((draw_word(trail) >> np.uint64(32)) * np.uint64(n) >> np.uint64(32))


@uncounted
def set_wrong(board, t):
    """Mark and count the examples on which an output differs from its target."""
    node = board.outputs[t]
    count = np.uint64(0)
    for w in range(len(board.everything)):
        board.wrong[t, w] = (board.values[node, w] ^ board.targets[t, w]) & board.known[t, w]
        count += popcount(board.wrong[t, w])
    board.errors[t] = np.int64(count)


@uncounted
def set_value(board, node):
    """Compute a gate from its sources."""
    slot = node - board.n_inputs - 2
    a, b = board.sources[slot, 0], board.sources[slot, 1]
    function = board.functions[slot]
    for w in range(len(board.everything)):
        board.values[node, w] = gate_word(function, board.values[a, w], board.values[b, w], board.everything[w])


@compiled
def evaluate_board(board: Board) -> None:
    """Compute every gate and every output's errors."""
    for place in range(board.n_live[0]):
        set_value(board, board.order[place])
    for t in range(len(board.outputs)):
        set_wrong(board, t)


@uncounted
def total_cost(rules, errors, n_live):
    """Cost of a circuit with these errors and gates."""
    cost = rules.gate_cost[n_live]
    for t in range(len(errors)):
        cost += rules.error_cost[rules.kind[t], errors[t]]
    return cost


@compiled
def restart_trail(board: Board, rules: Rules, trail: Trail) -> None:
    """Start a walk at the circuit on the board."""
    cost = total_cost(rules, board.errors, board.n_live[0])
    trail.numbers[:] = 0
    trail.numbers[COST] = cost
    trail.history[:] = cost
    _keep_best(board, trail, cost)


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
def draw_function(trail, nand):
    """Draw a function that depends on both sources: XOR one time in three, else one with a single 1 or a single 0."""
    if nand:
        return 7
    which = draw(trail, 12)
    if which < 4:
        return 6
    return 1 << (which & 3) if which < 8 else 15 ^ 1 << (which & 3)


@uncounted
def gather(board, rules, trail, gate):
    """List the candidates: nodes outside the cone, then spare gates on two of them; returns the number of nodes and of all."""
    # If there are too many nodes, some are drawn; the present sources are always among them, so that a move can change only
    # one source.
    first = board.n_inputs + 2
    n = 0
    for node in range(board.n_inputs):
        board.candidates[n] = node
        n += 1
    for place in range(board.n_live[0]):
        node = board.order[place]
        if not board.cone[node]:
            board.candidates[n] = node
            n += 1
    n_spare = rules.n_spare
    limit = max(rules.max_candidates - n_spare, 2)
    if n > limit:
        kept = 0
        if gate >= 0:
            a, b = board.sources[gate - first, 0], board.sources[gate - first, 1]
            for i in range(n):
                if board.candidates[i] == a or board.candidates[i] == b:
                    board.candidates[i], board.candidates[kept] = board.candidates[kept], board.candidates[i]
                    kept += 1
        for i in range(kept, limit):
            j = i + draw(trail, n - i)
            board.candidates[i], board.candidates[j] = board.candidates[j], board.candidates[i]
        n = limit
    n_plain = n
    for i in range(n_spare):
        slot = board.n_slots + i
        x = draw(trail, n)
        y = draw(trail, n - 1)
        y += y >= x
        board.functions[slot] = draw_function(trail, rules.nand)
        if n < 2:  # a single input: there is only its complement
            y = x
            board.functions[slot] = 7 if rules.nand else 3
        board.sources[slot, 0] = board.candidates[x]
        board.sources[slot, 1] = board.candidates[y]
        set_value(board, first + slot)
        board.candidates[n_plain + i] = first + slot
        if i < n_spare // 4:  # later spare gates may read these
            n = n_plain + i + 1
    total = n_plain + n_spare
    n_words, stride = len(board.everything), padded(total)
    for i in range(stride):
        for w in range(n_words):
            board.candidate_values[w * stride + i] = board.values[board.candidates[i], w] if i < total else np.uint64(0)
    return n_plain, total


@uncounted
def mark_live(board, gate, t, kind, a, b):
    """Mark the nodes that would be live after a move, and count the gates."""
    # The move replaces a gate (or, if `gate` is -1, output t) by node a, or by a new function of a and b.
    first = board.n_inputs + 2
    board.mark[:] = 0
    count = 0
    for u in range(len(board.outputs)):
        node = board.outputs[u]
        if gate < 0 and u == t:
            board.mark[a] = 1
            if kind == PAIR:
                board.mark[b] = 1
                count += 1
        elif node == gate and kind == NODE:
            board.mark[a] = 1
        else:
            board.mark[node] = 1
    if gate >= 0:
        for place in range(board.n_live[0] - 1, -1, -1):
            node = board.order[place]
            if not (board.cone[node] and board.mark[node]):
                continue
            count += 1
            if node == gate:
                board.mark[a] = 1
                board.mark[b] = 1
                break
            for terminal in range(2):
                source = board.sources[node - first, terminal]
                board.mark[a if source == gate and kind == NODE else source] = 1
    for slot in range(board.n_slots + N_SPARE - 1, board.n_slots - 1, -1):
        if board.mark[first + slot]:
            count += 1
            board.mark[board.sources[slot, 0]] = 1
            board.mark[board.sources[slot, 1]] = 1
    for place in range(board.n_live[0] - 1, -1, -1):
        node = board.order[place]
        if board.mark[node] and not board.cone[node]:
            count += 1
            board.mark[board.sources[node - first, 0]] = 1
            board.mark[board.sources[node - first, 1]] = 1
    return count


@uncounted
def _free_slot(board, start):
    slot = start
    while board.used[slot]:
        slot += 1
    return slot


@uncounted
def apply_move(board, gate, t, kind, a, b, function, changed):
    """Carry out the move for which `mark_live` was called last."""
    first = board.n_inputs + 2
    n = 0
    for place in range(board.n_live[0]):
        node = board.order[place]
        if not board.mark[node] or (node == gate and kind == NODE):
            board.used[node - first] = 0
        elif not board.cone[node]:
            board.next_order[n] = node
            n += 1
    search = 0
    for slot in range(board.n_slots, board.n_slots + N_SPARE):
        if not board.mark[first + slot]:
            continue
        search = _free_slot(board, search)
        board.used[search] = 1
        board.functions[search] = board.functions[slot]
        for terminal in range(2):
            source = board.sources[slot, terminal]
            # For a spare gate that was moved into a slot, `picks` has its new node.
            board.sources[search, terminal] = board.picks[source - first] if source >= first + board.n_slots else source
        board.picks[slot] = first + search
        for w in range(len(board.everything)):
            board.values[first + search, w] = board.values[first + slot, w]
        board.next_order[n] = first + search
        n += 1
    a = board.picks[a - first] if a >= first + board.n_slots else a
    b = board.picks[b - first] if b >= first + board.n_slots else b
    if gate < 0:  # noqa: SIM108 - a ternary would not fit on the line
        n = _set_output(board, t, kind, a, b, function, n, search)
    else:
        n = _set_gate(board, gate, kind, a, b, function, n)
    for place in range(n):
        board.order[place] = board.next_order[place]
    board.n_live[0] = n
    if not changed:
        return
    if gate < 0:
        set_wrong(board, t)
        return
    for place in range(n):
        if board.cone[board.order[place]]:
            set_value(board, board.order[place])
    for u in range(len(board.outputs)):
        if board.cone[board.outputs[u]] or board.outputs[u] == a:
            set_wrong(board, u)


@uncounted
def _set_output(board, t, kind, a, b, function, n, search):
    """Point an output at a node, or at a new gate."""
    first = board.n_inputs + 2
    board.outputs[t] = a
    if kind == PAIR:
        slot = _free_slot(board, search)
        board.used[slot] = 1
        board.functions[slot] = function
        board.sources[slot, 0] = a
        board.sources[slot, 1] = b
        board.outputs[t] = first + slot
        set_value(board, first + slot)
        board.next_order[n] = first + slot
        n += 1
    return n


@uncounted
def _set_gate(board, gate, kind, a, b, function, n):
    """Replace a gate; the gates of its cone follow all others in the new order."""
    first = board.n_inputs + 2
    if kind == PAIR:
        board.functions[gate - first] = function
        board.sources[gate - first, 0] = a
        board.sources[gate - first, 1] = b
    else:
        for u in range(len(board.outputs)):
            if board.outputs[u] == gate:
                board.outputs[u] = a
    for place in range(board.n_live[0]):
        node = board.order[place]
        if not (board.cone[node] and board.mark[node]) or (node == gate and kind == NODE):
            continue
        if kind == NODE:
            for terminal in range(2):
                if board.sources[node - first, terminal] == gate:
                    board.sources[node - first, terminal] = a
        board.next_order[n] = node
        n += 1
    return n


@uncounted
def pick_move(board, rules, trail, n_plain, n_candidates, n_planes, old, threshold):
    """Draw a replacement among those at or below the threshold: (found, kind, a, b, function)."""
    zero, total = price_nodes(board, old, n_candidates, n_planes)
    n_nodes = 0
    if draw(trail, 256) < rules.node_chance:
        for i in range(n_plain):
            board.picks[n_nodes] = i
            n_nodes += zero + board.node_sums[i] <= threshold
        if zero <= threshold and not rules.nand:
            board.picks[n_nodes] = -1
            n_nodes += 1
        if zero + total <= threshold and not rules.nand:
            board.picks[n_nodes] = -2
            n_nodes += 1
    if n_nodes:
        i = board.picks[draw(trail, n_nodes)]
        node = board.n_inputs - 1 - i if i < 0 else board.candidates[i]
        return node != old, NODE, node, node, 12
    n_picks = price_pairs(board, n_candidates, n_planes, zero, total, threshold, rules.nand)
    if n_picks == 0:
        return False, NODE, 0, 0, 0
    pair = board.picks[draw(trail, n_picks)]
    i, j = pair >> 32, pair & 0xFFFFFFFF
    a, b = board.candidates[i], board.candidates[j]
    if rules.nand:
        return True, PAIR, a, b, 7
    coins = np.int64(draw_word(trail) >> np.uint64(60))
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


@uncounted
def price_move(board, old, kind, a, b, function, n_touched):
    """Compute the errors of every target after a move; returns whether any value changes."""
    changed = np.uint64(0)
    for u in range(len(board.errors)):
        board.new_errors[u] = board.errors[u]
    for w in range(len(board.everything)):
        if kind == NODE:
            value = board.values[a, w]
        else:
            value = gate_word(function, board.values[a, w], board.values[b, w], board.everything[w])
        difference = value ^ board.values[old, w]
        changed |= difference
        if difference:
            for i in range(n_touched):
                u = board.touched[i]
                board.new_errors[u] += np.int64(popcount(difference & board.breaks[u, w]))
                board.new_errors[u] -= np.int64(popcount(difference & board.mends[u, w]))
    return changed != 0


@uncounted
def step(board, rules, trail):
    """Try one move; returns the work it took."""
    n_live, n_outputs = board.n_live[0], len(board.outputs)
    n_words = len(board.everything)
    place = draw(trail, n_live + n_outputs)
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
    n_plain, n_candidates = gather(board, rules, trail, gate)
    threshold = rules.thresholds[draw(trail, len(rules.thresholds))]
    found, kind, a, b, function = pick_move(board, rules, trail, n_plain, n_candidates, n_planes, old, threshold)
    n_pairs = n_candidates * (n_candidates - 1) // 2
    trail.numbers[PRICED] += n_pairs
    cost = trail.numbers[COST]
    late = trail.numbers[STEP] % len(trail.history)
    if found:
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
    return 400 + n_words * (2 * n_pairs * max(n_filled, 1) + 4 * n_candidates + 8 * n_live)


@compiled
def walk(board: Board, rules: Rules, trail: Trail, slice_work: int) -> int:
    """Continue a walk for about `slice_work` word operations; returns `RUNNING`, `REACHED` or `SPENT`."""
    end = min(trail.numbers[WORK] + slice_work, rules.max_work)
    while trail.numbers[WORK] < end and trail.numbers[BEST] > rules.stop_cost:
        trail.numbers[WORK] += step(board, rules, trail)
    if trail.numbers[BEST] <= rules.stop_cost:
        return REACHED
    return SPENT if trail.numbers[WORK] >= rules.max_work else RUNNING


@compiled
def scan(board: Board, rules: Rules, trail: Trail) -> npt.NDArray[np.int64]:
    """Return the fewest errors that one node and one gate on two nodes make, for every output of a board."""
    best = np.empty((len(board.outputs), 2), dtype=np.int64)
    for t in range(len(board.outputs)):
        n_touched = flip_output(board, t)
        n_planes, _ = weigh(board, board.outputs[t], n_touched, False, trail.sums)
        _, n = gather(board, rules, trail, np.int64(-1))
        zero, total = price_nodes(board, board.outputs[t], n, n_planes)
        node, pair = 0, 0
        for a in range(np.uint64(n)):
            sum_a = board.node_sums[a]
            node = min(node, zero + sum_a, zero + total - sum_a)
            weigh_both(board, a, n, n_planes)
            pair = min(pair, (2 * zero + total - weigh_cells(board, a, a, total)) // 2)
        best[t, 0] = board.errors[t] + node
        best[t, 1] = board.errors[t] + min(node, pair)
    return best
