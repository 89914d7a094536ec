"""Steps per CPU second of the search, and of a plain reference search in the same run."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, cast

import numpy as np

from gradus._benchmarks.cases import CASES, Case
from gradus._search.job import Job, Settings
from gradus._search.workspace import Workspace
from gradus.losses import LossName

__all__ = ["MEASURED_LOSSES", "measure", "measure_all"]

MEASURED_LOSSES: tuple[LossName, ...] = ("l1", "lgh")
SLICES = 6
"""Number of turns of each of the two searches, so that a busy moment of the machine affects both."""
SECONDS_PER_CALL = 0.05
"""Approximate CPU time between two readings of the clock."""


class _TimedSearch:
    """Runs the search on one training set after another, in slices of CPU time."""

    def __init__(self, case: Case, loss: LossName) -> None:
        self.case, self.settings, self.sample = case, Settings(loss=loss, history=case.history), 0
        self.steps, self.seconds = 0, 0.0
        self.begin()

    def begin(self) -> None:
        """Start on the next training set."""
        self.work = Workspace(Job(*self.case.training_set(self.sample), self.settings, self.sample))
        self.work.start()
        self.sample += 1

    def advance(self, steps: int) -> int:
        """Take at most `steps` steps; return how many were taken."""
        return self.work.descend(steps)

    def run(self, seconds: float) -> None:
        """Search for about this much CPU time, counting only the search."""
        steps = 2000 if self.case.examples < 10_000 else 20
        end = self.seconds + seconds
        while self.seconds < end:
            begin = time.process_time()
            taken = self.advance(steps)
            spent = time.process_time() - begin
            self.steps += taken
            self.seconds += spent
            if self.work.cost == 0:
                # A search that ended early says nothing about the length of the next call.
                self.begin()
            else:
                steps = max(1, int(steps * min(4.0, SECONDS_PER_CALL / max(spent, 1e-5))))

    def forget(self) -> None:
        """Reset the counts, after the first call has compiled the kernel."""
        self.steps, self.seconds = 0, 0.0

    @property
    def speed(self) -> float:
        """Steps per CPU second."""
        return self.steps / self.seconds


class _TimedReference(_TimedSearch):
    """Runs the plain search from the same starting networks."""

    def advance(self, steps: int) -> int:
        """Take at most `steps` steps; return how many were taken."""
        from gradus._benchmarks import reference

        work, kernel = self.work, cast(Any, reference.descend)
        return int(kernel(work.shape, work.width, work.targets, work.state, np.uint64(steps)))


def measure(case: Case, loss: LossName, seconds: float = 3.0) -> dict[str, Any]:
    """Measure steps per CPU second of the search and of the plain one, in about `seconds` each."""
    search, reference = _TimedSearch(case, loss), _TimedReference(case, loss)
    for one in (search, reference):
        one.run(1e-4)
        one.forget()
    for _ in range(SLICES):
        for one in (search, reference):
            one.run(seconds / SLICES)
    published = None if case.published is None else case.published * 1e6
    return {
        "case": case.name,
        "loss": loss,
        "steps_per_second": search.speed,
        "reference_steps_per_second": reference.speed,
        "published_steps_per_second": published,
        "ratio_to_reference": search.speed / reference.speed,
        "ratio_to_published": None if published is None else search.speed / published,
    }


def measure_all(cases: tuple[Case, ...] = CASES, seconds: float = 3.0) -> Iterator[dict[str, Any]]:
    """Measure every case under L1 and Lgh, one after another."""
    for case in cases:
        for loss in MEASURED_LOSSES:
            yield measure(case, loss, seconds)
