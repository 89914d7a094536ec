"""`Series`: the states of genes at successive times, and `read_series`, which reads them from files and data frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gradus._core.bits import check_unique, column_names
from gradus._core.checks import check_choice
from gradus._core.wording import listed
from gradus._formats.table import Table
from gradus._formats.table_files import READERS, read_table
from gradus.errors import DataError, FormatError, SettingsError

__all__ = ["Series", "as_series", "parse_held", "read_series"]

SERIES_NAMES = ("series", "Series", "SERIES")
TIME_NAMES = ("time", "Time", "TIME")
REPLICATE_NAMES = ("replicate", "Replicate", "REPLICATE")
HELD_NAMES = ("held", "Held", "HELD")
CORNERS = ("", "gene", "genes", "name", "names", "id", "symbol", "time", "probe")  # over a column of gene names


@dataclass(frozen=True, eq=False)
class Series:
    """States of some genes at successive times.

    Parameters
    ----------
    genes : sequence of str
        A name for each column.
    states : array-like of numbers, shape (times, genes)
        NaN or None where a value is missing.
    name : str
        What to call the series in reports.
    path : path-like, optional
        The file it came from.
    lines : sequence of int, optional
        The line of the file that each state is on.
    times : sequence of float, optional
        When each state was recorded.
    held : mapping of str to int
        Genes that a knock-out (0) or over-expression (1) held at a value.
    experiment : str
        Replicates of one experiment share it; the name of the series if it is empty.

    Examples
    --------
    >>> Series(["a", "b"], [[0, 1], [1, 1]]).states.shape
    (2, 2)
    """

    genes: tuple[str, ...]
    states: npt.NDArray[np.float64]
    name: str = "series"
    path: str | PathLike[str] | None = None
    lines: tuple[int, ...] | None = None
    times: tuple[float, ...] | None = None
    held: Mapping[str, int] = field(default_factory=dict)
    experiment: str = ""

    def __post_init__(self) -> None:
        genes = tuple(str(gene) for gene in self.genes)
        check_unique(genes, f"series {self.name!r}")
        try:
            states = np.array(self.states, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(f"series {self.name!r} is not a table of numbers: {error}") from error
        if states.ndim != 2 or states.shape[1] != len(genes):
            raise DataError(f"series {self.name!r} has shape {states.shape}, but there are {len(genes)} genes.")
        states.flags.writeable = False
        for gene, value in self.held.items():
            if gene not in genes or value not in (0, 1):
                raise DataError(f"series {self.name!r} cannot hold {gene!r} at {value!r}; give one of its genes, and 0 or 1.")
        object.__setattr__(self, "genes", genes)
        object.__setattr__(self, "states", states)

    def in_order(self, genes: tuple[str, ...]) -> npt.NDArray[np.float64]:
        """Return the states with the columns in the order of these genes, which must be the same."""
        if self.genes == genes:
            return self.states
        odd = sorted(set(self.genes) ^ set(genes))
        if odd:
            raise DataError(f"series {self.name!r} has other genes than the first one: {listed(odd)} not in both.")
        return self.states[:, [self.genes.index(gene) for gene in genes]]


def read_series(
    paths: str | PathLike[str] | Iterable[str | PathLike[str]],
    *,
    layout: Literal["states", "genes"] = "states",
    series_column: str | None = None,
    time_column: str | None = None,
    **options: Any,
) -> tuple[Series, ...]:
    r"""Read one or several time series.

    Parameters
    ----------
    paths : path-like or iterable of path-likes
        Each file holds one series, or several told apart by a column.
    layout : {"states", "genes"}
        ``"states"``: a row is a state and a column is a gene. ``"genes"``: a row is a gene with its name first and a
        column is a time, as in BoolNet.
    series_column : str, optional
        The column that tells the series apart; by default one named ``series``, if there is one.
    time_column : str, optional
        The column that gives the times, by which the states of a series are ordered; by default one named ``time``.
        Without it they are in the order of the file. A column named ``replicate`` tells the replicates of one series
        apart, and one named ``held`` names the genes that were held in it: ``Rb=0``, or ``Rb=0 E2F=1``. Where times repeat
        and no column tells series apart, a time that starts again begins a new series.
    **options
        Passed to `read_table`.

    Returns
    -------
    tuple of Series
        With NaN where a value is missing.

    Raises
    ------
    FormatError
        With file, line and column, if a value is not a number.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "cells.csv"
    >>> _ = path.write_text("time,a,b\n2,1,1\n1,0,1\n")
    >>> read_series(path)[0].states.tolist()
    [[0.0, 1.0], [1.0, 1.0]]
    """
    check_choice("layout", layout, ("states", "genes"))
    files = [paths] if isinstance(paths, str | PathLike) else list(paths)
    if not files:
        raise SettingsError("there is no file to read.")
    if layout == "genes" and (series_column is not None or time_column is not None):
        raise SettingsError("with genes in rows there is no column of series or times; give one file per series.")
    found: list[Series] = []
    for path in files:
        if layout == "genes":
            found.append(_genes_in_rows(path, options))
        else:
            found += _states_in_rows(read_table(path, **options), series_column, time_column)
    return tuple(found)


def as_series(source: Any) -> tuple[Series, ...]:
    """Turn whatever holds time series into series."""
    if isinstance(source, Series):
        return (source,)
    if isinstance(source, str | PathLike):
        return read_series(source)
    names = column_names(source, "the data frame")
    if names is None:
        try:
            return tuple(series for one in source for series in as_series(one))
        except TypeError:
            raise DataError(f"{type(source).__name__} is not a time series: give a Series, a DataFrame or a file.") from None
    return tuple(_states_in_rows(_table_of_frame(source, names), None, None))


def _table_of_frame(frame: Any, names: tuple[str, ...]) -> Table:
    """Columns of a data frame as numbers, and the column that tells series apart as text."""
    cells = []
    for place, name in enumerate(names):
        column = frame.iloc[:, place]
        if name in (*SERIES_NAMES, *REPLICATE_NAMES, *HELD_NAMES):
            texts = ["" if missing else str(cell) for cell, missing in zip(column, column.isna(), strict=True)]
            cells.append(np.array(texts, dtype=object))
            continue
        try:
            cells.append(column.to_numpy(dtype=np.float64, na_value=np.nan))
        except (TypeError, ValueError) as error:
            raise DataError(f"column {name!r} of the data frame holds something other than numbers: {error}") from error
    return Table(names, cells)


def _states_in_rows(table: Table, series_column: str | None, time_column: str | None) -> list[Series]:
    group = _special_column(table, series_column, SERIES_NAMES)
    replicate = _special_column(table, None, REPLICATE_NAMES)
    held = _special_column(table, None, HELD_NAMES)
    time = _special_column(table, time_column, TIME_NAMES)
    genes = tuple(name for name in table.columns if name not in (group, replicate, held, time))
    if not genes:
        raise FormatError("there is no column with a gene.", path=table.path)
    states = _numbers(table, genes)
    times = None if time is None else table.numbers([time])[:, 0]
    runs = _runs(times) if times is not None and group is None and replicate is None else None
    labels = list(zip(runs or _labels(table, group, "series"), _labels(table, replicate, "replicate"), strict=True))
    return [
        _one_series(table, genes, states, rows, times, label, _held(table, held, rows))
        for label, rows in _rows_by_label(labels).items()
    ]


def _held(table: Table, column: str | None, rows: list[int]) -> dict[str, int]:
    """Genes held throughout one series, from the texts of its rows."""
    if column is None:
        return {}
    texts = set(table.text(column)[rows])
    if len(texts) > 1:
        one, other = sorted(texts)[:2]
        raise FormatError(
            f"a series has both {one!r} and {other!r} in its column {column!r}; the genes held must be the same in all of "
            "its rows.",
            path=table.path,
        )
    return parse_held(texts.pop(), table.path)


def parse_held(text: str, path: str | PathLike[str] | None = None) -> dict[str, int]:
    """Read genes and the values at which they were held."""
    found = {}
    for part in text.replace(";", " ").replace(",", " ").split():
        gene, _, value = part.rpartition("=")
        if not gene or value not in ("0", "1"):
            raise FormatError(f"{part!r} does not say which gene was held and at what; write GENE=0 or GENE=1.", path=path)
        found[gene] = int(value)
    return found


def _kind(path: str | PathLike[str], options: dict[str, Any]) -> str | None:
    return options.get("kind") or READERS.get(Path(path).suffix.lower())


def _special_column(table: Table, given: str | None, usual: Sequence[str]) -> str | None:
    if given is not None:
        if given not in table.columns:
            raise DataError(f"{table.path} has no column {given!r}.")
        return given
    return next((name for name in usual if name in table.columns), None)


def _numbers(table: Table, genes: Sequence[str]) -> npt.NDArray[np.float64]:
    try:
        return table.numbers(genes)
    except FormatError as error:
        if error.column != 1:
            raise
        raise FormatError(
            f"{error.message} If genes are in rows, read the file with layout 'genes'.",
            path=error.path, line=error.line, column=error.column,
        ) from error  # fmt: skip


def _labels(table: Table, column: str | None, what: str) -> list[str]:
    if column is None:
        return [""] * table.n_rows
    labels: list[str] = table.text(column).tolist()
    for row, label in enumerate(labels):
        if not label:
            line = None if table.lines is None else table.lines[row]
            raise FormatError(f"row {row + 1} does not say which {what} it belongs to.", path=table.path, line=line)
    return labels


def _runs(times: npt.NDArray[np.float64]) -> list[str]:
    """Return a label for each row: where times repeat, one that is earlier than the last begins a new series."""
    if len(np.unique(times)) == len(times):
        return [""] * len(times)
    return [str(number) for number in np.cumsum(np.append(True, np.diff(times) < 0)).tolist()]


def _rows_by_label(labels: list[tuple[str, str]]) -> dict[tuple[str, str], list[int]]:
    rows: dict[tuple[str, str], list[int]] = {}
    for row, label in enumerate(labels):
        rows.setdefault(label, []).append(row)
    return rows


def _one_series(
    table: Table,
    genes: tuple[str, ...],
    states: npt.NDArray[np.float64],
    rows: list[int],
    times: npt.NDArray[np.float64] | None,
    label: tuple[str, str],
    held: dict[str, int],
) -> Series:
    experiment = ":".join(str(part) for part in (table.path, label[0]) if part) or "series"
    name = f"{experiment}, replicate {label[1]}" if label[1] else experiment
    own: npt.NDArray[np.float64] | None = None
    if times is not None:
        own = times[rows]
        if np.isnan(own).any() or len(np.unique(own)) < len(own):
            raise DataError(f"series {name!r} has a missing or a repeated time; every state needs a time of its own.")
        rows = [rows[i] for i in np.argsort(own, kind="stable")]
    lines = None if table.lines is None else tuple(table.lines[row] for row in rows)
    in_order = None if own is None else tuple(np.sort(own).tolist())
    return Series(genes, states[rows], name, table.path, lines, in_order, held, experiment)


def _genes_in_rows(path: str | PathLike[str], options: dict[str, Any]) -> Series:
    """Read the file without a header first: the first cell tells whether the first row is one."""
    if _kind(path, options) not in ("csv", None):
        raise FormatError("genes in rows are read from text tables only.", path=path)
    header = options.get("header", "auto")
    table = read_table(path, **{**options, "header": False, "row_names": True})
    names = table.text("x0").tolist()
    first_row = int(_first_row_is_header(table) if header == "auto" else bool(header))
    if len(names) <= first_row or len(table.columns) < 2:
        raise FormatError("expected rows of a gene's name and its values.", path=path)
    values = table.take(slice(first_row, None)).numbers(table.columns[1:])
    genes = names[first_row:]
    for row, gene in enumerate(genes, start=first_row):
        if not gene:
            line = None if table.lines is None else table.lines[row]
            raise FormatError("this row has no gene name.", path=path, line=line, column=1)
    return Series(genes, values.T, name=str(path), path=path)


def _first_row_is_header(table: Table) -> bool:
    """Return whether the first row names the times; raise an error that asks if it is not clear."""
    top = table.take(slice(1))
    if top.text("x0")[0].lower() in CORNERS or any(top.typed(place).odd for place in range(1, len(top.columns))):
        return True
    first = top.values[0, 1:]
    if len(first) > 2 and (np.diff(first) == 1).all():
        if first[0] in (0, 1):
            return True  # times 0, 1, 2 and so on; a gene that does the same would be odd
        raise FormatError(
            "the first row counts up: say header=True if it names the times, header=False if it is a gene.",
            path=table.path, line=1,
        )  # fmt: skip
    return False
