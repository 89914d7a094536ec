"""`search` and `search_many`: from examples to networks, with names and column order as the caller has them."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._core.bits import as_bits, check_examples, column_names
from gradus._core.checks import check_choice, check_n_jobs, check_seed
from gradus._core.run import Callback, Progress, Run
from gradus._core.wording import counted
from gradus._curriculum.curriculum import Curriculum
from gradus._curriculum.orders import resolve_order
from gradus._pages.html import notebook_table
from gradus._search.driver import run_search
from gradus._search.job import Job, Outcome, Settings, largest_cost
from gradus._search.threads import DaemonThreads
from gradus.errors import ConflictError, GradusError, WorkerError
from gradus.losses import LossName

__all__ = ["Backend", "Order", "SearchRequest", "SearchResult", "make_network", "make_request", "search", "search_many"]

Order = Literal["auto", "entropy", "random"] | Sequence[int] | npt.NDArray[np.integer[Any]] | None
Backend = Literal["cpu", "cuda"]
BACKENDS: tuple[Backend, ...] = get_args(Backend)
Arguments = Mapping[str, Any]
Numbered = Iterator[tuple[int, Arguments]]
JOBS_IN_FLIGHT = 4
"""Jobs read ahead per thread: enough to keep it busy, few enough to bound memory."""
GPU_JOBS_IN_FLIGHT = 1 << 16
SECONDS_TO_CLOSE = 0.2
"""How long to wait for threads that are still compiling; at the latest, they end with the program."""


@dataclass(frozen=True, eq=False)
class SearchResult:
    """Result of `search`.

    Attributes
    ----------
    network : Network
        The network, with outputs in the order of Y's columns, whatever the order of teaching.
    order : tuple of int
        The target columns in the order in which they were taught.
    curriculum : Curriculum or None
        How the order was found; None unless ``order="auto"``.
    converged : bool
        Whether every training example is right.
    iterations : int
        Steps to zero error, or all steps if it was not reached.
    restarts : int
        How many times the search started again.
    loss : float
        The loss of the network on the training examples, in [0, 1].
    live_gates : int
        Gates that an output depends on.
    stopped : bool
        Whether the time limit or the callback ended the search early.

    Examples
    --------
    >>> import gradus
    >>> result = gradus.search([[0], [1]], [[1], [0]], seed=1)
    >>> result.converged, result.order, result.loss
    (True, (0,), 0.0)
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

    def __repr__(self) -> str:
        end = "no training error" if self.converged else f"loss {self.loss:.3g}"
        parts = f"{counted(self.network.n_outputs, 'target')}, {counted(self.live_gates, 'live gate')}"
        return f"SearchResult({parts}, {end} after {counted(self.iterations, 'step')})"

    def _repr_html_(self) -> str:
        order = ", ".join(self.network.output_names[k] for k in self.order)
        rows = [("order of targets", order), ("restarts", self.restarts), ("ended early", "yes" if self.stopped else "no")]
        return notebook_table(repr(self), ["", ""], rows) + (self.network._repr_svg_() or "")


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
    time_limit: float | None = None,
    seed: int = 0,
    backend: Backend = "cpu",
    callback: Callback | None = None,
) -> SearchResult:
    """Search for a NAND network that maps every row of X to the same row of Y, exactly as in the paper.

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
        Gates in the network per target.
    history : int
        Length of the late-acceptance history.
    max_iter : int
        Steps after which a search that has not reached zero error starts again from a new random network.
    n_restarts : int
        How many times it may start again.
    time_limit : float, optional
        Seconds, finding the order included, after which the best network so far is returned; 0 returns the random network
        that the search starts from. Without a limit, the result depends on the data, the settings and the seed alone.
    seed : int
        Any whole number from 0.
    backend : {"cpu", "cuda"}
        Where the search runs; the result is the same.
    callback : callable, optional
        Called with a `gradus.Progress` several times a second: while the order is found, then on the CPU ``done`` of
        ``total`` targets are right, on a GPU ``done`` of ``total`` jobs have ended. If it returns True, the search stops and
        the best network so far is returned.

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
    check_choice("backend", backend, BACKENDS)
    settings = Settings(
        loss=loss,
        gates_per_target=gates_per_target,
        history=history,
        max_iter=max_iter,
        n_restarts=n_restarts,
        time_limit=time_limit,
    )
    run = Run(settings.time_limit, callback)
    request = make_request(X, Y, settings, order=order, seed=seed, run=run)
    if backend == "cpu":
        return request.result(run_search(request.job, run=run))
    from gradus._search.cuda import run_many

    ended = [] if run.stop() else [outcome for _, outcome in run_many([request.job], callback=callback)]
    # If stopped before the GPU has begun, a network must still be returned, and the first steps are the same everywhere.
    return request.result(ended[0] if ended else run_search(request.job, run=Run(callback=lambda _: True)))


@dataclass(frozen=True, eq=False)
class SearchRequest:
    """A job, and what is needed to express its outcome in the caller's names and column order."""

    job: Job
    order: tuple[int, ...]
    curriculum: Curriculum | None
    input_names: tuple[str, ...] | None
    target_names: tuple[str, ...] | None

    def result(self, outcome: Outcome) -> SearchResult:
        """Express an outcome in the caller's names and column order."""
        n, m = self.job.Y.shape
        network = make_network(outcome, self.job.X.shape[1], self.order)
        return SearchResult(
            network=network.with_names(self.input_names, self.target_names),
            order=self.order,
            curriculum=self.curriculum,
            converged=outcome.converged,
            iterations=outcome.iterations,
            restarts=outcome.restarts,
            loss=outcome.cost / largest_cost(self.job.settings.loss, m, n),
            live_gates=outcome.live_gates,
            stopped=outcome.stopped,
        )


