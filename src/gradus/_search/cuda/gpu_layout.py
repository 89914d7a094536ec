"""Which searches share a batch, and how the networks of a batch are laid out on a GPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from gradus._search.job import Job, largest_cost

__all__ = ["BatchShape", "DeviceLimits", "Layout", "choose_layout", "shape_of", "why_not"]

MAX_HISTORY = 1 << 20
MOST_NODES = 1 << 16
MOST_COST = 2**32 - 1
BLOCKS_WANTED = 4
"""Warps per multiprocessor that hide each other's latency; more would only mean more instructions."""
MOST_BLOCKS = 16


class BatchShape(NamedTuple):
    """What all searches of a batch have in common."""

    inputs: int
    gates: int
    targets: int
    words: int
    """32-bit words of a node's value."""

    @property
    def nodes(self) -> int:
        """Inputs and gates."""
        return self.inputs + self.gates

    @property
    def wide(self) -> bool:
        """Whether a source takes two bytes."""
        return self.nodes > 256

    @property
    def wiring_words(self) -> int:
        """32-bit words of a packed wiring."""
        return self.gates if self.wide else (self.gates + 1) // 2

    @property
    def shared_bytes(self) -> int:
        """Shared memory of one network."""
        live = 2 * ((self.gates + 31) // 32)
        return 4 * ((self.nodes + self.targets) * self.words + self.wiring_words + live)


class DeviceLimits(NamedTuple):
    """Resources of a GPU."""

    multiprocessors: int
    shared_bytes: int
    """Shared memory of a multiprocessor."""
    block_bytes: int
    """The most that one block can use."""
    reserved_bytes: int
    """What the system reserves of it per block."""


@dataclass(frozen=True)
class Layout:
    """How the networks of a shape are spread over a GPU, and the constants that their kernel is compiled with."""

    shape: BatchShape
    lanes: int
    blocks: int
    """Blocks resident at a time on the whole GPU; a block is one warp."""
    group: int
    draws: int
    refresh: int

    @property
    def networks(self) -> int:
        """Searches running at a time."""
        return self.lanes * self.blocks

    @property
    def block_bytes(self) -> int:
        """Shared memory of a block."""
        return self.lanes * self.shape.shared_bytes

    @property
    def constants(self) -> dict[str, int]:
        """Constants that the kernel's source expects to be defined."""
        return {
            "WORDS": self.shape.words,
            "WIDE": int(self.shape.wide),
            "LANES": self.lanes,
            "GROUP": self.group,
            "DRAWS": self.draws,
            "REFRESH": self.refresh,
        }


def shape_of(job: Job) -> BatchShape:
    """Shape of a job's searches."""
    n, targets = job.Y.shape
    return BatchShape(job.X.shape[1], job.settings.n_gates(targets), targets, (n + 31) // 32)


def why_not(job: Job, limits: DeviceLimits) -> str | None:
    """Return why a job cannot run on a GPU; None if it can."""
    shape = shape_of(job)
    if shape.nodes > MOST_NODES:
        return f"{shape.nodes} nodes are more than the {MOST_NODES} that the kernel can number"
    if shape.shared_bytes > limits.block_bytes:
        return f"a network takes {shape.shared_bytes} bytes and a multiprocessor has {limits.block_bytes}"
    if job.settings.history > MAX_HISTORY:
        return f"a history of {job.settings.history} is longer than {MAX_HISTORY}"
    if largest_cost("lw", shape.targets, len(job.Y)) > MOST_COST:
        return "its cost can exceed 32 bits"
    if job.settings.time_limit == 0:
        return "its time limit is 0"
    return None


def choose_layout(shape: BatchShape, limits: DeviceLimits) -> Layout:
    """Choose how many networks share a warp.

    Examples
    --------
    >>> h200 = DeviceLimits(132, 233_472, 232_448, 1024)
    >>> choose_layout(BatchShape(inputs=12, gates=126, targets=6, words=3), h200).networks
    14784
    """
    best = (0, 0)
    lanes = 32
    while lanes:
        blocks = min(limits.shared_bytes // (lanes * shape.shared_bytes + limits.reserved_bytes), MOST_BLOCKS)
        if lanes * shape.shared_bytes <= limits.block_bytes and min(blocks, BLOCKS_WANTED) > best[1]:
            best = (lanes, blocks)
        lanes //= 2
    lanes, blocks = best
    return Layout(
        shape=shape,
        lanes=lanes,
        blocks=blocks * limits.multiprocessors,
        group=2 if shape.words <= 4 else 1,
        draws=12,
        refresh=64,
    )
