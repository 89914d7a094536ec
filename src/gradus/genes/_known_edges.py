"""Edges known beforehand: from CSV files, data frames, published models, or plain tuples."""

from __future__ import annotations

import csv
import difflib
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gradus._circuit import Network
from gradus._circuit.network import part_of
from gradus._core.bits import column_names
from gradus._core.files import read_guard, read_text
from gradus._formats.circuits import read_network
from gradus._formats.registry import READ
from gradus.errors import DataError, FormatError
from gradus.genes._edge_prior import EdgeBelief

__all__ = ["KnownEdge", "allowed_regulators", "as_beliefs", "known_edges", "model_edges"]

HEADINGS = {"regulator": "regulator", "source": "regulator", "from": "regulator", "target": "target", "to": "target"}
HEADINGS |= {"probability": "probability", "confidence": "probability", "sign": "sign", "effect": "sign"}
ORDER = ("regulator", "target", "probability", "sign")
USUAL_PROBABILITY = 0.9
SIGNS = {"+": 1, "1": 1, "+1": 1, "->": 1, "activating": 1, "activation": 1, "activator": 1, "positive": 1}
SIGNS |= {"-": -1, "−": -1, "-1": -1, "-|": -1, "inhibiting": -1, "inhibition": -1, "repressing": -1, "repression": -1}
SIGNS |= {"repressor": -1, "inhibitor": -1, "negative": -1, "": 0, "0": 0, "?": 0, "both": 0, "unknown": 0}
MOST_INPUTS_READ = 16
"""Rules of a published model with more inputs than this give edges without signs."""


class KnownEdge(NamedTuple):
    """An edge, how probable it is, and its sign: +1, -1, or 0 if it is not known."""

    regulator: str
    target: str
    probability: float = USUAL_PROBABILITY
    sign: int = 0


def known_edges(source: Any) -> tuple[KnownEdge, ...]:
    """Read edges from whatever holds them."""
    if isinstance(source, str | PathLike):
        is_model = Path(source).suffix.lower() in READ
        return model_edges(read_network(source)) if is_model else _read(source)
    headings = column_names(source, "the table of edges")
    if headings is not None:
        rows = [["" if cell is None or cell != cell else str(cell) for cell in row] for row in source.itertuples(index=False)]
        return _parsed([list(headings), *rows], range(len(rows) + 1), None)
    return _parsed([list(map(str, edge)) for edge in source], range(1, 1 << 62), None)


def _read(path: str | PathLike[str]) -> tuple[KnownEdge, ...]:
    text = read_text(path)
    with read_guard(path, "a table of edges"):
        rows = list(csv.reader(text.splitlines(), strict=True))
    lines = [line for line, row in enumerate(rows, start=1) if row]
    found = _parsed([row for row in rows if row], lines, path)
    if not found:
        raise FormatError("holds no edge; expected lines of regulator,target.", path=path)
    return found


def _parsed(rows: Sequence[Sequence[str]], lines: Sequence[int], path: str | PathLike[str] | None) -> tuple[KnownEdge, ...]:
    columns = {name: place for place, name in enumerate(ORDER)}
    start = 0
    if rows and rows[0] and HEADINGS.get(rows[0][0].strip().lower()):
        named = [HEADINGS.get(cell.strip().lower()) for cell in rows[0]]
        columns = {name: named.index(name) for name in ORDER if name in named}
        if not {"regulator", "target"} <= set(columns):
            raise FormatError("the headings must name a column regulator and a column target.", path=path)
        start = 1
    return tuple(
        _edge({name: row[place].strip() for name, place in columns.items() if place < len(row)}, line, path)
        for row, line in zip(rows[start:], lines[start:], strict=False)
    )


def _edge(cells: Mapping[str, str], line: int, path: str | PathLike[str] | None) -> KnownEdge:
    if not cells.get("regulator") or not cells.get("target"):
        raise FormatError("expected a regulator and a target, with a comma between.", path=path, line=line)
    try:
        probability = float(cells.get("probability") or USUAL_PROBABILITY)
    except ValueError:
        probability = -1.0
    sign = SIGNS.get(cells.get("sign", "").lower())
    if not 0 <= probability <= 1:
        raise FormatError(f"the probability is {cells['probability']!r}; it must be from 0 to 1.", path=path, line=line)
    if sign is None:
        raise FormatError(f"the sign is {cells['sign']!r}; write +, - or nothing.", path=path, line=line)
    return KnownEdge(cells["regulator"], cells["target"], probability, sign)


def model_edges(model: Network) -> tuple[KnownEdge, ...]:
    r"""List the edges of a Boolean model: each gene that a rule depends on, with its sign where it has one."""
    edges = []
    for target, node in zip(model.output_names, model.outputs.tolist(), strict=True):
        rule, inputs = part_of(model, node)
        names = [model.input_names[i] for i in inputs]
        if len(names) > MOST_INPUTS_READ:
            edges += [KnownEdge(name, target) for name in names]
            continue
        cells = (np.arange(1 << len(names))[:, None] >> np.arange(len(names))) & 1 == 1
        values = rule.predict(cells)[:, 0]
        for i, name in enumerate(names):
            low, high = values[~cells[:, i]], values[cells[:, i]]
            rises, falls = bool((high & ~low).any()), bool((low & ~high).any())
            if rises or falls:
                edges.append(KnownEdge(name, target, USUAL_PROBABILITY, int(rises) - int(falls)))
    return tuple(edges)


def as_beliefs(edges: Iterable[KnownEdge], genes: Sequence[str]) -> tuple[EdgeBelief, ...]:
    """Turn edges into beliefs about columns."""
    place = _places(genes)
    return tuple(EdgeBelief(place(e.regulator, e), place(e.target, e), e.probability, e.sign) for e in edges)


def allowed_regulators(edges: Iterable[KnownEdge], genes: Sequence[str]) -> dict[int, tuple[int, ...]]:
    """Group edges by their target, as columns."""
    place = _places(genes)
    found: dict[int, list[int]] = {}
    for edge in edges:
        found.setdefault(place(edge.target, edge), []).append(place(edge.regulator, edge))
    return {target: tuple(regulators) for target, regulators in found.items()}


def _places(genes: Sequence[str]) -> Any:
    known = {gene: i for i, gene in enumerate(genes)}

    def place(gene: str, edge: KnownEdge) -> int:
        if gene not in known:
            near = difflib.get_close_matches(gene, known, 1)
            remedy = f"did you mean {near[0]!r}?" if near else "leave it out, or name it as the series do."
            raise DataError(
                f"the edge {edge.regulator} → {edge.target} names {gene!r}, which is not one of the genes; {remedy}"
            )
        return known[gene]

    return place
