"""Lessons that go on: growth never lengthens the description, is bounded, and gives the same circuit in any crew."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lesson_cases import evaluate, packed
from naive_lessons import outputs as naive_outputs

from gradus import learn
from gradus._circuit.gate_list import GateList, cleaned, empty_circuit
from gradus._core.run import Run
from gradus._lessons import row_sample
from gradus._lessons.description import Lengths, Solution
from gradus._lessons.growth import Growth, with_correction
from gradus._lessons.packed_examples import pack_examples
from gradus._lessons.walks import LessonSettings


def hard_rows(n, n_inputs=14, seed=0):
    """The last carry of a sum, inverted by another comparison."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, n_inputs)) < 0.5
    half = n_inputs // 2
    weights = 1 << np.arange(half)
    x, y = X[:, :half] @ weights, X[:, half:] @ weights
    return X, ((x + y >= 1 << half) ^ (3 * x < y))[:, np.newaxis]


def growth_of(X, Y, run=None, **changes):
    examples = pack_examples(X, Y, np.ones_like(Y))
    settings = LessonSettings(**changes)
    lengths = Lengths(examples, settings.nand, settings.noise)
    return Growth(examples, settings, lengths, run or Run()), lengths


def constant(X, Y):
    circuit = empty_circuit(X.shape[1])
    zeros = GateList(X.shape[1], np.zeros(1, np.uint8), np.zeros((1, 2), np.int64), np.full(Y.shape[1], X.shape[1]))
    return Solution(zeros._replace(n_inputs=circuit.n_inputs), list(range(Y.shape[1])), Y.sum(axis=0))


@pytest.mark.parametrize("nand", [False, True])
def test_growth_makes_the_description_shorter_and_counts_its_errors(nand):
    X, Y = hard_rows(1500)
    growth, lengths = growth_of(X, Y, nand=nand, growth_work=20_000_000_000)
    start = constant(X, Y)
    grown = growth.grow(start, 1)
    assert lengths.whole(grown) < lengths.whole(start)
    assert grown.errors.tolist() == (evaluate(grown.circuit, X) != Y).sum(axis=0).tolist()
    if nand:
        assert set(grown.circuit.functions.tolist()) <= {0, 7, 15}


def test_growth_is_due_where_errors_take_many_bits_and_work_is_allowed():
    X, Y = hard_rows(1500)
    assert growth_of(X, Y)[0].is_due(constant(X, Y))
    assert not growth_of(X, Y, growth_work=0)[0].is_due(constant(X, Y))
    assert not growth_of(X[:300], Y[:300])[0].is_due(constant(X[:300], Y[:300]))  # 300 labels take at most 300 bits


def test_growth_stops_at_once_and_where_nothing_is_wrong():
    X, Y = hard_rows(1500)
    start = constant(X, Y)
    for run, examples in ((Run(0.0), (X, Y)), (Run(), (X, np.zeros_like(Y)))):
        growth, _ = growth_of(*examples, run=run)
        begin = start._replace(errors=examples[1].sum(axis=0))
        assert growth.grow(begin, 1).circuit is begin.circuit


def test_growth_of_random_labels_finds_nothing():
    rng = np.random.default_rng(5)
    X, Y = rng.random((600, 8)) < 0.5, rng.random((600, 1)) < 0.5
    result = learn(X, Y, n_circuits=1)
    assert result.constant.tolist() == [True]
    assert result.n_gates == 0


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 3))
def test_a_correction_inverts_one_output_where_it_says_so(seed, n_inputs, n_outputs):
    rng = np.random.default_rng(seed)

    def drawn(n_sources, n_outputs):
        sources = np.array([rng.integers(n_sources + k, size=2) for k in range(3)]).reshape(-1, 2)
        return GateList(
            n_sources, rng.integers(16, size=3).astype(np.uint8), sources, rng.integers(n_sources + 3, size=n_outputs)
        )

    circuit = drawn(n_inputs, n_outputs)
    correction = drawn(n_inputs + 3, 1)
    X = np.array(list(np.ndindex(*[2] * n_inputs)), dtype=bool)
    nodes = naive_outputs(circuit._replace(outputs=np.arange(n_inputs + 3)), X)
    place = int(rng.integers(n_outputs))
    expected = naive_outputs(circuit, X)
    expected[:, place] ^= naive_outputs(correction, nodes)[:, 0]
    assert (naive_outputs(with_correction(circuit, place, correction), X) == expected).all()
    assert (naive_outputs(cleaned(with_correction(circuit, place, correction)), X) == expected).all()


