"""`run_many`: any number of jobs, of any shapes, on one GPU."""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gradus.search.cuda.batch import Attempt, Batch, attempts_of
from gradus.search.cuda.device import CudaDevice, Device
from gradus.search.cuda.plan import Shape, choose_layout, shape_of, why_not
from gradus.search.front import Found, Progress, run_search

if TYPE_CHECKING:
    from gradus.learner import Prepared

__all__ = ["BatchProgress", "run_many"]

SEARCHES_A_BATCH = 1 << 16
"""So that the GPU begins before the examples of everything are packed."""
SHARES_AT_ONCE = 2.0
"""Batches are begun until together they would fill the GPU so many times: the last searches of some leave room for others."""
BATCHES_AT_ONCE = 48


@dataclass(frozen=True)
class BatchProgress:
    """Where a run of many jobs stands.

    Attributes
    ----------
    jobs, finished : int
        How many there are, and how many have ended.
    steps : int
        Steps of all searches so far, on the GPU and of those that do not fit there.
    seconds : float
        Since the run began.
    """

    jobs: int
    finished: int
    steps: int
    seconds: float

    @property
    def total_steps(self) -> int:
        """Steps so far, under the name that the progress of one search has for them."""
        return self.steps


def run_many(
    jobs: Iterable[Prepared],
    *,
    watch: Callable[[BatchProgress], Any] | None = None,
    log: Callable[[str], Any] | None = None,
    device: Device | None = None,
    leave: float = 0.0,
    failed: Callable[[int, Exception], Any] | None = None,
) -> Iterator[tuple[int, Found]]:
    """Run searches on the GPU and yield each as it ends.

    Parameters
    ----------
    jobs : iterable of Prepared
        Of any mixture of problems, sizes, losses and seeds.
    watch : callable, optional
        Gets a `BatchProgress` several times a second. If it returns True, every search under way ends with the best
        network it has, and jobs that have not begun are left out.
    log : callable, optional
        Gets a line for each job that does not fit on the GPU and runs on the CPU instead, and one for each batch.
    device : Device, optional
        Where to run; the GPU that CuPy has selected if not given.
    leave : float
        End the last searches of a batch, as if stopped, when they fill no more than this share of the GPU. A GPU is slow
        with a few long searches; whoever calls can finish them on a CPU.
    failed : callable, optional
        Gets the index of a job that had to run on the CPU and could not, and its error; the job is then left out. If
        this is not given, the first such error is raised after all other jobs have ended.

    Yields
    ------
    index : int
        Of the job, in the order given. Jobs come in the order in which they end.
    found : Found
        What `gradus.search.front.run_search` finds for the same job, bit for bit; with a time limit, as far as the
        time went. A time limit is counted from the moment when a search begins, for each attempt.

    Raises
    ------
    MissingExtraError
        If CuPy is not installed.
    SettingsError
        If there is no NVIDIA GPU.
    """
    return _Run(CudaDevice() if device is None else device, list(jobs), watch, log or _say_nothing, leave, failed).results()


def _say_nothing(line: str) -> None:
    """Log nowhere."""


