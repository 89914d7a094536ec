"""Lessons that go on from a circuit of earlier rows."""

from __future__ import annotations

import numpy as np
import pytest

import gradus
from gradus import Network, problems
from gradus._core.run import Run
from gradus._lessons.continued import ContinuedLearner, gate_list_of, not_longer
from gradus._lessons.description import Lengths
from gradus._lessons.packed_examples import pack_examples
from gradus._lessons.walks import LessonSettings
from gradus.errors import SettingsError

ADDER = problems.load("add3")


def continued(X, Y, start, **settings):
    examples = pack_examples(X, Y, np.ones_like(Y))
    wanted = LessonSettings(**{"exact": True, **settings})
    return ContinuedLearner(examples, wanted, 0, 0, Run(), gate_list_of(start)).learn(), Lengths(examples, False, "auto")


def test_a_circuit_that_is_still_right_is_kept_or_made_smaller():
    start = gradus.learn(ADDER.X, ADDER.Y, noise=0, n_circuits=1).network
    longer = Network(6, [*start.sources.tolist(), [0, 1], [start.n_gates + 6, 2]], [*start.outputs[:2], 7 + start.n_gates],
                     [*start.functions, 6, 8])  # fmt: skip
    wrong, right = (continued(ADDER.X, ADDER.Y, circuit)[0] for circuit in (longer, start))
    for learned in (wrong, right):
        assert not learned.solution.errors.any()
        assert learned.solution.n_gates <= start.n_gates
    result = gradus.learn(ADDER.X, ADDER.Y, noise=0, start=start)
    assert result.converged
    assert result.n_gates <= start.n_gates


@pytest.mark.parametrize("order", [None, "self-paced", [2, 0, 1]])
def test_a_circuit_of_fewer_rows_goes_on_to_one_that_is_right_on_all(order):
    few, test = ADDER.sample(12, 4)
    start = gradus.learn(ADDER.X[few], ADDER.Y[few], noise=0, n_circuits=1).network
    assert (start.predict(ADDER.X[test]) != ADDER.Y[test]).any()
    result = gradus.learn(ADDER.X, ADDER.Y, noise=0, start=start, order=order)
    assert result.converged
    assert result.n_gates <= 10
    assert sorted(result.order) == [0, 1, 2]


def test_what_is_learned_is_never_longer_than_the_start_with_its_errors():
    rng = np.random.default_rng(2)
    X = rng.random((150, 6)) < 0.5
    Y = np.column_stack([X[:, 0] ^ X[:, 1] ^ X[:, 2], (X[:, 3] & X[:, 4]) | X[:, 5]]) ^ (rng.random((150, 2)) < 0.1)
    start = Network(6, [[0, 1], [6, 2], [3, 4], [8, 5]], [7, 9], [6, 6, 8, 14])
    learned, lengths = continued(X, Y, start, exact=None)
    examples = pack_examples(X, Y, np.ones_like(Y))
    again = not_longer(learned, gate_list_of(start), examples, LessonSettings())
    wrong = (start.predict(X) != Y).sum(axis=0).tolist()
    most = lengths.gates(4) + sum(map(lengths.errors, (0, 1), wrong))
    assert again.length <= most
    poor = learned._replace(length=most + 1, tolerant=True)
    kept = not_longer(poor, gate_list_of(start), examples, LessonSettings())
    assert (kept.length, kept.solution.errors.tolist()) == (most, wrong)


def test_the_start_is_there_even_if_there_is_no_time():
    few, _ = ADDER.sample(30, 1)
    start = gradus.learn(ADDER.X[few], ADDER.Y[few], noise=0, n_circuits=1).network
    result = gradus.learn(ADDER.X, ADDER.Y, start=start, time_limit=0)
    assert result.stopped == "time_limit"
    assert result.errors.sum() <= (start.predict(ADDER.X) != ADDER.Y).sum()


def test_nands_go_on_as_nands():
    start = gradus.learn(ADDER.X[::3], ADDER.Y[::3], noise=0, gates="nand", n_circuits=1).network
    result = gradus.learn(ADDER.X, ADDER.Y, noise=0, gates="nand", start=start)
    assert result.converged
    assert (result.network.functions == 7).all()


@pytest.mark.parametrize(
    ("start", "settings", "message"),
    [
        (Network(5, [[0, 1]], [5, 5, 5]), {}, "start reads 5 inputs, but X has 6 columns."),
        (Network(6, [[0, 1]], [6]), {}, "start has 1 output, but Y has 3 columns; give a circuit that has one for each"),
        (Network(6, [[0, 1]], [6, 6, 6], [6]), {"gates": "nand"}, "start has gates that are not NAND; give start.to_nand"),
        ("model.json", {}, "start is a str; give a Network"),
    ],
)
def test_a_start_that_does_not_fit_is_refused_with_a_reason(start, settings, message):
    with pytest.raises(SettingsError, match=message):
        gradus.learn(ADDER.X, ADDER.Y, start=start, **settings)
