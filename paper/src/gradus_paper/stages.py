"""Lgh in stages, for the laboratory alone: targets taught together, and targets that count as learned with errors left.

The search makes the same moves as `gradus.lab.run_search`, and with one target a stage and no tolerance the same network. It
is a plainer version: gates that do not count now are recomputed when they are needed, and the others after every move.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradus import Network
from gradus.lab import Job, Outcome, compiled, draw, generator_state, inlined, pack, popcount

LOW_HALF, U32 = np.uint64(0xFFFFFFFF), np.uint64(32)


def search_in_stages(job: Job, stages: Sequence[int], tolerance: float) -> Outcome:
    """Search under Lgh with this many targets per stage; a target is learned if its share of errors is at most `tolerance`."""
    n, m = job.Y.shape
    settings, n_inputs = job.settings, job.X.shape[1]
    words, gates = -(-n // 64), settings.n_gates(m)
    values = np.zeros((n_inputs + gates, words), dtype=np.uint64)
    values[:n_inputs] = pack(job.X)
    mask = pack(np.ones((n, 1), dtype=np.bool_))[0]
    ends = np.cumsum(np.asarray(stages, dtype=np.int64))
    history, random = np.zeros(settings.history, dtype=np.int64), generator_state(job.seed)
    sources, best = np.zeros((2, gates, 2), dtype=np.int64)
    allowed, best_cost, steps = int(tolerance * n), np.array([np.iinfo(np.int64).max]), 0
    data = pack(job.Y), mask, ends, allowed, n
    restart = -1
    while best_cost[0] and restart < settings.n_restarts:
        restart += 1
        steps += int(_descend(values, sources, best, best_cost, history, random, data, settings.max_iter))
    network = Network(n_inputs, best, range(n_inputs + gates - m, n_inputs + gates))
    return Outcome(best, int(best_cost[0]), steps, restart, int(network.live.sum()), stopped=False)


@inlined
def _wrong(values, data, target):
    """Count the errors of a target."""
    targets, mask, _, _, _ = data
    output, errors = len(values) - len(targets) + target, 0
    for w in range(len(mask)):
        errors += np.int64(popcount((values[output, w] ^ targets[target, w]) & mask[w]))
    return errors


@inlined
def _evaluate(values, sources, gate, first_gate):
    """Recompute a gate; return whether its value changed."""
    changed = False
    for w in range(values.shape[1]):
        after = ~(values[sources[gate, 0], w] & values[sources[gate, 1], w])
        changed = changed or after != values[first_gate + gate, w]
        values[first_gate + gate, w] = after
    return changed


@inlined
def _refresh(values, sources, live, stale):
    """Recompute the gates that did not count, from the first that may be out of date."""
    for gate in range(stale, len(sources)):
        if not live[gate]:
            _evaluate(values, sources, gate, len(values) - len(sources))


@inlined
def _cost(values, sources, data, live, roots, stale):
    """Return the errors of the first stage with a target that is not learned and all of the later ones, and where it ends."""
    targets, _, ends, allowed, n = data
    begin = 0
    for end in ends:
        if end > roots:  # its gates did not count before
            _refresh(values, sources, live, stale)
            stale, roots = len(sources), len(targets)
        wrong, learned = 0, True
        for target in range(begin, end):
            errors = _wrong(values, data, target)
            wrong += errors
            learned = learned and errors <= allowed
        if not learned:
            return wrong + n * (len(targets) - end), end
        begin = end
    return 0, len(targets)


@inlined
def _mark_live(sources, live, roots, n_targets, first_gate):
    """Mark the gates that the first `roots` targets depend on."""
    gates = len(sources)
    for gate in range(gates):
        live[gate] = gates - n_targets <= gate < gates - n_targets + roots
    for back in range(gates):
        gate = gates - 1 - back
        if live[gate]:
            for side in range(2):
                if sources[gate, side] >= first_gate:
                    live[sources[gate, side] - first_gate] = True


@inlined
def _spread(values, sources, gate, first_gate, live, fresh):
    """Recompute a gate and those that count and depend on it; return whether it changed. `fresh` is scratch space."""
    if not _evaluate(values, sources, gate, first_gate):
        return False
    fresh[first_gate + gate] = True
    for later in range(gate + 1, len(sources)):
        if live[later] and (fresh[sources[later, 0]] or fresh[sources[later, 1]]):
            fresh[first_gate + later] = _evaluate(values, sources, later, first_gate)
    fresh[first_gate + gate :] = False
    return True


@compiled
def _descend(values, sources, best, best_cost, history, random, data, max_iter):
    """Draw a network and improve it by late acceptance until its cost is zero or the steps are used up; return the steps."""
    gates, m = len(sources), len(data[0])
    first_gate, hidden = len(values) - gates, gates - m
    live, fresh = np.ones(gates, dtype=np.bool_), np.zeros(len(values), dtype=np.bool_)
    for gate in range(gates):
        bits, nodes = draw(random), np.uint64(first_gate + min(gate, hidden))
        sources[gate, 0] = np.int64(((bits >> U32) * nodes) >> U32)
        sources[gate, 1] = np.int64(((bits & LOW_HALF) * nodes) >> U32)
        _evaluate(values, sources, gate, first_gate)
    stale = gates  # the first gate that may be out of date, of those that do not count
    cost, roots = _cost(values, sources, data, live, m, stale)
    _mark_live(sources, live, roots, m, first_gate)
    history[:] = cost
    if cost < best_cost[0]:
        best_cost[0] = cost
        best[:] = sources
    step = 0
    while step < max_iter and cost > 0:
        slot = step % len(history)
        step += 1
        bits = draw(random)
        terminal = np.int64(((bits >> U32) * np.uint64(2 * gates)) >> U32)
        gate, side = terminal >> 1, terminal & 1
        before, others = sources[gate, side], first_gate + min(gate, hidden) - 1
        after = np.int64(((bits & LOW_HALF) * np.uint64(others)) >> U32)
        after = before if others == 0 else after + 1 if after >= before else after
        if not live[gate]:
            sources[gate, side] = after
            stale = min(stale, gate)
            history[slot] = cost
            continue
        if after >= first_gate + stale and not live[after - first_gate]:
            _refresh(values, sources, live, stale)
            stale = gates
        sources[gate, side] = after
        accepted, found, ends = True, cost, roots
        if _spread(values, sources, gate, first_gate, live, fresh):
            stale = min(stale, gate + 1)
            found, ends = _cost(values, sources, data, live, roots, stale)
            accepted = found <= cost or found < history[slot]
        if accepted:
            cost, roots = found, ends
            _mark_live(sources, live, roots, m, first_gate)
            if cost < best_cost[0]:
                best_cost[0] = cost
                best[:] = sources
        else:
            sources[gate, side] = before
            _spread(values, sources, gate, first_gate, live, fresh)
        history[slot] = cost
    return step
