"""Pieces of the compiled search: random numbers, values, and which gates are live.

All numbers are unsigned 64-bit: signed indices cost a third of the speed. The length of the tuple `width` is the number of
words of a value, so that it is known at compile time; if the tuple is empty, `shape.words` is used.
"""

from __future__ import annotations

import numpy as np

from gradus._core.kernels.compile import inlined
from gradus._core.kernels.intrinsics import leading_zeros, trailing_zeros
from gradus._search.job import Number

ZERO, ONE, TWO, SIX, THIRTY_TWO, SIXTY_THREE = (np.uint64(k) for k in (0, 1, 2, 6, 32, 63))
LOW_HALF, ALL_BITS = np.uint64(0xFFFFFFFF), np.uint64(0xFFFFFFFFFFFFFFFF)
STALE, ROOTS, TRACED = (np.uint64(k) for k in (Number.STALE, Number.ROOTS, Number.TRACED))
R15, R17, R21, R28, R36, R47, R49 = (np.uint64(k) for k in (15, 17, 21, 28, 36, 47, 49))
UNIT32 = np.uint32(1)


@inlined
def draw(random):
    """Draw the next 64 random bits (xoroshiro128++); the caller uses the two halves."""
    a, b = random[ZERO], random[ONE]
    total = a + b
    bits = ((total << R17) | (total >> R47)) + a
    b ^= a
    random[ZERO] = ((a << R49) | (a >> R15)) ^ b ^ (b << R21)
    random[ONE] = (b << R28) | (b >> R36)
    return bits


@inlined
def words_of(shape, width):
    """Return the number of words of a value: a compile-time constant unless `width` is empty."""
    return np.uint64(len(width)) if len(width) > 0 else shape.words


@inlined
def readable_nodes(shape, gate):
    """Return how many nodes a gate may read: those below it, except outputs."""
    hidden = shape.gates - shape.targets
    return shape.inputs + (gate if gate < hidden else hidden)


@inlined
def is_live(state, gate):
    """Return whether the cost depends on a gate now."""
    return (state.live[gate >> SIX] >> (gate & SIXTY_THREE)) & ONE


@inlined
def evaluate(shape, width, state, gate):
    """Recompute a gate in place."""
    words = words_of(shape, width)
    a = np.uint64(state.sources[TWO * gate]) * words
    b = np.uint64(state.sources[TWO * gate + ONE]) * words
    out = (shape.inputs + gate) * words
    for w in range(words):
        state.values[out + w] = ~(state.values[a + w] & state.values[b + w])


@inlined
def evaluate_dead(shape, width, state, start, stop):
    """Recompute the dead gates among start … stop-1."""
    if start >= stop:
        return
    first, last = start >> SIX, (stop - ONE) >> SIX
    for q in range(first, last + ONE):
        todo = ~state.live[q]
        if q == first:
            todo &= ALL_BITS << (start & SIXTY_THREE)
        if q == last:
            todo &= ALL_BITS >> (SIXTY_THREE - ((stop - ONE) & SIXTY_THREE))
        while todo != ZERO:
            evaluate(shape, width, state, (q << SIX) + trailing_zeros(todo))
            todo &= todo - ONE


@inlined
def settle(shape, width, state, node):
    """Bring the value of a node that is about to be read up to date."""
    if node >= shape.inputs:
        gate = node - shape.inputs
        if gate >= state.numbers[STALE] and not is_live(state, gate):
            evaluate_dead(shape, width, state, state.numbers[STALE], gate + ONE)
            state.numbers[STALE] = gate + ONE


@inlined
def try_value(shape, width, state, gate):
    """Recompute a gate, keeping its old value for `take_back`; return whether it changed."""
    words = words_of(shape, width)
    a = np.uint64(state.sources[TWO * gate]) * words
    b = np.uint64(state.sources[TWO * gate + ONE]) * words
    out = (shape.inputs + gate) * words
    changed = ZERO
    for w in range(words):
        before = state.values[out + w]
        after = ~(state.values[a + w] & state.values[b + w])
        state.undo[out + w] = before
        state.values[out + w] = after
        changed |= before ^ after
    return changed != ZERO


@inlined
def gate_words(shape):
    """Return the number of words of a bit set of gates."""
    return (shape.gates + SIXTY_THREE) >> SIX


@inlined
def spread(shape, width, state, gate):
    """Recompute every live gate that depends on `gate`, keeping the old values."""
    row = gate * gate_words(shape)
    for q in range(gate >> SIX, gate_words(shape)):
        todo = state.reach[row + q]
        while todo != ZERO:
            try_value(shape, width, state, (q << SIX) + trailing_zeros(todo))
            todo &= todo - ONE


@inlined
def restore_value(shape, width, state, gate):
    """Restore the value that one gate had before the step."""
    words = words_of(shape, width)
    out = (shape.inputs + gate) * words
    for w in range(words):
        state.values[out + w] = state.undo[out + w]


@inlined
def take_back(shape, width, state, gate):
    """Undo `try_value` of a gate and `spread` from it."""
    restore_value(shape, width, state, gate)
    row = gate * gate_words(shape)
    for q in range(gate >> SIX, gate_words(shape)):
        todo = state.reach[row + q]
        while todo != ZERO:
            restore_value(shape, width, state, (q << SIX) + trailing_zeros(todo))
            todo &= todo - ONE


