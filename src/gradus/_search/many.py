"""`search_many`: many calls of `learn`, side by side, results in the order of the jobs."""

from __future__ import annotations

import itertools
import multiprocessing
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Literal

from gradus._machine import usable_cores
from gradus._search.learner import Backend, SearchResult, make_job, search
from gradus.errors import GradusError, SettingsError, WorkerError

__all__ = ["search_many"]

Arguments = Mapping[str, Any]
JOBS_IN_FLIGHT = 4
"""Jobs handed out for each worker: enough to keep it busy, few enough to bound memory."""
GPU_JOBS_IN_FLIGHT = 1 << 16


def search_many(
    jobs: Iterable[Arguments],
    *,
    backend: Backend = "cpu",
    workers: int | None = None,
    errors: Literal["raise", "return"] = "raise",
) -> Iterator[SearchResult]:
    """Run many jobs of `learn`, each exactly as if it were run alone.

    Parameters
    ----------
    jobs : iterable of dict
        The arguments of `learn` for each job, ``X`` and ``Y`` among them. It is read as the results are taken, so it may
        be longer than memory.
    backend : {"cpu", "cuda"}
        Where the searches run; the results are the same.
    workers : int, optional
        Processes; as many as there are cores if not given. With 1 the jobs run in this process. On a GPU, threads that
        finish the longest searches.
    errors : {"raise", "return"}
        What happens when a job's turn comes and it failed, or its process died: raise a `WorkerError` that names the job,
        or return that error in the place of the result. Either way no other result is lost: after an error has been raised,
        `next` goes on with the following job.

    Returns
    -------
    iterator of SearchResult
        In the order of the jobs.

    Examples
    --------
    >>> import gradus
    >>> X, Y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> jobs = [dict(X=X, Y=Y, order=None, seed=seed) for seed in range(3)]
    >>> [result.converged for result in gradus.search_many(jobs, workers=1)]
    [True, True, True]
    """
    if errors not in ("raise", "return"):
        raise SettingsError(f"errors is {errors!r}; it must be 'raise' or 'return'.")
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise SettingsError(f"workers is {workers!r}; it must be a whole number of at least 1.")
    numbered = enumerate(jobs)
    if backend == "cuda":
        return _Results(_on_gpu(numbered, workers or usable_cores()), errors)
    if backend != "cpu":
        raise SettingsError(f"backend is {backend!r}; it must be 'cpu' or 'cuda'.")
    count = workers or usable_cores()
    outcomes = _here(numbered) if count == 1 else _Pool(numbered, count)
    return _Results(outcomes, errors)


class _Results(Iterator[SearchResult]):
    """Takes outcomes apart into results and errors; goes on after an error."""

    def __init__(self, outcomes: Iterator[SearchResult | WorkerError], errors: str) -> None:
        self.outcomes, self.errors = outcomes, errors

    def __next__(self) -> SearchResult:
        outcome = next(self.outcomes)
        if isinstance(outcome, WorkerError) and self.errors == "raise":
            raise outcome
        return outcome  # type: ignore[return-value]  # errors="return" is asked for by who takes them apart


def _run(job: Arguments) -> SearchResult:
    return search(**job)


def _failure(index: int, error: BaseException) -> WorkerError:
    reason = str(error) if isinstance(error, GradusError) else f"{type(error).__name__}: {error}"
    failure = WorkerError(f"job {index} failed: {reason}")
    failure.__cause__ = error
    return failure


def _here(jobs: Iterator[tuple[int, Arguments]]) -> Iterator[SearchResult | WorkerError]:
    for index, job in jobs:
        try:
            yield _run(job)
        except Exception as error:  # whatever it is, it belongs to this job and the others go on
            yield _failure(index, error)


