"""A search that was left before its end: what taking it up again depends on, on whichever back end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Checkpoint"]


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """One attempt of a search between two steps.

    Attributes
    ----------
    shrinking : bool
        Whether zero error has been reached and a smaller network is looked for.
    step : int
        Steps taken since the last restart, or since shrinking began.
    iterations : int
        Steps of the search before `step` began to count.
    restart : int
        Restarts so far.
    best_cost : int
        Cost of the best network so far; while shrinking, its live gates.
    random : ndarray of uint64, shape (2,)
        State of the generator.
    sources, best : ndarray of uint32, shape (gates, 2)
        Wiring of the network as it stands, and of the best one so far.
    history : ndarray of uint64, shape (L,)
        Costs of the last L steps: that of step s at place s modulo L.
    """

    shrinking: bool
    step: int
    iterations: int
    restart: int
    best_cost: int
    random: npt.NDArray[np.uint64]
    sources: npt.NDArray[np.uint32]
    best: npt.NDArray[np.uint32]
    history: npt.NDArray[np.uint64]
