"""A plain search to compare the real one with: after a move, it recomputes every gate from the changed one on.

It takes the same steps, uses the packed values and random numbers of the real search, and is compiled for the same widths.
"""

from __future__ import annotations

import numpy as np

from gradus._core.kernels.compile import compiled, inlined
from gradus._search.kernel import COST, LGH, STEP, bare, bare_targets, count_errors, draw_move
from gradus._search.moves import ONE, ZERO, evaluate, words_of

__all__ = ["descend"]


@inlined
def cost_of(shape, width, examples, state):
    """Compute the cost under L1 or Lgh."""
    cost = ZERO
    for target in range(shape.targets):
        errors = count_errors(shape, width, examples, state, target)
        if shape.loss == LGH and errors > ZERO:
            return errors + shape.examples * (shape.targets - ONE - target)
        cost += errors
    return cost


@compiled
def descend(shape, width, packed, arrays, steps):
    """Take at most `steps` steps, fewer if the cost reaches zero; return how many were taken."""
    state, examples = bare(arrays), bare_targets(packed)
    cost, taken = state.numbers[COST], ZERO
    words = words_of(shape, width)
    while taken < steps and cost > ZERO:
        slot = state.numbers[STEP] % shape.history
        state.numbers[STEP] += ONE
        taken += ONE
        terminal, before, after = draw_move(shape, state)
        gate = terminal >> ONE
        state.sources[terminal] = np.uint32(after)
        for at in range((shape.inputs + gate) * words, (shape.inputs + shape.gates) * words):
            state.undo[at] = state.values[at]
        for one in range(gate, shape.gates):
            evaluate(shape, width, state, one)
        after_cost = cost_of(shape, width, examples, state)
        if after_cost <= cost or after_cost < state.history[slot]:
            cost = after_cost
        else:
            state.sources[terminal] = np.uint32(before)
            for at in range((shape.inputs + gate) * words, (shape.inputs + shape.gates) * words):
                state.values[at] = state.undo[at]
        state.history[slot] = cost
    state.numbers[COST] = cost
    return taken
