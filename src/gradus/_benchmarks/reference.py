"""A plain search with no tricks, to measure the real one against: the same steps, every gate from the changed one on anew.

It shares the packed values and the random numbers with the real search, and is compiled for the same numbers of words.
"""

from __future__ import annotations

import numpy as np

from gradus._compile import compiled, inlined
from gradus._search.cost import count_errors
from gradus._search.kernel import COST, STEP, bare, bare_data, draw_move
from gradus._search.moves import ONE, ZERO, evaluate, words_of

__all__ = ["descend"]

LGH = np.uint64(3)


@inlined
def cost_of(shape, width, examples, objective, state):
    """Cost under L1, or under Lgh if the form of the objective says so."""
    cost = ZERO
    for target in range(shape.targets):
        errors = count_errors(shape, width, examples, state, target)
        if objective.form == LGH and errors > ZERO:
            return errors + shape.examples * (shape.targets - ONE - target)
        cost += errors
    return cost


@compiled
def descend(shape, width, data, goal, arrays, steps):
    """Take at most `steps` steps, fewer if the cost reaches zero; return how many were taken."""
    state = bare(arrays)
    examples, objective = bare_data(data, goal)
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
        after_cost = cost_of(shape, width, examples, objective, state)
        if after_cost <= cost or after_cost < state.history[slot]:
            cost = after_cost
        else:
            state.sources[terminal] = np.uint32(before)
            for at in range((shape.inputs + gate) * words, (shape.inputs + shape.gates) * words):
                state.values[at] = state.undo[at]
        state.history[slot] = cost
    state.numbers[COST] = cost
    return taken
