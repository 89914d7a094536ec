"""Outcomes of searches as compact .npz files, in the same style as the files of searches."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gradus._experiments.search_files import ID_BYTES, TaskRecord, load_arrays, save_arrays
from gradus._files import read_guard
from gradus._network import Network
from gradus._search.job import Outcome
from gradus.errors import FormatError

__all__ = ["OutcomeWriter", "read_outcomes", "reserve_path"]

FORMAT = "gradus-results-1"
FILE_BYTES = 12_000_000
"""Size at which a new file begins."""
SECONDS_UNWRITTEN = 20.0
"""A machine that is taken away costs no more than what was found in this time."""
COLUMNS = {"cost": np.int64, "iterations": np.int64, "restarts": np.int32, "live_gates": np.int32}


class OutcomeWriter:
    """Collects outcomes and writes them to files of a size that is easy to transfer.

    Parameters
    ----------
    folder : path
        Files ``results-0.npz``, ``results-1.npz`` … go there, beside those of earlier runs; made if it does not exist.
    file_bytes : int
        Size at which a new file begins.
    """

    def __init__(self, folder: Path, file_bytes: int = FILE_BYTES) -> None:
        self.folder, self.file_bytes = folder, file_bytes
        self.files = 0
        self._path: Path | None = None
        self._written = time.monotonic()
        self._found: list[tuple[bytes, Outcome]] = []
        self._bytes = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FormatError(f"the folder cannot be made: {error.strerror or error}", path=folder) from error

    def add(self, one: TaskRecord, found: Outcome) -> None:
        """Keep one outcome; the wiring of gates that no output depends on is left out."""
        nodes = one.X.shape[1] + len(found.sources)
        live = Network(one.X.shape[1], found.sources, range(nodes - one.Y.shape[1], nodes)).live
        self._found.append((one.task_id, replace(found, sources=np.where(live[:, np.newaxis], found.sources, 0))))
        # Wiring looks random, so compression leaves about a byte per source of a live gate, and hardly anything of a zero.
        self._bytes += 2 * int(live.sum()) * np.min_scalar_type(nodes).itemsize + len(live) // 8 + 40
        if self._bytes >= self.file_bytes:
            self.flush()
        elif time.monotonic() - self._written >= SECONDS_UNWRITTEN:
            self._write()

    def flush(self) -> None:
        """Write what has been collected, and begin another file."""
        if self._found:
            self._write()
        self._path, self._found, self._bytes = None, [], 0

    def _write(self) -> None:
        """Write the current file, over what was written of it before."""
        outcomes = [found for _, found in self._found]
        sources = np.concatenate([found.sources.ravel() for found in outcomes])
        arrays = {
            "job_id": np.frombuffer(b"".join(task for task, _ in self._found), np.uint8).reshape(len(outcomes), ID_BYTES),
            **{name: np.array([getattr(found, name) for found in outcomes], dtype=kind) for name, kind in COLUMNS.items()},
            "gates": np.array([len(found.sources) for found in outcomes], dtype=np.int32),
            "sources": sources.astype(np.min_scalar_type(sources.max(initial=0).astype(np.uint64))),
        }
        if self._path is None:
            self._path = reserve_path(self.folder, "results")
            self.files += 1
        save_arrays(self._path, {"format": FORMAT}, arrays)
        self._written = time.monotonic()


def reserve_path(folder: Path, stem: str) -> Path:
    """Create the first of the files stem-0.npz, stem-1.npz … that does not exist, so that no other run uses its name."""
    for number in itertools.count():
        path = folder / f"{stem}-{number}.npz"
        try:
            with open(path, "x"):
                return path
        except FileExistsError:
            continue
        except OSError as error:
            raise FormatError(f"cannot be written: {error.strerror or error}", path=path) from error
    raise AssertionError("unreachable")


def read_outcomes(path: Path) -> Iterator[tuple[bytes, Outcome]]:
    """Read task ids and outcomes."""
    _, arrays = load_arrays(path, FORMAT)
    with read_guard(path, f"a complete file of the format {FORMAT}"):
        _check_arrays(arrays)
        ends = np.cumsum([0, *(2 * arrays["gates"].astype(np.int64))])
        for index, task_id in enumerate(arrays["job_id"]):
            sources = arrays["sources"][ends[index] : ends[index + 1]].astype(np.int64).reshape(-1, 2)
            numbers = {name: int(arrays[name][index]) for name in COLUMNS}
            yield task_id.tobytes(), Outcome(sources=sources, **numbers, stopped=False)


def _check_arrays(arrays: dict[str, Any]) -> None:
    """Raise ValueError unless the arrays fit each other."""
    columns = [arrays[name] for name in (*COLUMNS, "gates")]
    if not all(np.issubdtype(array.dtype, np.integer) for array in (*columns, arrays["sources"])):
        raise ValueError("a column does not hold whole numbers")
    if any(array.shape != (len(columns[0]),) for array in columns) or arrays["job_id"].shape != (len(columns[0]), ID_BYTES):
        raise ValueError("its columns have different lengths")
    if any((array < 0).any() for array in columns):
        raise ValueError("a column holds a negative number")
    if arrays["sources"].shape != (2 * int(arrays["gates"].sum(dtype=np.int64)),):
        raise ValueError("it is not complete")
