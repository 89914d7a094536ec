"""Measure the cost of a callback, and how soon a search ends when interrupted: ``python benchmarks/watching.py``."""

from __future__ import annotations

import _thread
import threading
import time

import numpy as np

from gradus._core.run import Run
from gradus._search.driver import run_search
from gradus._search.job import Job, Settings
from gradus.problems import load

SEED = 3


def cpu_seconds(X, Y, settings, callback) -> float:
    begin = time.process_time()
    run_search(Job(X, Y, settings, SEED), run=Run(callback=callback))
    return time.process_time() - begin


def cost_of_watching() -> None:
    """Alternate runs of the same steps with and without a callback; compare the medians of their CPU time."""
    X, Y = load("add6").examples(208, 0)[:2]
    # Random targets cannot be learned by so few gates, so that every run takes all its steps.
    Y = np.random.default_rng(0).random(Y.shape) < 0.5
    settings = Settings(loss="l1", max_iter=10_000_000, n_restarts=0)
    times: dict[bool, list[float]] = {False: [], True: []}
    for turn in range(22):
        watched = bool(turn % 2)
        spent = cpu_seconds(X, Y, settings, (lambda progress: None) if watched else None)
        if turn > 1:
            times[watched].append(spent)
    plain, watched_time = (float(np.median(times[key])) for key in (False, True))
    print(f"watching: {100 * (watched_time / plain - 1):+.2f} % CPU time ({plain:.3f} s without, median of 10)")


def time_to_stop(problem: str, examples: int) -> None:
    """Interrupt endless searches at irregular moments."""
    X, Y = load(problem).examples(examples, 0, n_test=1)[:2]
    Y = np.random.default_rng(0).random(Y.shape) < 0.5
    settings = Settings(loss="l1", max_iter=10**15)
    waits = []
    for turn in range(10):
        sent: list[float] = []

        def interrupt(sent: list[float] = sent) -> None:
            sent.append(time.monotonic())
            _thread.interrupt_main()

        threading.Timer(0.6 + 0.037 * turn, interrupt).start()
        try:
            run_search(Job(X, Y, settings, SEED))
        except KeyboardInterrupt:
            waits.append(time.monotonic() - sent[0])
    print(f"interrupt, {problem}/{examples}: at most {max(waits) * 1000:.0f} ms, median {np.median(waits) * 1000:.0f} ms")


if __name__ == "__main__":
    cost_of_watching()
    time_to_stop("add6", 80)
    time_to_stop("add10", 100_000)
