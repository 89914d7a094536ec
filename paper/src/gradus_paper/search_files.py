"""Searches and their outcomes as compact .npz files, for a machine with a GPU and little else.

Nothing is unpickled.
"""

from __future__ import annotations

import io
import itertools
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._core.bits import BoolMatrix
from gradus._core.files import make_folder, read_guard, write_bytes_whole
from gradus_paper.npz import read_arrays
from gradus._search.job import Checkpoint, Job, Outcome, Settings
from gradus.errors import FormatError
from gradus_paper.tasks import ID_BYTES

__all__ = ["OutcomeWriter", "TaskRecord", "read_outcomes", "read_searches", "reserve_path", "write_searches"]

SEARCHES_FORMAT = "gradus-jobs-2"
OUTCOMES_FORMAT = "gradus-results-1"
FILE_BYTES = 12_000_000
"""Size at which a new file of outcomes begins."""
SECONDS_UNWRITTEN = 20.0
"""Time after which outcomes are written: no more than this is lost when a machine is taken away."""
OUTCOME_NUMBERS = {"cost": np.int64, "iterations": np.int64, "restarts": np.int32, "live_gates": np.int32}
CHECKPOINT_NUMBERS = ("step", "iterations", "restart", "best_cost")


@dataclass(frozen=True, eq=False)
class TaskRecord:
    """The search of one task, and what else its row needs."""

    task_id: bytes
    set_key: Any
    """Equal for records with the same training set."""
    X: BoolMatrix
    Y: BoolMatrix
    """Columns in the problem's order."""
    order: tuple[int, ...]
    settings: Settings
    seed: int
    tau: float | None
    eta: float | None
    since: Checkpoint | None = None
    """Where the search was interrupted, if it has begun."""

    def job(self) -> Job:
        """Return what a search needs."""
        return Job(X=self.X, Y=np.ascontiguousarray(self.Y[:, list(self.order)]), settings=self.settings, seed=self.seed)


def write_searches(path: Path, records: Sequence[TaskRecord]) -> None:
    """Write the searches of tasks, each training set once."""
    sets: dict[Any, int] = {}
    bits: list[npt.NDArray[np.uint8]] = []
    shapes: list[tuple[int, int, int]] = []
    kinds: dict[Settings, int] = {}
    for one in records:
        if one.set_key not in sets:
            sets[one.set_key] = len(bits)
            bits.append(np.packbits(np.column_stack([one.X, one.Y]), axis=None))
            shapes.append((*one.X.shape, one.Y.shape[1]))
        kinds.setdefault(one.settings, len(kinds))
    arrays = {
        "set_bits": np.concatenate([*bits, np.zeros(0, np.uint8)]),
        "set_shapes": np.array(shapes, dtype=np.int32).reshape(-1, 3),
        "job_set": np.array([sets[one.set_key] for one in records], dtype=np.int32),
        "job_kind": np.array([kinds[one.settings] for one in records], dtype=np.int32),
        "job_seed": np.array([one.seed for one in records], dtype=np.uint64),
        "job_id": np.frombuffer(b"".join(one.task_id for one in records), dtype=np.uint8).reshape(len(records), ID_BYTES),
        "job_order": np.array([k for one in records for k in one.order], dtype=np.uint8),
        "job_tau": np.array([np.nan if one.tau is None else one.tau for one in records]),
        "job_eta": np.array([np.nan if one.eta is None else one.eta for one in records]),
        **_checkpoint_arrays([one.since for one in records]),
    }
    _save_arrays(path, {"format": SEARCHES_FORMAT, "settings": [asdict(kind) for kind in kinds]}, arrays)


def _checkpoint_arrays(checkpoints: Sequence[Checkpoint | None]) -> dict[str, Any]:
    """Return the columns for searches that have begun; the others take no space in them."""
    begun = [since for since in checkpoints if since is not None]
    if not begun:
        return {}
    wirings = np.concatenate([np.stack([since.sources, since.best]).ravel() for since in begun])
    costs = np.concatenate([since.history for since in begun])
    return {
        "begun": np.array([since is not None for since in checkpoints]),
        "since_numbers": np.array([[getattr(since, name) for name in CHECKPOINT_NUMBERS] for since in begun], dtype=np.uint64),
        "since_random": np.stack([since.random for since in begun]),
        "since_gates": np.array([len(since.sources) for since in begun], dtype=np.int64),
        "since_wirings": wirings.astype(np.min_scalar_type(wirings.max())),
        "since_histories": costs.astype(np.min_scalar_type(costs.max())),
    }


