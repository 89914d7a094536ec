"""Prepared searches and what was found, as compact .npz files: for a machine with a GPU and little else installed.

Nothing here needs more than numpy, and nothing is unpickled.
"""

from __future__ import annotations

import itertools
import json
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._bits import BoolMatrix
from gradus._search.checkpoint import Checkpoint
from gradus._search.front import Outcome
from gradus._search.learner import Job
from gradus._search.settings import Settings
from gradus.errors import FormatError, GradusError

__all__ = ["JobRecord", "ResultsWriter", "read_jobs", "read_results", "take_place", "write_jobs_file"]

JOBS_FORMAT, RESULTS_FORMAT = "gradus-jobs-1", "gradus-results-1"
LARGEST_FILE = 4 << 30
FILE_BYTES = 12_000_000
"""Networks are spread over files of about so many bytes."""
SECONDS_UNWRITTEN = 20.0
"""A machine that is taken away costs no more than what was found in so long."""
ID_BYTES = 16
SINCE_NUMBERS = ("shrinking", "step", "iterations", "restart", "best_cost")


@dataclass(frozen=True, eq=False)
class JobRecord:
    """A prepared search with the name of its task and what else its row will say."""

    task_id: bytes
    set_key: Any
    """Equal for jobs with the same training set."""
    X: BoolMatrix
    Y: BoolMatrix
    """In the problem's order of columns."""
    order: tuple[int, ...]
    settings: Settings
    seed: int
    tau: float | None
    eta: float | None
    since: Checkpoint | None = None
    """Where the search was left, if it has begun."""

    def prepared(self) -> Job:
        """Return what a search needs."""
        return Job(
            X=self.X,
            Y=np.ascontiguousarray(self.Y[:, list(self.order)]),
            settings=self.settings,
            seed=self.seed,
            order=self.order,
            curriculum=None,
            input_names=None,
            target_names=None,
        )


def write_jobs_file(path: Path, jobs: Sequence[JobRecord]) -> None:
    """Write jobs, each training set once."""
    sets: dict[Any, int] = {}
    bits: list[npt.NDArray[np.uint8]] = []
    shapes: list[tuple[int, int, int]] = []
    kinds: dict[Settings, int] = {}
    for job in jobs:
        if job.set_key not in sets:
            sets[job.set_key] = len(bits)
            bits.append(np.packbits(np.column_stack([job.X, job.Y]), axis=None))
            shapes.append((*job.X.shape, job.Y.shape[1]))
        kinds.setdefault(job.settings, len(kinds))
    head = {"format": JOBS_FORMAT, "settings": [asdict(kind) for kind in kinds]}
    arrays = {
        "head": _text_array(head),
        "set_bits": np.concatenate([*bits, np.zeros(0, np.uint8)]),
        "set_shapes": np.array(shapes, dtype=np.int32).reshape(-1, 3),
        "job_set": np.array([sets[job.set_key] for job in jobs], dtype=np.int32),
        "job_kind": np.array([kinds[job.settings] for job in jobs], dtype=np.int32),
        "job_seed": np.array([job.seed for job in jobs], dtype=np.uint64),
        "job_id": np.frombuffer(b"".join(job.task_id for job in jobs), dtype=np.uint8).reshape(len(jobs), ID_BYTES),
        "job_order": np.array([k for job in jobs for k in job.order], dtype=np.uint8),
        "job_tau": np.array([np.nan if job.tau is None else job.tau for job in jobs]),
        "job_eta": np.array([np.nan if job.eta is None else job.eta for job in jobs]),
        **_since_arrays([job.since for job in jobs]),
    }
    _save(path, arrays)


def _since_arrays(checkpoint: Sequence[Checkpoint | None]) -> dict[str, Any]:
    """Columns for searches that have begun; those that have not take no room in them."""
    begun = [since for since in checkpoint if since is not None]
    if not begun:
        return {}
    wirings = np.concatenate([np.stack([since.sources, since.best]).ravel() for since in begun])
    costs = np.concatenate([since.history for since in begun])
    return {
        "begun": np.array([since is not None for since in checkpoint]),
        "since_numbers": np.array([[getattr(since, name) for name in SINCE_NUMBERS] for since in begun], dtype=np.uint64),
        "since_random": np.stack([since.random for since in begun]),
        "since_gates": np.array([len(since.sources) for since in begun], dtype=np.int64),
        "since_wirings": wirings.astype(np.min_scalar_type(wirings.max())),
        "since_histories": costs.astype(np.min_scalar_type(costs.max())),
    }


