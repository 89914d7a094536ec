"""Numba compilation with a disk cache that can only save time, never cost an answer.

Plain ``njit(cache=True)`` fails where no folder can be written or a cached file is broken, and it looks only at the
time stamp of the file a kernel stands in, not at those of the pieces it calls. The cache here swallows both kinds of
failure and is keyed by a digest of all the source in the kernel's package.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, overload

import numba

__all__ = ["compiled", "inlined"]

F = TypeVar("F", bound=Callable[..., Any])


@functools.cache
def _source_digest(folder: Path) -> str:
    """Digest of every source file beside a kernel, where its pieces stand: any edit makes what was cached stale."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in [Path(__file__), Path(__file__).with_name("_intrinsics.py"), *sorted(folder.rglob("*.py"))]:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


class _ForgivingCache:
    """Numba's own cache, with every failure turned into a miss."""

    def __init__(self, cache: Any, source: Path) -> None:
        self._cache = cache
        self._cache._cache_file._source_stamp = _source_digest(source.parent)

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        try:
            return self._cache.load_overload(signature, target_context)
        except Exception:  # a broken file may fail in any way at all; compiling again is always right
            return None

    def save_overload(self, signature: Any, data: Any) -> None:
        try:
            self._cache.save_overload(signature, data)
        except Exception:  # a full or read-only disk costs the next process time, nothing else
            return

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)


@overload
def compiled(function: F) -> F: ...
@overload
def compiled(*, inline: str = ...) -> Callable[[F], F]: ...
def compiled(function: Any = None, **options: Any) -> Any:
    """Compile an entry point with Numba: no GIL, no bounds or zero-division checks, cached on disk."""
    if function is None:
        return lambda function: compiled(function, **options)
    dispatcher = numba.njit(nogil=True, error_model="numpy", **options)(function)
    try:
        dispatcher.enable_caching()
        dispatcher._cache = _ForgivingCache(dispatcher._cache, Path(function.__code__.co_filename))
    except (RuntimeError, OSError, AttributeError):
        pass  # no folder for the cache: compile in every process
    return dispatcher


def inlined(function: F) -> F:
    """Compile a piece of a kernel, to be called from compiled code only; LLVM inlines it."""
    piece: F = numba.njit(nogil=True, error_model="numpy", forceinline=True)(function)
    return piece
