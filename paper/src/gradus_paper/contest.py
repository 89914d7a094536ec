"""The contest of 2020 as a study: circuits learned from a user's copy of its benchmarks, beside published ones.

The IWLS 2020 programming contest gave 100 Boolean functions, each as three PLA files of 6,400 rows, to learn from, to choose
by and to test on; a solution may have 5,000 AND gates. ex00 to ex89 are here. `contest_published.csv` has, of benchmarks with
an odd number, the test accuracy (%) and the AND gates of circuits that were published: by two teams of the contest, as they
were scored again on its test rows, by an ensemble of 2023, and the best of the published circuits and tables of counts of
each benchmark, chosen on the test rows.
"""

from __future__ import annotations

import csv
import hashlib
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

import gradus
from gradus.errors import SettingsError
from gradus.lab import files, pages
from gradus.problems import Problem
from gradus_paper.row import DONE
from gradus_paper.store import Store
from gradus_paper.study import FOLDER as STUDIES
from gradus_paper.study import Block, Study, load_studies
from gradus_paper.tasks import GIVEN, Design, Task
from gradus_paper.training_sets import name_of, register

NAME = "contest"
PAGE, SOLUTIONS, BEGUN = "contest.html", "solutions", "begun"
SETS = ("train", "valid", "test")
TRAINING_FILE = re.compile(r"(ex[0-9]{2})\.train\.pla")
BENCHMARK = re.compile(r"ex([0-9]{2})#[0-9a-f]+")
TITLE = "The contest of 2020: circuits learned from examples"
ABOUT = (
    "One circuit for each benchmark: the vote of what gradus.learn finds with its defaults in the rows to learn from and "
    "those to choose by (once each, where a file repeats a row), scored on the test rows."
)
OF_OTHERS = (
    "Accuracies are % of the test rows. Published circuits: of two teams of the contest, of an ensemble of 2023, and the best "
    "of each benchmark, chosen on the test rows."
)
CATEGORIES = (
    *("adders", "dividers and remainders", "multipliers", "comparators", "square roots", "PicoJava", "MCNC i10"),
    *("MCNC and symmetric", "groups of MNIST"),
)
"""What the benchmarks of each ten are."""
MOST_GATES = 5000  # AND gates, by the rules of the contest
SAME = 0.001  # differences of the accuracy below this are neither won nor lost
OTHERS = ("team 2", "team 9", "ensemble", "best")
CHOSEN_ON = (4, 1)  # settings were chosen on the benchmarks whose number leaves 1 on division by 4

LOSSES = {
    "ex43": "growth ended because no round made the circuit shorter, not for want of work: one start reaches 91.0 % with all "
    "of its work and with a quarter of it, and 92.6 % with three times as many rounds before it gives up.",
    "ex55": "every wrong test row has x23 = 0 and x18, x24, x25 and x26 equal; a circuit for these would reach 99.7 %, but "
    "its first gates mend nothing, and neither another seed nor further rounds found them.",
}
"""What was found out, by experiments, of benchmarks with an accuracy more than a point below the best."""
LARGE = 0.01

_FILES: dict[str, list[Path]] = {}  # of each problem of a study, which are read when its task is to be run


def contest(folder: Path) -> Study:
    """Make the study of the benchmarks in a folder: exNN.train.pla, exNN.valid.pla (if there is one) and exNN.test.pla."""
    found = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        match = TRAINING_FILE.fullmatch(path.name)
        if match is not None:
            found[match[1]] = [file for kind in SETS if (file := folder / f"{match[1]}.{kind}.pla").is_file()]
    if not found:
        raise SettingsError(
            f"there are no benchmarks in {folder}: files such as ex00.train.pla, ex00.valid.pla, ex00.test.pla."
        )
    blocks = []
    for name, paths in found.items():
        if paths[-1].name != f"{name}.test.pla":
            raise SettingsError(f"{folder} has {name}.train.pla, but no {name}.test.pla.")
        contents = list(map(files.read_bytes, paths))
        key = f"{name}#{hashlib.blake2b(b''.join(contents), digest_size=8).hexdigest()}"
        _FILES[key] = paths
        n_train = sum(len(set(_row_lines(content))) for content in contents[:-1])
        blocks.append(Block((Design(key, method="lessons", draw=GIVEN),), (n_train,), (0,)))
    return Study(TITLE, blocks, ABOUT, [NAME], name=NAME)


def _row_lines(content: bytes) -> list[bytes]:
    """Return the lines of a PLA file that are rows, without looking into them."""
    return [b"".join(line.split()) for line in content.splitlines() if line and line[:1] in b"01-"]


def ready(tasks: Iterable[Task], store: Store) -> list[Task]:
    """Return tasks, the longest first, after the files of those that are to be run have been read."""
    ordered, known = sorted(tasks, key=_expected, reverse=True), store.ids()
    register(_problem(task.design.problem) for task in ordered if known.get(task.id_bytes) != DONE)
    return ordered


