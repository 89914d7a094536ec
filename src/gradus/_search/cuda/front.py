"""`run_many`: any number of jobs, of any shapes, on one GPU."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gradus._search.checkpoint import Checkpoint
from gradus._search.cuda.batch import Attempt, Batch
from gradus._search.cuda.device import CudaDevice, Device
from gradus._search.cuda.feeder import Feeder, Misfit, describe
from gradus._search.cuda.helpers import Ended, Helpers
from gradus._search.front import Outcome

if TYPE_CHECKING:
    from gradus._search.learner import Job

__all__ = ["BatchProgress", "run_many"]

BATCHES_AT_ONCE = 48
SECONDS_TO_LOOK_UP = 0.002
SECONDS_WITHOUT_GPU = 0.1
SECONDS_TO_ASK = 0.05


@dataclass(frozen=True)
class BatchProgress:
    """Where a run of many jobs stands.

    Attributes
    ----------
    jobs, finished : int
        How many there are (or have been read, where nobody knows yet how many there are), and how many have ended.
    steps : int
        Steps of all searches so far, on the GPU and beside it.
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
    jobs: Iterable[Job],
    *,
    callback: Callable[[BatchProgress], Any] | None = None,
    log: Callable[[str], Any] | None = None,
    device: Device | None = None,
    helpers: int = 0,
    left: Callable[[int, int, Checkpoint], Any] | None = None,
    failed: Callable[[int, Exception], Any] | None = None,
) -> Iterator[tuple[int, Outcome]]:
    """Run searches on the GPU and yield each as it ends.

    Parameters
    ----------
    jobs : iterable of Job
        Of any mixture of problems, sizes, losses and seeds. It is read as the GPU gets room, some thousands at a time; put
        jobs that take long first, so that the others fill the gaps they leave.
    callback : callable, optional
        Gets a `BatchProgress` several times a second. If it returns True, every search under way ends with the best
        network it has, and jobs that have not begun are left out.
    log : callable, optional
        Gets a line for each job that does not fit on the GPU and runs on the CPU instead, and one for each batch.
    device : Device, optional
        Where to run; the GPU that CuPy has selected if not given.
    helpers : int
        CPU threads that take searches over from the GPU, in the middle, once all of their shape have begun: a core is
        tens of times faster with one long search than a GPU, which is faster with thousands.
    left : callable, optional
        If `callback` asks to stop: gets the number of a job, that of the attempt, and where it was left, for every search
        under way; these are then not yielded. `gradus._search.front.resume` can finish them. A search with a time limit, and
        a job that began on the CPU, ends with the best it has all the same; and where some attempts of a job had ended,
        the best of these is yielded, as stopped.
    failed : callable, optional
        Gets the index of a job that had to run on the CPU and could not, and its error; the job is then left out. If
        this is not given, the first such error is raised after all other jobs have ended.

    Yields
    ------
    index : int
        Of the job, in the order given. Jobs come in the order in which they end.
    found : Outcome
        What `gradus._search.front.run_search` finds for the same job, bit for bit; with a time limit, as far as the
        time went. A time limit is counted from the moment when a search begins, for each attempt.

    Raises
    ------
    MissingExtraError
        If CuPy is not installed.
    SettingsError
        If there is no NVIDIA GPU.
    """
    run = _Run(CudaDevice() if device is None else device, jobs, callback, log or _say_nothing, helpers, left, failed)
    return run.results()


def _say_nothing(line: str) -> None:
    """Log nowhere."""


