"""Lessons and classifiers as methods of tasks."""

from __future__ import annotations

import pytest

from gradus import learn, problems
from gradus_paper.execution import run_task
from gradus_paper.orders import order_of, shuffled_targets
from gradus_paper.tasks import Design, Task
from gradus_paper.training_sets import training_set


def by_hand(task):
    """Learn a task's training set with its shuffled targets, and put everything back in the problem's order."""
    problem = problems.load(task.design.problem)
    train, test = problem.sample(task.n_train, task.sample)
    shuffled = list(shuffled_targets(task.set_key, problem.n_targets))
    result = learn(problem.X[train], problem.Y[train][:, shuffled], seed=task.search_seed)
    back = [shuffled.index(column) for column in range(problem.n_targets)]
    vote, best = (model.predict(problem.X[test])[:, back] == problem.Y[test] for model in (result, result.network))
    return [shuffled[place] for place in result.order], vote.mean(axis=0), float(best.mean())


def test_one_fit_gives_the_vote_and_the_best_circuit_alone():
    task = Task(Design("add3", method="lessons", shuffle=True), 12, 1)
    order, vote, best = by_hand(task)
    row = run_task(task)
    assert list(row.learned_order) == order
    assert row.test_accuracy == pytest.approx(vote)
    assert row.best_circuit_accuracy == pytest.approx(best)
    assert row.best_circuit_accuracy != row.test_accuracy_mean


def test_shuffling_the_targets_of_lessons_is_part_of_the_task():
    plain, shuffled = (Task(Design("add3", method="lessons", shuffle=flag), 24, 0) for flag in (False, True))
    assert plain.id != shuffled.id
    assert run_task(shuffled).converged


def test_a_classifier_has_no_best_circuit():
    assert run_task(Task(Design("add3", method="boosting"), 24, 0)).best_circuit_accuracy is None


def test_a_network_can_be_taught_in_the_order_of_lessons():
    task = Task(Design("add3", order="self-paced", shuffle=True), 24, 0)
    data = training_set(task.set_key)
    shuffled = list(shuffled_targets(task.set_key, 3))
    taught = learn(data.X, data.Y[:, shuffled], n_circuits=1, seed=task.set_key.seed("order")).order
    found = order_of(task)
    assert found.order == tuple(shuffled[place] for place in taught)
    assert run_task(task).learned_order == list(found.order)
    assert found.eta is None


def test_boosting_learns_what_one_split_tells():
    task = Task(Design("lfsr8", method="boosting"), 64, 0)
    first, *others = run_task(task).test_accuracy
    assert set(others) == {1.0}  # the shifted bits; the parity of four is too much for it
    assert first < 1.0
