"""`learn`: from examples to a network in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import numpy.typing as npt

from gradus._bits import BoolMatrix, as_bits, column_names
from gradus._curriculum import resolve_order
from gradus._network import Network
from gradus._search.front import Callback, Outcome, run_search
from gradus._search.objective import scale
from gradus._search.settings import Settings
from gradus.errors import ConflictError, DataError, SettingsError
from gradus.losses import LossName

if TYPE_CHECKING:
    from gradus._curriculum import Curriculum

__all__ = ["Backend", "Job", "Order", "SearchResult", "make_job", "search"]

Order = Literal["auto", "entropy", "random"] | Sequence[int] | npt.NDArray[np.integer[Any]] | None
Backend = Literal["cpu", "cuda"]


@dataclass(frozen=True, eq=False)
class SearchResult:
    """What `learn` found.

    Attributes
    ----------
    network : Network
        Its outputs are in the caller's column order, whatever order was learned in.
    order : tuple of int
        The target columns in the order they were taught.
    curriculum : Curriculum or None
        How the order was found; None unless ``order="auto"``.
    converged : bool
        Whether every training example is right.
    iterations : int
        Steps to zero error, or in all if it was not reached; steps of shrinking are not counted.
    restarts : int
        How many times the search started again.
    loss : float
        The loss of the network on the training examples, in [0, 1].
    live_gates : int
        Gates that an output depends on.
    stopped : bool
        Whether the time limit, or whoever watched, ended the search early.
    """

    network: Network
    order: tuple[int, ...]
    curriculum: Curriculum | None
    converged: bool
    iterations: int
    restarts: int
    loss: float
    live_gates: int
    stopped: bool


def search(
    X: Any,
    Y: Any,
    *,
    loss: LossName = "lgh",
    order: Order = "auto",
    gates_per_target: int = 21,
    history: int = 250,
    max_iter: int = 256_000_000,
    n_restarts: int = 20,
    shrink: int = 0,
    attempts: int = 1,
    time_limit: float | None = None,
    seed: int = 0,
    backend: Backend = "cpu",
    callback: Callback | None = None,
) -> SearchResult:
    """Learn a NAND network that maps every row of X to the same row of Y.

    Parameters
    ----------
    X : array-like of 0/1 or DataFrame, shape (n, l)
        Inputs.
    Y : array-like of 0/1 or DataFrame, shape (n, m) or (n,)
        Targets; at most 64 columns.
    loss : {"lgh", "llh", "lw", "l1"}
        How strictly the order is enforced, from a target counting only once all earlier ones are right everywhere
        (``"lgh"``) to not at all (``"l1"``); see `gradus.losses`.
    order : "auto", "entropy", "random", sequence of int, or None
        The order in which the targets are taught: found from minimum feature sets (``"auto"``), from conditional
        entropies, at random, the one given, or the order of the columns (None).
    gates_per_target : int
        Gates in the network for each target.
    history : int
        Length of the late-acceptance history.
    max_iter : int
        Steps after which a search that has not reached zero error starts again from a new random network.
    n_restarts : int
        How many times it may start again.
    shrink : int
        Steps spent on finding a smaller network once every example is right; smaller ones generalise better.
    attempts : int
        Independent searches, of which the smallest network without error is kept.
    time_limit : float, optional
        Seconds after which the best network so far is returned. Without one, the result depends on the data, the
        settings and the seed alone.
    seed : int
        Any whole number from 0.
    backend : {"cpu", "cuda"}
        Where the search runs; the result is the same.
    callback : callable, optional
        Is given a `gradus._search.front.Progress` every few hundredths of a second (on a GPU, a
        `gradus._search.cuda.BatchProgress` several times a second); if it returns True, the search stops and the best
        network so far is returned.

    Returns
    -------
    SearchResult

    Examples
    --------
    >>> import gradus
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> Y = [[0, 0], [0, 1], [0, 1], [1, 0]]  # a half adder: carry, sum
    >>> result = gradus.search(X, Y, order=None, seed=1)
    >>> result.converged
    True
    >>> result.network.predict(X).astype(int).tolist()
    [[0, 0], [0, 1], [0, 1], [1, 0]]
    """
    prepared = make_job(
        X,
        Y,
        loss=loss,
        order=order,
        gates_per_target=gates_per_target,
        history=history,
        max_iter=max_iter,
        n_restarts=n_restarts,
        shrink=shrink,
        attempts=attempts,
        time_limit=time_limit,
        seed=seed,
    )
    return prepared.learned(_search(prepared, backend, callback))


@dataclass(frozen=True, eq=False)
class Job:
    """Checked examples with their order: everything that a search, on whichever back end, needs."""

    X: BoolMatrix
    Y: BoolMatrix
    """Columns in curriculum order."""
    settings: Settings
    seed: int
    order: tuple[int, ...]
    curriculum: Curriculum | None
    input_names: tuple[str, ...] | None
    target_names: tuple[str, ...] | None

    def learned(self, found: Outcome) -> SearchResult:
        """Put what a search found into the caller's terms."""
        m = self.Y.shape[1]
        first_output = self.X.shape[1] + len(found.sources) - m
        outputs = np.empty(m, dtype=np.int64)
        outputs[list(self.order)] = first_output + np.arange(m)
        network = Network(
            self.X.shape[1], found.sources, outputs, input_names=self.input_names, output_names=self.target_names
        )
        return SearchResult(
            network=network,
            order=self.order,
            curriculum=self.curriculum,
            converged=found.converged,
            iterations=found.iterations,
            restarts=found.restarts,
            loss=found.cost / scale(self.settings.loss, m, len(self.Y)),
            live_gates=found.live_gates,
            stopped=found.stopped,
        )


