from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_problems as naive
from gradus import problems
from gradus.errors import SettingsError, UnknownProblemError
from gradus.genes import ECOLI_SERIES, YEAST_SERIES, fission_yeast_model
from gradus.problems._gene_networks import fabrca

# Name, inputs, targets, pool: the paper's table 1.
TABLE_1 = [
    ("cpar7", 7, 7, 128),
    ("cmaj9", 9, 5, 512),
    ("sub5", 10, 5, 1024),
    ("add6", 12, 6, 4096),
    ("cmux15", 15, 7, 32768),
    ("alu74181", 14, 8, 16384),
    ("mammalian", 10, 9, 1024),
    ("fabrca", 28, 28, 1024),
    ("yeast", 10, 9, 9),
    ("ecoli", 10, 8, 5),
]


def rows_agree(problem: problems.Problem, slow, X: np.ndarray) -> None:
    expected = [slow(row) for row in X.astype(int).tolist()]
    np.testing.assert_array_equal(problem.evaluate(X).astype(int), expected)


def test_the_ten_problems_have_the_sizes_of_the_papers_table():
    found = [(p.name, p.n_inputs, p.n_targets, p.n_patterns) for p in map(problems.load, problems.names())]
    assert found == TABLE_1


@pytest.mark.parametrize("name", ["add1", "add3", "sub1", "sub4", "cmux3", "cmux9", "cmaj1", "cmaj9", "cpar1", "cpar7"])
def test_small_arithmetic_problems_equal_their_definition_on_every_pattern(name):
    problem = problems.load(name)
    rows_agree(problem, getattr(naive, name.rstrip("0123456789")), problem.X)
    np.testing.assert_array_equal(problem.Y, problem.evaluate(problem.X))


@settings(max_examples=30, deadline=None)
@given(kind=st.sampled_from(["add", "sub", "cmux", "cmaj", "cpar"]), half=st.integers(1, 60), seed=st.integers(0, 2**32 - 1))
def test_arithmetic_problems_of_any_size_equal_their_definition(kind, half, seed):
    size = 2 * half + 1 if kind in ("cmux", "cmaj") else half
    problem = problems.load(f"{kind}{size}")
    X = np.random.default_rng(seed).integers(0, 2, (20, problem.n_inputs)).astype(bool)
    rows_agree(problem, getattr(naive, kind), X)
    assert problem.known_order == tuple(range(problem.n_targets))


@pytest.mark.parametrize("name", ["alu74181", "mammalian"])
def test_the_alu_and_the_cell_cycle_equal_their_definition_on_every_pattern(name):
    problem = problems.load(name)
    assert len(problem.X) == 2**problem.n_inputs
    rows_agree(problem, getattr(naive, name), problem.X)
    assert problem.known_order is None


@pytest.mark.parametrize("name", problems.further())
def test_further_circuits_equal_their_definition_on_every_pattern(name):
    problem = problems.load(name)
    assert (problem.name, problem.known_order) == (name, None)
    assert problem.Y.shape == (2**problem.n_inputs, problem.n_targets)
    rows_agree(problem, getattr(naive, name), problem.X)


def test_the_pathway_equals_its_definition_on_its_pool_and_elsewhere():
    problem = problems.load("fabrca")
    elsewhere = np.random.default_rng(5).integers(0, 2, (5000, 28)).astype(bool)
    for X in (problem.X, elsewhere, np.zeros((1, 28), bool), np.ones((1, 28), bool)):
        rows_agree(problem, naive.fabrca, X)
    np.testing.assert_array_equal(problem.Y, problem.evaluate(problem.X))
    chk1, chk2 = (problem.target_names.index(name) for name in ("CHK1", "CHK2"))
    np.testing.assert_array_equal(problem.Y[:, chk1], problem.Y[:, chk2])


def test_the_pathways_pool_is_distinct_fixed_and_changes_with_its_seed():
    first, again, other = (problems.load(name) for name in ("fabrca", "fabrca@0", "fabrca@1"))
    assert len(np.unique(first.X, axis=0)) == 1024
    np.testing.assert_array_equal(first.X, again.X)
    assert again.name == "fabrca"
    assert other.name == "fabrca@1"
    assert not np.array_equal(first.X, other.X)
    assert abs(first.X.mean() - 0.5) < 0.02


def test_names_and_seeds_of_the_wrong_kind_are_refused():
    with pytest.raises(UnknownProblemError, match="text, not int"):
        problems.load(6)
    with pytest.raises(SettingsError, match="pool_seed is -1"):
        fabrca(-1)


def test_the_yeast_series_is_a_path_of_the_published_model():
    all_states = problems.load("add5").X
    expected = [naive.yeast(row) for row in all_states.astype(int).tolist()]
    np.testing.assert_array_equal(fission_yeast_model(all_states).astype(int), expected)
    np.testing.assert_array_equal(fission_yeast_model(YEAST_SERIES.states[:-1]), YEAST_SERIES.states[1:])
    problem = problems.load("yeast")
    np.testing.assert_array_equal(problem.evaluate(problem.X), problem.Y)


def test_constant_genes_are_not_targets_in_the_two_series():
    yeast, ecoli = problems.load("yeast"), problems.load("ecoli")
    assert set(yeast.input_names) - set(yeast.target_names) == {"start"}
    assert set(ecoli.input_names) - set(ecoli.target_names) == {"G7", "G10"}
    np.testing.assert_array_equal(ecoli.X, ECOLI_SERIES.states[:-1])
    kept = [i for i, gene in enumerate(ECOLI_SERIES.genes) if gene not in ("G7", "G10")]
    np.testing.assert_array_equal(ecoli.Y, ECOLI_SERIES.states[1:, kept])


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("ad6", "did you mean 'add6'"),
        ("fabcra", "did you mean 'fabrca'"),
        ("nothing", "There are cpar7"),
        ("", "There are cpar7"),
        ("add06", "add6"),
        ("add6 ", "add6"),
        ("add٣", "There are"),
        ("cmaj8", "odd"),
        ("cmux4", "odd"),
        ("add0", "smallest is add1"),
        ("cmux1", "smallest is cmux3"),
        ("add999999", "at most 4096 inputs"),
        ("add99999999", "too large: problems have at most 4096 inputs"),
        ("x" * 100_000, "There are cpar7"),
        ("add" + "9" * 100_000, "There are cpar7"),
    ],
)
def test_an_unknown_name_is_refused_with_a_list_of_known_names(name, says):
    with pytest.raises(UnknownProblemError, match=says) as caught:
        problems.load(name)
    assert len(str(caught.value)) < 400
