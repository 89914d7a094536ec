from __future__ import annotations

import contextlib
import time

import arff
import numpy as np
import pytest

from gradus._formats.arff import read
from gradus.errors import FormatError

HEAD = "% made up\n@relation 'toy: -C 2'\n@attribute z0 {0,1}\n@attribute\tz1 {0, 1}\n@ATTRIBUTE 'x 0' numeric\n"


def written(tmp_path, text, name="t.arff"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_meka_counts_targets_from_the_first_column_or_the_last(tmp_path):
    table = read(written(tmp_path, HEAD + "\n@data\n0,1,0\n% no row\n1, ?,'1'\n"))
    assert (table.columns, table.targets, table.lines) == (("z0", "z1", "x 0"), ("z0", "z1"), (8, 10))
    np.testing.assert_array_equal(table.values, [[0, 1, 0], [1, np.nan, 1]])
    last = read(written(tmp_path, HEAD.replace("-C 2", "-C -1") + "@data\n0,1,0\n"))
    assert last.targets == ("x 0",)


def test_sparse_rows_take_zero_or_the_first_value_for_what_they_leave_out(tmp_path):
    head = "@relation r\n@attribute a {1,0}\n@attribute b numeric\n@attribute c {0,1}\n@data\n"
    table = read(written(tmp_path, head + "{1 1, 2 1}\n{}\n{0 0, 2 ?}\n"))
    np.testing.assert_array_equal(table.values, [[1, 1, 1], [1, 0, 0], [0, 0, np.nan]])


def test_what_liac_arff_writes_is_read(tmp_path):
    data = {
        "relation": "r",
        "description": "two\nlines",
        "attributes": [("a b", ["0", "1"]), ("c'd", "REAL"), ("e", ["TRUE", "FALSE"]), ("f", "STRING")],
        "data": [["0", 1.0, "TRUE", "x, y"], ["1", 0.0, "FALSE", "it's"]],
    }
    table = read(written(tmp_path, arff.dumps(data)))
    assert table.columns == ("a b", "c'd", "e", "f")
    np.testing.assert_array_equal(table.values[:, :3], [[0, 1, 1], [1, 0, 0]])
    assert table.text("f").tolist() == ["x, y", "it's"]


def test_a_mulan_label_file_names_the_targets(tmp_path):
    path = written(tmp_path, HEAD + "@data\n0,1,0\n")
    labels = written(
        tmp_path,
        '<?xml version="1.0"?>\n<!-- fine --><labels xmlns="http://mulan.sourceforge.net/labels">'
        '<label name="x 0"><label name="z1"/></label></labels>',
        "t.xml",
    )
    assert read(path).targets == ("x 0", "z1")
    other = tmp_path / "other.xml"
    labels.rename(other)
    assert read(path).targets == ("z0", "z1")
    assert read(path, labels=other).targets == ("x 0", "z1")


@pytest.mark.parametrize(
    ("xml", "says"),
    [
        ("<labels>", "not XML"),
        ("", "not XML"),
        ("<labels/>", "no <label"),
        ("<labels><label name='q'/></labels>", "'q' is not a column"),
        ("<labels><label/></labels>", "None is not a column"),
        ("<labels><label name='z0'/><label name='z0'/></labels>", "two columns"),
        ("<!DOCTYPE l [<!ENTITY a 'aaaa'>]><labels>&a;</labels>", "entities"),
        ("<?a <!-- ?><!DOCTYPE l [<!ENTITY a 'aaaa'>]><?b --> ?><labels>&a;</labels>", "entities"),
    ],
)
def test_bad_label_files_are_refused_with_the_reason(tmp_path, xml, says):
    path = written(tmp_path, HEAD + "@data\n0,1,0\n")
    written(tmp_path, xml, "t.xml")
    with pytest.raises(FormatError, match=says) as caught:
        read(path)
    assert "t.xml" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ("", None, None, "no @data"),
        ("hello\n", 1, 1, "found 'hello'"),
        ("@relation r\n@data\n", 2, None, "no @attribute"),
        ("@attribute a {0,1\n", 1, 14, "not closed"),
        ("@attribute a {0,{},1}\n", 1, 17, "expected values separated by commas"),
        ("@attribute a relational\n", 1, 14, "not a type"),
        ("@attribute a\n", 1, 13, "not a type"),
        ("@attribute {\n", 1, None, "expected '@attribute"),
        ("@attribute a real\n@attribute a real\n@data\n", None, 2, "two columns"),
        (HEAD + "@data\n0,1\n", 7, None, "3 values"),
        (HEAD + "@data\n0,1,0,0\n", 7, None, "3 values"),
        (HEAD + "@data\n0,1,0\n0,7,0\n", 8, 2, "'7' is not one of the values of 'z1'"),
        (HEAD + "@data\n0,1,'0\n", 7, None, "3 values"),
        (HEAD + "@data\n{9 1}\n", 7, None, "3 values"),
        (HEAD + "@data\n{0 1, 0 0}\n", 7, None, "twice"),
        (HEAD + "@data\n{0 1, 0 '0,1'}\n", 7, None, "twice"),
        (HEAD + "@data\n0,1,0\n{0 1}\n", 8, 1, "mixed"),
        (HEAD.replace("-C 2", "-C 9") + "@data\n0,1,0\n", None, None, "-C 9"),
        (HEAD.replace("-C 2", "-C 0") + "@data\n0,1,0\n", None, None, "-C 0"),
    ],
)
def test_errors_name_line_and_column(tmp_path, text, line, column, says):
    with pytest.raises(FormatError, match=says) as caught:
        read(written(tmp_path, text))
    assert (caught.value.line, caught.value.column) == (line, column)


