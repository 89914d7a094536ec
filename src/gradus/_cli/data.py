"""Tables for the verbs: which columns are inputs and targets, and what their cells may hold."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._cli.console import note
from gradus._encoding.labels import is_unknown
from gradus._formats.table import Table
from gradus._formats.table_files import read_table
from gradus.errors import DataError, FormatError, SettingsError

__all__ = ["Dataset", "labels_of", "names_list", "read_columns", "read_examples"]

MOST_CLASSES = 256


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table split into features and targets, with numbers and labels as in the file."""

    features: npt.NDArray[Any]
    feature_names: tuple[str, ...]
    targets: tuple[npt.NDArray[Any], ...]
    """Unknown labels are None."""
    target_names: tuple[str, ...]


def names_list(text: str | None) -> list[str] | None:
    """Split names at commas; None stays None.

    Examples
    --------
    >>> names_list("z0, z1")
    ['z0', 'z1']
    """
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise SettingsError(f"{text!r} is not a list of column names with commas between them.")
    return names


def read_examples(
    path: Path,
    targets: Sequence[str] | None,
    inputs: Sequence[str] | None,
    *,
    strict: bool = False,
    texts: Collection[str] = (),
    unknown_labels: bool = False,
) -> Dataset:
    """Read a table and split it into features and targets.

    Parameters
    ----------
    targets : sequence of str, optional
        Those that the file declares, if not given; or else the last column, said aloud.
    inputs : sequence of str, optional
        All other columns, if not given.
    strict : bool
        Whether every cell must be 0 or 1.
    texts : collection of str
        Columns to read as text even if they hold numbers.
    unknown_labels : bool
        Whether a target's cell may be empty.
    """
    table = read_table(path)
    chosen = tuple(targets if targets is not None else table.targets or _last_column(table, inputs))
    given = tuple(name for name in table.columns if name not in set(chosen)) if inputs is None else tuple(inputs)
    _check_disjoint(given, chosen)
    if strict:
        features: npt.NDArray[Any] = table.bits(given).astype(np.int64)
        labels = {name: _bits(table, name, unknown_labels) for name in chosen}
    else:
        features = np.column_stack(list(read_columns(path, given, table, texts=texts, may_miss=True).values()))
        labels = read_columns(path, chosen, table, may_miss=unknown_labels)
    found = tuple(_checked_labels(labels_of(column), name) for name, column in labels.items())
    return Dataset(features, given, found, chosen)


def _last_column(table: Table, inputs: Sequence[str] | None) -> list[str]:
    """Return the last column that is no input, and say so."""
    last = [name for name in table.columns if name not in set(inputs or ())][-1:]
    for name in last:
        note(f"gradus: the target is {name!r}, the last column; name others with --targets.")
    return last


def read_columns(
    path: Path, names: Sequence[str], table: Table, *, texts: Collection[str] = (), may_miss: bool = False
) -> dict[str, npt.NDArray[Any]]:
    """Read columns of a table: numbers as numbers, others, and those in `texts`, as text.

    A missing value is an error, or NaN or an empty text if it `may_miss`.
    """
    if not table.n_rows:
        raise FormatError("there is no row of data.", path=path)
    odd = [name for name in names if name in texts or (name in table.columns and table.columns.index(name) in table.odd)]
    numeric = [name for name in names if name not in odd]
    found: dict[str, npt.NDArray[Any]] = dict(zip(numeric, table.numbers(numeric).T, strict=True)) if numeric else {}
    if odd:
        read_again = read_table(path, text_columns=odd)
        found |= {name: np.array(read_again.texts[name], dtype=object) for name in odd}
    for name, column in found.items():
        missing = column == "" if name in odd else np.isnan(column)
        if missing.any() and not may_miss:
            row = int(np.argmax(missing))
            line = None if table.lines is None else table.lines[row]
            raise FormatError(f"a value is missing (column {name!r}); fill it in or leave the row out.",
                              path=table.path, line=line, column=table.columns.index(name) + 1)  # fmt: skip
    return {name: found[name] for name in names}


def labels_of(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return labels as a model has them: texts or, where possible, whole numbers; None where there is none.

    Examples
    --------
    >>> labels_of(np.array([0.0, 1.0])).tolist(), labels_of(np.array([0.0, np.nan])).tolist()
    ([0, 1], [0, None])
    """
    if column.dtype == object:
        missing = column == ""
        return np.where(missing, np.array(None, dtype=object), column) if missing.any() else column.astype(str)
    known = column[~np.isnan(column)]
    if not np.isfinite(known).all() or (known != np.round(known)).any():
        return column
    if len(known) == len(column):
        return column.astype(np.int64)
    return np.array([None if value != value else int(value) for value in column.tolist()], dtype=object)


def _bits(table: Table, name: str, may_miss: bool) -> npt.NDArray[np.float64]:
    """Return a target as 0 and 1, NaN where it is unknown."""
    column = table.numbers([name])[:, 0]
    if not may_miss or not np.isnan(column).any() or not np.isin(column[~np.isnan(column)], (0, 1)).all():
        return table.bits([name])[:, 0].astype(np.float64)
    return column


def _check_disjoint(inputs: Sequence[str], targets: Sequence[str]) -> None:
    both = sorted(set(inputs) & set(targets))
    if both:
        raise DataError(f"column {both[0]!r} cannot be an input and a target at once.")
    for names, what in ((inputs, "input"), (targets, "target")):
        if not names:
            raise DataError(f"there is no {what} column left; give at least one.")
        if len(set(names)) < len(names):
            raise DataError(f"a column is named twice in the list of {what}s.")


def _checked_labels(column: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    """Refuse a column that is not a list of classes."""
    if column.dtype.kind == "f":
        raise DataError(f"target {name!r} holds numbers with fractions; a target must hold classes.")
    if len(np.unique(column[~is_unknown(column)])) > MOST_CLASSES:
        raise DataError(f"target {name!r} has more than {MOST_CLASSES} different values; a target must hold classes.")
    return column
