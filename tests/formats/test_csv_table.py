from __future__ import annotations

import numpy as np
import pytest

from gradus._formats.csv import read
from gradus.errors import FormatError, SettingsError


def written(tmp_path, text, name="t.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "a,b\n0,1\n1,0\n"),
        ("t.csv", "a;b\r\n0;1\r\n1;0"),
        ("t.csv", "\ufeffa|b\n0|1\n1|0\n"),
        ("t.tsv", "a\tb\n0\t1\n1\t0\n"),
        ("t.txt", "a  b\n 0\t1\n1    0 \n"),
        ("t.dat", "a\tb\n0\t1\n\n1\t0\n   \n"),
        ("t.csv", '"a","b"\n"0","1"\n1, 0 \n'),
        ("t.csv", "a,b\nfalse,TRUE\nTrue,False\n"),
    ],
)
def test_delimiters_quotes_ends_of_line_and_blank_lines(tmp_path, name, text):
    table = read(written(tmp_path, text, name))
    assert table.columns == ("a", "b")
    np.testing.assert_array_equal(table.values, [[0, 1], [1, 0]])


def test_a_given_delimiter_wins(tmp_path):
    table = read(written(tmp_path, "a;x,b\n1;0,1\n"), delimiter=";")
    assert table.columns == ("a", "x,b")
    with pytest.raises(SettingsError, match="delimiter"):
        read(written(tmp_path, "a"), delimiter=",,")


@pytest.mark.parametrize(("text", "header", "columns", "rows"), [
    ("0,1\n1,1\n", "auto", ("x0", "x1"), 2),
    ("0,1\n1,1\n", True, ("0", "1"), 1),
    ("a,b\n1,1\n", False, ("x0", "x1"), 2),
    ("a,1\n1,1\n", "auto", ("a", "1"), 1),
    (",a\n1,1\n", "auto", ("column1", "a"), 1),
    ("0\n1\n", "auto", ("x0",), 2),
    ("only\n1\n", "auto", ("only",), 1),
])  # fmt: skip
def test_a_header_is_recognised_by_cells_that_are_not_numbers(tmp_path, text, header, columns, rows):
    table = read(written(tmp_path, text), header=header)
    assert (table.columns, table.n_rows) == (columns, rows)


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ("", None, None, "empty"),
        ("\n \n", None, None, "empty"),
        ("a,b\n0,1\n0\n", 3, 2, "1 cells, but the header has 2"),
        ("a,b\n0,1\n0,1,1\n", 3, 3, "names of rows"),
        ("0,1\n0,1,1,1\n", 2, 3, "first row has 2"),
        ("a,a\n0,1\n", 1, 2, "two columns"),
        ("my data\na,b\n0,1\n", 2, 2, "If there is a title above"),
        ('a,b\n0,"1\n1,0\n', 2, None, "a quote is opened here and not closed"),
        ('a,b\n0,"1"x\n', 2, None, "not a table"),
        (b"a,b\n0,\xff\n", 2, 3, "UTF-8"),
        (b"a,b\n0,\x00\n", 2, 3, "zero byte"),
        (b"\xff\xfea\x00,\x00b\x00", None, None, "UTF-16"),
        ("a,b\n0," + "1" * 200_000 + "\n", 2, None, "not a table"),
    ],
)
def test_errors_name_line_and_column(tmp_path, text, line, column, says):
    with pytest.raises(FormatError, match=says) as caught:
        read(written(tmp_path, text))
    assert (caught.value.line, caught.value.column) == (line, column)


def test_cells_that_span_lines_keep_the_line_count(tmp_path):
    path = written(tmp_path, 'a,b\n0,"x\ny"\n1,1\n0,q\n')
    table = read(path)
    assert table.lines == (2, 4, 5)
    assert table.text("b").tolist() == ["x\ny", "1", "q"]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("0,1,2\n1,0,1\n", ("0", "1", "2")),
        ("1,2,3\n1,0,1\n", ("1", "2", "3")),
        ("0,1\n1,0\n", ("x0", "x1")),
        ("2,1,0\n1,0,1\n", ("x0", "x1", "x2")),
    ],
)
def test_a_first_row_that_counts_three_columns_or_more_holds_their_names(tmp_path, text, columns):
    (tmp_path / "t.csv").write_text(text)
    assert read(tmp_path / "t.csv").columns == columns


def test_a_file_that_is_not_utf8_is_refused_with_a_remedy(tmp_path):
    (tmp_path / "t.csv").write_bytes("größe,z\n1,0\n".encode("latin-1"))
    with pytest.raises(FormatError, match=r"line 1, column 3: .*iconv -f latin1 -t utf-8 't.csv'"):
        read(tmp_path / "t.csv")
