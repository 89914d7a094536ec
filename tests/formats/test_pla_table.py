from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_problems as naive
from gradus._formats.pla import read
from gradus.errors import FormatError


def written(tmp_path, text):
    path = tmp_path / "t.pla"
    path.write_text(text)
    return path


def covers(cube, row):
    return all(sign in ("-", str(int(bit))) for sign, bit in zip(cube, row, strict=True))


def slow_value(kind, cubes, row, k):
    """What the rows that cover a pattern say of target k: 0, 1, None for open, or 'clash'."""
    said = {outputs[k] for inputs, outputs in cubes if covers(inputs, row)}
    if kind in ("f", "fd", "r", "dr"):
        if "d" in kind and "-" in said:
            return None
        return int("1" in said) if "f" in kind else int("0" not in said)
    if {"0", "1"} <= said:
        return "clash"
    if kind == "fdr" and "-" in said:
        return None
    return 0 if "0" in said else 1 if "1" in said else None


@settings(max_examples=150, deadline=None)
@given(
    data=st.data(),
    kind=st.sampled_from(["f", "r", "fd", "dr", "fr", "fdr"]),
    n_inputs=st.integers(1, 4),
    n_outputs=st.integers(1, 2),
)
def test_the_table_says_what_the_rows_say(tmp_path_factory, data, kind, n_inputs, n_outputs):
    cube = st.tuples(
        st.text("01-", min_size=n_inputs, max_size=n_inputs), st.text("01-~", min_size=n_outputs, max_size=n_outputs)
    )
    cubes = data.draw(st.lists(cube, min_size=1, max_size=5))
    text = f".i {n_inputs}\n.o {n_outputs}\n.type {kind}\n" + "".join(f"{x} {y}\n" for x, y in cubes) + ".e\n"
    path = written(tmp_path_factory.mktemp("p"), text)
    patterns = [tuple(row) for row in naive.every_pattern(n_inputs).tolist()]
    shown = [row for row in patterns if kind in ("f", "fd", "r", "dr") or any(covers(x, row) for x, _ in cubes)]
    expected = {row: [slow_value(kind, cubes, row, k) for k in range(n_outputs)] for row in shown}
    if "clash" in itertools.chain(*expected.values()):
        with pytest.raises(FormatError, match="in one row"):
            read(path)
        return
    table = read(path)
    found = {tuple(bool(bit) for bit in row[:n_inputs]): row[n_inputs:] for row in table.values}
    assert set(found) == set(expected)
    for row, values in expected.items():
        for value, got in zip(values, found[row], strict=True):
            assert np.isnan(got) if value is None else got == value


def test_names_bars_comments_and_other_signs(tmp_path):
    text = "# c\n.i 2\n.o 2\n.ilb a b\n.ob a q\n.type fr\n.p 2\n0 1 | 1 0 # c\n12|43\n.end\n"
    table = read(written(tmp_path, text))
    assert (table.columns, table.targets) == (("a", "b", "a_next", "q"), ("a_next", "q"))
    np.testing.assert_array_equal(table.values, [[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 1, 0]])
    assert table.lines == (8, 9, 9)


def test_the_default_type_is_fd_and_gives_the_whole_table(tmp_path):
    table = read(written(tmp_path, ".i 2\n.o 1\n11 1\n00 -\n.e\n"))
    np.testing.assert_array_equal(table.values, [[0, 0, np.nan], [1, 0, 0], [0, 1, 0], [1, 1, 1]])


def test_many_inputs_are_fine_where_rows_are_listed(tmp_path):
    row = "01" * 100
    table = read(written(tmp_path, f".i 200\n.o 1\n.type fr\n{row} 1\n{'-' + row[1:]} ~\n.e\n"))
    assert table.values.shape == (2, 201)


