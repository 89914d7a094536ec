"""The compiled search: entry points that start a network, descend to cost zero, and shrink what was found.

Each entry point works on a `State` and can be left after any number of steps and called again, with the same result as one
long call: that is how the search is interrupted, timed and watched without asking a clock inside it.
"""

from __future__ import annotations

import numpy as np

from gradus._compile import compiled, inlined
from gradus._intrinsics import pointer
from gradus._search.cost import count_errors, current_cost, every_target
from gradus._search.moves import (
    LIVE,
    LOW_HALF,
    ONE,
    ROOTS,
    STALE,
    THIRTY_TWO,
    TWO,
    ZERO,
    draw,
    ensure_reach,
    evaluate,
    forget_reach,
    gate_words,
    is_live,
    readable_nodes,
    relink,
    set_roots,
    settle,
    spread,
    take_back,
    try_value,
)
from gradus._search.structures import Examples, Number, Objective, State

__all__ = ["count_live", "descend", "first_wrong", "restore_search", "shrink", "start", "start_shrinking"]

STEP, SLOT, COST, BEST = (np.uint64(k) for k in (Number.STEP, Number.SLOT, Number.COST, Number.BEST))


@inlined
def bare(arrays):
    """Return the state with pointers for its arrays."""
    return State(
        pointer(arrays.values),
        pointer(arrays.undo),
        pointer(arrays.sources),
        pointer(arrays.best),
        pointer(arrays.live),
        pointer(arrays.reach),
        pointer(arrays.known),
        pointer(arrays.fanout),
        pointer(arrays.readers),
        pointer(arrays.stack),
        pointer(arrays.bad),
        pointer(arrays.history),
        pointer(arrays.random),
        pointer(arrays.numbers),
    )


@inlined
def bare_data(examples, objective):
    """Return examples and objective with pointers for their arrays."""
    return (
        Examples(pointer(examples.targets), pointer(examples.mask)),
        Objective(objective.form, pointer(objective.weights), pointer(objective.needs), pointer(objective.tolerated)),
    )


@compiled
def start(shape, width, data, goal, arrays):
    """Draw a random network and make everything else in the state agree with it."""
    state = bare(arrays)
    examples, objective = bare_data(data, goal)
    for gate in range(shape.gates):
        bits = draw(state.random)
        nodes = readable_nodes(shape, gate)
        state.sources[TWO * gate] = np.uint32(((bits >> THIRTY_TWO) * nodes) >> THIRTY_TWO)
        state.sources[TWO * gate + ONE] = np.uint32(((bits & LOW_HALF) * nodes) >> THIRTY_TWO)
        evaluate(shape, width, state, gate)
    cost = settle_in(shape, width, examples, objective, state)
    fill_history(shape, state, cost)
    if cost < state.numbers[BEST]:
        keep_best(shape, state, cost)


@inlined
def settle_in(shape, width, examples, objective, state):
    """Make everything but the history agree with a wiring whose values are all right; return its cost."""
    for q in range(gate_words(shape)):
        state.live[q] = ZERO
    for at in range(shape.gates * gate_words(shape)):
        state.fanout[at] = ZERO
    for node in range(shape.inputs + shape.gates):
        state.readers[node] = np.uint32(0)
    state.numbers[LIVE] = ZERO
    state.numbers[ROOTS] = ZERO
    state.numbers[STALE] = shape.gates
    cost, roots, _ = current_cost(shape, width, examples, objective, state, shape.gates)
    set_roots(shape, state, roots)
    forget_reach(shape, state)
    state.numbers[COST] = cost
    return cost


@compiled
def restore_search(shape, width, data, goal, arrays, shrinking):
    """Make the state agree with the wiring in it, after which the search it was taken from can go on."""
    state = bare(arrays)
    examples, objective = bare_data(data, goal)
    for gate in range(shape.gates):
        evaluate(shape, width, state, gate)
    settle_in(shape, width, examples, objective, state)
    if shrinking:
        set_roots(shape, state, every_target(shape))
        forget_reach(shape, state)
        state.numbers[COST] = state.numbers[LIVE]


@inlined
def fill_history(shape, state, cost):
    """Begin late acceptance anew from a cost."""
    for slot in range(shape.history):
        state.history[slot] = cost
    state.numbers[STEP] = ZERO
    state.numbers[SLOT] = ZERO


@inlined
def keep_best(shape, state, cost):
    """Remember the network as the best so far."""
    state.numbers[BEST] = cost
    for at in range(TWO * shape.gates):
        state.best[at] = state.sources[at]


@inlined
def draw_move(shape, state):
    """Draw a terminal, with the node it reads and the node it is to read."""
    bits = draw(state.random)
    terminal = ((bits >> THIRTY_TWO) * (TWO * shape.gates)) >> THIRTY_TWO
    before = np.uint64(state.sources[terminal])
    others = readable_nodes(shape, terminal >> ONE) - ONE
    after = ((bits & LOW_HALF) * others) >> THIRTY_TWO
    if after >= before:
        after += ONE
    # Where nothing else can be read, the step changes nothing.
    return terminal, before, after if others > ZERO else before


