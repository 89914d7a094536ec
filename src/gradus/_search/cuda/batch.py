"""Searches of one shape on a device: their tables, launch after launch, until all have ended."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._search.checkpoint import Checkpoint
from gradus._search.cuda.device import Device
from gradus._search.cuda.plan import Layout, Shape
from gradus._search.cuda.tables import BATCH, COUNTERS, JOB, LOSS_CODES, NOTHING, POINTERS, RESULT, SHRINK, SLOT, unpack_wiring
from gradus._search.front import Outcome, attempt_seeds

if TYPE_CHECKING:
    from gradus._search.learner import Job

__all__ = ["Attempt", "Batch", "Packed", "attempts_of", "pack_attempts"]

FIRST_ROUNDS = 256
LEAST_ROUNDS = 16
MOST_MS = 2**32 - 1


class Attempt(NamedTuple):
    """One search of a job."""

    job: int
    attempt: int
    prepared: Job
    seed: npt.NDArray[np.uint64]


class Packed(NamedTuple):
    """Searches of one shape, ready to be copied to a device."""

    layout: Layout
    attempts: Sequence[Attempt]
    inputs: npt.NDArray[np.uint32]
    targets: npt.NDArray[np.uint32]
    jobs: npt.NDArray[Any]


def attempts_of(index: int, prepared: Job) -> list[Attempt]:
    """Every search that a job asks for."""
    seeds = attempt_seeds(prepared.seed, prepared.settings.attempts)
    return [Attempt(index, number, prepared, seed) for number, seed in enumerate(seeds)]


def pack_attempts(layout: Layout, attempts: Sequence[Attempt]) -> Packed:
    """Turn searches into tables, each job's examples once."""
    jobs = {one.job: one.prepared for one in attempts}
    places = {job: place for place, job in enumerate(jobs)}
    inputs = _pack32([prepared.X for prepared in jobs.values()], layout.shape.words)
    targets = _pack32([prepared.Y for prepared in jobs.values()], layout.shape.words)
    data = np.array([places[one.job] for one in attempts], dtype=np.uint32)
    return Packed(layout, attempts, inputs, targets, _job_table(attempts, data))


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


def _job_table(attempts: Sequence[Attempt], data: npt.NDArray[np.uint32]) -> npt.NDArray[Any]:
    table = np.zeros(len(attempts), dtype=JOB)
    table["data"] = data
    table["seed"] = [one.seed for one in attempts]
    table["examples"] = [len(one.prepared.Y) for one in attempts]
    table["loss"] = [LOSS_CODES[one.prepared.settings.loss] for one in attempts]
    for name in ("max_iter", "shrink", "history"):
        table[name] = [getattr(one.prepared.settings, name) for one in attempts]
    table["restarts"] = [min(one.prepared.settings.n_restarts, 2**32 - 1) for one in attempts]
    table["limit_ms"] = [_milliseconds(one.prepared.settings.time_limit) for one in attempts]
    return table


def _milliseconds(seconds: float | None) -> int:
    """Turn a time limit into what the kernel takes: 0 for none."""
    return 0 if seconds is None else max(1, min(int(seconds * 1000), MOST_MS))