def test_the_same_circuit_grows_in_one_thread_and_in_two():
    X, Y = hard_rows(700, 10)
    wirings = [learn(X, Y, n_circuits=1, n_jobs=n_jobs, seed=3).network for n_jobs in (1, 2)]
    assert wirings[0] == wirings[1]
    assert wirings[0].n_gates > 0


def test_many_rows_are_learned_from_some_and_judged_by_all(monkeypatch):
    monkeypatch.setattr(row_sample, "MANY_ROWS", 200)
    rng = np.random.default_rng(0)
    X = rng.random((3000, 6)) < 0.5
    Y = (X[:, [0]] & X[:, [1]]) ^ (rng.random((3000, 1)) < 0.05)
    result = learn(X, Y, n_circuits=1)
    assert result.errors.tolist() == (result.network.predict(X) != Y).sum(axis=0).tolist()
    assert (result.network.predict(X)[:, 0] == X[:, 0] & X[:, 1]).all()
    few = row_sample.sampled(pack_examples(X, Y, np.ones_like(Y)), 1)
    assert few.n_examples == 200
    assert int(np.bitwise_count(few.everything).sum()) == 200


@given(st.integers(0, 1000))
@settings(max_examples=10)
def test_a_sample_has_rows_of_the_table_alone(seed):
    rng = np.random.default_rng(seed)
    n = row_sample.MANY_ROWS + 70
    X, Y = rng.random((n, 3)) < 0.5, rng.random((n, 2)) < 0.5
    Y[:, 0] = X.all(axis=1)
    few = row_sample.sampled(packed((None, X, Y, np.ones_like(Y))), seed)
    words = np.bitwise_and.reduce(few.inputs, axis=0)
    assert (words == few.targets[0]).all()


def test_what_has_grown_before_ctrl_c_is_kept(monkeypatch):
    X, Y = hard_rows(1500)
    run = Run()
    growth, lengths = growth_of(X, Y, run=run, growth_work=20_000_000_000)
    start, way, calls = constant(X, Y), Growth._extended, []

    def interrupted(self, *place):
        if calls:
            raise KeyboardInterrupt
        calls.append(place)
        return way(self, *place)

    monkeypatch.setattr(Growth, "_extended", interrupted)
    grown = growth.grow(start, 1)
    assert run.stopped == "interrupted"
    assert lengths.whole(grown) < lengths.whole(start)


def test_a_stop_before_other_processes_judge_by_all_rows_returns_a_circuit(monkeypatch):
    monkeypatch.setattr(row_sample, "MANY_ROWS", 200)
    rng = np.random.default_rng(0)
    X = rng.random((600, 4)) < 0.5
    Y = (X[:, [0]] & X[:, [1]]) ^ (rng.random((600, 1)) < 0.05)
    stopped = []

    def nobody(run, function, items):
        if getattr(function, "__name__", "") != "judged_by_all":
            return list(map(function, items))
        stopped.append(function)
        return [None] * len(items)

    monkeypatch.setattr(Run, "map", nobody)
    result = learn(X, Y, n_circuits=2)
    assert stopped
    assert result.errors.tolist() == (result.network.predict(X) != Y).sum(axis=0).tolist()


def test_ctrl_c_in_the_last_steps_of_learning_returns_the_circuits(monkeypatch):
    X, Y = hard_rows(80)
    whole = learn(X, Y, seed=1)

    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(importlib.import_module("gradus._lessons.learn"), "leanings", interrupted)
    result = learn(X, Y, seed=1)
    assert result.stopped == "interrupted"
    assert [circuit.n_gates for circuit in result.circuits] == [circuit.n_gates for circuit in whole.circuits]


def test_circuits_of_many_rows_are_ranked_by_all_of_them(monkeypatch):
    monkeypatch.setattr(row_sample, "MANY_ROWS", 60)
    rng = np.random.default_rng(4)
    X = rng.random((2000, 7)) < 0.5
    Y = (X[:, [0]] & X[:, [1]] | X[:, [2]] & X[:, [3]]) ^ (rng.random((2000, 1)) < 0.1)
    lengths = []
    refined = row_sample.refined

    def noted(*arguments):
        lengths.append(refined(*arguments).length)
        return refined(*arguments)

    monkeypatch.setattr(importlib.import_module("gradus._lessons.learn"), "refined", noted)
    result = learn(X, Y, n_circuits=4)
    errors = [int((circuit.predict(X) != Y).sum()) for circuit in result.circuits]
    assert len(lengths) == len(errors) == 4
    assert errors[0] == min(errors)
    assert result.n_voting == sum(length <= 1.1 * min(lengths) for length in lengths)
