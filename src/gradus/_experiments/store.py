"""Results in a folder: Parquet parts, each written whole, named by a digest of its bytes, never changed."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from gradus.errors import StoreError

__all__ = ["COLUMNS", "TIMING", "Store"]

COLUMNS = pa.schema(
    [
        ("task", pa.string()),
        ("problem", pa.string()),
        ("method", pa.string()),
        ("loss", pa.string()),
        ("order", pa.string()),
        ("shuffle", pa.bool_()),
        ("draw", pa.string()),
        ("targets", pa.list_(pa.string())),
        ("n_train", pa.int32()),
        ("sample", pa.int32()),
        ("repeat", pa.int32()),
        ("gates_per_target", pa.int32()),
        ("history", pa.int32()),
        ("max_iterations", pa.int64()),
        ("max_restarts", pa.int64()),
        ("shrink", pa.int64()),
        ("attempts", pa.int32()),
        ("time_limit", pa.float64()),
        ("status", pa.string()),
        ("error", pa.string()),
        ("learned_order", pa.list_(pa.int16())),
        ("tau", pa.float64()),
        ("eta", pa.float64()),
        ("converged", pa.bool_()),
        ("iterations", pa.int64()),
        ("restarts", pa.int32()),
        ("live_gates", pa.int32()),
        ("train_loss", pa.float64()),
        ("n_test", pa.int32()),
        ("test_accuracy", pa.list_(pa.float64())),
        ("test_accuracy_mean", pa.float64()),
        ("cpu_seconds", pa.float64()),
    ]
)
TIMING = ("cpu_seconds",)
"""Columns that differ from run to run and from engine to engine; all others may not."""

FOLDER = "parts"
SUFFIX = ".parquet"
TEMPORARY = ".writing-"
DONE = "done"
SMALL_ROWS = 50_000
SMALL_PARTS = 32
READ_TRIES = 5
CHANGING = "the parts in {} change faster than they can be read; try again."
REPLACES = b"gradus_replaces"


class Store:
    r"""A folder of results.

    Parts are only ever added. A part's name holds a digest of its content, so that a damaged file is known without being
    understood. When there are many small parts they are merged into one that names those it replaces; whatever moment the
    process dies at, each row is seen exactly once.

    Parameters
    ----------
    folder : path-like
        Made if it does not exist, when something is first written.

    Examples
    --------
    >>> import tempfile
    >>> store = Store(tempfile.mkdtemp())
    >>> store.append([{"task": "00ff", "status": "done"}])
    >>> store.ids(), store.damaged
    ({b'\x00\xff': 'done'}, [])
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.parts_folder = self.folder / FOLDER
        self._sizes: dict[str, int] = {}
        self._damaged: list[str] = []
        self._read_names()

    @property
    def damaged(self) -> list[str]:
        """Files that are not what their name says; their tasks count as not done."""
        return list(self._damaged)

    def __len__(self) -> int:
        return sum(self._sizes.values())

    def append(self, rows: Sequence[dict[str, Any]]) -> None:
        """Write rows as one part, whole or not at all."""
        if rows:
            self._add(pa.Table.from_pylist(list(rows), schema=COLUMNS))

    def ids(self) -> dict[bytes, str]:
        """Task ids with their status, reading nothing else; a task that failed and was done later is done."""
        found: dict[bytes, str] = {}
        for part in self._part_tables(["task", "status"]):
            tasks, status = part.column("task").to_pylist(), part.column("status").to_pylist()
            for task, how in zip(map(bytes.fromhex, tasks), status, strict=True):
                if found.get(task) != DONE:
                    found[task] = how
        return found

    def table(self, columns: list[str] | None = None) -> pa.Table:
        """All rows as one table, each task once; a row that is done counts more than one that failed."""
        wanted = None if columns is None else list(dict.fromkeys(["task", "status", *columns]))
        schema = COLUMNS if wanted is None else pa.schema([COLUMNS.field(name) for name in wanted])
        parts = [part.replace_schema_metadata(None) for part in self._part_tables(wanted)]
        return _one_of_each(pa.concat_tables([schema.empty_table(), *parts]))

    def compact(self) -> None:
        """Merge small parts into one."""
        small = [name for name in self._names() if self._sizes[name] < SMALL_ROWS]
        if len(small) < 2:
            return
        merged = pa.concat_tables([pq.read_table(self._path(name), schema=COLUMNS) for name in small])
        self._add(merged, replaces=small)
        self._forget(small)

    def set_damaged_aside(self) -> list[Path]:
        """Move damaged files out of the way (they are kept) and return where they are now."""
        aside = self.folder / "damaged"
        for name in self._damaged:
            aside.mkdir(exist_ok=True)
            os.replace(self._path(name), aside / name)
        moved = [aside / name for name in self._damaged]
        self._damaged = []
        return moved

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the folder for writing; a second run that wants it is told so instead of doing the work twice."""
        self._make_folder()
        with open(self.folder / ".lock", "a") as handle:
            _lock(handle, self.folder)
            for left_over in self.parts_folder.glob(f"{TEMPORARY}*"):
                left_over.unlink(missing_ok=True)
            # What another run added since this object was made counts too.
            self._read_names()
            yield

    def _names(self) -> list[str]:
        return sorted(self._sizes)

    def _path(self, name: str) -> Path:
        return self.parts_folder / name

    def _read_names(self) -> None:
        """List the parts, check every one against its name, and clear away what a dead process left."""
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
        self._sizes, self._damaged = {}, []
        replaced: set[str] = set()
        if not self.parts_folder.is_dir():
            return
        for path in sorted(self.parts_folder.glob(f"part-*{SUFFIX}")):
            metadata = _checked_metadata(path)
            if metadata is None:
                self._damaged.append(path.name)
                continue
            self._sizes[path.name] = metadata.num_rows
            replaced.update(filter(None, (metadata.metadata or {}).get(REPLACES, b"").decode().split(",")))
        self._damaged = [name for name in self._damaged if name not in replaced]
        self._forget([name for name in replaced if self._path(name).exists()])

    def _forget(self, names: Sequence[str]) -> None:
        for name in names:
            self._sizes.pop(name, None)
            with contextlib.suppress(OSError):  # a reader without the right to delete just passes them over
                self._path(name).unlink()

    def _part_tables(self, columns: list[str] | None) -> list[pa.Table]:
        for _ in range(READ_TRIES):
            try:
                return [pq.read_table(self._path(name), columns=columns) for name in self._names()]
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
        self._make_folder()
        _write_whole(self._path(name), content)
        self._sizes[name] = len(table)
        if not replaces and sum(rows < SMALL_ROWS for rows in self._sizes.values()) > SMALL_PARTS:
            self.compact()

    def _make_folder(self) -> None:
        try:
            self.parts_folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"the results folder {self.folder} cannot be made: {error.strerror or error}.") from error


def _one_of_each(table: pa.Table) -> pa.Table:
    """Of several rows of one task keep one, a done one if there is; the order of the others stays."""
    if len(table) == len(pc.unique(table.column("task"))):
        return table
    place = np.arange(len(table))
    done = pc.equal(table.column("status"), DONE).to_numpy(zero_copy_only=False)
    ranked = pa.table({"task": table.column("task"), "rank": place + len(table) * done.astype(np.int64)})
    best = ranked.group_by("task").aggregate([("rank", "max")]).column("rank_max").to_numpy()
    return table.take(pa.array(np.sort(best % len(table))))


def _parquet_bytes(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    # Task ids never repeat, so a dictionary of them would only take room.
    dictionary = [name for name in table.column_names if name not in ("task", "cpu_seconds", "iterations")]
    paths = [f"{name}.list.element" if pa.types.is_list(COLUMNS.field(name).type) else name for name in dictionary]
    pq.write_table(table, sink, compression="zstd", compression_level=9, use_dictionary=paths, write_statistics=False)
    return sink.getvalue()


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=12).hexdigest()


def _checked_metadata(path: Path) -> pq.FileMetaData | None:
    """Metadata of a part, or None if its bytes are not those it was written with."""
    content = path.read_bytes()
    if path.name.removesuffix(SUFFIX).split("-")[2:] != [_digest(content)]:
        return None
    try:
        return pq.read_metadata(io.BytesIO(content))
    except (OSError, pa.ArrowInvalid):  # bytes in memory: this says that they are no Parquet
        return None


def _write_whole(path: Path, content: bytes) -> None:
    """Write, flush to the disk, rename into place, and flush the folder: after this the rows are safe."""
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=TEMPORARY, dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        temporary = None
        _flush_folder(path.parent)
    except OSError as error:
        raise StoreError(_what_failed(path, error)) from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def _what_failed(path: Path, error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"the disk is full: more results do not fit in {path.parent}. What was written is kept; make room and run "
            "the same command again."
        )
    return f"results cannot be written to {path.parent}: {error.strerror or error}. What was written is kept."


def _flush_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # not every file system lets a folder be flushed
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _lock(handle: IO[str], folder: Path) -> None:
    try:
        import fcntl
    except ImportError:  # a system without such locks: parts are still never damaged, only work may be done twice
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise StoreError(
            f"another run is writing to {folder}; wait for it, stop it, or give another folder with -o."
        ) from None
    except OSError:  # a network file system without locks
        return
