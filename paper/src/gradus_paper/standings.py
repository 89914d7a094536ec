"""`Standing`: how much of each plan in a folder is done, and how long the rest will take."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gradus_paper.plans import Plan, load_plans
from gradus_paper.row import DONE
from gradus_paper.store import Store
from gradus_paper.tasks import Task

__all__ = ["Standing", "rows_of", "standings"]

LISTED_ERRORS = 5


@dataclass(frozen=True)
class Standing:
    """How much of one plan is done."""

    plan: Plan
    total: int
    done: int
    failed: int
    not_converged: int
    cpu_seconds: float
    cpu_seconds_left: float | None
    """Expected CPU time of what is left; None while nothing is done."""
    errors: tuple[str, ...]
    """The first few errors."""

    @property
    def left(self) -> int:
        """Tasks that have neither succeeded nor failed yet."""
        return self.total - self.done - self.failed


def rows_of(table: pa.Table, plan: Plan) -> pa.Table:
    """Return the rows of a table that belong to a plan."""
    ids = pa.array([task.id for task in plan.tasks()], pa.string())
    return table.filter(pc.is_in(table.column("task"), value_set=ids))


def standings(folder: Path) -> tuple[list[Standing], list[str]]:
    """Return the standing of every plan in a folder, and the names of damaged files."""
    store = Store(folder)
    columns = ["problem", "method", "loss", "n_train", "converged", "cpu_seconds", "error"]
    table = store.table(columns)
    return [_standing(plan, table) for plan in load_plans(folder)], store.damaged


def _standing(plan: Plan, table: pa.Table) -> Standing:
    tasks = plan.tasks()
    rows = rows_of(table, plan)
    done = rows.filter(pc.equal(rows.column("status"), DONE))
    failed = rows.filter(pc.not_equal(rows.column("status"), DONE))
    networks = done.filter(pc.equal(done.column("method"), "network"))
    seconds = np.nan_to_num(done.column("cpu_seconds").to_numpy(zero_copy_only=False).astype(float))
    known = set(rows.column("task").to_pylist())
    errors = list(dict.fromkeys(failed.column("error").to_pylist()))[:LISTED_ERRORS]
    return Standing(
        plan=plan,
        total=len(tasks),
        done=len(done),
        failed=len(failed),
        not_converged=len(networks) - int(pc.sum(networks.column("converged")).as_py() or 0),
        cpu_seconds=float(seconds.sum()),
        cpu_seconds_left=_expected([task for task in tasks if task.id not in known], done, seconds),
        errors=tuple(str(error) for error in errors),
    )


def _expected(left: list[Task], done: pa.Table, seconds: np.typing.NDArray[np.float64]) -> float | None:
    """Estimate the CPU time of tasks from finished ones of the same kind, or else of the same problem, or else from all."""
    if not left:
        return 0.0
    if not len(done):
        return None
    problem, loss, n_train = (done.column(name).to_pylist() for name in ("problem", "loss", "n_train"))
    sums: dict[object, list[float]] = {}
    for key, size, kind, value in zip(problem, n_train, loss, seconds.tolist(), strict=True):
        for group in ((key, size, kind), key, None):
            entry = sums.setdefault(group, [0.0, 0.0])
            entry[0] += value
            entry[1] += 1
    total = 0.0
    for task in left:
        design = task.design
        groups = ((design.problem, task.n_train, design.settings.loss), design.problem, None)
        entry = next(sums[group] for group in groups if group in sums)
        total += entry[0] / entry[1]
    return total
