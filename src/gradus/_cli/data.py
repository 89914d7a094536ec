"""Tables for the verbs: which columns are inputs and targets, and what their cells may hold."""

from __future__ import annotations

import contextlib
import csv
import sys
import tempfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._cli.console import note
from gradus._core.files import LARGEST_FILE, checked_size
from gradus._formats.table import Table, distinct_targets
from gradus._formats.table_files import READERS, read_table
from gradus._tables.column_kinds import MIN_ROWS_ID
from gradus._tables.labels import is_unknown
from gradus.errors import DataError, FormatError, SettingsError
from gradus.problems import MODELS, from_file

__all__ = [
    "FORMATS_HELP",
    "STANDARD",
    "Dataset",
    "chosen_names",
    "input_file",
    "labels_of",
    "number_or_word",
    "read_columns",
    "read_examples",
    "refuse_quantity",
]

MOST_CLASSES = 256
FEW_CLASSES, ROWS_PER_CLASS = 20, 5
"""A target of numbers with more classes, and fewer rows of each on average, is a quantity."""
NO_CLASSES = "a target must hold classes: replace its numbers by a few words, such as low and high"
MODEL_ROWS = 1024
"""Rows that are computed from a model; of more, as many are drawn."""
BLOCK = 1 << 20
STANDARD = Path("-")
"""Standard input or output."""
FORMATS_HELP = f"A table ({' '.join(READERS)}), a model ({' '.join(MODELS)}), or - for CSV on standard input."


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table split into features and targets, with numbers and labels as in the file."""

    table: dict[str, npt.NDArray[Any]]
    targets: dict[str, npt.NDArray[Any]]
    """Unknown labels are None."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.table.values())))


@contextlib.contextmanager
def input_file(path: Path) -> Iterator[Path]:
    """Return a file that can be read, and read again, for a path; ``-`` is standard input."""
    if path != STANDARD:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="gradus-") as folder:
        copy = Path(folder) / "standard-input.csv"
        left = LARGEST_FILE + 1
        with copy.open("wb") as file:
            while left > 0 and (block := sys.stdin.buffer.read(min(left, BLOCK))):
                left -= file.write(block)
        checked_size(copy, LARGEST_FILE)  # what never ends must not fill the disk
        yield copy


def chosen_names(texts: Sequence[str] | None, columns: Collection[str], option: str) -> list[str] | None:
    """Return the columns that an option names: given several times, or with commas between; None stays None."""
    # A text that is a column's name as a whole is that column; other names with commas can be quoted.
    if texts is None:
        return None
    names: list[str] = []
    for text in texts:
        names += (
            [text] if text in columns else [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [""])]
        )
    if not all(names):
        raise SettingsError(f"{option} is {texts[0]!r}, which is not a list of column names with commas between them.")
    unknown = [name for name in names if name not in columns]
    if unknown:
        shown = ", ".join(list(columns)[:10]) + (", …" if len(columns) > 10 else "")
        raise SettingsError(f"{option} names {unknown[0]!r}, which is not a column; the columns are {shown}.")
    return names


def number_or_word(option: str, text: str, words: dict[str, Any]) -> Any:
    """Return what a word stands for, or the number that a text is."""
    if text in words:
        return words[text]
    try:
        return float(text)
    except ValueError as error:
        raise SettingsError(f"{option} is {text!r}; use {', '.join(words)} or a number.") from error


def read_examples(
    path: Path,
    targets: Sequence[str] | None,
    inputs: Sequence[str] | None,
    *,
    strict: bool = False,
    texts: Collection[str] = (),
    unknown_labels: bool = False,
    header: bool | None = None,
) -> Dataset:
    """Read a table, or a model's rows, and split it into features and targets."""
    table = _rows_of_model(path) if path.suffix.lower() in MODELS else _read(path, header)
    named = chosen_names(targets, table.columns, "--targets")
    chosen = tuple(named if named is not None else table.targets or _last_column(table, inputs))
    others = tuple(name for name in table.columns if name not in set(chosen))
    given = tuple(chosen_names(inputs, table.columns, "--inputs") or others)
    _check_disjoint(given, chosen)
    if strict:
        features = dict(zip(given, table.bits(given).astype(np.int64).T, strict=True))
        labels = {name: _bits(table, name, unknown_labels) for name in chosen}
    else:
        features = read_columns(path, given, table, texts=texts, may_miss=True, header=header)
        labels = read_columns(path, chosen, table, texts=texts, may_miss=unknown_labels, header=header)
    found = {name: _checked_labels(labels_of(column), name) for name, column in labels.items()}
    return Dataset(features, found)


