"""Output files, checked before any work is done."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gradus._core.files import check_new_file
from gradus.errors import FormatError

__all__ = ["check_file"]


def check_file(path: Path, extensions: Iterable[str]) -> None:
    """Refuse a file that cannot be written, or whose extension is not one that the verb writes."""
    known = list(extensions)
    if path.suffix.lower() not in known:
        listed = " or ".join([", ".join(known[:-1]), known[-1]] if len(known) > 1 else known)
        raise FormatError(f"the name of the file must end in {listed}.", path=path)
    check_new_file(path)
