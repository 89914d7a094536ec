"""A folder of results: Parquet parts, each written whole, named by a digest of its content and never changed."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from gradus._core.files import make_folder, read_guard, write_bytes_whole
from gradus.errors import FormatError, StoreError
from gradus_paper.row import DONE, SCHEMA, Row, conform, table_of
from gradus_paper.tasks import RETIRED

__all__ = ["Store"]

FOLDER = "parts"
LOCK = ".lock"
SUFFIX = ".parquet"
PART = re.compile(r"part-[0-9]{1,12}-[0-9a-f]+\.parquet")
SMALL_ROWS = 50_000
SMALL_PARTS = 32
READ_TRIES = 5
CHANGING = "the parts in {} change faster than they can be read; try again."
REPLACES = b"gradus_replaces"


class Store:
    r"""A folder of results.

    Parts are only ever added. A part's name holds a digest of its content, so that a damaged file is recognised without
    being parsed. When there are many small parts they are merged into one that names those it replaces; whenever the process
    dies, each row is seen exactly once. Parts of earlier versions, with other columns, are read as well.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.parts_folder = self.folder / FOLDER
        self._sizes: dict[str, int] = {}
        self.damaged: list[str] = []
        """Files whose content does not match their name; their tasks count as not done."""
        self._held: IO[str] | None = None
        """The lock, while the folder is held for writing."""
        self._read_names()

    def __len__(self) -> int:
        return sum(self._sizes.values())

    def append(self, rows: Sequence[Row]) -> None:
        """Write rows as one part, whole or not at all."""
        self.append_table(table_of(rows))

    def append_table(self, table: pa.Table) -> None:
        """Write a table of rows as one part, whole or not at all."""
        if len(table):
            self._add(table)

    def ids(self) -> dict[bytes, str]:
        """Return the status of every task by its id; a task that failed and was done later is done."""
        found: dict[bytes, str] = {}
        with read_guard(self.parts_folder, "results"):
            for part in self._part_tables(["task", "status"]):
                tasks, status = part.column("task").to_pylist(), part.column("status").to_pylist()
                for task, how in zip(map(bytes.fromhex, tasks), status, strict=True):
                    if found.get(task) != DONE:
                        found[task] = how
        return found

    def table(self, columns: list[str] | None = None) -> pa.Table:
        """Return all rows as one table, each task once: its row that is done, if there is one."""
        wanted = SCHEMA.names if columns is None else list(dict.fromkeys(["task", "status", *columns]))
        with read_guard(self.parts_folder, "results"):
            parts = [conform(part, wanted) for part in self._part_tables(wanted)]
            return _one_of_each(pa.concat_tables([conform(SCHEMA.empty_table(), wanted), *parts]))

    def compact(self) -> None:
        """Merge small parts into one."""
        small = [name for name, rows in sorted(self._sizes.items()) if rows < SMALL_ROWS]
        if len(small) < 2:
            return
        try:
            # Columns of earlier versions are kept: without them, rows of methods that are gone would pass for others.
            parts = [pq.read_table(self._path(name)).replace_schema_metadata(None) for name in small]
            self._add(pa.concat_tables(parts, promote_options="default"), replaces=small)
        except (OSError, pa.ArrowException, StoreError):
            return  # for instance a full disk: all rows are still in the old parts
        self._forget(small)

    def set_damaged_aside(self) -> None:
        """Move damaged files to the folder `damaged`."""
        aside = self.folder / "damaged"
        try:
            for name in self.damaged:
                aside.mkdir(exist_ok=True)
                os.replace(self._path(name), aside / name)
        except OSError as error:
            raise StoreError(f"damaged files cannot be moved to {aside}: {error.strerror or error}.") from error
        self.damaged = []

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the folder for writing; a second run gets an error instead of doing the work twice."""
        make_folder(self.parts_folder)
        with self._open_lock() as handle:
            _lock(handle, self.folder)
            for left_over in self.parts_folder.glob(".part-*"):
                left_over.unlink(missing_ok=True)
            # Include what another run has added since this object was made.
            self._read_names()
            self._held = handle
            try:
                yield
            finally:
                self._held = None

    def _open_lock(self) -> IO[str]:
        try:
            return open(self.folder / LOCK, "a")
        except OSError as error:
            raise StoreError(f"the results folder {self.folder} cannot be written: {error.strerror or error}.") from error

    def check_folder(self) -> None:
        """Raise `StoreError` if the folder that is held for writing no longer exists, or is another one."""
        if self._held is None:
            return
        try:
            there = os.path.samestat(os.fstat(self._held.fileno()), os.stat(self.folder / LOCK)) and self.parts_folder.is_dir()
        except OSError:
            there = False
        if not there:
            raise StoreError(
                f"the results folder {self.folder} was removed or replaced during the run, which has ended; "
                "the same command begins again."
            )

    def _path(self, name: str) -> Path:
        return self.parts_folder / name

    def _read_names(self) -> None:
        """List the parts, check each against its name, and delete what a dead process left behind."""
        for _ in range(READ_TRIES):
            try:
                self._read_names_once()
            except FileNotFoundError:
                continue  # a run that is writing has just merged some parts: their rows are in one that was not listed
            except OSError as error:
                raise StoreError(f"a part in {self.parts_folder} cannot be read: {error}") from error
            return
        raise StoreError(CHANGING.format(self.parts_folder))

    def _read_names_once(self) -> None:
        self._sizes, self.damaged = {}, []
        replaced: set[str] = set()
        if not self.parts_folder.is_dir():
            return
        for path in sorted(self.parts_folder.glob(f"part-*{SUFFIX}")):
            metadata = _checked_metadata(path)
            if metadata is None:
                self.damaged.append(path.name)
                continue
            self._sizes[path.name] = metadata.num_rows
            replaced.update(filter(None, (metadata.metadata or {}).get(REPLACES, b"").decode().split(",")))
        self.damaged = [name for name in self.damaged if name not in replaced]
        self._forget([name for name in replaced if self._path(name).exists()])

    def _forget(self, names: Sequence[str]) -> None:
        for name in names:
            self._sizes.pop(name, None)
            with contextlib.suppress(OSError):  # a reader without permission to delete just ignores them
                self._path(name).unlink()

    def _part_tables(self, columns: list[str]) -> list[pa.Table]:
        for _ in range(READ_TRIES):
            try:
                return [_read_columns(self._path(name), columns) for name in sorted(self._sizes)]
            except FileNotFoundError:
                # A run that is writing has just merged some parts.
                self._read_names()
            except (OSError, pa.ArrowInvalid) as error:
                raise StoreError(f"a part in {self.parts_folder} cannot be read: {error}") from error
        raise StoreError(CHANGING.format(self.parts_folder))

    def _add(self, table: pa.Table, replaces: Sequence[str] = ()) -> None:
        if replaces:
            table = table.replace_schema_metadata({REPLACES: ",".join(replaces).encode()})
        content = _parquet_bytes(table)
        number = 1 + max((int(name.split("-")[1]) for name in self._sizes), default=0)
        name = f"part-{number:06d}-{_digest(content)}{SUFFIX}"
        self.check_folder()
        make_folder(self.parts_folder)
        try:
            write_bytes_whole(self._path(name), content)
        except FormatError as error:
            raise StoreError(_write_failure(self.parts_folder, error)) from error
        self._sizes[name] = len(table)
        if not replaces and sum(rows < SMALL_ROWS for rows in self._sizes.values()) > SMALL_PARTS:
            self.compact()


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
    sink = io.BytesIO()
    # Task ids never repeat, so a dictionary of them would only take space.
    dictionary = [name for name in table.column_names if name not in ("task", "cpu_seconds", "iterations")]
    paths = [f"{name}.list.element" if pa.types.is_list(table.schema.field(name).type) else name for name in dictionary]
    pq.write_table(table, sink, compression="zstd", compression_level=9, use_dictionary=paths, write_statistics=False)
    return sink.getvalue()


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=12).hexdigest()


def _checked_metadata(path: Path) -> pq.FileMetaData | None:
    """Return the metadata of a part, or None if its content does not match its name."""
    content = path.read_bytes()
    if not PART.fullmatch(path.name) or path.name.removesuffix(SUFFIX).split("-")[2:] != [_digest(content)]:
        return None
    try:
        return pq.read_metadata(io.BytesIO(content))
    except Exception:  # the bytes are in memory, so this means that they are not Parquet
        return None


def _read_columns(path: Path, columns: list[str]) -> pa.Table:
    """Read the wanted columns that a part has, and those that mark rows of methods that are gone."""
    file = pq.ParquetFile(path)
    return file.read([name for name in (*columns, *RETIRED) if name in file.schema_arrow.names])


def _write_failure(folder: Path, error: FormatError) -> str:
    cause = error.__cause__
    if isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"the disk is full: more results do not fit in {folder}. What was written is kept; make room and run "
            "the same command again."
        )
    return f"results cannot be written to {folder}: {error}. What was written is kept."


def _lock(handle: IO[str], folder: Path) -> None:
    try:
        import fcntl
    except ImportError:  # a system without such locks: parts are still never damaged, but work may be done twice
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise StoreError(
            f"another run is writing to {folder}; wait for it, stop it, or give another folder with -o."
        ) from None
    except OSError:  # a network file system without locks
        return
