"""Stands in for the new learner until it arrives: the paper's search behind the signature of `learn`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._checks import check_choice, check_count, check_seed, check_time_limit
from gradus._network import Network
from gradus._progress import Callback, Progress
from gradus._search.search import search
from gradus.errors import ConflictError

__all__ = ["LearnResult", "learn"]


@dataclass(frozen=True, eq=False)
class LearnResult:
    """What `learn` found."""

    network: Network
    circuits: tuple[Network, ...]
    n_voting: int
    order: tuple[int, ...]
    errors: tuple[int, ...]
    wrong_rows: tuple[tuple[int, ...], ...]
    constant: tuple[bool, ...]
    converged: bool
    n_gates: int
    stopped: str | None

    def predict(self, X: Any) -> npt.NDArray[np.bool_]:
        """Predict every target by majority."""
        return np.asarray(self.predict_proba(X) > 0.5)

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Share of the circuits that say 1."""
        return np.asarray(np.mean([circuit.predict(X) for circuit in self.circuits], axis=0))


def learn(
    X: Any,
    Y: Any,
    *,
    order: str | Sequence[int] | None = "self-paced",
    gates: str = "any",
    noise: float | str = "auto",
    n_tries: int = 3,
    n_circuits: int = 1,
    time_limit: float | None = None,
    seed: int = 0,
    n_jobs: int = 1,
    callback: Callback | None = None,
) -> LearnResult:
    """Learn a circuit from examples."""
    check_choice("gates", gates, ("any", "nand"))
    check_count("n_tries", n_tries)
    check_count("n_circuits", n_circuits)
    check_count("n_jobs", n_jobs)
    check_time_limit(time_limit)
    known = ~np.isnan(np.asarray(Y, dtype=np.float64))
    bits = np.where(known, np.nan_to_num(np.asarray(Y, dtype=np.float64)), 0).astype(bool)
    wanted: Any = "auto" if isinstance(order, str) and order == "self-paced" else order

    def watch(progress: Any) -> Any:
        return callback is not None and callback(Progress(stage="fit", total=bits.shape[1], steps=1))

    def run(number: int, way: Any) -> Any:
        limits: dict[str, Any] = {
            "max_iter": 300_000 if way is None else 3_000_000,
            "n_restarts": 2,
            "time_limit": time_limit,
            "callback": watch,
        }
        return search(X, bits, order=way, loss="l1" if way is None else "lgh", seed=check_seed(seed) + number, **limits)

    try:
        found = [run(number, wanted) for number in range(n_circuits)]
    except ConflictError:
        found = [run(number, None) for number in range(n_circuits)]
    circuits = tuple(one.network.prune() for one in found)
    wrong = (circuits[0].predict(X) != bits) & known
    return LearnResult(
        network=circuits[0],
        circuits=circuits,
        n_voting=len(circuits),
        order=found[0].order,
        errors=tuple(wrong.sum(axis=0).tolist()),
        wrong_rows=tuple(tuple(np.flatnonzero(column).tolist()) for column in wrong.T),
        constant=tuple(False for _ in wrong.T),
        converged=not wrong.any(),
        n_gates=circuits[0].n_gates,
        stopped="time_limit" if any(one.stopped for one in found) else None,
    )
