"""Tables for the verbs: files and pipes, and columns as options name them."""

from __future__ import annotations

import contextlib
import csv
import sys
import tempfile
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from gradus._cli.console import note
from gradus._core.files import LARGEST_FILE, checked_size
from gradus._formats import MODELS
from gradus._formats.table import Table
from gradus._formats.table_files import READERS
from gradus._tables.dataset import MODEL_ROWS, Dataset, dataset_of, last_column, read_rows
from gradus.errors import SettingsError

__all__ = ["FORMATS_HELP", "STANDARD", "input_file", "named_columns", "number_or_word", "read_examples"]

BLOCK = 1 << 20
STANDARD = Path("-")
"""Standard input or output."""
FORMATS_HELP = f"A table ({' '.join(READERS)}), a model ({' '.join(MODELS)}), or - for CSV on standard input."


@contextlib.contextmanager
def input_file(path: Path) -> Iterator[Path]:
    """Return a file that can be read for a path; ``-`` is standard input."""
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


def named_columns(texts: Sequence[str] | None, columns: Collection[str], option: str) -> list[str] | None:
    """Return the columns that an option names: given several times, or separated by commas; None stays None."""
    # A text that is a column's name as a whole is that column; other names with commas can be quoted.
    if texts is None:
        return None
    names: list[str] = []
    for text in texts:
        names += [text] if text in columns else map(str.strip, next(csv.reader([text], skipinitialspace=True), [""]))
    if not all(names):
        raise SettingsError(f"{option} is {texts[0]!r}, which is not a list of column names with commas between them.")
    for name in names:
        if name not in columns:
            shown = ", ".join(list(columns)[:10]) + (", …" if len(columns) > 10 else "")
            raise SettingsError(f"{option} names {name!r}, which is not a column; the columns are {shown}.")
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
    targets: Sequence[str] | None = None,
    inputs: Sequence[str] | None = None,
    *,
    header: bool | None = None,
    number_repeats: bool = False,
    **rules: Any,
) -> Dataset:
    """Read a table, or a model's rows, and split it by the columns that options name; `rules` are those of `dataset_of`."""
    table = read_rows(path, header, number_repeats)
    n_inputs = len(table.columns) - len(table.targets or ())
    if path.suffix.lower() in MODELS and 1 << n_inputs > MODEL_ROWS:
        note(f"gradus: {path.name} has {n_inputs} inputs; {MODEL_ROWS:,} rows are drawn at random.")
    given = named_columns(inputs, table.columns, "--inputs")
    chosen = named_columns(targets, table.columns, "--targets") or table.targets or _last(table, given or ())
    return dataset_of(table, chosen, given, **rules)


def _last(table: Table, taken: Collection[str]) -> list[str]:
    """Return the last column that is not an input, and note it."""
    names = last_column(table, taken)
    for name in names:
        passed = [later for later in table.columns[table.columns.index(name) + 1 :] if later not in taken]
        which = "the last column that has a cell" if passed else "the last column"
        note(f"gradus: the target is {name!r}, {which}; name others with --targets.")
    return names
