"""Gates of two against gates of three inputs, each of size one, otherwise under the same settings.

    python benchmarks/three_inputs.py --first-set 15000 --sets 10 --seconds 600 -o rows.jsonl

A small copy of the lessons for up to 64 examples without noise: targets in the known order, one circuit. A move flips a gate,
prices the best function of every pair of nodes with each of a few third nodes by the eight cells of the three, draws one at or
below a threshold, and accepts late. With two inputs the only third node is the constant 0; with three there are six more.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from gradus._core.bits import pack, tail_mask
from gradus._core.kernels.intrinsics import popcount
from lessons import draw, mean_and_error, print_table

CASES = "add6/64,cmaj9/64,popcount7/64,cmux15/48,mammalian/32"
SLOTS, FRESH, THIRDS, HISTORY, TRIES = 70, 10, 6, 300, 3
FIT_MOVES, ROUNDS, TIDY_MOVES, LAST_MOVES = 2_000, 7, 30_000, 200_000
FUNCTION_BITS = {2: math.log2(10 / 2), 3: math.log2(218 / 6)}  # functions of all sources, whose order is free
THRESHOLDS = np.array([0] * 10 + [-1, -1, 1, 1, 2, 3])
ONE = np.uint64(1)


@njit
def below(n):
    """Draw a whole number below n."""
    return np.random.randint(n)  # noqa: NPY002 - Numba's own generator


@njit
def bit(word, e):
    return np.int64(word >> np.uint64(e) & ONE)


@njit
def split(weights):
    """Magnitudes of the weights as bit planes, and their signs."""
    planes, negative = np.zeros(8, np.uint64), np.uint64(0)
    for e in range(len(weights)):
        negative |= np.uint64(weights[e] < 0) << np.uint64(e)
        for k in range(8):
            planes[k] |= np.uint64(abs(weights[e]) >> k & 1) << np.uint64(e)
    return planes, negative


@njit
def add_up(planes, negative, mask, rows, n, sums):
    """Sum the weights where the mask and a row are 1, for each of the first n rows."""
    sums[:n] = 0
    for k in range(8):
        plane = planes[k] & mask
        if plane:
            extra = np.int64(popcount(plane & negative))
            for b in range(np.uint64(n)):
                sums[b] += (np.int64(popcount(plane & (rows[b] ^ negative))) - extra) << k


@njit
def cell_sizes(sums, inside, total, total_inside, a, both, both_inside, sizes):
    """Absolute sums of weights in the eight cells of (a, b, third), added up, for every b below a.

    `inside` and the like are sums where the third node is 1. In each cell the cheaper value is taken, so the best function
    costs the errors at stake, less this number, over 2.
    """
    in_a = inside[a]
    out_a, rest = sums[a] - in_a, total - total_inside
    for b in range(np.uint64(a)):
        in_b, x = inside[b], both_inside[b]
        out_b, y = sums[b] - in_b, both[b] - x
        size = abs(x) + abs(in_a - x) + abs(in_b - x) + abs(total_inside - in_a - in_b + x)
        sizes[b] = size + abs(y) + abs(out_a - y) + abs(out_b - y) + abs(rest - out_a - out_b + y)


@njit
def gate_value(values, source, table):
    """Value of a gate on all examples; bits past the last one are not kept at 0."""
    value = np.uint64(0)
    for cell in range(8):
        if table >> cell & 1:
            word = ~np.uint64(0)
            for terminal in range(3):
                x = values[source[terminal]]
                word &= x if cell >> (2 - terminal) & 1 else ~x
            value |= word
    return value


@njit
def settle(values, first, everything, targets, sources, tables, outputs, order, state):
    """List the live gates, each after its sources, and compute them; returns how many there are, and the errors."""
    state[:] = 0
    n, stack = 0, [np.int64(0)]
    for output in outputs:
        stack.append(output)
        while len(stack) > 1:
            node = stack.pop()
            if node < first or state[node] == 2:
                continue
            if state[node] == 1:  # its sources are listed
                state[node] = 2
                order[n] = node
                values[node] = gate_value(values, sources[node], tables[node]) & everything
                n += 1
                continue
            state[node] = 1
            stack.append(node)
            for terminal in range(3):
                stack.append(sources[node, terminal])
    errors = 0
    for t in range(len(outputs)):
        errors += np.int64(popcount(values[outputs[t]] ^ targets[t]))
    return n, errors


@njit
def weigh(values, everything, targets, outputs, flipped, cone, old, t, weights):
    """Note what a 1 costs more than a 0 on each example, in errors; returns what the constant 0 costs more than now."""
    weights[:] = 0
    zero = 0
    for u in range(len(outputs)):
        value = values[outputs[u]]
        changed = everything if u == t else flipped[outputs[u]] ^ value if t < 0 and cone[outputs[u]] else np.uint64(0)
        for e in range(len(weights)):
            if bit(changed, e):
                breaks, now = 1 - 2 * bit(value ^ targets[u], e), bit(values[old], e)
                weights[e] += -breaks if now else breaks
                zero += breaks * now
    return zero


@njit
def price_all(values, everything, weights, rows, n, thirds):
    """Sizes of the cells of every pair of rows with every third node: the larger, the better is their best function."""
    planes, negative = split(weights)
    sums, both, both_inside = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    inside, total_inside, sizes = np.zeros(n, np.int64), np.zeros(1, np.int64), np.zeros((len(thirds), n, n), np.int64)
    add_up(planes, negative, everything, rows, n, sums)
    for j in range(len(thirds)):
        third = values[thirds[j]]
        add_up(planes, negative, third, rows, n, inside)
        add_up(planes, negative, third, np.full(1, everything), 1, total_inside)
        for a in range(1, n):
            add_up(planes, negative, rows[a], rows, a, both)
            add_up(planes, negative, rows[a] & third, rows, a, both_inside)
            cell_sizes(sums, inside, weights.sum(), total_inside[0], a, both, both_inside, sizes[j, a])
    return sizes


@njit
def pick_function(values, everything, weights, rows, nodes, n, thirds, least):
    """Draw three nodes whose best function is good enough, and that function; no nodes if there are none."""
    sizes = price_all(values, everything, weights, rows, n, thirds)
    picks, n_picks = np.zeros(sizes.size + 1, np.int64), 0
    for j in range(len(thirds)):
        for a in range(1, n):
            for b in range(a):
                picks[n_picks] = (j * n + a) * n + b
                n_picks += sizes[j, a, b] >= least
    if n_picks == 0:
        return -1, -1, -1, 0
    pick = picks[below(n_picks)]
    a, b, c = nodes[pick // n % n], nodes[pick % n], thirds[pick // n**2]
    cells, table = np.zeros(8, np.int64), 0
    for e in range(len(weights)):
        cells[4 * bit(values[a], e) + 2 * bit(values[b], e) + bit(values[c], e)] += weights[e]
    for cell in range(8):  # a coin where both values cost the same
        table |= (cells[cell] < 0 or (cells[cell] == 0 and below(2) == 1)) << cell
    return a, b, c, (table & 0x55) * 3 if c == thirds[0] else table  # the first third is 0


@njit
def walk(values, first, everything, targets, sources, tables, outputs, n_examples, n_sources, tidying, moves, seed):
    """Change a circuit until no error is left or, when tidying, to the fewest gates in all moves; returns gates and errors."""
    np.random.seed(seed)  # noqa: NPY002 - Numba's own generator
    zero_node, n_nodes, m = first - 2, len(values), len(outputs)
    order, state, nodes = np.zeros(n_nodes, np.int64), np.zeros(n_nodes, np.int64), np.zeros(n_nodes, np.int64)
    flipped, rows, weights = np.zeros(n_nodes, np.uint64), np.zeros(n_nodes, np.uint64), np.zeros(n_examples, np.int64)
    n_live, errors = settle(values, first, everything, targets, sources, tables, outputs, order, state)
    cost = n_live if tidying else errors
    best, best_cost, history = (sources.copy(), tables.copy(), outputs.copy()), cost, np.full(HISTORY, cost)
    for move in range(moves):
        if errors == 0 and not tidying:
            break
        history[move % HISTORY - 1] = cost  # of the move before
        place = below(n_live + m)
        t = place - n_live if place >= n_live else -1
        old = outputs[t] if t >= 0 else order[place]
        cone = np.zeros(n_nodes, np.bool_)
        if t < 0:
            flipped[:] = values
            flipped[old] = ~values[old] & everything
            cone[old] = True
            for node in order[place + 1 : n_live]:
                flipped[node] = gate_value(flipped, sources[node], tables[node]) & everything
                cone[node] = cone[sources[node, 0]] or cone[sources[node, 1]] or cone[sources[node, 2]]
        zero = weigh(values, everything, targets, outputs, flipped, cone, old, t, weights)
        nodes[:zero_node] = np.arange(zero_node)
        n = zero_node
        for node in order[:n_live]:
            nodes[n] = node
            n += not cone[node]
        n_plain, spare = n, -1
        for node in range(first, n_nodes):  # dead gates are drawn afresh; the first is left for a new gate at an output
            if state[node] == 0 and spare >= 0 and n < n_plain + FRESH:
                sources[node, :] = zero_node
                for terminal in range(n_sources):
                    sources[node, terminal] = nodes[below(n_plain)]
                odd, single = (0x96, 1) if n_sources == 3 else (0x3C, 3)
                which, cell = below(3), below(8 if n_sources == 3 else 4) * (1 if n_sources == 3 else 2)
                tables[node] = odd if which == 0 else single << cell ^ (255 if which == 1 else 0)
                values[node] = gate_value(values, sources[node], tables[node]) & everything
                nodes[n] = node
                n += 1
            elif state[node] == 0 and spare < 0:
                spare = node
        rows[:n] = values[nodes[:n]]
        threshold = 0 if tidying else THRESHOLDS[below(len(THRESHOLDS))]
        a, table = np.int64(-1), 0
        if below(256) < (128 if tidying else 32):  # a node in place of the gate
            found = 0
            nodes[n], nodes[n + 1] = zero_node, zero_node + 1
            for i in range(n + 2):
                price = zero
                for e in range(n_examples):
                    price += weights[e] * bit(values[nodes[i]], e)
                if price <= threshold and not n_plain <= i < n:
                    found += 1
                    a = nodes[i] if below(found) == 0 else a
        before = sources.copy(), tables.copy(), outputs.copy()
        if a < 0:
            thirds = np.full(1 if n_sources == 2 else THIRDS + 1, zero_node)
            for j in range(1, len(thirds)):  # the present sources first, so that one of them alone can change
                own = sources[old, j - 1] if t < 0 and j <= 3 else zero_node
                thirds[j] = own if own != zero_node else nodes[below(n)]
            least = 2 * zero + weights.sum() - 2 * threshold
            a, b, c, table = pick_function(values, everything, weights, rows, nodes, n, thirds, least)
            if a < 0 or (t >= 0 and spare < 0):
                continue
            node = old if t < 0 else spare
            sources[node, 0], sources[node, 1], sources[node, 2], tables[node] = a, b, c, table
            if t >= 0:
                outputs[t] = node
        elif t >= 0:
            outputs[t] = a
        else:
            for node in order[:n_live]:
                for terminal in range(3):
                    sources[node, terminal] = a if sources[node, terminal] == old else sources[node, terminal]
            for u in range(m):
                outputs[u] = a if outputs[u] == old else outputs[u]
        n_live, new_errors = settle(values, first, everything, targets, sources, tables, outputs, order, state)
        new_cost = n_live if tidying else new_errors
        if (tidying and new_errors) or (new_cost > cost and new_cost >= history[move % HISTORY]):
            sources[:], tables[:], outputs[:] = before[0], before[1], before[2]
            n_live, errors = settle(values, first, everything, targets, sources, tables, outputs, order, state)
            continue
        cost, errors = new_cost, new_errors
        if cost < best_cost:
            best, best_cost = (sources.copy(), tables.copy(), outputs.copy()), cost
    if tidying:
        sources[:], tables[:], outputs[:] = best[0], best[1], best[2]
    return settle(values, first, everything, targets, sources, tables, outputs, order, state)


def on_words(circuit: Any, X: Any, Y: Any) -> Any:
    """Arguments of `settle` for every 64 rows."""
    inputs, targets, everything = pack(X), pack(Y), tail_mask(len(X))
    slots, first = np.zeros(SLOTS, np.uint64), X.shape[1] + 2
    for w, mask in enumerate(everything):
        values = np.concatenate([inputs[:, w], np.array([0, mask], np.uint64), slots])
        yield values, first, mask, np.ascontiguousarray(targets[:, w]), *circuit


def gates_and_errors(circuit: Any, X: Any, Y: Any) -> tuple[int, int]:
    room = np.zeros((2, X.shape[1] + 2 + SLOTS), np.int64)
    found = [settle(*arguments, *room) for arguments in on_words(circuit, X, Y)]
    return found[0][0], sum(errors for _, errors in found)


def learn(X: Any, Y: Any, n_sources: int) -> Any:
    """Teach the targets in their order, several tries each; None if there is one that no try solves."""
    n_nodes, zero = X.shape[1] + 2 + SLOTS, X.shape[1]
    circuit = np.full((n_nodes, 3), zero), np.zeros(n_nodes, np.int64), np.zeros(0, np.int64)
    for lesson in range(1, Y.shape[1] + 1):
        solved: list[Any] = []
        for moves in (FIT_MOVES * 4**k for k in range(ROUNDS)):
            for attempt in range(0 if solved else TRIES):
                trial = circuit[0].copy(), circuit[1].copy(), np.append(circuit[2], zero)
                (arguments,) = on_words(trial, X, Y[:, :lesson])
                if walk(*arguments, len(X), n_sources, False, moves, moves + attempt)[1] == 0:
                    gates, _ = walk(*arguments, len(X), n_sources, True, TIDY_MOVES, attempt)
                    solved.append((gates, attempt, trial))
        if not solved:
            return None
        circuit = min(solved, key=lambda entry: entry[:2])[2]
    (arguments,) = on_words(circuit, X, Y)
    walk(*arguments, len(X), n_sources, True, LAST_MOVES, 1)
    return circuit


def run(case: str, number: int, n_sources: int) -> dict[str, Any]:
    """One fit, scored."""
    X, Y, T, U, known = draw(case, number)
    Y, U = (Y, U) if known is None else (Y[:, list(known)], U[:, list(known)])
    begin = time.process_time()
    circuit = learn(X, Y, n_sources)
    row = {"case": case, "set": number, "inputs": n_sources, "cpu": time.process_time() - begin, "solved": circuit is not None}
    if circuit is not None:
        gates, errors = gates_and_errors(circuit, X, Y)
        each = n_sources * math.log2(X.shape[1] + gates) + FUNCTION_BITS[n_sources]
        row |= {"gates": gates, "errors": errors, "bits": gates * each - math.lgamma(gates + 1) / math.log(2)}
        row["accuracy"] = 1 - gates_and_errors(circuit, T, U)[1] / U.size
    return row


def show(rows: list[dict[str, Any]]) -> None:
    """Two against three inputs on the training sets that both solved."""
    lines = []
    for case in dict.fromkeys(row["case"] for row in rows):
        found = [{row["set"]: row for row in rows if row["case"] == case and row["inputs"] == k} for k in (2, 3)]
        sets = sorted(
            number for number in set(found[0]) & set(found[1]) if found[0][number]["solved"] and found[1][number]["solved"]
        )
        cells = [case, f"{len(sets)} of {len(set(found[0]) & set(found[1]))}"]
        for name, digits in (("accuracy", 3), ("gates", 1), ("bits", 0), ("cpu", 1)):
            values = [[values_of_seed[number][name] for number in sets] for values_of_seed in found]
            means = [f"{np.mean(some):.{digits}f}" for some in values]
            cells.append(", ".join(map(mean_and_error, values) if name == "accuracy" else means))
        lines += [f"| {' | '.join(cells)} |"] if sets else []
    print_table("| gates of two, three inputs | sets solved by both | accuracy on unseen rows | gates | bits | CPU s |", lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", default=CASES)
    parser.add_argument("--first-set", type=int, default=0)
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no fit after so long")
    parser.add_argument("-o", "--output", default="three_inputs.jsonl", help="append one line of JSON per fit to this file")
    options = parser.parse_args()
    path, end = Path(options.output), time.monotonic() + options.seconds
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    there = {(row["case"], row["set"], row["inputs"]) for row in rows}
    run("cpar7/16", 0, 2)  # compile before anything is timed
    for number in range(options.first_set, options.first_set + options.sets):
        for job in ((case, number, k) for case in options.cases.split(",") for k in (2, 3)):
            if job not in there and time.monotonic() < end:
                rows.append(run(*job))
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
    show(rows)


if __name__ == "__main__":
    main()
