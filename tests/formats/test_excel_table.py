"""Excel workbooks as tables."""

from __future__ import annotations

import datetime
import sys

import numpy as np
import pandas as pd
import pytest

from gradus._formats import excel as excel_table
from gradus._formats.table_files import read_table
from gradus.errors import FormatError

openpyxl = pytest.importorskip("openpyxl")


def workbook(path, rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def test_a_sheet_is_read_as_the_same_table_in_text_would_be(tmp_path):
    frame = pd.DataFrame(
        {"size": [1.5, 2.0, np.nan], "colour": ["red", None, "blue"], "on": [True, False, True], "z": [0, 1, 1]}
    )
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    frame.to_csv(tmp_path / "t.csv", index=False)
    tables = [read_table(tmp_path / name) for name in ("t.xlsx", "t.csv")]
    assert tables[0].columns == tables[1].columns
    assert tables[0].text("colour").tolist() == tables[1].text("colour").tolist()
    assert tables[0].lines == tables[1].lines
    np.testing.assert_array_equal(tables[0].values, tables[1].values)


def test_dates_empty_rows_and_empty_columns(tmp_path):
    rows = [["day", "z", None], [None, None, None], [datetime.datetime(2026, 3, 1), 1, None], [None, 0, None]]
    table = read_table(workbook(tmp_path / "t.xlsx", rows))
    assert table.columns == ("day", "z")
    assert table.text("day").tolist() == ["2026-03-01", ""]
    assert table.lines == (3, 4)


def test_without_a_header_columns_are_numbered(tmp_path):
    assert read_table(workbook(tmp_path / "t.xlsx", [[0, 1], [1, 1]])).columns == ("x0", "x1")


@pytest.mark.parametrize("content", [b"", b"PK", b"no workbook at all"])
def test_an_invalid_workbook_is_refused_with_its_name(tmp_path, content):
    (tmp_path / "t.xlsx").write_bytes(content)
    with pytest.raises(FormatError, match=r"t\.xlsx"):
        read_table(tmp_path / "t.xlsx")


def test_an_empty_sheet_and_a_missing_library_are_reported(tmp_path, monkeypatch):
    path = workbook(tmp_path / "t.xlsx", [])
    with pytest.raises(FormatError, match="sheet is empty"):
        read_table(path)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(FormatError, match=r"pip install 'gradus-learn\[excel\]'"):
        read_table(path)


def test_an_endless_cell_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(excel_table, "LONGEST_CELL", 20)
    with pytest.raises(FormatError, match=r"t\.xlsx, line 2: a cell has more than 20 characters"):
        read_table(workbook(tmp_path / "t.xlsx", [["a", "b"], ["x" * 21, 1]]))
