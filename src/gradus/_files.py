"""Files written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from os import PathLike
from pathlib import Path

from gradus.errors import FormatError

__all__ = ["write_bytes_whole", "write_text_whole"]


def write_bytes_whole(path: str | PathLike[str], content: bytes) -> None:
    """Write a file beside its place and rename it there, so that no reader ever sees half of it.

    Raises
    ------
    FormatError
        If the folder does not exist or cannot be written.
    """
    target = Path(path)
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
        _flush_folder(target.parent)
    except OSError as error:
        raise FormatError(f"cannot be written: {error.strerror or error}", path=path) from error
    finally:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)


def write_text_whole(path: str | PathLike[str], content: str) -> None:
    """Write UTF-8 text as `write_bytes_whole` does."""
    write_bytes_whole(path, content.encode("utf-8"))


def _flush_folder(folder: Path) -> None:
    """Make a rename durable; not every file system lets a folder be flushed."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
