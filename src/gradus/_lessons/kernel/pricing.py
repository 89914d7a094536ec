"""What it costs to replace a gate: one flip prices every node and the best function of every pair of nodes.

Complementing a gate on all examples at once shows, for every output and example, whether the output is right or wrong
because of the gate (`breaks`, `mends`). A gate has two values, so the change in errors from any replacement adds up over the
examples where the replacement differs from the gate. Those sums are popcounts of bit planes: `planes0` holds the weights
where the gate is 0 now, `planes1` where it is 1.
"""

from __future__ import annotations

import numpy as np

from gradus._compile import inlined
from gradus._intrinsics import popcount
from gradus._lessons.kernel.walk_arrays import MAX_PLANES

__all__ = [
    "choose_function", "flip", "flip_output", "gate_word", "price_nodes", "price_pairs", "weigh", "weigh_both",
]  # fmt: skip

ONE = np.uint64(1)
HALF_PLANES = MAX_PLANES // 2


@inlined
def gate_word(function, a, b, all_ones):
    """Value of a gate on one word of examples; bits past the last example stay 0."""
    value = np.uint64(0)
    if function & 1:
        value |= ~a & ~b
    if function & 2:
        value |= ~a & b
    if function & 4:
        value |= a & ~b
    if function & 8:
        value |= a & b
    return value & all_ones


@inlined
def flip(board, gate):
    """Complement a gate, recompute its cone, and list the outputs that change; returns how many do."""
    first = board.n_inputs + 2
    n_words = len(board.everything)
    board.cone[:] = 0
    board.cone[gate] = 1
    for w in range(n_words):
        board.flipped[gate, w] = ~board.values[gate, w] & board.everything[w]
    for place in range(board.n_live[0]):
        node = board.order[place]
        a, b = board.sources[node - first, 0], board.sources[node - first, 1]
        if node == gate or not (board.cone[a] or board.cone[b]):
            continue
        board.cone[node] = 1
        rows_a = board.flipped if board.cone[a] else board.values
        rows_b = board.flipped if board.cone[b] else board.values
        function = board.functions[node - first]
        for w in range(n_words):
            board.flipped[node, w] = gate_word(function, rows_a[a, w], rows_b[b, w], board.everything[w])
    n_touched = 0
    for t in range(len(board.outputs)):
        node = board.outputs[t]
        if not board.cone[node]:
            continue
        seen = np.uint64(0)
        for w in range(n_words):
            changed = (board.flipped[node, w] ^ board.values[node, w]) & board.known[t, w]
            board.breaks[t, w] = changed & ~board.wrong[t, w]
            board.mends[t, w] = changed & board.wrong[t, w]
            seen |= changed
        if seen:
            board.touched[n_touched] = t
            n_touched += 1
    return n_touched


@inlined
def flip_output(board, t):
    """Complement an output alone: nothing else depends on it."""
    board.cone[:] = 0
    for w in range(len(board.everything)):
        board.breaks[t, w] = board.known[t, w] & ~board.wrong[t, w]
        board.mends[t, w] = board.wrong[t, w]
    board.touched[0] = t
    return 1


@inlined
def add_planes(rows, touched, n_touched, w, sums):
    """Add one word of several rows as numbers, bit by bit: `sums[k]` has bit k of the count of every example."""
    for k in range(HALF_PLANES):
        sums[k] = np.uint64(0)
    for i in range(n_touched):
        carry = rows[touched[i], w]
        k = 0
        while carry:
            both = sums[k] & carry
            sums[k] ^= carry
            carry = both
            k += 1


@inlined
def weigh(board, old, n_touched, exact, sums):
    """Split the weights of all examples into bit planes by the gate's present value; returns the number of planes.

    Where no error is allowed, one plane is enough: the examples on which the gate must stay as it is.
    """
    n_words = len(board.everything)
    if exact:
        for w in range(n_words):
            care = np.uint64(0)
            for i in range(n_touched):
                care |= board.breaks[board.touched[i], w]
            board.planes0[0, w] = care & ~board.values[old, w]
            board.planes1[0, w] = care & board.values[old, w]
        board.weights[0] = 1
        return 1
    depth = 0
    while (1 << depth) <= n_touched:
        depth += 1
    for w in range(n_words):
        value = board.values[old, w]
        add_planes(board.breaks, board.touched, n_touched, w, sums)
        for k in range(depth):
            board.planes0[k, w] = sums[k] & ~value
            board.planes1[k, w] = sums[k] & value
        add_planes(board.mends, board.touched, n_touched, w, sums)
        for k in range(depth):
            board.planes0[depth + k, w] = sums[k] & ~value
            board.planes1[depth + k, w] = sums[k] & value
    n_planes = 0
    for k in range(2 * depth):  # planes without a bit are dropped
        seen = np.uint64(0)
        for w in range(n_words):
            seen |= board.planes0[k, w] | board.planes1[k, w]
        if seen:
            if n_planes != k:
                for w in range(n_words):
                    board.planes0[n_planes, w] = board.planes0[k, w]
                    board.planes1[n_planes, w] = board.planes1[k, w]
            board.weights[n_planes] = 1 << k if k < depth else -(1 << (k - depth))
            n_planes += 1
    if n_planes == 0:
        for w in range(n_words):
            board.planes0[0, w] = np.uint64(0)
            board.planes1[0, w] = np.uint64(0)
        board.weights[0] = 1
        n_planes = 1
    return n_planes