class _Run:
    """One call of `run_many`."""

    def __init__(
        self,
        device: Device,
        jobs: list[Prepared],
        watch: Callable[[BatchProgress], Any] | None,
        log: Callable[[str], Any],
        leave: float,
        failed: Callable[[int, Exception], Any] | None,
    ) -> None:
        self.device, self.jobs, self.watch, self.log, self.leave = device, jobs, watch, log, leave
        self.failed = failed
        self.found: dict[int, dict[int, Found]] = defaultdict(dict)
        self.n_finished = self.steps_before = 0
        self.stopped_on_cpu = False
        self.began = time.monotonic()

    def results(self) -> Iterator[tuple[int, Found]]:
        """Run everything: what fits on the device first, the rest on the CPU."""
        groups, misfits = self._group()
        waiting = deque(self._batches(groups))
        running: deque[Batch] = deque()
        stopped = False
        while (waiting and not stopped) or running:
            while waiting and not stopped and self._has_room(running):
                running.append(waiting.popleft()())
                running[-1].launch()
            batch = running.popleft()
            ended = batch.harvest()
            if batch.done:
                self.steps_before += batch.steps
            else:
                batch.launch(stop=stopped or batch.share <= self.leave)
                running.append(batch)
            # The GPU is busy with the next launch while the caller looks at these.
            yield from self._combine(ended)
            stopped = stopped or self._asked_to_stop(running)
        if stopped:
            yield from self._combine_rest()
        else:
            yield from self._on_cpu(misfits)

    def _has_room(self, running: deque[Batch]) -> bool:
        """Whether another batch may begin."""
        return len(running) < BATCHES_AT_ONCE and sum(batch.share for batch in running) < SHARES_AT_ONCE

    def _group(self) -> tuple[dict[Shape, list[Attempt]], list[int]]:
        """Sort searches by shape, and put aside the jobs that do not fit."""
        groups: dict[Shape, list[Attempt]] = defaultdict(list)
        misfits: list[int] = []
        for index, job in enumerate(self.jobs):
            reason = why_not(job, self.device.limits)
            if reason is None:
                groups[shape_of(job)] += attempts_of(index, job)
            else:
                self.log(f"job {index} runs on the CPU: {reason}.")
                misfits.append(index)
        return groups, misfits

    def _batches(self, groups: dict[Shape, list[Attempt]]) -> Iterator[Callable[[], Batch]]:
        """Batches that are made when their turn comes, the largest groups first."""
        for shape, attempts in sorted(groups.items(), key=lambda item: -len(item[1])):
            layout = choose_layout(shape, self.device.limits)
            # Lanes of a warp that have the same loss take the same way.
            attempts.sort(key=lambda one: one.prepared.settings.loss)
            for start in range(0, len(attempts), SEARCHES_A_BATCH):
                part = attempts[start : start + SEARCHES_A_BATCH]
                self.log(
                    f"{len(part)} searches with {shape.gates} gates on {shape.words} words run on {self.device.name}, "
                    f"{min(layout.networks, len(part))} at a time."
                )
                yield lambda layout=layout, part=part: Batch(self.device, layout, part)  # type: ignore[misc]

    def _combine(self, ended: list[tuple[Attempt, Found]]) -> Iterator[tuple[int, Found]]:
        """Yield the jobs whose last attempt has ended."""
        for one, found in ended:
            attempts = self.found[one.job]
            attempts[one.attempt] = found
            if len(attempts) == one.prepared.settings.attempts:
                yield self._finish(one.job)

    def _combine_rest(self) -> Iterator[tuple[int, Found]]:
        """After a stop: the jobs of which some attempts never began."""
        for job in list(self.found):
            self.found[job] = {k: replace(found, stopped=True) for k, found in self.found[job].items()}
            yield self._finish(job)

    def _finish(self, job: int) -> tuple[int, Found]:
        """Choose among a job's attempts as the CPU does."""
        attempts = [found for _, found in sorted(self.found.pop(job).items())]
        best = min(attempts, key=lambda one: (one.cost, one.live_gates if one.converged else 0))
        self.n_finished += 1
        return job, replace(best, stopped=any(one.stopped for one in attempts))

    def _asked_to_stop(self, running: Iterable[Batch], more_steps: int = 0) -> bool:
        if self.watch is None:
            return False
        steps = self.steps_before + sum(batch.steps for batch in running) + more_steps
        seconds = time.monotonic() - self.began
        return self.watch(BatchProgress(len(self.jobs), self.n_finished, steps, seconds)) is True

    def _on_cpu(self, misfits: Iterable[int]) -> Iterator[tuple[int, Found]]:
        """Run jobs one after the other; one that fails keeps no other from its result."""
        errors: list[Exception] = []
        for index in misfits:
            try:
                found = self._search_on_cpu(self.jobs[index])
            except Exception as error:
                error.add_note(f"This was job {index} of {len(self.jobs)}, counted from 0.")
                errors.append(error)
                if self.failed is not None:
                    self.failed(index, error)
                continue
            self.n_finished += 1
            yield index, found
            if self.stopped_on_cpu:
                break
        if errors and self.failed is None:
            raise errors[0]

    def _search_on_cpu(self, job: Prepared) -> Found:
        """Run one search, which the watcher can stop like those on the GPU."""
        steps = 0

        def watch(progress: Progress) -> bool:
            nonlocal steps
            steps = progress.total_steps
            self.stopped_on_cpu = self._asked_to_stop((), steps)
            return self.stopped_on_cpu

        found = run_search(job.X, job.Y, job.settings, job.seed, watch=watch)
        self.steps_before += steps
        return found
