"""What the script of a model's page needs: columns and how they become inputs, gates, outputs, classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._circuit.drawing.diagram import GATE_LABELS, diagram
from gradus._circuit.drawing.folding import MOST_GATES, blocks
from gradus._core.bits import BoolMatrix
from gradus._tables.cells import shown_date
from gradus._tables.conditions import Condition, in_words
from gradus._tables.encoding import TableColumn, TableEncoding
from gradus._tables.labels import TargetEncoding
from gradus._tables.page.labels import input_label, output_labels
from gradus._tables.statements import node_tokens

__all__ = ["Decoder", "page_data", "used_columns"]

Decoder = Callable[[int, BoolMatrix], npt.NDArray[np.int64]]
"""From the number of a target and its outputs, shape (n, outputs), to the classes that they mean."""
MOST_LISTED = 10  # outputs of a target whose every pattern is listed
MOST_LEAVES = 6  # inputs of a gate whose formula is shown
TYPES = {"bit": "bit", "above": "number", "after": "date"}


def page_data(
    network: Network,
    features: TableEncoding,
    targets: Sequence[TargetEncoding],
    decode: Decoder,
    rows: Sequence[Sequence[str]] = (),
) -> dict[str, Any]:
    """Return plain lists and dictionaries that JSON can hold."""
    used = used_columns(network, features)
    columns = [_column(features, j) for j in used]
    for place, column in enumerate(columns):
        column["start"] = rows[0][place] if rows else _first_value(column)
    where = {j: place for place, j in enumerate(used)}
    first = {j: features.input_columns.index(j) for j in used}
    inputs = []
    for node, (j, key) in enumerate(features.input_keys):
        name, label = network.input_names[node], input_label(features.columns[j], key)
        inputs.append({"column": where.get(j, -1), "place": node - first.get(j, 0), "name": name, "label": label})
    parts = diagram(network)
    conditions = {node: Condition(features.columns[j], key) for node, (j, key) in enumerate(features.input_keys)}
    gates = zip(network.functions.tolist(), network.sources.tolist(), strict=True)
    return {
        "columns": columns,
        "inputs": inputs,
        "gates": [[function, a, b] for function, (a, b) in gates],
        "reads": network.read_sources,
        "symbols": [
            {
                "kind": gate.kind,
                "pins": [inverted for _, inverted in gate.pins],
                "inverted": gate.inverted,
                "name": GATE_LABELS[gate.kind, gate.inverted],
            }
            for gate in (parts.gates[network.n_inputs + number] for number in range(network.n_gates))
        ],
        "formulas": _formulas(network, conditions),
        "blocks": blocks(network),
        "mostGates": MOST_GATES,
        **_targets(network, targets, decode),
        "rows": [list(row) for row in rows],
    }


def used_columns(network: Network, features: TableEncoding) -> list[int]:
    """Return the columns that an output depends on."""
    cone = network.cone(range(network.n_outputs))
    return sorted({j for node, j in enumerate(features.input_columns) if cone[node]})


def _column(features: TableEncoding, j: int) -> dict[str, Any]:
    column = features.columns[j]
    tests = [_test(column, key) for key in column.input_keys]
    options = list(dict.fromkeys(value for test in tests for value in test.get("is", ())))
    kind = TYPES.get(column.kind, "category")
    if kind == "category" and not options:
        options = ["(any value)"]  # only whether the cell is missing matters
    others = None
    if kind == "category" and column.kind != "out":
        others = "another"
        while others in options:
            others += "*"
    return {
        "name": column.name,
        "type": kind,
        "tests": tests,
        "nodes": [node for node, of in enumerate(features.input_columns) if of == j],
        "options": options,
        "others": others,
        "missing": column.missing or column.fill is not None,
        "fill": _fill(column),
    }


def _fill(column: TableColumn) -> str | None:
    if column.fill is None or isinstance(column.fill, str):
        return column.fill
    return shown_date(column.fill) if column.kind == "after" else f"{column.fill:.12g}"


def _test(column: TableColumn, key: Any) -> dict[str, Any]:
    """Say how an input follows from a cell."""
    if column.missing and key == "missing":
        return {"missing": True}
    if column.others and key == "others":
        return {"others": True}
    if column.kind == "bit":
        return {"above": 0.5}
    if column.kind in ("above", "after"):
        return {"above": float(key)}
    return {"is": [str(value) for value in (key if isinstance(key, tuple) else (key,))]}


def _first_value(column: dict[str, Any]) -> str:
    if column["type"] == "category":
        return str(column["options"][0])
    cuts = [test["above"] for test in column["tests"] if "above" in test]
    if column["type"] == "bit" or not cuts:
        return "0"
    return shown_date(cuts[0]) if column["type"] == "date" else f"{cuts[0]:.12g}"


def _formulas(network: Network, conditions: dict[int, Condition]) -> list[str]:
    """Return the formula of each gate that depends on few inputs; empty for the others."""
    leaves = [{node} for node in range(network.n_inputs)]
    found = []
    for gate, read in enumerate(network.read_sources):
        below = set().union(*(leaves[source] for source in read))
        leaves.append(below)
        few = 0 < len(below) <= MOST_LEAVES
        found.append(in_words(node_tokens(network, network.n_inputs + gate, (), conditions), conditions) if few else "")
    return found


def _targets(network: Network, targets: Sequence[TargetEncoding], decode: Decoder) -> dict[str, Any]:
    outputs: list[dict[str, Any]] = []
    found = []
    for k, target in enumerate(targets):
        places = list(range(len(outputs), len(outputs) + target.n_outputs))
        classes = [str(label) for label in target.classes]
        for place, name, label in zip(places, target.output_names, output_labels(target), strict=True):
            outputs.append({"place": place, "node": int(network.outputs[place]), "name": name, "label": label, "target": k})
        entry = {"name": target.name, "classes": classes, "outputs": places}
        if len(places) <= MOST_LISTED:
            every = np.arange(1 << len(places))[:, np.newaxis] >> np.arange(len(places)) & 1
            entry["answers"] = decode(k, every.astype(np.bool_)).tolist()
        else:
            entry["words"] = target.encode(np.arange(len(classes))).astype(int).tolist()
        found.append(entry)
    return {"outputs": outputs, "targets": found}
