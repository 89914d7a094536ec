"""A search seen from outside: a line that moves on a terminal, plain lines in a pipe, and Ctrl-C."""

from __future__ import annotations

import signal
import sys
import time
from types import FrameType, TracebackType
from typing import Any

from gradus._search.cuda import BatchProgress
from gradus._search.front import Progress
from gradus._wording import counted

__all__ = ["Steps", "Watch"]

SECONDS_A_LINE = 5.0
SECONDS_A_REDRAW = 0.1
BAR_WIDTH = 30


class _Line:
    """Shows one changing line on standard error."""

    def __init__(self) -> None:
        self.moves = sys.stderr.isatty()
        self.next = time.monotonic() + (0.0 if self.moves else SECONDS_A_LINE)
        self.shown = False

    def due(self) -> bool:
        return time.monotonic() >= self.next

    def show(self, text: str) -> None:
        if self.moves:
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()
            self.next = time.monotonic() + SECONDS_A_REDRAW
            self.shown = True
        else:
            print(text, file=sys.stderr, flush=True)
            self.next = time.monotonic() + SECONDS_A_LINE

    def clear(self) -> None:
        if self.shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _bar(done: int, total: int) -> str:
    filled = BAR_WIDTH * done // max(total, 1)
    return "█" * filled + "░" * (BAR_WIDTH - filled)


class Watch:
    """Watches one search: give it to ``learn(callback=…)`` inside a ``with`` block.

    Ctrl-C while the search runs stops it with the best network so far; `stopped` tells. A second Ctrl-C, or one before
    the search has begun, ends the program as usual.

    Parameters
    ----------
    n_targets, attempts : int
        What is shown as "of how many".
    """

    def __init__(self, n_targets: int, attempts: int) -> None:
        self.n_targets, self.attempts = n_targets, attempts
        self.stopped = False
        self._line = _Line()
        self._begin = time.monotonic()
        self._running = False
        self._steps_before = 0
        self._before: Any = None

    def __enter__(self) -> Watch:
        self._before = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        signal.signal(signal.SIGINT, self._before)
        self._line.clear()

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self.stopped or not self._running:
            raise KeyboardInterrupt
        self.stopped = True

    def __call__(self, progress: Progress | BatchProgress) -> bool:
        """Show where the search stands; return whether it should stop."""
        if not self._running:
            # Compiling does not count as searching. On a CPU it comes before the first call; on a GPU calls come meanwhile.
            if not progress.total_steps:
                return False
            self._running, self._begin = True, time.monotonic()
            self._steps_before = progress.total_steps
        if self._line.due():
            self._line.show(self.describe(progress))
        return self.stopped

    def describe(self, progress: Progress | BatchProgress) -> str:
        """Say in one line where the search stands."""
        seconds = max(time.monotonic() - self._begin, 1e-3)
        speed = (progress.total_steps - self._steps_before) / seconds
        if isinstance(progress, BatchProgress):
            searches = counted(self.attempts, "search", "searches")
            return f"{searches} on the GPU, {progress.steps / 1e6:.1f} M steps, {speed / 1e6:.1f} M steps/s"
        parts = [f"attempt {progress.attempt + 1} of {self.attempts}"]
        parts += [f"restart {progress.restart}"] if progress.restart else []
        if progress.phase == "search":
            parts.append(f"{progress.first_wrong} of {counted(self.n_targets, 'target')} right so far")
        else:
            parts.append(f"all {counted(self.n_targets, 'target')} right, shrinking: {counted(progress.cost, 'gate')}")
        parts.append(f"{progress.total_steps / 1e6:.1f} M steps")
        parts += [f"{speed / 1e6:.1f} M steps/s"] if speed else []
        return ", ".join(parts)


class Steps:
    """Counts finished pieces of work: a line that moves on a terminal, a line every few seconds in a pipe.

    Parameters
    ----------
    what : str
        What is being done.
    total : int
        Pieces in all.
    """

    def __init__(self, what: str, total: int) -> None:
        self.what, self.total, self.done = what, total, 0
        self._line = _Line()

    def __call__(self) -> None:
        """Count one piece more."""
        self.set(self.done + 1, self.total)

    def set(self, done: int, total: int) -> None:
        """Say how many pieces are done, of how many."""
        self.done, self.total = done, total
        if self._line.due():
            bar = f" {_bar(done, total)}" if self._line.moves else ""
            self._line.show(f"{self.what}:{bar} {self.done} of {self.total}")

    def __enter__(self) -> Steps:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._line.clear()
