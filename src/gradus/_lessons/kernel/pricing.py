"""Prices of replacing a gate: one flip prices every node and the best function of every pair of nodes.

Complementing a gate on all examples at once shows, for every output and example, whether the output is right or wrong
because of the gate (`breaks`, `mends`). A gate has two values, so an example has one weight: the errors that a 1 costs more
than a 0 there. For any set of examples the sum of its weights says which value is cheaper on it, and by how much, so the
price of a pair of nodes needs one number for each of its four cells. The sums are popcounts of bit planes: `planes` holds the
weights without their signs, bit by bit, and `negative` the signs.
"""

from __future__ import annotations

import numpy as np

from gradus._core.kernels.compile import uncounted
from gradus._core.kernels.intrinsics import popcount
from gradus._lessons.kernel.board import VECTOR, gate_word

__all__ = [
    "choose_function", "flip", "flip_output", "padded", "price_nodes", "price_pairs", "weigh", "weigh_both", "weigh_cells",
    "weight",
]  # fmt: skip

ONE = np.uint64(1)


@uncounted
def flip(board, gate):
    """Complement a gate, recompute its cone, and list the outputs that change; returns how many there are."""
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


@uncounted
def flip_output(board, t):
    """Complement an output alone: nothing else depends on it."""
    board.cone[:] = 0
    for w in range(len(board.everything)):
        board.breaks[t, w] = board.known[t, w] & ~board.wrong[t, w]
        board.mends[t, w] = board.wrong[t, w]
    board.touched[0] = t
    return np.int64(1)


@uncounted
def add_planes(rows, touched, n_touched, w, sums, start, end):
    """Add one word of several rows as numbers, bit by bit: `sums[start + k]` has bit k of the count of every example."""
    for k in range(start, end):
        sums[k] = np.uint64(0)
    for i in range(n_touched):
        carry = rows[touched[i], w]
        k = start
        while carry:
            both = sums[k] & carry
            sums[k] ^= carry
            carry = both
            k += 1


@uncounted
def weigh(board, old, n_touched, exact, sums):
    """Split the weights of all examples into planes; returns their number, and how many of breaks and mends have a bit."""
    # If no error is allowed, one plane is enough: the examples on which the gate must keep its value.
    n_words = len(board.everything)
    if exact:
        for w in range(n_words):
            care = np.uint64(0)
            for i in range(n_touched):
                care |= board.breaks[board.touched[i], w]
            board.planes[0, w] = care
            board.negative[w] = board.values[old, w]
        return 1, 1
    depth = 0
    while (1 << depth) <= n_touched:
        depth += 1
    seen = 2 * depth
    for k in range(2 * depth):
        sums[seen + k] = np.uint64(0)
    for w in range(n_words):
        add_planes(board.breaks, board.touched, n_touched, w, sums, 0, depth)
        add_planes(board.mends, board.touched, n_touched, w, sums, depth, seen)
        for k in range(2 * depth):
            sums[seen + k] |= sums[k]
        _subtract(board.planes, board.negative, w, depth, sums)
        board.negative[w] ^= board.values[old, w]
    n_filled = 0
    for k in range(2 * depth):
        n_filled += sums[seen + k] != 0
    return depth, n_filled


@uncounted
def _subtract(planes, negative, w, depth, sums):
    """Subtract mends from breaks on one word of examples, into signs and magnitudes."""
    borrow = np.uint64(0)
    for k in range(depth):
        plus, minus = sums[k], sums[depth + k]
        planes[k, w] = plus ^ minus ^ borrow
        borrow = (~plus & (minus | borrow)) | (minus & borrow)
    negative[w] = borrow
    carry = borrow
    for k in range(depth):  # where the difference is negative, its complement plus 1
        bits = planes[k, w] ^ borrow
        planes[k, w] = bits ^ carry
        carry &= bits


@uncounted
def price_nodes(board, old, n_candidates, n_planes):
    """Sum the weights of every candidate's ones in `node_sums`; returns the price of constant 0 and the sum of all weights."""
    n_words, stride = np.uint64(len(board.everything)), np.uint64(padded(n_candidates))
    total, zero = 0, 0
    for i in range(stride):
        board.node_sums[i] = 0
    for k in range(np.uint64(n_planes)):
        for w in range(n_words):
            plane, negative = board.planes[k, w], board.negative[w]
            total += weight(plane, negative, k)
            zero -= weight(plane & board.values[old, w], negative, k)
            add_weights(board.candidate_values, plane, negative, k, w * stride, stride, board.node_sums)
    return zero, total