def make_network(outcome: Outcome, n_inputs: int, order: Sequence[int]) -> Network:
    """Return the network of an outcome, with outputs in the caller's order; its last gates are the targets as taught."""
    first_output = n_inputs + len(outcome.sources) - len(order)
    return Network(n_inputs, outcome.sources, first_output + np.argsort(order))


def make_request(X: Any, Y: Any, settings: Settings, *, order: Order = "auto", seed: int = 0, run: Run) -> SearchRequest:
    """Check the examples of `search` and find the order, without searching; the job gets what is left of the time."""
    inputs, targets = as_bits(X, "X"), as_bits(Y, "Y")
    check_examples(inputs, targets)
    seed = check_seed(seed)
    settings.n_gates(targets.shape[1])  # raises if there are too many targets
    try:
        columns, curriculum = resolve_order(inputs, targets, order, seed=seed, run=run.part())
    except ConflictError as error:
        advice = "Remove or correct one of them, or use order=None to learn what can be learned."
        raise ConflictError(error.what, advice) from error
    return SearchRequest(
        job=Job(
            inputs, np.ascontiguousarray(targets[:, list(columns)]), replace(settings, time_limit=run.seconds_left()), seed
        ),
        order=columns,
        curriculum=curriculum,
        input_names=column_names(X, "X"),
        target_names=column_names(Y, "Y"),
    )


def search_many(jobs: Iterable[Arguments], *, backend: Backend = "cpu", n_jobs: int | None = None) -> Iterator[SearchResult]:
    """Run many searches, each with the same result as a call of `search`.

    Parameters
    ----------
    jobs : iterable of dict
        The arguments of `search` for each job, ``X`` and ``Y`` among them. Jobs are read as results are taken, so they need
        not fit in memory. A job's own ``backend`` is ignored, and on a GPU its ``callback`` too.
    backend : {"cpu", "cuda"}
        Where the searches run; the results are the same.
    n_jobs : int, optional
        Number of threads; one per core if not given or -1. With 1, the searches run in the calling thread. With a GPU, the
        threads finish the longest searches.

    Returns
    -------
    iterator of SearchResult
        In the order of the jobs; closing it (``close()``) stops all searches. For a job that failed, a
        `WorkerError` that names the job is raised; no other result is lost, and `next` continues with the following job.

    Examples
    --------
    >>> import gradus
    >>> X, Y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> jobs = [dict(X=X, Y=Y, order=None, seed=seed) for seed in range(3)]
    >>> [result.converged for result in gradus.search_many(jobs, n_jobs=1)]
    [True, True, True]
    """
    check_choice("backend", backend, BACKENDS)
    count = check_n_jobs(n_jobs)
    numbered = enumerate(jobs)
    if backend == "cuda":
        return _Results(_on_gpu(numbered, count))
    return _Results(_here(numbered) if count == 1 else _in_threads(numbered, count))


