"""Arrays in NumPy `.npz` files; nothing is ever unpickled."""

from __future__ import annotations

import io
import zipfile
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._core.files import open_checked
from gradus.errors import FormatError

__all__ = ["read_arrays"]

MOST_ARRAYS = 100
LARGEST_UNPACKED = 1 << 31
"""Bytes of all arrays of a file together; an archive says how many they are before anything is unpacked."""


def read_arrays(path: str | PathLike[str]) -> dict[str, npt.NDArray[Any]]:
    """Read the arrays of numbers and texts in an `.npz` file, after checking that they fit in memory unpacked."""
    with open_checked(path) as file, zipfile.ZipFile(file) as archive:
        return {name.removesuffix(".npy"): _array(archive, name, path) for name in _members(archive, path)}


def _members(archive: zipfile.ZipFile, path: str | PathLike[str]) -> list[str]:
    names = archive.namelist()
    if len(names) > MOST_ARRAYS or len(set(names)) < len(names):
        raise FormatError("holds too many arrays or two of one name.", path=path)
    unpacked = sum(member.file_size for member in archive.infolist())
    if unpacked > LARGEST_UNPACKED:
        raise FormatError(f"unpacks to {unpacked} bytes; at most {LARGEST_UNPACKED} are read.", path=path)
    return names


def _array(archive: zipfile.ZipFile, member: str, path: str | PathLike[str]) -> npt.NDArray[Any]:
    """Read one array after its header has told how much memory it takes."""
    with archive.open(member) as stream:
        version = np.lib.format.read_magic(stream)
        reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = reader(stream)
        if dtype.hasobject or dtype.kind not in "biufU":
            raise FormatError(f"array {member!r} holds {dtype}, not numbers or Booleans.", path=path)
        size = int(np.prod([int(side) for side in shape], dtype=object)) if shape else 1
        if stream.tell() + size * dtype.itemsize != archive.getinfo(member).file_size:
            raise FormatError(f"array {member!r} is cut short, or too long for its shape.", path=path)
    # Read whole, because only then is the archive's checksum looked at.
    return np.lib.format.read_array(io.BytesIO(archive.read(member)), allow_pickle=False)