def read_searches(path: Path) -> Iterator[TaskRecord]:
    """Read the searches of tasks in the order they were written."""
    head, arrays = _load_arrays(path, SEARCHES_FORMAT)
    with read_guard(path, f"a complete file of the format {SEARCHES_FORMAT}"):
        kinds = [Settings(**kind) for kind in head["settings"]]
        sets = _unpacked_sets(arrays)
        _check_arrays(arrays, kinds, [Y.shape[1] for _, Y in sets])
        ends = np.cumsum([0, *(sets[k][1].shape[1] for k in arrays["job_set"])])
        checkpoints = _checkpoints(arrays, kinds)
        for index, set_number in enumerate(arrays["job_set"].tolist()):
            X, Y = sets[set_number]
            tau, eta = float(arrays["job_tau"][index]), float(arrays["job_eta"][index])
            one = TaskRecord(
                task_id=arrays["job_id"][index].tobytes(),
                set_key=(str(path), set_number),  # records of several files may be written to one
                X=X,
                Y=Y,
                order=tuple(arrays["job_order"][ends[index] : ends[index + 1]].tolist()),
                settings=kinds[arrays["job_kind"][index]],
                seed=int(arrays["job_seed"][index]),
                tau=None if np.isnan(tau) else tau,
                eta=None if np.isnan(eta) else eta,
                since=next(checkpoints) if "begun" in arrays and arrays["begun"][index] else None,
            )
            _check_record(one)
            yield one


def _check_arrays(arrays: dict[str, Any], kinds: Sequence[Settings], targets: Sequence[int]) -> None:
    """Raise ValueError unless the arrays fit each other."""
    count = len(arrays["job_set"])
    for name, choices in (("job_set", len(targets)), ("job_kind", len(kinds))):
        _check_whole_numbers(arrays, name, (count,))
        if arrays[name].max(initial=-1) >= choices:
            raise ValueError(f"{name} refers to an entry that does not exist")
    _check_whole_numbers(arrays, "job_seed", (count,))
    _check_whole_numbers(arrays, "job_order", (sum(targets[k] for k in arrays["job_set"]),))
    if arrays["job_id"].dtype != np.uint8 or arrays["job_id"].shape != (count, ID_BYTES):
        raise ValueError("its searches have no task ids")
    if "begun" not in arrays:
        return
    if arrays["begun"].dtype != np.bool_ or arrays["begun"].shape != (count,):
        raise ValueError("it does not say of each search whether it has begun")
    histories = [kinds[kind].history for kind in arrays["job_kind"][arrays["begun"]]]
    _check_whole_numbers(arrays, "since_numbers", (len(histories), len(CHECKPOINT_NUMBERS)))
    _check_whole_numbers(arrays, "since_random", (len(histories), 2))
    _check_whole_numbers(arrays, "since_gates", (len(histories),))
    _check_whole_numbers(arrays, "since_wirings", (4 * sum(arrays["since_gates"].tolist()),))
    _check_whole_numbers(arrays, "since_histories", (sum(histories),))


def _check_whole_numbers(arrays: dict[str, Any], name: str, shape: tuple[int, ...]) -> None:
    array = arrays[name]
    if not np.issubdtype(array.dtype, np.integer) or array.shape != shape or array.min(initial=0) < 0:
        raise ValueError(f"{name} does not hold {' by '.join(map(str, shape))} whole numbers from 0")


def _check_record(one: TaskRecord) -> None:
    """Raise ValueError for an order or a checkpoint that the search cannot have: compiled code does not check them."""
    m, since, settings = one.Y.shape[1], one.since, one.settings
    if sorted(one.order) != list(range(m)):
        raise ValueError("an order does not name each target once")
    if since is None:
        return
    gates = settings.n_gates(m)
    readable = one.X.shape[1] + np.minimum(np.arange(gates), gates - m)[:, np.newaxis]
    if len(since.sources) != gates or (since.sources >= readable).any() or (since.best >= readable).any():
        raise ValueError("a checkpoint has invalid wiring")
    most_before = since.restart * settings.max_iter
    if since.step > settings.max_iter or since.iterations > most_before or since.restart > settings.n_restarts:
        raise ValueError("a checkpoint has impossible step or restart counts")
    if not since.random.any():
        raise ValueError("a checkpoint has no state of the generator")


def _checkpoints(arrays: dict[str, Any], kinds: Sequence[Settings]) -> Iterator[Checkpoint]:
    """Yield the checkpoints of the searches that have begun."""
    if "begun" not in arrays:
        return
    at_wiring = at_history = 0
    lengths = [kinds[kind].history for kind in arrays["job_kind"][arrays["begun"]]]
    for k, (gates, length) in enumerate(zip(arrays["since_gates"].tolist(), lengths, strict=True)):
        wirings = arrays["since_wirings"][at_wiring : at_wiring + 4 * gates].astype(np.uint32).reshape(2, gates, 2)
        history = arrays["since_histories"][at_history : at_history + length].astype(np.uint64)
        at_wiring, at_history = at_wiring + 4 * gates, at_history + length
        numbers = dict(zip(CHECKPOINT_NUMBERS, arrays["since_numbers"][k].tolist(), strict=True))
        random = arrays["since_random"][k].astype(np.uint64)
        yield Checkpoint(**numbers, random=random, sources=wirings[0], best=wirings[1], history=history)


