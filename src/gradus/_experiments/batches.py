"""Cut a list of tasks into batches of about a second, learning from each batch how long the next will take."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from gradus._experiments.beds import own_tables
from gradus._experiments.tasks import Design, Task
from gradus._experiments.work import Batch, Row

__all__ = ["Batcher"]

SECONDS = 1.0
FIRST_GUESS = 0.25
MOST_TASKS = 256
WEIGHT = 0.3
"""How much the latest time of a kind of task counts against those before it."""


class Batcher:
    """Gives out batches in the order of the tasks.

    Examples
    --------
    >>> batcher = Batcher([Task(Design("add3"), 8, sample) for sample in range(10)])
    >>> len(batcher.next().tasks), len(batcher)
    (4, 6)
    """

    def __init__(self, tasks: Iterable[Task], *, seconds: float = SECONDS) -> None:
        self._tasks = deque(tasks)
        self._seconds = seconds
        self._times: dict[tuple[Design, int], float] = {}
        self._problem_times: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._tasks)

    def next(self) -> Batch:
        """Take the next tasks, worth about a second; at least one."""
        taken: list[Task] = []
        expected = 0.0
        while self._tasks and len(taken) < MOST_TASKS and (not taken or expected < self._seconds):
            task = self._tasks.popleft()
            expected += self._expected(task)
            taken.append(task)
        return Batch(tuple(taken), own_tables(taken))

    def learn(self, batch: Batch, rows: Sequence[Row]) -> None:
        """Take note of how long a batch took."""
        for task, row in zip(batch.tasks, rows, strict=True):
            seconds = row.get("cpu_seconds")
            if seconds is not None:
                key, problem = (task.design, task.n_train), task.design.problem
                self._times[key] = _blend(self._times.get(key), seconds)
                self._problem_times[problem] = _blend(self._problem_times.get(problem), seconds)

    def _expected(self, task: Task) -> float:
        known = self._times.get((task.design, task.n_train))
        return known if known is not None else self._problem_times.get(task.design.problem, FIRST_GUESS)


def _blend(before: float | None, latest: float) -> float:
    return latest if before is None else (1 - WEIGHT) * before + WEIGHT * latest
