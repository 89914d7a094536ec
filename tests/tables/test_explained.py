"""What decides a row: conditions that are true of it, and settle the circuit's outputs whatever the other columns hold."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from test_rewriting import drawn

from gradus._tables.explained import Explainer


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_rows_of_which_the_conditions_are_true_have_the_same_outputs(seed):
    network, features, inputs = drawn(seed)
    explainer, part = Explainer(network, features), slice(0, 1)
    outputs = network.predict(inputs)[:, 0]
    texts = explainer.explain(inputs, part)
    tests = {test.text: test for axis in explainer.axes for test in map(axis.test, axis.words)}
    for text in set(texts):
        said = [] if text == "always" else [tests[condition] for condition in text.split(" & ")]
        covered = np.array([all(is_true(test, row) for test in said) for row in inputs])
        mine = np.array([other == text for other in texts])
        assert covered[mine].all()
        assert len(set(outputs[covered].tolist())) == 1


def is_true(test, row):
    return sum(int(row[node]) << i for i, node in enumerate(test.nodes)) in test.patterns
