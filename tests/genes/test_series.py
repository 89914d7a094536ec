from __future__ import annotations

import numpy as np
import pandas
import pytest

from gradus.errors import DataError, FormatError, SettingsError
from gradus.genes import Series, read_series
from gradus.genes._series import as_series
from gradus.genes._transitions import transitions


def written(tmp_path, text, name="s.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_a_column_tells_series_apart_even_where_their_rows_are_mixed(tmp_path):
    path = written(tmp_path, "series,a,b\n01,0,0\n1,1,1\n01,0,1\n1,1,0\n")
    one, two = read_series(path)
    assert (one.name, two.name) == (f"{path}:01", f"{path}:1")
    assert (one.genes, one.lines, two.lines) == (("a", "b"), (2, 4), (3, 5))
    assert transitions([one, two]).X.astype(int).tolist() == [[0, 0], [1, 1]]


def test_times_order_the_states_of_each_series(tmp_path):
    path = written(tmp_path, "Time;a;series\n2;1;u\n1;0;u\n1;1;v\n10;0;v\n9;1;v\n")
    u, v = read_series(path)
    assert u.states.ravel().tolist() == [0, 1]
    assert v.states.ravel().tolist() == [1, 1, 0]
    assert v.lines == (4, 6, 5)


def test_several_files_are_several_series(tmp_path):
    paths = [written(tmp_path, "a,b\n0,0\n0,1\n", "1.csv"), written(tmp_path, "b\ta\n1\t1\n0\t1\n", "2.tsv")]
    series = read_series(paths)
    assert [single.name for single in series] == [str(path) for path in paths]
    assert transitions(series).X.astype(int).tolist() == [[0, 0], [1, 1]]


@pytest.mark.parametrize(
    "text",
    [
        "a,0,1,1\nb,1,1,0\n",
        "gene,0,1,2\na,0,1,1\nb,1,1,0\n",
        ",t0,t1,t2\na,0,1,1\nb,1,1,0\n",
        '"t0" "t1" "t2"\n"a" 0 1 1\n"b" 1 1 0\n',
        "x,t0,t1,t2\na,0,1,1\nb,1,1,0\n",
        "w,0,1,2\na,0,1,1\nb,1,1,0\n",
        "w,1,2,3\na,0,1,1\nb,1,1,0\n",
    ],
)
def test_genes_in_rows_with_any_kind_of_header(tmp_path, text):
    (series,) = read_series(written(tmp_path, text), layout="genes")
    assert series.genes == ("a", "b")
    np.testing.assert_array_equal(series.states, [[0, 1], [1, 1], [1, 0]])


def test_a_first_row_that_counts_up_is_asked_about(tmp_path):
    path = written(tmp_path, "w,3,4,5\na,0,1,1\n")
    with pytest.raises(FormatError, match="counts up"):
        read_series(path, layout="genes")
    assert read_series(path, layout="genes", header=True)[0].genes == ("a",)
    assert read_series(path, layout="genes", header=False)[0].genes == ("w", "a")


def test_a_header_may_count_the_genes(tmp_path):
    (series,) = read_series(written(tmp_path, "0,1,2\n0,1,1\n1,1,0\n"))
    assert series.genes == ("0", "1", "2")
    assert len(series.states) == 2


def test_a_time_that_starts_again_begins_a_new_series(tmp_path):
    path = written(tmp_path, "time,a\n0,0\n1,1\n2,0\n0,1\n2,1\n1,0\n")
    with pytest.raises(DataError, match="repeated time"):
        read_series(written(tmp_path, "time,a\n0,0\n0,1\n1,1\n", "twice.csv"))
    first, second, third = read_series(path)
    assert [single.name for single in (first, second, third)] == [f"{path}:1", f"{path}:2", f"{path}:3"]
    assert (first.times, second.times, third.times) == ((0, 1, 2), (0, 2), (1,))
    (sorted_by_time,) = read_series(written(tmp_path, "time,a\n2,1\n1,0\n", "back.csv"))
    assert sorted_by_time.times == (1, 2)


def test_missing_and_continuous_values_are_kept(tmp_path):
    (series,) = read_series(written(tmp_path, "a,b\n0.5,NA\n1e3,1\n"))
    np.testing.assert_array_equal(series.states, [[0.5, np.nan], [1000, 1]])


def test_other_kinds_of_table_hold_series_too(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"series": ["u", "u", "v", "v"], "a": [0, 1, 1, 0]})
    frame.to_parquet(tmp_path / "s.parquet")
    assert len(read_series(tmp_path / "s.parquet")) == 2
    frame["series"] = [1, 1, 2, 2]
    frame.to_parquet(tmp_path / "s.parquet")
    assert [single.name[-2:] for single in read_series(tmp_path / "s.parquet")] == [":1", ":2"]


