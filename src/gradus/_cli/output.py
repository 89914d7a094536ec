"""Output files, checked before any work is done."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from gradus.errors import FormatError

__all__ = ["check_file"]


def check_file(path: Path, extensions: Iterable[str]) -> None:
    """Refuse a file that cannot be written, or whose extension is not one that the verb writes."""
    known = list(extensions)
    if path.suffix.lower() not in known:
        listed = " or ".join([", ".join(known[:-1]), known[-1]] if len(known) > 1 else known)
        raise FormatError(f"the name of the file must end in {listed}.", path=path)
    try:
        if path.is_dir():
            raise FormatError("cannot be written: it is a folder.", path=path)
        parent = path.absolute().parent
        if not parent.is_dir():
            raise FormatError(f"cannot be written: there is no folder {parent}.", path=path)
        with contextlib.suppress(FileNotFoundError):
            path.lstat()  # raises where the name is longer than names may be; since Python 3.14 exists() does not
        # Only a trial is certain: permissions do not tell of read-only disks, nor of what an administrator may do.
        handle, trial = tempfile.mkstemp(prefix=".gradus-", dir=parent)
        os.close(handle)
        os.unlink(trial)
    except OSError as error:
        raise FormatError(f"cannot be written: {error.strerror or error}.", path=path) from error
