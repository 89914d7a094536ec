"""Run the tasks that a folder has no rows of, keep a record of every run, and report how far each study is."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import gradus
from gradus import Progress
from gradus.errors import SettingsError, StoreError
from gradus.lab import Checkpoint, Run, files
from gradus_paper.engines import Engine
from gradus_paper.row import DONE, Row, conform, with_task_ids
from gradus_paper.store import Store
from gradus_paper.study import Study, load_studies
from gradus_paper.tasks import Task, earlier_versions

RUNS_FILE = "runs.jsonl"  # beside the rows: versions, engine and counts of each run as a line
LIBRARIES = ("numpy", "numba", "scipy", "scikit-learn", "pyarrow", "matplotlib")
FLUSH_SECONDS = 2.0
START_SHARE = 0.4  # of what a run is expected to take: until its first rows, where nothing has been compiled yet
LISTED_ERRORS = 5


@dataclass(frozen=True)
class RunSummary:
    """Numbers of tasks in a run, and its times; all but `total` and `before` are of this run alone."""

    total: int
    before: int
    done: int = 0
    failed: int = 0
    not_converged: int = 0
    seconds: float = 0.0
    first: tuple[float, int] | None = None
    """Time until the first rows, which is start-up and not speed, and how many they were."""
    expected: float | None = None
    """Time that all tasks take, if it is known beforehand; it counts for less and less."""

    @property
    def left(self) -> int:
        """Tasks that have neither succeeded nor failed yet."""
        return self.total - self.before - self.done - self.failed

    @property
    def eta(self) -> float | None:
        """Expected time to the end, from the speed since the first rows and from what was expected before the run."""
        seconds, done = self.first or (0.0, self.done)
        measured = (self.seconds - seconds) / (self.done - done) * self.left if self.done > done else None
        if self.expected is None:
            return measured
        # A start that takes longer than it should means that the machine is slow or busy.
        start = START_SHARE * self.expected
        began, left = seconds or self.seconds, self.left / self.total
        believed = max(1.0, began / start) * (self.expected - start) * left + (0.0 if self.first else max(0.0, start - began))
        return believed if measured is None else left * believed + (1 - left) * measured

    def progress(self) -> Progress:
        """Return the numbers as a `Progress`, with the expected time to the end."""
        counts = (("failed", self.failed), ("not converged", self.not_converged))
        detail = ", ".join(f"{count:,} {what}" for what, count in counts if count)
        return Progress(stage="tasks", done=self.total - self.left, total=self.total, eta=self.eta, detail=detail)

    def plus(self, rows: Sequence[Row], seconds: float) -> RunSummary:
        """Count more rows, at a number of seconds after the run began."""
        done = [row for row in rows if row.status == DONE]
        counts = {"done": self.done + len(done), "failed": self.failed + len(rows) - len(done)}
        counts["not_converged"] = self.not_converged + sum(row.method == "network" and not row.converged for row in done)
        return replace(self, **counts, seconds=seconds, first=self.first or ((seconds, len(done)) if done else None))


def split_tasks(tasks: Iterable[Task], store: Store) -> tuple[list[Task], RunSummary]:
    """Return the tasks still to be run, including those that failed before, and a summary of the others."""
    known = store.ids()
    listed = list(tasks)
    left = [task for task in listed if known.get(task.id_bytes) != DONE]
    return left, RunSummary(len(listed), len(listed) - len(left))


def run_tasks(
    tasks: Iterable[Task], store: Store, engine: Engine, *, callback: Any = None, time_limit: float | None = None,
    expected: float | None = None,
) -> RunSummary:  # fmt: skip
    """Run the tasks that have no row in the store, and those that failed before; all are `expected` to take some seconds."""
    # Rows are on disk seconds after a task is done. Whatever ends this call, they are kept, and the next call continues.
    run, flushed = Run(time_limit, callback), 0.0
    store.begin()
    left, summary = split_tasks(tasks, store)
    summary = replace(summary, expected=expected)
    if not left or run.stop(summary.progress()):
        return summary
    begun, waiting = store.begun(), list[Row]()
    try:
        with closing(engine.run(left, begun)) as stream:
            for rows in stream:
                waiting += rows
                for row in rows:
                    begun.pop(bytes.fromhex(row.task), None)
                summary = summary.plus(rows, run.seconds())
                if run.seconds() - flushed >= FLUSH_SECONDS:
                    store.check_folder()  # also without rows, so that no run continues for hours after its folder is gone
                    store.append(waiting)
                    waiting = []  # only now: rows that could not be written are written again below
                    flushed = run.seconds()
                if run.stop(summary.progress()):
                    break
    finally:
        store.append(waiting)
        store.keep_begun(begun | engine.left)
    return summary


def absorb(tasks: Sequence[Task], path: Path, store: Store) -> RunSummary:
    """Add what another folder of results, or a published table, has of these tasks: rows, and searches that have begun."""
    table, begun = _results_of(path)
    store.begin()
    left, before = split_tasks(tasks, store)
    table = table.filter(pc.equal(table.column("status"), DONE))
    rows = rows_of(table, left)
    store.append(rows)
    open_ids = {task.id_bytes for task in left} - set(map(bytes.fromhex, rows.column("task").to_pylist()))
    # A row of an earlier version is shown where there is none of today's, but its task is still to be run.
    older, known = (made for task in left if task.id_bytes in open_ids for made in earlier_versions(task)), store.ids()
    store.append(rows_of(table, [made for made in older if made.id_bytes not in known]))
    mine = {task: since for task, since in (begun | store.begun()).items() if task in open_ids}
    store.keep_begun(mine)
    return replace(before, done=len(rows))


def _results_of(path: Path) -> tuple[pa.Table, dict[bytes, Checkpoint]]:
    """Read the rows, and searches that have begun, of a folder of results, a published table, or a folder of those."""
    if (path / "parts").is_dir():
        return Store(path).table(), Store(path).begun()
    published = sorted(path.glob("results*.parquet")) if path.is_dir() else [path] if path.suffix == ".parquet" else []
    if not published:
        raise SettingsError(f"{path} is neither a folder of results nor a published .parquet file, nor has it any in it.")
    tables = []
    for name in published:
        files.checked_size(name)
        with files.read_guard(name, "a table of results"):
            tables.append(with_task_ids(conform(pq.read_table(name)), name))
    return pa.concat_tables(tables), {}


def versions() -> dict[str, str]:
    """Return the versions of everything that a result may depend on."""
    known = {"gradus": gradus.__version__, "python": platform.python_version()}
    known |= {library: importlib.metadata.version(library) for library in LIBRARIES}
    return known | {"system": f"{platform.system()} {platform.machine()}"}


def record_run(folder: Path, what: dict[str, Any]) -> None:
    """Add a run to the folder's record."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    line = json.dumps({"ended": now, "versions": versions(), "cores": os.cpu_count(), **what})
    try:
        with open(folder / RUNS_FILE, "a", encoding="utf-8") as file:
            file.write(line + "\n")
    except OSError as error:
        raise StoreError(f"{folder / RUNS_FILE} cannot be written: {error.strerror or error}.") from error