def test_attribute_lines_that_hang_the_library_are_answered_at_once(tmp_path):
    began = time.process_time()
    quotes = "{" + '"' * 5001 + "}"
    for type_, is_fine in [("{" + "0," * 5000 + "1", False), ("{" + "a b, " * 5000 + "}", True), (quotes, False)]:
        path = written(tmp_path, f"@relation r\n@attribute a {type_}\n@data\n")
        if is_fine:
            assert read(path).n_rows == 0
        else:
            with pytest.raises(FormatError):
                read(path)
    assert time.process_time() - began < 10


LONG = 200_000


@pytest.mark.parametrize(
    "text",
    [
        "@attribute a {" + "'\\'" * 500 + "}\n",
        "@attribute a {" + " " * LONG + "{}\n",
        "@attribute a {" + "'a" + "\\'" * LONG + "}\n",
        "@attribute '" + "\\'" * LONG + "\n",
        HEAD + "@data\n0,1,'" + "\\'" * LONG + "\n",
        HEAD + "@data\n{0 1, 1 '" + "\\'" * LONG + "}\n",
        HEAD + "@data\n{0 1" + " " * LONG + "x}\n",
        HEAD + "@data\n0,1," + "1" * LONG + "x\n",
        HEAD + "@data\n" + '"' * LONG + "\n",
        "@attribute a {" + ",".join(f"v{i}" for i in range(LONG)) + "}\n@data\n" + f"v{LONG - 1}\n" * 1000,
    ],
)
def test_no_line_takes_more_than_linear_time(tmp_path, text):
    path = written(tmp_path, text)
    began = time.process_time()
    with contextlib.suppress(FormatError):
        read(path)
    assert time.process_time() - began < 2


def test_a_label_file_of_comment_marks_takes_linear_time(tmp_path):
    path = written(tmp_path, HEAD + "@data\n0,1,0\n")
    written(tmp_path, "<!--" * 100_000, "t.xml")
    began = time.process_time()
    with pytest.raises(FormatError, match=r"t\.xml, line 1.*not XML"):
        read(path)
    assert time.process_time() - began < 2


def test_quoted_values_keep_their_commas_and_escapes(tmp_path):
    head = "@relation r\n@attribute a {'x, y','it\\'s',z}\n@attribute b string\n@data\n"
    rows = "'x, y', \"tab\\tstop\"\n 'it\\'s' ,'\\u0041'\nz,\n?,'?'\n"
    table = read(written(tmp_path, head + rows))
    assert table.text("a").tolist() == ["x, y", "it's", "z", ""]
    assert table.text("b").tolist() == ["tab\tstop", "A", "", "?"]


def test_a_label_file_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr("gradus._formats.arff.LARGEST_LABEL_FILE", 10)
    path = written(tmp_path, HEAD + "@data\n0,1,0\n")
    written(tmp_path, "<labels><label name='z0'/></labels>", "t.xml")
    with pytest.raises(FormatError, match=r"t\.xml: has \d+ bytes; files of this kind may have at most 10"):
        read(path)
