"""`Checkpoint`: the finished pieces of long work in a file, with which the same call continues after it was killed.

A piece is a function of data, settings and seed alone, and is kept under a digest of all that it depends on. A call that
continues does the same work, but reads from the file the pieces that are finished there, so its result is the same. Pieces
may be nested (walks in a circuit, circuits in a vote): once the outer one is finished, the inner ones are dropped.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import re
import secrets
import threading
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

from gradus._core.files import check_new_file, read_guard, read_text, write_text_whole
from gradus._core.kernels.clock import work_clock
from gradus._core.plain import restored
from gradus._version import __version__
from gradus.errors import FormatError

__all__ = ["Checkpoint", "Missing", "Parcel", "Piece", "here"]

T = TypeVar("T")
FORMAT = 1
SECONDS_PER_SAVE, LONGEST = 15.0, 25.0
SAVING = 0.02  # share of the time that saving may take: larger files are written less often, up to the longest time
LARGEST = 1 << 31
WHAT = ("versions of Gradus", "data", "settings")
OF_WORKER = re.compile(r"\.[0-9a-f]{8}-[0-9]+")  # what follows the name of the file in those that workers write


class Piece(NamedTuple):
    """A finished piece."""

    within: str
    """The name of the piece around it, or nothing."""
    seconds: float
    """How long all work had taken when it was finished."""
    text: str
    """Its result, as JSON."""


class Missing(BaseException):
    """Raised in a rehearsal by work that is not in the checkpoint."""


class _Here(threading.local):
    """Where a thread is."""

    checkpoint: Checkpoint | None = None
    """That of a worker in another process."""
    within = ""
    used: list[str] | None = None
    """In a rehearsal, the pieces that were used."""


here = _Here()


class Checkpoint:
    """Finished pieces by their names; from time to time the whole file is written anew.

    Parameters
    ----------
    path : path-like, optional
        If the file exists, its pieces are used; None for a worker that cannot write there.
    identity : callable
        Returns digests of the data and of the settings; a file with other digests is refused.
    wait : float
        Seconds of work after which the file is first written.
    """

    def __init__(self, path: str | PathLike[str] | None, identity: Callable[[], tuple[str, str]], wait: float) -> None:
        self.path, self.began = None if path is None else Path(path), 0.0
        self._identify, self._identity = identity, ("", "")
        self._pieces: dict[str, Piece] = {}
        self._inside: dict[str, set[str]] = {}
        self._lock, self._next = threading.RLock(), math.inf
        self.unused: set[str] = set()
        """Pieces that were read and have not been asked for yet."""
        self._absorbed: list[Path] = []
        if self.path is not None:
            check_new_file(self.path)
            self._absorbed = self._of_workers()
            for file in [*self._absorbed, self.path]:
                if file.exists():
                    self._read(file)
            for name in list(self._pieces):
                self._drop(name)
            self.unused = set(self._pieces)
            self._next = work_clock() + (SECONDS_PER_SAVE if self._pieces else wait)

    @property
    def identity(self) -> tuple[str, str]:
        """Digests of the data and of the settings."""
        if not self._identity[0]:
            self._identity = self._identify()
        return self._identity

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Write the file unless `remove` was called: the work has been stopped."""
        if self.is_there and self._pieces:
            self.save()

    @property
    def is_there(self) -> bool:
        """Whether the file has been written."""
        return self.path is not None and self.path.exists()

    # Pieces.

    def find(self, name: str) -> Piece | None:
        """Return a finished piece."""
        piece = self._pieces.get(name)
        if piece is not None:
            self.unused.discard(name)
            if here.used is not None:
                here.used.append(name)
        elif here.used is not None and name not in self._inside:
            raise Missing
        return piece

    def add(self, name: str, piece: Piece) -> None:
        """Keep a finished piece in place of those inside it, and write the file if it is time."""
        with self._lock:
            self._drop(name)
            self._pieces[name] = piece
            self._inside.setdefault(piece.within, set()).add(name)
            if work_clock() >= self._next:
                self.save()

    def read(self, piece: Piece, kinds: Sequence[type], fits: Callable[[Any], Any] | None) -> Any:
        """Return the result of a finished piece."""
        with read_guard(self.path or "checkpoint", "a checkpoint"):
            result = restored(json.loads(piece.text), kinds)
            if fits is not None and not fits(result):
                raise FormatError("does not belong to this work; remove it to begin again.", path=self.path)
            return result

    def _drop(self, name: str) -> None:
        """Forget the pieces inside one."""
        for inner in self._inside.pop(name, ()):
            self._drop(inner)
            self._pieces.pop(inner, None)
            self.unused.discard(inner)

    # The file.

    def save(self) -> None:
        """Write all pieces."""
        assert self.path is not None
        with self._lock:
            began = work_clock()
            lines = (
                f"{name} {within or '-'} {seconds:.3f} {text}\n" for name, (within, seconds, text) in self._pieces.items()
            )
            body = "".join(lines)
            data, settings = self.identity
            head = {"gradus checkpoint": FORMAT, "version": __version__, "data": data, "settings": settings, "sum": _sum(body)}
            write_text_whole(self.path, f"{json.dumps(head)}\n{body}")
            absorbed, self._absorbed = self._absorbed, []
            _remove(absorbed)  # what they have is in this file now
            now = work_clock()
            self._next = now + min(max(SECONDS_PER_SAVE, (now - began) / SAVING), LONGEST)

    def remove(self) -> None:
        """Remove the file, and those of workers: the work is complete."""
        assert self.path is not None
        with self._lock:
            self._pieces.clear()
            _remove([self.path, *self._of_workers()])

    def _of_workers(self) -> list[Path]:
        """List the files that workers have left."""
        assert self.path is not None
        name, files = self.path.name, []
        with contextlib.suppress(OSError):
            for file in self.path.parent.iterdir():
                if file.name.startswith(name) and OF_WORKER.fullmatch(file.name[len(name) :]):
                    files.append(file)
        return sorted(files)

    def _read(self, path: Path) -> None:
        """Use the pieces of a file, after checking that it belongs to this work."""
        with read_guard(path, "a checkpoint"):
            first, _, body = read_text(path, LARGEST).partition("\n")
            head = json.loads(first) if first.startswith('{"gradus checkpoint"') else {"gradus checkpoint": None}
            if head["gradus checkpoint"] != FORMAT or head["sum"] != _sum(body):
                raise FormatError("is no checkpoint, or damaged; give another name, or remove it to begin again.", path=path)
            theirs = (head["version"], head["data"], head["settings"])
            own = (__version__, *self.identity)
            for what, here_is, there_is in zip(WHAT, own, theirs, strict=True):
                if here_is != there_is:
                    raise FormatError(
                        f"is the checkpoint of work with other {what}; remove it, or give another name.", path=path
                    )
            for line in body.splitlines():
                name, within, seconds, text = line.split(" ", 3)
                self.add(name, Piece("" if within == "-" else within, float(seconds), text))

    # Other processes.

    def parcel(self, number: int, used: list[str], seconds: float) -> Parcel:
        """Pack for a worker in another process what it needs of this checkpoint."""
        assert self.path is not None
        path = f"{self.path.absolute()}.{secrets.token_hex(4)}-{number}"
        return Parcel(path, self.identity, here.within, seconds, {name: self._pieces[name] for name in used})

    def take(self, parcel: Parcel, pieces: dict[str, Piece]) -> None:
        """Add what a worker has finished."""
        with self._lock:
            self._absorbed.append(Path(parcel.path))
            for name, piece in pieces.items():
                self.add(name, piece)


class Parcel(NamedTuple):
    """What a worker in another process gets of a checkpoint: where it may write, and what is finished of its work."""

    path: str
    identity: tuple[str, str]
    within: str
    seconds: float
    pieces: dict[str, Piece]

    def run(self, function: Callable[[Any], T], item: Any) -> tuple[T, dict[str, Piece]]:
        """Call a function, in the worker; returns also the pieces that were finished."""
        shared = Path(self.path).parent.is_dir()
        # There is a file if another worker has begun this and died.
        checkpoint = Checkpoint(self.path if shared else None, lambda: self.identity, SECONDS_PER_SAVE)
        checkpoint.began = self.seconds
        for name, piece in self.pieces.items():
            checkpoint.add(name, piece)
        here.checkpoint, here.within = checkpoint, self.within
        try:
            result = function(item)
        finally:
            here.checkpoint, here.within = None, ""
        return result, {name: piece for name, piece in checkpoint._pieces.items() if piece != self.pieces.get(name)}


def _remove(paths: list[Path]) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink()


def _sum(body: str) -> str:
    return hashlib.blake2b(body.encode(), digest_size=16).hexdigest()
