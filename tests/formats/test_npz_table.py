from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest

from gradus._formats.npz import read
from gradus._formats.table_files import read_table
from gradus.errors import FormatError


def saved(tmp_path, **arrays):
    path = tmp_path / "t.npz"
    np.savez(path, **arrays)
    return path


def test_one_array_is_a_table_without_targets(tmp_path):
    table = read(saved(tmp_path, data=np.array([[0, 2], [1, 1]])))
    assert (table.columns, table.targets) == (("x0", "x1"), None)


def test_a_flat_y_is_one_target_and_names_are_made_distinct(tmp_path):
    table = read(saved(tmp_path, X=np.eye(2), Y=np.array([True, False]), input_names=["a", "b"], target_names=["a"]))
    assert table.columns == ("a", "b", "a_next")
    assert table.split().Y.ravel().tolist() == [True, False]


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({"X": np.eye(2), "Y": np.eye(3)}, "X has 2 rows and Y has 3"),
        ({"X": np.eye(2), "Z": np.eye(2)}, "expected arrays X and Y"),
        ({"X": np.zeros((1, 1, 1)), "Y": np.eye(1)}, "3 dimensions"),
        ({"X": np.array([["a"]]), "Y": np.eye(1)}, "not numbers"),
        ({"X": np.array([1j]), "Y": np.eye(1)}, "not numbers"),
        ({"X": np.array([None]), "Y": np.eye(1)}, "not numbers"),
        ({"X": np.eye(2), "Y": np.eye(2), "input_names": ["a"]}, "2 names"),
        ({"X": np.eye(2), "Y": np.eye(2), "input_names": ["a", "a"]}, "two columns"),
        ({"X": np.eye(2), "Y": np.eye(2), "input_names": [1, 2]}, "2 names"),
    ],
)
def test_arrays_that_do_not_fit_are_refused_with_the_reason(tmp_path, arrays, says):
    with pytest.raises(FormatError, match=says):
        read(saved(tmp_path, **arrays))


def test_nothing_is_unpickled(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("something was unpickled",))

    path = tmp_path / "t.npz"
    np.savez(path, X=np.array([Bomb()], dtype=object), Y=np.eye(1))
    with pytest.raises(FormatError, match="not numbers"):
        read(path)


def test_a_header_that_claims_more_than_the_file_holds_takes_no_memory(tmp_path):
    for shape in ((10**12, 10**3), (1000, 10)):
        path = tmp_path / "t.npz"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("X.npy", _header(shape))
        with pytest.raises(FormatError, match="cut short"):
            read(path)


def test_an_archive_that_unpacks_to_too_much_is_refused_before_anything_is_unpacked(tmp_path, monkeypatch):
    path = tmp_path / "t.npz"
    np.savez_compressed(path, X=np.zeros((1000, 100)), Y=np.zeros((1000, 1)))
    monkeypatch.setattr("gradus._formats.npz.LARGEST_UNPACKED", 800_000)
    monkeypatch.setattr(zipfile.ZipFile, "open", lambda *_: pytest.fail("a member was unpacked"))
    assert path.stat().st_size < 10_000
    with pytest.raises(FormatError, match=r"t\.npz: unpacks to 80\d{4} bytes; at most 800000"):
        read_table(path)


def _header(shape):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return header.getvalue()
