"""Features as bits: how the columns of a table become the inputs of a network."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gradus._bits import BoolMatrix
from gradus.errors import DataError, FormatError, SettingsError

__all__ = ["Binarize", "FeatureColumn", "FeatureEncoding", "encode_features"]

Binarize = float | Literal["quantile"] | None
Kind = Literal["bit", "above", "is"]
QUANTILES = (0.25, 0.5, 0.75)
SHOWN_VALUE = 40  # characters of a bad value spelled out in a message


@dataclass(frozen=True)
class FeatureColumn:
    """How one column of a table becomes inputs.

    Attributes
    ----------
    name : str
    kind : {"bit", "above", "is"}
        A column of 0 and 1; one input for each threshold; one input for each category.
    values : tuple
        The thresholds or the categories; empty for ``"bit"``.
    strict : bool
        Whether a ``"bit"`` column refuses any value but 0 and 1; otherwise values above 0.5 count as 1.

    Examples
    --------
    >>> FeatureColumn("age", "above", (18, 65)).input_names
    ('age>18', 'age>65')
    """

    name: str
    kind: Kind
    values: tuple[Any, ...] = ()
    strict: bool = True

    @property
    def input_names(self) -> tuple[str, ...]:
        """A name for each input that the column becomes."""
        if self.kind == "bit":
            return (self.name,)
        sign = ">" if self.kind == "above" else "="
        return tuple(f"{self.name}{sign}{value}" for value in self.tested)

    @property
    def is_bit(self) -> bool:
        """Whether the column is its own input."""
        return self.kind == "bit"

    @property
    def tested(self) -> tuple[Any, ...]:
        """The thresholds or categories that have an input."""
        # Of two categories, one input is enough; a second would only be its negation.
        return self.values[1:] if self.kind == "is" and len(self.values) == 2 else self.values

    def encode(self, column: npt.NDArray[Any]) -> BoolMatrix:
        """Turn values into inputs, shape (n, number of inputs)."""
        if self.kind == "is":
            return self._encode_categories(column)
        numeric = _as_numbers(column)
        if numeric is None:
            odd = next(value for value in column if not _is_number(value))
            raise DataError(f"column {self.name!r} held numbers in training, but now it has {shorten(odd)}.")
        if np.isnan(numeric).any():
            raise _missing_value(self.name)
        if self.kind == "above":
            return np.asarray(numeric[:, np.newaxis] > np.array(self.values, dtype=np.float64))
        if self.strict:
            _refuse_other_than_bits(numeric, self.name)
        return numeric[:, np.newaxis] > 0.5

    def _encode_categories(self, column: npt.NDArray[Any]) -> BoolMatrix:
        values = [_category(value, self.name) for value in column]
        unknown = sorted({str(value) for value in values if value not in self.values})
        if unknown:
            warnings.warn(
                f"column {self.name!r} has {shorten(unknown[0])}, which was not there in training; it is "
                "treated as different from every known category.",
                stacklevel=2,
            )
        return np.array([[value == known for known in self.tested] for value in values], dtype=np.bool_).reshape(
            len(values), len(self.tested)
        )


@dataclass(frozen=True)
class FeatureEncoding:
    """How a table of features becomes a table of inputs; made by `encode_features`.

    Attributes
    ----------
    columns : tuple of FeatureColumn
        One for each column of the table.
    """

    columns: tuple[FeatureColumn, ...]

    @property
    def input_names(self) -> tuple[str, ...]:
        """A name for each input."""
        return tuple(name for column in self.columns for name in column.input_names)

    def encode(self, table: Any) -> BoolMatrix:
        """Turn a table of the same columns into inputs.

        Parameters
        ----------
        table : ndarray of shape (n, number of columns)

        Returns
        -------
        ndarray of bool, shape (n, number of inputs)
        """
        values = np.asarray(table)
        if values.ndim != 2 or values.shape[1] != len(self.columns):
            raise DataError(f"the table has shape {values.shape}, but the model was trained on {len(self.columns)} columns.")
        return self._encode_columns(list(values.T))

    def encode_any(self, table: Any) -> BoolMatrix:
        """Turn a data frame, a dictionary of columns or an array into inputs.

        Columns with names are found by name, in any order and among others; columns without names by position.

        Parameters
        ----------
        table : DataFrame, dict of str to array-like, or array-like of shape (n, number of columns)

        Returns
        -------
        ndarray of bool, shape (n, number of inputs)

        Raises
        ------
        DataError
            If a column is missing, or the columns have different lengths.
        """
        names = list(table) if isinstance(table, Mapping) else list(getattr(table, "columns", ()))
        if not names or not all(isinstance(name, str) for name in names):
            return self.encode(_as_array(table))
        wanted = [column.name for column in self.columns]
        missing = [name for name in wanted if name not in names]
        unnamed = wanted == [f"x{j}" for j in range(len(wanted))] and len(missing) == len(wanted) == len(names)
        if missing and not unnamed:
            raise DataError(f"the table has no column {missing[0]!r}, which the model reads; it reads {', '.join(wanted)}.")
        columns = [np.asarray(table[name]) for name in (names if unnamed else wanted)]
        if any(column.ndim != 1 or len(column) != len(columns[0]) for column in columns):
            raise DataError("the columns of the table must all be lists of the same length.")
        return self._encode_columns(columns)

    def _encode_columns(self, columns: Sequence[npt.NDArray[Any]]) -> BoolMatrix:
        parts = [encoding.encode(column) for encoding, column in zip(self.columns, columns, strict=True)]
        return np.ascontiguousarray(np.hstack(parts))

    def to_json(self) -> list[dict[str, Any]]:
        """Return plain lists and dictionaries that JSON can hold."""
        return [{"name": c.name, "kind": c.kind, "values": list(c.values), "strict": c.strict} for c in self.columns]

    @classmethod
    def from_json(cls, document: Any) -> FeatureEncoding:
        """Read what `to_json` returned.

        Raises
        ------
        FormatError
            If it is something else.
        """
        if not isinstance(document, list) or not all(isinstance(entry, dict) for entry in document):
            raise FormatError("the model's feature encoding must be a list of columns.")
        return cls(tuple(_column_from_json(entry) for entry in document))


def encode_features(
    table: Any, names: Sequence[str] | None = None, *, binarize: Binarize = "quantile", categories: Sequence[int] = ()
) -> FeatureEncoding:
    """Decide how each column of a table becomes inputs.

    A column of zeros and ones stays as it is. A column of other numbers becomes one input for each cut (at the
    quartiles, or between neighbours where there are at most four different numbers), or a single one for a given
    threshold; a column of texts becomes one input per category. A column that never varies becomes no input, unless
    none varies.

    Parameters
    ----------
    table : array-like of shape (n, k)
    names : sequence of str, optional
        Column names; ``x0, x1, …`` if not given.
    binarize : float, "quantile" or None
        A threshold for numbers that are not all 0 or 1, cuts at the quartiles, or an error that names the cell.
    categories : sequence of int
        Positions of columns whose numbers are only names of categories.

    Returns
    -------
    FeatureEncoding

    Examples
    --------
    >>> table = np.array([[0, 2.5, "red"], [1, 3.5, "blue"], [1, 9.0, "green"]], dtype=object)
    >>> encoding = encode_features(table, ["on", "size", "colour"], binarize=3)
    >>> encoding.input_names
    ('on', 'size>3', 'colour=blue', 'colour=green', 'colour=red')
    >>> encoding.encode(table).astype(int)
    array([[0, 0, 0, 0, 1],
           [1, 1, 1, 0, 0],
           [1, 1, 0, 1, 0]])
    """
    check_binarize(binarize)
    values = np.asarray(table)
    if values.ndim != 2:
        raise DataError(f"X must have rows and columns, but it has {values.ndim} dimensions.")
    if not len(values):
        raise DataError("X has no rows; give at least one example.")
    labels = [f"x{j}" for j in range(values.shape[1])] if names is None else [str(name) for name in names]
    columns = tuple(_describe_column(values[:, j], name, binarize, j in categories) for j, name in enumerate(labels))
    if columns and not any(column.input_names for column in columns):
        # A network needs an input, even where all rows are equal.
        columns = (_constant_input(values[:, 0], labels[0]), *columns[1:])
    return FeatureEncoding(columns)


def check_binarize(binarize: Any) -> None:
    """Raise a `SettingsError` unless it is a finite number, "quantile" or None."""
    is_number = not isinstance(binarize, bool) and isinstance(binarize, numbers.Real) and math.isfinite(binarize)
    if not (binarize is None or is_number or (isinstance(binarize, str) and binarize == "quantile")):
        raise SettingsError(f"binarize is {binarize!r}; it must be a number, 'quantile' or None.")


def _describe_column(column: npt.NDArray[Any], name: str, binarize: Binarize, categorical: bool) -> FeatureColumn:
    numeric = None if categorical else _as_numbers(column)
    if numeric is None:
        found = {_category(value, name) for value in column}
        ordered = tuple(sorted(found, key=lambda value: (isinstance(value, str), value)))
        return FeatureColumn(name, "is", ordered if len(ordered) > 1 else ())
    if binarize is None:
        _refuse_other_than_bits(numeric, name, hint=True)
        return FeatureColumn(name, "bit")
    if ((numeric == 0) | (numeric == 1)).all():
        return FeatureColumn(name, "bit", strict=False)
    cuts = _quartile_cuts(numeric) if isinstance(binarize, str) else (_plain(float(binarize)),)
    return FeatureColumn(name, "above", cuts)


def _quartile_cuts(numeric: npt.NDArray[np.float64]) -> tuple[float | int, ...]:
    """Cut between neighbouring values: everywhere if there are at most four, otherwise nearest the quartiles."""
    distinct = np.unique(numeric)
    if len(distinct) > len(QUANTILES) + 1:
        wanted = np.quantile(numeric, QUANTILES, method="lower")
        # A cut lies above its value, so the largest value cannot have one.
        below = np.unique(np.minimum(np.searchsorted(distinct, wanted), len(distinct) - 2))
    else:
        below = np.arange(len(distinct) - 1)
    return tuple(_nice_cut(float(distinct[i]), float(distinct[i + 1])) for i in below)


def _nice_cut(low: float, high: float) -> float | int:
    """Return the number with the fewest digits near the middle of low ≤ cut < high, so that names can be read."""
    middle = low / 2 + high / 2
    for digits in range(1, 18):
        cut = float(f"{middle:.{digits}g}")
        if low <= cut < high:
            return _plain(cut)
    return _plain(low)


def _plain(number: float) -> float | int:
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


def _constant_input(column: npt.NDArray[Any], name: str) -> FeatureColumn:
    """Describe a column that never varies as one input."""
    numeric = _as_numbers(column)
    if numeric is None:
        return FeatureColumn(name, "is", (_category(column[0], name),))
    return FeatureColumn(name, "above", (_plain(float(numeric[0])),))


def _as_numbers(column: npt.NDArray[Any]) -> npt.NDArray[np.float64] | None:
    """Return the column as numbers, or None if a value is not a number."""
    if column.dtype.kind in "biuf":
        return column.astype(np.float64)
    if column.dtype.kind == "O" and all(_is_number(value) for value in column):
        return column.astype(np.float64)
    return None


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real | np.bool_)


def _refuse_other_than_bits(numeric: npt.NDArray[np.float64], name: str, *, hint: bool = False) -> None:
    bad = ~((numeric == 0) | (numeric == 1))
    if bad.any():
        row = int(np.argmax(bad))
        advice = " Set binarize to a threshold or to 'quantile' to cut numbers into bits." if hint else ""
        raise DataError(f"column {name!r} has the value {numeric[row]:g} in row {row}; every value must be 0 or 1.{advice}")


def _category(value: Any, name: str) -> str | int | float | bool:
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, str | int | float | bool) and not (isinstance(plain, float) and math.isnan(plain)):
        return plain
    if plain is None or isinstance(plain, float) or str(plain) == "<NA>":
        raise _missing_value(name)
    raise TypeError(
        f"column {name!r} has {shorten(plain)}: a cell's argument must be a string or a real number, not "
        f"{type(plain).__name__!r}."
    )


def _missing_value(name: str) -> DataError:
    return DataError(f"column {name!r} has a missing value; fill it in or leave the row out.")


def _as_array(table: Any) -> npt.NDArray[Any]:
    try:
        return np.asarray(table)
    except ValueError as error:
        raise DataError("the table's rows have different lengths.") from error


def shorten(value: Any) -> str:
    """Return a value as text, cut if it is long."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= SHOWN_VALUE else text[:SHOWN_VALUE] + "…"


def _column_from_json(entry: dict[str, Any]) -> FeatureColumn:
    name, kind, values, strict = (entry.get(key) for key in ("name", "kind", "values", "strict"))
    good = isinstance(name, str) and kind in ("bit", "above", "is") and isinstance(values, list)
    allowed = (int, float) if kind == "above" else (str, int, float, bool)
    if not good or not isinstance(strict, bool) or not all(isinstance(value, allowed) for value in values or ()):
        raise FormatError(f"the model's feature encoding has an invalid column: {shorten(entry)}.")
    return FeatureColumn(str(name), kind, tuple(values or ()), strict)  # type: ignore[arg-type]  # checked above
