from __future__ import annotations

import os

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradus import problems
from gradus._formats.table import LARGEST_TABLE, Table, check_cells
from gradus._formats.table_files import WRITERS, read_table, write_table
from gradus.errors import DataError, FormatError


def written(tmp_path, text, name="t.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("extension", WRITERS)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), n=st.integers(1, 70), k=st.integers(1, 5), m=st.integers(1, 4))
def test_examples_survive_every_kind_of_file(tmp_path_factory, extension, seed, n, k, m):
    if extension == ".parquet":
        pytest.importorskip("pyarrow")
    rng = np.random.default_rng(seed)
    X = np.unique(rng.integers(0, 2, (n, k)).astype(bool), axis=0)  # distinct, since a PLA holds a pattern once
    Y = rng.integers(0, 2, (len(X), m)).astype(bool)
    inputs, targets = [f"Cdc{i}/x*" for i in range(k)], [f"Cdc{i}/x*" for i in range(m)]
    path = tmp_path_factory.mktemp("t") / f"t{extension}"
    names = write_table(path, X, Y, inputs, targets)
    table = read_table(path)
    X_again, Y_again, input_names, target_names = table.split(names)
    np.testing.assert_array_equal(X_again, X)
    np.testing.assert_array_equal(Y_again, Y)
    assert (input_names, target_names) == (tuple(inputs), names)
    if extension == ".pla":
        assert table.targets == names


def test_the_same_csv_reads_as_pandas_reads_it(tmp_path):
    path = written(tmp_path, 'a,"b,c",d\n0,1.5,True\n1,,False\n\n0,"2e3",NA\n')
    table, frame = read_table(path), pandas.read_csv(path)
    assert list(table.columns) == list(frame.columns)
    np.testing.assert_array_equal(table.values, frame.astype(float).to_numpy())


def test_a_table_is_split_by_name_in_the_order_asked_for():
    table = Table(("a", "b", "c"), np.array([[0.0, 1, 1], [1, 0, 1]]).T, targets=("c",))
    assert table.split().target_names == ("c",)
    _, Y, inputs, targets = table.split(["b", "a"])
    assert (inputs, targets) == (("c",), ("b", "a"))
    np.testing.assert_array_equal(Y, [[True, False], [False, True]])
    assert table.split(["c"], inputs=["b"]).X.shape == (2, 1)


@pytest.mark.parametrize(
    ("targets", "inputs", "says"),
    [
        (None, None, "does not say which columns are targets"),
        (["q"], None, "no column 'q'; it has a, b"),
        (["a"], ["a"], "input and a target"),
        (["a", "b"], None, "no input column"),
        ([], None, "no target column"),
        (["a", "a"], None, "named twice"),
    ],
)
def test_impossible_splits_are_refused_with_the_reason(targets, inputs, says):
    with pytest.raises(DataError, match=says):
        Table(("a", "b"), np.zeros((2, 1))).split(targets, inputs=inputs)


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ("a,b\n0,1\n0,2\n", 3, 2, "expected 0 or 1, found 2 .column 'b'"),
        ("a,b\n0,1\nyes,1\n", 3, 1, "expected 0 or 1, found 'yes'"),
        ("a,b\n0,1\n,1\n", 3, 1, "found a missing value"),
        ("a,b\n0,1\n\n0,nan\n", 4, 2, "found a missing value"),
        ("a,b\n0,inf\n", 2, 2, "found inf"),
        ("a,b\n0,1_0\n", 2, 2, "found '1_0'"),
        ("a,b\n٣,1\n", 2, 1, "found '٣'"),
        ("a,b\n0,0.5\n", 2, 2, "found 0.5"),
        (",a,b\n0,1,1\n1,1,1\n2,0,0\n", 4, 1, "found 2 .column 'column1'.. It has no name"),
        ("a,b\n", None, None, "no row"),
    ],
)
def test_a_cell_other_than_0_or_1_is_named_by_file_line_and_column(tmp_path, text, line, column, says):
    path = written(tmp_path, text)
    with pytest.raises(FormatError, match=says) as caught:
        read_table(path).split(["b"])
    assert (caught.value.line, caught.value.column) == (line, column)
    assert str(path) in str(caught.value)