def folder_of_begun(folder: Path) -> str:
    """Make the folder for the checkpoints of benchmarks that are being learned, and return it."""
    files.make_folder(folder / BEGUN)
    return str((folder / BEGUN).absolute())


def _expected(task: Task) -> tuple[float, str]:
    """Return how large the circuit may become: functions for which others needed many gates take long."""
    figures = published().get(_number(task.design.problem), {})
    return figures.get("ensemble gates", math.inf), task.design.problem


def _problem(key: str) -> Problem:
    """Read a benchmark: the rows to learn from first, then those to test on."""
    # A table has every row of a PLA file once. Solutions are scored on the test rows as often as they are there.
    paths = _FILES[key]
    parts = [gradus.read_table(path).split() for path in paths]
    lines = [_row_lines(files.read_bytes(path)) for path in paths]
    for path, part, rows in zip(paths, parts, lines, strict=True):
        if len(part.X) != len(set(rows)):
            raise SettingsError(f"{path.name}: every row of a benchmark must say 0 or 1 for each input, on a line of its own.")
    place = {line: row for row, line in enumerate(dict.fromkeys(lines[-1]))}
    X, Y, inputs, outputs = parts[-1]
    times = [place[line] for line in lines[-1]]
    pool, targets = ([*(part[k] for part in parts[:-1]), last[times]] for k, last in enumerate((X, Y)))
    return Problem(key, input_names=inputs, target_names=outputs, pool=np.concatenate(pool), targets=np.concatenate(targets))


@cache
def published() -> dict[int, dict[str, float]]:
    """Return the published figures of each benchmark by its number; accuracies are shares."""
    text = (resources.files("gradus_paper") / "contest_published.csv").read_text("utf-8")
    rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(text.splitlines())]
    return {int(row.pop("number")): row | {name: row[name] / 100 for name in OTHERS} for row in rows}


# The page.


