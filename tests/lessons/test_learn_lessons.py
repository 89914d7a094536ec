"""`learn` from outside: exactness, determinism, unknown cells, noise, stopping, errors."""

import _thread
import pickle
import threading
import time

import joblib
import numpy as np
import pytest
from naive_lessons import binomial_bits

from gradus import problems
from gradus._lessons import learn
from gradus._lessons.description import BIT, error_table, gate_table
from gradus.errors import DataError, SettingsError


def sample(name, n, seed=1000):
    problem = problems.load(name)
    train, test = problem.sample(n, seed)
    return (*problem.rows(train), *problem.rows(test))


def same(first, second):
    return (
        first.circuits == second.circuits and first.order == second.order and first.errors.tolist() == second.errors.tolist()
    )


def test_parity_is_learned_from_a_quarter_of_its_rows():
    X, Y, T, U = sample("cpar7", 32)
    result = learn(X, Y, n_circuits=1)
    assert result.converged
    assert result.n_gates == 6
    assert result.order == tuple(range(7))
    assert (result.predict(T) == U).all()


def test_the_result_is_the_same_for_any_number_of_threads_and_after_pickling():
    X, Y, _, _ = sample("sub4", 40)
    one = learn(X, Y, seed=3, n_circuits=2)
    assert same(one, learn(X, Y, seed=3, n_circuits=2, n_jobs=2))
    assert same(one, learn(X, Y, seed=3, n_circuits=2))
    assert same(one, pickle.loads(pickle.dumps(one)))
    alone = learn(X, Y, seed=3, n_circuits=1)
    assert same(alone, learn(X, Y, seed=3, n_circuits=1, n_jobs=3))


@pytest.mark.parametrize("n_circuits", [None, 1])
def test_the_result_is_the_same_in_other_processes(n_circuits):
    X, Y, _, _ = sample("sub4", 24)
    here = learn(X, Y, seed=3, n_circuits=n_circuits)
    with joblib.parallel_config(backend="loky"):
        assert same(here, learn(X, Y, seed=3, n_circuits=n_circuits, n_jobs=2))


def test_a_stop_in_other_processes_returns_a_circuit():
    X, Y, _, _ = sample("alu74181", 192)
    with joblib.parallel_config(backend="loky"):
        learn(X[:, :2], Y[:, :1], n_circuits=2, n_jobs=2)  # starts the processes
        begin = time.monotonic()
        result = learn(X, Y, n_circuits=2, n_jobs=2, time_limit=1)
    assert time.monotonic() - begin < 5  # the machine may be busy
    assert result.stopped == "time_limit"
    assert result.predict(X).shape == Y.shape


def test_unknown_cells_do_not_count():
    X, Y, _, _ = sample("cpar5", 24)
    rng = np.random.default_rng(0)
    hidden = rng.random(Y.shape) < 0.3
    with_nan = np.where(hidden, np.nan, Y)
    with_none = with_nan.astype(object)
    with_none[hidden] = None
    masked = np.ma.array(np.where(hidden, ~Y, Y), mask=hidden)
    results = [learn(X, table, n_circuits=1) for table in (with_nan, with_none, masked)]
    assert same(results[0], results[1])
    assert same(results[0], results[2])
    assert results[0].converged
    assert ((results[0].network.predict(X) == Y) | hidden).all()


def test_nand_circuits_have_nand_gates_only():
    X, Y, _, _ = sample("cmaj5", 16)
    result = learn(X, Y, gates="nand", noise=0, n_circuits=1)
    assert result.converged
    assert set(result.network.functions.tolist()) <= {0, 7, 15}


def test_labels_without_structure_get_constants():
    rng = np.random.default_rng(5)
    X, Y = rng.random((200, 10)) < 0.5, rng.random((200, 2)) < [0.3, 0.6]
    result = learn(X, Y, n_circuits=1)
    assert result.n_gates <= 1
    assert result.constant.any()
    assert not result.converged
    assert [len(rows) for rows in result.wrong_rows] == result.errors.tolist()


