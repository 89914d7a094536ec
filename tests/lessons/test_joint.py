"""Joint starts: when they are made, and that they only replace circuits that are longer or wrong."""

from __future__ import annotations

import numpy as np
from lesson_cases import evaluate

from gradus import learn, problems
from gradus._lessons import school as school_module
from gradus._lessons.control import Control
from gradus._lessons.joint import joint_drafts
from gradus._lessons.packed_examples import pack_examples
from gradus._lessons.phases import PhaseSettings
from gradus._lessons.school import School, SchoolPlan
from gradus._lessons.workshop import Workshop

WORK_OF_LESSONS = 400_000_000  # about what 24 examples of the multiplier take


def multiplier():
    """24 examples of a 3-bit multiplier: too few to determine its circuit."""
    X = (np.arange(64)[:, np.newaxis] >> np.arange(6) & 1).astype(bool)
    a, b = X[:, :3] @ (1 << np.arange(3)), X[:, 3:] @ (1 << np.arange(3))
    Y = ((a * b)[:, np.newaxis] >> np.arange(6) & 1).astype(bool)
    rows = np.random.default_rng(0).permutation(64)[:24]
    return X[rows], Y[rows]


def new_school(X, Y, control):
    packed = pack_examples(X, Y, np.ones_like(Y))
    return School(packed, SchoolPlan(order=None, exact=True), PhaseSettings(), 0, 0, control)


def test_joint_drafts_are_exact_and_the_same_in_threads():
    X, Y = multiplier()
    columns = [3, 0, 5, 1, 2, 4]
    found = []
    for n_jobs in (1, 2):
        control = Control(n_jobs=n_jobs)
        shop = Workshop(pack_examples(X, Y, np.ones_like(Y)), PhaseSettings(), 0, 0, control)
        shop.work = WORK_OF_LESSONS
        drafts = joint_drafts(shop, columns, 35, 3)
        assert drafts
        for draft in drafts:
            assert (evaluate(draft.circuit, X) == Y[:, columns]).all()
            assert draft.n_gates <= 35
        found.append(([draft.circuit.sources.tolist() for draft in drafts], shop.work))
    assert found[0] == found[1]


def test_a_circuit_longer_than_its_labels_competes_with_joint_starts_and_gets_no_longer(monkeypatch):
    X, Y = multiplier()
    school = new_school(X, Y, Control())
    while school.remaining:
        school._lesson()
    begun = []

    def spy(shop, columns, most_gates, n_starts):
        begun.append(n_starts)
        return joint_drafts(shop, columns, most_gates, n_starts)

    monkeypatch.setattr(school_module, "joint_drafts", spy)
    before = school.draft.n_gates
    school._compete()
    assert begun == [6]
    assert school.draft.n_gates <= before
    assert (evaluate(school.draft.circuit, X) == Y[:, school.taught]).all()


def test_no_joint_start_is_made_if_the_circuit_is_much_shorter_than_the_labels(monkeypatch):
    def never(*arguments):
        raise AssertionError("a joint start was made")

    monkeypatch.setattr(school_module, "joint_drafts", never)
    adder = problems.load("add3")
    assert learn(adder.X, adder.Y).n_gates == 9


def test_an_exact_joint_circuit_replaces_a_shorter_one_with_errors():
    X, Y = multiplier()
    school = new_school(X, Y, Control())
    for column in range(Y.shape[1]):
        school._teach(column, school._with_constant(column))
    school.unsolved, school.shop.work = True, WORK_OF_LESSONS
    assert school.draft.errors.any()
    school._compete()
    assert not school.draft.errors.any()
    assert (evaluate(school.draft.circuit, X) == Y).all()
    assert not school.unsolved


def test_nothing_starts_after_a_stop():
    X, Y = multiplier()
    control = Control()
    school = new_school(X, Y, control)
    for column in range(Y.shape[1]):
        school._teach(column, school._with_constant(column))
    control.stopped = "callback"
    work = school.shop.work
    school._compete()
    assert school.shop.work == work