def make_job(X: Any, Y: Any, *, order: Order = "auto", seed: int = 0, **settings: Any) -> Job:
    """Check the arguments of `learn` and find the order, without searching yet."""
    checked = Settings(**settings)
    inputs, targets = as_bits(X, "X"), as_bits(Y, "Y")
    if len(inputs) != len(targets):
        raise DataError(f"X has {len(inputs)} rows and Y has {len(targets)}; give one row of each for every example.")
    for table, what in ((inputs, "X"), (targets, "Y")):
        if table.shape[1] == 0:
            raise DataError(f"{what} has no columns; give at least one.")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise SettingsError(f"seed is {seed!r}; it must be a whole number of at least 0.")
    checked.n_gates(targets.shape[1])
    wanted = order.tolist() if isinstance(order, np.ndarray) else order
    try:
        columns, curriculum = resolve_order(inputs, targets, wanted, seed=int(seed))
    except ConflictError as error:
        advice = "Remove or correct one of them, or use order=None to learn what can be learned."
        raise ConflictError(error.what, advice) from error
    return Job(
        X=inputs,
        Y=np.ascontiguousarray(targets[:, list(columns)]),
        settings=checked,
        seed=int(seed),
        order=tuple(int(column) for column in columns),
        curriculum=curriculum,
        input_names=column_names(X, "X"),
        target_names=column_names(Y, "Y"),
    )


def _search(prepared: Job, backend: str, callback: Callback | None) -> Outcome:
    if backend == "cpu":
        return run_search(prepared.X, prepared.Y, prepared.settings, prepared.seed, callback=callback)
    if backend == "cuda":
        from gradus._search.cuda import run_many

        ended = [found for _, found in run_many([prepared], callback=cast(Any, callback))]
        # Stopped before the GPU had begun: the first steps are the same everywhere, and a network is due.
        return ended[0] if ended else _search(prepared, "cpu", lambda _: True)
    raise SettingsError(f"backend is {backend!r}; it must be 'cpu' or 'cuda'.")
