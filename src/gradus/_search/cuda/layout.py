"""Which searches share a batch, and how the networks of a batch are laid out on a GPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from gradus._search.job import Job, largest_cost

__all__ = ["BatchShape", "DeviceLimits", "Layout", "choose_layout", "possible_layouts", "shape_of", "why_not"]

MAX_HISTORY = 1 << 20
MOST_NODES = 1 << 16
MOST_COST = 2**32 - 1
BLOCKS_WANTED = 4
"""Warps per multiprocessor that hide each other's latency; more warps would only add instructions."""
MOST_BLOCKS = 16
FEW_WORDS = 4
"""Words of a node's value that a lane handles easily by itself."""
STEP_WORDS = 3.2
"""Fixed time of a step, in words: measured on an H200 with 3 and with 12 words."""


class BatchShape(NamedTuple):
    """The sizes that all searches of a batch have in common."""

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

    def lane_bytes(self, parts: int) -> int:
        """Return the shared memory of a lane, if this many lanes share a network."""
        live = 2 * ((self.gates + 31) // 32)
        return 4 * ((self.nodes + self.targets) * -(-self.words // parts) + self.wiring_words + live)


class DeviceLimits(NamedTuple):
    """Resources of a GPU."""

    multiprocessors: int
    shared_bytes: int
    """Shared memory of a multiprocessor."""
    block_bytes: int
    """The most shared memory that one block can use."""
    reserved_bytes: int
    """Shared memory that the system reserves per block."""


@dataclass(frozen=True)
class Layout:
    """How the networks of a shape are laid out on a GPU, and the constants that the kernel is compiled with."""

    shape: BatchShape
    lanes: int
    """Lanes per block."""
    parts: int
    """Lanes that share a network."""
    blocks: int
    """Blocks resident at a time on the whole GPU; a block is one warp."""
    draws: int = 12
    refresh: int = 64

    @property
    def networks_per_block(self) -> int:
        """Searches running in a block."""
        return self.lanes // self.parts

    @property
    def networks(self) -> int:
        """Searches running at a time."""
        return self.networks_per_block * self.blocks

    @property
    def words(self) -> int:
        """32-bit words of a node's value that one lane works on."""
        return -(-self.shape.words // self.parts)

    @property
    def block_bytes(self) -> int:
        """Shared memory of a block."""
        return self.lanes * self.shape.lane_bytes(self.parts)

    @property
    def constants(self) -> dict[str, int]:
        """Constants that the kernel's source needs to be compiled with."""
        return {
            "WORDS": self.words,
            "WIDE": int(self.shape.wide),
            "LANES": self.lanes,
            "PARTS": self.parts,
            "GROUP": 2 if self.words <= FEW_WORDS else 1,
            "DRAWS": self.draws,
            "REFRESH": self.refresh,
        }


def shape_of(job: Job) -> BatchShape:
    """Return the shape of a job's search."""
    n, targets = job.Y.shape
    return BatchShape(job.X.shape[1], job.settings.n_gates(targets), targets, (n + 31) // 32)


def why_not(job: Job, limits: DeviceLimits) -> str | None:
    """Return why a job cannot run on a GPU; None if it can."""
    shape = shape_of(job)
    if shape.nodes > MOST_NODES:
        return f"{shape.nodes} nodes are more than the {MOST_NODES} that the kernel can number"
    if shape.lane_bytes(1) > limits.block_bytes:
        return f"a network takes {shape.lane_bytes(1)} bytes and a multiprocessor has {limits.block_bytes}"
    if job.settings.history > MAX_HISTORY:
        return f"a history of {job.settings.history} is longer than {MAX_HISTORY}"
    if largest_cost("lw", shape.targets, len(job.Y)) > MOST_COST:
        return "its cost can exceed 32 bits"
    if job.settings.time_limit == 0:
        return "its time limit is 0"
    return None


def choose_layout(shape: BatchShape, limits: DeviceLimits) -> Layout:
    """Choose how many networks share a warp, and how many lanes share a network."""
    return max(possible_layouts(shape, limits), key=_speed)


def possible_layouts(shape: BatchShape, limits: DeviceLimits) -> list[Layout]:
    """Return the best layout for each number of lanes per network; few words are not worth a copy of the wiring per lane."""
    choices = (1, 2, 4, 8, 16, 32) if shape.words > FEW_WORDS else (1,)
    layouts = [_fullest(shape, parts, limits) for parts in choices if parts <= shape.words]
    return [layout for layout in layouts if layout is not None]


def _fullest(shape: BatchShape, parts: int, limits: DeviceLimits) -> Layout | None:
    """Choose the fullest warps such that enough of them fit; None if nothing fits."""
    best = (0, 0)
    for lanes in (32, 16, 8, 4, 2, 1):
        size = lanes * shape.lane_bytes(parts)
        blocks = min(limits.shared_bytes // (size + limits.reserved_bytes), MOST_BLOCKS)
        if parts <= lanes and size <= limits.block_bytes and min(blocks, BLOCKS_WANTED) > min(best[1], BLOCKS_WANTED):
            best = (lanes, blocks)
    lanes, blocks = best
    return Layout(shape, lanes, parts, blocks * limits.multiprocessors) if blocks else None


def _speed(layout: Layout) -> float:
    """Estimate the relative speed: networks at a time over the duration of a step."""
    return layout.networks / (STEP_WORDS + layout.words)
