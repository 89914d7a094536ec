"""The compiled search: cost, late acceptance, and the entry points that start, descend and restore a search.

Each entry point works on a `State` and can be called again after any number of steps, with the same result as one long call.
So a search can be interrupted, timed and watched without a clock inside the kernel.
"""

from __future__ import annotations

import numpy as np

from gradus._core.kernels.compile import compiled, inlined
from gradus._core.kernels.intrinsics import pointer, popcount
from gradus._search.job import LOSS_CODES, Number, PackedTargets, State
from gradus._search.moves import (
    ALL_BITS,
    LOW_HALF,
    ONE,
    ROOTS,
    SIXTY_THREE,
    STALE,
    THIRTY_TWO,
    TWO,
    ZERO,
    draw,
    ensure_reach,
    evaluate,
    evaluate_dead,
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
    words_of,
)

__all__ = ["count_live", "descend", "descend_plainly", "first_wrong", "restore", "start"]

STEP, SLOT, COST, BEST = (np.uint64(k) for k in (Number.STEP, Number.SLOT, Number.COST, Number.BEST))
LW, LLH, LGH = (np.uint64(LOSS_CODES[name]) for name in ("lw", "llh", "lgh"))


@inlined
def bare(arrays):
    """Return the state with its arrays replaced by pointers."""
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
        pointer(arrays.history),
        pointer(arrays.random),
        pointer(arrays.numbers),
    )


@inlined
def bare_targets(packed):
    """Return the targets with their arrays replaced by pointers."""
    return PackedTargets(pointer(packed.targets), pointer(packed.mask))


@inlined
def count_errors(shape, width, examples, state, target):
    """Count the examples on which a target is wrong."""
    words = words_of(shape, width)
    output = (shape.inputs + shape.gates - shape.targets + target) * words
    errors = ZERO
    for w in range(words):
        errors += popcount((state.values[output + w] ^ examples.targets[target * words + w]) & examples.mask[w])
    return errors


@inlined
def flat_cost(shape, width, examples, state):
    """Compute the cost under L1 or Lw: the sum of all errors, weighted linearly under Lw."""
    slope = ONE if shape.loss == LW else ZERO
    weight = shape.targets if shape.loss == LW else ONE
    cost = ZERO
    for target in range(shape.targets):
        cost += weight * count_errors(shape, width, examples, state, target)
        weight -= slope
    return cost


@inlined
def local_cost(shape, width, examples, state):
    """Compute the cost under Llh: the sum over targets of the examples that are wrong at this or an earlier target."""
    words = words_of(shape, width)
    first_output = (shape.inputs + shape.gates - shape.targets) * words
    cost = ZERO
    for w in range(words):
        wrong = ZERO
        for target in range(shape.targets):
            at = target * words + w
            wrong |= (state.values[first_output + at] ^ examples.targets[at]) & examples.mask[w]
            cost += popcount(wrong)
    return cost


@inlined
def global_cost(shape, width, examples, state, changed_from):
    """Compute the cost and roots under Lgh: the first wrong target decides."""
    # Dead gates are not kept up to date, so before a target becomes a root, they are recomputed from `changed_from` on, the
    # lowest that may be out of date. The third value returned is whether that was done.
    roots, settled = ZERO, False
    for target in range(shape.targets):
        bit = ONE << target
        if not settled and not (state.numbers[ROOTS] & bit):
            evaluate_dead(shape, width, state, changed_from, shape.gates)
            settled = True
        roots |= bit
        errors = count_errors(shape, width, examples, state, target)
        if errors != ZERO:
            return errors + shape.examples * (shape.targets - ONE - target), roots, settled
    return ZERO, roots, settled


@inlined
def current_cost(shape, width, examples, state, changed_from):
    """Compute the cost, the targets it depends on (roots), and whether all dead gates were recomputed on the way."""
    if shape.loss == LGH:
        return global_cost(shape, width, examples, state, changed_from)
    every_target = ALL_BITS >> (SIXTY_THREE - (shape.targets - ONE))
    if shape.loss == LLH:
        return local_cost(shape, width, examples, state), every_target, False
    return flat_cost(shape, width, examples, state), every_target, False


@inlined
def make_consistent(shape, width, examples, state):
    """Make everything but the history consistent with a wiring whose values are all current; return its cost."""
    for q in range(gate_words(shape)):
        state.live[q] = ZERO
    for at in range(shape.gates * gate_words(shape)):
        state.fanout[at] = ZERO
    for node in range(shape.inputs + shape.gates):
        state.readers[node] = np.uint32(0)
    state.numbers[ROOTS] = ZERO
    state.numbers[STALE] = shape.gates
    cost, roots, _ = current_cost(shape, width, examples, state, shape.gates)
    set_roots(shape, state, roots)
    forget_reach(shape, state)
    state.numbers[COST] = cost
    return cost