def _read(path: Path, header: bool | None, **options: Any) -> Table:
    # Only in text tables may it be unclear whether the first row holds names.
    return read_table(path, **options) if header is None else read_table(path, header=header, **options)


def _rows_of_model(path: Path) -> Table:
    """Return what a model computes, for all values of its inputs or for many of them."""
    problem = from_file(path)
    n_rows = min(problem.n_patterns, MODEL_ROWS)
    if n_rows < problem.n_patterns:
        X, Y = problem.rows(problem.sample(n_rows, 0, n_test=0)[0])
        note(f"gradus: {path.name} has {problem.n_inputs} inputs; {n_rows:,} rows are drawn at random.")
    else:
        X, Y = problem.X, problem.Y
    targets = distinct_targets(problem.input_names, problem.target_names)
    return Table((*problem.input_names, *targets), np.hstack([X, Y]).astype(np.float64), path=path, targets=targets)


def _last_column(table: Table, inputs: Sequence[str] | None) -> list[str]:
    """Return the last column that is not an input, and say so."""
    taken = set(chosen_names(inputs, table.columns, "--inputs") or ())
    # A comma at the end of every line makes a last column without a cell.
    filled = [place in table.odd or not np.isnan(table.values[:, place]).all() for place in range(len(table.columns))]
    free = [name for name, some in zip(table.columns, filled, strict=True) if name not in taken and (some or not table.n_rows)]
    last = free[-1:]
    for name in last:
        note(f"gradus: the target is {name!r}, the last column; name others with --targets.")
    return last


def read_columns(
    path: Path,
    names: Sequence[str],
    table: Table,
    *,
    texts: Collection[str] = (),
    may_miss: bool = False,
    header: bool | None = None,
) -> dict[str, npt.NDArray[Any]]:
    """Read columns of a table: numbers as numbers, others, and those in `texts`, as text."""
    # A missing value is an error, or NaN or an empty text if it `may_miss`.
    if not table.n_rows:
        raise FormatError("there is no row of data.", path=path)
    odd = [name for name in names if name in texts or (name in table.columns and table.columns.index(name) in table.odd)]
    numeric = [name for name in names if name not in odd]
    found: dict[str, npt.NDArray[Any]] = dict(zip(numeric, table.numbers(numeric).T, strict=True)) if numeric else {}
    if odd:
        read_again = _read(path, header, text_columns=odd)
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
    """Return labels as a model has them: texts or, where possible, whole numbers; None where there is none."""
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
        raise DataError(f"target {name!r} holds numbers with fractions; {NO_CLASSES}.")
    known = column[~is_unknown(column)]
    n_classes = len(np.unique(known))
    if n_classes > MOST_CLASSES:
        raise DataError(f"target {name!r} has more than {MOST_CLASSES} different values; a target must hold classes.")
    if n_classes == len(known) >= MIN_ROWS_ID:
        raise DataError(f"target {name!r} has another value in every row, as an id has; name other columns with --targets.")
    return column


def refuse_quantity(labels: npt.NDArray[Any], name: str) -> None:
    """Refuse a target that is a quantity: many different numbers, each in few rows."""
    known = labels[~is_unknown(labels)]
    n_classes = len(np.unique(known))
    if n_classes > FEW_CLASSES and len(known) < ROWS_PER_CLASS * n_classes and not isinstance(known[0], str):
        what = f"target {name!r} has {n_classes} different numbers in {len(known)} rows"
        raise DataError(f"{what}; {NO_CLASSES}, or say --types {name}=category.")
