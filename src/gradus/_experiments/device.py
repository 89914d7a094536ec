"""Run a file of jobs on a GPU: ``python -m gradus._experiments.device JOBS.npz FOLDER [--seconds S]``.

Needs CuPy beside what Gradus needs for a search. What is done when the time is up is written, and so are the searches under
way: ``--cpu`` finishes those, on this machine or another. `gradus reproduce --absorb` takes the results from there.
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

from gradus._experiments.jobs_file import JobRecord, ResultsWriter, read_jobs, take_place, write_jobs_file
from gradus._machine import usable_cores
from gradus._search.checkpoint import Checkpoint
from gradus._search.front import Outcome, Progress, resume, run_search
from gradus._wording import counted
from gradus.errors import GradusError, SettingsError

__all__ = ["main", "run_jobs", "run_jobs_on_cpu"]

SECONDS_A_LINE = 10.0
SECONDS_A_LOOK = 0.5

Say = Callable[[str], Any]
Ended = tuple[Outcome, Checkpoint | None]
"""What was found, and where the search stands if it was stopped."""


def run_jobs(
    jobs: Sequence[JobRecord],
    folder: Path,
    *,
    seconds: float | None = None,
    helpers: int = 0,
    run_many: Callable[..., Iterator[tuple[int, Outcome]]] | None = None,
    stop: threading.Event | None = None,
    say: Say = print,
) -> int:
    """Run jobs on a GPU and write what was found; return how many were finished.

    Parameters
    ----------
    jobs : sequence of JobRecord
        The larger ones begin first.
    folder : path
        Where the results go; made if it does not exist. If the time is up before everything is done, the file
        ``rest-0.npz`` in it has the searches under way, for `run_jobs_on_cpu`.
    seconds : float, optional
        Stop then; jobs that have not begun are left out, for another time.
    helpers : int
        CPU threads that take searches over from the GPU.
    run_many : callable, optional
        Who runs them; the GPU if not given.
    stop : threading.Event, optional
        Once it is set, the time is up.
    say : callable
        Gets a line every few seconds.
    """
    if any(job.since is not None for job in jobs):
        raise SettingsError("some of these searches have begun already; finish them with --cpu.")
    if run_many is None:
        from gradus._search import cuda

        run_many = cuda.run_many
    jobs = sorted(jobs, key=_size, reverse=True)
    clock = _Clock(seconds, stop, say)
    writer = ResultsWriter(folder)
    finished, rest = 0, dict[int, Checkpoint]()
    try:
        for index, found in run_many(
            (job.prepared() for job in jobs),
            callback=lambda progress: clock.tell(progress.finished, len(jobs), progress.steps),
            helpers=helpers,
            left=lambda index, attempt, since: rest.update({index: since}),
        ):
            if not found.stopped:
                writer.add(jobs[index], found)
                finished += 1
    finally:  # whatever ends the run, what is done is kept
        writer.flush()
        # Of a job with several attempts some may have ended and others not begun: it is left for another time.
        begun = [replace(jobs[k], since=since) for k, since in rest.items() if jobs[k].settings.attempts == 1]
        if begun:
            write_jobs_file(take_place(folder, "rest"), begun)
    files = counted(writer.files, "file")
    say(f"{finished} of {len(jobs)} jobs done in {clock.seconds:.0f} s, {len(begun)} under way, {files}")
    return finished


def run_jobs_on_cpu(
    jobs: Sequence[JobRecord],
    folder: Path,
    *,
    seconds: float | None = None,
    workers: int | None = None,
    stop: threading.Event | None = None,
    say: Say = print,
) -> int:
    """Run jobs on CPU cores, those under way from where they were left; return how many were finished.

    A job that fails keeps no other from its result; the first such error is raised at the end.

    Parameters
    ----------
    jobs, folder, seconds, stop, say
        As for `run_jobs`; ``rest-0.npz`` has everything that is not done, whatever ended the run.
    workers : int, optional
        Threads; as many as there are cores if not given.
    """
    clock = _Clock(seconds, stop, say)
    writer = ResultsWriter(folder)
    end = threading.Event()
    finished, rest, errors = 0, list[JobRecord](), list[BaseException]()
    pool = ThreadPoolExecutor(workers or usable_cores())
    flying: dict[Future[Ended], JobRecord] = {pool.submit(_run_here, job, end): job for job in jobs}
    try:
        while flying:
            for future in wait(flying, timeout=SECONDS_A_LOOK, return_when=FIRST_COMPLETED).done:
                finished += _keep(future, flying.pop(future), writer, rest)
                errors += filter(None, [future.exception()])
            if clock.tell(finished, len(jobs), None):
                rest += _forget_waiting(flying)
                end.set()
    finally:  # whatever ends the run, what is done is kept, and so is how far the others are
        end.set()
        pool.shutdown(cancel_futures=True)
        finished += sum(_keep(future, job, writer, rest) for future, job in flying.items())
        writer.flush()
        if rest:
            write_jobs_file(take_place(folder, "rest"), rest)
    files = counted(writer.files, "file")
    say(f"{finished} of {len(jobs)} jobs done in {clock.seconds:.0f} s, {len(rest)} left, {files}")
    if errors:
        raise errors[0]
    return finished


def _keep(future: Future[Ended], job: JobRecord, writer: ResultsWriter, rest: list[JobRecord]) -> bool:
    """Keep what a job has come to; say whether it was finished. One that failed or never began is left as it was."""
    if future.cancelled() or future.exception() is not None:
        rest.append(job)
        return False
    found, since = future.result()
    if found.stopped:
        rest.append(replace(job, since=since))
    else:
        writer.add(job, found)
    return not found.stopped


def _run_here(job: JobRecord, end: threading.Event) -> Ended:
    prepared = job.prepared()

    def callback(progress: Progress) -> bool:
        return end.is_set()

    if job.since is None:
        return run_search(prepared.X, prepared.Y, prepared.settings, prepared.seed, callback=callback), None
    return resume(prepared.X, prepared.Y, prepared.settings, job.since, callback=callback)


def _forget_waiting(flying: dict[Future[Any], JobRecord]) -> list[JobRecord]:
    """Take back the jobs that no thread has begun."""
    waiting = [future for future in flying if future.cancel()]
    return [flying.pop(future) for future in waiting]


def _size(job: JobRecord) -> int:
    """Guess how long a search takes: many examples and many targets are hard to learn."""
    return len(job.Y) * job.settings.n_gates(job.Y.shape[1])


class _Clock:
    """Says how far a run is, and when its time is up."""

    def __init__(self, limit: float | None, stop: threading.Event | None, say: Say) -> None:
        self.limit, self.stop, self.say = limit, stop or threading.Event(), say
        self.began = self.last = time.monotonic()

    @property
    def seconds(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self.began

    def tell(self, finished: int, total: int, steps: int | None) -> bool:
        """Say a line now and then; True when the time is up."""
        now = time.monotonic()
        if now - self.last >= SECONDS_A_LINE:
            self.last = now
            taken = "" if steps is None else f"{steps / 1e9:.1f} G steps, "
            self.say(f"{finished} of {total} jobs, {taken}{now - self.began:.0f} s")
        return self.stop.is_set() or (self.limit is not None and now - self.began >= self.limit)


@contextmanager
def _interrupts() -> Iterator[threading.Event]:
    """Give what the first Ctrl-C sets; the next one ends the program as usual."""
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
    """Read a number of things from the command line."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 0")
    return int(text)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Run a file of Gradus jobs on a GPU, or what is left of one on CPU cores.")
    parser.add_argument("jobs", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, help="stop after so many seconds, keep what is done, and write the rest")
    parser.add_argument("--cpu", action="store_true", help="run on CPU cores; searches under way go on where they were left")
    helping = "CPU threads, with a GPU those that help it; default: all cores"
    parser.add_argument("--workers", type=_from_zero, default=usable_cores(), help=helping)
    parser.add_argument("--from", dest="first", type=_from_zero, default=0, help="leave out the jobs before this one")
    parser.add_argument("--count", type=_from_zero, help="run so many jobs at most")
    options = parser.parse_args(arguments)
    last = None if options.count is None else options.first + options.count
    run = partial(run_jobs_on_cpu, workers=options.workers) if options.cpu else partial(run_jobs, helpers=options.workers)
    try:
        jobs = list(itertools.islice(read_jobs(options.jobs), options.first, last))
        with _interrupts() as stop:
            run(jobs, options.folder, seconds=options.seconds, stop=stop, say=partial(print, file=sys.stderr, flush=True))
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