def test_rows_with_missing_values_can_be_left_out(tmp_path):
    table = read_table(written(tmp_path, "a,b,s\n0,1,7\n1,NA,8\n1,0,9\n"))
    kept = table.complete_rows()
    assert kept.lines == (2, 4)
    np.testing.assert_array_equal(kept.bits(["a", "b"]), [[False, True], [True, False]])
    assert kept.text("s").tolist() == ["7", "9"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_table_becomes_a_data_frame_of_numbers_and_texts(tmp_path, library):
    pytest.importorskip(library)
    frame = read_table(written(tmp_path, "a,b,s\n0,1,u\n1,NA,v\n")).to_frame(library)
    assert list(frame.columns) == ["a", "b", "s"]
    assert frame["s"].to_list() == ["u", "v"]
    np.testing.assert_array_equal(frame["b"].to_numpy(), [1, np.nan])


def test_a_column_is_text_as_it_stands_or_numbers_whichever_is_asked_for(tmp_path):
    table = read_table(written(tmp_path, "a,b\n007, x\n1.50,\n"))
    assert table.text("a").tolist() == ["007", "1.50"]
    assert table.column("a").tolist() == [7.0, 1.5]
    assert table.column("b").tolist() == ["x", ""]


def test_unknown_kinds_and_options_are_refused(tmp_path):
    path = written(tmp_path, "a\n0\n", "t.xyz")
    with pytest.raises(FormatError, match="not a kind of table"):
        read_table(path)
    assert read_table(path, kind="csv").columns == ("a",)
    with pytest.raises(FormatError, match="'labels' is not an option"):
        read_table(path, kind="csv", labels="x")
    with pytest.raises(FormatError, match="written as"):
        write_table(path, np.zeros((1, 1), bool), np.zeros((1, 1), bool), ["a"], ["b"])


@pytest.mark.parametrize("extension", [".csv", ".parquet", ".arff", ".pla"])
def test_files_that_are_not_there_and_folders_are_refused(tmp_path, extension):
    if extension == ".parquet":
        pytest.importorskip("pyarrow")
    with pytest.raises(FormatError, match="cannot be read"):
        read_table(tmp_path / f"none{extension}")
    folder = tmp_path / f"folder{extension}"
    folder.mkdir()
    with pytest.raises(FormatError, match="is not a file"):
        read_table(folder)


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(FormatError, match="is not a file"):
        read_table(tmp_path / "pipe.csv")


def test_too_many_cells_are_refused_before_memory_is_taken():
    with pytest.raises(FormatError, match="too large a table"):
        check_cells(LARGEST_TABLE, 2)


def test_a_table_file_is_a_problem(tmp_path):
    path = written(tmp_path, "a,b,z\n0,0,0\n0,1,1\n1,1,0\n")
    problem = problems.from_file(path, targets=["z"])
    assert repr(problem) == "Problem('t', 2 inputs, 1 target, 3 patterns)"
    frame = pandas.read_csv(path)
    same = problems.from_arrays(frame[["a", "b"]], frame[["z"]], name="t")
    assert (same.input_names, same.target_names) == (problem.input_names, problem.target_names)
    np.testing.assert_array_equal(same.sample(2, 5)[0], problem.sample(2, 5)[0])


def test_a_folder_is_refused_as_one(tmp_path):
    with pytest.raises(FormatError, match="is not a file but a folder; name a file in it"):
        read_table(tmp_path)


def test_a_table_is_one_short_line(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(",".join(f"c{k}" for k in range(30)) + "\n" + ",".join(["1"] * 30) + "\n")
    assert repr(read_table(path)) == "Table(1 row of c0, c1, c2, c3, c4 and 25 more)"