@compiled
def start(shape, width, packed, arrays):
    """Draw a random network and make the rest of the state consistent with it."""
    state, examples = bare(arrays), bare_targets(packed)
    for gate in range(shape.gates):
        bits = draw(state.random)
        nodes = readable_nodes(shape, gate)
        state.sources[TWO * gate] = np.uint32(((bits >> THIRTY_TWO) * nodes) >> THIRTY_TWO)
        state.sources[TWO * gate + ONE] = np.uint32(((bits & LOW_HALF) * nodes) >> THIRTY_TWO)
        evaluate(shape, width, state, gate)
    cost = make_consistent(shape, width, examples, state)
    for slot in range(shape.history):
        state.history[slot] = cost
    state.numbers[STEP] = ZERO
    state.numbers[SLOT] = ZERO
    if cost < state.numbers[BEST]:
        keep_best(shape, state, cost)


@compiled
def restore(shape, width, packed, arrays):
    """Make the state consistent with its wiring, so that the search it was taken from can continue."""
    state, examples = bare(arrays), bare_targets(packed)
    for gate in range(shape.gates):
        evaluate(shape, width, state, gate)
    make_consistent(shape, width, examples, state)


@inlined
def keep_best(shape, state, cost):
    """Remember the network as the best so far."""
    state.numbers[BEST] = cost
    for at in range(TWO * shape.gates):
        state.best[at] = state.sources[at]


@inlined
def draw_move(shape, state):
    """Draw a move: a terminal, the node that it reads, and the node that it is to read."""
    bits = draw(state.random)
    terminal = ((bits >> THIRTY_TWO) * (TWO * shape.gates)) >> THIRTY_TWO
    before = np.uint64(state.sources[terminal])
    others = readable_nodes(shape, terminal >> ONE) - ONE
    after = ((bits & LOW_HALF) * others) >> THIRTY_TWO
    if after >= before:
        after += ONE
    # If there is no other node to read, the step changes nothing.
    return terminal, before, after if others > ZERO else before


@inlined
def mark_stale(state, gate):
    """Record that dead gates from this one on may be out of date."""
    if gate < state.numbers[STALE]:
        state.numbers[STALE] = gate


@inlined
def end_step(shape, state, slot, cost):
    """Write the cost into the history and return the next place in it."""
    state.history[slot] = cost
    slot += ONE
    return slot if slot < shape.history else ZERO


@compiled
def descend(shape, width, packed, arrays, steps):
    """Take at most `steps` steps of late acceptance, fewer if the cost reaches zero; return how many were taken."""
    state, examples = bare(arrays), bare_targets(packed)
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
        after, roots, settled = current_cost(shape, width, examples, state, stale)
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
def descend_plainly(shape, width, packed, arrays, steps):
    """Take the same steps as `descend`, recomputing every gate from the changed one on: the bench compares the two."""
    state, examples = bare(arrays), bare_targets(packed)
    cost, taken = state.numbers[COST], ZERO
    words = words_of(shape, width)
    while taken < steps and cost > ZERO:
        slot = state.numbers[STEP] % shape.history
        state.numbers[STEP] += ONE
        taken += ONE
        terminal, before, other = draw_move(shape, state)
        gate = terminal >> ONE
        state.sources[terminal] = np.uint32(other)
        for at in range((shape.inputs + gate) * words, (shape.inputs + shape.gates) * words):
            state.undo[at] = state.values[at]
        for later in range(gate, shape.gates):
            evaluate(shape, width, state, later)
        after, _, _ = current_cost(shape, width, examples, state, shape.gates)
        if after <= cost or after < state.history[slot]:
            cost = after
        else:
            state.sources[terminal] = np.uint32(before)
            for at in range((shape.inputs + gate) * words, (shape.inputs + shape.gates) * words):
                state.values[at] = state.undo[at]
        state.history[slot] = cost
    state.numbers[COST] = cost
    return taken


@compiled
def first_wrong(shape, width, packed, arrays):
    """Return the position of the first wrong target, or the number of targets if there is none."""
    # Under Lgh the targets after it may be dead, so they are not looked at.
    state, examples = bare(arrays), bare_targets(packed)
    for target in range(shape.targets):
        if count_errors(shape, width, examples, state, target) != ZERO:
            return target
    return shape.targets


@compiled
def count_live(shape, sources, marks):
    """Count the gates that an output of this wiring depends on; `marks` is scratch space, one number per gate."""
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
