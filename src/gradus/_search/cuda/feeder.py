"""`Feeder`: prepares batches for a GPU on a separate thread, while the GPU works on earlier ones."""

from __future__ import annotations

import itertools
import queue
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from gradus._search.cuda.batch import NumberedJob, PackedBatch, pack_jobs
from gradus._search.cuda.device import Device
from gradus._search.cuda.layout import BatchShape, choose_layout, shape_of, why_not
from gradus._search.job import Checkpoint, Job

__all__ = ["Feeder", "Misfit", "describe"]

JOBS_AT_ONCE = 1 << 15
"""Jobs read at once to be grouped by shape: enough to fill a GPU with one shape, few enough to begin soon."""
BATCHES_AHEAD = 6
SECONDS_PER_WAIT = 0.2


class Misfit(NamedTuple):
    """A job that cannot run on the device, and why."""

    numbered: NumberedJob
    reason: str


class Feeder:
    """Reads jobs and returns batches of one shape that are ready to be copied, and misfits."""

    def __init__(self, jobs: Iterable[Job], device: Device, since: Mapping[int, Checkpoint]) -> None:
        self._jobs, self._device, self._since = jobs, device, since
        self._made: queue.Queue[PackedBatch | Misfit | BaseException | None] = queue.Queue(BATCHES_AHEAD)
        self._closing = threading.Event()
        self._ended = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @property
    def ended(self) -> bool:
        """Whether everything has been returned."""
        return self._ended

    def next(self, *, patient: bool) -> PackedBatch | Misfit | None:
        """Return the next batch or misfit; None after the last, or if none is ready (a patient caller waits a moment)."""
        if self._ended:
            return None
        try:
            one = self._made.get(timeout=SECONDS_PER_WAIT) if patient else self._made.get_nowait()
        except queue.Empty:
            return None
        if one is None or isinstance(one, BaseException):
            self._ended = True
            if one is not None:
                raise one
            return None
        return one

    def close(self) -> None:
        """Stop reading."""
        self._closing.set()
        self._ended = True

    def _read(self) -> None:
        """Put batches in the queue and then None, or the error that ended reading."""
        try:
            for one in self._batches():
                if not self._put(one):
                    return
            self._put(None)
        except BaseException as error:  # raised again by `next`, which would otherwise wait forever
            self._put(error)

    def _put(self, one: PackedBatch | Misfit | BaseException | None) -> bool:
        """Wait for room; return False if the feeder was closed."""
        while not self._closing.is_set():
            try:
                self._made.put(one, timeout=SECONDS_PER_WAIT)
                return True
            except queue.Full:
                continue
        return False

    def _batches(self) -> Iterator[PackedBatch | Misfit]:
        numbered = itertools.takewhile(lambda _: not self._closing.is_set(), enumerate(self._jobs))
        while part := list(itertools.islice(numbered, JOBS_AT_ONCE)):
            groups: dict[BatchShape, list[NumberedJob]] = defaultdict(list)
            for index, job in part:
                numbered_job = NumberedJob(index, job, self._since.get(index))
                reason = why_not(job, self._device.limits)
                if reason is None:
                    groups[shape_of(job)].append(numbered_job)
                else:
                    yield Misfit(numbered_job, reason)
            # The longest searches begin first, so that they do not end long after everything else.
            for shape in sorted(groups, key=lambda shape: -shape.gates * shape.words):
                yield from self._packed(shape, groups.pop(shape))

    def _packed(self, shape: BatchShape, numbered: list[NumberedJob]) -> Iterator[PackedBatch]:
        layout = choose_layout(shape, self._device.limits)
        self._device.compile(layout.constants)
        # Lanes of a warp that have the same loss take the same branches. What has begun elsewhere needs a slot at once.
        numbered.sort(key=lambda one: (one.since is None, one.job.settings.loss))
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