@dataclass(frozen=True)
class Entry:
    """A benchmark with our solution and the published figures, NaN where there are none."""

    name: str
    number: int
    accuracy: float
    gates: int
    seconds: float
    others: dict[str, float]
    circuit: bytes

    @property
    def category(self) -> str:
        """What kind of function it is."""
        return CATEGORIES[self.number // 10] if self.number < 10 * len(CATEGORIES) else "others"

    @property
    def run(self) -> str:
        """Whether settings were chosen on it, or it was run once at the end."""
        by, rest = CHOSEN_ON
        return "tuning" if self.number % by == rest else "once"

    @property
    def lead(self) -> float:
        """By how much the accuracy is above the best published one."""
        return self.accuracy - self.others["best"]


def entries(table: pa.Table) -> list[Entry]:
    """Return the benchmarks that a results table has solutions of, by their numbers."""
    found: dict[int, Entry] = {}
    columns = ("problem", "draw", "status", "test_accuracy_mean", "and_gates", "cpu_seconds", "circuit")
    for problem, draw, status, accuracy, gates, seconds, circuit in zip(
        *(table.column(c).to_pylist() for c in columns), strict=True
    ):
        if draw == GIVEN and status == DONE and circuit is not None and BENCHMARK.fullmatch(problem):
            number = _number(problem)
            others = published().get(number, dict.fromkeys(next(iter(published().values())), math.nan))
            found[number] = Entry(name_of(problem), number, accuracy, gates, seconds, others, circuit)
    return [found[number] for number in sorted(found)]


def _number(problem: str) -> int:
    match = BENCHMARK.fullmatch(problem)
    return int(match[1]) if match else -1


class Line(NamedTuple):
    """Means over some benchmarks."""

    name: str
    size: int
    accuracy: float
    gates: float
    seconds: float
    others: dict[str, float]


def _mean(name: str, part: Sequence[Entry]) -> Line:
    def mean(values: Iterable[float]) -> float:
        return float(np.mean([*values]))

    others = {key: mean(entry.others[key] for entry in part) for key in part[0].others}
    return Line(
        name, len(part), mean(e.accuracy for e in part), mean(e.gates for e in part), mean(e.seconds for e in part), others
    )


def groups(found: Sequence[Entry]) -> list[Line]:
    """Return the means of all benchmarks, of those on which settings were chosen, and of the others."""
    parts = {
        "all": list(found),
        "odd, settings were chosen on these": [entry for entry in found if entry.run == "tuning"],
        "odd, run once at the end": [entry for entry in found if entry.number % 2 and entry.run == "once"],
        "even, run once at the end": [entry for entry in found if entry.number % 2 == 0],
    }
    return [_mean(name, part) for name, part in parts.items() if part]


def categories(found: Sequence[Entry]) -> list[Line]:
    """Return the means of every kind of function."""
    return [_mean(name, part) for name in (*CATEGORIES, "others") if (part := [e for e in found if e.category == name])]


def standing(found: Sequence[Entry]) -> list[str]:
    """Describe how the solutions compare with published ones, losses as plainly as wins."""
    known = [entry for entry in found if not math.isnan(entry.lead)]
    if not known:
        return []
    line = _mean("", known)
    said = [
        f"Mean accuracy on {len(known)} benchmarks with published figures: {100 * line.accuracy:.2f} % with {line.gates:.0f} "
        f"AND gates on average; best published circuit of each {100 * line.others['best']:.2f} %, ensemble "
        f"{100 * line.others['ensemble']:.2f} % with {line.others['ensemble gates']:.0f}, team 2 "
        f"{100 * line.others['team 2']:.2f} % with {line.others['team 2 gates']:.0f}, team 9 "
        f"{100 * line.others['team 9']:.2f} % with {line.others['team 9 gates']:.0f}."
    ]
    longest = max(found, key=lambda entry: entry.seconds)
    said.append(f"CPU seconds: {line.seconds:.1f} on average, {longest.seconds:.0f} at most ({longest.name}).")
    won = [entry for entry in known if entry.lead > SAME]
    lost = sorted((entry for entry in known if entry.lead < -SAME), key=lambda entry: entry.lead)
    losses = ", ".join(f"{entry.name} ({100 * entry.lead:.1f} points)" for entry in lost)
    same = len(known) - len(won) - len(lost)
    said.append(
        f"Against the best published circuit of each: better on {len(won)}, within {100 * SAME:.1f} points on {same}, worse "
        f"on {len(lost)}{': ' if lost else ''}{losses}."
    )
    said += [f"{entry.name}: {LOSSES[entry.name]}" for entry in lost if entry.lead < -LARGE and entry.name in LOSSES]
    too_large = [entry.name for entry in found if entry.gates > MOST_GATES]
    if too_large:
        said.append(f"Larger than the {MOST_GATES:,} AND gates that the contest allows: {', '.join(too_large)}.")
    return said


def headline(found: Sequence[Entry]) -> str:
    """Describe how the solutions compare on the benchmarks that no setting was chosen on; empty without any."""
    by, rest = CHOSEN_ON
    leads = [entry for entry in found if entry.number % by != rest and not math.isnan(entry.lead)]
    if not leads:
        return ""
    line = _mean("", leads)
    won, lost = (sum(sign * entry.lead > SAME for entry in leads) for sign in (1, -1))
    return (
        f"The contest of 2020, {len(leads)} benchmarks that no setting was chosen on: {100 * line.accuracy:.2f} % of unseen "
        f"rows right with {line.gates:.0f} AND gates, best published circuit of each {100 * line.others['best']:.2f} %; "
        f"better on {won}, level on {len(leads) - won - lost}, worse on {lost}."
    )


def curve(found: Sequence[Entry], name: str) -> tuple[list[float], list[float]]:
    """Return mean accuracies of solutions up to each number of AND gates, where larger ones count as a guess, one half."""
    points = [
        (entry.gates, entry.accuracy) if name == NAME else (entry.others[f"{name} gates"], entry.others[name])
        for entry in found
        if not math.isnan(entry.lead)
    ]
    limits = sorted({max(1.0, float(gates)) for gates, _ in points} | {float(MOST_GATES)})
    means = [float(np.mean([accuracy if gates <= limit else 0.5 for gates, accuracy in points])) for limit in limits]
    return limits, means


def write_page(folder: Path, table: pa.Table, figure: str) -> tuple[str, ...]:
    """Write contest.html and the solutions as .aig files, if a folder has any; returns their summary in sentences."""
    found = entries(table)
    if not found:
        return ()
    files.make_folder(folder / SOLUTIONS)
    for entry in found:
        files.write_bytes_whole(folder / SOLUTIONS / f"{entry.name}.aig", entry.circuit)
    said = standing(found)
    facts: dict[str, Any] = {"sentences": said, "groups": groups(found), "categories": categories(found), "entries": found}
    facts |= {"others": OTHERS, "same": SAME, "figure": figure, "most_gates": MOST_GATES, "solutions": SOLUTIONS}
    text = pages.page("gradus_paper", "contest_page", title=TITLE, heading=TITLE, about=ABOUT, **facts)
    files.write_text_whole(folder / PAGE, text)
    return tuple(said)


def merged(study: Study, folder: Path) -> Study:
    """Return a study with the benchmarks that the folder of its results has already."""
    before = [other for other in load_studies(folder) if other.name == NAME] if (folder / STUDIES).is_dir() else []
    blocks = {block.designs[0].problem: block for each in (*before, study) for block in each.blocks}
    return replace(study, blocks=tuple(blocks.values()))
