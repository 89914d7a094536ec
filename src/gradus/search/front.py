"""The one function that runs a search: attempts, restarts, shrinking, time, progress."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gradus.bits import BoolMatrix, n_words, pack, tail_mask
from gradus.errors import SettingsError
from gradus.search.objective import make_objective
from gradus.search.settings import Settings
from gradus.search.structures import Examples, Number, Objective, Shape, State

__all__ = ["Found", "Progress", "attempt_seeds", "run_search"]

WIDTHS = (1, 2, 4, 8)
"""Words of a value for which there is compiled code of its own; more words share one that takes any number."""
SECONDS_A_CALL = 0.04
FIRST_CALL_STEPS = 4096
MAX_VALUE_BYTES = 16 << 30


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


Watcher = Callable[[Progress], Any]
"""Is called every few hundredths of a second; returning True stops the search and keeps the best network so far."""


@dataclass(frozen=True)
class Found:
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

    def __init__(self, time_limit: float | None, watch: Watcher | None) -> None:
        self.deadline = None if time_limit is None else time.monotonic() + time_limit
        self.watch = watch
        self.steps = FIRST_CALL_STEPS
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
        if self.watch is not None and self.watch(progress()) is True:
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
    watch: Watcher | None = None,
    objective: Objective | None = None,
) -> Found:
    """Search for a network that maps X to Y, the columns of Y being in curriculum order.

    Parameters
    ----------
    X, Y : ndarray of bool, shapes (n, l) and (n, m)
    settings : Settings
    seed : int
        With the data and the settings it determines the result.
    watch : callable, optional
        Gets a `Progress` every few hundredths of a second; if it returns True, the search stops with the best so far.
    objective : Objective, optional
        What to minimise instead of ``settings.loss``.

    Returns
    -------
    Found
    """
    run = _Run(X, Y, settings, objective, _Clock(settings.time_limit, watch))
    found: list[Found] = []
    for attempt, words in enumerate(attempt_seeds(seed, settings.attempts)):
        found.append(run.attempt(attempt, words))
        if found[-1].stopped:
            break
    best = min(found, key=lambda one: (one.cost, one.live_gates if one.converged else 0))
    stopped = found[-1].stopped
    return best if best.stopped == stopped else Found(**{**vars(best), "stopped": stopped})


class _Run:
    """One set of examples and the arrays that its searches work on."""

    def __init__(
        self, X: BoolMatrix, Y: BoolMatrix, settings: Settings, objective: Objective | None, clock: _Clock
    ) -> None:
        # Numba takes a second to import, so nothing above this line needs it.
        from gradus.search import kernel

        self.kernel: Any = kernel
        self.settings, self.clock = settings, clock
        n, m = Y.shape
        needed = n_words(n)
        words = next((width for width in WIDTHS if width >= needed), needed)
        self.width = (0,) * words if words in WIDTHS else ()
        gates = settings.n_gates(m)
        self.shape = Shape(*(np.uint64(k) for k in (X.shape[1], gates, m, words, n, settings.history)))
        self.examples = Examples(pack(Y, words).ravel(), tail_mask(n, words))
        self.objective = make_objective(settings.loss, m) if objective is None else objective
        self.state = _make_state(self.shape)
        self.state.values[: X.shape[1] * words] = pack(X, words).ravel()

    def attempt(self, attempt: int, seed_words: npt.NDArray[np.uint64]) -> Found:
        """Search from a fresh generator, then shrink what was found if that is asked for."""
        found = self.search(attempt, seed_words)
        if found.converged and self.settings.shrink and not found.stopped:
            found = self.shrunk(attempt, found)
        return found

    def search(self, attempt: int, seed_words: npt.NDArray[np.uint64]) -> Found:
        """Search until zero error, the last restart, or a stop."""
        numbers, settings = self.state.numbers, self.settings
        self.state.random[:] = seed_words
        numbers[Number.BEST] = np.iinfo(np.uint64).max
        iterations, restart, stopped = 0, 0, False
        try:
            for restart in range(settings.restarts + 1):
                self.kernel.start(self.shape, self.width, self.examples, self.objective, self.state)
                while numbers[Number.COST] and numbers[Number.STEP] < settings.max_iterations:
                    left = settings.max_iterations - int(numbers[Number.STEP])
                    iterations += self.clock.run(self._descend, left)
                    self.clock.check(lambda: self._progress(attempt, restart, "search"))  # noqa: B023
                if not numbers[Number.COST]:
                    break
        except _Stop:
            # The last steps before the stop may have reached zero after all.
            stopped = bool(numbers[Number.BEST])
        return self._found(int(numbers[Number.BEST]), iterations, restart, stopped)

    def shrunk(self, attempt: int, found: Found) -> Found:
        """Look for a smaller network from where the search that found this one ended."""
        self.kernel.start_shrinking(self.shape, self.state)
        left = self.settings.shrink
        try:
            while left:
                left -= self.clock.run(self._shrink, left)
                self.clock.check(lambda: self._progress(attempt, found.restarts, "shrink"))
        except _Stop:
            pass
        return self._found(0, found.iterations, found.restarts, stopped=left > 0)

    def _descend(self, steps: int) -> int:
        return int(
            self.kernel.descend(
                self.shape, self.width, self.examples, self.objective, self.state, np.uint64(steps)
            )
        )

    def _shrink(self, steps: int) -> int:
        self.kernel.shrink(self.shape, self.width, self.examples, self.objective, self.state, np.uint64(steps))
        return steps

    def _progress(self, attempt: int, restart: int, phase: Literal["search", "shrink"]) -> Progress:
        numbers = self.state.numbers
        first = self.kernel.first_wrong(self.shape, self.width, self.examples, self.objective, self.state)
        step, cost = int(numbers[Number.STEP]), int(numbers[Number.COST])
        return Progress(attempt, restart, phase, step, cost, int(first), self.clock.total_steps)

    def _found(self, cost: int, iterations: int, restarts: int, stopped: bool) -> Found:
        live = int(self.kernel.count_live(self.shape, self.state.best, self.state.stack))
        sources = self.state.best.reshape(-1, 2).astype(np.int64)
        return Found(sources, cost, iterations, restarts, live, stopped)


def _make_state(shape: Shape) -> State:
    inputs, gates, targets, words, _, history = (int(size) for size in shape)
    nodes = inputs + gates
    if 2 * nodes * words * 8 > MAX_VALUE_BYTES:
        raise SettingsError(
            f"{nodes} nodes on {words * 64} examples take {2 * nodes * words * 8 >> 30} GB; "
            "use fewer examples or fewer gates."
        )
    return State(
        values=np.zeros(nodes * words, dtype=np.uint64),
        undo=np.zeros(nodes * words, dtype=np.uint64),
        sources=np.zeros(2 * gates, dtype=np.uint32),
        best=np.zeros(2 * gates, dtype=np.uint32),
        live=np.zeros(n_words(gates), dtype=np.uint64),
        reach=np.zeros(gates * n_words(gates), dtype=np.uint64),
        known=np.zeros(n_words(gates), dtype=np.uint64),
        fanout=np.zeros(gates * n_words(gates), dtype=np.uint64),
        readers=np.zeros(nodes, dtype=np.uint32),
        stack=np.zeros(2 * gates + 2, dtype=np.uint32),
        bad=np.zeros(targets * words, dtype=np.uint64),
        history=np.zeros(history, dtype=np.uint64),
        random=np.zeros(2, dtype=np.uint64),
        numbers=np.zeros(len(Number), dtype=np.uint64),
    )
