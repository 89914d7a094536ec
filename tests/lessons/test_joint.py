"""Joint starts: when they are made, and that they only replace circuits that are longer or wrong."""

from __future__ import annotations

import numpy as np
import pytest
from lesson_cases import evaluate, learner

from gradus import learn, problems
from gradus._core.run import Run
from gradus._lessons.circuit_learner import CircuitLearner

WORK_OF_LESSONS = 400_000_000  # about what 24 examples of the multiplier take


@pytest.fixture(scope="module")
def multiplier():
    """24 examples of a 3-bit multiplier: too few to determine its circuit."""
    X = (np.arange(64)[:, np.newaxis] >> np.arange(6) & 1).astype(bool)
    a, b = X[:, :3] @ (1 << np.arange(3)), X[:, 3:] @ (1 << np.arange(3))
    Y = ((a * b)[:, np.newaxis] >> np.arange(6) & 1).astype(bool)
    rows = np.random.default_rng(0).permutation(64)[:24]
    return X[rows], Y[rows]


def only_constants(X, Y, run=None):
    """A learner whose lessons have found no circuit for any target."""
    own = learner(X, Y, run=run)
    for column in range(Y.shape[1]):
        own._accept(own._constant(column))
    own.unsolved, own.work = True, WORK_OF_LESSONS
    return own


def test_joint_starts_are_exact_or_say_that_they_are_not(multiplier):
    X, Y = multiplier
    own = only_constants(X, Y)
    starts = [own._joint_start(35, WORK_OF_LESSONS // 2, number) for number in range(3)]
    assert any(start.reached for start in starts)
    for start in starts:
        assert (evaluate(start.circuit, X) == Y[:, start.columns]).all() == start.reached
        assert start.n_gates <= 35


def test_an_exact_joint_circuit_replaces_a_shorter_one_with_errors_and_is_the_same_in_threads(multiplier):
    X, Y = multiplier
    results = []
    for n_jobs in (1, 2):
        own = only_constants(X, Y, Run(n_jobs=n_jobs))
        assert own.solution.errors.any()
        own._compare_with_joint_starts()
        assert not own.solution.errors.any()
        assert (evaluate(own.solution.circuit, X) == Y).all()
        assert not own.unsolved
        results.append((own.solution.circuit.sources.tolist(), own.work))
    assert results[0] == results[1]


def test_a_circuit_longer_than_its_labels_competes_with_joint_starts_and_gets_no_longer(multiplier):
    X, Y = multiplier
    own = learner(X, Y)
    while own.remaining:
        own._lesson()
    before, work = own.solution.n_gates, own.work
    own._compare_with_joint_starts()
    assert own.work > work  # they were made
    assert own.solution.n_gates <= before
    assert (evaluate(own.solution.circuit, X) == Y[:, own.solution.columns]).all()


def test_no_joint_start_is_made_if_the_circuit_is_much_shorter_than_the_labels(monkeypatch):
    def never(*arguments):
        raise AssertionError("a joint start was made")

    monkeypatch.setattr(CircuitLearner, "_joint_start", never)
    adder = problems.load("add3")
    assert learn(adder.X, adder.Y).n_gates == 9


def test_nothing_starts_after_a_stop(multiplier):
    own = only_constants(*multiplier, Run(time_limit=0))
    own._compare_with_joint_starts()
    assert own.work == WORK_OF_LESSONS
