"""Steps a second of the search on a GPU, over searches from their first step on, each with a training set of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradus._benchmarks.cases import GPU_CASES, Case
from gradus._search.cuda import BatchProgress, run_many
from gradus._search.cuda.device import CudaDevice, Device
from gradus._search.cuda.plan import choose_layout, shape_of
from gradus._search.learner import Job
from gradus._search.settings import Settings
from gradus.losses import LossName
from gradus.problems import load

__all__ = ["LOSSES", "make_jobs", "measure", "measure_all"]

LOSSES: tuple[LossName, ...] = ("l1", "lgh")
WAVES = 2
"""Searches, in times what the GPU holds at once: those that end make room for others."""


def make_jobs(case: Case, settings: Settings, count: int) -> list[Job]:
    """Return this many searches, on training sets drawn one after another.

    Examples
    --------
    >>> jobs = make_jobs(Case("add3", 20), Settings(), 2)
    >>> jobs[1].X.shape, jobs[1].Y.shape
    ((20, 6), (20, 3))
    """
    problem = load(case.bed)
    order = tuple(int(k) for k in (problem.known_order or range(problem.Y.shape[1])))
    targets = problem.Y[:, list(order)]
    jobs = []
    for sample in range(count):
        # Rows alone, without the test set that an experiment's training set comes with: there are thousands to draw.
        rows = np.random.default_rng(sample).choice(len(problem.X), case.examples, replace=False)
        jobs.append(Job(problem.X[rows], targets[rows], settings, sample, order, None, None, None))
    return jobs


def measure(device: Device, case: Case, loss: LossName, seconds: float = 3.0) -> dict[str, Any]:
    """Measure one case under one loss, for about `seconds` from the end of the first short launch.

    ``steps_per_second`` counts to the end, with fewer and fewer searches left if all of them end in time;
    ``steps_per_second_while_full`` only as long as every place on the GPU is taken.
    """
    compile_first = make_jobs(case, Settings(loss=loss, history=case.history, max_iter=500, n_restarts=0), 2)
    for _ in run_many(compile_first, device=device):
        pass
    networks = choose_layout(shape_of(compile_first[0]), device.limits).networks
    jobs = make_jobs(case, Settings(loss=loss, history=case.history), WAVES * networks)
    seen: list[BatchProgress] = []

    def callback(progress: BatchProgress) -> bool:
        # Steps are known when a launch has ended; before the first one the examples are packed, which is not measured.
        if progress.steps > (seen[-1].steps if seen else 0):
            seen.append(progress)
        return bool(seen) and progress.seconds - seen[0].seconds > seconds

    found = [one for _, one in run_many(jobs, callback=callback, device=device)]
    full = [progress for progress in seen if len(jobs) - progress.finished >= networks]
    return {
        "case": case.name,
        "loss": loss,
        "device": device.name,
        "steps_per_second": _rate(seen),
        "steps_per_second_while_full": _rate(full),
        "seconds": seen[-1].seconds - seen[0].seconds,
        "searches": len(jobs),
        "searches_at_a_time": networks,
        "ended": sum(not one.stopped for one in found),
        "converged": sum(one.converged for one in found),
    }


def _rate(seen: list[BatchProgress]) -> float:
    """Return steps a second between the first and the last of these moments."""
    if len(seen) < 2:
        return 0.0
    return (seen[-1].steps - seen[0].steps) / (seen[-1].seconds - seen[0].seconds)


def measure_all(
    cases: tuple[Case, ...] = GPU_CASES, seconds: float = 3.0, device: Device | None = None
) -> Iterator[dict[str, Any]]:
    """Measure every case under L1 and Lgh, one after another."""
    device = CudaDevice() if device is None else device
    for case in cases:
        for loss in LOSSES:
            yield measure(device, case, loss, seconds)
