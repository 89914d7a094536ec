from __future__ import annotations

import pickle
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradus import problems
from gradus.errors import DataError, FormatError, SettingsError
from gradus.problems import Problem


@settings(max_examples=40, deadline=None)
@given(name=st.sampled_from(["cpar3", "add3", "yeast", "fabrca"]), seed=st.integers(0, 2**40), part=st.floats(0, 1))
def test_training_and_test_rows_are_all_patterns_once(name, seed, part):
    problem = problems.load(name)
    n = 1 + int(part * (problem.n_patterns - 1))
    train, test = problem.sample(n, seed)
    assert len(train) == n
    assert sorted([*train, *test]) == list(range(problem.n_patterns))


def test_a_sample_depends_on_name_size_and_number_alone():
    problem = problems.load("add4")
    first, _ = problem.sample(30, 7)
    np.testing.assert_array_equal(first, problems.load("add4").sample(30, 7)[0])
    np.testing.assert_array_equal(first, problem.sample(30, 7, n_test=3)[0])
    for other in (problem.sample(30, 8)[0], problems.load("sub4").sample(30, 7)[0], problem.sample(31, 7)[0][:30]):
        assert not np.array_equal(first, other)


def test_samples_never_change():
    # A change here changes every experiment's training sets: it must never happen.
    assert problems.load("cpar7").sample(5, 0)[0].tolist() == [8, 15, 71, 92, 117]
    assert problems.load("add16").sample(2, 0)[0].tolist() == [36012954, 2311785299]
    assert np.packbits(problems.load("fabrca").X[0]).tolist() == [164, 110, 3, 32]


def test_every_pattern_is_drawn_about_equally_often():
    problem = problems.load("cpar3")
    counts = np.bincount(np.concatenate([problem.sample(2, seed)[0] for seed in range(2000)]), minlength=8)
    assert counts.min() > 500 - 5 * np.sqrt(500)
    assert counts.max() < 500 + 5 * np.sqrt(500)


@pytest.mark.parametrize("name", ["add16", "cmux31", "cpar62", "cpar63", "cpar64", "cpar65", "add40", "add2048"])
def test_large_problems_draw_distinct_patterns_quickly_and_build_no_table(name):
    began = time.process_time()
    problem = problems.load(name)
    assert problem.is_lazy
    X_train, Y_train, X_test, Y_test = problem.examples(50, seed=3, n_test=70)
    assert time.process_time() - began < 10
    together = np.vstack([X_train, X_test])
    assert len(np.unique(together, axis=0)) == 120
    np.testing.assert_array_equal(problem.evaluate(together), np.vstack([Y_train, Y_test]))
    np.testing.assert_array_equal(problem.examples(50, seed=3, n_test=5).X_train, X_train)
    for table in ("X", "Y"):
        with pytest.raises(DataError, match="examples"):
            getattr(problem, table)


def test_large_problems_have_ten_thousand_test_patterns_by_default():
    assert len(problems.load("add16").examples(5, 0).X_test) == 10_000


def test_row_numbers_of_large_problems_give_the_examples():
    problem = problems.load("add20")
    train, test = problem.sample(10, 4, n_test=30)
    drawn = problem.examples(10, 4, n_test=30)
    for rows, X, Y in ((train, drawn.X_train, drawn.Y_train), (test, drawn.X_test, drawn.Y_test)):
        np.testing.assert_array_equal(problem.rows(rows)[0], X)
        np.testing.assert_array_equal(problem.rows(rows)[1], Y)
        place = sum(X[:, i].astype(np.int64) << i for i in range(40))
        np.testing.assert_array_equal(place, rows)


def test_examples_of_small_problems_are_the_rows_that_were_sampled():
    problem = problems.load("add3")
    train, test = problem.sample(20, 2)
    X_train, Y_train, X_test, Y_test = problem.examples(20, 2)
    np.testing.assert_array_equal(X_train, problem.X[train])
    np.testing.assert_array_equal(Y_test, problem.Y[test])
    np.testing.assert_array_equal(X_test, problem.X[test])
    np.testing.assert_array_equal(Y_train, problem.Y[train])
    assert problem.examples(64, 0).X_test.shape == (0, 6)


def test_the_largest_table_that_is_built_has_a_million_rows():
    assert not problems.load("cpar20").is_lazy
    assert problems.load("cpar21").is_lazy


def test_tables_cannot_be_changed_by_accident():
    problem = problems.load("add3")
    for table in (problem.X, problem.Y, problems.load("yeast").Y):
        with pytest.raises(ValueError):
            table[0, 0] = True


@pytest.mark.parametrize("name", ["add6", "alu74181", "fabrca@3", "yeast", "ecoli", "add40"])
def test_problems_survive_pickling(name):
    problem = problems.load(name)
    if not problem.is_lazy:
        assert problem.Y.size
    again = pickle.loads(pickle.dumps(problem))
    assert len(pickle.dumps(problem)) < 100_000
    np.testing.assert_array_equal(again.examples(3, 1, n_test=1).Y_train, problem.examples(3, 1, n_test=1).Y_train)


@pytest.mark.parametrize(
    ("n", "seed", "n_test", "says"),
    [
        (0, 0, None, "n is 0"),
        (65, 0, None, "64 patterns"),
        (2.5, 0, None, "whole number"),
        (2, -1, None, "seed is -1"),
        (2, "a", None, "whole number"),
        (2, 0, 63, "n_test is 63"),
        (2, 0, -1, "n_test is -1"),
    ],
)
def test_impossible_samples_are_refused_with_the_reason(n, seed, n_test, says):
    with pytest.raises(SettingsError, match=says):
        problems.load("add3").sample(n, seed, n_test=n_test)


def test_numpy_integers_are_accepted():
    problem = problems.load("add3")
    np.testing.assert_array_equal(problem.sample(np.int64(4), np.uint8(9))[0], problem.sample(4, 9)[0])


def test_large_draws_and_rows_that_cannot_be_numbered_are_refused():
    with pytest.raises(SettingsError, match="drawn at once"):
        problems.load("add16").examples(10**9, 0)
    with pytest.raises(SettingsError, match="examples"):
        problems.load("add40").sample(5, 0)
    with pytest.raises(DataError, match="row numbers"):
        problems.load("add16").rows([-1])


def test_a_table_of_examples_has_no_function():
    with pytest.raises(DataError, match="not known"):
        problems.load("ecoli").evaluate(np.zeros((1, 10)))
    assert not problems.load("ecoli").is_function
    assert problems.load("yeast").is_function


def test_wrong_widths_lengths_and_names_are_refused():
    with pytest.raises(DataError, match="columns"):
        problems.load("add3").evaluate(np.zeros((1, 5)))
    with pytest.raises(DataError, match="rows"):
        Problem("mine", input_names=["a"], target_names=["b"], pool=[[0], [1]], targets=[[1]])
    with pytest.raises(DataError, match="two columns"):
        Problem("mine", input_names=["a", "a"], target_names=["b"], pool=[[0, 1]], targets=[[1]])
    with pytest.raises(DataError, match="needs a function"):
        Problem("mine", input_names=["a"], target_names=["b"])


def test_an_unknown_kind_of_file_is_refused_with_a_list_of_known_kinds(tmp_path):
    known = r"\.csv.* \.blif, \.aag, \.aig, \.bnet, \.sbml"
    with pytest.raises(FormatError, match=rf"'\.v' is not a kind of file.* use one of {known}"):
        problems.from_file(tmp_path / "c.v")
