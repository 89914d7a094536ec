"""`gradus bench`: how fast the search is on this machine, beside a plain search, or on its GPU."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import typer

from gradus._cli.console import note, print_json, print_table
from gradus._core.bits import BoolMatrix
from gradus._core.checks import check_choice
from gradus._core.run import Progress
from gradus._search.driver import Workspace
from gradus._search.job import Job, Settings
from gradus.errors import SettingsError
from gradus.losses import LossName
from gradus.problems import load

if TYPE_CHECKING:
    from gradus._search.cuda.device import Device

__all__ = ["CASES", "GPU_CASES", "Case", "command", "find_cases", "make_jobs", "measure", "measure_on_gpu"]

MEASURED_LOSSES: tuple[LossName, ...] = ("l1", "lgh")
TURNS = 6
"""Turns of each of the two searches, so that a busy moment of the machine affects both."""
SECONDS_PER_CALL = 0.05
"""Approximate CPU time between two readings of the clock."""
WAVES = 2
"""Searches on a GPU, as a multiple of what fits on it at once: those that end make room for others."""
GPU_COLUMNS = (("", "steps_per_second", "steps"),)
CPU_COLUMNS = (
    *GPU_COLUMNS,
    ("plain search", "reference_steps_per_second", "steps"),
    ("ratio", "ratio_to_reference", "ratio"),
    ("published code", "published_steps_per_second", "steps"),
    ("ratio", "ratio_to_published", "ratio"),
)
"""Heading, key and kind of each figure."""


@dataclass(frozen=True)
class Case:
    """A problem with a number of examples."""

    problem: str
    examples: int
    history: int = 250
    published: float | None = None
    """Million steps per CPU second of the code published with the paper, measured on another machine."""

    @property
    def name(self) -> str:
        """Name of the case, such as ``add6/80``."""
        return f"{self.problem}/{self.examples}"

    def training_set(self, sample: int) -> tuple[BoolMatrix, BoolMatrix]:
        """Return the inputs and targets of one training set."""
        X, Y, _, _ = load(self.problem).examples(self.examples, sample, n_test=1)
        return X, Y


CASES = (
    Case("cpar7", 64, history=1000, published=0.32),
    Case("add6", 80, published=0.31),
    Case("add6", 208, published=0.28),
    Case("add6", 384),
    Case("cmux15", 96, published=0.31),
    Case("alu74181", 128, published=0.30),
    Case("fabrca", 48, published=0.20),
    Case("add10", 100_000),
)
GPU_CASES = tuple(case for case in CASES if case.name not in ("add10/100000", "add6/208"))


def command(
    cases: Annotated[
        list[str] | None, typer.Argument(help="Cases such as add6/80; all of them if none is named.", show_default=False)
    ] = None,
    seconds: Annotated[float, typer.Option(help="CPU seconds to spend on each figure.", min=0.1)] = 3.0,
    backend: Annotated[str, typer.Option(metavar="cpu|cuda", help="Where to run; cuda is an NVIDIA GPU.")] = "cpu",
    json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Measure steps per second of the search, beside a plain search in the same run.

    The plain search takes the same steps without optimisations. The figures of the code published with the paper were taken
    on another machine, so their ratio is a guide only.

    Example: gradus bench add6/80 --seconds 1
    """
    check_choice("backend", backend, ("cpu", "cuda"))
    columns, unit, among = (GPU_COLUMNS, "s", GPU_CASES) if backend == "cuda" else (CPU_COLUMNS, "CPU s", CASES)
    rows = []
    for row in _measurements(find_cases(cases, among), backend, seconds):
        note(f"{row['case']} {row['loss']}: {row['steps_per_second'] / 1e6:,.1f} M steps / {unit}")
        rows.append(row)
    if json:
        print_json({"backend": backend, "results": rows})
        return
    headings = ("case", "loss", f"M steps / {unit}", *(heading for heading, _, _ in columns[1:]))
    print_table(headings, [(row["case"], row["loss"], *(_cell(row[key], kind) for _, key, kind in columns)) for row in rows])


def find_cases(names: list[str] | None, among: tuple[Case, ...] = CASES) -> tuple[Case, ...]:
    """Return the cases with these names, or all of them."""
    by_name = {case.name: case for case in among}
    for name in names or ():
        if name not in by_name:
            raise SettingsError(f"there is no case {name!r}; choose from {', '.join(by_name)}.")
    return tuple(by_name[name] for name in names) if names else among


def _measurements(cases: tuple[Case, ...], backend: str, seconds: float) -> Iterator[dict[str, Any]]:
    """Measure every case under L1 and Lgh, one after another."""
    device = None
    if backend == "cuda":
        from gradus._search.cuda.device import CudaDevice

        device = CudaDevice()
    for case in cases:
        for loss in MEASURED_LOSSES:
            yield measure(case, loss, seconds) if device is None else measure_on_gpu(device, case, loss, seconds)


def _cell(number: float | None, kind: str) -> str:
    if number is None:
        return ""
    return f"{number / 1e6:,.4g}" if kind == "steps" else f"{number:.1f} ×"


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
                # The length of the next call does not follow from a search that ended early.
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
        return self.work.descend_plainly(steps)


def measure(case: Case, loss: LossName, seconds: float = 3.0) -> dict[str, Any]:
    """Measure steps per CPU second of the search and of the plain one, in about `seconds` each."""
    search, reference = _TimedSearch(case, loss), _TimedReference(case, loss)
    for timed in (search, reference):
        timed.run(1e-4)
        timed.forget()
    for _ in range(TURNS):
        for timed in (search, reference):
            timed.run(seconds / TURNS)
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


class _Reading(NamedTuple):
    """The state of a measurement on a GPU after a launch."""

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


def measure_on_gpu(device: Device, case: Case, loss: LossName, seconds: float = 3.0) -> dict[str, Any]:
    """Measure one case under one loss for about `seconds`, from the end of the first short launch on."""
    # ``steps_per_second`` is measured until the end, when fewer and fewer searches may be left;
    # ``steps_per_second_while_full``, only while the GPU is full.
    from gradus._search.cuda import run_many
    from gradus._search.cuda.layout import choose_layout, shape_of

    compile_first = make_jobs(case, Settings(loss=loss, history=case.history, max_iter=500, n_restarts=0), 2)
    for _ in run_many(compile_first, device=device):
        pass
    networks = choose_layout(shape_of(compile_first[0]), device.limits).networks
    jobs = make_jobs(case, Settings(loss=loss, history=case.history), WAVES * networks)
    seen: list[_Reading] = []

    def callback(progress: Progress) -> bool:
        # Steps are known when a launch has ended; packing the examples before the first one is not measured.
        now = time.monotonic()
        if progress.steps > (seen[-1].steps if seen else 0):
            seen.append(_Reading(now, progress.done, progress.steps))
        return bool(seen) and now - seen[0].seconds > seconds

    outcomes = [outcome for _, outcome in run_many(jobs, callback=callback, device=device)]
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
        "ended": sum(not outcome.stopped for outcome in outcomes),
        "converged": sum(outcome.converged for outcome in outcomes),
    }


def _rate(seen: list[_Reading]) -> float:
    """Return steps per second between the first and the last reading."""
    if len(seen) < 2:
        return 0.0
    return (seen[-1].steps - seen[0].steps) / (seen[-1].seconds - seen[0].seconds)
