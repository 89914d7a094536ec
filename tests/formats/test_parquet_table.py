from __future__ import annotations

import sys

import numpy as np
import pandas
import pytest

from gradus._formats.parquet import read
from gradus._formats.table_files import read_table
from gradus.errors import FormatError

pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")


def test_plain_columns_of_every_type_are_numbers(tmp_path):
    path = tmp_path / "t.parquet"
    frame = pandas.DataFrame(
        {
            "a": [True, False, True],
            "b": np.array([0, 1, 1], dtype=np.uint8),
            "c": [0.0, np.nan, 2.5],
            "d": ["0", "1", "true"],
            "e": pandas.Categorical(["1", "0", "1"]),
            "f": pandas.array([1, None, 0], dtype="Int64"),
            "g": pandas.array([True, None, False], dtype="boolean"),
            "h": [None, None, None],
        },
        index=[5, 7, 9],
    )
    frame.to_parquet(path)
    table = read(path)
    assert table.columns == tuple("abcdefgh")
    nan = np.nan
    expected = [[1, 0, 1], [0, 1, 1], [0, nan, 2.5], [0, 1, 1], [1, 0, 1], [1, nan, 0], [1, nan, 0], [nan, nan, nan]]
    np.testing.assert_array_equal(table.values.T, expected)


def test_text_is_reported_with_its_place(tmp_path):
    path = tmp_path / "t.parquet"
    pandas.DataFrame({"a": [0, 1], "b": ["1", "up"]}).to_parquet(path)
    with pytest.raises(FormatError, match=r"found 'up' \(row 2, column 'b'\)"):
        read(path).split(["a"])
    assert read(path).text("b").tolist() == ["1", "up"]


def test_without_pyarrow_one_sentence_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    with pytest.raises(FormatError, match=r"t\.parquet: Parquet files need pyarrow: pip install 'gradus-learn\[parquet\]'"):
        read_table(tmp_path / "t.parquet")


def test_nested_repeated_and_huge_columns_are_refused(tmp_path):
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"a": [[1], [2]]}), path)
    with pytest.raises(FormatError, match="nested"):
        read(path)
    pyarrow.parquet.write_table(pyarrow.table([pyarrow.array([1]), pyarrow.array([0])], names=["a", "a"]), path)
    with pytest.raises(FormatError, match="two columns"):
        read(path)
    zeros = pyarrow.array(np.zeros(1 << 20, dtype=np.int8))
    pyarrow.parquet.write_table(pyarrow.table({f"c{i}": zeros for i in range(65)}), path)
    assert path.stat().st_size < 1 << 20
    with pytest.raises(FormatError, match="too large a table"):
        read(path)
