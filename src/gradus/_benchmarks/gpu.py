"""Steps per second of the search on a GPU, where each search has its own training set."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from gradus._benchmarks.cases import GPU_CASES, Case
from gradus._benchmarks.cpu import MEASURED_LOSSES
from gradus._core.run import Progress
from gradus._search.cuda import run_many
from gradus._search.cuda.device import CudaDevice, Device
from gradus._search.cuda.layout import choose_layout, shape_of
from gradus._search.job import Job, Settings
from gradus.losses import LossName
from gradus.problems import load

__all__ = ["make_jobs", "measure", "measure_all"]

WAVES = 2
"""Number of searches, as a multiple of what fits on the GPU at once: those that end make room for others."""


class Reading(NamedTuple):
    """The state of the measurement after a launch."""

    seconds: float
    ended: int
    steps: int


def make_jobs(case: Case, settings: Settings, count: int) -> list[Job]:
    """Return `count` searches, each with its own training set."""
    problem = load(case.problem)
    order = tuple(int(k) for k in (problem.known_order or range(problem.Y.shape[1])))
    targets = problem.Y[:, list(order)]
    jobs = []
    for sample in range(count):
        # Not drawn by `Problem.examples`, which also draws a test set: there are thousands of training sets to draw.
        rows = np.random.default_rng(sample).choice(len(problem.X), case.examples, replace=False)
        jobs.append(Job(problem.X[rows], targets[rows], settings, sample))
    return jobs


def measure(device: Device, case: Case, loss: LossName, seconds: float = 3.0) -> dict[str, Any]:
    """Measure one case under one loss for about `seconds`, from the end of the first short launch on."""
    # ``steps_per_second`` is measured until the end, when fewer and fewer searches may be left;
    # ``steps_per_second_while_full``, only while the GPU is full.
    compile_first = make_jobs(case, Settings(loss=loss, history=case.history, max_iter=500, n_restarts=0), 2)
    for _ in run_many(compile_first, device=device):
        pass
    networks = choose_layout(shape_of(compile_first[0]), device.limits).networks
    jobs = make_jobs(case, Settings(loss=loss, history=case.history), WAVES * networks)
    seen: list[Reading] = []

    def callback(progress: Progress) -> bool:
        # Steps are known when a launch has ended; packing the examples before the first one is not measured.
        now = time.monotonic()
        if progress.steps > (seen[-1].steps if seen else 0):
            seen.append(Reading(now, progress.done, progress.steps))
        return bool(seen) and now - seen[0].seconds > seconds

    found = [one for _, one in run_many(jobs, callback=callback, device=device)]
    full = [reading for reading in seen if len(jobs) - reading.ended >= networks]
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


def _rate(seen: list[Reading]) -> float:
    """Return steps per second between the first and the last reading."""
    if len(seen) < 2:
        return 0.0
    return (seen[-1].steps - seen[0].steps) / (seen[-1].seconds - seen[0].seconds)


def measure_all(
    cases: tuple[Case, ...] = GPU_CASES, seconds: float = 3.0, device: Device | None = None
) -> Iterator[dict[str, Any]]:
    """Measure every case under L1 and Lgh, one after another."""
    device = CudaDevice() if device is None else device
    for case in cases:
        for loss in MEASURED_LOSSES:
            yield measure(device, case, loss, seconds)
