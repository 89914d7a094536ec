"""What a move does to the circuit on a board: which gates stay live, the errors it leads to, and the move itself.

A move replaces a gate or an output by a node (`NODE`) or by a new function of a pair of nodes (`PAIR`).
"""

from __future__ import annotations

import numpy as np

from gradus._core.kernels.compile import uncounted
from gradus._core.kernels.intrinsics import popcount
from gradus._lessons.kernel.board import N_SPARE, gate_word, set_value, set_wrong

__all__ = ["NODE", "PAIR", "apply_move", "mark_live", "price_move"]

NODE, PAIR = 0, 1


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
def _free_slot(used, start):
    slot = start
    while used[slot]:
        slot += 1
    return slot


@uncounted
def apply_move(board, gate, t, kind, a, b, function, changed):
    """Carry out the move for which `mark_live` was called last."""
    first = board.n_inputs + 2
    n, search = np.int64(0), np.int64(0)
    for place in range(board.n_live[0]):
        node = board.order[place]
        if not board.mark[node] or (node == gate and kind == NODE):
            board.used[node - first] = 0
        elif not board.cone[node]:
            board.next_order[n] = node
            n += 1
    for slot in range(board.n_slots, board.n_slots + N_SPARE):
        if not board.mark[first + slot]:
            continue
        search = _free_slot(board.used, search)
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
        slot = _free_slot(board.used, search)
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
