"""Files of unknown origin as checked text: regular files of a bounded size, in UTF-8, with the place of what is wrong."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from os import PathLike
from typing import BinaryIO

from gradus.errors import FormatError

__all__ = ["checked_size", "decoded_lines", "open_checked", "read_bytes", "read_text"]

LARGEST_FILE = 1 << 31
LARGEST_MODEL = 1 << 28


def checked_size(path: str | PathLike[str], largest: int = LARGEST_FILE) -> int:
    """Size of a file in bytes, after making sure that it is a file (not a pipe, on which reading could wait for ever).

    Raises
    ------
    FormatError
        If there is no such file, it is not a regular one, or it is larger than allowed.
    """
    try:
        found = os.stat(path)
    except (OSError, ValueError) as error:
        raise FormatError(f"cannot be read: {getattr(error, 'strerror', None) or error}.", path=path) from error
    if not stat.S_ISREG(found.st_mode):
        raise FormatError("is not a file.", path=path)
    if found.st_size > largest:
        raise FormatError(f"has {found.st_size} bytes; files of this kind may have {largest}.", path=path)
    return found.st_size


def open_checked(path: str | PathLike[str], largest: int = LARGEST_FILE) -> BinaryIO:
    """Open a file for reading bytes after `checked_size`."""
    checked_size(path, largest)
    try:
        return open(path, "rb")
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror or error}.", path=path) from error


def read_bytes(path: str | PathLike[str], largest: int = LARGEST_MODEL) -> bytes:
    """Return the whole content of a file."""
    with open_checked(path, largest) as file:
        try:
            return file.read(largest + 1)
        except OSError as error:
            raise FormatError(f"cannot be read: {error.strerror or error}.", path=path) from error


def decoded_lines(path: str | PathLike[str]) -> Iterator[str]:
    """Yield a file's lines, ends included; the first byte that is not UTF-8 text is an error with its place."""
    with open_checked(path) as file:
        for number, raw in enumerate(file, start=1):
            yield _decoded(raw, number, path)


def read_text(path: str | PathLike[str], largest: int = LARGEST_MODEL) -> str:
    """Return the whole text of a file."""
    raw = read_bytes(path, largest)
    return "".join(_decoded(line, number, path) for number, line in enumerate(raw.splitlines(keepends=True), start=1))


def _decoded(raw: bytes, number: int, path: str | PathLike[str]) -> str:
    if number == 1 and raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise FormatError("is written in UTF-16; save it as UTF-8.", path=path)
    try:
        text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise FormatError("is not UTF-8 text here.", path=path, line=number, column=error.start + 1) from error
    if "\0" in text:
        raise FormatError(
            "holds a zero byte here, so it is not a text file.", path=path, line=number, column=text.index("\0") + 1
        )
    return text