class _Pool(Iterator[SearchResult | WorkerError]):
    """Worker processes. After one dies, the jobs under way run one at a time until the culprit is known."""

    def __init__(self, jobs: Iterator[tuple[int, Arguments]], workers: int) -> None:
        self.jobs, self.workers = jobs, workers
        self.waiting: deque[tuple[int, Arguments, Future[SearchResult] | None]] = deque()
        self.suspects = 0
        # Chosen once: the threads of a pool that broke may still be there when the next is made.
        self.context = _context()
        self.pool: ProcessPoolExecutor | None = None

    def __next__(self) -> SearchResult | WorkerError:
        try:
            return self._next()
        except BaseException:  # the end, Ctrl-C: leave no process behind
            self.close()
            raise

    def _next(self) -> SearchResult | WorkerError:
        if not self.suspects:
            self._hand_out()
        if not self.waiting:
            raise StopIteration
        index, job, future = self.waiting.popleft()
        alone = future is None
        self.suspects -= alone
        future = future or self._submit(job)
        try:
            return future.result()
        except BrokenProcessPool:
            self._kill()
            if alone:
                return WorkerError(f"job {index} failed: its worker process died.")
            self._suspect(index, job)
            return self._next()
        except Exception as error:
            return _failure(index, error)

    def _hand_out(self) -> None:
        for index, job in itertools.islice(self.jobs, JOBS_IN_FLIGHT * self.workers - len(self.waiting)):
            try:
                self.waiting.append((index, job, self._submit(job)))
            except BrokenProcessPool:
                self._kill()
                self._suspect(index, job, last=True)
                return

    def _suspect(self, index: int, job: Arguments, *, last: bool = False) -> None:
        """Put a job back, and mark every job that has no result yet to run alone."""
        self.waiting.append((index, job, None)) if last else self.waiting.appendleft((index, job, None))
        for at, (number, one, future) in enumerate(self.waiting):
            if future is not None and not (future.done() and future.exception() is None):
                self.waiting[at] = (number, one, None)
        self.suspects = sum(future is None for _, _, future in self.waiting)

    def _submit(self, job: Arguments) -> Future[SearchResult]:
        if self.pool is None:
            self.pool = ProcessPoolExecutor(self.workers, self.context, initializer=_ignore_interrupts)
        return self.pool.submit(_run, job)

    def _kill(self) -> None:
        if self.pool is not None:
            for process in list((self.pool._processes or {}).values()):
                process.terminate()
            self.pool.shutdown(wait=False, cancel_futures=True)
            self.pool = None

    def close(self) -> None:
        """End every worker."""
        self._kill()
        self.waiting.clear()

    def __del__(self) -> None:
        self._kill()


def _context() -> Any:
    """Fork where it is safe, since it is quick and needs no ``__main__`` guard; spawn beside other threads."""
    forks = "fork" in multiprocessing.get_all_start_methods() and threading.active_count() == 1
    return multiprocessing.get_context("fork" if forks else "spawn")


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the parent, which ends the workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _on_gpu(jobs: Iterator[tuple[int, Arguments]], helpers: int) -> Iterator[SearchResult | WorkerError]:
    from gradus._search.cuda import run_many

    while part := list(itertools.islice(jobs, GPU_JOBS_IN_FLIGHT)):
        outcomes: dict[int, SearchResult | WorkerError] = {}
        good = []
        for at, (index, job) in enumerate(part):
            try:
                # Where it runs is settled, and a batch has one watcher, not one a job.
                arguments = {key: value for key, value in job.items() if key not in ("backend", "callback")}
                good.append((at, make_job(**arguments)))
            except Exception as error:  # it belongs to this job; the others go on
                outcomes[at] = _failure(index, error)
        next_out = 0
        for number, found in run_many([prepared for _, prepared in good], helpers=helpers):
            at, prepared = good[number]
            outcomes[at] = prepared.learned(found)
            while next_out in outcomes:
                yield outcomes.pop(next_out)
                next_out += 1
        yield from (outcomes[at] for at in sorted(outcomes))
