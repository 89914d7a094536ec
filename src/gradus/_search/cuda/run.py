"""`run_many`: runs any number of jobs, of any shapes, on one GPU."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from concurrent.futures import Future
from typing import Any

from gradus._core.run import Callback, Progress, Run
from gradus._search.cuda.batch import GpuBatch
from gradus._search.cuda.device import CudaDevice, Device
from gradus._search.cuda.feeder import Feeder, Misfit, describe
from gradus._search.driver import SearchEnd
from gradus._search.job import Checkpoint, Job, Outcome
from gradus._search.threads import SearchesOnCpu

__all__ = ["run_many"]

BATCHES_AT_ONCE = 48
SECONDS_BETWEEN_POLLS = 0.002
SECONDS_WITHOUT_GPU = 0.1


def run_many(
    jobs: Iterable[Job],
    *,
    callback: Callback | None = None,
    log: Callable[[str], Any] | None = None,
    device: Device | None = None,
    n_jobs: int = 0,
    since: Mapping[int, Checkpoint] | None = None,
    left: Callable[[int, Checkpoint], Any] | None = None,
    failed: Callable[[int, Exception], Any] | None = None,
) -> Iterator[tuple[int, Outcome]]:
    """Run searches on the GPU and yield each as it ends."""
    device = CudaDevice() if device is None else device
    run = Run(callback=callback, n_jobs=n_jobs)
    return _GpuRun(device, jobs, since or {}, run, log or (lambda line: None), left, failed).outcomes()


class _GpuRun:
    """One call of `run_many`."""

    def __init__(
        self,
        device: Device,
        jobs: Iterable[Job],
        since: Mapping[int, Checkpoint],
        run: Run,
        log: Callable[[str], Any],
        left: Callable[[int, Checkpoint], Any] | None,
        failed: Callable[[int, Exception], Any] | None,
    ) -> None:
        self.device, self.jobs, self.since, self.run = device, jobs, since, run
        self.log, self.left, self.failed = log, left, failed
        self.running: list[GpuBatch] = []
        self.errors: list[Exception] = []
        self.n_ended = self.steps_before = 0
        self.stopped = False

    def outcomes(self) -> Iterator[tuple[int, Outcome]]:
        """Run everything."""
        self.feeder, self.threads = Feeder(self.jobs, self.device, self.since), SearchesOnCpu(self.run)
        try:
            while not self.feeder.ended or self.running or self.threads.busy:
                self._begin_batches()
                for index, outcome in [*self._poll_batches(), *self._poll_threads()]:
                    self.n_ended += 1
                    yield index, outcome
                if not self.stopped and self.run.stop(self._progress()):
                    self.stopped = True
                    self.feeder.close()
                    self.threads.drop_waiting()
        finally:
            self.feeder.close()
            self.threads.close()
            self._wait_for_launches()
        if self.errors and self.failed is None:
            raise self.errors[0]

    def _wait_for_launches(self) -> None:
        """Keep the memory of batches until the GPU has finished with it: the next run may get the same memory."""
        while not all(batch.ready for batch in self.running):
            time.sleep(SECONDS_BETWEEN_POLLS)

    def _begin_batches(self) -> None:
        """Start batches until the GPU is full."""
        while not self.stopped and self._has_room():
            one = self.feeder.next(patient=not self.running and not self.threads.busy)
            if one is None:
                return
            if isinstance(one, Misfit):
                number, job, since = one.numbered
                self.log(f"job {number} runs on the CPU: {one.reason}.")
                self.threads.run(number, job) if since is None else self.threads.resume(number, job, since)
            else:
                self.log(describe(one, self.device))
                self.running.append(GpuBatch(self.device, one))
                self._launch(self.running[-1])

    def _has_room(self) -> bool:
        full = len(self.running) >= BATCHES_AT_ONCE or sum(batch.share for batch in self.running) >= 1.0
        return not full and not self.threads.full

    def _launch(self, batch: GpuBatch) -> None:
        batch.launch(spread=1.0 / min(1.0, sum(one.share for one in self.running)))

    def _poll_batches(self) -> list[tuple[int, Outcome]]:
        """Collect what has ended from the batches whose launch has finished, and launch them again."""
        ready = [batch for batch in self.running if batch.ready]
        if self.running and not ready:
            time.sleep(SECONDS_BETWEEN_POLLS)
        ended: list[tuple[int, Outcome]] = []
        for batch in ready:
            ended += [(one.number, outcome) for one, outcome in batch.harvest()]
            if batch.done or not self._continue(batch):
                self.steps_before += batch.steps
                self.running.remove(batch)
        return ended

    def _continue(self, batch: GpuBatch) -> bool:
        """Launch a batch again; return False if it has nothing left to launch."""
        if self.stopped:
            if self.left is not None:
                for one, since in batch.take_out(len(batch.active)):
                    self.left(one.number, since)
            if len(batch.active):
                batch.launch(stop=True)
            return len(batch.active) > 0
        # Threads take from the batch that has run longest.
        if self.threads.wanted and batch is next((one for one in self.running if one.all_begun), None):
            for one, since in batch.take_out(self.threads.wanted):
                self.threads.resume(one.number, one.job, since)
        if not batch.done:
            self._launch(batch)
        return not batch.done

    def _poll_threads(self) -> list[tuple[int, Outcome]]:
        """Collect what has ended on the CPU; a job that fails there does not affect the others."""
        ended = []
        for index, future in self.threads.ended(0.0 if self.running else SECONDS_WITHOUT_GPU):
            if not self._has_failed(index, future):
                outcome, checkpoint = future.result()
                if checkpoint is not None and self.left is not None:
                    self.left(index, checkpoint)
                else:
                    ended.append((index, outcome))
        return ended

    def _has_failed(self, index: int, future: Future[SearchEnd]) -> bool:
        error = future.exception()
        if not isinstance(error, Exception):
            return False
        error.add_note(f"This was job {index}, counted from 0.")
        self.errors.append(error)
        if self.failed is not None:
            self.failed(index, error)
        return True

    def _progress(self) -> Progress:
        """Count the searches that have ended, and all steps up to the last launches that have."""
        total = len(self.jobs) if isinstance(self.jobs, Sized) else None
        steps = self.steps_before + sum(batch.steps for batch in self.running) + self.threads.steps
        return Progress(stage="jobs", done=self.n_ended, total=total, steps=steps)