def read_runs(folder: Path) -> list[dict[str, Any]]:
    """Read the record of runs; invalid lines, such as a last one cut short, are left out."""
    path = folder / RUNS_FILE
    lines = path.read_bytes().splitlines() if path.is_file() else []
    return [entry for entry in map(_parsed_run, lines) if entry is not None]


def _parsed_run(line: bytes) -> dict[str, Any] | None:
    """Read a line of the record, which anybody may have written."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict) or not isinstance(entry.get("versions", {}), dict):
        return None
    return entry if all(isinstance(entry.get(name, 0), int | float) for name in ("done", "seconds")) else None


@dataclass(frozen=True)
class Standing:
    """How much of one study is done: counts, the first few errors, and CPU times; None is left while nothing is done."""

    study: Study
    total: int
    done: int
    failed: int
    not_converged: int
    cpu_seconds: float
    cpu_seconds_left: float | None
    errors: tuple[str, ...]
    earlier: int
    """Tasks that are left, but have a row by an earlier version of their method."""

    @property
    def left(self) -> int:
        """Tasks that have neither succeeded nor failed yet."""
        return self.total - self.done - self.failed


def rows_of(table: pa.Table, tasks: Iterable[Task]) -> pa.Table:
    """Return the rows of a table that belong to some tasks."""
    return table.filter(pc.is_in(table.column("task"), value_set=pa.array([task.id for task in tasks], pa.string())))


def rows_shown(table: pa.Table, tasks: Iterable[Task]) -> pa.Table:
    """Return the rows of some tasks; where there is none, that of an earlier version of the method."""
    known, ids = set(table.column("task").to_pylist()), []
    for task in tasks:
        versions = (version.id for version in (task, *earlier_versions(task)))
        ids += [id for id in versions if id in known][:1]
    return table.filter(pc.is_in(table.column("task"), value_set=pa.array(ids, pa.string())))


def standings(folder: Path) -> tuple[list[Standing], list[str]]:
    """Return the progress of every study in a folder, and the names of damaged files."""
    studies, store = load_studies(folder), Store(folder)
    table = store.table(["problem", "method", "loss", "n_train", "converged", "cpu_seconds", "error"])
    return [_standing(study, table) for study in studies], store.damaged


def _standing(study: Study, table: pa.Table) -> Standing:
    """Count the rows of one study."""
    tasks = study.tasks()
    rows = rows_of(table, tasks)
    is_done = pc.equal(rows.column("status"), DONE)
    done, failed = rows.filter(is_done), rows.filter(pc.invert(is_done))
    networks = done.filter(pc.equal(done.column("method"), "network"))
    seconds = np.nan_to_num(done.column("cpu_seconds").to_numpy(zero_copy_only=False).astype(float))
    known = set(rows.column("task").to_pylist())
    errors = list(dict.fromkeys(failed.column("error").to_pylist()))[:LISTED_ERRORS]
    left_out = len(networks) - int(pc.sum(networks.column("converged")).as_py() or 0)
    left = [task for task in tasks if task.id not in known]
    older = rows_of(table, (made for task in left for made in earlier_versions(task)))
    counts = len(tasks), len(done), len(failed), left_out
    times = float(seconds.sum()), _expected(left, done, seconds)
    return Standing(study, *counts, *times, tuple(map(str, errors)), len(older))


def _expected(left: list[Task], done: pa.Table, seconds: np.typing.NDArray[np.float64]) -> float | None:
    """Estimate the CPU time of tasks from finished ones of the same kind, or else of the same problem, or else from all."""
    if not left:
        return 0.0
    if not len(done):
        return None
    of_kind: dict[object, list[float]] = {}
    kinds = zip(*(done.column(name).to_pylist() for name in ("problem", "n_train", "loss")), strict=True)
    for kind, value in zip(kinds, seconds.tolist(), strict=True):
        of_kind.setdefault(kind, []).append(value)
        of_kind.setdefault(kind[0], []).append(value)
    means = {kind: float(np.mean(values)) for kind, values in of_kind.items()}
    left_of = ((task.design.problem, task.n_train, task.design.settings.loss) for task in left)
    return sum(means.get(kind, means.get(kind[0], float(seconds.mean()))) for kind in left_of)
