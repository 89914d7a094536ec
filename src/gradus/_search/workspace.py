"""`Workspace`: the arrays of one search, and calls of the compiled kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._core.bits import n_words, pack, tail_mask
from gradus._search.job import LOSS_CODES, Checkpoint, Job, generator_state
from gradus._search.state import Number, PackedTargets, SearchShape, make_state

__all__ = ["Workspace"]

WIDTHS = (1, 2, 4, 8)
"""Numbers of words per value with compiled code of their own; all other numbers share one version."""
NO_COST_YET = np.iinfo(np.uint64).max


class Workspace:
    """A search that is driven step by step: `start` a network, then `descend` to cost zero."""

    def __init__(self, job: Job) -> None:
        n, m = job.Y.shape
        needed = n_words(n)
        words = next((width for width in WIDTHS if width >= needed), needed)
        self.width = (0,) * words if words in WIDTHS else ()
        settings, n_inputs = job.settings, job.X.shape[1]
        sizes = (n_inputs, settings.n_gates(m), m, words, n, settings.history, LOSS_CODES[settings.loss])
        self.shape = SearchShape(*(np.uint64(size) for size in sizes))
        self.state = make_state(self.shape)
        self.state.values[: n_inputs * words] = pack(job.X, words).ravel()
        self.state.random[:] = generator_state(job.seed)
        self.state.numbers[Number.BEST] = NO_COST_YET
        self.targets = PackedTargets(pack(job.Y, words).ravel(), tail_mask(n, words))
        # Numba takes a second to import, so it is imported where a kernel is about to be called and not before.
        from gradus._search import kernel

        self._kernel: Any = kernel

    def start(self) -> None:
        """Draw a random network."""
        self._kernel.start(self.shape, self.width, self.targets, self.state)

    def descend(self, steps: int) -> int:
        """Take at most `steps` steps, fewer if the cost reaches zero; return how many were taken."""
        return int(self._kernel.descend(self.shape, self.width, self.targets, self.state, np.uint64(steps)))

    def restore(self, since: Checkpoint) -> None:
        """Return to a checkpoint that was taken here or elsewhere."""
        state, numbers = self.state, self.state.numbers
        state.random[:], state.history[:] = since.random, since.history
        state.sources[:], state.best[:] = since.sources.ravel(), since.best.ravel()
        numbers[Number.STEP], numbers[Number.SLOT] = since.step, since.step % len(state.history)
        numbers[Number.BEST] = since.best_cost
        self._kernel.restore(self.shape, self.width, self.targets, state)

    def checkpoint(self, *, iterations: int, restart: int) -> Checkpoint:
        """Copy what `restore` needs; only the caller knows the restarts and the steps before the last one."""
        state = self.state
        return Checkpoint(
            step=self.step,
            iterations=iterations,
            restart=restart,
            best_cost=self.best_cost,
            random=state.random.copy(),
            sources=state.sources.reshape(-1, 2).copy(),
            best=state.best.reshape(-1, 2).copy(),
            history=state.history.copy(),
        )

    @property
    def cost(self) -> int:
        """Cost of the current network."""
        return int(self.state.numbers[Number.COST])

    @property
    def best_cost(self) -> int:
        """Cost of the best network so far."""
        return int(self.state.numbers[Number.BEST])

    @property
    def step(self) -> int:
        """Steps since the last start."""
        return int(self.state.numbers[Number.STEP])

    def first_wrong(self) -> int:
        """Return the position of the first target that is still wrong; the number of targets if none is."""
        return int(self._kernel.first_wrong(self.shape, self.width, self.targets, self.state))

    def best_sources(self) -> npt.NDArray[np.int64]:
        """Return the wiring of the best network so far, shape (n_gates, 2)."""
        return self.state.best.reshape(-1, 2).astype(np.int64)

    def best_live_gates(self) -> int:
        """Return how many gates of the best network an output depends on."""
        return int(self._kernel.count_live(self.shape, self.state.best, self.state.stack))
