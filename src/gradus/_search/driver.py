"""`run_search` and `resume`: run a job on the CPU to its end, with restarts, time limit and progress."""

from __future__ import annotations

from typing import TypeAlias

from gradus._core.kernels.clock import work_clock
from gradus._core.run import Callback, Progress
from gradus._search.job import Checkpoint, Job, Outcome
from gradus._search.workspace import Workspace

__all__ = ["SearchEnd", "resume", "run_search"]

SECONDS_PER_CALL = 0.04
FIRST_CALL_STEPS = 4096
FIRST_CALL_WORDS = 1 << 24
"""Words of values that the first call may recompute at most, so that it is short even for the largest networks."""
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
