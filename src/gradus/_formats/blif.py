"""BLIF: one ``.model`` of ``.names`` tables, written from a network and read as one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import reduce

import numpy as np

from gradus._circuit import Network
from gradus._circuit.formula_trees import build, short_tree
from gradus._circuit.gate_list import GateTable, Literal
from gradus._core.gates import AND, ONE, OR, ZERO
from gradus._formats.names import NET_NAME, restore
from gradus._formats.netlist import built_network, dependency_order, netlist
from gradus.errors import FormatError

__all__ = ["read_blif", "write_blif"]

NAMES_PER_LINE = 10
MOST_TABULATED = 6
"""Inputs of a table whose shortest formula is searched; of larger tables the rows become gates."""
# Times, loads and sizes, for tools that place and measure gates; they do not change the function.
ANNOTATIONS = (
    *(".area", ".attr", ".cname", ".delay", ".wire", ".wire_load_slope", ".input_arrival", ".default_input_arrival"),
    *(".output_required", ".default_output_required", ".input_drive", ".default_input_drive", ".output_load"),
    *(".default_output_load", ".max_input_load", ".default_max_input_load"),
)
# The rows of a table for the inputs at which the gate is 1, for each function of two wires.
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
    """A ``.names`` table: rows of signs over its inputs, and whether they list where the wire is 1 or where it is 0."""

    wire: str
    inputs: tuple[str, ...]
    rows: tuple[str, ...]
    is_on: bool
    line: int


def _built(table: NamesTable, gates: GateTable, wires: dict[str, Literal]) -> Literal:
    """Build a table of gates: of its shortest formula if it is small, else row by row."""
    inputs = [wires[wire] for wire in table.inputs]
    if len(inputs) <= MOST_TABULATED:
        values = np.zeros((2,) * len(inputs), np.bool_)
        for row in table.rows:
            values[tuple(slice(None) if sign == "-" else int(sign) for sign in row)] = True
        node, inverted = build(short_tree(values), gates, inputs)
        return node, inverted ^ (not table.is_on)
    never, always = ((gates.gate(constant, 0, 0), False) for constant in (ZERO, ONE))
    node, inverted = never
    for row in table.rows:
        signed = ((n, inv ^ (sign == "0")) for (n, inv), sign in zip(inputs, row, strict=True) if sign != "-")
        term = reduce(lambda a, b: gates.of(AND, a, b), signed, always)
        node, inverted = gates.of(OR, (node, inverted), term)
    return node, inverted ^ (not table.is_on)


@dataclass
class _BlifDraft:
    """A file as it is being read."""

    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    tables: dict[str, NamesTable] = field(default_factory=dict)
    models: int = 0
    ended: bool = False
    open_table: tuple[list[str], list[tuple[str, str]], int] | None = None


def read_blif(text: str) -> Network:
    r"""Read the text of a BLIF file with one ``.model`` of ``.names`` tables."""
    # Names that Gradus had to change when it wrote the file are changed back. Annotations of delays, loads and areas are
    # skipped.
    draft = _BlifDraft()
    for line, words in _logical_lines(text):
        if draft.ended:
            raise FormatError("there is text after .end; a file holds one model.", line=line)
        if words[0].startswith("."):
            _close_table(draft)
            _keyword(draft, words, line)
        else:
            _table_row(draft, words, line)
    _close_table(draft)
    return _network(draft, text)


def _logical_lines(text: str) -> Iterator[tuple[int, list[str]]]:
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
        raise FormatError("the file ends in the middle of a line.", line=began)


def _keyword(draft: _BlifDraft, words: list[str], line: int) -> None:
    keyword, arguments = words[0], words[1:]
    if keyword == ".model":
        draft.models += 1
        if draft.models > 1:
            raise FormatError("a second .model; a file holds one model.", line=line)
    elif not draft.models:
        raise FormatError(f"expected .model first, found {keyword[:40]!r}.", line=line)
    elif keyword == ".inputs":
        draft.inputs += arguments
    elif keyword == ".outputs":
        draft.outputs += arguments
    elif keyword == ".names":
        if not arguments:
            raise FormatError(".names needs the name of a wire.", line=line)
        draft.open_table = arguments, [], line
    elif keyword == ".end":
        draft.ended = True
    elif keyword not in ANNOTATIONS:
        raise FormatError(f"{keyword[:40]!r} is not read: only .model, .inputs, .outputs, .names and .end are.", line=line)


def _table_row(draft: _BlifDraft, words: list[str], line: int) -> None:
    if draft.open_table is None:
        raise FormatError(f"expected a keyword, found {words[0][:40]!r}.", line=line)
    names, rows, _ = draft.open_table
    signs, value = ("", words[0]) if len(names) == 1 else (words[0], words[-1])
    if len(words) != min(len(names), 2) or len(signs) != len(names) - 1:
        raise FormatError(f"a row of this table has {len(names) - 1} signs and a value.", line=line)
    if set(signs) - set("01-") or value not in ("0", "1"):
        raise FormatError("a row holds the signs 0, 1 and -, and its value is 0 or 1.", line=line)
    if rows and rows[0][1] != value:
        raise FormatError("rows of one table must all say 1 or all say 0.", line=line)
    rows.append((signs, value))


def _close_table(draft: _BlifDraft) -> None:
    if draft.open_table is None:
        return
    names, rows, line = draft.open_table
    draft.open_table = None
    *inputs, wire = names
    if wire in draft.tables:
        raise FormatError(f"wire {wire!r} is defined twice (first in line {draft.tables[wire].line}).", line=line)
    is_on = not rows or rows[0][1] == "1"
    draft.tables[wire] = NamesTable(wire, tuple(inputs), tuple(signs for signs, _ in rows), is_on, line)


def _network(draft: _BlifDraft, text: str) -> Network:
    if not draft.models or not draft.outputs:
        raise FormatError("there is no .model with .outputs, so this is not a BLIF file that can be read.")
    for wires, what in ((draft.inputs, ".inputs"), (draft.outputs, ".outputs")):
        if len(set(wires)) < len(wires):
            raise FormatError(f"a wire occurs twice in {what}.")
    for wire in draft.inputs:
        if wire in draft.tables:
            raise FormatError(f"input {wire!r} is defined by a table.", line=draft.tables[wire].line)
    inputs, outputs = restore(draft.inputs, text), restore(draft.outputs, text)
    order = dependency_order(
        draft.outputs,
        draft.inputs,
        {wire: table.inputs for wire, table in draft.tables.items()},
        lambda wire, reader: FormatError(
            f"wire {wire!r} is read but not defined.", line=None if reader is None else draft.tables[reader].line
        ),
        lambda wire: FormatError(f"wire {wire!r} depends on itself.", line=draft.tables[wire].line),
    )
    gates = GateTable(len(inputs))
    literals: dict[str, Literal] = {wire: (node, False) for node, wire in enumerate(draft.inputs)}
    for wire in order:
        literals[wire] = _built(draft.tables[wire], gates, literals)
    return built_network(gates, [literals[wire] for wire in draft.outputs], inputs, outputs)
