"""Searches of one shape on a device: their tables, launch after launch, until all have ended."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gradus.search.cuda.device import Device
from gradus.search.cuda.plan import Layout, Shape
from gradus.search.cuda.tables import BATCH, COUNTERS, JOB, LOSS_CODES, NOTHING, POINTERS, RESULT, SLOT, unpack_wiring
from gradus.search.front import Found, attempt_seeds

if TYPE_CHECKING:
    from gradus.learner import Prepared

__all__ = ["Attempt", "Batch", "attempts_of"]

FIRST_ROUNDS = 256
LEAST_ROUNDS = 16
MOST_MS = 2**32 - 1


class Attempt(NamedTuple):
    """One search of a job."""

    job: int
    attempt: int
    prepared: Prepared
    seed: npt.NDArray[np.uint64]


def attempts_of(index: int, prepared: Prepared) -> list[Attempt]:
    """Every search that a job asks for."""
    seeds = attempt_seeds(prepared.seed, prepared.settings.attempts)
    return [Attempt(index, number, prepared, seed) for number, seed in enumerate(seeds)]


def _pack32(tables: Sequence[npt.NDArray[np.bool_]], words: int) -> npt.NDArray[np.uint32]:
    """Pack the columns of many tables of equal width in 32-bit words, shape (tables, columns, words)."""
    packed = np.zeros((len(tables), tables[0].shape[1], 4 * words), dtype=np.uint8)
    lengths = np.array([len(table) for table in tables])
    # Tables of one length at a time: a call of NumPy for each table would take longer than the search of some.
    for n in np.unique(lengths):
        chosen = np.flatnonzero(lengths == n)
        stacked: npt.NDArray[np.bool_] = np.stack([tables[int(k)] for k in chosen])
        bits = np.packbits(stacked, axis=1, bitorder="little")
        packed[chosen, :, : bits.shape[1]] = bits.transpose(0, 2, 1)
    return packed.view("<u4")


def _pack_examples(attempts: Sequence[Attempt], shape: Shape) -> tuple[Any, Any, npt.NDArray[np.uint32]]:
    """Pack inputs and targets of every job, once each, and say which of them each attempt learns from."""
    jobs = {one.job: one.prepared for one in attempts}
    places = {job: place for place, job in enumerate(jobs)}
    inputs = _pack32([prepared.X for prepared in jobs.values()], shape.words)
    targets = _pack32([prepared.Y for prepared in jobs.values()], shape.words)
    return inputs, targets, np.array([places[one.job] for one in attempts], dtype=np.uint32)


def _job_table(attempts: Sequence[Attempt], data: npt.NDArray[np.uint32]) -> npt.NDArray[Any]:
    table = np.zeros(len(attempts), dtype=JOB)
    table["data"] = data
    table["seed"] = [one.seed for one in attempts]
    table["examples"] = [len(one.prepared.Y) for one in attempts]
    table["loss"] = [LOSS_CODES[one.prepared.settings.loss] for one in attempts]
    for name in ("max_iterations", "shrink", "history"):
        table[name] = [getattr(one.prepared.settings, name) for one in attempts]
    table["restarts"] = [min(one.prepared.settings.restarts, 2**32 - 1) for one in attempts]
    table["limit_ms"] = [_milliseconds(one.prepared.settings.time_limit) for one in attempts]
    return table


def _milliseconds(seconds: float | None) -> int:
    """Turn a time limit into what the kernel takes: 0 for none."""
    return 0 if seconds is None else max(1, min(int(seconds * 1000), MOST_MS))


class Batch:
    """Searches of one shape, on their way."""

    def __init__(self, device: Device, layout: Layout, attempts: Sequence[Attempt]) -> None:
        self.device, self.layout, self.attempts = device, layout, attempts
        self.queue = device.queue()
        shape, n = layout.shape, len(attempts)
        inputs, targets, data = _pack_examples(attempts, shape)
        jobs = _job_table(attempts, data)
        n_slots = min(layout.networks, n)
        history_room = int(jobs["history"].max())
        slots = np.zeros(n_slots, dtype=SLOT)
        slots["search"] = NOTHING
        self.buffers = {
            "inputs": device.put(inputs),
            "targets": device.put(targets),
            "jobs": device.put(jobs),
            "slots": device.put(slots),
            "wiring": device.empty(n_slots, (np.uint32, (shape.wiring_words,))),
            "history": device.empty(n_slots, (np.uint32, (history_room,))),
            "best": device.empty(n, (np.uint32, (shape.wiring_words,))),
            "results": device.empty(n, RESULT),
            "finished": device.empty(n, np.uint32),
            "counters": device.put(np.zeros(1, dtype=COUNTERS)),
            "active": device.put(np.arange(n_slots, dtype=np.uint32)),
        }
        self.record = np.zeros(1, dtype=BATCH)
        for name, number in zip(("n_inputs", "n_gates", "n_targets"), shape, strict=False):
            self.record[name] = number
        self.record["n_searches"], self.record["n_active"] = n, n_slots
        self.record["history_room"] = history_room
        self.rounds, self.began, self.origin = FIRST_ROUNDS, 0.0, time.monotonic()
        self.n_finished = self.steps = 0
        self.stopping = False

    @property
    def done(self) -> bool:
        """Whether nothing is left to launch."""
        return self.n_finished == len(self.attempts) or self.stopping

    def launch(self, *, stop: bool = False) -> None:
        """Begin the next launch; with `stop`, one that ends every search with the best it has."""
        record, layout = self.record, self.layout
        for name in POINTERS:
            record[name] = self.device.address(self.buffers[name])
        self.began = time.monotonic()
        record["rounds"], record["stop"] = self.rounds, stop
        record["now_ms"] = int((self.began - self.origin) * 1000)
        self.stopping = stop
        blocks = min(layout.blocks, int(record["n_active"][0]))
        self.device.launch(self.queue, layout.constants, record, blocks, layout.lanes, layout.block_bytes)

    def harvest(self) -> list[tuple[Attempt, Found]]:
        """Wait for the launch and return what ended in it."""
        self.device.wait(self.queue)
        elapsed = time.monotonic() - self.began
        self._choose_rounds(elapsed)
        counters = self.device.get(self.buffers["counters"]).view(COUNTERS).ravel()[0]
        self.steps = int(counters["steps"])
        before, self.n_finished = self.n_finished, int(counters["finished"])
        if counters["next"] >= len(self.attempts):
            self._close_ranks()
        if before == self.n_finished:
            return []
        chosen = self.device.get(self.buffers["finished"], slice(before, self.n_finished)).view(np.uint32).ravel()
        return self._found(chosen)

    def _choose_rounds(self, elapsed: float) -> None:
        """Make the next launch about as long as launches should be."""
        wanted = self.rounds * self.device.seconds_a_launch / max(elapsed, 1e-6)
        if self.share < 0.5 and wanted < self.rounds:
            return  # the few that are left mostly waited for other batches, and are to get their turn in full
        self.rounds = max(LEAST_ROUNDS, int(min(wanted, 4 * self.rounds)))

    @property
    def share(self) -> float:
        """How much of the device the searches under way fill."""
        return int(self.record["n_active"][0]) / self.layout.networks

    def _close_ranks(self) -> None:
        """Once the queue is empty, carry on only the slots that hold a search."""
        slots = self.device.get(self.buffers["slots"]).view(SLOT).ravel()
        busy = np.flatnonzero(slots["search"] != NOTHING).astype(np.uint32)
        if 0 < len(busy) < int(self.record["n_active"][0]):
            self.buffers["active"] = self.device.put(busy)
            self.record["n_active"] = len(busy)

    def _found(self, chosen: npt.NDArray[np.uint32]) -> list[tuple[Attempt, Found]]:
        shape = self.layout.shape
        results = self.device.get(self.buffers["results"], chosen).view(RESULT).ravel()
        words = self.device.get(self.buffers["best"], chosen).view(np.uint32)
        wirings = unpack_wiring(words, shape.gates, wide=shape.wide)
        return [
            (
                self.attempts[search],
                Found(
                    sources=wiring,
                    cost=int(result["cost"]),
                    iterations=int(result["iterations"]),
                    restarts=int(result["restarts"]),
                    live_gates=int(result["live"]),
                    stopped=bool(result["stopped"]),
                ),
            )
            for search, result, wiring in zip(chosen, results, wirings, strict=True)
        ]
