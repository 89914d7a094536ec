"""`GpuBatch`: searches of one shape on a device, launched again and again until all have ended.

Host and kernel exchange records; this module has the records of ``records.cuh`` as NumPy types.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._search.cuda.device import Device
from gradus._search.cuda.layout import Layout
from gradus._search.job import LOSS_CODES, Checkpoint, Job, Outcome, generator_state

__all__ = ["GpuBatch", "NumberedJob", "PackedBatch", "pack_jobs"]

FIRST_ROUNDS = 256
LEAST_ROUNDS = 16
MOST_MS = 2**32 - 1
EMPTY = np.uint32(0xFFFFFFFF)
"""Sentinel for an empty slot, in place of a search number."""


def _record(longs: Sequence[str], shorts: Sequence[str], arrays: Mapping[str, int] | None = None) -> np.dtype[Any]:
    """Return a record type of 64-bit numbers followed by 32-bit ones, padded to 64 bits as by a C compiler."""
    fields: list[Any] = [(name, np.uint64, (length,)) for name, length in (arrays or {}).items()]
    fields += [(name, np.uint64) for name in longs] + [(name, np.uint32) for name in shorts]
    return np.dtype(fields + [("filler", np.uint32)] * (len(shorts) % 2))


JOB = _record(("max_iter",), ("examples", "loss", "history", "restarts", "limit_ms"), {"seed": 2})
SLOT = _record(("step", "iterations"), ("search", "restart", "cost", "best", "first", "place", "began_ms"), {"random": 2})
RESULT = _record(("iterations",), ("cost", "restarts", "live", "stopped"))
COUNTERS = _record(("next", "finished", "steps", "ran_ns"), ())

POINTERS = (
    "inputs", "targets", "jobs", "slots", "wiring", "history",
    "best", "results", "finished", "counters", "active",
)  # fmt: skip
BATCH = _record(
    (*POINTERS, "rounds"), ("n_inputs", "n_gates", "n_targets", "n_searches", "n_active", "history_room", "now_ms", "stop")
)


class NumberedJob(NamedTuple):
    """A job with its index among all jobs of a run, and its checkpoint if it has begun elsewhere."""

    number: int
    job: Job
    since: Checkpoint | None = None


class PackedBatch(NamedTuple):
    """Searches of one shape, ready to be copied to a device; those that have begun elsewhere come first."""

    layout: Layout
    numbered: Sequence[NumberedJob]
    inputs: npt.NDArray[np.uint32]
    targets: npt.NDArray[np.uint32]
    jobs: npt.NDArray[Any]


def pack_jobs(layout: Layout, numbered: Sequence[NumberedJob]) -> PackedBatch:
    """Convert jobs to the arrays that the kernel reads."""
    jobs = [job for _, job, _ in numbered]
    words = layout.parts * layout.words
    return PackedBatch(
        layout, numbered, _pack32([job.X for job in jobs], words), _pack32([job.Y for job in jobs], words), _job_records(jobs)
    )


def _pack32(tables: Sequence[npt.NDArray[np.bool_]], words: int) -> npt.NDArray[np.uint32]:
    """Pack the columns of many tables of equal width in 32-bit words, shape (tables, columns, words)."""
    packed = np.zeros((len(tables), tables[0].shape[1], 4 * words), dtype=np.uint8)
    lengths = np.array([len(table) for table in tables])
    # All tables of the same length at once: a NumPy call per table would take longer than some searches.
    for n in np.unique(lengths):
        chosen = np.flatnonzero(lengths == n)
        stacked: npt.NDArray[np.bool_] = np.stack([tables[int(k)] for k in chosen])
        bits = np.packbits(stacked, axis=1, bitorder="little")
        packed[chosen, :, : bits.shape[1]] = bits.transpose(0, 2, 1)
    return packed.view("<u4")


def _job_records(jobs: Sequence[Job]) -> npt.NDArray[Any]:
    records = np.zeros(len(jobs), dtype=JOB)
    records["seed"] = [generator_state(job.seed) for job in jobs]
    records["examples"] = [len(job.Y) for job in jobs]
    records["loss"] = [LOSS_CODES[job.settings.loss] for job in jobs]
    records["max_iter"] = [job.settings.max_iter for job in jobs]
    records["history"] = [job.settings.history for job in jobs]
    records["restarts"] = [min(job.settings.n_restarts, 2**32 - 1) for job in jobs]
    records["limit_ms"] = [_milliseconds(job.settings.time_limit) for job in jobs]
    return records


def _begun_slots(begun: Sequence[tuple[Job, Checkpoint]]) -> npt.NDArray[Any]:
    """Return the slots of searches that have begun elsewhere: search k of the batch is in slot k."""
    slots = np.zeros(len(begun), dtype=SLOT)
    for k, (slot, (job, since)) in enumerate(zip(slots, begun, strict=True)):
        n, m = job.Y.shape
        cost = int(since.history[(since.step - 1) % len(since.history)])  # every step writes the cost after it there
        slot["search"], slot["cost"], slot["best"] = k, cost, since.best_cost
        slot["step"], slot["iterations"], slot["restart"] = since.step, since.iterations, since.restart
        slot["random"], slot["place"] = since.random, since.step % len(since.history)
        slot["first"] = m - 1 - (max(cost, 1) - 1) // n if job.settings.loss == "lgh" else m - 1
    return slots


def _milliseconds(seconds: float | None) -> int:
    """Convert a time limit to milliseconds for the kernel, where 0 means no limit."""
    return 0 if seconds is None else max(1, min(int(seconds * 1000), MOST_MS))


def unpack_wiring(words: npt.NDArray[np.uint32], n_gates: int, *, wide: bool) -> npt.NDArray[np.int64]:
    """Turn rows of packed wiring into sources, shape (rows, n_gates, 2)."""
    nodes = np.ascontiguousarray(words).astype("<u4", copy=False).view("<u2" if wide else "u1")
    return nodes[:, : 2 * n_gates].reshape(len(words), n_gates, 2).astype(np.int64)


def pack_wiring(sources: npt.NDArray[np.integer[Any]], *, wide: bool) -> npt.NDArray[np.uint32]:
    """Turn sources of shape (rows, n_gates, 2) into rows of packed wiring: the inverse of `unpack_wiring`."""
    nodes = sources.reshape(len(sources), -1).astype("<u2" if wide else "u1")
    filler = -nodes.shape[1] % (2 if wide else 4)
    return np.pad(nodes, ((0, 0), (0, filler))).view("<u4")


class GpuBatch:
    """Running searches of one shape."""

    def __init__(self, device: Device, packed: PackedBatch) -> None:
        self.device, self.layout, self.numbered, self.jobs = device, packed.layout, packed.numbered, packed.jobs
        self.queue = device.queue()
        shape, n = self.layout.shape, len(self.numbered)
        n_slots = min(self.layout.networks, n)
        history_room = int(self.jobs["history"].max())
        begun = [(job, since) for _, job, since in self.numbered if since is not None]
        slots = np.zeros(n_slots, dtype=SLOT)
        slots["search"] = EMPTY
        slots[: len(begun)] = _begun_slots(begun)
        counters = np.zeros(1, dtype=COUNTERS)
        counters["next"] = len(begun)
        self.active = np.arange(n_slots, dtype=np.uint32)
        """Slots that the next launch continues."""
        self.buffers = {
            "inputs": device.put(packed.inputs),
            "targets": device.put(packed.targets),
            "jobs": device.put(self.jobs),
            "slots": device.put(slots),
            "wiring": self._put_rows(n_slots, shape.wiring_words, self._packed_wirings([since.sources for _, since in begun])),
            "history": self._put_rows(n_slots, history_room, [since.history for _, since in begun]),
            "best": self._put_rows(n, shape.wiring_words, self._packed_wirings([since.best for _, since in begun])),
            "results": device.empty(n, RESULT),
            "finished": device.empty(n, np.uint32),
            "counters": device.put(counters),
            "active": device.put(self.active),
        }
        self.record = np.zeros(1, dtype=BATCH)
        for name, number in zip(("n_inputs", "n_gates", "n_targets"), shape, strict=False):
            self.record[name] = number
        self.record["n_searches"] = n
        self.record["history_room"] = history_room
        self.rounds, self.began, self.origin = FIRST_ROUNDS, 0.0, time.monotonic()
        self.n_finished = self.n_taken = self.steps = 0
        self.all_begun = self.stopping = False

    def _packed_wirings(self, wirings: list[npt.NDArray[np.uint32]]) -> list[npt.NDArray[np.uint32]]:
        return list(pack_wiring(np.stack(wirings), wide=self.layout.shape.wide)) if wirings else []

    def _put_rows(self, count: int, width: int, first: Sequence[npt.NDArray[Any]]) -> Any:
        """Allocate rows of words on the device, the first of them with these values."""
        if not first:
            return self.device.empty(count, (np.uint32, (width,)))
        rows = np.zeros((count, width), dtype=np.uint32)
        for row, values in zip(rows, first, strict=False):
            row[: len(values)] = values
        return self.device.put(rows)

    @property
    def done(self) -> bool:
        """Whether nothing is left to launch."""
        return self.n_finished + self.n_taken == len(self.numbered) or self.stopping

    @property
    def ready(self) -> bool:
        """Whether the last launch has ended."""
        return self.device.is_done(self.queue)

    @property
    def share(self) -> float:
        """Share of the device that the running searches fill when packed densely."""
        return len(self.active) / self.layout.networks

    def launch(self, *, spread: float = 1.0, stop: bool = False) -> None:
        """Start the next launch."""
        record, layout, n_active = self.record, self.layout, len(self.active)
        for name in POINTERS:
            record[name] = self.device.address(self.buffers[name])
        self.began = time.monotonic()
        record["rounds"], record["stop"], record["n_active"] = self.rounds, stop, n_active
        record["now_ms"] = int((self.began - self.origin) * 1000)
        self.stopping = stop
        closest = -(-n_active // layout.networks_per_block)
        blocks = max(closest, min(int(closest * spread), layout.blocks, n_active))
        self.device.launch(self.queue, layout.constants, record, blocks, layout.lanes, layout.block_bytes)

    def harvest(self) -> list[tuple[NumberedJob, Outcome]]:
        """Return the outcomes of the searches that ended in the last launch."""
        counters = self.device.get(self.buffers["counters"]).view(COUNTERS).ravel()[0]
        self._choose_rounds(int(counters["ran_ns"]) / 1e9 or time.monotonic() - self.began)
        self.steps = int(counters["steps"])
        before, self.n_finished = self.n_finished, int(counters["finished"])
        self.all_begun = counters["next"] >= len(self.numbered)
        if before == self.n_finished:
            return []
        if self.all_begun:
            self._drop_empty_slots()
        chosen = self.device.get(self.buffers["finished"], slice(before, self.n_finished)).view(np.uint32).ravel()
        return self._outcomes(chosen)

    def take_out(self, count: int) -> list[tuple[NumberedJob, Checkpoint]]:
        """Take some searches off the device, to be continued elsewhere; must not be called during a launch."""
        # Searches with a time limit stay, because their clock runs here.
        slots = self._slots()[self.active]
        busy = np.flatnonzero(slots["search"] != EMPTY)
        movable = busy[self.jobs["limit_ms"][slots["search"][busy]] == 0][:count]
        taken = self._checkpoints(self.active[movable], slots[movable])
        self._continue_only(np.delete(self.active, movable))
        self.n_taken += len(taken)
        return taken

    def _choose_rounds(self, elapsed: float) -> None:
        """Choose the rounds of the next launch so that it takes about `seconds_per_launch`."""
        wanted = self.rounds * self.device.seconds_per_launch / max(elapsed, 1e-6)
        self.rounds = max(LEAST_ROUNDS, int(min(wanted, 4 * self.rounds)))

    def _slots(self) -> npt.NDArray[Any]:
        return self.device.get(self.buffers["slots"]).view(SLOT).ravel()

    def _drop_empty_slots(self) -> None:
        """Once every search has begun, continue only the slots that hold one."""
        self._continue_only(self.active[self._slots()["search"][self.active] != EMPTY])

    def _continue_only(self, active: npt.NDArray[np.uint32]) -> None:
        if 0 < len(active) < len(self.active):
            self.buffers["active"] = self.device.put(active)
        self.active = active

    def _checkpoints(self, places: npt.NDArray[np.uint32], slots: npt.NDArray[Any]) -> list[tuple[NumberedJob, Checkpoint]]:
        if not len(places):
            return []
        sources = self._wirings("wiring", places)
        best = self._wirings("best", slots["search"])
        histories = self.device.get(self.buffers["history"], places).view(np.uint32).astype(np.uint64)
        return [
            (
                self.numbered[slot["search"]],
                Checkpoint(
                    step=int(slot["step"]),
                    iterations=int(slot["iterations"]),
                    restart=int(slot["restart"]),
                    best_cost=int(slot["best"]),
                    random=slot["random"].copy(),
                    sources=sources[k].astype(np.uint32),
                    best=best[k].astype(np.uint32),
                    history=histories[k, : self.jobs["history"][slot["search"]]].copy(),
                ),
            )
            for k, slot in enumerate(slots)
        ]

    def _wirings(self, name: str, rows: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
        shape = self.layout.shape
        words = self.device.get(self.buffers[name], rows).view(np.uint32)
        return unpack_wiring(words, shape.gates, wide=shape.wide)

    def _outcomes(self, chosen: npt.NDArray[np.uint32]) -> list[tuple[NumberedJob, Outcome]]:
        results = self.device.get(self.buffers["results"], chosen).view(RESULT).ravel()
        return [
            (
                self.numbered[search],
                Outcome(
                    sources=wiring,
                    cost=int(result["cost"]),
                    iterations=int(result["iterations"]),
                    restarts=int(result["restarts"]),
                    live_gates=int(result["live"]),
                    stopped=bool(result["stopped"]),
                ),
            )
            for search, result, wiring in zip(chosen, results, self._wirings("best", chosen), strict=True)
        ]
