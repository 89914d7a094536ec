from __future__ import annotations

import numpy as np
import pytest
from circuits import random_network
from hypothesis import given, settings
from hypothesis import strategies as st

import gradus
import naive_problems as naive
from gradus import problems
from gradus._formats.bnet import read_bnet, write_bnet
from gradus.errors import DataError, FormatError
from gradus.problems._gene_networks import MAMMALIAN_RULES


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_written_network_is_read_back_as_the_same_function(seed):
    names = ["a*b", "or", "x2", "1"], ["z/0", "z/1", "targets"]
    network = random_network(4, 8, 3, seed).with_names(*names)
    model = read_bnet(write_bnet(network))
    assert (model.input_names, model.output_names) == (network.input_names, network.output_names)
    X = naive.every_pattern(4)
    np.testing.assert_array_equal(model.predict(X), network.predict(X))


def test_variables_that_keep_their_value_are_inputs_and_not_targets():
    model = read_bnet(MAMMALIAN_RULES)
    assert model.input_names[0] == "CycD"
    assert "CycD" not in model.output_names
    kept = read_bnet("a, a\nb, !a", targets=["a"])
    assert kept.output_names == ("a", "b")


def test_names_without_a_rule_are_inputs_and_unread_targets_are_not():
    model = read_bnet("# a comment\n\nTargets ,\tFactors\nz; p & q # why not\ny, z\r\nc, 1\n")
    assert model.input_names == ("z", "p", "q")
    assert model.output_names == ("z", "y", "c")
    np.testing.assert_array_equal(model.predict([[0, 1, 1]]), [[True, False, True]])


@pytest.mark.parametrize("header", ["targets, factors", "targets,factors,", "Targets, Factors , ", "targets; factors;"])
def test_a_header_may_end_in_a_comma(header):
    assert read_bnet(f"{header}\na, b\nb, !a\n").output_names == ("a", "b")


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ("", None, None, "no rule"),
        ("targets, factors\n# nothing\n", None, None, "no rule"),
        ("a, b\nc d", 2, None, "no comma"),
        ("a, b\na, c", 2, 1, "line 1"),
        ("a, b\nc, (b", 2, 4, "never closed"),
        ("a, b\n  c d, b", 2, 3, "not a name"),
        (", b", 1, 1, "not a name"),
        ("and, b", 1, 1, "not a name"),
        ("a, b\nb,", 2, 3, "no expression"),
        ("a, b, c", 1, 5, "no meaning"),
        ('# gradus-name: a stands for "b"\na, b', None, None, "one name"),
        ("a, b\n# gradus-name: a stands", 2, None, "gradus-name"),
    ],
)
def test_errors_name_file_line_and_column(text, line, column, says, tmp_path):
    path = tmp_path / "model.bnet"
    path.write_text(text)
    with pytest.raises(FormatError, match=says) as caught:
        gradus.read_network(path)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert str(path) in str(caught.value)


def test_a_deep_and_a_wide_rule_are_read(tmp_path):
    path = tmp_path / "deep.bnet"
    path.write_text("z, " + "!(a & (b | " * 20_000 + "a" + "))" * 20_000 + "\n")
    problem = problems.from_file(path)
    assert problem.Y.shape == (4, 1)


def test_a_model_file_is_a_problem_of_all_its_patterns(tmp_path):
    path = tmp_path / "cycle.bnet"
    path.write_text(MAMMALIAN_RULES)
    problem, built_in = problems.from_file(path), problems.load("mammalian")
    np.testing.assert_array_equal(problem.Y, built_in.Y)
    assert problem.name == "cycle"
    one = problems.from_file(path, targets=["CycB", "Rb"])
    np.testing.assert_array_equal(one.Y, built_in.Y[:, [8, 0]])
    assert problems.from_file(path, targets=["CycD"]).Y[:, 0].tolist() == problem.X[:, 0].tolist()
    with pytest.raises(DataError, match="no target"):
        problems.from_file(path, targets=["nothing"])
    with pytest.raises(DataError, match="option for tables"):
        problems.from_file(path, delimiter=",")


def test_a_model_with_more_than_twenty_inputs_is_sampled(tmp_path):
    path = tmp_path / "wide.bnet"
    path.write_text("".join(f"v{i}, v{(i + 1) % 30} & !v{(i + 2) % 30}\n" for i in range(30)))
    problem = problems.from_file(path)
    assert problem.is_lazy
    X, Y, X_test, _ = problem.examples(20, 0, n_test=30)
    np.testing.assert_array_equal(Y, np.roll(X, -1, axis=1) & ~np.roll(X, -2, axis=1))
    assert len(X_test) == 30


def test_a_model_without_inputs_is_refused(tmp_path):
    path = tmp_path / "constant.bnet"
    path.write_text("a, 1\n")
    with pytest.raises(FormatError, match="no inputs"):
        problems.from_file(path)