PLAIN = ".i 3\n.o 2\n.ilb a b c\n.ob p q\n.p 3\n1-0 10\n011 11\n000 0-\n.e\n"
LAYOUTS = {
    "no .p": PLAIN.replace(".p 3\n", ""),
    "no .e": PLAIN.replace(".e\n", ""),
    "neither": PLAIN.replace(".p 3\n", "").replace(".e\n", ""),
    ".end": PLAIN.replace(".e\n", ".end\n"),
    "a wrong .p before .e": PLAIN.replace(".p 3", ".p 17"),
    "a .p that is too small": PLAIN.replace(".p 3", ".p 1"),
    "rows over several lines": PLAIN.replace("1-0 10", "1-\n0\n\n 1 # more\n0"),
    "rows side by side": PLAIN.replace("10\n011 11\n", "10  011 11\n"),
    "bars": PLAIN.replace("0 1", "0|1").replace("1 11", "1 | 11"),
    "no blanks": PLAIN.replace("0 10", "010").replace("1 11", "111"),
    "blanks between signs": PLAIN.replace("1-0 10", " 1 - 0\t1 0 "),
    "names over several lines": PLAIN.replace(".ilb a b c", ".ilb a\n b\n# c\n c").replace(".ob p q", ".ob\np q"),
    "numbers in the next line": PLAIN.replace(".i 3", ".i\n3"),
    "names after .p": PLAIN.replace(".ob p q\n.p 3\n", ".p 3\n.ob p q\n"),
    "comments": "# one\n" + PLAIN.replace("011 11", "# two\n011 11 # three"),
    "digits for signs": PLAIN.replace("1-0 10", "120 43").replace("0-", "32"),
    "a phase": PLAIN.replace(".p 3", ".phase 01\n.p 3"),
    "pairs": PLAIN.replace(".p 3", ".pair 1 (a b)\n.p 3"),
    "a row that covers nothing": PLAIN.replace("011 11", "011 11\n?11 1-"),
    "a type": ".type fd\n" + PLAIN,
    "lines of other systems": PLAIN.replace("\n", "\r\n"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_of_espresso_says_the_same(tmp_path, layout):
    table = read(written(tmp_path, LAYOUTS[layout]))
    assert table.columns == ("a", "b", "c", "p", "q")
    expected = np.zeros((8, 2))
    expected[[1, 3], 0], expected[6], expected[0, 1] = 1, 1, np.nan
    np.testing.assert_array_equal(table.values[:, 3:], expected)


def test_a_row_that_covers_nothing_is_not_listed(tmp_path):
    table = read(written(tmp_path, ".i 2\n.o 1\n.type fr\n?- 1\n01 0\n"))
    np.testing.assert_array_equal(table.values, [[0, 1, 0]])


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ("", None, None, "not a PLA"),
        (".i 2\n", None, None, "not a PLA"),
        ("00 1\n", 1, None, "before .i and .o"),
        (".i 2\n.o 1\n0 1\n", 3, 4, "2 signs"),
        (".i 2\n.o 1\n00 11\n", 3, 5, "4 signs"),
        (".i 2\n.o 1\n0x 1\n", 3, 2, "found 'x'"),
        (".i 2\n.o 1\n0~ 1\n", 3, 2, "found '~'"),
        (".i x\n", 1, 4, "one number"),
        (".i 0\n", 1, 4, "must be 1"),
        (".i 99999999\n", 1, 4, "must be 1"),
        (".i 2\n.i 2\n", 2, None, "once"),
        (".type q\n", 1, None, "must be one of"),
        (".i 1\n.o 1\n1 1\n.type fr\n", 4, None, "before the first row"),
        (".mv 4 3 2 5\n", 1, 1, "several values"),
        (".i 1\n.o 1\n.label var=0 a b\n", 3, 1, "several values"),
        (".i 1\n.o 1\n.symbolic x0 x1 ;\n", 3, 1, "has symbols"),
        (".symbolic-output z0 ;\n", 1, 1, "has symbols"),
        (".i 1\n.o 1\n.kiss\n", 3, 1, "has symbols"),
        (".magic 4\n", 1, 1, "not known"),
        (".i 1\n.o 1\n.p 3\n1 1\n", None, None, ".p announces 3"),
        (".i\n.o 1\n", 1, 4, "expected one word"),
        (".i 2\n.o 1\n00\n.e\n", 3, 3, "2 signs"),
        (".i 2\n.o 1\n00\n11 1\n", 3, 3, "2 signs"),
        (".i 1\n.o 1\n.ilb a b\n1 1\n.e\n", None, None, "2 names for 1"),
        (".i 2\n.o 1\n.ilb a\n.e\n", None, None, "1 names for 2"),
        (".i 2\n.o 1\n.ilb a a\n11 1\n.e\n", None, 2, "two columns"),
        (".i 1\n.o 1\n1 1\n.e\n0 1\n", 5, None, "after the end"),
        (".i 1\n.o 1\n.type fr\n1 1\n1 0\n", 5, None, "line 4"),
        (".i 1\n.o 1\n.type fr\n.e\n", None, None, "no row"),
        (".i 40\n.o 1\n.type fr\n" + "-" * 40 + " 1\n", 4, None, "40 don't-cares"),
        (".i 40\n.o 1\n" + "1" * 40 + " 1\n.e\n", None, None, "2.40 patterns"),
    ],
)
def test_errors_name_line_and_column(tmp_path, text, line, column, says):
    with pytest.raises(FormatError, match=says) as caught:
        read(written(tmp_path, text))
    assert (caught.value.line, caught.value.column) == (line, column)