class _Results(Iterator[SearchResult]):
    """Raises the errors among results, and continues after them, which a generator cannot do."""

    def __init__(self, results: Generator[SearchResult | WorkerError]) -> None:
        self.results = results

    def __next__(self) -> SearchResult:
        result = next(self.results)
        if isinstance(result, WorkerError):
            raise result
        return result

    def close(self) -> None:
        """Stop all searches."""
        self.results.close()


def _run(index: int, job: Arguments, whole: Run) -> SearchResult | WorkerError:
    """Run one job; an error is returned, so that the others continue."""
    own = job.get("callback")

    def callback(progress: Progress) -> bool:
        return whole.stopped is not None or (own is not None and own(progress) is True)

    try:
        settings, arguments = _split(job)
        run = whole.part(seconds=settings.time_limit) if own is None else Run(settings.time_limit, callback)
        request = make_request(**arguments, settings=settings, run=run)
        return request.result(run_search(request.job, run=run))
    except Exception as error:
        return _failure(index, error)


def _split(job: Arguments) -> tuple[Settings, dict[str, Any]]:
    """Split the arguments of a job into settings of the search and the others."""
    names = {field.name for field in fields(Settings)}
    arguments = {name: value for name, value in job.items() if name not in ("backend", "callback")}
    return Settings(**{name: arguments.pop(name) for name in names & arguments.keys()}), arguments


def _failure(index: int, error: Exception) -> WorkerError:
    reason = str(error) if isinstance(error, GradusError) else f"{type(error).__name__}: {error}"
    failure = WorkerError(f"job {index} failed: {reason}")
    failure.__cause__ = error
    return failure


def _here(jobs: Numbered) -> Generator[SearchResult | WorkerError]:
    run = Run()
    for index, job in jobs:
        yield _run(index, job, run)


def _in_threads(jobs: Numbered, count: int) -> Generator[SearchResult | WorkerError]:
    # Not by `Run.map`, which returns when all is done: jobs may be without end, and are read as results are taken.
    run, threads = Run(), DaemonThreads(count)
    waiting: deque[Future[SearchResult | WorkerError]] = deque()
    try:
        while True:
            for index, job in itertools.islice(jobs, JOBS_IN_FLIGHT * count - len(waiting)):
                waiting.append(threads.submit(partial(_run, index, job, run)))
            if not waiting:
                return
            yield waiting.popleft().result()
    finally:  # the end, Ctrl-C, or the caller stops early
        for future in waiting:
            future.cancel()
        run.interrupt()
        threads.close(SECONDS_TO_CLOSE)


def _on_gpu(jobs: Numbered, n_jobs: int) -> Generator[SearchResult | WorkerError]:
    from gradus._search.cuda import run_many

    while part := list(itertools.islice(jobs, GPU_JOBS_IN_FLIGHT)):
        results: dict[int, SearchResult | WorkerError] = {}
        requests = []
        for at, (index, job) in enumerate(part):
            try:
                settings, arguments = _split(job)
                requests.append((at, make_request(**arguments, settings=settings, run=Run(settings.time_limit))))
            except Exception as error:  # the other jobs continue
                results[at] = _failure(index, error)
        next_out = 0
        for number, outcome in run_many([request.job for _, request in requests], n_jobs=n_jobs):
            at, request = requests[number]
            results[at] = request.result(outcome)
            while next_out in results:
                yield results.pop(next_out)
                next_out += 1
        yield from (results[at] for at in sorted(results))
