"""`Row`: the one definition of a results table, from which its Parquet schema and the way back to a task follow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import pyarrow as pa

from gradus.errors import FormatError
from gradus.lab import Settings
from gradus_paper.tasks import Design, Task

DONE, FAILED = "done", "failed"
LONGEST_ERROR = 2000


def _column(kind: pa.DataType, of: str = "") -> Any:
    """Declare a column: its Arrow type, and which attribute of the task it repeats, such as ``"settings.history"``."""
    return field(default=None, metadata={"arrow": kind, "of": of})


@dataclass(frozen=True, kw_only=True)
class Row:
    """Everything that is recorded about one task; to add a column, add a field here and nothing else."""

    task: str = _column(pa.string(), "task.id")
    problem: str = _column(pa.string(), "design.problem")
    method: str = _column(pa.string(), "design.method")
    loss: str | None = _column(pa.string(), "settings.loss")
    order: str = _column(pa.string(), "design.order")
    shuffle: bool = _column(pa.bool_(), "design.shuffle")
    draw: str = _column(pa.string(), "design.draw")
    targets: Sequence[str] | None = _column(pa.list_(pa.string()), "design.targets")
    noise: float = _column(pa.float64(), "design.noise")
    tolerance: float | None = _column(pa.float64(), "design.tolerance")
    n_train: int = _column(pa.int32(), "task.n_train")
    sample: int = _column(pa.int32(), "task.sample")
    repeat: int = _column(pa.int32(), "task.repeat")
    gates_per_target: int = _column(pa.int32(), "settings.gates_per_target")
    history: int = _column(pa.int32(), "settings.history")
    max_iterations: int = _column(pa.int64(), "settings.max_iter")
    max_restarts: int = _column(pa.int64(), "settings.n_restarts")
    time_limit: float | None = _column(pa.float64(), "settings.time_limit")
    status: str = _column(pa.string())
    error: str | None = _column(pa.string())
    learned_order: Sequence[int] | None = _column(pa.list_(pa.int16()))
    tau: float | None = _column(pa.float64())
    eta: float | None = _column(pa.float64())
    set_sizes: Sequence[int] | None = _column(pa.list_(pa.int16()))
    converged: bool | None = _column(pa.bool_())
    iterations: int | None = _column(pa.int64())
    restarts: int | None = _column(pa.int32())
    live_gates: int | None = _column(pa.int32())
    train_loss: float | None = _column(pa.float64())
    n_test: int | None = _column(pa.int32())
    test_accuracy: Sequence[float] | None = _column(pa.list_(pa.float64()))
    test_accuracy_mean: float | None = _column(pa.float64())
    best_circuit_accuracy: float | None = _column(pa.float64())
    cpu_seconds: float | None = _column(pa.float64())
    method_version: int | None = _column(pa.int32())
    """Null for the first version of every method, as in the published tables, which do not have this column."""
    and_gates: int | None = _column(pa.int32())
    circuit: bytes | None = _column(pa.binary())
    """Of benchmarks whose training set is given: the circuit as binary AIGER, and its AND gates."""

    @classmethod
    def of(cls, task: Task, **measured: Any) -> Row:
        """Make the row of a finished task."""
        sources = {"task": task, "design": task.design, "settings": task.design.settings}
        values = {name: getattr(sources[kind], attribute) for name, (kind, attribute) in _SOURCES.items()}
        if task.design.method != "network":
            values["loss"] = None
        if task.design.method_version != 1:
            values["method_version"] = task.design.method_version
        return cls(**{**values, "status": DONE, **measured})

    @classmethod
    def failure(cls, task: Task, error: BaseException) -> Row:
        """Make the row of a task that failed, with its error."""
        return cls.of(task, status=FAILED, error=f"{type(error).__name__}: {error}"[:LONGEST_ERROR])

    def to_task(self) -> Task:
        """Rebuild the task; the row has everything that its result depends on."""
        values: dict[str, dict[str, Any]] = {"task": {}, "design": {}, "settings": {}}
        for name, (kind, attribute) in _SOURCES.items():
            value = getattr(self, name)
            # A row from before a setting existed has its default.
            is_known = value is not None if kind == "settings" or name == "tolerance" else True
            if is_known and (kind != "settings" or self.method == "network"):
                values[kind][attribute] = value
        design, settings = values["design"], Settings(**values["settings"])
        design["targets"] = None if self.targets is None else tuple(self.targets)
        design["method_version"] = self.method_version or 1
        return Task(Design(**design, settings=settings), self.n_train, self.sample, self.repeat)


_SOURCES = {field.name: tuple(field.metadata["of"].split(".")) for field in fields(Row) if field.metadata["of"]}
SCHEMA = pa.schema([(field.name, field.metadata["arrow"]) for field in fields(Row)])
TIMING = ("cpu_seconds",)  # columns that may differ between runs and engines; all others are the same
OPTIONAL = ("method_version", "and_gates", "circuit")  # columns that published tables have only if something is in them
NUMBERS = ("n_train", "sample", "repeat")  # columns in which the tasks of one design differ


def table_of(rows: Iterable[Row]) -> pa.Table:
    """Return rows as a table."""
    return pa.Table.from_pylist([asdict(row) for row in rows], schema=SCHEMA)


def leaves(schema: pa.Schema) -> list[str]:
    """Return what a Parquet file calls the columns of a table: of a list, its elements."""
    return [f"{field.name}.list.element" if pa.types.is_list(field.type) else field.name for field in schema]


def conform(table: pa.Table, columns: Sequence[str] = SCHEMA.names) -> pa.Table:
    """Return some columns of a table; those that it does not have are null."""
    schema = pa.schema([SCHEMA.field(name) for name in columns])
    filled = [
        table.column(field.name) if field.name in table.column_names else pa.nulls(len(table), field.type) for field in schema
    ]
    return pa.Table.from_arrays(filled, names=list(columns)).cast(schema)


def with_task_ids(table: pa.Table, path: Any) -> pa.Table:
    """Fill in the ids of tasks, which a published table leaves out, from the other columns."""
    described = [name for name in (*_SOURCES, "method_version") if name != "task" and name not in NUMBERS]
    columns = {name: table.column(name).to_pylist() for name in (*described, *NUMBERS)}
    designs: dict[str, Design] = {}
    ids: list[str] = []
    try:
        for *values, n_train, sample, repeat in zip(*columns.values(), strict=True):
            key = repr(values)
            if key not in designs:
                designs[key] = Row(**dict(zip(described, values, strict=True))).to_task().design
            ids.append(Task(designs[key], n_train, sample, repeat).id)
    except (TypeError, ValueError) as error:
        raise FormatError(f"row {len(ids)} describes no task: {error}", path=path) from error
    return table.set_column(0, SCHEMA.field("task"), pa.array(ids, pa.string()))
