"""ARFF tables, with a Mulan label file or a MEKA ``-C`` header, split by one scanner without backtracking."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from gradus._core.files import decoded_lines, read_guard, read_text
from gradus._formats.table import Table, check_cells, table_of_texts, unique_columns
from gradus._formats.xml_scan import scan_xml
from gradus.errors import FormatError

__all__ = ["read"]

# Possessive (++, *+): they never backtrack, so that no line takes more than linear time. liac-arff does not end on some lines
# of 10 KB, so it is used in the tests only.
QUOTED = r"\"(?:[^\"\\]++|\\.)*+\"|'(?:[^'\\]++|\\.)*+'"
ATTRIBUTE = re.compile(rf"@attribute\s++({QUOTED}|[^\s{{}}\"',][^\s{{}},]*+)\s*+(.*+)", re.IGNORECASE)
ITEM = re.compile(rf"\s*+({QUOTED}|[^,{{}}\"']*+)\s*+(?:,|\Z)")
SPARSE_ITEM = re.compile(rf"\s*+([0-9]{{1,9}})\s++({QUOTED}|[^,{{}}\"']++)\s*+(?:,|\Z)")
ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
MEKA = re.compile(r"-C\s++(-?[0-9]{1,9})\b", re.IGNORECASE)
NUMERIC = ("numeric", "real", "integer")
LARGEST_LABEL_FILE = 1 << 24  # bytes: a name takes some thirty of them


class ArffAttribute(NamedTuple):
    """A column: its name and, if it is nominal, the values it may take."""

    name: str
    values: dict[str, None] | None
    """In the order of the file; a row is checked in time that does not grow with their number."""


class ArffHeader(NamedTuple):
    """Everything before the data."""

    relation: str
    attributes: list[ArffAttribute]
    lines: int


def read(path: str | PathLike[str], *, labels: str | PathLike[str] | None = None) -> Table:
    """Read an ARFF file, dense or sparse."""
    # The targets are the labels of a Mulan XML file (given, or the file of the same name that ends in ``.xml``), or those that
    # ``-C`` in the relation's name counts, from the first column or (negative) from the last, as MEKA writes it.
    lines = _NumberedLines(path)
    header = _read_header(lines)
    names = unique_columns([attribute.name for attribute in header.attributes])
    check_cells(1, len(names))
    targets = _targets(header, names, path, labels)
    return table_of_texts(names, ((lines.number, cells) for cells in _rows(lines, header)), targets)


class _NumberedLines:
    """The lines of a file, and the number of the one that was read last."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self._lines = decoded_lines(path)
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.number += 1
        return line.strip()


def _read_header(lines: _NumberedLines) -> ArffHeader:
    relation, attributes = "", []
    for line in lines:
        keyword = line.split(maxsplit=1)[0].lower() if line else "%"
        if keyword.startswith("%"):
            continue
        if keyword == "@relation":
            relation = line[len("@relation") :].strip()
        elif keyword == "@attribute":
            attributes.append(_attribute(line, lines.number))
        elif keyword == "@data":
            if not attributes:
                raise FormatError("there is no @attribute before @data.", line=lines.number)
            return ArffHeader(relation, attributes, lines.number)
        else:
            raise FormatError(
                f"expected @relation, @attribute or @data, found {keyword[:40]!r}.",
                line=lines.number, column=1,
            )  # fmt: skip
    raise FormatError("there is no @data in the file.")


def _attribute(line: str, number: int) -> ArffAttribute:
    match = ATTRIBUTE.fullmatch(line)
    if not match:
        raise FormatError("expected '@attribute NAME TYPE'.", line=number)
    name, kind = _unquoted(match[1]), match[2].strip()
    if kind.startswith("{"):
        return ArffAttribute(name, _nominal_values(kind, number, match.start(2) + 1))
    word = kind.split(maxsplit=1)[0].lower() if kind else ""
    if word not in (*NUMERIC, "string", "date"):
        raise FormatError(
            f"{kind[:40]!r} is not a type of column that can be read.",
            line=number, column=match.start(2) + 1,
        )  # fmt: skip
    return ArffAttribute(name, None)


def _nominal_values(kind: str, line: int, column: int) -> dict[str, None]:
    if not kind.endswith("}"):
        raise FormatError("the list of values that begins here is not closed.", line=line, column=column)
    values: dict[str, None] = {}
    inside, place = kind[1:-1].rstrip(), 0
    while place < len(inside):
        item = ITEM.match(inside, place)
        if not item or not item[1]:
            raise FormatError("expected values separated by commas.", line=line, column=column + 1 + place)
        values[_unquoted(item[1].strip())] = None
        place = item.end()
    return values


