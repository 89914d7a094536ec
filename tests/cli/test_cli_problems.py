from __future__ import annotations

import json

import numpy as np
import pytest

from gradus import problems
from gradus._cli.main import run
from gradus._formats.table_files import read_table


def test_list_shows_every_problem(capsys):
    assert run(["problems", "list"]) == 0
    shown = capsys.readouterr().out
    for name in (*problems.names(), *problems.further()):
        problem = problems.load(name)
        line = next(line for line in shown.splitlines() if line.split()[:1] == [name])
        assert line.split()[1:4] == [str(problem.n_inputs), str(problem.n_targets), str(problem.n_patterns)]


def test_list_and_show_print_json(capsys):
    assert run(["problems", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [problem["name"] for problem in listed["problems"]] == list(problems.names())
    assert [problem["name"] for problem in listed["further"]] == list(problems.further())
    assert run(["problems", "show", "add16", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["patterns"], shown["known_order"]) == ("2^32", list(range(16)))
    assert len(shown["first_rows"]) == 8


@pytest.mark.parametrize("name", ["yeast", "add3", "add40", "cpar1", "fabrca@2"])
def test_show_names_inputs_and_targets(capsys, name):
    assert run(["problems", "show", name]) == 0
    shown = capsys.readouterr().out
    assert " ".join(problems.load(name).input_names) in shown


@pytest.mark.parametrize("extension", ["csv", "tsv", "parquet", "pla"])
def test_write_gives_a_table_that_reads_back(capsys, tmp_path, extension):
    if extension == "parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"yeast.{extension}"
    assert run(["problems", "write", "yeast", str(path), "--json"]) == 0
    targets = json.loads(capsys.readouterr().out)["files"][0]["targets"]
    X, Y, _, _ = read_table(path).split(targets)
    np.testing.assert_array_equal(X, problems.load("yeast").X)
    np.testing.assert_array_equal(Y, problems.load("yeast").Y)


def test_write_draws_training_and_test_patterns(capsys, tmp_path):
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    assert run(["problems", "write", "add4", str(train), "-n", "30", "--seed", "5", "--test", str(test)]) == 0
    rows, others = problems.load("add4").sample(30, 5)
    names = problems.load("add4").target_names
    np.testing.assert_array_equal(read_table(train).split(names).X, problems.load("add4").X[rows])
    np.testing.assert_array_equal(read_table(test).split(names).X, problems.load("add4").X[others])
    assert "wrote" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["show", "ad6"], "did you mean 'add6'"),
        (["write", "add16", "t.csv"], "--examples"),
        (["write", "add3", "t.csv", "--test", "u.csv"], "--examples"),
        (["write", "add3", "t.csv", "-n", "64", "--test", "u.csv"], "none is left"),
        (["write", "add3", "t.csv", "-n", "65"], "64 patterns"),
        (["write", "add3", "t.xyz"], ".csv"),
        (["write", "add3", "no/such/folder/t.csv"], "cannot be written"),
        (["write", "add4", "t.csv", "-n", "10", "--test", "no/such/u.csv"], "cannot be written"),
        (["write", "add4", "t.csv", "-n", "10", "--test", "u.xyz"], "must end in"),
        (["write", "add4", "t.csv", "-n", "10", "--test", "./t.csv"], "give it another name"),
    ],
)
def test_mistakes_end_with_one_line_and_exit_code_two(capsys, monkeypatch, tmp_path, arguments, says):
    monkeypatch.chdir(tmp_path)
    assert run(["problems", *arguments]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert len(error.splitlines()) == 1
    assert not list(tmp_path.iterdir())
