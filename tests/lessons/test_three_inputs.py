"""The experiment with gates of three inputs: prices are those of trying all 256 functions, and circuits are right."""

import itertools
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import three_inputs

del sys.path[0]  # other scripts there have names of other tests' modules


def word(bits):
    return sum(1 << place for place, bit in enumerate(bits) if bit)


@pytest.mark.parametrize("seed", range(5))
def test_eight_cells_price_the_best_of_256_functions(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.choice([1, 5, 63, 64]))
    nodes, old = rng.integers(2, size=(5, n)), rng.integers(2, size=n)
    nodes[4] = 0
    costs = rng.integers(-3, 4, size=n)  # of changing the gate on an example
    weights = np.where(old, -costs, costs)
    values = np.array([word(row) for row in nodes], np.uint64)
    thirds = np.array([4, 2, 3])
    sizes = three_inputs.price_all(values, np.uint64(word(np.ones(n))), weights, values, 4, thirds)
    for (j, third), (a, b) in itertools.product(enumerate(thirds), itertools.combinations(range(4), 2)):
        cells = 4 * nodes[b] + 2 * nodes[a] + nodes[third]
        best = min(costs[(table >> cells & 1) != old].sum() for table in range(256))
        assert (costs.sum() - sizes[j, b, a]) / 2 == best


@pytest.mark.parametrize("n_sources", [2, 3])
def test_a_learned_circuit_has_no_errors_and_gates_of_at_most_n_sources(n_sources, monkeypatch):
    monkeypatch.setattr(three_inputs, "TIDY_MOVES", 2_000)
    monkeypatch.setattr(three_inputs, "LAST_MOVES", 10_000)
    X = np.array(list(itertools.product((0, 1), repeat=4)), dtype=bool)
    Y = np.column_stack([X[:, 0] ^ X[:, 1] ^ X[:, 2], (X[:, :3].sum(axis=1) > 1) & X[:, 3]])
    sources, tables, outputs = three_inputs.learn(X, Y, n_sources)
    values = [*X.T.astype(int), np.zeros(16, int), np.ones(16, int)] + [None] * three_inputs.SLOTS

    def value(node):
        if values[node] is None:
            a, b, c = (value(source) for source in sources[node])
            values[node] = tables[node] >> (4 * a + 2 * b + c) & 1
        return values[node]

    assert all((value(node) == column).all() for node, column in zip(outputs, Y.T, strict=True))
    gates, errors = three_inputs.gates_and_errors((sources, tables, outputs), X, Y)
    live = [node for node in range(6, len(values)) if values[node] is not None]
    assert (gates, errors) == (len(live), 0)
    assert n_sources == 3 or all(sources[node, 2] == 4 for node in live)
    assert gates <= (3 if n_sources == 3 else 8)
