"""Run a file of searches on a GPU: ``python -m gradus_paper.remote JOBS.npz FOLDER [--seconds S]``.

Needs CuPy and what Gradus needs for a search. When the time is up, the outcomes and the checkpoints of the unfinished searches
are written: the same command continues those, or CPU cores do with ``--cpu``, on this machine or another.
`gradus reproduce --absorb` reads the outcomes.
"""

from __future__ import annotations

import argparse
import itertools
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from gradus._core.checks import usable_cores
from gradus._core.run import Run
from gradus._core.wording import counted
from gradus._search.driver import SearchEnd, resume, run_search
from gradus._search.job import Outcome
from gradus.errors import GradusError
from gradus_paper.search_files import OutcomeWriter, TaskRecord, read_searches, reserve_path, write_searches

__all__ = ["main", "run_on_cpu", "run_on_gpu"]

SECONDS_PER_LINE = 10.0
SECONDS_PER_CHECK = 0.5

Say = Callable[[str], Any]


def run_on_gpu(
    searches: Sequence[TaskRecord],
    folder: Path,
    *,
    seconds: float | None = None,
    n_jobs: int = 0,
    run_many: Callable[..., Iterator[tuple[int, Outcome]]] | None = None,
    stop: threading.Event | None = None,
    say: Say = print,
) -> int:
    """Run searches on a GPU and write their outcomes; return how many were finished."""
    if run_many is None:
        from gradus._search import cuda

        run_many = cuda.run_many
    # The longest searches should begin first, and those with many examples and targets are the hardest.
    searches = sorted(searches, key=lambda one: len(one.Y) * one.settings.n_gates(one.Y.shape[1]), reverse=True)
    with _RemoteRun(len(searches), folder, seconds, stop, say) as run:
        for index, found in run_many(
            (one.job() for one in searches),
            callback=lambda progress: run.is_over(progress.done, progress.steps),
            n_jobs=n_jobs,
            since={index: one.since for index, one in enumerate(searches) if one.since is not None},
            left=lambda index, since: run.rest.append(replace(searches[index], since=since)),
        ):
            if not found.stopped:
                run.add(searches[index], found)
    return run.finished


def run_on_cpu(
    searches: Sequence[TaskRecord],
    folder: Path,
    *,
    seconds: float | None = None,
    n_jobs: int | None = None,
    stop: threading.Event | None = None,
    say: Say = print,
) -> int:
    """Run searches on CPU cores, those with a checkpoint from there on; return how many were finished."""
    # A search that raises does not affect the others; the first such error is raised at the end.
    end = threading.Event()
    errors = list[BaseException]()
    with _RemoteRun(len(searches), folder, seconds, stop, say) as run:
        pool = ThreadPoolExecutor(n_jobs or usable_cores())
        flying: dict[Future[SearchEnd], TaskRecord] = {pool.submit(_run_here, one, end): one for one in searches}
        try:
            while flying:
                for future in wait(flying, timeout=SECONDS_PER_CHECK, return_when=FIRST_COMPLETED).done:
                    _keep(future, flying.pop(future), run)
                    errors += filter(None, [future.exception()])
                if run.is_over(run.finished):
                    waiting = [future for future in flying if future.cancel()]
                    run.rest += [flying.pop(future) for future in waiting]  # searches that no thread has begun
                    end.set()
        finally:  # whatever ends the run, the checkpoints of running searches are kept
            end.set()
            pool.shutdown(cancel_futures=True)
            for future, one in flying.items():
                _keep(future, one, run)
    if errors:
        raise errors[0]
    return run.finished


def _keep(future: Future[SearchEnd], one: TaskRecord, run: _RemoteRun) -> None:
    """Keep the outcome or the checkpoint of a search; one that failed or never began is left as it was."""
    if future.cancelled() or future.exception() is not None:
        run.rest.append(one)
        return
    found, since = future.result()
    if found.stopped:
        run.rest.append(replace(one, since=since))
    else:
        run.add(one, found)


def _run_here(one: TaskRecord, end: threading.Event) -> SearchEnd:
    if one.since is None:
        return run_search(one.job(), run=Run(callback=lambda _: end.is_set())), None
    return resume(one.job(), one.since, run=Run(callback=lambda _: end.is_set()))


class _RemoteRun:
    """One run of searches: writes outcomes, reports progress, and knows when its time is up.

    Whatever ends the run, outcomes and the searches in `rest` are on disk afterwards.
    """

    def __init__(self, total: int, folder: Path, seconds: float | None, stop: threading.Event | None, say: Say) -> None:
        self.total, self.folder, self.limit, self.say = total, folder, seconds, say
        self.stop = stop or threading.Event()
        self.began = self.last = time.monotonic()
        self.writer = OutcomeWriter(folder)
        self.finished = 0
        self.rest: list[TaskRecord] = []
        """Searches to be continued later."""

    def add(self, one: TaskRecord, found: Outcome) -> None:
        """Keep the outcome of a search."""
        self.writer.add(one, found)
        self.finished += 1

    def is_over(self, done: int, steps: int | None = None) -> bool:
        """Say every few seconds how many searches are done; return True when the time is up."""
        now = time.monotonic()
        if now - self.last >= SECONDS_PER_LINE:
            self.last = now
            taken = "" if steps is None else f"{steps / 1e9:.1f} G steps, "
            self.say(f"{done} of {self.total} searches, {taken}{now - self.began:.0f} s")
        return self.stop.is_set() or (self.limit is not None and now - self.began >= self.limit)

    def __enter__(self) -> _RemoteRun:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.writer.flush()
        if self.rest:
            write_searches(reserve_path(self.folder, "rest"), self.rest)
        if kind is None:
            took, files = time.monotonic() - self.began, counted(self.writer.files, "file")
            left = f"{len(self.rest)} unfinished, {files}"
            self.say(f"{self.finished} of {self.total} searches done in {took:.0f} s, {left}")


@contextmanager
def _interrupts() -> Iterator[threading.Event]:
    """Yield an event that the first Ctrl-C sets; the second one interrupts as usual."""
    stop = threading.Event()

    def interrupt(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        stop.set()

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def _from_zero(text: str) -> int:
    """Parse a count from the command line."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 0")
    return int(text)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Run a file of searches on a GPU, or the rest of one on CPU cores.")
    parser.add_argument("jobs", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, help="stop after this time, keep what is done, and write the rest")
    parser.add_argument("--cpu", action="store_true", help="run on CPU cores, from checkpoints where there are any")
    threads = "CPU threads; beside a GPU they take searches over from it; default: all cores"
    parser.add_argument("--n-jobs", type=_from_zero, default=usable_cores(), help=threads)
    parser.add_argument("--from", dest="first", type=_from_zero, default=0, help="leave out the searches before this one")
    parser.add_argument("--count", type=_from_zero, help="run at most this many searches")
    options = parser.parse_args(arguments)
    last = None if options.count is None else options.first + options.count
    run = partial(run_on_cpu if options.cpu else run_on_gpu, n_jobs=options.n_jobs)
    try:
        searches = list(itertools.islice(read_searches(options.jobs), options.first, last))
        with _interrupts() as stop:
            run(searches, options.folder, seconds=options.seconds, stop=stop, say=partial(print, file=sys.stderr, flush=True))
        if stop.is_set():
            raise KeyboardInterrupt
    except GradusError as error:
        print(f"gradus: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print(f"gradus: stopped; what is done is in {options.folder}.", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
