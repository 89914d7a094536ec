"""Provenance of results: versions, engine and counts of every run, one line of JSON each."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import os
import platform
from pathlib import Path
from typing import Any

from gradus._version import __version__
from gradus.errors import StoreError

__all__ = ["read_runs", "record_run", "versions"]

FILE = "runs.jsonl"
LIBRARIES = ("numpy", "numba", "scipy", "scikit-learn", "pyarrow", "matplotlib")


def versions() -> dict[str, str]:
    """Return the versions of everything that a result could depend on.

    Examples
    --------
    >>> "numpy" in versions()
    True
    """
    found = {"gradus": __version__, "python": platform.python_version()}
    for library in LIBRARIES:
        found[library] = importlib.metadata.version(library)
    found["system"] = f"{platform.system()} {platform.machine()}"
    return found


def record_run(folder: Path, what: dict[str, Any]) -> None:
    """Add a run to the folder's record."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    line = json.dumps({"ended": now, "versions": versions(), "cores": os.cpu_count(), **what})
    try:
        with open(folder / FILE, "a", encoding="utf-8") as file:
            file.write(line + "\n")
    except OSError as error:
        raise StoreError(f"{folder / FILE} cannot be written: {error.strerror or error}.") from error


def read_runs(folder: Path) -> list[dict[str, Any]]:
    """Read the record; a last line that was cut short is ignored."""
    try:
        lines = (folder / FILE).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    runs = []
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            runs.append(entry)
    return runs
