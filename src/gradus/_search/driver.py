"""Runs a job on the CPU to its end, with restarts, time limit and progress: `run_search` and `resume`, over a `Workspace`."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gradus._core.bits import n_words, pack, tail_mask
from gradus._core.run import Pace, Progress, Run
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

FIRST_CALL_STEPS = 4096
FIRST_CALL_WORDS = 1 << 24
"""Words of values that the first call may recompute at most, so that it is short even for the largest networks."""
WIDTHS = (1, 2, 4, 8)
"""Numbers of words per value with compiled code of their own; all other numbers share one version."""
NO_COST_YET = np.iinfo(np.uint64).max
SearchEnd: TypeAlias = tuple[Outcome, Checkpoint | None]
"""The outcome, and where to continue the search if it was stopped."""


def run_search(job: Job, *, run: Run | None = None) -> Outcome:
    """Search for a network that maps a job's X to its Y."""
    work = Workspace(job)
    work.start()
    return _search(work, run, iterations=0, restart=0)[0]


def resume(job: Job, since: Checkpoint, *, run: Run | None = None) -> SearchEnd:
    """Continue a search from a checkpoint."""
    work = Workspace(job)
    work.restore(since)
    return _search(work, run, iterations=since.iterations, restart=since.restart)


def _search(work: Workspace, whole: Run | None, *, iterations: int, restart: int) -> SearchEnd:
    """Search until zero error, the last restart, or a stop; `iterations` is the number of steps before this restart."""
    # The kernel is called again and again for a short while, so that it can be stopped; how long does not affect the outcome.
    settings = work.job.settings
    run = (Run() if whole is None else whole).part(seconds=settings.time_limit)
    pace = Pace(min(FIRST_CALL_STEPS, FIRST_CALL_WORDS // len(work.state.values)))
    total_steps, stopped = 0, run.stop()
    while not stopped and work.cost:
        if work.step < settings.max_iter:
            pace.restart()
            taken = work.descend(min(pace.length, settings.max_iter - work.step))
            pace.took(taken)
            total_steps += taken
            stopped = run.stop(work.progress(total_steps, restart))
        elif restart < settings.n_restarts:
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


class Workspace:
    """A search that is driven step by step: `start` a network, then `descend` to cost zero."""

    def __init__(self, job: Job) -> None:
        self.job = job
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

    def progress(self, steps: int, restart: int) -> Progress:
        """Return how far the search is: targets that are right before the first wrong one, and the steps taken in all."""
        done = int(self._kernel.first_wrong(self.shape, self.width, self.targets, self.state))
        return Progress(stage="search", done=done, total=int(self.shape.targets), steps=steps, restart=restart, cost=self.cost)

    def best_sources(self) -> npt.NDArray[np.int64]:
        """Return the wiring of the best network so far, shape (n_gates, 2)."""
        return self.state.best.reshape(-1, 2).astype(np.int64)

    def best_live_gates(self) -> int:
        """Return how many gates of the best network an output depends on."""
        return int(self._kernel.count_live(self.shape, self.state.best, self.state.stack))