@inlined
def price_nodes(board, n_candidates, n_planes):
    """Weight of every candidate node's ones, where the gate is 0 and where it is 1; returns the two totals."""
    n_words, n = np.uint64(len(board.everything)), np.uint64(n_candidates)
    total0, total1 = 0, 0
    for i in range(n):
        board.ones0[i] = 0
        board.ones1[i] = 0
    for k in range(n_planes):
        weight = board.weights[k]
        for w in range(n_words):
            word0, word1 = board.planes0[k, w], board.planes1[k, w]
            total0 += weight * np.int64(popcount(word0))
            total1 += weight * np.int64(popcount(word1))
            add_weights(board, word0, word1, weight, w * n, n, board.ones0, board.ones1)
    return total0, total1


@inlined
def add_weights(board, word0, word1, weight, start, n, sums0, sums1):
    """Add, for each of the first n candidates, the weight of its ones in two rows, of which this is one word.

    The candidates' values lie word by word, so that this loop, where the time goes, runs over neighbours.
    """
    values = board.candidate_values
    for b in range(n):
        sums0[b] += weight * np.int64(popcount(word0 & values[start + b]))
        sums1[b] += weight * np.int64(popcount(word1 & values[start + b]))


@inlined
def weigh_both(board, a, n_candidates, n_planes):
    """Weight of the examples where candidate a and candidate b are both 1, for every b below a."""
    n_words, n = np.uint64(len(board.everything)), np.uint64(n_candidates)
    for b in range(a):
        board.both0[b] = 0
        board.both1[b] = 0
    for k in range(n_planes):
        for w in range(n_words):
            value = board.candidate_values[w * n + a]
            word0, word1 = board.planes0[k, w] & value, board.planes1[k, w] & value
            if word0 | word1:
                add_weights(board, word0, word1, board.weights[k], w * n, a, board.both0, board.both1)


@inlined
def price_pairs(board, n_candidates, n_planes, total0, total1, threshold, nand):
    """Collect in `picks` every pair whose best function costs at most the threshold; returns how many there are."""
    n_picks = 0
    for a in range(np.uint64(0 if nand else 1), np.uint64(n_candidates)):
        weigh_both(board, a, n_candidates, n_planes)
        a0, a1 = board.ones0[a], board.ones1[a]
        if nand:
            for b in range(a):
                board.prices[b] = board.both1[b] + total0 - board.both0[b]
            board.prices[a] = a1 + total0 - a0
        else:
            for b in range(a):
                x0, x1 = board.both0[b], board.both1[b]
                b0, b1 = board.ones0[b], board.ones1[b]
                price = min(x0, x1) + min(a0 - x0, a1 - x1) + min(b0 - x0, b1 - x1)
                board.prices[b] = price + min(total0 - a0 - b0 + x0, total1 - a1 - b1 + x1)
        for b in range(a + ONE if nand else a):
            board.picks[n_picks] = np.int64(a << np.uint64(32) | b)
            n_picks += board.prices[b] <= threshold
    return n_picks


@inlined
def choose_function(board, a, b, n_candidates, n_planes, total0, total1, coins):
    """Best function of two candidates: in each cell the cheaper value, and a coin's where both cost the same."""
    n_words = len(board.everything)
    x0, x1 = 0, 0
    for k in range(n_planes):
        for w in range(n_words):
            both = board.candidate_values[w * n_candidates + a] & board.candidate_values[w * n_candidates + b]
            x0 += board.weights[k] * np.int64(popcount(board.planes0[k, w] & both))
            x1 += board.weights[k] * np.int64(popcount(board.planes1[k, w] & both))
    a0, a1, b0, b1 = board.ones0[a], board.ones1[a], board.ones0[b], board.ones1[b]
    function = coins & 15
    function = _decide(function, 0, total0 - a0 - b0 + x0, total1 - a1 - b1 + x1)
    function = _decide(function, 1, b0 - x0, b1 - x1)
    function = _decide(function, 2, a0 - x0, a1 - x1)
    return _decide(function, 3, x0, x1)


@inlined
def _decide(function, cell, cost_of_one, cost_of_zero):
    if cost_of_one < cost_of_zero:
        return function | 1 << cell
    if cost_of_zero < cost_of_one:
        return function & ~(1 << cell)
    return function
