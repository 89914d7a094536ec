"""NumPy `.npz` files: arrays X and Y, or one table; nothing is ever unpickled."""

from __future__ import annotations

import io
import zipfile
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix
from gradus._core.files import open_checked
from gradus._formats.table import Table, check_cells, distinct_targets, unique_columns
from gradus.errors import FormatError

__all__ = ["dumps", "read", "read_arrays"]

MOST_ARRAYS = 100
LARGEST_UNPACKED = 1 << 31
"""Bytes of all arrays of a file together; an archive says how many they are before anything is unpacked."""


def read(path: str | PathLike[str]) -> Table:
    """Read an `.npz` file."""
    # It holds ``X`` and ``Y`` (numbers or Booleans, one row per example), and optionally ``input_names`` and ``target_names``
    # as arrays of strings; or a single array, whose columns are called ``x0, x1, …``. A target named like an input gets
    # ``_next`` after its name.
    return _table(read_arrays(path), path)


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


def _table(arrays: dict[str, npt.NDArray[Any]], path: str | PathLike[str]) -> Table:
    by_name = {name.lower(): array for name, array in arrays.items()}
    if "x" in by_name and "y" in by_name:
        X, Y = (_matrix(by_name[name], name.upper(), path) for name in "xy")
        if len(X) != len(Y):
            raise FormatError(f"X has {len(X)} rows and Y has {len(Y)}; they must be equal.", path=path)
        check_cells(len(X), X.shape[1] + Y.shape[1], path)
        inputs = _names(by_name.get("input_names"), X.shape[1], "x", path)
        targets = distinct_targets(inputs, _names(by_name.get("target_names"), Y.shape[1], "z", path))
        columns = unique_columns([*inputs, *targets], path, None)
        return Table(columns, np.hstack([X, Y]), path=path, targets=columns[len(inputs) :])
    if len(by_name) == 1:
        values = _matrix(next(iter(by_name.values())), "the array", path)
        return Table(tuple(f"x{i}" for i in range(values.shape[1])), values, path=path)
    raise FormatError(f"expected arrays X and Y, found {', '.join(sorted(arrays)) or 'nothing'}.", path=path)


def _matrix(array: npt.NDArray[Any], what: str, path: str | PathLike[str]) -> npt.NDArray[np.float64]:
    if array.dtype.kind not in "biuf":
        raise FormatError(f"{what} holds {array.dtype}, not numbers or Booleans.", path=path)
    if array.ndim not in (1, 2):
        raise FormatError(f"{what} has {array.ndim} dimensions; expected rows and columns.", path=path)
    check_cells(1, array.size, path)
    return np.asarray(array if array.ndim == 2 else array[:, np.newaxis], dtype=np.float64)


def _names(array: npt.NDArray[Any] | None, count: int, letter: str, path: str | PathLike[str]) -> tuple[str, ...]:
    if array is None:
        return tuple(f"{letter}{i}" for i in range(count))
    if array.dtype.kind != "U" or array.shape != (count,):
        raise FormatError(f"there must be {count} names of {letter.upper()}'s columns, as an array of text.", path=path)
    return tuple(map(str, array))


def dumps(X: BoolMatrix, Y: BoolMatrix, inputs: tuple[str, ...], targets: tuple[str, ...]) -> bytes:
    """Return examples as the bytes of an `.npz` file."""
    content = io.BytesIO()
    np.savez_compressed(content, X=X, Y=Y, input_names=np.array(inputs), target_names=np.array(targets))
    return content.getvalue()
