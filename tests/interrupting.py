"""Sends Ctrl-C after some work and measures the work done after it, in CPU time without that of the compiler."""

from __future__ import annotations

import contextlib
import functools
import gc
import inspect
import signal
import threading
import time
from typing import NamedTuple

import gradus
from gradus._core.kernels import compile as _compile
from gradus._core.kernels.clock import StoppableClock, clock_stopped


class WorkTime(StoppableClock):
    """CPU time of this process without that of the compiler, which may run first and which no limit counts."""

    def __init__(self, monkeypatch):
        super().__init__(time.process_time)
        monkeypatch.setattr(_compile, "clock_stopped", self.stopped)

    def __call__(self):
        return self.read()

    @contextlib.contextmanager
    def stopped(self):
        """Stand in for `clock_stopped`."""
        with super().stopped(), clock_stopped():
            yield


class Interrupted(NamedTuple):
    """The result of a call that was interrupted by Ctrl-C."""

    result: object
    """What the call returned; the class KeyboardInterrupt if it raised that."""
    after: float | None
    """CPU seconds after the signal was due; None if the call had ended before."""


def interrupted(call, seconds, work_time, waiting=20.0, number=signal.SIGINT):
    """Send Ctrl-C, or another signal, to this process after `seconds` of CPU time of a call, or after `waiting` seconds."""
    sent, over, ended, result = [], threading.Event(), None, None
    due, latest = work_time() + seconds, time.monotonic() + waiting

    def interrupt():
        while not over.wait(0.003):
            late = time.monotonic() > latest
            if work_time() >= due or late:
                sent.append(work_time() if late else due)
                signal.pthread_kill(threading.main_thread().ident, number)  # as a terminal does: the thread may be waiting
                return

    watcher = threading.Thread(target=interrupt, daemon=True)
    watcher.start()
    try:
        try:
            with _quiet_collector():
                result = call()
        finally:
            ended = work_time()
            over.set()
            watcher.join()  # a signal that comes too late is caught here
    except KeyboardInterrupt:
        result = KeyboardInterrupt
    return Interrupted(result, (ended or work_time()) - sent[0] if sent else None)


@contextlib.contextmanager
def _quiet_collector():
    """Keep the garbage collector from objects of other tests and their callbacks: a Ctrl-C during one of those is lost."""
    callbacks = gc.callbacks[:]
    gc.callbacks.clear()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.callbacks[:] = callbacks


def public_calls():
    """Names of all public functions, and of the public methods of public classes."""
    names = set(_calls_of(gradus))
    return names | {f"genes.{name}" for name in _calls_of(gradus.genes) if name not in names}


def _calls_of(door):
    for name in door.__all__:
        value = getattr(door, name)
        if inspect.ismodule(value):
            if value is not gradus.genes:
                yield from (f"{name}.{call}" for call in value.__all__ if inspect.isfunction(getattr(value, call)))
        elif inspect.isclass(value):
            members = inspect.getmembers(value, inspect.isroutine)
            yield from (f"{name}.{method}" for method, call in members if _is_ours(method, call))
        elif inspect.isfunction(value):
            yield name


def _is_ours(method, call):
    if isinstance(call, functools.cached_property):  # a routine for `inspect` since Python 3.15
        return False
    return not method.startswith("_") and (getattr(call, "__module__", None) or "").startswith("gradus")