@pytest.mark.parametrize(
    ("text", "options", "error", "says"),
    [
        ("a,b\n0,x\n", {}, FormatError, "line 2, column 2: expected a number, found 'x'"),
        ("g,t0\na,0\nb,1\n", {}, FormatError, "name the first column 'gene'"),
        ("series,a\nu,0\n,1\n", {}, FormatError, "which series"),
        ("series\nu\n", {}, FormatError, "no column with a gene"),
        ("time,a\n1,0\n1,1\n", {}, DataError, "repeated time"),
        ("time,a\n1,0\nNA,1\n", {}, DataError, "missing or a repeated time"),
        ("a,b\n0,1\n", {"layout": "both"}, SettingsError, "layout"),
        ("a,0,1\na,1,0\n", {"layout": "genes"}, DataError, "two columns"),
        ("a,0,x\nb,1,y\n", {"layout": "genes", "header": False}, FormatError, "found 'x'"),
        ("gene,t0\n,0\n", {"layout": "genes"}, FormatError, "no gene name"),
        ("gene,t0\n", {"layout": "genes"}, FormatError, "expected rows"),
    ],
)
def test_errors_say_what_and_where(tmp_path, text, options, error, says):
    with pytest.raises(error, match=says):
        read_series(written(tmp_path, text), **options)


def test_no_file_is_refused():
    with pytest.raises(SettingsError, match="no file"):
        read_series([])


def test_binary_layouts_are_refused(tmp_path):
    pytest.importorskip("pyarrow")
    pandas.DataFrame(np.eye(3), columns=["a", "b", "c"]).to_parquet(tmp_path / "s.parquet")
    with pytest.raises(FormatError, match="text tables only"):
        read_series(tmp_path / "s.parquet", layout="genes")


def test_files_frames_and_series_are_all_time_series(tmp_path):
    path = written(tmp_path, "series,time,a,b\nq,1,0,1\np,2,1,1\np,1,0,0\n")
    from_file = as_series(path)
    frame = pandas.DataFrame({"series": ["q", "p", "p"], "time": [1, 2, 1], "a": [0, 1, 0], "b": [True, True, False]})
    for source in (frame, [frame], from_file, read_series(path)):
        found = as_series(source)
        assert [single.name.rpartition(":")[2] for single in found] == ["q", "p"]
        assert [single.states.tolist() for single in found] == [[[0, 1]], [[0, 0], [1, 1]]]
    assert len(as_series([path, from_file[0]])) == 3


@pytest.mark.parametrize(
    ("source", "message"),
    [(3, "int is not a time series"), ([3], "int is not a time series"), (pandas.DataFrame({"a": ["x"]}), "column 'a'")],
)
def test_what_holds_no_time_series_is_refused(source, message):
    with pytest.raises(DataError, match=message):
        as_series(source)


@pytest.mark.parametrize("heading", ["gene", "Genes", "symbol", "probe"])
def test_genes_are_in_rows_where_the_first_column_says_so(tmp_path, heading):
    path = written(tmp_path, f"{heading},t0,t1\na,0,1\nb,1,1\n")
    assert read_series(path)[0].states.tolist() == [[0, 1], [1, 1]]
    with pytest.raises(FormatError, match="found 'a'"):
        read_series(path, layout="states")


def test_a_gene_may_be_called_gene(tmp_path):
    assert read_series(written(tmp_path, "gene,b\n0,1\n1,1\n"))[0].genes == ("gene", "b")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"times": [0, 2, 1]}, "must grow"),
        ({"times": [0, 1]}, "3 states but 2 times"),
        ({"times": [0, np.nan, 1]}, "must grow"),
        ({"levels": [[0.1]]}, "levels of shape"),
        ({"held": {"x": 1}}, "cannot hold 'x'"),
        ({"held": {"a": 2}}, "at 2"),
    ],
)
def test_series_that_contradict_themselves_are_refused(settings, message):
    with pytest.raises(DataError, match=message):
        Series(["a"], [[0], [1], [1]], **settings)


def test_a_part_keeps_times_lines_levels_and_the_usual_step():
    whole = Series(["a"], [[0], [1], [1], [0]], times=(0, 1, 2, 5), lines=(2, 3, 4, 5), levels=[[0.1], [0.9], [0.8], [0.2]])
    part = whole.part(2, 4)
    assert (part.times, part.lines, np.ravel(part.levels).tolist()) == ((2, 5), (4, 5), [0.8, 0.2])
    assert part.transitions() == []