class Batch:
    """Searches of one shape, on their way."""

    def __init__(self, device: Device, packed: Packed) -> None:
        self.device, self.layout, self.attempts, self.jobs = device, packed.layout, packed.attempts, packed.jobs
        self.queue = device.queue()
        shape, n = self.layout.shape, len(self.attempts)
        n_slots = min(self.layout.networks, n)
        history_room = int(self.jobs["history"].max())
        slots = np.zeros(n_slots, dtype=SLOT)
        slots["search"] = NOTHING
        self.active = np.arange(n_slots, dtype=np.uint32)
        """Slots that the next launch carries on."""
        self.buffers = {
            "inputs": device.put(packed.inputs),
            "targets": device.put(packed.targets),
            "jobs": device.put(self.jobs),
            "slots": device.put(slots),
            "wiring": device.empty(n_slots, (np.uint32, (shape.wiring_words,))),
            "history": device.empty(n_slots, (np.uint32, (history_room,))),
            "best": device.empty(n, (np.uint32, (shape.wiring_words,))),
            "results": device.empty(n, RESULT),
            "finished": device.empty(n, np.uint32),
            "counters": device.put(np.zeros(1, dtype=COUNTERS)),
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

    @property
    def done(self) -> bool:
        """Whether nothing is left to launch."""
        return self.n_finished + self.n_taken == len(self.attempts) or self.stopping

    @property
    def ready(self) -> bool:
        """Whether the last launch has ended."""
        return self.device.is_done(self.queue)

    @property
    def share(self) -> float:
        """How much of the device the searches under way fill when they stand close together."""
        return len(self.active) / self.layout.networks

    def launch(self, *, spread: float = 1.0, stop: bool = False) -> None:
        """Begin the next launch.

        Parameters
        ----------
        spread : float
            How many times as many blocks to take as the searches need. A warp with few searches is quicker, and takes as
            much of the device as a full one.
        stop : bool
            End every search with the best it has.
        """
        record, layout, n_active = self.record, self.layout, len(self.active)
        for name in POINTERS:
            record[name] = self.device.address(self.buffers[name])
        self.began = time.monotonic()
        record["rounds"], record["stop"], record["n_active"] = self.rounds, stop, n_active
        record["now_ms"] = int((self.began - self.origin) * 1000)
        self.stopping = stop
        closest = -(-n_active // layout.lanes)
        blocks = max(closest, min(int(closest * spread), layout.blocks, n_active))
        self.device.launch(self.queue, layout.constants, record, blocks, layout.lanes, layout.block_bytes)

    def harvest(self) -> list[tuple[Attempt, Outcome]]:
        """Return what ended in the launch that has just ended."""
        counters = self.device.get(self.buffers["counters"]).view(COUNTERS).ravel()[0]
        self._choose_rounds(int(counters["ran_ns"]) / 1e9 or time.monotonic() - self.began)
        self.steps = int(counters["steps"])
        before, self.n_finished = self.n_finished, int(counters["finished"])
        self.all_begun = counters["next"] >= len(self.attempts)
        if before == self.n_finished:
            return []
        if self.all_begun:
            self._close_ranks()
        chosen = self.device.get(self.buffers["finished"], slice(before, self.n_finished)).view(np.uint32).ravel()
        return self._found(chosen)

    def take_out(self, count: int) -> list[tuple[Attempt, Checkpoint]]:
        """Take some searches off the device, to go on elsewhere; not while a launch is under way.

        One with a time limit stays: its clock runs here.
        """
        slots = self._slots()[self.active]
        busy = np.flatnonzero(slots["search"] != NOTHING)
        movable = busy[self.jobs["limit_ms"][slots["search"][busy]] == 0][:count]
        taken = self._under_way(self.active[movable], slots[movable])
        self._carry_on(np.delete(self.active, movable))
        self.n_taken += len(taken)
        return taken

    def _choose_rounds(self, elapsed: float) -> None:
        """Make the next launch about as long as launches should be."""
        wanted = self.rounds * self.device.seconds_a_launch / max(elapsed, 1e-6)
        self.rounds = max(LEAST_ROUNDS, int(min(wanted, 4 * self.rounds)))

    def _slots(self) -> npt.NDArray[Any]:
        return self.device.get(self.buffers["slots"]).view(SLOT).ravel()

    def _close_ranks(self) -> None:
        """Once every search has begun, carry on only the slots that hold one."""
        self._carry_on(self.active[self._slots()["search"][self.active] != NOTHING])

    def _carry_on(self, active: npt.NDArray[np.uint32]) -> None:
        if 0 < len(active) < len(self.active):
            self.buffers["active"] = self.device.put(active)
        self.active = active

    def _under_way(self, places: npt.NDArray[np.uint32], slots: npt.NDArray[Any]) -> list[tuple[Attempt, Checkpoint]]:
        if not len(places):
            return []
        sources = self._wirings("wiring", places)
        best = self._wirings("best", slots["search"])
        histories = self.device.get(self.buffers["history"], places).view(np.uint32).astype(np.uint64)
        return [
            (
                self.attempts[slot["search"]],
                Checkpoint(
                    shrinking=bool(slot["phase"] == SHRINK),
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
        shape: Shape = self.layout.shape
        words = self.device.get(self.buffers[name], rows).view(np.uint32)
        return unpack_wiring(words, shape.gates, wide=shape.wide)

    def _found(self, chosen: npt.NDArray[np.uint32]) -> list[tuple[Attempt, Outcome]]:
        results = self.device.get(self.buffers["results"], chosen).view(RESULT).ravel()
        return [
            (
                self.attempts[search],
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