@inlined
def ensure_reach(shape, state, gate):
    """Make the row of a gate in `reach` valid."""
    # Rows become invalid when a live gate is rewired. The first few rows needed after that are traced one by one; if more are
    # needed, all are found at once.
    if (state.known[gate >> SIX] >> (gate & SIXTY_THREE)) & ONE:
        return
    state.numbers[TRACED] += ONE
    if state.numbers[TRACED] > TWO * gate_words(shape):
        find_reach(shape, state)
    else:
        trace_reach(shape, state, gate)
        state.known[gate >> SIX] |= ONE << (gate & SIXTY_THREE)


@inlined
def forget_reach(shape, state):
    """Invalidate all rows of `reach`, because a live gate was rewired."""
    state.numbers[TRACED] = ZERO
    for q in range(gate_words(shape)):
        state.known[q] = ZERO


@inlined
def trace_reach(shape, state, gate):
    """Find the live gates that depend on a gate by following its readers, lowest first, each once."""
    words = gate_words(shape)
    row = gate * words
    for q in range(gate >> SIX, words):
        state.reach[row + q] = state.fanout[row + q]
    for q in range(gate >> SIX, words):
        todo = state.reach[row + q]
        while todo != ZERO:
            low = trailing_zeros(todo)
            reader = ((q << SIX) + low) * words
            for p in range(q, words):
                state.reach[row + p] |= state.fanout[reader + p]
            todo = state.reach[row + q] & ((ALL_BITS << low) << ONE)


@inlined
def find_reach(shape, state):
    """Find the live gates that depend on each live gate: from the outputs down, each gate adds itself to its sources."""
    words = gate_words(shape)
    for q in range(words):
        state.known[q] = state.live[q]
    for at in range(shape.gates * words):
        state.reach[at] = ZERO
    for back in range(words):
        top = words - ONE - back
        todo = state.live[top]
        while todo != ZERO:
            bit = SIXTY_THREE - leading_zeros(todo)
            todo ^= ONE << bit
            gate = (top << SIX) + bit
            for terminal in (TWO * gate, TWO * gate + ONE):
                node = np.uint64(state.sources[terminal])
                if node >= shape.inputs:
                    row = (node - shape.inputs) * words
                    for q in range(top, words):
                        state.reach[row + q] |= state.reach[gate * words + q]
                    state.reach[row + top] |= ONE << bit


@inlined
def set_fanout(shape, state, node, gate):
    """Record that a live gate reads a node."""
    if node >= shape.inputs:
        state.fanout[(node - shape.inputs) * gate_words(shape) + (gate >> SIX)] |= ONE << (gate & SIXTY_THREE)


@inlined
def clear_fanout(shape, state, node, gate):
    """Record that a live gate no longer reads a node."""
    if node >= shape.inputs:
        state.fanout[(node - shape.inputs) * gate_words(shape) + (gate >> SIX)] &= ~(ONE << (gate & SIXTY_THREE))


@inlined
def gain_reader(shape, state, node):
    """Count one more live reader of a node; everything that the node depends on becomes live."""
    state.stack[ZERO] = np.uint32(node)
    height = ONE
    while height > ZERO:
        height -= ONE
        top = np.uint64(state.stack[height])
        state.readers[top] += UNIT32
        if state.readers[top] == UNIT32 and top >= shape.inputs:
            gate = top - shape.inputs
            state.live[gate >> SIX] |= ONE << (gate & SIXTY_THREE)
            for terminal in (TWO * gate, TWO * gate + ONE):
                state.stack[height] = state.sources[terminal]
                set_fanout(shape, state, np.uint64(state.sources[terminal]), gate)
                height += ONE


@inlined
def lose_reader(shape, state, node):
    """Count one live reader of a node less; gates without live readers become dead."""
    state.stack[ZERO] = np.uint32(node)
    height = ONE
    while height > ZERO:
        height -= ONE
        top = np.uint64(state.stack[height])
        state.readers[top] -= UNIT32
        if state.readers[top] == np.uint32(0) and top >= shape.inputs:
            gate = top - shape.inputs
            state.live[gate >> SIX] &= ~(ONE << (gate & SIXTY_THREE))
            for terminal in (TWO * gate, TWO * gate + ONE):
                state.stack[height] = state.sources[terminal]
                clear_fanout(shape, state, np.uint64(state.sources[terminal]), gate)
                height += ONE


@inlined
def relink(shape, state, terminal, before):
    """Update the set of live gates after a move at a live gate."""
    after = np.uint64(state.sources[terminal])
    if after == before:
        return
    gate = terminal >> ONE
    gain_reader(shape, state, after)
    set_fanout(shape, state, after, gate)
    lose_reader(shape, state, before)
    if np.uint64(state.sources[terminal ^ ONE]) != before:
        clear_fanout(shape, state, before, gate)


@inlined
def set_roots(shape, state, roots):
    """Make `roots` the targets that count, and exactly what they depend on live."""
    before = state.numbers[ROOTS]
    if roots == before:
        return
    first_output = shape.inputs + shape.gates - shape.targets
    gained, lost = roots & ~before, before & ~roots
    while gained != ZERO:
        gain_reader(shape, state, first_output + trailing_zeros(gained))
        gained &= gained - ONE
    while lost != ZERO:
        lose_reader(shape, state, first_output + trailing_zeros(lost))
        lost &= lost - ONE
    state.numbers[ROOTS] = roots
