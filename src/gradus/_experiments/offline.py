"""An experiment whose searches run elsewhere: write them to a file, and take in what comes back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gradus._experiments.beds import problem_of, target_columns, training_set
from gradus._experiments.engines import Engine
from gradus._experiments.jobs_file import JobRecord, read_jobs, read_results, write_jobs_file
from gradus._experiments.run import Progress, missing, run_tasks
from gradus._experiments.store import Store
from gradus._experiments.tasks import Task
from gradus._experiments.work import Ordered, Row, finish, order_of
from gradus._network import Network
from gradus._search.front import Outcome
from gradus.errors import DataError, FormatError, SettingsError

__all__ = ["REPLAYED", "absorb", "write_jobs"]

ROWS_A_PART = 2000
REPLAYED = "this machine, from searches run elsewhere"
"""For the record: who made the rows."""


def write_jobs(tasks: Iterable[Task], path: Path, *, callback: Callable[[], Any] | None = None) -> int:
    """Draw training sets, find orders, and write the searches of tasks to a file; return how many.

    Baselines are no searches and are left out: a plain run does them. `callback` is called after each task.

    Examples
    --------
    >>> import tempfile
    >>> from gradus._experiments.tasks import Design
    >>> path = Path(tempfile.mkdtemp()) / "jobs.npz"
    >>> write_jobs([Task(Design("add3"), 8, sample) for sample in range(5)], path)
    5
    """
    jobs: list[JobRecord] = []
    for task in tasks:
        if task.design.method == "network":
            jobs.append(_job(task))
        if callback is not None:
            callback()
    write_jobs_file(path, jobs)
    return len(jobs)


def _job(task: Task) -> JobRecord:
    design = task.design
    if design.settings.time_limit is not None:
        raise SettingsError("tasks with a time limit cannot be run elsewhere: their result depends on the machine.")
    data, ordered = training_set(task), order_of(task)
    return JobRecord(
        task_id=task.id_bytes,
        set_key=(design.problem, design.draw, design.targets, task.n_train, task.sample),
        X=data.X,
        Y=data.Y,
        order=ordered.order,
        settings=design.settings,
        seed=task.search_seed,
        tau=ordered.tau,
        eta=ordered.eta,
    )


def absorb(tasks: Sequence[Task], jobs_path: Path, results: Iterable[Path], store: Store) -> Progress:
    """Score networks that were found elsewhere and write their rows.

    Parameters
    ----------
    tasks : sequence of Task
        Those of the experiment; results of others are an error.
    jobs_path : path
        The file that `write_jobs` wrote: it holds the orders, which are not found again.
    results : iterable of path
        Files that `gradus._experiments.device` wrote.
    store : Store

    Returns
    -------
    Progress

    Raises
    ------
    FormatError
        If a file is not what it should be: nothing of it is believed unseen, and then nothing is written.
    """
    by_id = {task.id_bytes: task for task in tasks}
    orders = {job.task_id: Ordered(job.order, job.tau, job.eta) for job in read_jobs(jobs_path)}
    found: dict[bytes, Outcome] = {}
    for path in results:
        for task_id, one in read_results(path):
            if task_id not in by_id or task_id not in orders:
                raise FormatError("it holds results of tasks that are not part of this experiment.", path=path)
            _check(by_id[task_id], orders[task_id], one, jobs_path, path)
            found[task_id] = one
    wanted = [by_id[task_id] for task_id in by_id if task_id in found]
    progress = run_tasks(wanted, store, _Replay(orders, found))
    _, standing = missing(tasks, store)
    return replace(progress, total=standing.total, before=standing.before - progress.done, failed=standing.failed)


def _check(task: Task, ordered: Ordered, found: Outcome, jobs_path: Path, path: Path) -> None:
    """Raise unless the order and the network are some that the task can have: compiled code will follow them blindly."""
    problem = problem_of(task.design.problem)
    m = len(target_columns(problem, task.design.targets))
    if sorted(ordered.order) != list(range(m)):
        raise FormatError(f"the order of task {task.id} is not one of its {m} targets.", path=jobs_path)
    gates = task.design.settings.n_gates(m)
    if len(found.sources) != gates:
        raise FormatError(f"the network of task {task.id} has {len(found.sources)} gates instead of {gates}.", path=path)
    nodes = problem.n_inputs + gates
    try:
        Network(problem.n_inputs, found.sources, range(nodes - m, nodes))
    except DataError as error:
        raise FormatError(f"the network of task {task.id} is none: {error}", path=path) from error


class _Replay(Engine):
    """An engine whose searches have been done already."""

    name = REPLAYED

    def __init__(self, orders: dict[bytes, Ordered], found: dict[bytes, Outcome]) -> None:
        self.orders, self.found = orders, found

    def run(self, tasks: Sequence[Task]) -> Iterator[list[Row]]:
        """Give the rows, some at a time."""
        for start in range(0, len(tasks), ROWS_A_PART):
            part = tasks[start : start + ROWS_A_PART]
            yield [finish(task, self.orders[task.id_bytes], self.found[task.id_bytes], None) for task in part]
