"""How circuits are read: by their outputs, beside a slow twin, and by all nodes, beside scipy's minimiser."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from gradus import Network
from gradus._tables import logistic
from gradus._tables.goals import Weights
from gradus._tables.labels import TargetEncoding
from gradus._tables.logistic import RIDGE, centred, ridge_logistic, shares_of_scores
from gradus._tables.readers import NodeValues, OutputReader, read_circuit
from gradus.errors import FormatError


def random_network(rng, n_inputs=4, n_gates=6, n_outputs=1):
    sources = [sorted(rng.integers(0, n_inputs + g, 2).tolist()) for g in range(n_gates)]
    outputs = rng.integers(0, n_inputs + n_gates, n_outputs).tolist()
    return Network(n_inputs, sources, outputs, rng.integers(0, 16, n_gates).tolist())


def values_of(reader, network, inputs):
    return NodeValues.of(network, reader.nodes, inputs)


def reader_of(network, inputs, codes, weights=(None, None), unseen=None):
    """Read a circuit for a target of two classes."""
    rows = np.ones(len(codes)) if weights[0] is None else weights[0]
    classes = np.ones(2) if weights[1] is None else weights[1]
    targets = [TargetEncoding("y", (0, 1))]
    return read_circuit(network, targets, inputs, codes[:, np.newaxis], Weights(rows, (classes,)), unseen)[0]


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


def cost_of(level, weights, signs, codes, rows, offset):
    """What a ridge logistic regression makes small; with two classes the ridge is on what tells them apart."""
    shares = shares_of_scores(offset + level + signs @ weights)
    both = np.vstack([level, weights])
    shrunk = both @ [-1, 1] if len(level) == 2 else both
    return -rows @ np.log(shares[np.arange(len(codes)), codes]) + RIDGE * (shrunk**2).sum() / 2


@given(st.integers(2, 4), st.integers(0, 10_000))
def test_weights_are_as_good_as_those_that_a_minimiser_finds(n_classes, seed):
    rng = np.random.default_rng(seed)
    signs = (rng.random((40, 3)) < 0.5) - rng.random(3)
    codes, rows, offset = (
        rng.integers(0, n_classes, 40),
        rng.integers(1, 3, 40).astype(float),
        rng.normal(size=(40, n_classes)),
    )

    def cost(weights):
        level, *others = weights.reshape(4, n_classes)
        return cost_of(level, np.array(others), signs, codes, rows, offset)

    found = ridge_logistic(signs, codes, rows, offset)
    assert cost_of(*found, signs, codes, rows, offset) <= minimize(cost, np.zeros(4 * n_classes)).fun + 0.02


def test_a_rare_class_far_from_what_was_known_is_found():
    rng = np.random.default_rng(0)
    signs = rng.random((4000, 6)) < 0.15
    codes = (signs[:, 0] & signs[:, 1]).astype(int)
    level, weights = ridge_logistic(
        np.column_stack([signs, signs[:, 0] & signs[:, 1]]) - 0.1, codes, np.ones(4000), np.tile([5.0, -5.0], (4000, 1))
    )
    scores = np.array([5.0, -5.0]) + level + (np.column_stack([signs, signs[:, 0] & signs[:, 1]]) - 0.1) @ weights
    assert (np.argmax(scores, axis=1) == codes).all()


def test_nodes_tell_more_than_outputs_on_rows_that_were_not_seen():
    rng = np.random.default_rng(1)
    inputs = rng.random((600, 4)) < 0.5
    codes = (inputs[:, 0] & inputs[:, 1] ^ (rng.random(600) < 0.1)).astype(int)
    network = Network(4, [[0, 1], [4, 2]], [5], [8, 14])  # "or x2" is too much
    alone, refined = (reader_of(network, inputs, codes, unseen=unseen) for unseen in (None, np.arange(600) % 2 == 0))
    right = [
        (np.argmax(reader.probabilities(values_of(reader, network, inputs)), axis=1) == codes).mean()
        for reader in (alone, refined)
    ]
    assert right[1] > right[0] + 0.1


def test_classes_weigh_as_asked_and_rows_too():
    network = Network(1, [], [0])
    inputs, codes = np.array([[0], [0], [0], [1]], dtype=bool), np.array([0, 0, 1, 1])
    alike = reader_of(network, inputs, codes)
    heavy = reader_of(network, inputs, codes, (None, np.array([1.0, 9.0])))
    twice = reader_of(network, inputs[[0, 1, 2, 3, 3]], codes[[0, 1, 2, 3, 3]])
    weighed = reader_of(network, inputs, codes, (np.array([1.0, 1, 1, 2]), None))
    values = values_of(alike, network, inputs)
    odds = [reader.probabilities(values)[0] for reader in (alike, heavy)]
    assert np.isclose(odds[1][1] / odds[1][0], 9 * odds[0][1] / odds[0][0], rtol=1e-3)
    assert np.array_equal(twice.probabilities(values), weighed.probabilities(values))


def test_a_row_gets_the_same_probability_in_whatever_company():
    rng = np.random.default_rng(0)
    network, inputs, codes = random_network(rng), rng.random((400, 4)) < 0.5, rng.integers(0, 2, 400)
    reader = reader_of(network, inputs, codes, unseen=rng.random(400) < 0.5)
    together = reader.probabilities(values_of(reader, network, inputs))
    alone = np.vstack([reader.probabilities(values_of(reader, network, inputs[[row]])) for row in range(50)])
    assert np.array_equal(together[:50], alone)


def test_a_reader_comes_back_from_its_file():
    rng = np.random.default_rng(0)
    network, inputs, codes = random_network(rng), rng.random((60, 4)) < 0.5, rng.integers(0, 2, 60)
    reader = reader_of(network, inputs, codes, unseen=rng.random(60) < 0.5)
    again = OutputReader.from_json(json.loads(json.dumps(reader.to_json())), TargetEncoding("y", (0, 1)), 10)
    values = values_of(reader, network, inputs)
    assert np.array_equal(again.probabilities(values), reader.probabilities(values))


@pytest.mark.parametrize(
    "change",
    [
        {"prior": [0.0]},
        {"prior": [0.0, "x"]},
        {"prior": None},
        {"nodes": [7]},
        {"nodes": [True]},
        {"nodes": []},
        {"nodes": 3},
        {"nodes": [0, 1]},
        {"weights": [[0.0]]},
        {"weights": [[0.0, float("inf")]]},
        {"weights": [[0.0], [0.0, 0.0]]},
    ],
)
def test_readers_that_do_not_fit_the_target_are_refused(change):
    document = {"prior": [0.0, 0.0], "nodes": [0], "weights": [[0.0, 0.0]]}
    OutputReader.from_json(document, TargetEncoding("y", (0, 1)), 7)
    with pytest.raises(FormatError, match="'y'"):
        OutputReader.from_json({**document, **change}, TargetEncoding("y", (0, 1)), 7)
    with pytest.raises(FormatError, match="'y'"):
        OutputReader.from_json(None, TargetEncoding("y", (0, 1)), 7)


def test_many_rows_are_weighed_in_parts_as_few_are_at_once(monkeypatch):
    rng = np.random.default_rng(3)
    signs = rng.random((700, 9)) < 0.4
    codes = ((signs[:, 0] ^ signs[:, 1]) | (rng.random(700) < 0.3)).astype(np.int64)
    found = []
    for many in (10**6, 100):
        monkeypatch.setattr(logistic, "MANY_ROWS", many)
        monkeypatch.setattr(logistic, "AT_ONCE", 64)
        moved, centre = centred(signs)
        assert np.allclose(moved, signs - signs.mean(axis=0), atol=1e-6)
        assert np.allclose(centre, signs.mean(axis=0))
        assert moved.dtype == (np.float64 if many > 700 else np.float32)
        found.append(ridge_logistic(moved, codes, np.ones(700), np.zeros((700, 2)))[1])
    assert np.allclose(found[0], found[1], atol=1e-4)
