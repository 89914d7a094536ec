"""BLIF: one ``.model`` of ``.names`` tables, written from a network and read as a Boolean function."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike

import numpy as np

from gradus._circuit import Network
from gradus._core.bits import WordMatrix
from gradus._core.files import read_text
from gradus._formats.names import NET_NAME, restore
from gradus._formats.netlist import netlist
from gradus._formats.truth_functions import TruthFunctions, dependency_order
from gradus.errors import FormatError

__all__ = ["BlifModel", "parse_blif", "read_blif", "write_blif"]

NAMES_PER_LINE = 10
# Times, loads and sizes, for tools that place and measure gates; they do not change the function.
ANNOTATIONS = (
    *(".area", ".attr", ".cname", ".delay", ".wire", ".wire_load_slope", ".input_arrival", ".default_input_arrival"),
    *(".output_required", ".default_output_required", ".input_drive", ".default_input_drive", ".output_load"),
    *(".default_output_load", ".max_input_load", ".default_max_input_load"),
)
# The rows of a table that say where the gate is 1, for each function of two wires.
ROWS = (
    *("", "00 1", "01 1", "0- 1", "10 1", "-0 1", "01 1\n10 1", "0- 1\n-0 1"),
    *("11 1", "00 1\n11 1", "-1 1", "0- 1\n-1 1", "1- 1", "1- 1\n-0 1", "1- 1\n-1 1", "-- 1"),
)


def write_blif(network: Network) -> str:
    """Return a network as BLIF, without the gates that no output depends on."""
    circuit = netlist(network, NET_NAME)
    return "\n".join(
        [
            f"# Boolean network written by Gradus: {circuit.counts}",
            *(f"# {line}" for line in circuit.map_lines),
            ".model gradus_network",
            _wrapped(".inputs", circuit.inputs),
            _wrapped(".outputs", circuit.outputs),
            *(_names_table(gate.wire, gate.function, gate.sources) for gate in circuit.gates),
            ".end\n",
        ]
    )


def _names_table(wire: str, function: int, sources: tuple[str, ...]) -> str:
    """Write the table of a gate over the wires that it reads: two, one, or none for a constant."""
    rows = ROWS[function]
    if len(sources) < 2:
        rows = {1: rows.replace("-", ""), 0: "1" if rows else ""}[len(sources)]
    return f".names {' '.join([*sources, wire])}" + (f"\n{rows}" if rows else "")


def _wrapped(keyword: str, names: tuple[str, ...]) -> str:
    """Break long lists with the backslash that BLIF has for it: some readers have a longest line."""
    rows = [" ".join(names[i : i + NAMES_PER_LINE]) for i in range(0, len(names), NAMES_PER_LINE)]
    return " ".join([keyword, " \\\n  ".join(rows)]).rstrip()


@dataclass(frozen=True)
class NamesTable:
    """A ``.names`` table: rows of signs over its inputs, and whether they say where the wire is 1 or where it is 0."""

    wire: str
    inputs: tuple[str, ...]
    rows: tuple[str, ...]
    is_on: bool
    line: int


class BlifModel(TruthFunctions):
    """The truth functions of a BLIF model."""

    def __init__(
        self,
        inputs: tuple[str, ...],
        outputs: tuple[str, ...],
        tables: list[NamesTable],
        *,
        input_names: tuple[str, ...] | None = None,
        output_names: tuple[str, ...] | None = None,
    ) -> None:
        self._inputs, self._outputs, self._tables = inputs, outputs, tables
        self.input_names = input_names if input_names is not None else inputs
        self.output_names = output_names if output_names is not None else outputs

    def output_words(self, inputs: WordMatrix) -> WordMatrix:
        """Compute every wire in turn."""
        n_words = inputs.shape[1]
        wires = dict(zip(self._inputs, inputs, strict=True))
        for table in self._tables:
            covered = np.zeros(n_words, dtype=np.uint64)
            for row in table.rows:
                term = np.full(n_words, ~np.uint64(0))
                for sign, wire in zip(row, table.inputs, strict=True):
                    if sign != "-":
                        term &= wires[wire] if sign == "1" else ~wires[wire]
                covered |= term
            wires[table.wire] = covered if table.is_on else ~covered
        return np.array([wires[wire] for wire in self._outputs], dtype=np.uint64).reshape(-1, n_words)

    def values_held(self) -> int:
        """Return the number of wires."""
        return len(self._tables) + 2


@dataclass
class _BlifDraft:
    """A file as it is being read."""

    path: str | PathLike[str] | None
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    tables: dict[str, NamesTable] = field(default_factory=dict)
    models: int = 0
    ended: bool = False
    open_table: tuple[list[str], list[tuple[str, str]], int] | None = None

    def error(self, message: str, line: int | None = None) -> FormatError:
        return FormatError(message, path=self.path, line=line)


def read_blif(path: str | PathLike[str]) -> BlifModel:
    """Read a BLIF file; see `parse_blif`."""
    return parse_blif(read_text(path), path=path)


def parse_blif(text: str, *, path: str | PathLike[str] | None = None) -> BlifModel:
    r"""Parse the text of a BLIF file with one ``.model`` of ``.names`` tables."""
    # Names that Gradus had to change when it wrote the file are changed back. Annotations of delays, loads and areas are
    # skipped.
    draft = _BlifDraft(path)
    for line, words in _logical_lines(text, path):
        if draft.ended:
            raise draft.error("there is text after .end; a file holds one model.", line)
        if words[0].startswith("."):
            _close_table(draft)
            _keyword(draft, words, line)
        else:
            _table_row(draft, words, line)
    _close_table(draft)
    return _model(draft, text)


def _logical_lines(text: str, path: str | PathLike[str] | None) -> Iterator[tuple[int, list[str]]]:
    """Lines as words, without comments, those that end in a backslash joined with the next."""
    words: list[str] = []
    began = 0
    for number, line in enumerate(text.split("\n"), start=1):
        code = line.partition("#")[0].rstrip()
        began = began or number
        goes_on = code.endswith("\\")
        words += (code[:-1] if goes_on else code).split()
        if goes_on:
            continue
        if words:
            yield began, words
        words, began = [], 0
    if words:
        raise FormatError("the file ends in the middle of a line.", path=path, line=began)


def _keyword(draft: _BlifDraft, words: list[str], line: int) -> None:
    keyword, arguments = words[0], words[1:]
    if keyword == ".model":
        draft.models += 1
        if draft.models > 1:
            raise draft.error("a second .model; a file holds one model.", line)
    elif not draft.models:
        raise draft.error(f"expected .model first, found {keyword[:40]!r}.", line)
    elif keyword == ".inputs":
        draft.inputs += arguments
    elif keyword == ".outputs":
        draft.outputs += arguments
    elif keyword == ".names":
        if not arguments:
            raise draft.error(".names needs the name of a wire.", line)
        draft.open_table = arguments, [], line
    elif keyword == ".end":
        draft.ended = True
    elif keyword not in ANNOTATIONS:
        raise draft.error(f"{keyword[:40]!r} is not read: only .model, .inputs, .outputs, .names and .end are.", line)


def _table_row(draft: _BlifDraft, words: list[str], line: int) -> None:
    if draft.open_table is None:
        raise draft.error(f"expected a keyword, found {words[0][:40]!r}.", line)
    names, rows, _ = draft.open_table
    signs, value = ("", words[0]) if len(names) == 1 else (words[0], words[-1])
    if len(words) != min(len(names), 2) or len(signs) != len(names) - 1:
        raise draft.error(f"a row of this table has {len(names) - 1} signs and a value.", line)
    if set(signs) - set("01-") or value not in ("0", "1"):
        raise draft.error("a row holds the signs 0, 1 and -, and its value is 0 or 1.", line)
    if rows and rows[0][1] != value:
        raise draft.error("rows of one table must all say 1 or all say 0.", line)
    rows.append((signs, value))


def _close_table(draft: _BlifDraft) -> None:
    if draft.open_table is None:
        return
    names, rows, line = draft.open_table
    draft.open_table = None
    *inputs, wire = names
    if wire in draft.tables:
        raise draft.error(f"wire {wire!r} is defined twice (first in line {draft.tables[wire].line}).", line)
    is_on = not rows or rows[0][1] == "1"
    draft.tables[wire] = NamesTable(wire, tuple(inputs), tuple(signs for signs, _ in rows), is_on, line)


def _model(draft: _BlifDraft, text: str) -> BlifModel:
    if not draft.models or not draft.outputs:
        raise draft.error("there is no .model with .outputs, so this is not a BLIF file that can be read.")
    inputs, outputs = tuple(draft.inputs), tuple(draft.outputs)
    for wires, what in ((inputs, ".inputs"), (outputs, ".outputs")):
        if len(set(wires)) < len(wires):
            raise draft.error(f"a wire occurs twice in {what}.")
    for wire in inputs:
        if wire in draft.tables:
            raise draft.error(f"input {wire!r} is defined by a table.", draft.tables[wire].line)
    try:
        input_names, output_names = tuple(restore(inputs, text)), tuple(restore(outputs, text))
    except FormatError as error:
        raise draft.error(error.message, error.line) from error
    order = dependency_order(
        outputs,
        inputs,
        {wire: table.inputs for wire, table in draft.tables.items()},
        lambda wire, reader: draft.error(
            f"wire {wire!r} is read but not defined.", None if reader is None else draft.tables[reader].line
        ),
        lambda wire: draft.error(f"wire {wire!r} depends on itself.", draft.tables[wire].line),
    )
    return BlifModel(
        inputs, outputs, [draft.tables[wire] for wire in order], input_names=input_names, output_names=output_names
    )
