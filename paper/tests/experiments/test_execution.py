"""From a task to its row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradus import learn, problems, search
from gradus.errors import SettingsError
from gradus.lab import Outcome, Settings
from gradus_paper.execution import TaskBatch, finished_row, job_of, run_batch, run_task
from gradus_paper.orders import TargetOrder, order_of
from gradus_paper.tasks import BASELINES, Design, Task
from gradus_paper.training_sets import own_problem, problem_of, register, training_set
from naive_experiments import test_errors


@given(seed=st.integers(0, 10**6), n=st.sampled_from([2, 3, 63, 64, 65, 130]), gates=st.integers(2, 20))
@settings(max_examples=40, deadline=None)
def test_packed_scoring_counts_the_errors_that_evaluation_row_by_row_counts(seed, n, gates):
    rng = np.random.default_rng(seed)
    X, Y = rng.integers(0, 2, (n, 4)).astype(bool), rng.integers(0, 2, (n, 2)).astype(bool)
    table = own_problem("random", X, Y, "abcd", "yz")
    register([table])
    n_train, order = int(rng.integers(1, n)), tuple(rng.permutation(2).tolist())
    task = Task(Design(table.name, order="none"), n_train, int(rng.integers(100)))
    sources = np.array([rng.integers(0, 4 + gate, 2) for gate in range(gates)])
    found = Outcome(sources=sources, cost=0, iterations=1, restarts=0, live_gates=gates, stopped=False)
    row = finished_row(task, TargetOrder(order, None, None), found, None)
    tested = np.isin(np.arange(n), problem_of(table.name).sample(n_train, task.sample)[1])
    outputs = [2 + gates + order.index(target) for target in range(2)]
    errors = test_errors(sources, outputs, X, Y, tested)
    assert row.test_accuracy == [1 - wrong / tested.sum() for wrong in errors]


def test_a_row_says_what_learning_by_hand_gives():
    task = Task(Design("add3", settings=Settings(loss="lgh"), order="given:1,0,2"), 20, 4)
    row = run_task(task)
    problem = problems.load("add3")
    train, test = problem.sample(20, 4)
    by_hand = search(problem.X[train], problem.Y[train], order=[1, 0, 2], seed=task.search_seed)
    right = by_hand.network.predict(problem.X[test]) == problem.Y[test]
    assert row.test_accuracy == pytest.approx(right.mean(axis=0).tolist())
    assert row.test_accuracy_mean == pytest.approx(right.mean())
    found = (row.iterations, row.live_gates, row.converged, tuple(row.learned_order), row.n_test)
    assert found == (by_hand.iterations, by_hand.live_gates, by_hand.converged, by_hand.order, len(test))


def test_a_training_set_depends_on_problem_size_and_sample_alone():
    one = training_set(Task(Design("sub3", settings=Settings(loss="l1")), 9, 2).set_key)
    other = training_set(Task(Design("sub3", order="auto", shuffle=True), 9, 2, repeat=7).set_key)
    assert np.array_equal(one.X, other.X)
    assert np.array_equal(one.Y, other.Y)
    assert not np.array_equal(one.X, training_set(Task(Design("sub3"), 9, 3).set_key).X)


def test_losses_share_the_order_that_was_found():
    orders = {order_of(Task(Design("sub3", settings=Settings(loss=loss), order="auto"), 9, 2)) for loss in ("lw", "lgh")}
    assert len(orders) == 1


def test_shuffled_targets_are_learned_and_scored_in_their_own_columns():
    task = Task(Design("add3", order="auto", shuffle=True), 40, 0)
    row = run_task(task)
    problem = problems.load("add3")
    train, test = problem.sample(40, 0)
    by_hand = search(problem.X[train], problem.Y[train], order=row.learned_order, seed=task.search_seed)
    right = by_hand.network.predict(problem.X[test]) == problem.Y[test]
    assert row.test_accuracy == pytest.approx(right.mean(axis=0).tolist())
    assert row.tau == 1.0  # with two thirds of the patterns the order is plain
    assert 0 <= row.eta <= 1


def test_leave_one_out_tests_on_the_pattern_left_out():
    task = Task(Design("ecoli", draw="leave-one-out", order="none", targets=("G2", "G6")), 4, 2)
    data = training_set(task.set_key)
    problem = problems.load("ecoli")
    assert np.array_equal(data.X, np.delete(problem.X, 2, axis=0))
    assert data.Y.shape == (4, 2)
    assert run_task(task).n_test == 1


def test_problems_too_large_for_a_table_are_tested_on_drawn_patterns():
    row = run_task(Task(Design("add11", order="none", settings=Settings(max_iter=2000, n_restarts=0)), 30, 0))
    assert row.n_test == 10_000
    assert 0.2 < row.test_accuracy_mean < 0.8


def test_leave_one_out_on_too_many_patterns_is_refused():
    with pytest.raises(SettingsError, match="'cpar21' has too many patterns"):
        training_set(Task(Design("cpar21", draw="leave-one-out"), 2**21 - 1, 0).set_key)


def test_a_task_without_test_patterns_has_no_accuracy():
    row = run_task(Task(Design("cpar3"), 8, 0))
    assert row.n_test == 0
    assert row.test_accuracy is None


def test_baselines_are_scored_like_networks():
    rows = {m: run_task(Task(Design("cmux7", method=m), 100, 0)) for m in BASELINES}
    assert all(len(row.test_accuracy) == 3 and row.loss is None for row in rows.values())
    assert rows["majority"].test_accuracy_mean < 0.7
    assert rows["chain"].test_accuracy_mean > 0.9
    assert rows["chain"].tau == 1.0


def test_lessons_are_scored_like_baselines_with_the_gates_and_the_order_they_found():
    task = Task(Design("add3", method="lessons"), 40, 0)
    row = run_task(task)
    problem = problems.load("add3")
    train, test = problem.sample(40, 0)
    by_hand = learn(problem.X[train], problem.Y[train], seed=task.search_seed, n_jobs=1)
    right = by_hand.predict(problem.X[test]) == problem.Y[test]
    assert row.test_accuracy == pytest.approx(right.mean(axis=0).tolist())
    assert (row.live_gates, tuple(row.learned_order), row.order) == (by_hand.n_gates, tuple(by_hand.order), "self-paced")
    assert row.converged == (not any(by_hand.errors))
    assert (row.loss, row.iterations) == (None, None)


def test_a_task_that_raises_becomes_a_row_and_the_others_continue():
    rows = run_batch(TaskBatch((Task(Design("mammalian"), 8, 0), Task(Design("add3"), 8, 0))))
    assert [row.status for row in rows] == ["failed", "done"]
    assert "no order of the targets of 'mammalian' is known" in rows[0].error


def test_a_users_table_is_sent_with_its_tasks():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (40, 5)).astype(bool)
    table = own_problem("mine", X, X[:, :2] & X[:, 2:4], "abcde", ("t", "u"))
    task = Task(Design(table.name, order="auto"), 30, 0)
    row = run_batch(TaskBatch((task,), (table,)))[0]
    assert row.status == "done"
    assert row.n_test == 10
    other = own_problem("mine", ~X, X[:, :2], "abcde", ("t", "u"))
    assert other.name != table.name
    register([table])
    job, _ = job_of(task)
    assert job.X.shape == (30, 5)
