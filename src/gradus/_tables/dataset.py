"""`Dataset`: a table that was read once, split into features and the classes of its targets."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._core.cells import is_unknown
from gradus._formats import MODELS
from gradus._formats.table import TEXTS, Table, checked_split, distinct_targets
from gradus._formats.table_files import read_table
from gradus._tables.cells import read_cells
from gradus._tables.labels import check_classes, cut_target, labels_of, merged_labels
from gradus._tables.readings import has_two_readings
from gradus.errors import DataError, SettingsError

__all__ = [
    "FEWEST_ROWS", "MODEL_ROWS", "Dataset", "checked_folds", "column_of", "dataset_of", "identifying_column",
    "last_column", "read_rows", "usual_folds",
]  # fmt: skip

MODEL_ROWS = 1024
"""Rows that are computed from a model; of more, as many are drawn."""
FEWEST_ROWS = 10
"""Rows of a table of which some are held out for a score."""
SMALL_TABLE = 500
"""Rows, up to which every row is held out once; of larger tables a quarter is."""
FOLDS = 5
SHARE_OF_AN_ID = 0.9  # of the rows have different values: not all, since two animals may both be a frog

Columns = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Features and targets, with numbers and labels as in the file."""

    columns: Columns
    targets: Columns
    """Unknown labels are None, or NaN."""
    cuts: dict[str, list[float]] = field(default_factory=dict)
    """Where targets of numbers were cut to make classes."""
    merged: dict[str, dict[str, str]] = field(default_factory=dict)
    """Labels and the spellings that represent them, which differ only in capitals."""

    @property
    def about(self) -> dict[str, Any]:
        """What a model keeps of how its targets were read."""
        kept = {"cuts": self.cuts, "merged": self.merged}
        return {name: entry for name, entry in kept.items() if entry}

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values())))


def read_rows(path: str | PathLike[str], header: bool | None = None, number_repeats: bool = False) -> Table:
    """Read a table, or compute the rows of a model: all of them, or many drawn at random."""
    if Path(path).suffix.lower() not in MODELS:
        # Only in text tables may it be unclear whether the first row holds names.
        options: dict[str, Any] = ({} if header is None else {"header": header}) | (
            {"number_repeats": True} if number_repeats else {}
        )
        return read_table(path, **options)
    from gradus.problems import from_file

    problem = from_file(path)
    if problem.n_patterns > MODEL_ROWS:
        X, Y = problem.rows(problem.sample(MODEL_ROWS, 0, n_test=0)[0])
    else:
        X, Y = problem.X, problem.Y
    targets = distinct_targets(problem.input_names, problem.target_names)
    return Table((*problem.input_names, *targets), list(np.hstack([X, Y]).T), path=path, targets=targets)


def last_column(table: Table, taken: Collection[str] = ()) -> list[str]:
    """Return the last column that is not taken and has a cell, the target where none is named."""
    # A comma at the end of every line makes a last column without a cell.
    for name in reversed(table.columns):
        typed = table.typed(table.columns.index(name))
        if name not in taken and (not table.n_rows or typed.odd is not None or not np.isnan(typed.numbers).all()):
            return [name]
    return []


def dataset_of(
    table: Table,
    targets: Sequence[str],
    inputs: Sequence[str] | None = None,
    *,
    strict: bool = False,
    types: Mapping[str, str] | None = None,
    unknown_labels: bool = True,
    cut: Mapping[str, str] | None = None,
) -> Dataset:
    """Split a table; what `types` calls categories are texts whatever they hold, and a strict table has 0 and 1 only.

    Targets of numbers are cut where `cut` says: at their "median", "terciles" or at values such as "10/20".
    """
    given, chosen = checked_split(table, targets, inputs)
    types = types or {}
    categories = [name for name, kind in types.items() if kind in ("category", "exact", "decimal-comma")]
    _check_named(chosen, types, cut or {})
    if strict:
        columns = dict(zip(given, table.bits(given).astype(np.int64).T, strict=True))
    else:
        columns = {name: table.text(name) if name in categories else column_of(table, name) for name in given}
    labels: Columns = {}
    cuts: dict[str, list[float]] = {}
    merged: dict[str, dict[str, str]] = {}
    for name in chosen:
        if cut and name in cut:
            labels[name], cuts[name] = cut_target(read_cells(column_of(table, name)).numbers(), cut[name], name)
            continue
        if strict:
            known = table.numbers([name])[:, 0]
            if not np.isin(known[~np.isnan(known)], (0, 1)).all():
                table.bits([name])  # raises
            labels[name] = labels_of(known)
        else:
            labels[name] = labels_of(table.text(name) if name in categories else table.column(name))
        if types.get(name) != "exact":
            labels[name], merged[name] = merged_labels(labels[name])
        unknown = is_unknown(labels[name])
        if unknown.any() and not unknown_labels:
            message = f"a value is missing (column {name!r}); fill it in or leave the row out."
            raise table.error(message, int(np.argmax(unknown)), name)
        check_classes(labels[name], name)
    return Dataset(columns, labels, cuts, {name: changed for name, changed in merged.items() if changed})


def _check_named(targets: Sequence[str], types: Mapping[str, str], cut: Mapping[str, str]) -> None:
    """Refuse kinds of targets, and cuts of other columns."""
    for name, kind in types.items():
        if name in targets and kind not in ("category", "exact"):
            raise SettingsError(
                f"--types names {name!r}, which is the target and holds classes; --cut makes classes of numbers."
            )
    for name in cut:
        if name not in targets:
            raise DataError(f"--cut names {name!r}, which is not a target; targets are {', '.join(targets)}.")


def column_of(table: Table, name: str) -> npt.NDArray[Any]:
    """Return a column as numbers, or as texts if some are not plain numbers; 1.200 may be 1200, which all rows decide."""
    column = table.column(name)
    if column.dtype == object or table.cells[table.columns.index(name)].dtype.kind not in TEXTS:
        return column
    texts = table.text(name)
    marked = [text for text in texts.tolist() if "." in text]
    return texts if marked and all(map(has_two_readings, marked)) else column


def checked_folds(wanted: int | None, n_rows: int) -> int:
    """Return how many models are learned for the score of another."""
    if wanted is not None and (not 0 <= wanted <= n_rows or (wanted and n_rows < 4)):
        raise SettingsError(f"--cv is {wanted}; it must be from 0 to the number of rows, {n_rows}.")
    return usual_folds(n_rows) if wanted is None else wanted


def usual_folds(n_rows: int) -> int:
    """Return how many models are learned for the score of another, by default."""
    return 0 if n_rows < FEWEST_ROWS else FOLDS if n_rows <= SMALL_TABLE else 1


def identifying_column(table: Table, taken: Collection[str]) -> Columns:
    """Return the first column that differs in nearly every row, as texts, by its name; empty if there is none."""
    for name in table.columns:
        if name in taken:
            continue
        texts = table.text(name)
        if "" not in texts and len(set(texts.tolist())) >= SHARE_OF_AN_ID * table.n_rows:
            return {name: texts}
    return {}