@pytest.mark.parametrize("draw", [16002, 16005])
def test_the_best_of_many_inputs_is_not_taken_for_a_rule(draw):
    """An input of these tables says a little about the second target, as one of ten mostly does by chance."""
    rng = np.random.default_rng([draw, 12])
    X, _ = rng.random((200, 10)) < 0.5, rng.random((1024, 10))
    Y = rng.random((200, 3)) < [0.2, 0.5, 0.7]
    assert learn(X, Y, n_circuits=1).constant.all()


def test_flipped_labels_are_recognised_as_errors():
    X, Y, T, U = sample("cpar6", 56)
    flips = np.random.default_rng(1).random(Y.shape) < 0.05
    result = learn(X, Y ^ flips, n_circuits=1)
    assert (result.predict(T) == U).mean() > 0.9
    assert result.errors.sum() > 0


@pytest.mark.parametrize("order", [None, "auto", "entropy", "random", [2, 0, 1], np.array([1, 2, 0])])
def test_any_order_can_be_taught(order):
    X, Y = problems.load("cpar3").rows(np.arange(8))
    result = learn(X, Y, order=order, noise=0, n_circuits=1)
    assert result.converged
    if isinstance(order, list | np.ndarray):
        assert result.order == tuple(order)


@pytest.mark.parametrize("Y", [np.zeros((5, 1)), np.ones((5, 2)), np.full((5, 1), np.nan)])
def test_constant_and_unknown_targets_cost_nothing(Y):
    result = learn(np.eye(5), Y)
    assert result.converged
    assert result.n_gates == 0
    assert result.constant.all()


def test_one_example_is_enough():
    result = learn([[1, 0]], [[1, 0, 1]])
    assert result.converged
    assert result.n_gates == 0


def test_time_limit_zero_returns_at_once():
    X, Y, _, _ = sample("add6", 80)
    learn(X[:, :2], Y[:, :1], time_limit=0)
    begin = time.monotonic()
    result = learn(X, Y, time_limit=0)
    assert time.monotonic() - begin < 0.5
    assert result.stopped == "time_limit"
    assert result.predict(X).shape == Y.shape


def test_a_callback_sees_progress_and_may_stop():
    X, Y, _, _ = sample("add6", 64)
    seen = []

    def watch(progress):
        seen.append(progress)
        return len(seen) == 3

    result = learn(X, Y, callback=watch, n_circuits=2)
    assert result.stopped == "callback"
    assert len(seen) == 3
    assert all(0 <= progress.fraction <= 1 for progress in seen)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_returns_the_best_so_far(n_jobs):
    X, Y, _, _ = sample("alu74181", 192)
    timer = threading.Timer(0.5, _thread.interrupt_main)
    timer.start()
    result = learn(X, Y, n_jobs=n_jobs)
    assert result.stopped == "interrupted"
    assert result.predict(X).shape == Y.shape


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"order": "sideways"}, "order"),
        ({"gates": "nor"}, "gates"),
        ({"noise": 0.5}, "noise"),
        ({"noise": "some"}, "noise"),
        ({"n_tries": 0}, "n_tries"),
        ({"n_circuits": 0}, "n_circuits"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"seed": -1}, "seed"),
        ({"time_limit": -1}, "time_limit"),
    ],
)
def test_settings_out_of_range_are_named(arguments, message):
    with pytest.raises(SettingsError, match=message):
        learn([[0], [1]], [[0], [1]], **arguments)


def test_unusable_examples_are_refused():
    with pytest.raises(DataError, match="rows"):
        learn([[0], [1]], [[0]])
    with pytest.raises(DataError, match="value 2"):
        learn([[0], [1]], [[0], [2]])
    with pytest.raises(DataError, match="columns"):
        learn([[0], [1]], [[0], [1]]).predict([[0, 1]])


def test_error_bits_are_binomial_and_gates_never_get_cheaper():
    table = error_table(20)
    assert all(abs(table[k] / BIT - binomial_bits(20, k)) < 0.01 for k in range(11))
    assert (np.diff(gate_table(5, 200)) >= 0).all()
