"""All access to files: read as checked bytes or text, with every error naming the file; written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from functools import partial
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from gradus.errors import FormatError, GradusError, StoreError

__all__ = [
    "check_new_file",
    "check_new_folder",
    "checked_size",
    "decoded_lines",
    "make_folder",
    "open_checked",
    "read_bytes",
    "read_guard",
    "read_text",
    "write_bytes_whole",
    "write_text_whole",
]

LARGEST_FILE = 1 << 31
LARGEST_MODEL = 1 << 28
LONGEST_LINE = 1 << 25
LONGEST_REASON = 200
"""Characters of a library's message that are passed on: some messages repeat the whole file."""


@contextlib.contextmanager
def read_guard(path: str | PathLike[str], what: str) -> Iterator[None]:
    """Turn whatever is raised while a file is read into a `FormatError` that names the file."""
    # Every reader works inside this guard, because nobody can list what the libraries it uses raise on a damaged file.
    try:
        yield
    except FormatError as error:
        if error.path is not None:
            raise
        raise FormatError(error.message, path=path, line=error.line, column=error.column) from error
    except GradusError:
        raise
    except BaseException as error:
        # Libraries written in Rust raise PanicException, which is not an Exception, when something unexpected happens.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise FormatError(f"cannot be read as {what}: {_reason(error)}.", path=path) from error


def _reason(error: BaseException) -> str:
    if isinstance(error, KeyError):
        return f"{str(error)[:LONGEST_REASON]} is missing"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    lines = str(error).strip().splitlines()
    return lines[0][:LONGEST_REASON].rstrip(".") if lines else type(error).__name__


def checked_size(path: str | PathLike[str], largest: int = LARGEST_FILE) -> int:
    """Return the size of a file in bytes, after checking that it is a file (reading from a pipe could wait forever)."""
    try:
        about = os.stat(path)
    except (OSError, ValueError) as error:
        raise FormatError(f"cannot be read: {getattr(error, 'strerror', None) or error}.", path=path) from error
    if not stat.S_ISREG(about.st_mode):
        raise FormatError("is not a file.", path=path)
    if about.st_size > largest:
        raise FormatError(f"has {about.st_size} bytes; files of this kind may have at most {largest}.", path=path)
    return about.st_size


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
    """Yield a file's lines with their line ends; a byte that is not UTF-8 text is an error that names its place."""
    with open_checked(path) as file:
        for number, raw in enumerate(iter(partial(file.readline, LONGEST_LINE + 1), b""), start=1):
            if len(raw) > LONGEST_LINE:
                raise FormatError(f"has more than {LONGEST_LINE} bytes in this line.", path=path, line=number)
            yield _decoded(raw, number, path)


def read_text(path: str | PathLike[str], largest: int = LARGEST_MODEL) -> str:
    """Return the whole text of a file."""
    raw = read_bytes(path, largest)
    return "".join(_decoded(line, number, path) for number, line in enumerate(raw.splitlines(keepends=True), start=1))


def _decoded(raw: bytes, number: int, path: str | PathLike[str]) -> str:
    if number == 1 and raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise FormatError("is written in UTF-16 or UTF-32; save it as UTF-8.", path=path)
    try:
        text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        remedy = f"save it as UTF-8; if it is Latin-1: iconv -f latin1 -t utf-8 '{Path(path).name}' > utf8.csv."
        raise FormatError(f"is not UTF-8 text here; {remedy}", path=path, line=number, column=error.start + 1) from error
    if "\0" in text:
        raise FormatError(
            "has a zero byte here, so it is not a text file.", path=path, line=number, column=text.index("\0") + 1
        )
    return text


def check_new_file(path: str | PathLike[str]) -> None:
    """Refuse a file that cannot be written, before any work is done for it."""
    folder = Path(path).absolute().parent
    if os.path.isdir(path):
        raise FormatError("cannot be written: it is a folder.", path=path)
    if not folder.is_dir():
        raise FormatError(f"cannot be written: there is no folder {folder}.", path=path)
    _try_writing(path, folder)


def check_new_folder(folder: str | PathLike[str]) -> None:
    """Refuse a folder that cannot be made, or in which nothing can be written, without making it."""
    place = Path(folder).absolute()
    while not os.path.lexists(place):
        place = place.parent
    if not place.is_dir():
        raise FormatError(f"cannot be written: {place} is not a folder.", path=folder)
    _try_writing(folder, place)


def _try_writing(path: str | PathLike[str], folder: Path) -> None:
    try:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            Path(path).lstat()  # raises where the name is longer than names may be; since Python 3.14 exists() does not
        # Only trying is certain: permissions show neither a read-only disk nor what an administrator may do.
        os.rmdir(tempfile.mkdtemp(prefix=".gradus-", dir=folder))
    except (OSError, ValueError) as error:
        raise FormatError(f"cannot be written: {getattr(error, 'strerror', None) or error}.", path=path) from error


def make_folder(folder: Path) -> None:
    """Make a folder for results, and its parents; raise `StoreError` if it cannot be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"the folder {folder} cannot be made: {error.strerror or error}.") from error


def write_bytes_whole(path: str | PathLike[str], content: bytes) -> None:
    """Write a temporary file beside the target and rename it, so that no reader ever sees half a file."""
    target = Path(path)
    temporary = None
    try:
        temporary = target.parent / f".{target.name[:40]}.{secrets.token_hex(6)}"
        # Not made by tempfile, which would let only the owner read the file, whatever the umask.
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
        temporary = None
        _flush_folder(target.parent)
    except (OSError, ValueError) as error:
        raise FormatError(f"cannot be written: {getattr(error, 'strerror', None) or error}", path=path) from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError, ValueError):
                os.unlink(temporary)


def write_text_whole(path: str | PathLike[str], content: str) -> None:
    """Write UTF-8 text as `write_bytes_whole` does."""
    try:
        raw = content.encode("utf-8")
    except UnicodeEncodeError as error:
        raise FormatError(f"cannot be written: {content[error.start]!r} is only half a character.", path=path) from error
    write_bytes_whole(path, raw)


def _flush_folder(folder: Path) -> None:
    """Make a rename durable, on file systems on which a folder can be flushed."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
