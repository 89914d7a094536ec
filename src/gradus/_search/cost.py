"""Pieces of the compiled search: the cost of the network as its values stand.

The cost also tells which targets it depends on (its roots): all of them in the local forms, and in the global ones only
those whose prerequisites are met. Gates that no root depends on are not kept up to date, so a target that becomes a root in
the middle of a step first has the dead gates recomputed.
"""

from __future__ import annotations

import numpy as np

from gradus._compile import inlined
from gradus._intrinsics import popcount
from gradus._search.moves import ALL_BITS, ONE, ROOTS, SIXTY_THREE, ZERO, evaluate_dead, words_of

FLAT, LOCAL_CHAIN, ANY_LOCAL, GLOBAL_CHAIN = (np.uint64(k) for k in range(4))


@inlined
def every_target(shape):
    """Bit set of all targets."""
    return ALL_BITS >> (SIXTY_THREE - (shape.targets - ONE))


@inlined
def count_errors(shape, width, examples, state, target):
    """Examples on which a target is wrong."""
    words = words_of(shape, width)
    output = (shape.inputs + shape.gates - shape.targets + target) * words
    errors = ZERO
    for w in range(words):
        errors += popcount((state.values[output + w] ^ examples.targets[target * words + w]) & examples.mask[w])
    return errors


@inlined
def flat_cost(shape, width, examples, objective, state):
    """Weighted sum of the errors of all targets."""
    cost = ZERO
    for target in range(shape.targets):
        cost += objective.weights[target] * count_errors(shape, width, examples, state, target)
    return cost


@inlined
def local_chain_cost(shape, width, examples, state):
    """Sum over the targets of the examples that are wrong at this target or an earlier one."""
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
def any_local_cost(shape, width, examples, objective, state):
    """Weighted sum of wrong examples, each target inheriting the wrong examples of its prerequisites."""
    words = words_of(shape, width)
    first_output = (shape.inputs + shape.gates - shape.targets) * words
    cost = ZERO
    for target in range(shape.targets):
        count = ZERO
        for w in range(words):
            at = target * words + w
            wrong = (state.values[first_output + at] ^ examples.targets[at]) & examples.mask[w]
            for earlier in range(target):
                if (objective.needs[target] >> earlier) & ONE:
                    wrong |= state.bad[earlier * words + w]
            state.bad[at] = wrong
            count += popcount(wrong)
        if count > objective.tolerated[target]:
            cost += objective.weights[target] * count
    return cost


@inlined
def global_cost(shape, width, examples, objective, state, changed_from):
    """Cost and roots where a target counts fully until its prerequisites are met.

    `changed_from` is the lowest gate that may be out of date if it is not live.
    """
    cost, roots, met = ZERO, ZERO, ZERO
    settled = False
    for target in range(shape.targets):
        bit = ONE << target
        if objective.needs[target] & ~met:
            cost += objective.weights[target] * shape.examples
            continue
        if not settled and not (state.numbers[ROOTS] & bit):
            evaluate_dead(shape, width, state, changed_from, shape.gates)
            settled = True
        roots |= bit
        errors = count_errors(shape, width, examples, state, target)
        if errors <= objective.tolerated[target]:
            met |= bit
        else:
            cost += objective.weights[target] * errors
            if objective.form == GLOBAL_CHAIN:
                return cost + shape.examples * (shape.targets - ONE - target), roots, settled
    return cost, roots, settled


@inlined
def current_cost(shape, width, examples, objective, state, changed_from):
    """Cost and roots of the network, and whether all dead gates were brought up to date on the way."""
    if objective.form > ANY_LOCAL:
        return global_cost(shape, width, examples, objective, state, changed_from)
    if objective.form == FLAT:
        cost = flat_cost(shape, width, examples, objective, state)
    elif objective.form == LOCAL_CHAIN:
        cost = local_chain_cost(shape, width, examples, state)
    else:
        cost = any_local_cost(shape, width, examples, objective, state)
    return cost, every_target(shape), False
