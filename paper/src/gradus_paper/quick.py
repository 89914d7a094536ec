"""The quick run: how long it takes, what is shown meanwhile, and the first sentences of its page."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gradus.lab import wording
from gradus_paper import estimates as est
from gradus_paper.results import Results
from gradus_paper.statements import Claim, verdict_counts
from gradus_paper.tasks import Task

NAME = "quick"
CPU_SECONDS = 75.0  # on a machine that has compiled nothing yet; for the time left before anything is measured
FIRST_SETS = 2  # training sets per point of the first look
PUBLISHED_CLAIMS, PUBLISHED_CONTEST = "published_claims.json", "published_contest.json"  # written by `report.archive`
WHAT = {"L1": "all targets at once", "Lgh": "the paper's curriculum", "lessons": "ours, given no order"}


class Headline(NamedTuple):
    """The result of a full study, and links to more: places on this page or files beside it, by their titles."""

    text: str
    links: dict[str, str]


def seconds_expected(n_jobs: int) -> float:
    """Return about how long the run takes with some processes."""
    return CPU_SECONDS / min(n_jobs, os.cpu_count() or 1)


def first_look(tasks: Iterable[Task]) -> set[bytes]:
    """Return the tasks whose rows make a first page: an adder and a curve."""
    return {task.id_bytes for task in tasks if task.sample < FIRST_SETS}


def published_claims() -> list[Claim]:
    """Return the claims of the full replication, which `archive` wrote beside this module."""
    return [Claim(**claim) for claim in _published(PUBLISHED_CLAIMS)]


def headlines(folder: Path) -> list[Headline]:
    """Sum up the replication of the paper and the contest, with links to their pages where the source folder has them."""
    claims = published_claims()
    paper = f"The whole paper, replicated: of {len(claims)} statements {verdict_counts(claims)}."
    return [
        Headline(paper, {"statement by statement": "#claims"} | _beside(folder, {"its report": "report.html"})),
        Headline(_published(PUBLISHED_CONTEST), _beside(folder, {"its page": "contest/contest.html"})),
    ]


def _beside(folder: Path, pages: dict[str, str]) -> dict[str, str]:
    """Return links to published pages, relative to the folder of results; none if it is not in a copy of the source."""
    results = folder.resolve().parent / "paper" / "results"
    found = {said: results / page for said, page in pages.items() if (results / page).is_file()}
    return {said: Path(os.path.relpath(page, folder.resolve())).as_posix() for said, page in found.items()}


def _published(name: str) -> Any:
    return json.loads((resources.files("gradus_paper") / name).read_text("utf-8"))


def highlights(results: Results, claims: Sequence[Claim]) -> tuple[str, ...]:
    """Sum up the rows of the quick run in sentences; none for results without them."""
    return tuple(line for line in (_parity(results), _adder(results), _statements(claims)) if line)


def _parity(results: Results) -> str:
    numbers = est.headline_numbers(results)
    if numbers is None:
        return ""
    accuracy, gain = numbers
    each = ", ".join(f"{name} {100 * estimate.value:.1f} % ({WHAT[name]})" for name, estimate in accuracy.items())
    points, sets = gain.scaled(100), wording.counted(gain.n, "training set")
    return (
        f"7-bit parity from {est.HEADLINE_SIZE} of 128 patterns ({sets}), unseen bits right: {each}. "
        f"The curriculum gains {points.value:.1f} points [{points.low:.1f}, {points.high:.1f}]; the paper says up to 10."
    )


def _adder(results: Results) -> str:
    rows = results.select(problem="add6", method="lessons", n_train=80).usable_only()
    if not len(rows):
        return ""
    exact = int((rows.accuracy == 1.0).sum())
    gates = sorted(set(rows.where(rows.accuracy == 1.0).live_gates.tolist()))
    sizes = f" with {gates[0]} to {gates[-1]} gates" if len(gates) > 1 else "".join(f" with {size} gates" for size in gates)
    mean = f"; mean {100 * float(np.mean(rows.accuracy)):.1f} %" if exact < len(rows) else ""
    sets = f"{exact} of {wording.counted(len(rows), 'training set')}"
    return f"6-bit addition from 80 of 4,096 patterns: lessons are right on all 4,016 others for {sets}{sizes}{mean}."


def _statements(claims: Sequence[Claim]) -> str:
    short = any(claim.verdict in (est.DIRECTION, est.UNDECIDED) for claim in claims)
    more = " The page has the numbers of the full replication beside them." if short else ""
    return f"Statements of the paper that so short a run can check: {verdict_counts(claims)}.{more}" if claims else ""
