"""Progress of long work: a line that moves on a terminal, plain lines in a pipe; and Ctrl-C and SIGTERM, which stop it."""

from __future__ import annotations

import contextlib
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import FrameType, TracebackType

from gradus._cli.console import printable
from gradus._core.kernels.clock import is_stopped
from gradus._core.run import Progress

__all__ = ["Steps", "Terminated", "Watch", "received", "shortened_line", "signals_handled"]

SECONDS_PER_LINE = 5.0
SECONDS_PER_REDRAW = 0.1
BAR_WIDTH = 30
SIGNALS = (signal.SIGINT, signal.SIGTERM)
received: list[int] = []
"""The signals that this command line has received, which decide its exit code."""


class _Line:
    """Shows one changing line on standard error."""

    def __init__(self) -> None:
        self.moves = sys.stderr.isatty()
        self.next = time.monotonic() + (0.0 if self.moves else SECONDS_PER_LINE)
        self.shown = False

    def due(self) -> bool:
        return time.monotonic() >= self.next

    def show(self, text: str) -> None:
        text = printable(text)
        if self.moves:
            room = shutil.get_terminal_size().columns - 1  # a line that wraps could not be taken back
            sys.stderr.write(f"\r\x1b[K{shortened_line(text, room)}")
            sys.stderr.flush()
            self.next = time.monotonic() + SECONDS_PER_REDRAW
            self.shown = True
        else:
            print(text, file=sys.stderr, flush=True)
            self.next = time.monotonic() + SECONDS_PER_LINE

    def clear(self) -> None:
        if self.shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def shortened_line(text: str, room: int) -> str:
    """Cut a line to its room, but keep what follows its last comma: the time left."""
    if len(text) <= room:
        return text
    head, _, tail = text.rpartition(", ")
    left = room - len(tail) - 3
    return f"{head[:left]}…, {tail}" if left > 0 else f"{text[: room - 1]}…"


class Terminated(KeyboardInterrupt):
    """SIGTERM, which ends work as Ctrl-C does."""


def _raise(number: int, frame: FrameType | None) -> None:
    """End at once what is running."""
    received.append(number)
    raise Terminated if number == signal.SIGTERM else KeyboardInterrupt


@contextlib.contextmanager
def signals_handled(handle: Callable[[int, FrameType | None], None] = _raise) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM call a function; if none is given, both interrupt whatever is running."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread may choose who gets signals
        yield
        return
    before = list(map(signal.signal, SIGNALS, [handle] * len(SIGNALS)))
    try:
        yield
    finally:
        for number, handler in zip(SIGNALS, before, strict=True):
            signal.signal(number, handler)


class Watch:
    """Shows how learning proceeds: give it to ``learn(callback=…)`` inside a ``with`` block.

    Ctrl-C or SIGTERM while learning stops it with the best circuit so far, and sets `stopped`. A second one, one before
    learning has begun, or one while kernels are compiled, when nobody asks whether to stop, interrupts as usual.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self.stopped = False
        self._line = _Line()
        self._running = False
        self._handling = contextlib.ExitStack()

    def __enter__(self) -> Watch:
        self._handling.enter_context(signals_handled(self._stop))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._handling.close()
        self._line.clear()

    def _stop(self, number: int, frame: FrameType | None) -> None:
        at_once = self.stopped or not self._running or is_stopped()
        self.stopped = self._running
        if at_once:
            _raise(number, frame)
        received.append(number)

    def __call__(self, progress: Progress) -> bool:
        """Show how far learning is; return whether it should stop."""
        self._running = True
        if self._line.due():
            self._line.show(progress.describe(self.names))
        return self.stopped


class Steps:
    """Counts finished parts of some work: a line that moves on a terminal, a line every few seconds in a pipe."""

    def __init__(self, what: str, total: int) -> None:
        self.what, self.total, self.done = what, total, 0
        self._line = _Line()

    def __call__(self) -> None:
        """Count one more part."""
        self.set(self.done + 1, self.total)

    def set(self, done: int, total: int) -> None:
        """Show how many parts are done, of how many."""
        self.done, self.total = done, total
        if self._line.due():
            filled = BAR_WIDTH * done // max(total, 1)
            bar = f" {'█' * filled}{'░' * (BAR_WIDTH - filled)}" if self._line.moves else ""
            self._line.show(f"{self.what}:{bar} {self.done} of {self.total}")

    def __enter__(self) -> Steps:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._line.clear()
