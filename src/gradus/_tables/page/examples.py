"""Examples on a model's page: rows to try, and those the circuit gets wrong because they contradict others or are outvoted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix
from gradus._core.cells import is_unknown
from gradus._tables.cells import read_cells, shown_date
from gradus._tables.encoding import TableColumn
from gradus._tables.labels import TargetEncoding, groups_of_equal_rows, plain_label
from gradus.errors import DataError

__all__ = ["OddRow", "PageExamples", "class_codes", "odd_rows", "shown_rows"]

Ints = npt.NDArray[np.int64]
MOST_ROWS = 40
"""Rows that a page offers to try."""


class OddRow(NamedTuple):
    """A row with a label that the circuit does not give."""

    row: int
    """From 0."""
    target: int
    label: int
    """The class of the row."""
    answer: int
    """The class that the circuit gives."""
    rivals: tuple[int, ...]
    """Rows with the same inputs and another label of this target."""


@dataclass(frozen=True)
class PageExamples:
    """Rows to try, as the cells of the columns that the circuit uses, and all rows that it gets wrong."""

    rows: Sequence[Sequence[str]]
    odd: Sequence[OddRow]


def odd_rows(inputs: BoolMatrix, labels: Sequence[Ints], answers: Sequence[Ints]) -> list[OddRow]:
    """Find the rows that a circuit gets wrong, in the order of the table."""
    group = groups_of_equal_rows(inputs)
    members: dict[int, list[int]] = {}
    for row, number in enumerate(group.tolist()):
        members.setdefault(number, []).append(row)
    odd = []
    for target, (label, answer) in enumerate(zip(labels, answers, strict=True)):
        for row in np.flatnonzero((label != answer) & (label >= 0)).tolist():
            alike = members[int(group[row])]
            rivals = tuple(other for other in alike if label[other] >= 0 and label[other] != label[row])
            odd.append(OddRow(row, target, int(label[row]), int(answer[row]), rivals))
    return sorted(odd)


def class_codes(labels: Any, targets: Sequence[TargetEncoding], n_rows: int) -> list[Ints]:
    """Return the class of each row for each target; -1 where a label is unknown or was never seen."""
    given = np.asarray(labels)
    columns = given.reshape(len(given), -1)
    if columns.shape != (n_rows, len(targets)):
        raise DataError(f"the labels have the shape {given.shape}; give one for each of {n_rows} rows and each target.")
    classes = []
    for target, column in zip(targets, columns.T, strict=True):
        number = {label: code for code, label in enumerate(target.classes)}
        unknown = is_unknown(column)
        codes = [-1 if gone else number.get(plain_label(label), -1) for label, gone in zip(column, unknown, strict=True)]
        classes.append(np.array(codes, dtype=np.int64))
    return classes


def shown_rows(table: Mapping[str, Any], columns: Sequence[TableColumn]) -> list[list[str]]:
    """Return rows from all over a table as texts that the page's form can hold; a missing cell is empty."""
    if not columns:
        return []
    n_rows = len(table[columns[0].name])
    places = np.unique(np.linspace(0, n_rows - 1, min(n_rows, MOST_ROWS)).astype(np.int64))
    cells = [_texts(column, table[column.name]) for column in columns]
    return [[texts[row] for texts in cells] for row in places.tolist()]


def _texts(column: TableColumn, values: Any) -> list[str]:
    cells = read_cells(values)
    texts = ["" if gone else text for text, gone in zip(cells.texts(), cells.missing_values, strict=True)]
    if column.kind == "after":
        days = cells.value_dates(column.day_format)
        texts = ["" if np.isnan(day) else shown_date(float(day)) for day in days]
    elif column.comma:
        texts = [text.replace(",", "." if column.comma == "decimal" else "") for text in texts]
    return [texts[place] for place in cells.place.tolist()]
