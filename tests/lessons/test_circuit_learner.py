"""Lessons that cannot be solved, circuits that are shortened, and neighbours that vote."""

from __future__ import annotations

import numpy as np
import pytest
from lesson_cases import evaluate, learner

from gradus import learn, problems
from gradus._circuit.gate_list import GateList
from gradus._core.run import Run
from gradus._lessons.circuit_learner import CircuitLearner
from gradus._lessons.description import Solution
from gradus._lessons.ensemble import MORE_GATES, N_VOTES, Ensemble
from gradus._lessons.packed_examples import pack_examples
from gradus._lessons.walks import LessonSettings


@pytest.fixture(scope="module")
def examples():
    problem = problems.load("cmaj9")
    train, test = problem.sample(48, 3)
    return problem.rows(train), problem.rows(test)


@pytest.fixture(scope="module")
def parent(examples):
    return learner(*examples[0]).learn()


def test_free_gates_lead_to_other_circuits_of_about_the_size_without_errors(examples, parent):
    (X, Y), _ = examples
    walks, free = learner(X, Y).walks, parent.solution.n_gates + 2
    others = [walks.minimise_gates(parent.solution, seed, 20_000_000, free) for seed in (1, 2)]
    for other in others:
        assert not other.errors.any()
        assert (evaluate(other.circuit, X) == Y).all()
        assert other.n_gates <= free
    rows = np.random.default_rng(0).random((2000, X.shape[1])) < 0.5
    assert (evaluate(others[0].circuit, rows) != evaluate(others[1].circuit, rows)).any()


def test_neighbours_are_exact_and_at_most_three_gates_larger_and_the_same_in_threads(examples, parent):
    (X, Y), _ = examples
    wirings = []
    for n_jobs in (1, 2):
        ensemble = Ensemble(pack_examples(X, Y, np.ones_like(Y)), LessonSettings(), 7, Run(n_jobs=n_jobs))
        ensemble._add_neighbours([parent, parent], 2)
        assert len(ensemble.circuits) == 4
        for neighbour in ensemble.circuits:
            assert (evaluate(neighbour.solution.circuit, X) == Y).all()
            assert neighbour.solution.n_gates <= parent.solution.n_gates + MORE_GATES
            assert neighbour.length == parent.length
        wirings.append([neighbour.solution.circuit.sources.tolist() for neighbour in ensemble.circuits])
    assert wirings[0] == wirings[1]


def test_by_default_up_to_nine_circuits_vote_and_one_if_one_is_asked_for():
    problem = problems.load("sub5")
    X, Y = problem.rows(problem.sample(32, 3)[0])
    default = learn(X, Y, seed=1)
    assert default.converged
    assert 2 < default.n_voting <= N_VOTES
    for circuit in default.circuits[: default.n_voting]:
        assert (circuit.predict(X) == Y).all()
    assert len(learn(X, Y, seed=1, n_circuits=1).circuits) == 1


def test_a_lesson_that_cannot_be_solved_does_not_make_the_others_wrong(monkeypatch):
    """With a single short round not every lesson is solved; the errors are repaired at the end, or reported."""
    problem = problems.load("cmux9")
    X, Y = problem.rows(problem.sample(40, 3)[0])
    left = []
    repair = CircuitLearner._repair_errors
    monkeypatch.setattr(CircuitLearner, "_repair_errors", lambda self: left.append(self.solution.errors.sum()) or repair(self))
    result = learner(X, Y, first_rounds=1, rounds=1).learn()
    assert left[0] > 0
    wrong = (evaluate(result.solution.circuit, X) != Y).sum(axis=0)
    assert wrong.tolist() == result.solution.errors.tolist()
    assert wrong.sum() <= left[0]
    assert result.tolerant == bool(wrong.any())
    assert sorted(result.order) == list(range(Y.shape[1]))


def test_shortening_with_errors_allowed_and_repairing_finds_a_smaller_circuit():
    """Twelve inverters follow the two gates; none of them is left."""
    rng = np.random.default_rng(5)
    X = rng.random((40, 5)) < 0.5
    Y = np.column_stack([X[:, 0] & X[:, 1], X[:, 2] ^ X[:, 3]])
    functions, sources = [8, 6], [(0, 1), (2, 3)]
    for k in range(6):  # double inverters after each gate
        for place in (0, 1):
            node = 5 + 2 * k + place
            functions.append(3)
            sources.append((node, node))
    circuit = GateList(5, np.array(functions, np.uint8), np.array(sources, np.int64), np.array([17, 18], np.int64))
    assert (evaluate(circuit, X) == Y).all()
    repaired = learner(X, Y)._repaired(Solution(circuit, [0, 1], np.zeros(2, np.int64)), 60_000_000, 4)
    assert repaired.reached
    assert (evaluate(repaired.circuit, X) == Y).all()
    assert repaired.n_gates <= 4


@pytest.mark.parametrize("learned", [0, 4, 5, 14])
def test_the_more_targets_were_learned_exactly_the_more_evidence_of_noise_is_needed(learned, monkeypatch):
    X = np.random.default_rng(0).random((20, 4)) < 0.5
    own = learner(X, np.zeros((20, 15), bool), exact=None)
    for column in range(learned):
        own._accept(own._constant(column))
    asked = []
    monkeypatch.setattr(
        CircuitLearner, "_is_doubtful", lambda self, solution, attempt, doubt=None: asked.append(doubt) or True
    )
    assert own._noise_checked(own._constant(14)) is None
    assert asked == [None, pytest.approx(33.0 * (1 + 0.1 * max(learned - 4, 0)))]
