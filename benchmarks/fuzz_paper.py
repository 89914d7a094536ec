"""Damage one valid file per reader of gradus-paper: ``python benchmarks/fuzz_paper.py --mutants 2000``, as `fuzz` does."""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from fuzz import Reader, main, named
from gradus.errors import FormatError
from gradus.lab import Checkpoint, Settings
from gradus_paper.execution import run_task
from gradus_paper.report_page import report_page
from gradus_paper.row import Row
from gradus_paper.runs import absorb, read_runs
from gradus_paper.store import Store
from gradus_paper.study import Block, Study, load_studies, save_study
from gradus_paper.tasks import Design, Task

RUNS = b'{"ended": "2026", "what": "quick", "done": 3, "seconds": 1.5, "versions": {"numpy": "2"}}\n{"what": '


def readers() -> list[Reader]:
    """Every reader with one valid file."""
    with tempfile.TemporaryDirectory() as folder:
        return [Reader("runs", RUNS, named("runs.jsonl"), _run_lines), *_made_readers(Path(folder))]


def _made_readers(folder: Path) -> Iterator[Reader]:
    """Readers of files that gradus-paper itself writes."""
    design = Design("add3", settings=Settings(max_iter=1000, n_restarts=0))
    save_study(Study("Mine", [Block((design,), (4, 8), (0, 1))], parts=(Study("Part"),), name="mine"), folder)
    saved = (folder / "studies" / "mine.json").read_bytes()
    yield Reader("study", saved, named("studies/mine.json"), lambda path: load_studies(path.parent.parent))
    tasks = [Task(design, 8, sample) for sample in range(3)]
    store = Store(folder)
    store.begin()
    wiring, random = np.zeros((63, 2), np.uint32), np.array([1, 2], np.uint64)
    since = Checkpoint(
        step=5, iterations=0, restart=0, best_cost=3, random=random, sources=wiring, best=wiring,
        history=np.zeros(250, np.uint64),
    )  # fmt: skip
    store.keep_begun({tasks[0].id_bytes: since})
    begun = (folder / "begun.parquet").read_bytes()
    yield Reader("begun", begun, named("begun.parquet"), lambda path: _resumed(path, tasks[0]))
    store.append([Row(task="00ff", status="done"), Row(task="01ff", status="failed")])
    part = next((folder / "parts").glob("*.parquet")).read_bytes()
    yield Reader("part", part, _place_of_part, _results)
    rows = Store(folder / "published")
    rows.begin()
    rows.append([Row.of(task, converged=True, n_test=4, test_accuracy_mean=0.5) for task in tasks])
    path = folder / "published.parquet"
    pq.write_table(rows.table().drop_columns(["task"]), path)
    yield Reader("published", path.read_bytes(), named(path.name), lambda path: _absorbed(path, tasks))


def _place_of_part(folder: Path, content: bytes) -> Path:
    return folder / "parts" / f"part-000001-{hashlib.blake2b(content, digest_size=12).hexdigest()}.parquet"


def _results(path: Path) -> Any:
    store = Store(path.parent.parent)
    return store.damaged or (store.ids(), store.table())


def _run_lines(path: Path) -> Any:
    nothing: dict[str, Any] = dict.fromkeys(("claims", "published", "highlights", "sections", "standings", "damaged"), ())
    page = report_page(runs=read_runs(path.parent), **nothing)
    if "quick" not in page:
        raise FormatError("no line of it describes a run.", path=path)  # invalid lines are left out, which is not an error
    return page


def _absorbed(path: Path, tasks: list[Task]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        return absorb(tasks, path, Store(folder))


def _resumed(path: Path, task: Task) -> Any:
    """Read interrupted searches and continue them where they fit."""
    for since in Store(path.parent).begun().values():
        run_task(task, since)


if __name__ == "__main__":
    sys.exit(main(readers()))