@uncounted
def weight(plane, negative, k):
    """Sum one word of a plane with its signs."""
    return (np.int64(popcount(plane & ~negative)) - np.int64(popcount(plane & negative))) << np.int64(k)


@uncounted
def padded(n):
    """Round up to whole vectors, so that no loop over candidates has a remainder."""
    return (n + VECTOR - 1) // VECTOR * VECTOR


@uncounted
def add_weights(values, plane, negative, k, start, n, sums):
    """Add, for each of the first n candidates, the weight of its ones in a row of plane k, of which this is one word."""
    # Ones of negative weight count -1, and the zeros there 0; counting these 0 and 1 instead takes a single popcount and makes
    # all sums too large by the same number. The candidates' values lie word by word, so that this loop, where the time goes,
    # runs over neighbours.
    extra = np.int64(popcount(plane & negative))
    for b in range(n):
        sums[b] += (np.int64(popcount(plane & (values[start + b] ^ negative))) - extra) << np.int64(k)


@uncounted
def weigh_both(board, a, n_candidates, n_planes):
    """Sum in `pair_sums` the weights of the examples where candidate a and candidate b are both 1, for every b below a."""
    n_words, stride = np.uint64(len(board.everything)), np.uint64(padded(n_candidates))
    n = np.uint64(padded(a))
    for b in range(n):
        board.pair_sums[b] = 0
    for k in range(np.uint64(n_planes)):
        for w in range(n_words):
            plane = board.planes[k, w] & board.candidate_values[w * stride + a]
            if plane:
                add_weights(board.candidate_values, plane, board.negative[w], k, w * stride, n, board.pair_sums)


@uncounted
def weigh_cells(board, a, n, total):
    """Add up the absolute weights of the four cells of a and every b below n in `sizes`; returns the largest sum."""
    # In each cell the cheaper value is taken, so the larger the sum, the lower the price: all errors at stake minus this sum,
    # over 2.
    sum_a = board.node_sums[a]
    rest, largest = total - sum_a, np.int64(0)
    for b in range(n):
        sum_b, both = board.node_sums[b], board.pair_sums[b]
        size = abs(both) + abs(sum_a - both) + abs(sum_b - both) + abs(rest - sum_b + both)
        board.sizes[b] = size
        largest = max(largest, size)
    return largest


@uncounted
def price_pairs(board, n_candidates, n_planes, zero, total, threshold, nand):
    """Collect in `picks` every pair whose best function costs at most the threshold; returns how many there are."""
    n_picks = 0
    one = zero + total
    least = zero + one - 2 * threshold
    for a in range(np.uint64(0 if nand else 1), np.uint64(n_candidates)):
        weigh_both(board, a, n_candidates, n_planes)
        if nand:
            board.pair_sums[a] = board.node_sums[a]
            for b in range(a + ONE):
                board.picks[n_picks] = np.int64(a << np.uint64(32) | b)
                n_picks += one - board.pair_sums[b] <= threshold
        elif weigh_cells(board, a, np.uint64(padded(a)), total) >= least:
            for b in range(a):
                board.picks[n_picks] = np.int64(a << np.uint64(32) | b)
                n_picks += board.sizes[b] >= least
    return n_picks


@uncounted
def choose_function(board, a, b, n_candidates, n_planes, total, coins):
    """Return the best function of two candidates: in each cell the cheaper value, or a coin toss if both cost the same."""
    n_words, stride = len(board.everything), padded(n_candidates)
    both = 0
    for k in range(n_planes):
        for w in range(n_words):
            ones = board.candidate_values[w * stride + a] & board.candidate_values[w * stride + b]
            both += weight(board.planes[k, w] & ones, board.negative[w], k)
    sum_a, sum_b = board.node_sums[a], board.node_sums[b]
    function = coins & 15
    function = _decide(function, 0, total - sum_a - sum_b + both)
    function = _decide(function, 1, sum_b - both)
    function = _decide(function, 2, sum_a - both)
    return _decide(function, 3, both)


@uncounted
def _decide(function, cell, weight):
    if weight < 0:
        return function | 1 << cell
    if weight > 0:
        return function & ~(1 << cell)
    return function
