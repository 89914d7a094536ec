"""`Run`: limits, reports and stops long work, and spreads it over threads; `Progress`: what it reports."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar, cast

from gradus._core.checkpoint import Checkpoint, Missing, Parcel, Piece, here
from gradus._core.kernels.clock import work_clock
from gradus._core.plain import plain
from gradus._core.wording import counted

__all__ = ["Callback", "Pace", "Progress", "Run", "Stopped"]

T = TypeVar("T")
R = TypeVar("R")
SECONDS_PER_SLICE = 0.04  # long enough that the interpreter costs nothing, short enough for Ctrl-C
SECONDS_PER_REPORT = 0.1
SECONDS_PER_POLL = 0.05
SECONDS_TO_LEAVE = 0.2  # after a stop, for workers in other processes, before they are ended
STAGES = {"teach": "learning", "minimise": "minimising"}
"""Stages by the words of progress lines."""
GRACE = 0.2  # seconds after a time limit in which a first, greedy answer may still be completed


@dataclass(frozen=True, kw_only=True)
class Progress:
    """State of a long computation.

    Attributes
    ----------
    stage : str
        What is being done: "search", "sets", "teach", "minimise", "jobs", ...
    done, total : int, int or None
        Parts finished and parts in all (targets, lessons or jobs, depending on the stage); None if unknown.
    steps : int
        Steps of a search taken so far.
    restart : int
        How many times the search has started again.
    target : int or None
        Column of the target that is being worked on.
    cost : int or None
        The integer cost that a search minimises.
    errors, gates, bits : int or None
        Examples still wrong, gates of the circuit so far, and the length of the description of both.
    eta : float or None
        Seconds left, if known.
    detail : str
        Further information in a few words.

    Examples
    --------
    >>> Progress(stage="teach", done=2, total=6, errors=3).fraction
    0.3333333333333333
    """

    stage: str
    done: int = 0
    total: int | None = None
    steps: int = 0
    restart: int = 0
    target: int | None = None
    cost: int | None = None
    errors: int | None = None
    gates: int | None = None
    bits: int | None = None
    eta: float | None = None
    detail: str = ""

    @property
    def fraction(self) -> float | None:
        """Share of the parts that are finished; None if their number is not known."""
        return self.done / self.total if self.total else None

    def describe(self, names: Sequence[str] = ()) -> str:
        """Describe the state in one line, with these names for the targets.

        Examples
        --------
        >>> Progress(stage="teach", done=1, total=3, target=2, errors=4, gates=7, eta=12.3).describe(["a", "b", "c"])
        'learning: 1 of 3 targets, c, 4 errors, 7 gates, about 12 s left'
        >>> Progress(stage="teach", total=1, errors=0, gates=0, detail="circuit 7 of 25").describe()
        'learning: circuit 7 of 25'
        """
        place, comma, stage = self.stage.rpartition(", ")
        what = " targets" if stage == "teach" else ""
        parts = [f"{self.done:,} of {self.total:,}{what}" if self.total else f"{self.done:,} done"]
        parts = [] if self.total == 1 else parts
        if self.target is not None:
            parts.append(names[self.target] if self.target < len(names) else f"target {self.target}")
        if self.done or self.errors or self.gates:  # before anything is learned there is nothing to count
            parts += [counted(self.errors, "error")] if self.errors is not None else []
            parts += [counted(self.gates, "gate")] if self.gates is not None else []
            parts += [counted(self.bits, "bit")] if self.bits is not None else []
        parts += [self.detail] if self.detail else []
        parts += [f"about {self.eta:.0f} s left"] if self.eta is not None else []
        said = f"{place}{comma}{STAGES.get(stage, stage)}"
        return f"{said}: {', '.join(parts)}" if parts else said


Callback: TypeAlias = Callable[[Progress], Any]
"""Called several times a second; returning True stops the work and keeps the best so far."""


class Stopped(Exception):  # noqa: N818 - not an error: the caller returns the best so far
    """Raised by `Run.check` once the work should stop."""


class Run:
    """Limits, reports and stops long work, all of it or a part, and spreads it over threads, processes or machines.

    Every thread may ask whether to `stop`; only the one that made the run calls the callback. In another process a run is a
    new one with the time that is left.

    Attributes
    ----------
    n_jobs : int
        Threads, or workers of the joblib backend that the caller has configured.
    stopped : str or None
        What has stopped the work: "time_limit", "callback", "interrupted" or "error".
    """

    def __init__(
        self,
        time_limit: float | None = None,
        callback: Callback | None = None,
        *,
        n_jobs: int = 1,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self.n_jobs = n_jobs
        self._begin, self._skipped = work_clock(), 0.0
        self._end = math.inf if time_limit is None else self._begin + time_limit
        self._grace_end = self._end + GRACE
        self._callback, self._checkpoint = callback, checkpoint
        self._next_report = self._begin
        self._owner = threading.get_ident()
        self._stopped: str | None = None
        self._latest: Progress | None = None
        self._share = self._expected = 0.0
        self._parts: list[tuple[float, Run]] = []
        self._whole: Run | None = None
        self._describe: Callable[[Progress], Progress] | None = None

    def __reduce__(self) -> tuple[type[Run], tuple[float | None]]:
        return Run, (self.seconds_left(),)

    @property
    def stopped(self) -> str | None:
        """What has stopped the work, or the whole that it is a part of."""
        return self._stopped or (None if self._whole is None else self._whole.stopped)

    def seconds_left(self) -> float | None:
        """Return the seconds until the time limit; None if there is none."""
        return None if self._end == math.inf else max(0.0, self._end - self._now())

    def part(
        self, *, seconds: float | None = None, weight: float = 0.0, describe: Callable[[Progress], Progress] | None = None
    ) -> Run:
        """Return the run of a part of the work, which stops with the whole and may have a time limit of its own."""
        # `weight` is the part's share of what `expect` announces; `describe` turns its progress into that of the whole.
        part = Run(n_jobs=self.n_jobs)
        part._owner, part._whole, part._describe = self._owner, self, describe
        part._begin = part._now()
        part._end = min(self._end, math.inf if seconds is None else part._begin + seconds)
        part._grace_end = self._grace_end if self._end < math.inf else part._end + GRACE
        if weight:
            self._parts.append((weight, part))
        return part

    def expect(self, weight: float) -> None:
        """Announce the weight of all parts together, from which the time left is estimated."""
        self._expected = weight

    def complete(self) -> None:
        """Note that this part of the work is done."""
        self._share, self._expected = 1.0, 0.0

    def stop(self, progress: Progress | None = None, *, share: float | None = None, grace: bool = False) -> bool:
        """Note the progress, report it if a report is due, and return whether to stop; with `grace`, a moment later."""
        # `share` is how much of this run is done, where the fraction of the progress does not say it.
        if progress is not None:
            self._note(progress, share)
        self._check()
        reason = self.stopped
        return reason is not None and not (grace and reason == "time_limit" and self._now() < self._grace_end)

    def check(self, progress: Progress | None = None, *, grace: bool = False) -> None:
        """Raise `Stopped` where `stop` would return True."""
        if self.stop(progress, grace=grace):
            raise Stopped

    def interrupt(self) -> None:
        """Stop the whole because of Ctrl-C."""
        self._top._stopped = "interrupted"

    def recall(
        self, key: Callable[[], str], work: Callable[[], T], kinds: Sequence[type] = (), fits: Callable[[T], Any] | None = None
    ) -> T:
        """Return the result of a piece of work from the checkpoint; otherwise do it, and keep the result there."""
        # `key` is a digest of all that it depends on, `kinds` are the named tuples that it may hold, and `fits` says whether
        # a result is one that it can have: files may come from elsewhere.
        checkpoint = here.checkpoint or self._top._checkpoint
        if checkpoint is None:
            return work()
        name, outer = key(), here.within
        piece = checkpoint.find(name)
        if piece is not None:
            self._top._skip_to(piece.seconds - checkpoint.began)
            return cast("T", checkpoint.read(piece, kinds, fits))
        here.within = name
        try:
            result = work()
        finally:
            here.within = outer
        if self.stopped is None:
            checkpoint.add(name, Piece(outer, self._top.seconds() + checkpoint.began, json.dumps(plain(result))))
        return result

    def seconds(self) -> float:
        """Return how long the work has taken, including the time before it was interrupted."""
        return self._now() - self._begin

    def _skip_to(self, seconds: float) -> None:
        """Count the time that a piece took when it was done."""
        self._skipped += max(0.0, seconds - self.seconds())

    def _now(self) -> float:
        return work_clock() + self._top._skipped

    def slices(self, total: int, *, first: int = 1 << 10, grace: bool = False) -> Iterator[tuple[int, int]]:
        """Cut `range(total)` into pieces that take about 40 ms each, and check between them."""
        begin, pace = 0, Pace(first)
        while begin < total:
            end = min(total, begin + pace.length)
            yield begin, end
            pace.took(end - begin)
            begin = end
            if begin < total:
                self.check(grace=grace)
                pace.restart()

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """Apply a function to every item, in threads or where joblib was told to; results are in the order of the items."""
        # After a stop, threads end early with what they have. Workers elsewhere are not notified: what they have not returned
        # is None, and they may finish it unread.
        if self.n_jobs == 1 or len(items) < 2 or threading.get_ident() != self._owner or here.used is not None:
            return list(map(function, items))
        crew = _Crew(self, function, items)
        while not crew.ended.is_set():
            try:
                if crew.ended.wait(SECONDS_PER_POLL):
                    break
                if self.stop() and not crew.shares_memory:
                    crew.leave()
                    break
            except KeyboardInterrupt:
                self.interrupt()
            except BaseException:  # raised by the callback: let the threads end first
                self._top._stopped = "error"
                crew.leave()
                raise
        if crew.error is not None and not crew.left:  # workers ended on purpose are no error
            raise crew.error
        return crew.results

    @property
    def _top(self) -> Run:
        """The run of the whole."""
        return self if self._whole is None else self._whole._top

    def _note(self, progress: Progress, share: float | None) -> None:
        """Keep the latest progress for the next report, also for the whole."""
        # A share that is given may become smaller, when more work turns up.
        self._share = share if share is not None else max(self._share, progress.fraction or 0.0)
        self._latest = progress
        if self._whole is not None:
            whole = self._whole
            whole._note(progress if self._describe is None else self._describe(progress), whole._done())

    def _done(self) -> float:
        """Return the share of the work that is done."""
        if not self._expected:
            return self._share
        done = 0.0
        for weight, part in self._parts:
            done += weight * part._done()
        return min(1.0, done / self._expected)

    def _check(self) -> None:
        """Look at the clock, and let the owner of the whole report."""
        if self._stopped is None and self._now() >= self._end:
            self._stopped = "time_limit"
        if self._whole is not None:
            self._whole._check()
        elif self._callback is not None and threading.get_ident() == self._owner and self._stopped is None:
            now = self._now()
            if self._latest is not None and now >= self._next_report:
                self._next_report = now + SECONDS_PER_REPORT
                done, progress = self._done(), self._latest
                if self._expected and done:  # parts were announced
                    left = (now - self._begin) * (1 - done) / done
                    progress = replace(progress, eta=min(left, self._end - now))
                if self._callback(progress) is True:
                    self._stopped = "callback"


class Pace:
    """The length of the next compiled call, so that each takes about 40 ms; it must not affect any result."""

    def __init__(self, first: int) -> None:
        self.length = max(first, 1)
        self.restart()

    def restart(self) -> None:
        """Begin a call."""
        self._began = work_clock()

    def took(self, done: int) -> None:
        """Choose the length of the next call from how much the last one did, and begin it."""
        if done:
            elapsed = max(work_clock() - self._began, 1e-6)
            self.length = max(1, int(min(done * SECONDS_PER_SLICE / elapsed, 8 * self.length)))
        self.restart()


class _Crew:
    """The workers of one `Run.map`; joblib is asked in a thread of its own, so that the caller can report and stop."""

    def __init__(self, run: Run, function: Callable[[Any], Any], items: Sequence[Any]) -> None:
        from joblib.parallel import get_active_backend

        self.run, self.function, self.items = run, function, items
        self.results: list[Any] = [None] * len(items)
        self.error: BaseException | None = None
        self.left = False
        self.ended = threading.Event()
        # What `joblib.parallel_config` says holds in the caller's thread alone.
        self.backend = get_active_backend(prefer="threads")[0]
        self.shares_memory = bool(getattr(self.backend, "supports_sharedmem", False))
        self.waiting: list[tuple[int, Any, Any]] = [(number, item, here.within) for number, item in enumerate(items)]
        self.checkpoint = None if self.shares_memory else run._top._checkpoint
        if self.checkpoint is not None:
            self.waiting = list(self._rehearsed(self.checkpoint))
        threading.Thread(target=self._work, name="gradus-map", daemon=True).start()

    def _work(self) -> None:
        from joblib import Parallel, delayed

        try:
            n_jobs = max(1, min(self.run.n_jobs, len(self.waiting)))
            parallel = Parallel(n_jobs, backend=self.backend, return_as="generator_unordered", batch_size=1)
            parcels = {number: parcel for number, _, parcel in self.waiting}
            for number, result, pieces in parallel(delayed(_done)(self.function, *entry) for entry in self._waiting()):
                self.results[number] = result
                if self.checkpoint is not None:
                    self.checkpoint.take(parcels[number], pieces)
        except KeyboardInterrupt:  # Ctrl-C at a terminal reaches workers in other processes too
            self.run.interrupt()
        except BaseException as error:
            self.error = error
            self.run._top._stopped = self.run.stopped or "error"  # the other threads need not finish
        finally:
            self.ended.set()

    def leave(self) -> None:
        """Wait for threads, which see the stop themselves; other workers are ended, since nobody would use their results."""
        if not self.ended.wait(None if self.shares_memory else SECONDS_TO_LEAVE):
            self.left = True
            with suppress(Exception):  # workers that had not been started yet, or have just ended
                self.backend.abort_everything(ensure_ready=False)

    def _waiting(self) -> Iterator[tuple[int, Any, Any]]:
        """List what is still to be done; nothing more is sent away after a stop."""
        for entry in self.waiting:
            if self.shares_memory or self.run.stopped is None:
                yield entry

    def _rehearsed(self, checkpoint: Checkpoint) -> Iterator[tuple[int, Any, Parcel]]:
        """Take what the checkpoint has of each item, and list those that are not complete, with what their workers need."""
        for number, item in enumerate(self.items):
            here.used = []
            try:
                if checkpoint.unused:
                    self.results[number] = self.function(item)
                    continue
            except Missing:
                pass
            finally:
                used, here.used = here.used, None
            yield number, item, checkpoint.parcel(number, used, self.run._top.seconds())


def _done(function: Callable[[Any], Any], number: int, item: Any, parcel: Parcel | str) -> tuple[int, Any, dict[str, Piece]]:
    """Call a function in a worker, in the place of the caller's thread or with a part of its checkpoint."""
    if not isinstance(parcel, str):
        return number, *parcel.run(function, item)
    before, here.within = here.within, parcel
    try:
        return number, function(item), {}
    finally:
        here.within = before