def _unquoted(word: str) -> str:
    return ESCAPE.sub(_unescaped, word[1:-1]) if word[:1] in ("'", '"') else word


def _unescaped(escape: re.Match[str]) -> str:
    return chr(int(escape[1][1:], 16)) if len(escape[1]) > 1 else ESCAPED.get(escape[1], escape[1])


def _rows(lines: _NumberedLines, header: ArffHeader) -> Iterator[list[str]]:
    """Rows as text cells, in the order of the columns."""
    first = next((line for line in lines if line and not line.startswith("%")), None)
    if first is None:
        return
    sparse = first.startswith("{")
    for row in chain([first], lines):
        if not row or row.startswith("%"):
            continue
        if row.startswith("{") != sparse:
            raise FormatError("rows in braces and rows without are mixed.", line=lines.number, column=1)
        cells = _sparse_cells(row, header.attributes, lines.number) if sparse else _dense_cells(row)
        if cells is None or len(cells) != len(header.attributes):
            width = len(header.attributes)
            raise FormatError(f"the row cannot be split into {width} values.", line=lines.number)
        _check_nominal(cells, header.attributes, lines.number)
        yield cells


def _dense_cells(row: str) -> list[str] | None:
    """Split a row at its commas; None if it cannot be."""
    if not any(character in row for character in "'\"{}"):
        return [_cell(word) for word in row.split(",")]
    cells, place = [], 0
    while place <= len(row):
        item = ITEM.match(row, place)
        if not item:
            return None
        cells.append(_cell(item[1]))
        place = item.end() if item[0].endswith(",") else len(row) + 1
    return cells


def _cell(word: str) -> str:
    word = word.strip()
    return "" if word == "?" else _unquoted(word)


def _sparse_cells(row: str, attributes: list[ArffAttribute], line: int) -> list[str] | None:
    """Fill a row in braces: what is left out is 0, or the first value of a nominal column; None if it cannot be split."""
    if not row.endswith("}"):
        return None
    cells = ["0" if attribute.values is None else next(iter(attribute.values), "") for attribute in attributes]
    inside, place, given = row[1:-1].strip(), 0, set()
    while place < len(inside):
        item = SPARSE_ITEM.match(inside, place)
        if not item or int(item[1]) >= len(cells):
            return None
        column = int(item[1])
        if column in given:
            raise FormatError("a column is given twice in one row.", line=line)
        given.add(column)
        cells[column] = _cell(item[2])
        place = item.end()
    return cells


def _check_nominal(cells: list[str], attributes: list[ArffAttribute], line: int) -> None:
    for place, (cell, attribute) in enumerate(zip(cells, attributes, strict=True)):
        if attribute.values is not None and cell and cell not in attribute.values:
            raise FormatError(f"{cell[:40]!r} is not one of the values of {attribute.name!r}.", line=line, column=place + 1)


def _targets(
    header: ArffHeader, names: tuple[str, ...], path: str | PathLike[str], labels: str | PathLike[str] | None
) -> tuple[str, ...] | None:
    beside = Path(path).with_suffix(".xml")
    if labels is None and beside.is_file():
        labels = beside
    if labels is not None:
        return _mulan_labels(labels, names)
    meka = MEKA.search(header.relation)
    if not meka:
        return None
    count = int(meka[1])
    if not 1 <= abs(count) <= len(names):
        raise FormatError(f"-C {count} names more targets than the {len(names)} columns, or none.")
    return names[:count] if count > 0 else names[count:]


def _mulan_labels(labels: str | PathLike[str], names: tuple[str, ...]) -> tuple[str, ...]:
    text = read_text(labels, largest=LARGEST_LABEL_FILE)
    found: list[str | None] = []

    def element(tag: str, attributes: dict[str, str]) -> None:
        if tag == "label":
            found.append(attributes.get("name"))

    with read_guard(labels, "a Mulan label file"):
        scan_xml(text, labels, element)
        known = set(names)
        for label in found:
            if label is None or label not in known:
                raise FormatError(f"the label {label!r} is not a column of the table.")
        if not found:
            raise FormatError("there is no <label name=…> in the file.")
        return unique_columns([str(label) for label in found])
