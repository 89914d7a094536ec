"""Run a file of jobs on a GPU: ``python -m gradus.experiments.device JOBS.npz FOLDER [--seconds S]``.

Needs numpy and CuPy alone. What is done when the time is up is written; `gradus reproduce --absorb` takes it from there.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from gradus.errors import GradusError
from gradus.experiments.jobs_file import Job, ResultsWriter, read_jobs
from gradus.search.front import Found

__all__ = ["main", "run_jobs"]

SECONDS_A_LINE = 10.0


def run_jobs(
    jobs: Sequence[Job],
    folder: Path,
    *,
    seconds: float | None = None,
    leave: float = 0.0,
    run_many: Callable[..., Iterator[tuple[int, Found]]] | None = None,
    say: Callable[[str], Any] = print,
) -> int:
    """Run jobs and write what was found; return how many were finished.

    Parameters
    ----------
    jobs : sequence of Job
    folder : path
        Where the results go; made if it does not exist.
    seconds : float, optional
        Stop then; searches that have not ended are left out, for another time.
    leave : float
        Leave the last searches of each shape out, too, when they fill no more than this share of the GPU.
    run_many : callable, optional
        Who runs them; the GPU if not given.
    say : callable
        Gets a line every few seconds.
    """
    if run_many is None:
        from gradus.search import cuda

        run_many = cuda.run_many
    begin = time.monotonic()
    watch = _watcher(begin, seconds, say)
    writer = ResultsWriter(folder)
    finished = 0
    try:
        for index, found in run_many((job.prepared() for job in jobs), watch=watch, leave=leave):
            if found.stopped:
                continue
            writer.add(jobs[index], found)
            finished += 1
    finally:  # whatever ends the run, what is done is kept
        writer.flush()
    say(f"{finished} of {len(jobs)} jobs done in {time.monotonic() - begin:.0f} s, {writer.files} files")
    return finished


def _watcher(begin: float, seconds: float | None, say: Callable[[str], Any]) -> Callable[[Any], bool]:
    last = [begin]

    def watch(progress: Any) -> bool:
        now = time.monotonic()
        if now - last[0] >= SECONDS_A_LINE:
            last[0] = now
            say(f"{progress.finished} of {progress.jobs} jobs, {progress.steps / 1e9:.1f} G steps, {now - begin:.0f} s")
        return seconds is not None and now - begin >= seconds

    return watch


def main(arguments: list[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Run a file of Gradus jobs on a GPU.")
    parser.add_argument("jobs", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, help="stop after so many seconds and keep what is done")
    parser.add_argument("--leave", type=float, default=0.0, help="leave the last searches of a shape at this share of the GPU")
    parser.add_argument("--from", dest="first", type=int, default=0, help="leave out the jobs before this one")
    parser.add_argument("--count", type=int, help="run so many jobs at most")
    options = parser.parse_args(arguments)
    stop = None if options.count is None else options.first + options.count
    try:
        run_jobs(
            list(itertools.islice(read_jobs(options.jobs), options.first, stop)),
            options.folder,
            seconds=options.seconds,
            leave=options.leave,
            say=lambda line: print(line, file=sys.stderr, flush=True),
        )
    except GradusError as error:
        print(f"gradus: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
