"""`search_many`: many searches in parallel, results in the order of the jobs."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from functools import partial
from typing import Any, Literal

from gradus._core.checks import check_choice, check_n_jobs
from gradus._core.run import Progress
from gradus._search.driver import run_search
from gradus._search.search import BACKENDS, Backend, SearchRequest, SearchResult, make_request
from gradus._search.threads import SearchThreads
from gradus.errors import GradusError, WorkerError

__all__ = ["search_many"]

Arguments = Mapping[str, Any]
Numbered = Iterator[tuple[int, Arguments]]
JOBS_IN_FLIGHT = 4
"""Jobs read ahead per thread: enough to keep it busy, few enough to bound memory."""
GPU_JOBS_IN_FLIGHT = 1 << 16
SECONDS_TO_CLOSE = 0.2
"""How long to wait for threads that are still finding an order; at the latest, they end with the program."""


def search_many(
    jobs: Iterable[Arguments],
    *,
    backend: Backend = "cpu",
    n_jobs: int | None = None,
    errors: Literal["raise", "return"] = "raise",
) -> Iterator[SearchResult]:
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
    errors : {"raise", "return"}
        What to do when it is the turn of a job that failed: raise a `WorkerError` that names the job, or return that error
        in place of the result. Either way no other result is lost: after an error was raised, `next` continues with the
        following job.

    Returns
    -------
    iterator of SearchResult
        In the order of the jobs; closing it (``close()``) stops all searches.

    Examples
    --------
    >>> import gradus
    >>> X, Y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> jobs = [dict(X=X, Y=Y, order=None, seed=seed) for seed in range(3)]
    >>> [result.converged for result in gradus.search_many(jobs, n_jobs=1)]
    [True, True, True]
    """
    check_choice("errors", errors, ("raise", "return"))
    check_choice("backend", backend, BACKENDS)
    count = check_n_jobs(n_jobs)
    numbered = enumerate(jobs)
    if backend == "cuda":
        return _Results(_on_gpu(numbered, count), errors)
    return _Results(_here(numbered) if count == 1 else _in_threads(numbered, count), errors)


class _Results(Iterator[SearchResult]):
    """Raises errors if asked to, and continues after them, which a generator cannot do."""

    def __init__(self, results: Iterator[SearchResult | WorkerError], errors: str) -> None:
        self.results, self.errors = results, errors

    def __next__(self) -> SearchResult:
        result = next(self.results)
        if isinstance(result, WorkerError) and self.errors == "raise":
            raise result
        return result  # type: ignore[return-value]  # with errors="return" the caller tells results from errors

    def close(self) -> None:
        """Stop all searches."""
        self.results.close()  # type: ignore[attr-defined]  # it is a generator


def _run(index: int, job: Arguments, is_stopping: Callable[[], bool] | None = None) -> SearchResult | WorkerError:
    """Run one job; an error is returned, so that the others continue."""
    try:
        own = job.get("callback")

        def callback(progress: Progress) -> bool:
            return (is_stopping is not None and is_stopping()) or (own is not None and own(progress) is True)

        request = _request(job)
        return request.result(run_search(request.job, callback=callback if own or is_stopping else None))
    except Exception as error:
        return _failure(index, error)


def _request(job: Arguments) -> SearchRequest:
    return make_request(**{key: value for key, value in job.items() if key not in ("backend", "callback")})


def _failure(index: int, error: Exception) -> WorkerError:
    reason = str(error) if isinstance(error, GradusError) else f"{type(error).__name__}: {error}"
    failure = WorkerError(f"job {index} failed: {reason}")
    failure.__cause__ = error
    return failure


def _here(jobs: Numbered) -> Iterator[SearchResult | WorkerError]:
    for index, job in jobs:
        yield _run(index, job)


def _in_threads(jobs: Numbered, count: int) -> Iterator[SearchResult | WorkerError]:
    threads = SearchThreads(count)
    waiting: deque[Future[SearchResult | WorkerError]] = deque()
    try:
        while True:
            for index, job in itertools.islice(jobs, JOBS_IN_FLIGHT * count - len(waiting)):
                waiting.append(threads.submit(partial(_run, index, job)))
            if not waiting:
                return
            yield waiting.popleft().result()
    finally:  # the end, Ctrl-C, or the caller stops early
        for future in waiting:
            future.cancel()
        threads.close(SECONDS_TO_CLOSE)


def _on_gpu(jobs: Numbered, n_jobs: int) -> Iterator[SearchResult | WorkerError]:
    from gradus._search.cuda import run_many

    while part := list(itertools.islice(jobs, GPU_JOBS_IN_FLIGHT)):
        results: dict[int, SearchResult | WorkerError] = {}
        requests = []
        for at, (index, job) in enumerate(part):
            try:
                requests.append((at, _request(job)))
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
