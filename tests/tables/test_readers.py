"""How circuits are read: shares of classes by outputs and the nodes below them, beside a slow twin that counts by row."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradus import Network
from gradus._tables.goals import Weights
from gradus._tables.labels import TargetEncoding
from gradus._tables.readers import NodeValues, OutputReader, levels_below, read_circuit, read_outputs
from gradus.errors import FormatError


def random_network(rng, n_inputs=4, n_gates=6, n_outputs=1):
    sources = [sorted(rng.integers(0, n_inputs + g, 2).tolist()) for g in range(n_gates)]
    outputs = rng.integers(0, n_inputs + n_gates, n_outputs).tolist()
    return Network(n_inputs, sources, outputs, rng.integers(0, 16, n_gates).tolist())


def values_of(reader, network, inputs):
    return NodeValues.of(network, [node for nodes in reader.nodes for node in nodes], inputs)


@given(st.integers(2, 4), st.integers(0, 1000))
def test_outputs_alone_are_naive_bayes_with_a_tenth_of_a_row_of_each_kind(n_classes, seed):
    rng = np.random.default_rng(seed)
    target = TargetEncoding("y", tuple(range(n_classes)))
    network = random_network(rng, n_outputs=target.n_outputs)
    inputs, codes = rng.random((12, 4)) < 0.5, rng.integers(-1, n_classes, 12)
    outputs = network.predict(inputs)
    (reader,) = read_circuit(network, [target], inputs, codes[:, np.newaxis], Weights.equal(12, [target]))
    for row, found in zip(outputs, reader.probabilities(values_of(reader, network, inputs)), strict=True):
        wanted = []
        for label in range(n_classes):
            mine = outputs[codes == label]
            share = (len(mine) + 0.1) / ((codes >= 0).sum() + 0.1 * n_classes)
            for k, value in enumerate(row):
                share *= ((mine[:, k] == value).sum() + 0.1) / (len(mine) + 0.2)
            wanted.append(share)
        assert np.allclose(found, np.array(wanted) / sum(wanted), atol=1e-3)


def slow_probability(network, inputs, codes, unseen, row):
    """The share of class 1 among unseen rows that look like a row: by the output, by the gates below, by those below them."""
    full = Network(network.n_inputs, network.sources, range(network.n_inputs + network.n_gates), network.functions)
    values, mine = full.predict(inputs), full.predict(row[np.newaxis])[0]
    output = int(network.outputs[0])
    log_odds = np.log(((codes == 1).sum() + 0.1) / ((codes == 0).sum() + 0.1))
    for label, sign in ((1, 1), (0, -1)):
        rows = codes == label
        seen = ((values[rows, output] == mine[output]).sum() + 0.1) / (rows.sum() + 0.2)
        held = (values[rows & unseen, output] == mine[output]).sum()
        log_odds += sign * np.log((held + seen) / ((rows & unseen).sum() + 1))
    share = 1 / (1 + np.exp(-log_odds))
    for nodes in levels_below(network, output, 2)[1:]:
        alike = unseen & (values[:, list(nodes)] == mine[list(nodes)]).all(axis=1)
        share = ((codes[alike] == 1).sum() + 8 * share) / (alike.sum() + 8)
    return share


@given(st.integers(0, 10_000))
def test_nodes_below_an_output_refine_what_it_says(seed):
    rng = np.random.default_rng(seed)
    network, inputs, codes = random_network(rng), rng.random((60, 4)) < 0.5, rng.integers(0, 2, 60)
    unseen = rng.random(60) < 0.6
    reader = read_outputs(network, network.outputs.tolist(), inputs, codes, (np.ones(60), np.ones(2)), unseen)
    found = reader.probabilities(values_of(reader, network, inputs))[:, 1]
    for row, share in zip(inputs[:5], found[:5], strict=True):
        assert np.isclose(share, slow_probability(network, inputs, codes, unseen, row), atol=1e-3)


def test_classes_weigh_as_asked_and_rows_too():
    network = Network(1, [], [0])
    inputs, codes = np.array([[0], [0], [0], [1]], dtype=bool), np.array([0, 0, 1, 1])
    alike = read_outputs(network, [0], inputs, codes, (np.ones(4), np.ones(2)))
    heavy = read_outputs(network, [0], inputs, codes, (np.ones(4), np.array([1.0, 9.0])))
    twice = read_outputs(network, [0], inputs[[0, 1, 2, 3, 3]], codes[[0, 1, 2, 3, 3]], (np.ones(5), np.ones(2)))
    weighed = read_outputs(network, [0], inputs, codes, (np.array([1.0, 1, 1, 2]), np.ones(2)))
    values = values_of(alike, network, inputs)
    odds = [reader.probabilities(values)[0] for reader in (alike, heavy)]
    assert np.isclose(odds[1][1] / odds[1][0], 9 * odds[0][1] / odds[0][0], rtol=1e-3)
    assert np.array_equal(twice.probabilities(values), weighed.probabilities(values))


def test_levels_end_at_inputs_and_constants():
    network = Network(2, [[0, 1], [2, 0], [0, 0]], [3, 4], [6, 8, 0])
    assert levels_below(network, 3, 2) == [(3,), (0, 2), (0, 1)]
    assert levels_below(network, 4, 2) == [(4,)] * 3
    assert levels_below(network, 1, 1) == [(1,), (1,)]


def test_a_reader_comes_back_from_its_file():
    rng = np.random.default_rng(0)
    network, inputs, codes = random_network(rng), rng.random((60, 4)) < 0.5, rng.integers(0, 2, 60)
    reader = read_outputs(network, network.outputs.tolist(), inputs, codes, (np.ones(60), np.ones(2)), rng.random(60) < 0.5)
    again = OutputReader.from_json(json.loads(json.dumps(reader.to_json())), TargetEncoding("y", (0, 1)), 10)
    values = values_of(reader, network, inputs)
    assert np.array_equal(again.probabilities(values), reader.probabilities(values))


@pytest.mark.parametrize(
    "change",
    [
        {"prior": [0.0]},
        {"prior": [0.0, "x"]},
        {"prior": None},
        {"nodes": [[7]]},
        {"nodes": [[True]]},
        {"nodes": [[]]},
        {"nodes": 3},
        {"nodes": [[0], [1]]},
        {"says": [[[0.0, 0.0]]]},
        {"says": [[[0.0, float("inf")], [0.0, 0.0]]]},
        {"says": [[[0.0], [0.0, 0.0]]]},
    ],
)
def test_readers_that_do_not_fit_the_target_are_refused(change):
    document = {"prior": [0.0, 0.0], "nodes": [[0]], "says": [[[0.0, 0.0], [0.0, 0.0]]]}
    OutputReader.from_json(document, TargetEncoding("y", (0, 1)), 7)
    with pytest.raises(FormatError, match="'y'"):
        OutputReader.from_json({**document, **change}, TargetEncoding("y", (0, 1)), 7)
    with pytest.raises(FormatError, match="'y'"):
        OutputReader.from_json(None, TargetEncoding("y", (0, 1)), 7)