@inlined
def mark_stale(state, gate):
    """Note that dead gates from this one on may have wrong values."""
    if gate < state.numbers[STALE]:
        state.numbers[STALE] = gate


@inlined
def end_step(shape, state, slot, cost):
    """Write the cost into the history and return the next place in it."""
    state.history[slot] = cost
    slot += ONE
    return slot if slot < shape.history else ZERO


@compiled
def descend(shape, width, data, goal, arrays, steps):
    """Take at most `steps` steps of late acceptance, fewer if the cost reaches zero; return how many were taken."""
    state = bare(arrays)
    examples, objective = bare_data(data, goal)
    cost, slot = state.numbers[COST], state.numbers[SLOT]
    taken = ZERO
    while taken < steps and cost != ZERO:
        taken += ONE
        terminal, before, other = draw_move(shape, state)
        gate = terminal >> ONE
        if not is_live(state, gate):
            state.sources[terminal] = np.uint32(other)
            mark_stale(state, gate)
            slot = end_step(shape, state, slot, cost)
            continue
        ensure_reach(shape, state, gate)
        settle(shape, width, state, other)
        state.sources[terminal] = np.uint32(other)
        if not try_value(shape, width, state, gate):
            relink(shape, state, terminal, before)
            forget_reach(shape, state)
            slot = end_step(shape, state, slot, cost)
            continue
        spread(shape, width, state, gate)
        stale = min(state.numbers[STALE], gate + ONE)
        after, roots, settled = current_cost(shape, width, examples, objective, state, stale)
        if after <= cost or after < state.history[slot]:
            cost = after
            state.numbers[STALE] = shape.gates if settled else stale
            relink(shape, state, terminal, before)
            set_roots(shape, state, roots)
            forget_reach(shape, state)
            if cost < state.numbers[BEST]:
                keep_best(shape, state, cost)
        else:
            state.sources[terminal] = np.uint32(before)
            take_back(shape, width, state, gate)
            if settled:
                state.numbers[STALE] = stale
        slot = end_step(shape, state, slot, cost)
    state.numbers[COST], state.numbers[SLOT] = cost, slot
    state.numbers[STEP] += taken
    return taken


@compiled
def start_shrinking(shape, arrays):
    """Turn a search that reached cost zero into one for fewer live gates."""
    state = bare(arrays)
    set_roots(shape, state, every_target(shape))
    forget_reach(shape, state)
    state.numbers[COST] = state.numbers[LIVE]
    fill_history(shape, state, state.numbers[LIVE])
    keep_best(shape, state, state.numbers[LIVE])


@compiled
def shrink(shape, width, data, goal, arrays, steps):
    """Take `steps` steps of late acceptance on the number of live gates, every example staying right."""
    state = bare(arrays)
    examples, objective = bare_data(data, goal)
    cost, slot = state.numbers[COST], state.numbers[SLOT]
    for _ in range(steps):
        terminal, before, other = draw_move(shape, state)
        gate = terminal >> ONE
        if not is_live(state, gate):
            state.sources[terminal] = np.uint32(other)
            mark_stale(state, gate)
            slot = end_step(shape, state, slot, cost)
            continue
        ensure_reach(shape, state, gate)
        settle(shape, width, state, other)
        state.sources[terminal] = np.uint32(other)
        changed = try_value(shape, width, state, gate)
        right = True
        if changed:
            spread(shape, width, state, gate)
            right = current_cost(shape, width, examples, objective, state, ZERO)[0] == ZERO
        accepted = False
        if right:
            relink(shape, state, terminal, before)
            live = state.numbers[LIVE]
            accepted = live <= cost or live < state.history[slot]
            if accepted:
                cost = live
                forget_reach(shape, state)
                if changed:
                    mark_stale(state, gate + ONE)
                if cost < state.numbers[BEST]:
                    keep_best(shape, state, cost)
        if not accepted:
            state.sources[terminal] = np.uint32(before)
            if right:
                relink(shape, state, terminal, other)
            if changed:
                take_back(shape, width, state, gate)
        slot = end_step(shape, state, slot, cost)
    state.numbers[COST], state.numbers[SLOT] = cost, slot
    state.numbers[STEP] += np.uint64(steps)


@compiled
def first_wrong(shape, width, data, goal, arrays):
    """Position of the first target that counts now and has more errors than it tolerates; the number of targets if none."""
    state = bare(arrays)
    examples, objective = bare_data(data, goal)
    for target in range(shape.targets):
        counts = (state.numbers[ROOTS] >> target) & ONE
        if counts and count_errors(shape, width, examples, state, target) > objective.tolerated[target]:
            return target
    return shape.targets


@compiled
def count_live(shape, sources, marks):
    """Gates that an output of this wiring depends on; `marks` has room for a number a gate."""
    hidden = shape.gates - shape.targets
    for gate in range(shape.gates):
        marks[gate] = np.uint32(gate >= hidden)
    live = ZERO
    for back in range(shape.gates):
        gate = shape.gates - ONE - back
        if marks[gate]:
            live += ONE
            for terminal in (TWO * gate, TWO * gate + ONE):
                if sources[terminal] >= shape.inputs:
                    marks[np.uint64(sources[terminal]) - shape.inputs] = np.uint32(1)
    return live