def read_jobs(path: Path) -> Iterator[JobRecord]:
    """Read jobs in the order they were written in."""
    arrays = _load(path, JOBS_FORMAT)
    with _naming(path, JOBS_FORMAT):
        yield from _jobs_of(arrays, str(path))


def _jobs_of(arrays: dict[str, Any], name: str) -> Iterator[JobRecord]:
    kinds = [Settings(**kind) for kind in _head(arrays)["settings"]]
    sets = _unpacked_sets(arrays)
    _check_jobs(arrays, kinds, [Y.shape[1] for _, Y in sets])
    ends = np.cumsum([0, *(sets[k][1].shape[1] for k in arrays["job_set"])])
    begun = iter(_under_way_of(arrays, kinds))
    for index, set_number in enumerate(arrays["job_set"].tolist()):
        X, Y = sets[set_number]
        tau, eta = float(arrays["job_tau"][index]), float(arrays["job_eta"][index])
        job = JobRecord(
            task_id=arrays["job_id"][index].tobytes(),
            set_key=(name, set_number),  # jobs of several files may be written to one
            X=X,
            Y=Y,
            order=tuple(arrays["job_order"][ends[index] : ends[index + 1]].tolist()),
            settings=kinds[arrays["job_kind"][index]],
            seed=int(arrays["job_seed"][index]),
            tau=None if np.isnan(tau) else tau,
            eta=None if np.isnan(eta) else eta,
            since=next(begun) if "begun" in arrays and arrays["begun"][index] else None,
        )
        _check_job(job)
        yield job


def _check_jobs(arrays: dict[str, Any], kinds: Sequence[Settings], targets: Sequence[int]) -> None:
    """Raise ValueError unless the arrays fit each other."""
    count = len(arrays["job_set"])
    for name, choices in (("job_set", len(targets)), ("job_kind", len(kinds))):
        _check_whole_numbers(arrays, name, (count,))
        if arrays[name].max(initial=-1) >= choices:
            raise ValueError(f"{name} names what is not there")
    _check_whole_numbers(arrays, "job_seed", (count,))
    _check_whole_numbers(arrays, "job_order", (sum(targets[k] for k in arrays["job_set"]),))
    if arrays["job_id"].dtype != np.uint8 or arrays["job_id"].shape != (count, ID_BYTES):
        raise ValueError("its jobs have no names")
    if "begun" not in arrays:
        return
    if arrays["begun"].dtype != np.bool_ or arrays["begun"].shape != (count,):
        raise ValueError("it does not say of each job whether it has begun")
    histories = [kinds[kind].history for kind in arrays["job_kind"][arrays["begun"]]]
    _check_whole_numbers(arrays, "since_numbers", (len(histories), len(SINCE_NUMBERS)))
    _check_whole_numbers(arrays, "since_random", (len(histories), 2))
    _check_whole_numbers(arrays, "since_gates", (len(histories),))
    _check_whole_numbers(arrays, "since_wirings", (4 * sum(arrays["since_gates"].tolist()),))
    _check_whole_numbers(arrays, "since_histories", (sum(histories),))


def _check_whole_numbers(arrays: dict[str, Any], name: str, shape: tuple[int, ...]) -> None:
    array = arrays[name]
    if not np.issubdtype(array.dtype, np.integer) or array.shape != shape or array.min(initial=0) < 0:
        raise ValueError(f"{name} does not hold {' by '.join(map(str, shape))} whole numbers from 0")


def _check_job(job: JobRecord) -> None:
    """Raise ValueError where a search could not have such an order or be at such a place: compiled code will believe it."""
    m, since, settings = job.Y.shape[1], job.since, job.settings
    if sorted(job.order) != list(range(m)):
        raise ValueError("an order does not name each target once")
    if since is None:
        return
    gates = settings.n_gates(m)
    readable = job.X.shape[1] + np.minimum(np.arange(gates), gates - m)[:, np.newaxis]
    if len(since.sources) != gates or (since.sources >= readable).any() or (since.best >= readable).any():
        raise ValueError("the wiring of a search under way is none")
    last_step = settings.shrink if since.shrinking else settings.max_iter
    most_before = (since.restart + since.shrinking) * settings.max_iter
    if since.step > last_step or since.iterations > most_before or since.restart > settings.n_restarts:
        raise ValueError("a search under way is at a place to which no search comes")
    if settings.attempts > 1 or not since.random.any():
        raise ValueError("a search under way has several attempts, or no generator")


