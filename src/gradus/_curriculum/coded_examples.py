"""Examples as the solver needs them: checked, coded, equal columns merged, rows packed into bit planes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._core.bits import as_table, column_names, n_words, pack
from gradus._core.cells import is_missing
from gradus._core.checks import OnConflict, check_on_conflict
from gradus.errors import ConflictError, DataError

__all__ = ["CodedExamples", "CodedInputs", "code_examples", "code_inputs", "group_rows"]

MAX_VALUES = 64
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class CodedInputs:
    """The input columns of some examples.

    Columns that split the rows in the same way are interchangeable: only the first of them is packed, and
    `column_classes` lists them all. Constant columns separate nothing and are left out.
    """

    n_rows: int
    n_columns: int
    column_classes: tuple[tuple[int, ...], ...]
    rows: npt.NDArray[np.uint64]  # (distinct rows, planes, words)
    row_group: Codes  # (n_rows,): the distinct row that each row is


@dataclass(frozen=True)
class CodedExamples:
    """Distinct rows with their classes, and the number of conflicts: pairs that no column can separate."""

    inputs: CodedInputs
    rows: npt.NDArray[np.uint64]
    classes: Codes
    conflicts: int


def code_inputs(X: Any) -> CodedInputs:
    """Check and code a table of categorical columns."""
    values = as_table(X, "X")
    codes = _code_columns(values, column_names(X, "X"))
    classes = _same_columns(codes)
    rows = _pack_rows(codes[:, [members[0] for members in classes]])
    first, group = group_rows(rows)
    return CodedInputs(values.shape[0], values.shape[1], classes, rows[first], group)


def _code_columns(values: npt.NDArray[Any], names: tuple[str, ...] | None) -> npt.NDArray[np.uint8]:
    """Code the values of every column in the order of their first appearance."""
    if values.dtype == np.bool_:
        return np.asarray(values ^ values[0]).view(np.uint8)
    codes = np.empty(values.shape, dtype=np.uint8)
    for k in range(values.shape[1]):
        place = f"column {k}" if names is None else f"column {names[k]!r}"
        column = _code(values[:, k], f"X, {place}")
        if column.max() >= MAX_VALUES:
            raise DataError(
                f"X has {column.max() + 1} distinct values in {place}; at most {MAX_VALUES} are supported. "
                f"Discretise it first: compare it with a threshold such as its median, or cut it at a few quantiles "
                f"(sklearn.preprocessing.KBinsDiscretizer with encode='ordinal')."
            )
        codes[:, k] = column
    return codes


def _code(values: npt.NDArray[Any], place: str) -> Codes:
    """Code values in the order of their first appearance."""
    if values.dtype == object:
        missing = np.array([not isinstance(value, str) and is_missing(value) for value in values], dtype=np.bool_)
    else:
        missing = np.asarray(values != values, dtype=np.bool_)
    if missing.any():
        raise DataError(f"{place} has a missing value in row {int(np.argmax(missing))}; drop the row or fill it in.")
    if values.dtype == object:
        seen: dict[Any, int] = {}
        return np.array([seen.setdefault(value, len(seen)) for value in values], dtype=np.int64)
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse.reshape(-1)].astype(np.int64)


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


def group_rows(rows: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.intp], Codes]:
    """Find rows that are equal in all planes: the first of each group, and the group of each row; groups sorted by bytes."""
    flat = rows.reshape(len(rows), -1).byteswap()
    order = np.lexsort(flat.T[::-1])
    is_new = np.append(True, (flat[order[1:]] != flat[order[:-1]]).any(axis=1))
    group = np.empty(len(rows), dtype=np.int64)
    group[order] = np.cumsum(is_new) - 1
    return order[is_new], group


def code_examples(inputs: CodedInputs, y: Any, *, on_conflict: OnConflict = "raise", what: str = "y") -> CodedExamples:
    """Check a target column and join it with the inputs: distinct rows, each with its class."""
    classes = _code_target(y, inputs.n_rows, what)
    check_on_conflict(on_conflict)
    n_classes = int(classes.max()) + 1
    keys, counts = np.unique(inputs.row_group * n_classes + classes, return_counts=True)
    conflicts = 0
    if len(keys) > len(inputs.rows):
        in_group = np.bincount(inputs.row_group)
        # Pairs of a group in different classes: all of its pairs except those within a class.
        conflicts = int((in_group**2).sum() - (counts**2).sum()) // 2
        if on_conflict == "raise":
            raise ConflictError(
                _describe_conflict(inputs, classes, conflicts, what),
                "Remove or correct them, or pass on_conflict='ignore' to leave such pairs out, or 'first' to trust the "
                "first row.",
            )
        if on_conflict == "first":
            _, first = np.unique(inputs.row_group, return_index=True)
            keys = np.arange(len(inputs.rows)) * n_classes + classes[first]
    groups, labels = np.divmod(keys, n_classes)
    return CodedExamples(inputs, inputs.rows[groups], labels.astype(np.int64), conflicts)


def _code_target(y: Any, n_rows: int, what: str) -> Codes:
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise DataError(f"{what} must be one column, but it has the shape {values.shape}.")
    if len(values) != n_rows:
        raise DataError(f"X has {n_rows} rows but {what} has {len(values)}; they must be the same examples.")
    return _code(values, what)


def _describe_conflict(inputs: CodedInputs, classes: Codes, conflicts: int, what: str) -> str:
    """Name the first two rows that agree everywhere but in the target."""
    first_seen: dict[int, int] = {}
    for row, group in enumerate(inputs.row_group.tolist()):
        earlier = first_seen.setdefault(group, row)
        if classes[earlier] != classes[row]:
            break
    more = f" There are {conflicts} such pairs in all." if conflicts > 1 else ""
    return (
        f"Rows {earlier} and {row} have the same inputs but differ in {what}, so no set of columns can tell them apart.{more}"
    )
