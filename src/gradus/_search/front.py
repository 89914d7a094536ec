"""The functions that run a search, or go on with one that was left: attempts, restarts, shrinking, time, progress."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gradus._bits import BoolMatrix
from gradus._search.checkpoint import Checkpoint
from gradus._search.settings import Settings
from gradus._search.structures import Objective
from gradus._search.workspace import Workspace

__all__ = ["Outcome", "Progress", "attempt_seeds", "resume", "run_search"]

SECONDS_A_CALL = 0.04
FIRST_CALL_STEPS = 4096
FIRST_CALL_WORDS = 1 << 24
"""Words of values that the first call may recompute at most, so that it is short on the largest networks too."""


@dataclass(frozen=True)
class Progress:
    """Where a search stands.

    Attributes
    ----------
    attempt, restart : int
        Counted from 0.
    phase : {"search", "shrink"}
    step : int
        Steps taken in this phase since the last restart.
    cost : int
        The integer cost, or while shrinking the number of live gates.
    first_wrong : int
        Position in the order of the first target that is not right yet; the number of targets if all are.
    total_steps : int
        Steps taken in all.
    """

    attempt: int
    restart: int
    phase: Literal["search", "shrink"]
    step: int
    cost: int
    first_wrong: int
    total_steps: int


Callback = Callable[[Progress], Any]
"""Is called every few hundredths of a second; returning True stops the search and keeps the best network so far."""


@dataclass(frozen=True)
class Outcome:
    """What a search found, targets in the order they were given."""

    sources: npt.NDArray[np.int64]
    cost: int
    iterations: int
    """Steps to zero error, or in all if it was not reached; steps of shrinking are not among them."""
    restarts: int
    live_gates: int
    stopped: bool
    """Whether the time limit or the watcher ended the search."""

    @property
    def converged(self) -> bool:
        """Whether every example is right."""
        return self.cost == 0


class _Stop(Exception):  # noqa: N818  not an error
    """The time limit has passed or the watcher asked to stop."""


class _Clock:
    """Splits a long run into calls short enough to be interrupted; has no say in what is found."""

    def __init__(self, time_limit: float | None, callback: Callback | None, words_a_step: int) -> None:
        self.deadline = None if time_limit is None else time.monotonic() + time_limit
        self.callback = callback
        self.steps = max(1, min(FIRST_CALL_STEPS, FIRST_CALL_WORDS // words_a_step))
        self.total_steps = 0

    def run(self, call: Callable[[int], int], at_most: int) -> int:
        """Make one call of the kernel, and choose the length of the next."""
        begin = time.monotonic()
        taken = call(min(self.steps, at_most))
        elapsed = time.monotonic() - begin
        if taken:
            wanted = taken * SECONDS_A_CALL / max(elapsed, 1e-9)
            self.steps = max(1, int(min(wanted, 8.0 * self.steps)))
        self.total_steps += taken
        return taken

    def check(self, progress: Callable[[], Progress]) -> None:
        """Raise `_Stop` if the time is up or the watcher says so."""
        if self.callback is not None and self.callback(progress()) is True:
            raise _Stop
        if self.deadline is not None and time.monotonic() >= self.deadline:
            raise _Stop


def attempt_seeds(seed: int, attempts: int) -> npt.NDArray[np.uint64]:
    """Return the two words that each attempt's generator starts from, shape (attempts, 2).

    The first attempts of a longer row are those of a shorter one.

    Examples
    --------
    >>> bool((attempt_seeds(7, 3)[:1] == attempt_seeds(7, 1)).all())
    True
    """
    children = np.random.SeedSequence(seed).spawn(attempts)
    words = np.array([child.generate_state(2, np.uint64) for child in children])
    # The one state the generator cannot leave; with 128 bits nobody will ever see it.
    words[(words == 0).all(axis=1)] = 1
    return words


def run_search(
    X: BoolMatrix,
    Y: BoolMatrix,
    settings: Settings,
    seed: int,
    *,
    callback: Callback | None = None,
    objective: Objective | None = None,
) -> Outcome:
    """Search for a network that maps X to Y, the columns of Y being in curriculum order.

    Parameters
    ----------
    X, Y : ndarray of bool, shapes (n, l) and (n, m)
    settings : Settings
    seed : int
        With the data and the settings it determines the result.
    callback : callable, optional
        Gets a `Progress` every few hundredths of a second; if it returns True, the search stops with the best so far.
    objective : Objective, optional
        What to minimise instead of ``settings.loss``.

    Returns
    -------
    Outcome
    """
    work = Workspace(X, Y, settings, objective)
    run = _Run(work, _Clock(settings.time_limit, callback, len(work.state.values)))
    found: list[Outcome] = []
    for attempt, words in enumerate(attempt_seeds(seed, settings.attempts)):
        found.append(run.attempt(attempt, words))
        if found[-1].stopped:
            break
    best = min(found, key=lambda one: (one.cost, one.live_gates if one.converged else 0))
    stopped = found[-1].stopped
    return best if best.stopped == stopped else Outcome(**{**vars(best), "stopped": stopped})


def resume(
    X: BoolMatrix, Y: BoolMatrix, settings: Settings, since: Checkpoint, *, callback: Callback | None = None
) -> tuple[Outcome, Checkpoint | None]:
    """Bring one attempt of a search to its end from where it was left.

    Parameters
    ----------
    X, Y, settings
        Those that the search began with; a time limit is counted anew.
    since : Checkpoint
        Where it was left, by this function or by a GPU.
    callback : callable, optional
        As for `run_search`.

    Returns
    -------
    found : Outcome
        What the attempt would have found had it never been left.
    checkpoint : Checkpoint or None
        If it was stopped again: where.
    """
    work = Workspace(X, Y, settings)
    run = _Run(work, _Clock(settings.time_limit, callback, len(work.state.values)))
    found = run.resume(since)
    return found, run.left if found.stopped else None


class _Run:
    """The attempts of one search, watched by one clock."""

    def __init__(self, work: Workspace, clock: _Clock) -> None:
        self.work, self.clock, self.settings = work, clock, work.settings
        self.left: Checkpoint | None = None
        """Where the last attempt was stopped."""

    def attempt(self, attempt: int, seed_words: npt.NDArray[np.uint64]) -> Outcome:
        """Search from a fresh generator, then shrink what was found if that is asked for."""
        self.work.seed(seed_words)
        self.work.start()
        return self._search_and_shrink(attempt, 0, 0)

    def resume(self, since: Checkpoint) -> Outcome:
        """Bring an attempt to its end."""
        self.work.restore_search(since)
        if since.shrinking:
            return self._shrink(0, since.iterations, since.restart)
        return self._search_and_shrink(0, since.iterations, since.restart)

    def _search_and_shrink(self, attempt: int, iterations: int, restart: int) -> Outcome:
        found = self._search(attempt, iterations, restart)
        if found.converged and self.settings.shrink and not found.stopped:
            self.work.start_shrinking()
            found = self._shrink(attempt, found.iterations, found.restarts)
        return found

    def _search(self, attempt: int, iterations: int, restart: int) -> Outcome:
        """Search until zero error, the last restart, or a stop; `iterations` were taken before this restart."""
        work, limit, stopped = self.work, self.settings.max_iter, False
        try:
            while True:
                while work.cost and work.step < limit:
                    self.clock.run(work.descend, limit - work.step)
                    self.clock.check(lambda: self._progress(attempt, restart, "search"))  # noqa: B023  called at once
                if not work.cost or restart == self.settings.n_restarts:
                    break
                iterations += work.step
                restart += 1
                work.start()
        except _Stop:
            # The last steps before the stop may have reached zero after all.
            stopped = work.best_cost > 0
            self.left = work.leave(shrinking=False, iterations=iterations, restart=restart)
        return self._found(work.best_cost, iterations + work.step, restart, stopped)

    def _shrink(self, attempt: int, iterations: int, restart: int) -> Outcome:
        """Look for a smaller network until all steps of shrinking are taken, or a stop."""
        work, limit = self.work, self.settings.shrink
        try:
            while work.step < limit:
                self.clock.run(work.shrink, limit - work.step)
                self.clock.check(lambda: self._progress(attempt, restart, "shrink"))
        except _Stop:
            self.left = work.leave(shrinking=True, iterations=iterations, restart=restart)
        return self._found(0, iterations, restart, stopped=work.step < limit)

    def _progress(self, attempt: int, restart: int, phase: Literal["search", "shrink"]) -> Progress:
        work = self.work
        return Progress(attempt, restart, phase, work.step, work.cost, work.first_wrong(), self.clock.total_steps)

    def _found(self, cost: int, iterations: int, restarts: int, stopped: bool) -> Outcome:
        return Outcome(self.work.best_sources(), cost, iterations, restarts, self.work.best_live_gates(), stopped)
