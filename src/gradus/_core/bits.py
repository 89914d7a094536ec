"""Examples as bits: checked 0/1 matrices, and the same columns packed into 64-bit words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gradus.errors import DataError

__all__ = [
    "BoolMatrix", "WordMatrix", "as_bits", "as_table", "check_examples", "check_unique", "column_names", "n_words", "pack",
    "tail_mask", "unpack",
]  # fmt: skip

WORD_BITS = 64

BoolMatrix: TypeAlias = npt.NDArray[np.bool_]
WordMatrix: TypeAlias = npt.NDArray[np.uint64]


def column_names(table: Any, what: str = "X") -> tuple[str, ...] | None:
    """Return the names of a table's columns, or None if it is a plain array."""
    columns = getattr(table, "columns", None)
    if columns is None:
        return None
    names = tuple(str(name) for name in columns)
    check_unique(names, what)
    return names


def check_unique(names: Sequence[str], what: str) -> None:
    """Raise a `DataError` that names the first repeated column name."""
    first_seen: dict[str, int] = {}
    for position, name in enumerate(names):
        if name in first_seen:
            raise DataError(
                f"{what} has two columns named {name!r} (columns {first_seen[name]} and {position}); rename one of them."
            )
        first_seen[name] = position


def check_examples(X: BoolMatrix, Y: BoolMatrix) -> None:
    """Raise a `DataError` unless X and Y have the same number of rows, and at least one column each."""
    if len(X) != len(Y):
        raise DataError(f"X has {len(X)} rows and Y has {len(Y)}; give one row of each for every example.")
    for table, what in ((X, "X"), (Y, "Y")):
        if table.shape[1] == 0:
            raise DataError(f"{what} has no columns; give at least one.")


def as_table(values: Any, what: str) -> npt.NDArray[Any]:
    """Return a table as an array with rows and columns; a one-dimensional one is a single column."""
    try:
        table = np.asarray(values)
    except ValueError as error:
        raise DataError(f"{what} is not a table: its rows have different lengths.") from error
    if table.ndim == 1:
        table = table[:, np.newaxis]
    if table.ndim != 2:
        raise DataError(f"{what} must have rows and columns, but it has {table.ndim} dimensions.")
    if table.shape[0] == 0:
        raise DataError(f"{what} has no rows; give at least one example.")
    return table


def as_bits(values: Any, what: str = "X") -> BoolMatrix:
    """Check a table of zeros and ones and return it as a Boolean matrix."""
    names = column_names(values, what)
    table = as_table(values, what)
    if table.dtype == np.bool_:
        return np.ascontiguousarray(table)
    if table.dtype == np.object_:
        # Cells of any type, some of which cannot be compared (pandas.NA), so one by one.
        zero, one = (np.frompyfunc(_equals(bit), 1, 1)(table).astype(np.bool_) for bit in (0, 1))
    else:
        zero, one = np.asarray(table == 0), np.asarray(table == 1)
    # NaN equals neither, so one test finds every value that is not a bit.
    good = zero | one
    if not good.all():
        row, column = (int(i) for i in np.argwhere(~good)[0])
        place = f"column {column}" if names is None else f"column {names[column]!r}"
        cell = _describe(table[row, column])
        raise DataError(f"{what} has {cell} in row {row}, {place}; every value must be 0 or 1.")
    return np.ascontiguousarray(one)


def _equals(bit: int) -> Callable[[Any], bool]:
    def equals(value: Any) -> bool:
        try:
            return bool(value == bit)
        except (TypeError, ValueError):
            return False

    return equals


def _describe(value: Any) -> str:
    """Describe the value of a bad cell."""
    nan = isinstance(value, float | np.floating) and np.isnan(value)
    missing = value is None or nan or str(value) in ("<NA>", "NaT")
    return "a missing value" if missing else f"the value {value.item() if isinstance(value, np.generic) else value!r}"


def n_words(n: int) -> int:
    """Return the number of 64-bit words that hold n bits."""
    return -(-n // WORD_BITS)


def tail_mask(n: int, words: int | None = None) -> npt.NDArray[np.uint64]:
    """Return words whose first n bits are set: one bit per example."""
    mask: npt.NDArray[np.uint64] = pack(np.ones((n, 1), dtype=np.bool_), words)[0]
    return mask


def pack(bits: npt.NDArray[Any], words: int | None = None) -> WordMatrix:
    """Pack the columns of a 0/1 matrix into 64-bit words."""
    # Example i of a column is bit ``i % 64`` of word ``i // 64``; the bits past the last example are zero.
    n, k = bits.shape
    words = n_words(n) if words is None else words
    if words < n_words(n):
        raise ValueError(f"{n} bits do not fit in {words} words")
    as_bytes = np.zeros((k, words * 8), dtype=np.uint8)
    packed = np.packbits(np.asarray(bits, dtype=np.bool_).T, axis=1, bitorder="little")
    as_bytes[:, : packed.shape[1]] = packed
    return as_bytes.view("<u8").astype(np.uint64, copy=False)


def unpack(words: WordMatrix, n: int) -> BoolMatrix:
    """Turn packed columns back into a Boolean matrix of n rows; the inverse of `pack`."""
    as_bytes = np.ascontiguousarray(words).astype("<u8", copy=False).view(np.uint8)
    return np.ascontiguousarray(np.unpackbits(as_bytes, axis=1, count=n, bitorder="little").T).view(np.bool_)
