"""A folder of results: rows in Parquet parts, each written whole, and the searches that were interrupted."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from gradus.errors import FormatError, StoreError
from gradus.lab import Checkpoint, files
from gradus_paper.row import DONE, SCHEMA, Row, conform, leaves, table_of

FOLDER, BEGUN = "parts", "begun.parquet"
PART = re.compile(r"part-([0-9]{1,12})-([0-9a-f]+)\.parquet")
PART_ROWS = 5_000  # rows up to which a run's latest part is written again with every few rows more
READ_TRIES = 5
OLD_SECONDS = 3600.0  # age after which half a file that a killed run left behind is deleted
CHANGING = "the parts in {} change faster than they can be read; try again."
BEGUN_SCHEMA = pa.schema([
    ("task", pa.string()), *((name, pa.int64()) for name in ("step", "iterations", "restart", "best_cost")),
    ("random", pa.list_(pa.uint64())), ("sources", pa.list_(pa.uint32())), ("best", pa.list_(pa.uint32())),
    ("history", pa.list_(pa.uint64())),
])  # fmt: skip
WORDS = {"random": np.uint64, "sources": np.uint32, "best": np.uint32, "history": np.uint64}


class Store:
    """A folder of results, to which parts of other folders can be copied."""

    # A part's name holds a digest of its content, so that a damaged file is recognised without being parsed. A run adds rows
    # to its latest part by writing a longer one and deleting the shorter; whenever it dies, each task counts once.

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.parts_folder = self.folder / FOLDER
        self._sizes: dict[str, int] = {}
        self.damaged: list[str] = []  # files whose content does not match their name; their tasks count as not done
        self._latest: tuple[str, pa.Table] | None = None  # name and rows of the part that this object is still adding to
        self._read_names()

    def __len__(self) -> int:
        return sum(self._sizes.values())

    def begin(self) -> None:
        """Make the folder, set damaged files aside and read what others have added; call it before rows are appended."""
        files.make_folder(self.parts_folder)
        for left_over in self.parts_folder.glob(".part-*"):
            if time.time() - left_over.stat().st_mtime > OLD_SECONDS:
                left_over.unlink(missing_ok=True)
        self._read_names()
        aside = self.folder / "damaged"
        try:
            for name in self.damaged:
                aside.mkdir(exist_ok=True)
                os.replace(self.parts_folder / name, aside / name)
        except OSError as error:
            raise StoreError(f"damaged files cannot be moved to {aside}: {error.strerror or error}.") from error
        self.damaged = []

    def check_folder(self) -> None:
        """Raise `StoreError` if the folder no longer exists."""
        if not self.parts_folder.is_dir():
            said = f"the results folder {self.folder} was removed during the run, which has ended"
            raise StoreError(f"{said}; the same command begins again.")

    def append(self, rows: Sequence[Row] | pa.Table) -> None:
        """Write rows, whole or not at all."""
        if not len(rows):
            return
        table = rows if isinstance(rows, pa.Table) else table_of(rows)
        before, number = None, 1 + max((int(name.split("-")[1]) for name in self._sizes), default=0)
        if self._latest is not None and len(self._latest[1]) + len(table) <= PART_ROWS:
            before, number = self._latest[0], int(self._latest[0].split("-")[1])
            table = pa.concat_tables([self._latest[1], table])
        content = _parquet_bytes(table)
        name = f"part-{number:06d}-{_digest(content)}.parquet"
        self.check_folder()
        self._write(self.parts_folder / name, content)
        self._sizes[name], self._latest = len(table), (name, table)
        if before is not None:
            self._sizes.pop(before)
            (self.parts_folder / before).unlink(missing_ok=True)

    def ids(self) -> dict[bytes, str]:
        """Return the status of every task by its id; a task that failed and was done later is done."""
        known: dict[bytes, str] = {}
        table = self.table(["task", "status"])
        for task, status in zip(*(table.column(name).to_pylist() for name in ("task", "status")), strict=True):
            known[bytes.fromhex(task)] = status
        return known

    def table(self, columns: Sequence[str] = SCHEMA.names) -> pa.Table:
        """Return all rows as one table, each task once: its row that is done, if there is one."""
        wanted = list(dict.fromkeys(["task", "status", *columns])) if set(columns) != set(SCHEMA.names) else SCHEMA.names
        with files.read_guard(self.parts_folder, "results"):
            parts = [conform(part, wanted) for part in self._part_tables(wanted)]
            return _one_of_each(pa.concat_tables([conform(SCHEMA.empty_table(), wanted), *parts]))

    def keep_begun(self, begun: Mapping[bytes, Checkpoint]) -> None:
        """Write the checkpoints of the searches that have begun, in place of those written before."""
        if not begun and not (self.folder / BEGUN).exists():
            return
        names = BEGUN_SCHEMA.names[1:]
        rows = [{"task": task.hex()} | {name: _plain(getattr(since, name)) for name in names} for task, since in begun.items()]
        sink = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(rows, schema=BEGUN_SCHEMA), sink, compression="zstd")
        self._write(self.folder / BEGUN, sink.getvalue())

    def begun(self) -> dict[bytes, Checkpoint]:
        """Read the checkpoints of interrupted searches."""
        path = self.folder / BEGUN
        if not path.exists():
            return {}
        files.checked_size(path)
        with files.read_guard(path, "a table of interrupted searches"):
            rows = pq.read_table(path, schema=BEGUN_SCHEMA).to_pylist()
            return {bytes.fromhex(row.pop("task")): _checkpoint(row) for row in rows}

    def _write(self, path: Path, content: bytes) -> None:
        """Write a file, with an error that says what to do on a full disk."""
        try:
            files.write_bytes_whole(path, content)
        except FormatError as error:
            cause = error.__cause__
            if isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT):
                said = f"the disk is full: more results do not fit in {path.parent}. What was written is kept"
                raise StoreError(f"{said}; make room and run the same command again.") from error
            raise StoreError(f"results cannot be written to {path.parent}: {error}. What was written is kept.") from error

    def _read_names(self) -> None:
        """List the parts and check each against its name."""
        for _ in range(READ_TRIES):
            self._sizes, self.damaged = {}, []
            try:
                for path in sorted(self.parts_folder.glob("part-*.parquet")):
                    rows = _checked_rows(path)
                    if rows is None:
                        self.damaged.append(path.name)
                    else:
                        self._sizes[path.name] = rows
            except FileNotFoundError:
                continue  # a run has just replaced a part by a longer one
            except OSError as error:
                raise StoreError(f"a part in {self.parts_folder} cannot be read: {error}") from error
            return
        raise StoreError(CHANGING.format(self.parts_folder))

    def _part_tables(self, columns: Sequence[str]) -> list[pa.Table]:
        """Read the wanted columns that each part has."""
        for _ in range(READ_TRIES):
            try:
                parts = [pq.ParquetFile(self.parts_folder / name) for name in sorted(self._sizes)]
                return [part.read([name for name in columns if name in part.schema_arrow.names]) for part in parts]
            except FileNotFoundError:
                self._read_names()
            except (OSError, pa.ArrowInvalid) as error:
                raise StoreError(f"a part in {self.parts_folder} cannot be read: {error}") from error
        raise StoreError(CHANGING.format(self.parts_folder))


def _one_of_each(table: pa.Table) -> pa.Table:
    """Keep one row per task, a done one if there is one; the order of the rows stays."""
    if len(table) == len(pc.unique(table.column("task"))):
        return table
    place = np.arange(len(table))
    done = pc.equal(table.column("status"), DONE).to_numpy(zero_copy_only=False)
    ranked = pa.table({"task": table.column("task"), "rank": place + len(table) * done.astype(np.int64)})
    best = ranked.group_by("task").aggregate([("rank", "max")]).column("rank_max").to_numpy()
    return table.take(pa.array(np.sort(best % len(table))))


def _parquet_bytes(table: pa.Table) -> bytes:
    """Return a part's content."""
    sink = io.BytesIO()
    # Task ids never repeat, so a dictionary of them would only take space.
    dictionary = leaves(pa.schema(field for field in table.schema if field.name not in ("task", "cpu_seconds", "iterations")))
    pq.write_table(table, sink, compression="zstd", use_dictionary=dictionary, write_statistics=False)
    return sink.getvalue()


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=12).hexdigest()


def _checked_rows(path: Path) -> int | None:
    """Return the number of rows in a part, or None if its content does not match its name."""
    content, name = path.read_bytes(), PART.fullmatch(path.name)
    if name is None or name[2] != _digest(content):
        return None
    try:
        return int(pq.read_metadata(io.BytesIO(content)).num_rows)
    except Exception:  # the bytes are in memory, so this means that they are not Parquet
        return None


def _plain(value: Any) -> Any:
    return value.ravel() if isinstance(value, np.ndarray) else int(value)


def _checkpoint(values: dict[str, Any]) -> Checkpoint:
    """Return a checkpoint as it was written; whether it fits its search is checked where the search is known."""
    arrays: dict[str, Any] = {name: np.array(values.pop(name), dtype=kind) for name, kind in WORDS.items()}
    arrays |= {name: arrays[name].reshape(-1, 2) for name in ("sources", "best")}
    arrays |= {name: int(value) for name, value in values.items()}
    return Checkpoint(**arrays)
