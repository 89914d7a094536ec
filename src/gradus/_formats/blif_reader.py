"""Reads BLIF: one ``.model`` of ``.names`` tables, as a truth function."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike

import numpy as np

from gradus._bits import WordMatrix
from gradus._formats.functions import TruthFunctions
from gradus._formats.names import restore
from gradus._formats.text import read_text
from gradus.errors import FormatError

__all__ = ["BlifModel", "parse_blif", "read"]


@dataclass(frozen=True)
class Cover:
    """A ``.names`` table: rows of signs over its inputs, and whether they say where the wire is 1 or where it is 0."""

    wire: str
    inputs: tuple[str, ...]
    rows: tuple[str, ...]
    is_on: bool
    line: int


class BlifModel(TruthFunctions):
    """The truth functions of a BLIF model.

    Parameters
    ----------
    inputs, outputs : tuple of str
        Wires.
    covers : list of Cover
        Each after those that it reads.
    input_names, output_names : tuple of str
        Names of the inputs and outputs, where they differ from the wires.
    """

    def __init__(
        self,
        inputs: tuple[str, ...],
        outputs: tuple[str, ...],
        covers: list[Cover],
        *,
        input_names: tuple[str, ...] | None = None,
        output_names: tuple[str, ...] | None = None,
    ) -> None:
        self._inputs, self._outputs, self._covers = inputs, outputs, covers
        self.input_names = input_names if input_names is not None else inputs
        self.output_names = output_names if output_names is not None else outputs

    def output_words(self, inputs: WordMatrix) -> WordMatrix:
        """Work out every wire in turn."""
        n_words = inputs.shape[1]
        wires = dict(zip(self._inputs, inputs, strict=True))
        for cover in self._covers:
            covered = np.zeros(n_words, dtype=np.uint64)
            for row in cover.rows:
                term = np.full(n_words, ~np.uint64(0))
                for sign, wire in zip(row, cover.inputs, strict=True):
                    if sign != "-":
                        term &= wires[wire] if sign == "1" else ~wires[wire]
                covered |= term
            wires[cover.wire] = covered if cover.is_on else ~covered
        return np.array([wires[wire] for wire in self._outputs], dtype=np.uint64).reshape(-1, n_words)

    def values_held(self) -> int:
        """Return the number of wires."""
        return len(self._covers) + 2


@dataclass
class _Draft:
    """A file as it is being read."""

    path: str | PathLike[str] | None
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    covers: dict[str, Cover] = field(default_factory=dict)
    models: int = 0
    ended: bool = False
    open_table: tuple[list[str], list[tuple[str, str]], int] | None = None

    def error(self, message: str, line: int | None = None) -> FormatError:
        return FormatError(message, path=self.path, line=line)


def read(path: str | PathLike[str]) -> BlifModel:
    """Read a BLIF file; see `parse_blif`."""
    return parse_blif(read_text(path), path=path)


def parse_blif(text: str, *, path: str | PathLike[str] | None = None) -> BlifModel:
    r"""Parse the text of a BLIF file with one ``.model`` of ``.names`` tables.

    Names that Gradus had to change when it wrote the file are changed back.

    Parameters
    ----------
    text : str
    path : path-like, optional
        The file it came from, for errors.

    Raises
    ------
    FormatError
        With the line, if a table is malformed, a wire has no or two definitions, wires depend on each other in a
        circle, or the file holds anything but ``.names`` (latches, subcircuits).

    Examples
    --------
    >>> xor = parse_blif(".model xor\n.inputs a b\n.outputs z\n.names a b z\n10 1\n01 1\n.end\n")
    >>> xor.evaluate([[0, 1], [1, 1]]).ravel()
    array([ True, False])
    """
    draft = _Draft(path)
    for line, words in _logical_lines(text, path):
        if draft.ended:
            raise draft.error("something stands behind .end; one model a file is read.", line)
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


def _keyword(draft: _Draft, words: list[str], line: int) -> None:
    keyword, arguments = words[0], words[1:]
    if keyword == ".model":
        draft.models += 1
        if draft.models > 1:
            raise draft.error("a second .model; one model a file is read.", line)
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
    else:
        raise draft.error(f"{keyword[:40]!r} is not read: only .model, .inputs, .outputs, .names and .end are.", line)


def _table_row(draft: _Draft, words: list[str], line: int) -> None:
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


def _close_table(draft: _Draft) -> None:
    if draft.open_table is None:
        return
    names, rows, line = draft.open_table
    draft.open_table = None
    *inputs, wire = names
    if wire in draft.covers:
        raise draft.error(f"wire {wire!r} is defined twice (first in line {draft.covers[wire].line}).", line)
    is_on = not rows or rows[0][1] == "1"
    draft.covers[wire] = Cover(wire, tuple(inputs), tuple(signs for signs, _ in rows), is_on, line)


def _model(draft: _Draft, text: str) -> BlifModel:
    if not draft.models or not draft.outputs:
        raise draft.error("there is no .model with .outputs, so this is no BLIF file that can be read.")
    inputs, outputs = tuple(draft.inputs), tuple(draft.outputs)
    for wires, what in ((inputs, ".inputs"), (outputs, ".outputs")):
        if len(set(wires)) < len(wires):
            raise draft.error(f"a wire stands twice in {what}.")
    for wire in inputs:
        if wire in draft.covers:
            raise draft.error(f"input {wire!r} is defined by a table.", draft.covers[wire].line)
    try:
        input_names, output_names = tuple(restore(inputs, text)), tuple(restore(outputs, text))
    except FormatError as error:
        raise draft.error(error.message, error.line) from error
    covers = [draft.covers[wire] for wire in _in_order(draft)]
    return BlifModel(inputs, outputs, covers, input_names=input_names, output_names=output_names)


def _in_order(draft: _Draft) -> list[str]:
    """Return the wires that the outputs need, each after those that it reads; without recursion, so of any depth."""
    done = dict.fromkeys(draft.inputs, True)
    order: list[str] = []
    for output in draft.outputs:
        stack = [(output, 0)]
        while stack:
            wire, line = stack[-1]
            if done.get(wire):
                stack.pop()
                continue
            if wire not in draft.covers:
                raise draft.error(f"wire {wire!r} is read but nowhere defined.", line or None)
            cover = draft.covers[wire]
            waiting = [name for name in cover.inputs if not done.get(name)]
            if not waiting:
                done[wire] = True
                order.append(wire)
                stack.pop()
                continue
            if wire in done:
                raise draft.error(f"wire {wire!r} depends on itself.", cover.line)
            done[wire] = False  # begun: to come here again with something still waiting means a circle
            stack += [(name, cover.line) for name in waiting]
    return order
