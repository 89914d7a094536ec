"""Numba compilation with a disk cache that can only save time: any failure of the cache means compiling again.

Plain ``njit(cache=True)`` fails where no folder can be written, passes a damaged file to LLVM (which ends the process), looks
only at the time stamp of the file a kernel is in, and mixes up two processes that compile at once. The cache here has one
file per compiled signature, in a folder that belongs to the user alone. Files are written atomically, verified by a checksum
before they are loaded, and keyed by a digest of all source that kernels are made of.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
import pickle
import re
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.runtime import rtsys

from gradus._core.kernels.clock import clock_stopped
from gradus.errors import SettingsError

__all__ = ["compiled", "inlined", "uncounted"]

F = TypeVar("F", bound=Callable[..., Any])
DIGEST_BYTES = 32
UNUSED_SECONDS = 30 * 86_400.0
ROOT = Path(__file__).parents[3]
IMPORT = re.compile(r"^from (gradus\.[\w.]+) import", re.MULTILINE)


@functools.cache
def _source_digest(file: Path) -> str:
    """Digest of all source that a kernel in this file can be made of: any edit invalidates the cache."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in _sources(file):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _sources(file: Path) -> list[Path]:
    """List a file, this one, and all files of ours that they import at the top: what a kernel calls or reads."""
    # Of a package that is imported by its own name, every module counts, because any of them may be what is meant.
    sources, waiting = set(), [file, Path(__file__)]
    while waiting:
        path = waiting.pop()
        if path not in sources:
            sources.add(path)
            for module in IMPORT.findall(path.read_text(encoding="utf-8")):
                target = ROOT.joinpath(*module.split("."))
                waiting += target.glob("*.py") if target.is_dir() else target.parent.glob(f"{target.name}.py")
    return sorted(sources)


@functools.cache
def _cache_folder() -> Path | None:
    """Return the folder for compiled kernels, private to the user; None if it cannot be made or trusted."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    try:
        base = Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        folder = base / "gradus-kernels"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        link = folder.lstat()
        folder = folder.resolve(strict=True)  # a link may lead elsewhere later
        about = folder.stat()
    except (OSError, RuntimeError):  # no home, no space, not a folder
        return None
    # Cached code is executed, so a folder that another user can write to, or has linked to, is not used.
    if hasattr(os, "geteuid") and (
        {link.st_uid, about.st_uid} != {os.geteuid()} or about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    ):
        return None
    return folder


class _KernelFiles:
    """Compiled code of one function: a file per signature, its checksum in front."""

    def __init__(self, folder: Path, base: str, stamp: str) -> None:
        self.folder, self.base, self.stamp = folder, base, stamp

    def _path(self, key: Any) -> Path:
        return self.folder / f"{self.base}.{self.stamp}.{hashlib.sha256(repr(key).encode()).hexdigest()[:20]}.nbc"

    def load(self, key: Any) -> Any:
        path = self._path(key)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        payload = content[DIGEST_BYTES:]
        if hashlib.sha256(payload).digest() != content[:DIGEST_BYTES]:
            path.unlink(missing_ok=True)  # damaged: compile again
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # it is in use
        return pickle.loads(payload)  # our own file, in a folder that only this user can write to

    def save(self, key: Any, data: Any) -> None:
        payload = pickle.dumps(data, protocol=pickle.HIGHEST_PROTOCOL)
        path = self._path(key)
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        try:
            temporary.write_bytes(hashlib.sha256(payload).digest() + payload)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
        self._remove_unused()

    def _remove_unused(self) -> None:
        """Remove code that has not been loaded for weeks, of any version: several may be in use side by side."""
        for path in self.folder.glob(f"{self.base}.*.nbc"):
            if time.time() - path.stat().st_mtime > UNUSED_SECONDS:
                path.unlink(missing_ok=True)

    def flush(self) -> None:
        for path in self.folder.glob(f"{self.base}.{self.stamp}.*.nbc"):
            path.unlink(missing_ok=True)


class _ForgivingCache:
    """Numba's own cache over `_KernelFiles`, with every failure turned into a miss."""

    def __init__(self, cache: Any, folder: Path, source: Path) -> None:
        self._cache = cache
        package = source.parent.name
        cache._impl.locator.ensure_cache_path = lambda: None  # Numba would make and test a folder of its own
        cache._cache_file = _KernelFiles(folder, f"{package}-{cache._impl.filename_base}", _source_digest(source))

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        # Numba's own call would first load all that compiling needs (and scipy.linalg): a quarter of a warm first call.
        found, load = None, getattr(self._cache, "_load_overload", self._cache.load_overload)
        with contextlib.suppress(Exception):  # loading may fail in any way; compiling again is always right
            rtsys.initialize(target_context)
            found = load(signature, target_context)
        if found is None:
            _announce_compilation()
        return found

    def save_overload(self, signature: Any, data: Any) -> None:
        with contextlib.suppress(Exception):  # a full or read-only disk costs the next process time, nothing else
            self._cache.save_overload(signature, data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)


