"""`Series`: the states of genes at successive times; read from files and data frames; and two published ones."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._core.bits import check_unique, column_names
from gradus._core.checks import check_choice
from gradus._core.wording import listed
from gradus._formats.table import Table
from gradus._formats.table_files import READERS, read_table
from gradus.errors import DataError, FormatError, SettingsError
from gradus.problems._gene_networks import ECOLI, YEAST

__all__ = [
    "ECOLI_SERIES",
    "UNKNOWN",
    "YEAST_SERIES",
    "Codes",
    "Series",
    "Step",
    "as_series",
    "parse_held",
    "read_series",
    "recorded",
]

UNKNOWN = 2
LONGEST_STEP = 1.5
"""States further apart than this many usual steps are not successive."""
SERIES_NAMES = ("series", "Series", "SERIES")
TIME_NAMES = ("time", "Time", "TIME")
REPLICATE_NAMES = ("replicate", "Replicate", "REPLICATE")
HELD_NAMES = ("held", "Held", "HELD")
GENE_NAMES = ("gene", "genes", "symbol", "probe")
"""A first column of texts with such a heading names genes, which are then in rows."""
CORNERS = ("", *GENE_NAMES, "name", "names", "id", "time")
"""What may be above a column of gene names."""
Codes = npt.NDArray[np.uint8]
"""States as 0, 1 and `UNKNOWN`."""


class Step(NamedTuple):
    """A transition's place: the state at `time` (counted from 0) of the series, and the one after it."""

    series: str
    time: int
    line: int | None

    def __str__(self) -> str:
        place = "" if self.line is None else f" (line {self.line})"
        return f"{self.series} row {self.time + 1}{place}"


@dataclass(frozen=True, eq=False)
class Series:
    """States of genes at successive times.

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
        Genes that a knock-out (0) or over-expression (1) held at a value: inputs here, never targets.
    experiment : str
        Replicates of one experiment share it; the name of the series if it is empty.
    steady : bool
        Whether each state is a steady state, which is followed by itself.
    levels : array-like of numbers, shape (times, genes), optional
        What was measured, before it was made binary.
    usual_step : float, optional
        The usual time between states; the median if it is not given. Steps longer than 1.5 times that join states that are
        not successive.

    Examples
    --------
    >>> series = Series(["a", "b"], [[0, 1], [1, 1], [1, 0]], times=[0, 1, 5], usual_step=1)
    >>> series.states.shape, series.transitions()
    ((3, 2), [(0, 1)])
    """

    genes: tuple[str, ...]
    states: npt.NDArray[np.float64]
    name: str = "series"
    path: str | PathLike[str] | None = None
    lines: tuple[int, ...] | None = None
    times: tuple[float, ...] | None = None
    held: Mapping[str, int] = field(default_factory=dict)
    experiment: str = ""
    steady: bool = False
    levels: npt.NDArray[np.float64] | None = None
    usual_step: float | None = None

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
        if self.times is not None:
            object.__setattr__(self, "usual_step", self._checked_step(self.times))
        if self.levels is not None and np.shape(self.levels) != states.shape:
            raise DataError(f"series {self.name!r} has levels of shape {np.shape(self.levels)}, but states {states.shape}.")

    def _checked_step(self, times: Sequence[float]) -> float | None:
        """Check the times, and return the usual step."""
        if len(times) != len(self.states):
            raise DataError(f"series {self.name!r} has {len(self.states)} states but {len(times)} times.")
        steps = np.diff(np.asarray(times, dtype=np.float64))
        if not (steps > 0).all():
            raise DataError(f"the times of series {self.name!r} must grow from state to state.")
        return self.usual_step if self.usual_step is not None or not len(steps) else float(np.median(steps))

    @functools.cached_property
    def codes(self) -> Codes:
        """Binary states as 0, 1 and 2, which is unknown."""
        return np.where(np.isnan(self.states), UNKNOWN, self.states).astype(np.uint8)

    @property
    def is_held(self) -> npt.NDArray[np.bool_]:
        """Which columns were held."""
        return np.array([gene in self.held for gene in self.genes], np.bool_)

    def places(self, genes: tuple[str, ...]) -> list[int]:
        """Return the columns of these genes, which must be those of the series in any order."""
        odd = sorted(set(self.genes) ^ set(genes))
        if odd:
            raise DataError(f"series {self.name!r} has other genes than the first one: {listed(odd)} not in both.")
        return [self.genes.index(gene) for gene in genes]

    def in_order(self, genes: tuple[str, ...]) -> npt.NDArray[np.float64]:
        """Return the states with the columns in the order of these genes."""
        return self.states if self.genes == genes else self.states[:, self.places(genes)]

    def binary(self, genes: tuple[str, ...]) -> npt.NDArray[np.float64]:
        """Return the states in the order of these genes, checked to be 0, 1 or missing."""
        states = self.in_order(genes)
        bad = ~(np.isnan(states) | (states == 0) | (states == 1))
        if bad.any():
            time, column = (int(i) for i in np.argwhere(bad)[0])
            raise DataError(
                f"{self.step(time)} has the value {states[time, column]:g} for {genes[column]!r}; "
                "every value must be 0 or 1 (binarize='kmeans', or --binarize kmeans, makes measured levels binary)."
            )
        return states

    def step(self, time: int) -> Step:
        """Return the place of a state."""
        return Step(self.name, time, None if self.lines is None else self.lines[time])

    def transitions(self) -> list[tuple[int, int]]:
        """Return the rows that follow each other."""
        if self.steady:
            return [(row, row) for row in range(len(self.states))]
        pairs = [(row, row + 1) for row in range(len(self.states) - 1)]
        if self.times is None or self.usual_step is None:
            return pairs
        steps = np.diff(np.asarray(self.times, dtype=np.float64))
        return [pair for pair, step in zip(pairs, steps, strict=True) if step <= LONGEST_STEP * self.usual_step]

    def part(self, first: int, end: int) -> Series:
        """Return the states from `first` to before `end`; the usual step stays that of the whole."""

        def cut(rows: Any) -> Any:
            return None if rows is None else rows[first:end]

        times = cut(self.times)
        states, levels, lines = cut(self.states), cut(self.levels), cut(self.lines)
        return replace(self, states=states, levels=levels, lines=lines, times=None if times is None else tuple(times))


