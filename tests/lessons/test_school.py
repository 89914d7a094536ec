"""Lessons that cannot be solved, circuits that are shortened, and neighbours that vote."""

from __future__ import annotations

import numpy as np
import pytest
from lesson_cases import evaluate

from gradus import learn, problems
from gradus._circuit.gate_list import GateList, gate_count
from gradus._lessons.control import Control
from gradus._lessons.learn import N_VOTES
from gradus._lessons.neighbours import MORE_GATES, neighbours
from gradus._lessons.packed_examples import pack_examples
from gradus._lessons.phases import PhaseSettings, Start, tidy
from gradus._lessons.school import School, SchoolPlan


@pytest.fixture(scope="module")
def examples():
    problem = problems.load("cmaj9")
    train, test = problem.sample(48, 3)
    return problem.rows(train), problem.rows(test)


def school(X, Y, **plan):
    packed = pack_examples(X, Y, np.ones_like(Y))
    return packed, School(packed, SchoolPlan(order=None, **{"exact": True, **plan}), PhaseSettings(), 0, 0, Control())


def test_free_gates_lead_to_other_circuits_of_about_the_size_without_errors(examples):
    (X, Y), _ = examples
    packed, taught = school(X, Y)
    circuit, columns = taught.run().circuit, list(range(Y.shape[1]))
    free = gate_count(circuit) + 2
    starts = [Start(packed, circuit, columns, seed, 20_000_000, PhaseSettings(), Control()) for seed in (1, 2)]
    found = [tidy(start, free) for start in starts]
    for draft in found:
        assert not draft.errors.any()
        assert (evaluate(draft.circuit, X) == Y).all()
        assert draft.n_gates <= free
    rows = np.random.default_rng(0).random((2000, X.shape[1])) < 0.5
    assert (evaluate(found[0].circuit, rows) != evaluate(found[1].circuit, rows)).any()


def test_neighbours_are_exact_and_at_most_three_gates_larger(examples):
    (X, Y), _ = examples
    packed, taught = school(X, Y)
    parent = taught.run()
    for n_jobs in (1, 2):
        found = neighbours(packed, [parent, parent], 2, PhaseSettings(), 7, Control(n_jobs=n_jobs))
        assert len(found) == 4
        for one in found:
            assert (evaluate(one.circuit, X) == Y).all()
            assert one.n_gates <= parent.n_gates + MORE_GATES
            assert one.length == parent.length
        gates = [one.circuit.sources.tolist() for one in found]
        if n_jobs == 1:
            alone = gates
    assert gates == alone


def test_by_default_up_to_nine_circuits_vote_and_one_if_one_is_asked_for(examples):
    (X, Y), _ = examples
    default = learn(X, Y, seed=1)
    assert default.converged
    assert 2 < default.n_voting <= N_VOTES
    for circuit in default.circuits[: default.n_voting]:
        assert (circuit.predict(X) == Y).all()
    assert len(learn(X, Y, seed=1, n_circuits=1).circuits) == 1


def test_a_lesson_that_cannot_be_solved_does_not_make_the_others_wrong():
    """With a single short round not every lesson is solved; the errors are mended at the end, or reported."""
    problem = problems.load("cmux9")
    X, Y = problem.rows(problem.sample(40, 3)[0])
    _, taught = school(X, Y, first_rounds=1, rounds=1)
    result = taught.run()
    assert taught.n_mends
    wrong = (evaluate(result.circuit, X) != Y).sum(axis=0)
    assert wrong.tolist() == result.errors.tolist()
    assert result.tolerant == bool(wrong.any())
    assert sorted(result.order) == list(range(Y.shape[1]))


def test_shortening_with_errors_allowed_and_mending_finds_a_smaller_circuit():
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
    packed, taught = school(X, Y)
    assert (evaluate(circuit, X) == Y).all()
    draft = tidy(Start(packed, circuit, [0, 1], 0, 1, PhaseSettings(), Control()))
    mended = taught._mended([0, 1], draft, 60_000_000, (4,))
    assert mended.reached
    assert (evaluate(mended.circuit, X) == Y).all()
    assert mended.n_gates <= 4


@pytest.mark.parametrize("taught", [0, 4, 5, 14])
def test_the_more_targets_were_taught_exactly_the_more_evidence_of_noise_is_needed(examples, monkeypatch, taught):
    (X, Y), _ = examples
    _, pupil = school(X, Y, exact=None)
    asked = []
    monkeypatch.setattr(School, "_in_doubt", lambda _, columns, draft, attempt, doubt=None: asked.append(doubt) or True)
    monkeypatch.setattr(pupil.shop, "run", lambda *_: pupil.draft)  # what is tidied does not matter here
    monkeypatch.setattr(pupil, "taught", list(range(taught)))
    assert pupil._noise_checked([], pupil.draft) is None
    assert asked == [None, pytest.approx(33.0 * (1 + 0.1 * max(taught - 4, 0)))]
