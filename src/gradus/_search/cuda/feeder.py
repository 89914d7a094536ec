"""Gets searches ready for a GPU, on a thread of its own, while the GPU is busy with earlier ones."""

from __future__ import annotations

import itertools
import queue
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from gradus._search.cuda.batch import Attempt, Packed, attempts_of, pack_attempts
from gradus._search.cuda.device import Device
from gradus._search.cuda.plan import Shape, choose_layout, shape_of, why_not

if TYPE_CHECKING:
    from gradus._search.learner import Job

__all__ = ["Feeder", "Misfit", "describe"]

JOBS_AT_ONCE = 1 << 15
"""Jobs that are sorted by shape together: enough to fill a GPU with those of one, few enough to begin soon."""
BATCHES_AHEAD = 6
SECONDS_TO_LOOK_UP = 0.2


class Misfit(NamedTuple):
    """A job that does not fit on the device, and why."""

    number: int
    job: Job
    reason: str


class Feeder:
    """Reads jobs and gives them back as batches of one shape, ready to be copied, and misfits.

    Parameters
    ----------
    jobs : iterable of Job
        Read as they are needed.
    device : Device
        Kernels are compiled for it ahead of their use.
    """

    def __init__(self, jobs: Iterable[Job], device: Device) -> None:
        self.n_read = 0
        self._jobs, self._device = jobs, device
        self._made: queue.Queue[Packed | Misfit | BaseException | None] = queue.Queue(BATCHES_AHEAD)
        self._closing = threading.Event()
        self._ended = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @property
    def ended(self) -> bool:
        """Whether everything has been given."""
        return self._ended

    def next(self, *, patient: bool) -> Packed | Misfit | None:
        """Give the next; None if there is none, or if it is not ready and the caller does not want to wait."""
        if self._ended:
            return None
        try:
            one = self._made.get(timeout=SECONDS_TO_LOOK_UP) if patient else self._made.get_nowait()
        except queue.Empty:
            return None
        if one is None or isinstance(one, BaseException):
            self._ended = True
            if one is not None:
                raise one
            return None
        return one

    def close(self) -> None:
        """Read no more."""
        self._closing.set()
        self._ended = True

    def _read(self) -> None:
        """Put batches in the queue and then None; whatever reading a job raises ends it, too."""
        try:
            for one in self._batches():
                if not self._put(one):
                    return
            self._put(None)
        except BaseException as error:  # raised again where the batches are waited for, or they would be for ever
            self._put(error)

    def _put(self, one: Packed | Misfit | BaseException | None) -> bool:
        """Wait for room; False if nobody wants any more."""
        while not self._closing.is_set():
            try:
                self._made.put(one, timeout=SECONDS_TO_LOOK_UP)
                return True
            except queue.Full:
                continue
        return False

    def _batches(self) -> Iterator[Packed | Misfit]:
        numbered = enumerate(self._jobs)
        while part := list(itertools.islice(self._counted(numbered), JOBS_AT_ONCE)):
            groups: dict[Shape, list[Attempt]] = defaultdict(list)
            for index, job in part:
                reason = why_not(job, self._device.limits)
                if reason is None:
                    groups[shape_of(job)] += attempts_of(index, job)
                else:
                    yield Misfit(index, job, reason)
            # What takes long begins early, so that it does not end long after everything else.
            for shape in sorted(groups, key=lambda shape: -shape.gates * shape.words):
                yield from self._packed(shape, groups.pop(shape))

    def _counted(self, numbered: Iterator[tuple[int, Job]]) -> Iterator[tuple[int, Job]]:
        for one in numbered:
            if self._closing.is_set():
                return
            self.n_read += 1
            yield one

    def _packed(self, shape: Shape, attempts: list[Attempt]) -> Iterator[Packed]:
        layout = choose_layout(shape, self._device.limits)
        self._device.compile(layout.constants)
        # Lanes of a warp that have the same loss take the same way.
        attempts.sort(key=lambda one: one.prepared.settings.loss)
        for start in range(0, len(attempts), JOBS_AT_ONCE):
            yield pack_attempts(layout, attempts[start : start + JOBS_AT_ONCE])


def describe(packed: Packed, device: Device) -> str:
    """One line for the log."""
    shape, count = packed.layout.shape, len(packed.attempts)
    return (
        f"{count} searches with {shape.gates} gates on {shape.words} words run on {device.name}, "
        f"{min(packed.layout.networks, count)} at a time."
    )
