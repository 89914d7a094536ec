"""Output paths are refused before any work is done for them, and nothing is left behind by looking."""

from __future__ import annotations

import os

import pytest

from gradus._core.files import check_new_file, check_new_folder
from gradus.errors import FormatError


def everything_in(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


@pytest.mark.parametrize("name", ["new", "there", "new/and/below"])
def test_a_folder_that_can_be_made_is_accepted_and_not_made(tmp_path, name):
    (tmp_path / "there").mkdir()
    check_new_folder(tmp_path / name)
    assert everything_in(tmp_path) == ["there"]


def test_a_file_that_can_be_written_is_accepted_and_left_as_it_is(tmp_path):
    (tmp_path / "old.txt").write_text("old")
    check_new_file(tmp_path / "old.txt")
    check_new_file(tmp_path / "new.txt")
    assert everything_in(tmp_path) == ["old.txt"]
    assert (tmp_path / "old.txt").read_text() == "old"


@pytest.mark.parametrize(
    ("check", "name", "says"),
    [
        (check_new_folder, "file", "is not a folder"),
        (check_new_folder, "file/below", "is not a folder"),
        (check_new_folder, "x" * 300, "cannot be written"),
        (check_new_folder, "dangling/below", "is not a folder"),
        (check_new_file, "folder", "it is a folder"),
        (check_new_file, "nowhere/file", "there is no folder"),
        (check_new_file, "file/below", "there is no folder"),
        (check_new_file, "a\0b", "cannot be written"),
        (check_new_file, "x" * 300, "cannot be written"),
    ],
)
def test_what_cannot_be_written_is_refused_with_the_reason(tmp_path, check, name, says):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    os.symlink(tmp_path / "nothing", tmp_path / "dangling")
    with pytest.raises(FormatError, match=says) as caught:
        check(tmp_path / name)
    assert caught.value.path == tmp_path / name
    assert everything_in(tmp_path) == ["dangling", "file", "folder"]
