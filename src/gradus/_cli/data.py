"""Tables for the verbs: which columns are inputs and targets, and what their cells may hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._bits import BoolMatrix
from gradus._encoding.conflicts import groups_of_equal_rows
from gradus._encoding.features import Binarize
from gradus._formats.tables import Table, read_table
from gradus.errors import ConflictError, DataError, FormatError, SettingsError

__all__ = ["Examples", "names_list", "parse_binarize", "read_columns", "read_examples", "refuse_conflicts"]

MOST_CLASSES = 256


@dataclass(frozen=True, eq=False)
class Examples:
    """A table split into features and targets, labels and numbers as they stand in the file."""

    features: npt.NDArray[Any]
    feature_names: tuple[str, ...]
    targets: tuple[npt.NDArray[Any], ...]
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


def parse_binarize(text: str) -> Binarize:
    """Read the option --binarize.

    Examples
    --------
    >>> parse_binarize("none"), parse_binarize("quantile"), parse_binarize("0.5")
    (None, 'quantile', 0.5)
    """
    if text == "none":
        return None
    if text == "quantile":
        return "quantile"
    try:
        return float(text)
    except ValueError as error:
        raise SettingsError(f"--binarize is {text!r}; use none, quantile or a number.") from error


def read_examples(path: Path, targets: Sequence[str] | None, inputs: Sequence[str] | None, binarize: Binarize) -> Examples:
    """Read a table and split it; without `binarize` every cell must be 0 or 1."""
    table = read_table(path)
    if targets is None and table.targets is None:
        shown = ", ".join(table.columns[:8]) + (", …" if len(table.columns) > 8 else "")
        raise DataError(f"{path} does not say which columns are targets; name them with --targets (it has {shown}).")
    if binarize is None:
        X, Y, input_names, target_names = table.split(targets, inputs=inputs)
        return Examples(X.astype(np.int64), input_names, tuple(Y.T.astype(np.int64)), target_names)
    chosen = tuple(targets if targets is not None else table.targets or ())
    given = tuple(name for name in table.columns if name not in set(chosen)) if inputs is None else tuple(inputs)
    _check_disjoint(given, chosen)
    features = read_columns(path, given, table=table)
    labels = [read_columns(path, [name], table=table)[:, 0] for name in chosen]
    return Examples(features, given, tuple(_as_labels(*pair) for pair in zip(labels, chosen, strict=True)), chosen)


def read_columns(path: Path, names: Sequence[str], *, table: Table | None = None) -> npt.NDArray[Any]:
    """Read columns of a table: numbers as numbers, anything else as text; a missing value is an error."""
    table = read_table(path) if table is None else table
    if not table.n_rows:
        raise FormatError("there is no row of data.", path=path)
    odd = [name for name in names if name in table.columns and table.columns.index(name) in table.odd]
    numeric = [name for name in names if name not in odd]
    numbers = dict(zip(numeric, table.numbers(numeric).T, strict=True)) if numeric else {}
    for name, column in numbers.items():
        _refuse_missing(np.isnan(column), name, table)
    if not odd:
        return np.column_stack([numbers[name] for name in names])
    texts = read_table(path, text_columns=odd).texts
    for name in odd:
        _refuse_missing(np.array([not cell for cell in texts[name]]), name, table)
    columns = [np.array(texts[name], dtype=object) if name in odd else numbers[name].astype(object) for name in names]
    return np.column_stack(columns)


def refuse_conflicts(inputs: BoolMatrix, targets: npt.NDArray[Any], names: Sequence[str], advice: str) -> None:
    """Name two rows that agree in every input and differ in a target, if there are such; rows count from 1.

    Examples
    --------
    >>> refuse_conflicts(np.array([[0], [1], [0]], dtype=bool), np.array([[0], [1], [1]]), ["z"], "correct them.")
    Traceback (most recent call last):
        ...
    gradus.errors.ConflictError: data rows 1 and 3 have the same inputs and differ in target 'z', correct them.
    """
    group = groups_of_equal_rows(inputs)
    _, first = np.unique(group, return_index=True)
    differ = targets != targets[first[group]]
    odd = np.flatnonzero(differ.any(axis=1))
    if not len(odd):
        return
    row, column = odd[0], int(np.argmax(differ[odd[0]]))
    others = int(np.isin(group, group[odd]).sum()) - 2
    more = f" ({others} more {'row is' if others == 1 else 'rows are'} in such a conflict)" if others else ""
    raise ConflictError(
        f"data rows {first[group[row]] + 1} and {row + 1} have the same inputs and differ in target "
        f"{names[column]!r}{more}, {advice}"
    )


def _check_disjoint(inputs: Sequence[str], targets: Sequence[str]) -> None:
    both = sorted(set(inputs) & set(targets))
    if both:
        raise DataError(f"column {both[0]!r} cannot be an input and a target at once.")
    for names, what in ((inputs, "input"), (targets, "target")):
        if not names:
            raise DataError(f"there is no {what} column left; give at least one.")


def _refuse_missing(missing: npt.NDArray[np.bool_], name: str, table: Table) -> None:
    if missing.any():
        row = int(np.argmax(missing))
        line = None if table.lines is None else table.lines[row]
        raise FormatError(f"a value is missing (column {name!r}); fill it in or leave the row out.",
                          path=table.path, line=line, column=table.columns.index(name) + 1)  # fmt: skip


def _as_labels(column: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    """Labels with whole numbers as integers; refuse a column that is no list of classes."""
    if column.dtype != object:
        if not np.isfinite(column).all() or (column != np.round(column)).any():
            raise DataError(f"target {name!r} holds numbers with fractions; a target must hold classes.")
        column = column.astype(np.int64)
    else:
        column = column.astype(str)
    if len(np.unique(column)) > MOST_CLASSES:
        raise DataError(f"target {name!r} has more than {MOST_CLASSES} different values; a target must hold classes.")
    return column
