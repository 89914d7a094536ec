"""Estimates of the time left, against the time that then was left, in CPU seconds of one core.

    python benchmarks/estimates.py --tables FOLDER
    python benchmarks/estimates.py --contest FOLDER --only ex11,ex43

Tables are CSV files with the target in the last column, learned and scored as by ``gradus learn``; benchmarks are PLA files as
for ``gradus reproduce contest``. Of each run the second half counts: an estimate is right if it is off by at most a factor of
two, or by less than 2 % of the run; a run passes if nine tenths of its estimates are right.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np

import gradus
from gradus import Progress
from gradus._cli.data import read_examples
from gradus._core import run as run_module
from gradus._core.run import Run
from gradus._tables.column_kinds import column_kinds
from gradus._tables.dataset import usual_folds
from gradus._tables.fit import FitSettings
from gradus._tables.held_out import HeldOutTask, learn_and_score

SMALL, FACTOR, MOST_WRONG = 0.02, 2.0, 0.1
Call = Callable[[Any], Any]


def tables(folder: Path) -> Iterator[tuple[str, Call]]:
    """Yield a call for each table, which takes a callback."""
    for path in sorted(folder.glob("*.csv")):
        examples = read_examples(path, None)
        settings = FitSettings(kinds=column_kinds(examples.columns))
        task = HeldOutTask(examples.columns, examples.targets, settings, usual_folds(examples.n_rows))
        yield path.stem, lambda callback, task=task: learn_and_score(task, Run(callback=callback), lambda plan: None)


def benchmarks(folder: Path, only: set[str]) -> Iterator[tuple[str, Call]]:
    """Yield the same for the benchmarks of the contest."""
    for path in sorted(folder.glob("*.train.pla")):
        name = path.name.partition(".")[0]
        if only and name not in only:
            continue
        parts = [gradus.read_table(folder / f"{name}.{kind}.pla").split() for kind in ("train", "valid")]
        X, Y = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
        yield name, lambda callback, X=X, Y=Y: gradus.learn(X, Y, callback=callback)


def measured(call: Call) -> tuple[float, list[tuple[float, float | None]]]:
    """Return the CPU seconds of a call, and the time and the estimate of each report."""
    reports: list[tuple[float, float | None]] = []
    begin = time.process_time()

    def note(progress: Progress) -> None:
        reports.append((time.process_time() - begin, progress.eta))

    call(note)
    return time.process_time() - begin, reports


def is_right(estimate: float | None, left: float, seconds: float) -> bool:
    """Return whether an estimate is right enough."""
    if estimate is None:
        return False
    return abs(estimate - left) <= SMALL * seconds or left / FACTOR <= estimate <= FACTOR * left


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--contest", type=Path)
    parser.add_argument("--only", default="", help="names, with commas between")
    options = parser.parse_args()
    run_module.work_clock = time.process_time  # other programs must not count
    gradus.learn([[0, 1], [1, 0]], [[0], [1]])  # loads all kernels
    only, passed, runs = set(filter(None, options.only.split(","))), 0, 0
    calls = [entry for entry in tables(options.tables) if not only or entry[0] in only] if options.tables else []
    for name, call in [*calls, *(benchmarks(options.contest, only) if options.contest else ())]:
        seconds, reports = measured(call)
        late = [(at, estimate) for at, estimate in reports if at >= seconds / 2]
        right = [is_right(estimate, seconds - at, seconds) for at, estimate in late]
        share = float(np.mean(right)) if right else 1.0
        at = {round(10 * at / seconds): round(estimate / max(seconds - at, 1e-9), 2) for at, estimate in reports if estimate}
        passed, runs = passed + (share >= 1 - MOST_WRONG), runs + 1
        print(
            f"{name}: {seconds:.1f} s, {100 * share:.0f} % of {len(right)} right; by tenths, estimate / truth: {at}",
            flush=True,
        )
    print(f"{passed} of {runs} runs pass")


if __name__ == "__main__":
    main()
