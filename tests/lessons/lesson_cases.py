"""Random circuits and examples for the tests of the lessons."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from gradus._circuit.gate_list import GateList
from gradus._circuit.network import network_of
from gradus._lessons.packed_examples import pack_examples

SIZES = (1, 2, 63, 64, 65, 128)


@st.composite
def cases(draw, max_gates=8, masked=True):
    """A circuit with its examples: (circuit, X, Y, known)."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, n_inputs = draw(st.sampled_from(SIZES)), draw(st.integers(1, 4))
    n_gates, n_targets = draw(st.integers(1, max_gates)), draw(st.integers(1, 4))
    sources = np.array([rng.integers(n_inputs + gate, size=2) for gate in range(n_gates)]).reshape(-1, 2)
    outputs = rng.integers(n_inputs + n_gates, size=n_targets)
    outputs[0] = n_inputs + n_gates - 1
    circuit = GateList(n_inputs, rng.integers(16, size=n_gates).astype(np.uint8), sources, outputs)
    X = rng.random((n, n_inputs)) < 0.5
    Y = rng.random((n, n_targets)) < rng.choice([0, 0.3, 0.5, 1])
    known = rng.random(Y.shape) < (draw(st.sampled_from([0.0, 0.5, 1.0])) if masked else 1.0)
    return circuit, X, Y & known, known


def packed(case):
    _, X, Y, known = case
    return pack_examples(X, Y, known)


def evaluate(circuit, X):
    """Predict every output for every row."""
    return network_of(circuit).predict(X)
