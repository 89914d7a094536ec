"""Examples as the solver wants them: checked, coded, columns that say the same merged, rows packed into bit planes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gradus._bits import column_names, n_words, pack
from gradus.errors import ConflictError, DataError, SettingsError

__all__ = ["MAX_VALUES", "Examples", "Table", "as_classes", "label_examples", "read_table", "row_keys"]

MAX_VALUES = 64
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Table:
    """The input columns of some examples.

    Columns that split the rows in the same way can stand for each other: only the first of them is packed, and
    `column_classes` lists them all. Constant columns separate nothing and are left out.
    """

    n_rows: int
    n_columns: int
    column_classes: tuple[tuple[int, ...], ...]
    rows: npt.NDArray[np.uint64]  # (distinct rows, planes, words)
    row_group: Codes  # (n_rows,): the distinct row that each row is


@dataclass(frozen=True)
class Examples:
    """Distinct rows with their classes, and the number of pairs that no column can separate."""

    table: Table
    rows: npt.NDArray[np.uint64]
    classes: Codes
    conflicts: int


def read_table(X: Any, what: str = "X") -> Table:
    """Check and code a table of categorical columns.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n, l)
        Values of any kind that can be told apart: Booleans, small integers, words.
    what : str
        What to call the table in an error.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        If there are no rows, a value is missing, or a column has more than 64 distinct values.
    """
    names = column_names(X, what)
    try:
        values = np.asarray(X)
    except ValueError as error:
        raise DataError(f"{what} is not a table: its rows have different lengths.") from error
    if values.ndim == 1 and values.size:
        values = values[:, np.newaxis]
    if values.ndim != 2:
        raise DataError(f"{what} must have rows and columns, but it has {values.ndim} dimensions.")
    if values.shape[0] == 0:
        raise DataError(f"{what} has no rows; give at least one example.")
    codes = _code_columns(values, what, names)
    classes = _same_columns(codes)
    rows = _pack_rows(codes[:, [members[0] for members in classes]])
    _, first, group = np.unique(row_keys(rows), return_index=True, return_inverse=True)
    return Table(values.shape[0], values.shape[1], classes, rows[first], group.reshape(-1).astype(np.int64))


def _code_columns(values: npt.NDArray[Any], what: str, names: tuple[str, ...] | None) -> npt.NDArray[np.uint8]:
    """Code the values of every column in the order of their first appearance."""
    if values.dtype == np.bool_:
        return np.asarray(values ^ values[0]).view(np.uint8)
    codes = np.empty(values.shape, dtype=np.uint8)
    for k in range(values.shape[1]):
        place = f"column {k}" if names is None else f"column {names[k]!r}"
        column = _code(values[:, k], f"{what}, {place}")
        if column.max() >= MAX_VALUES:
            raise DataError(
                f"{what} has {column.max() + 1} distinct values in {place}; at most {MAX_VALUES} are supported. "
                f"Discretise it first: compare it with a threshold such as its median, or cut it at a few quantiles "
                f"(sklearn.preprocessing.KBinsDiscretizer with encode='ordinal')."
            )
        codes[:, k] = column
    return codes


def _code(values: npt.NDArray[Any], place: str) -> Codes:
    """Code values in the order of their first appearance."""
    if values.dtype == object:
        missing = np.array([_is_missing(value) for value in values], dtype=np.bool_)
    else:
        missing = np.asarray(values != values, dtype=np.bool_)
    if missing.any():
        raise DataError(f"{place} has a missing value in row {int(np.argmax(missing))}; drop the row or fill it in.")
    if values.dtype == object:
        seen: dict[Any, int] = {}
        return np.array([seen.setdefault(value, len(seen)) for value in values], dtype=np.int64)
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse.reshape(-1)].astype(np.int64)


def _is_missing(value: Any) -> bool:
    """Tell whether a cell is None, not a number, or pandas' NA, which refuses to be true or false."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:
        return True


def _same_columns(codes: npt.NDArray[np.uint8]) -> tuple[tuple[int, ...], ...]:
    """Group the columns that are equal, in the order of their first members; constant columns belong to no group."""
    members: dict[bytes, list[int]] = {}
    constant = (codes == 0).all(axis=0)
    by_column = np.ascontiguousarray(codes.T)
    for k in np.flatnonzero(~constant):
        members.setdefault(by_column[k].tobytes(), []).append(int(k))
    return tuple(tuple(group) for group in members.values())


def _pack_rows(codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """Pack each row into words, one plane for each bit of the codes."""
    planes = max(1, int(codes.max(initial=0)).bit_length())
    words = max(1, n_words(codes.shape[1]))
    return np.stack([pack((codes.T >> plane) & 1, words) for plane in range(planes)], axis=1)


def row_keys(rows: npt.NDArray[np.uint64]) -> npt.NDArray[np.void]:
    """View each row, all planes of it, as one opaque value, so that whole rows can be sorted and compared."""
    flat = np.ascontiguousarray(rows.reshape(len(rows), -1))
    return flat.view(np.dtype((np.void, flat.shape[1] * 8))).reshape(-1)


def as_classes(y: Any, n_rows: int, what: str = "y") -> Codes:
    """Check a target column and number its classes."""
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise DataError(f"{what} must be one column, but it has the shape {values.shape}.")
    if len(values) != n_rows:
        raise DataError(f"X has {n_rows} rows but {what} has {len(values)}; they must be the same examples.")
    return _code(values, what)


def label_examples(
    table: Table, classes: Codes, *, on_conflict: Literal["raise", "ignore"] = "raise", what: str = "y"
) -> Examples:
    """Join a table with a target: distinct rows, each with its class.

    Raises
    ------
    ConflictError
        If rows agree everywhere but in the target, unless conflicts are ignored.
    SettingsError
        If `on_conflict` is neither "raise" nor "ignore".
    """
    if on_conflict not in ("raise", "ignore"):
        raise SettingsError(f"on_conflict is {on_conflict!r}; use 'raise' or 'ignore'.")
    n_classes = int(classes.max()) + 1
    keys, counts = np.unique(table.row_group * n_classes + classes, return_counts=True)
    groups, labels = np.divmod(keys, n_classes)
    conflicts = 0
    if len(keys) > len(table.rows):
        in_group = np.bincount(table.row_group)
        # Pairs of a group in different classes: all of its pairs without those within a class.
        conflicts = int((in_group**2).sum() - (counts**2).sum()) // 2
        if on_conflict == "raise":
            raise ConflictError(
                _describe_conflict(table, classes, conflicts, what),
                "Remove or correct them, or pass on_conflict='ignore' to leave such pairs out.",
            )
    return Examples(table, table.rows[groups], labels.astype(np.int64), conflicts)


def _describe_conflict(table: Table, classes: Codes, conflicts: int, what: str) -> str:
    """Name the first two rows that agree everywhere but in the target."""
    first_seen: dict[int, int] = {}
    for row, group in enumerate(table.row_group.tolist()):
        earlier = first_seen.setdefault(group, row)
        if classes[earlier] != classes[row]:
            break
    more = f" There are {conflicts} such pairs in all." if conflicts > 1 else ""
    return (
        f"Rows {earlier} and {row} have the same inputs but differ in {what}, so no set of columns can tell them apart.{more}"
    )