class _Run:
    """One call of `run_many`."""

    def __init__(
        self,
        device: Device,
        jobs: Iterable[Job],
        callback: Callable[[BatchProgress], Any] | None,
        log: Callable[[str], Any],
        helpers: int,
        left: Callable[[int, int, Checkpoint], Any] | None,
        failed: Callable[[int, Exception], Any] | None,
    ) -> None:
        self.device, self.jobs, self.callback, self.log, self.left, self.failed = device, jobs, callback, log, left, failed
        self.n_helpers = helpers
        self.running: list[Batch] = []
        self.found: dict[int, dict[int, Outcome]] = defaultdict(dict)
        self.errors: list[Exception] = []
        self.n_finished = self.steps_before = 0
        self.stopped = self.launch_ended = False
        self.began = self.asked = time.monotonic()

    def results(self) -> Iterator[tuple[int, Outcome]]:
        """Run everything."""
        self.feeder, self.helpers = Feeder(self.jobs, self.device), Helpers(self.n_helpers)
        try:
            while not self.feeder.ended or self.running or self.helpers.busy:
                self._begin_batches()
                yield from self._combine(self._look_at_batches())
                yield from self._look_at_helpers()
                if not self.stopped and self._asked_to_stop():
                    self.stopped = True
                    self.feeder.close()
                    self.helpers.stop()
            yield from self._combine_rest()
        finally:
            self.feeder.close()
            self.helpers.close()
            self._wait_for_launches()
        if self.errors and self.failed is None:
            raise self.errors[0]

    def _wait_for_launches(self) -> None:
        """Keep the memory of batches until the GPU is through with it: the next run may be given the same."""
        while not all(batch.ready for batch in self.running):
            time.sleep(SECONDS_TO_LOOK_UP)

    def _begin_batches(self) -> None:
        """Fill the GPU; what does not fit on it any more takes turns."""
        while not self.stopped and self._has_room():
            one = self.feeder.next(patient=not self.running and not self.helpers.busy)
            if one is None:
                return
            if isinstance(one, Misfit):
                self.log(f"job {one.number} runs on the CPU: {one.reason}.")
                self.helpers.run(one.number, one.job)
            else:
                self.log(describe(one, self.device))
                self.running.append(Batch(self.device, one))
                self._launch(self.running[-1])

    def _has_room(self) -> bool:
        return len(self.running) < BATCHES_AT_ONCE and sum(batch.share for batch in self.running) < 1.0

    def _launch(self, batch: Batch) -> None:
        batch.launch(spread=1.0 / min(1.0, sum(one.share for one in self.running)))

    def _look_at_batches(self) -> list[tuple[Attempt, Outcome]]:
        """Take what has ended from the batches whose launch is through, and go on with them."""
        ready = [batch for batch in self.running if batch.ready]
        self.launch_ended = bool(ready)
        if self.running and not ready:
            time.sleep(SECONDS_TO_LOOK_UP)
        ended: list[tuple[Attempt, Outcome]] = []
        for batch in ready:
            ended += batch.harvest()
            if batch.done or not self._go_on(batch):
                self.steps_before += batch.steps
                self.running.remove(batch)
        return ended

    def _go_on(self, batch: Batch) -> bool:
        """Launch a batch again; False if it has nothing left to launch."""
        if self.stopped:
            if self.left is not None:
                for one, since in batch.take_out(len(batch.active)):
                    self.left(one.job, one.attempt, since)
            if len(batch.active):
                batch.launch(stop=True)
            return len(batch.active) > 0
        # Helpers take from the batch that has run longest.
        if self.helpers.wanted and batch is next((one for one in self.running if one.all_begun), None):
            for one, since in batch.take_out(self.helpers.wanted):
                self.helpers.resume(one, since)
        if not batch.done:
            self._launch(batch)
        return not batch.done

    def _look_at_helpers(self) -> Iterator[tuple[int, Outcome]]:
        """Take what the helpers have ended."""
        for key, future in self.helpers.ended(0.0 if self.running else SECONDS_WITHOUT_GPU):
            if isinstance(key, int):
                yield from self._misfit_ended(key, future)
                continue
            found, checkpoint = future.result()
            if checkpoint is not None and self.left is not None:
                self.left(key.job, key.attempt, checkpoint)
            else:
                yield from self._combine([(key, found)])

    def _misfit_ended(self, index: int, future: Future[Ended]) -> Iterator[tuple[int, Outcome]]:
        """Give the result of a job that ran on the CPU from its beginning; one that fails keeps no other from its own."""
        error = future.exception()
        if isinstance(error, Exception):
            error.add_note(f"This was job {index}, counted from 0.")
            self.errors.append(error)
            if self.failed is not None:
                self.failed(index, error)
            return
        self.n_finished += 1
        yield index, future.result()[0]

    def _combine(self, ended: list[tuple[Attempt, Outcome]]) -> Iterator[tuple[int, Outcome]]:
        """Yield the jobs whose last attempt has ended."""
        for one, found in ended:
            attempts = self.found[one.job]
            attempts[one.attempt] = found
            if len(attempts) == one.prepared.settings.attempts:
                yield self._finish(one.job)

    def _combine_rest(self) -> Iterator[tuple[int, Outcome]]:
        """After a stop: the jobs of which some attempts never began."""
        for job in list(self.found):
            self.found[job] = {k: replace(found, stopped=True) for k, found in self.found[job].items()}
            yield self._finish(job)

    def _finish(self, job: int) -> tuple[int, Outcome]:
        """Choose among a job's attempts as the CPU does."""
        attempts = [found for _, found in sorted(self.found.pop(job).items())]
        best = min(attempts, key=lambda one: (one.cost, one.live_gates if one.converged else 0))
        self.n_finished += 1
        return job, replace(best, stopped=any(one.stopped for one in attempts))

    def _asked_to_stop(self) -> bool:
        """Ask the watcher when a launch has ended, and now and then while none does."""
        now = time.monotonic()
        if self.callback is None or not (self.launch_ended or now - self.asked >= SECONDS_TO_ASK):
            return False
        self.asked = now
        jobs = len(self.jobs) if isinstance(self.jobs, Sized) else self.feeder.n_read
        steps = self.steps_before + sum(batch.steps for batch in self.running) + self.helpers.steps
        return self.callback(BatchProgress(jobs, self.n_finished, steps, now - self.began)) is True
