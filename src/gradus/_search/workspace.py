"""One set of examples, the arrays that a search works on, and the calls of the compiled kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._bits import BoolMatrix, n_words, pack, tail_mask
from gradus._search.checkpoint import Checkpoint
from gradus._search.objective import make_objective
from gradus._search.settings import Settings
from gradus._search.structures import Examples, Number, Objective, Shape, State
from gradus.errors import SettingsError

__all__ = ["Workspace"]

WIDTHS = (1, 2, 4, 8)
"""Words of a value for which there is compiled code of its own; more words share one that takes any number."""
MAX_STATE_BYTES = 16 << 30
NO_COST_YET = np.iinfo(np.uint64).max


class Workspace:
    """A search that is driven step by step: `seed`, `start`, `descend` to cost zero, `start_shrinking`, `shrink`.

    Parameters
    ----------
    X, Y : ndarray of bool, shapes (n, l) and (n, m)
        Examples, the columns of Y in curriculum order.
    settings : Settings
        Sizes and loss.
    objective : Objective, optional
        What to minimise instead of ``settings.loss``.
    """

    def __init__(self, X: BoolMatrix, Y: BoolMatrix, settings: Settings, objective: Objective | None = None) -> None:
        n, m = Y.shape
        needed = n_words(n)
        words = next((width for width in WIDTHS if width >= needed), needed)
        self.settings = settings
        self.width = (0,) * words if words in WIDTHS else ()
        gates = settings.n_gates(m)
        self.shape = Shape(*(np.uint64(k) for k in (X.shape[1], gates, m, words, n, settings.history)))
        self.state = _make_state(self.shape)
        self.state.values[: X.shape[1] * words] = pack(X, words).ravel()
        self.examples = Examples(pack(Y, words).ravel(), tail_mask(n, words))
        self.objective = make_objective(settings.loss, m) if objective is None else objective
        # Numba takes a second to import, so it is imported where a kernel is about to be called and not before.
        from gradus._search import kernel

        self._kernel: Any = kernel

    def seed(self, words: npt.NDArray[np.uint64]) -> None:
        """Set the generator and forget the best network."""
        self.state.random[:] = words
        self.state.numbers[Number.BEST] = NO_COST_YET

    def start(self) -> None:
        """Draw a random network."""
        self._kernel.start(self.shape, self.width, self.examples, self.objective, self.state)

    def descend(self, steps: int) -> int:
        """Take at most `steps` steps, fewer if the cost reaches zero; return how many were taken."""
        taken = self._kernel.descend(self.shape, self.width, self.examples, self.objective, self.state, np.uint64(steps))
        return int(taken)

    def start_shrinking(self) -> None:
        """Go from a network of cost zero over to making it smaller."""
        self._kernel.start_shrinking(self.shape, self.state)

    def shrink(self, steps: int) -> int:
        """Take `steps` steps of shrinking; return their number."""
        self._kernel.shrink(self.shape, self.width, self.examples, self.objective, self.state, np.uint64(steps))
        return steps

    def restore_search(self, since: Checkpoint) -> None:
        """Go on with a search that was left, here or elsewhere, in the middle of a restart or of shrinking."""
        state, numbers = self.state, self.state.numbers
        state.random[:], state.history[:] = since.random, since.history
        state.sources[:], state.best[:] = since.sources.ravel(), since.best.ravel()
        numbers[Number.STEP], numbers[Number.SLOT] = since.step, since.step % len(state.history)
        numbers[Number.BEST] = since.best_cost
        self._kernel.restore_search(self.shape, self.width, self.examples, self.objective, state, since.shrinking)

    def leave(self, *, shrinking: bool, iterations: int, restart: int) -> Checkpoint:
        """Copy what `restore_search` needs; the rest is what only the caller knows."""
        state = self.state
        return Checkpoint(
            shrinking=shrinking,
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
        """Cost of the network as it stands; the number of live gates while shrinking."""
        return int(self.state.numbers[Number.COST])

    @property
    def best_cost(self) -> int:
        """Cost of the best network so far."""
        return int(self.state.numbers[Number.BEST])

    @property
    def step(self) -> int:
        """Steps since the start, or since shrinking began."""
        return int(self.state.numbers[Number.STEP])

    def first_wrong(self) -> int:
        """Return the position of the first target that is not right yet; the number of targets if all are."""
        return int(self._kernel.first_wrong(self.shape, self.width, self.examples, self.objective, self.state))

    def best_sources(self) -> npt.NDArray[np.int64]:
        """Return the wiring of the best network so far, shape (n_gates, 2)."""
        return self.state.best.reshape(-1, 2).astype(np.int64)

    def best_live_gates(self) -> int:
        """Return how many gates of the best network an output depends on."""
        return int(self._kernel.count_live(self.shape, self.state.best, self.state.stack))


def _make_state(shape: Shape) -> State:
    inputs, gates, targets, words, _, history = (int(size) for size in shape)
    nodes, gate_words = inputs + gates, n_words(gates)
    size = 8 * (2 * nodes * words + 2 * gates * gate_words + history)
    if size > MAX_STATE_BYTES:
        raise SettingsError(
            f"a search with {gates} gates on {int(shape.examples)} examples takes {size >> 30} GB; "
            "use fewer examples or fewer gates."
        )
    return State(
        values=np.zeros(nodes * words, dtype=np.uint64),
        undo=np.zeros(nodes * words, dtype=np.uint64),
        sources=np.zeros(2 * gates, dtype=np.uint32),
        best=np.zeros(2 * gates, dtype=np.uint32),
        live=np.zeros(gate_words, dtype=np.uint64),
        reach=np.zeros(gates * gate_words, dtype=np.uint64),
        known=np.zeros(gate_words, dtype=np.uint64),
        fanout=np.zeros(gates * gate_words, dtype=np.uint64),
        readers=np.zeros(nodes, dtype=np.uint32),
        stack=np.zeros(2 * gates + 2, dtype=np.uint32),
        bad=np.zeros(targets * words, dtype=np.uint64),
        history=np.zeros(history, dtype=np.uint64),
        random=np.zeros(2, dtype=np.uint64),
        numbers=np.zeros(len(Number), dtype=np.uint64),
    )