YEAST_SERIES = Series(YEAST.genes, YEAST.states.astype(np.float64), name="yeast")
"""Ten states of ten genes of the fission yeast cell cycle, a path of `fission_yeast_model`."""
ECOLI_SERIES = Series(ECOLI.genes, ECOLI.states.astype(np.float64), name="ecoli")
"""Six states of ten genes of E. coli."""


def read_series(
    paths: str | PathLike[str] | Iterable[str | PathLike[str]],
    *,
    layout: Literal["auto", "states", "genes"] = "auto",
    **options: Any,
) -> tuple[Series, ...]:
    r"""Read one or several time series.

    Parameters
    ----------
    paths : path-like or iterable of path-likes
        Each file holds one series, or several distinguished by a column named ``series``. A column named ``time`` gives the
        times, by which the states of a series are ordered; without it they are in the order of the file. A column named
        ``replicate`` distinguishes the replicates of one series, and one named ``held`` names the genes that were held in it:
        ``Rb=0``, or ``Rb=0 E2F=1``. Where times repeat and no column distinguishes series, a time that starts again begins a
        new series.
    layout : {"auto", "states", "genes"}
        ``"states"``: a row is a state and a column is a gene. ``"genes"``: a row is a gene with its name first and a
        column is a time, as in BoolNet. ``"auto"``: genes are in rows if the first column is named ``gene``, ``genes``,
        ``symbol`` or ``probe`` and holds texts.
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
    check_choice("layout", layout, ("auto", "states", "genes"))
    files = [paths] if isinstance(paths, str | PathLike) else list(paths)
    if not files:
        raise SettingsError("there is no file to read.")
    return tuple(series for path in files for series in _read_file(path, layout, options))


def _read_file(path: str | PathLike[str], layout: str, options: dict[str, Any]) -> list[Series]:
    if layout == "genes":
        return [_genes_in_rows(path, options)]
    table = read_table(path, **options)
    if layout == "auto" and table.columns[0].lower() in GENE_NAMES and table.typed(0).odd is not None:
        return [_genes_in_rows(path, options)]
    return _states_in_rows(table)


def as_series(source: Any) -> tuple[Series, ...]:
    """Turn whatever holds time series into series."""
    if isinstance(source, Series):
        return (source,)
    if isinstance(source, str | PathLike):
        return read_series(source)
    names = column_names(source, "the data frame")
    if names is None:
        try:
            return tuple(series for part in source for series in as_series(part))
        except TypeError:
            raise DataError(f"{type(source).__name__} is not a time series: give a Series, a DataFrame or a file.") from None
    return tuple(_states_in_rows(_table_of_frame(source, names)))


def _table_of_frame(frame: Any, names: tuple[str, ...]) -> Table:
    """Columns of a data frame as numbers, and the column that distinguishes series as text."""
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


def _states_in_rows(table: Table) -> list[Series]:
    group, replicate, held, time = (
        next((name for name in names if name in table.columns), None)
        for names in (SERIES_NAMES, REPLICATE_NAMES, HELD_NAMES, TIME_NAMES)
    )
    genes = tuple(name for name in table.columns if name not in (group, replicate, held, time))
    if not genes:
        raise FormatError("there is no column with a gene.", path=table.path)
    states = _numbers(table, genes)
    times = None if time is None else table.numbers([time])[:, 0]
    runs = _runs(times) if times is not None and group is None and replicate is None else None
    rows_of: dict[tuple[str, str], list[int]] = {}
    for row, label in enumerate(
        zip(runs or _labels(table, group, "series"), _labels(table, replicate, "replicate"), strict=True)
    ):
        rows_of.setdefault(label, []).append(row)
    return [_one_series(table, genes, states, rows, times, label, _held(table, held, rows)) for label, rows in rows_of.items()]


def _held(table: Table, column: str | None, rows: list[int]) -> dict[str, int]:
    """Genes held throughout one series, from the texts of its rows."""
    if column is None:
        return {}
    texts = set(table.text(column)[rows])
    if len(texts) > 1:
        first, other = sorted(texts)[:2]
        raise FormatError(
            f"a series has both {first!r} and {other!r} in its column {column!r}; the genes held must be the same in all of "
            "its rows.",
            path=table.path,
        )
    return parse_held(texts.pop(), table.path)


def parse_held(text: str, path: str | PathLike[str] | None = None) -> dict[str, int]:
    """Read genes and the values at which they were held."""
    held = {}
    for part in text.replace(";", " ").replace(",", " ").split():
        gene, _, value = part.rpartition("=")
        if not gene or value not in ("0", "1"):
            raise FormatError(f"{part!r} does not say which gene was held and at what; write GENE=0 or GENE=1.", path=path)
        held[gene] = int(value)
    return held


def _numbers(table: Table, genes: Sequence[str]) -> npt.NDArray[np.float64]:
    try:
        return table.numbers(genes)
    except FormatError as error:
        if error.column != 1:
            raise
        raise FormatError(
            f"{error.message} If genes are in rows, name the first column 'gene', or read_series(..., layout='genes').",
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
    in_order = None
    if times is not None:
        own = times[rows]
        if np.isnan(own).any() or len(np.unique(own)) < len(own):
            raise DataError(f"series {name!r} has a missing or a repeated time; every state needs a time of its own.")
        rows = [rows[i] for i in np.argsort(own, kind="stable")]
        in_order = tuple(np.sort(own).tolist())
    lines = None if table.lines is None else tuple(table.lines[row] for row in rows)
    return Series(genes, states[rows], name, table.path, lines, in_order, held, experiment)


def _genes_in_rows(path: str | PathLike[str], options: dict[str, Any]) -> Series:
    """Read the file without a header first: the first cell shows whether the first row is one."""
    if (options.get("kind") or READERS.get(Path(path).suffix.lower())) not in ("csv", None):
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


def recorded(series: Sequence[Series]) -> tuple[Series, ...]:
    """Check that series are binary, put their columns in the order of the first one, and set held genes to their values."""
    if not series:
        raise DataError("there is no series.")
    genes = series[0].genes
    prepared = []
    for single in series:
        states = single.binary(genes).copy()
        for gene, value in single.held.items():
            states[:, genes.index(gene)] = value
        levels = None if single.levels is None else np.asarray(single.levels, np.float64)[:, single.places(genes)]
        prepared.append(replace(single, genes=genes, states=states, levels=levels))
    if not any(single.transitions() for single in prepared):
        raise DataError("the series hold no transition: each has only one state; a series needs at least two.")
    return tuple(prepared)
