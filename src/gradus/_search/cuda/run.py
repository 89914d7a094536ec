"""`run_many`: reads any number of jobs, of any shapes, groups them in batches, and runs them on one GPU."""

from __future__ import annotations

import itertools
import queue
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from concurrent.futures import Future
from typing import Any, NamedTuple

from gradus._core.run import Callback, Progress, Run
from gradus._search.cuda.batch import GpuBatch, NumberedJob, PackedBatch, pack_jobs
from gradus._search.cuda.device import CudaDevice, Device
from gradus._search.cuda.layout import BatchShape, choose_layout, shape_of, why_not
from gradus._search.driver import SearchEnd
from gradus._search.job import Checkpoint, Job, Outcome
from gradus._search.threads import SearchesOnCpu

__all__ = ["run_many"]

BATCHES_AT_ONCE = 48
SECONDS_BETWEEN_POLLS = 0.002
SECONDS_WITHOUT_GPU = 0.1
JOBS_AT_ONCE = 1 << 15
"""Jobs read at once to be grouped by shape: enough to fill a GPU with one shape, few enough to begin soon."""
BATCHES_AHEAD = 6
SECONDS_PER_WAIT = 0.2


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
        self.reader, self.threads = BatchReader(self.jobs, self.device, self.since), SearchesOnCpu(self.run)
        try:
            while not self.reader.ended or self.running or self.threads.busy:
                self._begin_batches()
                for index, outcome in [*self._poll_batches(), *self._poll_threads()]:
                    self.n_ended += 1
                    yield index, outcome
                if not self.stopped and self.run.stop(self._progress()):
                    self.stopped = True
                    self.reader.close()
                    self.threads.drop_waiting()
        finally:
            self.reader.close()
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
            read = self.reader.next(patient=not self.running and not self.threads.busy)
            if read is None:
                return
            if isinstance(read, UnfitJob):
                number, job, since = read.numbered
                self.log(f"job {number} runs on the CPU: {read.reason}.")
                self.threads.run(number, job) if since is None else self.threads.resume(number, job, since)
            else:
                self.log(describe(read, self.device))
                self.running.append(GpuBatch(self.device, read))
                self._launch(self.running[-1])

    def _has_room(self) -> bool:
        full = len(self.running) >= BATCHES_AT_ONCE or sum(batch.share for batch in self.running) >= 1.0
        return not full and not self.threads.full

    def _launch(self, batch: GpuBatch) -> None:
        batch.launch(spread=1.0 / min(1.0, sum(running.share for running in self.running)))

    def _poll_batches(self) -> list[tuple[int, Outcome]]:
        """Collect what has ended from the batches whose launch has finished, and launch them again."""
        ready = [batch for batch in self.running if batch.ready]
        if self.running and not ready:
            time.sleep(SECONDS_BETWEEN_POLLS)
        ended: list[tuple[int, Outcome]] = []
        for batch in ready:
            ended += [(numbered.number, outcome) for numbered, outcome in batch.harvest()]
            if batch.done or not self._continue(batch):
                self.steps_before += batch.steps
                self.running.remove(batch)
        return ended

    def _continue(self, batch: GpuBatch) -> bool:
        """Launch a batch again; return False if it has nothing left to launch."""
        if self.stopped:
            if self.left is not None:
                for numbered, since in batch.take_out(len(batch.active)):
                    self.left(numbered.number, since)
            if len(batch.active):
                batch.launch(stop=True)
            return len(batch.active) > 0
        # Threads take from the batch that has run longest.
        if self.threads.wanted and batch is next((running for running in self.running if running.all_begun), None):
            for numbered, since in batch.take_out(self.threads.wanted):
                self.threads.resume(numbered.number, numbered.job, since)
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


class UnfitJob(NamedTuple):
    """A job that cannot run on the device, and why."""

    numbered: NumberedJob
    reason: str


class BatchReader:
    """Prepares batches of one shape on a thread, while the GPU works on earlier ones; reads jobs as there is room."""

    def __init__(self, jobs: Iterable[Job], device: Device, since: Mapping[int, Checkpoint]) -> None:
        self._jobs, self._device, self._since = jobs, device, since
        self._made: queue.Queue[PackedBatch | UnfitJob | BaseException | None] = queue.Queue(BATCHES_AHEAD)
        self._closing = threading.Event()
        self._ended = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @property
    def ended(self) -> bool:
        """Whether everything has been returned."""
        return self._ended

    def next(self, *, patient: bool) -> PackedBatch | UnfitJob | None:
        """Return the next batch or unfit job; None after the last, or if none is ready (a patient caller waits a moment)."""
        if self._ended:
            return None
        try:
            made = self._made.get(timeout=SECONDS_PER_WAIT) if patient else self._made.get_nowait()
        except queue.Empty:
            return None
        if made is None or isinstance(made, BaseException):
            self._ended = True
            if made is not None:
                raise made
            return None
        return made

    def close(self) -> None:
        """Stop reading."""
        self._closing.set()
        self._ended = True

    def _read(self) -> None:
        """Put batches in the queue and then None, or the error that ended reading."""
        try:
            for made in self._batches():
                if not self._put(made):
                    return
            self._put(None)
        except BaseException as error:  # raised again by `next`, which would otherwise wait forever
            self._put(error)

    def _put(self, made: PackedBatch | UnfitJob | BaseException | None) -> bool:
        """Wait for room; return False if it was closed."""
        while not self._closing.is_set():
            try:
                self._made.put(made, timeout=SECONDS_PER_WAIT)
                return True
            except queue.Full:
                continue
        return False

    def _batches(self) -> Iterator[PackedBatch | UnfitJob]:
        numbered = itertools.takewhile(lambda _: not self._closing.is_set(), enumerate(self._jobs))
        while part := list(itertools.islice(numbered, JOBS_AT_ONCE)):
            groups: dict[BatchShape, list[NumberedJob]] = defaultdict(list)
            for index, job in part:
                numbered_job = NumberedJob(index, job, self._since.get(index))
                reason = why_not(job, self._device.limits)
                if reason is None:
                    groups[shape_of(job)].append(numbered_job)
                else:
                    yield UnfitJob(numbered_job, reason)
            # The longest searches begin first, so that they do not end long after everything else.
            for shape in sorted(groups, key=lambda shape: -shape.gates * shape.words):
                yield from self._packed(shape, groups.pop(shape))

    def _packed(self, shape: BatchShape, numbered: list[NumberedJob]) -> Iterator[PackedBatch]:
        layout = choose_layout(shape, self._device.limits)
        self._device.compile(layout.constants)
        # Lanes of a warp that have the same loss take the same branches. What has begun elsewhere needs a slot at once.
        numbered.sort(key=lambda begun: (begun.since is None, begun.job.settings.loss))
        size = JOBS_AT_ONCE if numbered[0].since is None else layout.networks
        for start in range(0, len(numbered), size):
            yield pack_jobs(layout, numbered[start : start + size])


def describe(packed: PackedBatch, device: Device) -> str:
    """Describe a batch in one line for the log."""
    shape, count = packed.layout.shape, len(packed.numbered)
    return (
        f"{count} searches with {shape.gates} gates on {shape.words} words run on {device.name}, "
        f"{min(packed.layout.networks, count)} at a time."
    )