def _under_way_of(arrays: dict[str, Any], kinds: Sequence[Settings]) -> Iterator[Checkpoint]:
    """Read where searches were left, one after another."""
    if "begun" not in arrays:
        return
    at_wiring = at_history = 0
    lengths = [kinds[kind].history for kind in arrays["job_kind"][arrays["begun"]]]
    for k, (gates, length) in enumerate(zip(arrays["since_gates"].tolist(), lengths, strict=True)):
        wirings = arrays["since_wirings"][at_wiring : at_wiring + 4 * gates].astype(np.uint32).reshape(2, gates, 2)
        history = arrays["since_histories"][at_history : at_history + length].astype(np.uint64)
        at_wiring, at_history = at_wiring + 4 * gates, at_history + length
        shrinking, step, iterations, restart, best_cost = arrays["since_numbers"][k].tolist()
        random = arrays["since_random"][k].astype(np.uint64)
        yield Checkpoint(bool(shrinking), step, iterations, restart, best_cost, random, wirings[0], wirings[1], history)


def _unpacked_sets(arrays: dict[str, Any]) -> list[tuple[BoolMatrix, BoolMatrix]]:
    result = []
    at = 0
    sizes = [-(-n * (inputs + targets) // 8) for n, inputs, targets in arrays["set_shapes"].tolist()]
    if arrays["set_shapes"].min(initial=1) < 1 or sum(sizes) != len(arrays["set_bits"]):
        raise ValueError("its training sets are not complete")
    for n, inputs, targets in arrays["set_shapes"].tolist():
        cells = n * (inputs + targets)
        table = np.unpackbits(arrays["set_bits"][at : at + -(-cells // 8)], count=cells)
        at += -(-cells // 8)
        columns = table.reshape(n, inputs + targets).view(np.bool_)
        result.append((np.ascontiguousarray(columns[:, :inputs]), np.ascontiguousarray(columns[:, inputs:])))
    return result


class ResultsWriter:
    """Collects what searches found and writes it to files of a size that travels.

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
        self._place: Path | None = None
        self._written = time.monotonic()
        self._found: list[tuple[bytes, Outcome]] = []
        self._bytes = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FormatError(f"the folder cannot be made: {error.strerror or error}", path=folder) from error

    def add(self, job: JobRecord, found: Outcome) -> None:
        """Keep one result; the wiring of gates that no output depends on is left out."""
        n_inputs, m = job.X.shape[1], job.Y.shape[1]
        sources, live = _without_dead_gates(found.sources, n_inputs, m)
        self._found.append((job.task_id, Outcome(**{**vars(found), "sources": sources})))
        # Wiring looks random, so it does not get smaller than a byte a source of a live gate.
        self._bytes += 2 * live * np.min_scalar_type(n_inputs + len(sources)).itemsize + len(sources) // 8 + 40
        if self._bytes >= self.file_bytes:
            self.flush()
        elif time.monotonic() - self._written >= SECONDS_UNWRITTEN:
            self._write()

    def flush(self) -> None:
        """Write what has been collected, and begin another file."""
        if self._found:
            self._write()
        self._place, self._found, self._bytes = None, [], 0

    def _write(self) -> None:
        """Write the file that is being filled, over what was written of it before."""
        founds = [found for _, found in self._found]
        sources = np.concatenate([found.sources.ravel() for found in founds])
        arrays = {
            "head": _text_array({"format": RESULTS_FORMAT}),
            "job_id": np.frombuffer(b"".join(task for task, _ in self._found), np.uint8).reshape(len(founds), ID_BYTES),
            "cost": np.array([found.cost for found in founds], dtype=np.int64),
            "iterations": np.array([found.iterations for found in founds], dtype=np.int64),
            "restarts": np.array([found.restarts for found in founds], dtype=np.int32),
            "live_gates": np.array([found.live_gates for found in founds], dtype=np.int32),
            "gates": np.array([len(found.sources) for found in founds], dtype=np.int32),
            "sources": sources.astype(np.min_scalar_type(sources.max(initial=0).astype(np.uint64))),
        }
        if self._place is None:
            self._place = take_place(self.folder, "results")
            self.files += 1
        _save(self._place, arrays)
        self._written = time.monotonic()


def take_place(folder: Path, stem: str) -> Path:
    """Take the first of the names stem-0.npz, stem-1.npz … that no file has, so that no other run, early or late, has it."""
    numbers = itertools.count()
    while True:
        place = folder / f"{stem}-{next(numbers)}.npz"
        try:
            with open(place, "x"):
                return place
        except FileExistsError:
            continue
        except OSError as error:
            raise FormatError(f"cannot be written: {error.strerror or error}", path=place) from error


def read_results(path: Path) -> Iterator[tuple[bytes, Outcome]]:
    """Read task ids and what was found."""
    arrays = _load(path, RESULTS_FORMAT)
    with _naming(path, RESULTS_FORMAT):
        _check_results(arrays)
        yield from _results_of(arrays)


def _check_results(arrays: dict[str, Any]) -> None:
    """Raise ValueError unless the arrays fit each other."""
    columns = [arrays[name] for name in ("cost", "iterations", "restarts", "live_gates", "gates")]
    if not all(np.issubdtype(array.dtype, np.integer) for array in (*columns, arrays["sources"])):
        raise ValueError("a column does not hold whole numbers")
    if any(array.shape != (len(columns[0]),) for array in columns) or arrays["job_id"].shape != (len(columns[0]), ID_BYTES):
        raise ValueError("its columns have different lengths")
    if any((array < 0).any() for array in columns):
        raise ValueError("a column holds a negative number")
    if arrays["sources"].shape != (2 * int(arrays["gates"].sum(dtype=np.int64)),):
        raise ValueError("it is not complete")


def _results_of(arrays: dict[str, Any]) -> Iterator[tuple[bytes, Outcome]]:
    ends = np.cumsum([0, *(2 * arrays["gates"].astype(np.int64))])
    for index in range(len(arrays["cost"])):
        sources = arrays["sources"][ends[index] : ends[index + 1]].astype(np.int64).reshape(-1, 2)
        yield (
            arrays["job_id"][index].tobytes(),
            Outcome(
                sources,
                int(arrays["cost"][index]),
                int(arrays["iterations"][index]),
                int(arrays["restarts"][index]),
                int(arrays["live_gates"][index]),
                stopped=False,
            ),
        )


@contextmanager
def _naming(path: Path, wanted: str) -> Iterator[None]:
    """Turn what a malformed file causes into an error that names it."""
    try:
        yield
    except (LookupError, TypeError, ValueError, OverflowError) as error:
        raise FormatError(f"not a whole file of the format {wanted}: {error}", path=path) from error


def _without_dead_gates(sources: npt.NDArray[np.int64], n_inputs: int, n_targets: int) -> tuple[npt.NDArray[np.int64], int]:
    """Wiring with the sources of dead gates set to 0, which takes hardly any room, and the number of live ones."""
    live = np.zeros(n_inputs + len(sources), dtype=np.bool_)
    live[len(live) - n_targets :] = True
    for gate in range(len(sources) - 1, -1, -1):
        if live[n_inputs + gate]:
            live[sources[gate]] = True
    alive = live[n_inputs:]
    return np.where(alive[:, np.newaxis], sources, 0), int(alive.sum())


def _text_array(document: Any) -> npt.NDArray[np.uint8]:
    return np.frombuffer(json.dumps(document).encode(), dtype=np.uint8)


def _head(arrays: dict[str, Any]) -> dict[str, Any]:
    head = json.loads(arrays["head"].tobytes().decode())
    if not isinstance(head, dict):
        raise ValueError("its head is not a table")
    return head


def _save(path: Path, arrays: dict[str, Any]) -> None:
    temporary = path.with_name(f".{path.name}")
    try:
        with open(temporary, "wb") as file:
            np.savez_compressed(file, **arrays)
        temporary.replace(path)
    except OSError as error:
        raise FormatError(f"cannot be written: {error.strerror or error}", path=path) from error


def _load(path: Path, wanted: str) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > LARGEST_FILE:
                raise FormatError("it is too large to be read.", path=path)
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        if _head(arrays)["format"] != wanted:
            raise ValueError("it has another format")
    except GradusError:
        raise
    except (OSError, ValueError, KeyError, EOFError, MemoryError, zipfile.BadZipFile) as error:
        raise FormatError(f"not a file of the format {wanted}: {error}", path=path) from error
    return arrays
