"""Prices of replacements are those of trying them out, and walks report what they return."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from lesson_cases import cases, evaluate, packed
from naive_lessons import best_pair_errors, errors, errors_with, gate_weights, node_values, outputs

from gradus._circuit.gate_list import GateList, cleaned
from gradus._core.kernels.compile import compiled
from gradus._core.run import Run
from gradus._lessons.description import Solution, error_table, gate_table
from gradus._lessons.kernel.board import load_circuit, new_board, read_circuit
from gradus._lessons.kernel.pricing import flip, price_nodes, weigh, weigh_both, weigh_cells
from gradus._lessons.kernel.walk import Rules, gather, new_trail, node_promise
from gradus._lessons.walks import LessonSettings, Walks


@compiled
def price_everything(board, rules, trail, gate, exact):
    n_touched = flip(board, gate)
    n_planes, _ = weigh(board, gate, n_touched, exact, trail.sums)
    _, n = gather(board, rules, trail, gate, n_planes)
    zero, total = price_nodes(board, gate, n, n_planes)
    nodes = np.empty(n, dtype=np.int64)
    pairs = np.zeros((n, n), dtype=np.int64)
    for a in range(np.uint64(n)):
        nodes[a] = zero + board.node_sums[a]
        weigh_both(board, a, n, n_planes)
        weigh_cells(board, a, a, total)
        for b in range(a):
            pairs[a, b] = (2 * zero + total - board.sizes[b]) // 2
    return nodes, pairs


@compiled
def promises(board, trail, gate, window):
    n_touched = flip(board, gate)
    n_planes, _ = weigh(board, gate, n_touched, False, trail.sums)
    found = np.empty(board.n_inputs, dtype=np.int64)
    for node in range(board.n_inputs):
        found[node] = node_promise(board, node, window, n_planes)
    return found


def rules_for(n, m):
    table = np.arange(n + 1, dtype=np.int64)[np.newaxis]
    return Rules(table, np.zeros(m, np.int64), np.zeros(50, np.int64), False, False, np.zeros(1, np.int64), 0, 0, 1000, 0, 0)


@settings(max_examples=60)
@given(cases(max_gates=5), st.integers(0, 100))
def test_one_flip_prices_every_node_and_the_best_function_of_every_pair(case, which):
    circuit, X, Y, known = case
    circuit = cleaned(circuit)
    gates = np.flatnonzero(~np.isin(circuit.functions, (0, 15)))
    if len(gates) == 0:
        return
    board = new_board(packed(case), list(range(Y.shape[1])), len(circuit.functions) + 1)
    load_circuit(board, circuit)
    assert board.errors.tolist() == errors(circuit, X, Y, known).tolist()
    gate = circuit.n_inputs + int(gates[which % len(gates)])
    slot = circuit.n_inputs + 2 + int(np.searchsorted(gates, gate - circuit.n_inputs))
    nodes, pairs = price_everything(board, rules_for(len(X), Y.shape[1]), new_trail(board, 1, 1), slot, False)
    before = errors(circuit, X, Y, known).sum()
    numbers = {circuit.n_inputs + 2 + place: circuit.n_inputs + int(g) for place, g in enumerate(gates)}
    candidates = [numbers.get(int(node), int(node)) for node in board.candidates[: len(nodes)]]
    every = np.array([node_values(circuit, row) for row in X])
    for place, node in enumerate(candidates):
        assert before + nodes[place] == errors_with(circuit, X, Y, known, gate, every[:, node])
    best = best_pair_errors(circuit, X, Y, known, gate)
    for i, a in enumerate(candidates):
        for j, b in enumerate(candidates[:i]):
            assert before + pairs[i, j] == best[min(a, b), max(a, b)]


@settings(max_examples=60)
@given(cases(max_gates=5), st.integers(0, 1))
def test_a_node_promises_the_absolute_weights_of_its_ones_and_zeros(case, window):
    circuit, X, Y, known = case
    circuit = cleaned(circuit)
    gates = np.flatnonzero(~np.isin(circuit.functions, (0, 15)))
    if len(gates) == 0:
        return
    board = new_board(packed(case), list(range(Y.shape[1])), len(circuit.functions) + 1)
    load_circuit(board, circuit)
    weights = gate_weights(circuit, X, Y, known, circuit.n_inputs + int(gates[0]))
    found = promises(board, new_trail(board, 1, 1), circuit.n_inputs + 2, min(window, (len(X) - 1) // 64))
    for node, column in enumerate(X.T):  # all words fit into a window
        assert found[node] == abs(weights[column].sum()) + abs(weights[~column].sum())


def test_any_number_of_outputs_may_read_one_gate():
    """There are as many planes as the number of outputs has bits; 128 and more outputs once wrote past the arrays."""
    rng = np.random.default_rng(0)
    X, Y = rng.random((20, 3)) < 0.5, rng.random((20, 300)) < 0.3
    circuit = GateList(3, np.array([8], np.uint8), np.array([[0, 1]]), np.full(300, 3))
    known = np.ones_like(Y)
    board = new_board(packed((circuit, X, Y, known)), list(range(300)), 2)
    load_circuit(board, circuit)
    _, pairs = price_everything(board, rules_for(20, 300), new_trail(board, 1, 1), 5, False)
    best = best_pair_errors(circuit, X, Y, known, 3)
    assert {(j, i): errors(circuit, X, Y, known).sum() + pairs[i, j] for i in range(3) for j in range(i)} == best


@given(cases())
def test_targets_are_ranked_by_the_best_node_and_the_best_gate(case):
    circuit, X, Y, known = case
    circuit = cleaned(circuit)
    every = np.array([node_values(circuit, row) for row in X], dtype=bool)
    every = np.column_stack([every, np.zeros(len(X), bool), np.ones(len(X), bool)])
    fewest = Walks(packed(case), LessonSettings(), Run()).rank_targets(circuit, list(range(Y.shape[1])), 1)
    for t in range(Y.shape[1]):
        wrong = ((every != Y[:, [t]]) & known[:, [t]]).sum(axis=0)
        wrong = np.minimum(wrong, known[:, t].sum() - wrong)
        assert fewest[t, 0] == wrong.min()
        assert fewest[t, 1] <= fewest[t, 0]


@settings(max_examples=60)
@given(cases(), st.booleans(), st.integers(0, 1000))
def test_a_walk_counts_its_errors_and_never_ends_worse_than_it_starts(case, nand, seed):
    """Reported errors are right, the result is no worse than the start, and removing gates keeps every output."""
    circuit, X, Y, known = case
    if nand:
        circuit = circuit._replace(functions=np.full(len(circuit.functions), 7, np.uint8))
    circuit = cleaned(circuit, nand=nand)
    start = Solution(circuit, list(range(Y.shape[1])), errors(circuit, X, Y, known))
    walks = Walks(packed(case), LessonSettings(nand=nand), Run())
    fitted = walks.fit(start, seed, 300_000)
    assert fitted.errors.tolist() == errors(fitted.circuit, X, Y, known).tolist()
    assert fitted.errors.sum() <= start.errors.sum()
    own = outputs(fitted.circuit, X) & known
    exact = Walks(packed((fitted.circuit, X, own, known)), LessonSettings(nand=nand), Run())
    small = exact.minimise_gates(fitted, seed, 300_000)
    assert small.errors.sum() == 0
    assert ((evaluate(small.circuit, X) == own) | ~known).all()
    assert small.n_gates <= fitted.n_gates
    short = walks.minimise_length(fitted, seed, 300_000)
    counts = known.sum(axis=0).tolist()
    bits = gate_table(X.shape[1], 100, nand)

    def length(solution):
        return bits[solution.n_gates] + sum(error_table(n)[e] for n, e in zip(counts, solution.errors, strict=True))

    assert length(short) <= length(fitted)
    if nand:
        assert set(short.circuit.functions.tolist()) | set(small.circuit.functions.tolist()) <= {0, 7, 15}


@given(cases(masked=False))
def test_a_circuit_read_from_a_board_computes_what_was_loaded(case):
    circuit = cleaned(case[0])
    board = new_board(packed(case), list(range(case[2].shape[1])), len(circuit.functions) + 2)
    load_circuit(board, circuit)
    back = read_circuit(board, board.functions, board.sources, board.order[: board.n_live[0]], board.outputs)
    assert (evaluate(back, case[1]) == evaluate(circuit, case[1])).all()