@functools.cache
def _announce_compilation() -> None:
    """Tell the user why it takes long, once per process; without a logging handler, Python prints it on standard error."""
    logging.getLogger("gradus").warning(
        "Gradus is compiling its kernels for this machine; this may take a minute, and happens once."
    )


def _untimed_and_interruptible(compile_: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Stop the clock of time limits while a kernel is compiled or loaded from the cache, and keep Ctrl-C working."""

    @functools.wraps(compile_)
    def compile_signature(signature: Any) -> Any:
        with clock_stopped(), _ctrl_c_kept():
            return compile_(signature)

    return compile_signature


@contextlib.contextmanager
def _ctrl_c_kept() -> Iterator[None]:
    """Raise `KeyboardInterrupt` at the end if it was lost meanwhile."""
    # LLVM calls Python functions, and finalizers run; no exception can leave those, so Python only reports it. Without this, a
    # fifth of all Ctrl-Cs while a kernel was compiled had no effect.
    if threading.current_thread() is not threading.main_thread():  # only the main thread gets Ctrl-C
        yield
        return
    report, lost = sys.unraisablehook, False

    def keep(about: Any) -> None:
        nonlocal lost
        if isinstance(about.exc_value, KeyboardInterrupt):
            lost = True
        else:
            report(about)

    sys.unraisablehook = keep
    try:
        yield
    finally:
        sys.unraisablehook = report
    if lost:
        raise KeyboardInterrupt


def _njit(function: F, **options: Any) -> Any:
    """Compile a function with Numba, without the GIL, zero-division checks and an entry for C."""
    # Where the compiler is switched off, the kernel raises: it uses machine instructions that Python cannot name.
    if not numba.config.DISABLE_JIT:
        return numba.njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True, **options)(function)

    @functools.wraps(function)
    def refuse(*_: Any, **__: Any) -> Any:
        raise SettingsError("NUMBA_DISABLE_JIT is set, and Gradus' kernels cannot run without the compiler; unset it.")

    return refuse


def compiled(function: F) -> F:
    """Compile an entry point of a kernel, cached on disk."""
    dispatcher = _njit(function)
    if numba.config.DISABLE_JIT:
        return cast(F, dispatcher)
    dispatcher.compile = _untimed_and_interruptible(dispatcher.compile)
    folder = _cache_folder()
    if folder is not None:
        try:
            dispatcher.enable_caching()
            dispatcher._cache = _ForgivingCache(dispatcher._cache, folder, Path(function.__code__.co_filename))
        except (RuntimeError, OSError, AttributeError):
            pass  # another Numba: compile in every process
    return cast(F, dispatcher)


def inlined(function: F) -> F:
    """Compile a piece of a kernel, to be called from compiled code only; LLVM inlines it."""
    return _piece(function)


def uncounted(function: F) -> F:
    """Compile a piece of a kernel as `inlined` does, for pieces that make no array and return none."""
    # References to arrays are not counted in them. Numba would do so wherever a tuple of arrays is passed, which took a third
    # of the time of the lessons' kernel.
    return _piece(function, _nrt=False)


class _PieceLibrary(JITCodeLibrary):  # type: ignore[misc]  # Numba has no types
    """Code of a piece as Numba wrote it: LLVM improves and emits it in the kernels that it becomes part of, nowhere else."""

    # This and `by_reference` took the first call from 15 to 9 seconds. A Numba that does not ask for these compiles as ever.

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0

    @property
    def codegen(self) -> Any:
        return self  # for `set_env`: what was not emitted has no place for an environment

    def set_env(self, name: str, environment: Any) -> None:
        pass


class _PieceCompiler(Compiler):  # type: ignore[misc]
    def __init__(self, typing: Any, target: Any, library: Any, *others: Any) -> None:
        super().__init__(typing, target, library or _PieceLibrary(target.codegen(), "piece"), *others)


def _piece(function: F, **options: Any) -> F:
    """Compile a piece without a wrapper for Python, which unpacks every array and took a quarter of the first call."""
    dispatcher = _njit(function, forceinline=True, no_cpython_wrapper=True, pipeline_class=_PieceCompiler, **options)

    def refuse(*_: Any, **__: Any) -> Any:
        raise TypeError(f"{function.__name__} is a piece of a kernel: only compiled code can call it.")

    if not numba.config.DISABLE_JIT:  # Numba would call the missing wrapper, which ends the process
        dispatcher._insert, dispatcher._compile_for_args = (lambda *_: None), refuse
    return cast(F, dispatcher)
