"""Runs a job on the CPU to its end, with restarts, time limit and progress: `run_search` and `resume`, over a `Workspace`."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gradus._core.bits import n_words, pack, tail_mask
from gradus._core.kernels.clock import work_clock
from gradus._core.run import Callback, Progress
from gradus._search.job import (
    LOSS_CODES,
    Checkpoint,
    Job,
    Number,
    Outcome,
    PackedTargets,
    SearchShape,
    generator_state,
    make_state,
)

__all__ = ["SearchEnd", "Workspace", "resume", "run_search"]

SECONDS_PER_CALL = 0.04
FIRST_CALL_STEPS = 4096
FIRST_CALL_WORDS = 1 << 24
"""Words of values that the first call may recompute at most, so that it is short even for the largest networks."""
WIDTHS = (1, 2, 4, 8)
"""Numbers of words per value with compiled code of their own; all other numbers share one version."""
NO_COST_YET = np.iinfo(np.uint64).max
SearchEnd: TypeAlias = tuple[Outcome, Checkpoint | None]
"""The outcome, and where to continue the search if it was stopped."""


def run_search(job: Job, *, callback: Callback | None = None) -> Outcome:
    """Search for a network that maps a job's X to its Y."""
    run = _SearchRun(job, callback)
    run.work.start()
    return run.search(iterations=0, restart=0)[0]


def resume(job: Job, since: Checkpoint, *, callback: Callback | None = None) -> SearchEnd:
    """Continue a search from a checkpoint."""
    run = _SearchRun(job, callback)
    run.work.restore(since)
    return run.search(iterations=since.iterations, restart=since.restart)


class _SearchRun:
    """Runs a search in short kernel calls, so that it can be interrupted; their length does not affect the outcome."""

    def __init__(self, job: Job, callback: Callback | None) -> None:
        self.work, self.settings, self.callback = Workspace(job), job.settings, callback
        limit = job.settings.time_limit
        self.deadline = None if limit is None else work_clock() + limit
        self.steps = max(1, min(FIRST_CALL_STEPS, FIRST_CALL_WORDS // len(self.work.state.values)))
        self.total_steps = 0

    def search(self, *, iterations: int, restart: int) -> SearchEnd:
        """Search until zero error, the last restart, or a stop; `iterations` is the number of steps before this restart."""
        work, limit = self.work, self.settings.max_iter
        stopped = False
        while not stopped and work.cost:
            if work.step < limit:
                stopped = self._is_late() or self._descend(limit - work.step, restart)
            elif restart < self.settings.n_restarts:
                iterations += work.step
                restart += 1
                work.start()
            else:
                break
        # The last steps before a stop may have reached zero error.
        stopped = stopped and work.best_cost > 0
        outcome = Outcome(
            sources=work.best_sources(),
            cost=work.best_cost,
            iterations=iterations + work.step,
            restarts=restart,
            live_gates=work.best_live_gates(),
            stopped=stopped,
        )
        return outcome, work.checkpoint(iterations=iterations, restart=restart) if stopped else None

    def _is_late(self) -> bool:
        return self.deadline is not None and work_clock() >= self.deadline

    def _descend(self, at_most: int, restart: int) -> bool:
        """Call the kernel once and choose the length of the next call; return whether the callback asks to stop."""
        begin = work_clock()
        taken = self.work.descend(min(self.steps, at_most))
        elapsed = work_clock() - begin
        if taken:
            wanted = taken * SECONDS_PER_CALL / max(elapsed, 1e-9)
            self.steps = max(1, int(min(wanted, 8.0 * self.steps)))
        self.total_steps += taken
        return self.callback is not None and self.callback(self._progress(restart)) is True

    def _progress(self, restart: int) -> Progress:
        return Progress(
            stage="search",
            done=self.work.first_wrong(),
            total=int(self.work.shape.targets),
            steps=self.total_steps,
            restart=restart,
            cost=self.work.cost,
        )


class Workspace:
    """A search that is driven step by step: `start` a network, then `descend` to cost zero."""

    def __init__(self, job: Job) -> None:
        n, m = job.Y.shape
        needed = n_words(n)
        words = next((width for width in WIDTHS if width >= needed), needed)
        self.width = (0,) * words if words in WIDTHS else ()
        settings, n_inputs = job.settings, job.X.shape[1]
        sizes = (n_inputs, settings.n_gates(m), m, words, n, settings.history, LOSS_CODES[settings.loss])
        self.shape = SearchShape(*(np.uint64(size) for size in sizes))
        self.state = make_state(self.shape)
        self.state.values[: n_inputs * words] = pack(job.X, words).ravel()
        self.state.random[:] = generator_state(job.seed)
        self.state.numbers[Number.BEST] = NO_COST_YET
        self.targets = PackedTargets(pack(job.Y, words).ravel(), tail_mask(n, words))
        # Numba takes a second to import, so it is imported where a kernel is about to be called and not before.
        from gradus._search import kernel

        self._kernel: Any = kernel

    def start(self) -> None:
        """Draw a random network."""
        self._kernel.start(self.shape, self.width, self.targets, self.state)

    def descend(self, steps: int) -> int:
        """Take at most `steps` steps, fewer if the cost reaches zero; return how many were taken."""
        return int(self._kernel.descend(self.shape, self.width, self.targets, self.state, np.uint64(steps)))

    def descend_plainly(self, steps: int) -> int:
        """Take the same steps as `descend` without its optimisations, for the bench; nothing else may follow."""
        return int(self._kernel.descend_plainly(self.shape, self.width, self.targets, self.state, np.uint64(steps)))

    def restore(self, since: Checkpoint) -> None:
        """Return to a checkpoint that was taken here or elsewhere."""
        state, numbers = self.state, self.state.numbers
        state.random[:], state.history[:] = since.random, since.history
        state.sources[:], state.best[:] = since.sources.ravel(), since.best.ravel()
        numbers[Number.STEP], numbers[Number.SLOT] = since.step, since.step % len(state.history)
        numbers[Number.BEST] = since.best_cost
        self._kernel.restore(self.shape, self.width, self.targets, state)

    def checkpoint(self, *, iterations: int, restart: int) -> Checkpoint:
        """Copy what `restore` needs; only the caller knows the restarts and the steps before the last one."""
        state = self.state
        return Checkpoint(
            step=self.step,
            iterations=iterations,
            restart=restart,
            best_cost=self.best_cost,
            random=state.random.copy(),
            sources=state.sources.reshape(-1, 2).copy(),
            best=state.best.reshape(-1, 2).copy(),
            history=state.history.copy(),
        )

    @property
    def cost(self) -> int:
        """Cost of the current network."""
        return int(self.state.numbers[Number.COST])

    @property
    def best_cost(self) -> int:
        """Cost of the best network so far."""
        return int(self.state.numbers[Number.BEST])

    @property
    def step(self) -> int:
        """Steps since the last start."""
        return int(self.state.numbers[Number.STEP])

    def first_wrong(self) -> int:
        """Return the position of the first target that is still wrong; the number of targets if none is."""
        return int(self._kernel.first_wrong(self.shape, self.width, self.targets, self.state))

    def best_sources(self) -> npt.NDArray[np.int64]:
        """Return the wiring of the best network so far, shape (n_gates, 2)."""
        return self.state.best.reshape(-1, 2).astype(np.int64)

    def best_live_gates(self) -> int:
        """Return how many gates of the best network an output depends on."""
        return int(self._kernel.count_live(self.shape, self.state.best, self.state.stack))