def _unpacked_sets(arrays: dict[str, Any]) -> list[tuple[BoolMatrix, BoolMatrix]]:
    result = []
    at = 0
    sizes = [-(-n * (inputs + targets) // 8) for n, inputs, targets in arrays["set_shapes"].tolist()]
    if arrays["set_shapes"].min(initial=1) < 1 or sum(sizes) != len(arrays["set_bits"]):
        raise ValueError("its training sets are not complete")
    for (n, inputs, targets), size in zip(arrays["set_shapes"].tolist(), sizes, strict=True):
        table = np.unpackbits(arrays["set_bits"][at : at + size], count=n * (inputs + targets))
        at += size
        columns = table.reshape(n, inputs + targets).view(np.bool_)
        result.append((np.ascontiguousarray(columns[:, :inputs]), np.ascontiguousarray(columns[:, inputs:])))
    return result


class OutcomeWriter:
    """Collects outcomes and writes them to files of a size that is easy to transfer."""

    def __init__(self, folder: Path, file_bytes: int = FILE_BYTES) -> None:
        self.folder, self.file_bytes = folder, file_bytes
        self.files = 0
        self._path: Path | None = None
        self._written = time.monotonic()
        self._found: list[tuple[bytes, Outcome]] = []
        self._bytes = 0
        make_folder(folder)

    def add(self, one: TaskRecord, found: Outcome) -> None:
        """Keep one outcome, without the wiring of dead gates."""
        nodes = one.X.shape[1] + len(found.sources)
        live = Network(one.X.shape[1], found.sources, range(nodes - one.Y.shape[1], nodes)).live
        self._found.append((one.task_id, replace(found, sources=np.where(live[:, np.newaxis], found.sources, 0))))
        # Wiring looks random: compression leaves about a byte per source of a live gate, and next to nothing of zeros.
        self._bytes += 2 * int(live.sum()) * np.min_scalar_type(nodes).itemsize + len(live) // 8 + 40
        if self._bytes >= self.file_bytes:
            self.flush()
        elif time.monotonic() - self._written >= SECONDS_UNWRITTEN:
            self._write()

    def flush(self) -> None:
        """Write the collected outcomes, and begin another file."""
        if self._found:
            self._write()
        self._path, self._found, self._bytes = None, [], 0

    def _write(self) -> None:
        """Write the current file, replacing its earlier version."""
        outcomes = [found for _, found in self._found]
        sources = np.concatenate([found.sources.ravel() for found in outcomes])
        arrays = {
            "job_id": np.frombuffer(b"".join(task for task, _ in self._found), np.uint8).reshape(len(outcomes), ID_BYTES),
            **{
                name: np.array([getattr(found, name) for found in outcomes], dtype=kind)
                for name, kind in OUTCOME_NUMBERS.items()
            },
            "gates": np.array([len(found.sources) for found in outcomes], dtype=np.int32),
            "sources": sources.astype(np.min_scalar_type(sources.max(initial=0).astype(np.uint64))),
        }
        if self._path is None:
            self._path = reserve_path(self.folder, "results")
            self.files += 1
        _save_arrays(self._path, {"format": OUTCOMES_FORMAT}, arrays)
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
    _, arrays = _load_arrays(path, OUTCOMES_FORMAT)
    with read_guard(path, f"a complete file of the format {OUTCOMES_FORMAT}"):
        _check_outcomes(arrays)
        ends = np.cumsum([0, *(2 * arrays["gates"].astype(np.int64))])
        for index, task_id in enumerate(arrays["job_id"]):
            sources = arrays["sources"][ends[index] : ends[index + 1]].astype(np.int64).reshape(-1, 2)
            numbers = {name: int(arrays[name][index]) for name in OUTCOME_NUMBERS}
            yield task_id.tobytes(), Outcome(sources=sources, **numbers, stopped=False)


def _check_outcomes(arrays: dict[str, Any]) -> None:
    """Raise ValueError unless the arrays fit each other."""
    columns = [arrays[name] for name in (*OUTCOME_NUMBERS, "gates")]
    if not all(np.issubdtype(array.dtype, np.integer) for array in (*columns, arrays["sources"])):
        raise ValueError("a column does not hold whole numbers")
    if any(array.shape != (len(columns[0]),) for array in columns) or arrays["job_id"].shape != (len(columns[0]), ID_BYTES):
        raise ValueError("its columns have different lengths")
    if any((array < 0).any() for array in columns):
        raise ValueError("a column holds a negative number")
    if arrays["sources"].shape != (2 * int(arrays["gates"].sum(dtype=np.int64)),):
        raise ValueError("it is not complete")


def _save_arrays(path: Path, head: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Write arrays to an .npz file, whole or not at all; `head` goes along as JSON and names the format."""
    sink = io.BytesIO()
    np.savez_compressed(sink, head=np.frombuffer(json.dumps(head).encode(), dtype=np.uint8), **arrays)
    write_bytes_whole(path, sink.getvalue())


def _load_arrays(path: Path, kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read head and arrays of a file that `_save_arrays` wrote; raise `FormatError` if it has another format."""
    with read_guard(path, f"a file of the format {kind}"):
        arrays = read_arrays(path)
        head = json.loads(arrays.pop("head").tobytes().decode())
        if not isinstance(head, dict) or head["format"] != kind:
            raise ValueError("it has another format")
        return head, arrays
