"""The page of a model: its rules, its scores, its circuit to play with, and the rows it gets wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._circuit.drawing.diagram import GATE_LABELS, MOST_GATES, blocks, diagram
from gradus._circuit.formula_trees import Token
from gradus._core.bits import BoolMatrix
from gradus._core.wording import counted, listed
from gradus._pages.html import page
from gradus._tables.cells import shown_date
from gradus._tables.conditions import Condition, in_words
from gradus._tables.encoding import TableColumn, TableEncoding
from gradus._tables.labels import TargetEncoding
from gradus._tables.page.examples import OddRow, PageExamples
from gradus._tables.page.labels import input_label, output_labels, statement_names
from gradus._tables.statements import Statement, node_tokens

__all__ = ["ModelView", "Scores", "model_page", "summary_of", "used_columns"]

Scores = Mapping[str, Sequence[float]]
"""The share of the rows that are right, for each target, under the name of each way to measure it."""
Decoder = Callable[[int, BoolMatrix], npt.NDArray[np.int64]]
"""From the number of a target and its outputs, shape (n, outputs), to the classes that they mean."""
MOST_ODD_ROWS = 200
MOST_RIVALS = 5
MOST_LISTED = 10  # outputs of a target whose every pattern is listed
MOST_LEAVES = 6  # inputs of a gate whose formula is shown
TYPES = {"bit": "bit", "above": "number", "after": "date"}


@dataclass(frozen=True, eq=False)
class ModelView:
    """What a page shows."""

    network: Network
    """The circuit, without gates that it does not need."""
    features: TableEncoding
    targets: tuple[TargetEncoding, ...]
    statements: Sequence[Statement]
    """What the outputs say."""
    decode: Decoder
    """From the outputs to classes."""
    n_circuits: int = 1
    """How many circuits vote in the model."""
    title: str = ""
    summary: str = ""
    scores: Scores = field(default_factory=dict)
    examples: PageExamples | None = None


def model_page(view: ModelView) -> str:
    """Return the page as HTML that opens from disk and loads nothing."""
    plain = all(column.kind == "bit" and not column.missing for column in view.features.columns)
    odd = () if view.examples is None else view.examples.odd
    return page(
        "gradus._tables.page",
        "model_page",
        title=view.title,
        view=view,
        rules=_rules(view),
        conditions=_conditions(view),
        odd=[_odd_row(row, view.targets[row.target]) for row in odd[:MOST_ODD_ROWS]],
        n_odd=len(odd),
        encoded=() if plain else view.features.plan(),
        model=_script_data(view),
    )


def _conditions(view: ModelView) -> dict[int, Condition]:
    """Return what inputs and steps say, by their nodes."""
    pairs = [(column, key) for column in view.features.columns for key in column.input_keys]
    conditions = {node: Condition(column, key) for node, (column, key) in enumerate(pairs)}
    steps = [said for said in reversed(view.statements) if said.node >= len(pairs)]
    return conditions | {said.node: Condition(None, name=said.name) for said in steps}


def _rules(view: ModelView) -> list[dict[str, Any]]:
    """Return the statements as the page shows them: outputs in the order of the targets, then the steps."""
    place = {name: k for k, name in enumerate(name for target in view.targets for name in statement_names(target))}
    ordered = sorted(view.statements, key=lambda said: (said.is_signal, place.get(said.name, 0)))
    return [{**vars(said), "alternatives": _alternatives(said.tokens)} for said in ordered]


def _alternatives(tokens: Sequence[Token]) -> list[list[Token]]:
    """Cut a formula at each "or" outside brackets."""
    lines: list[list[Token]] = [[]]
    depth = 0
    for piece in tokens:
        if isinstance(piece, str):
            depth += (piece == "(") - (piece == ")")
        if piece == " | " and depth == 0:
            lines.append([])
        else:
            lines[-1].append(piece)
    return lines


def _odd_row(row: OddRow, target: TargetEncoding) -> list[Any]:
    return [row.row + 1, target.name, target.classes[row.label], target.classes[row.answer], _why(row)]


def _why(row: OddRow) -> str:
    if not row.rivals:
        return "outvoted: a circuit that gets it right would have to be larger"
    shown = listed([rival + 1 for rival in row.rivals], MOST_RIVALS)
    return f"contradicts {'row' if len(row.rivals) == 1 else 'rows'} {shown}: the same inputs, another label"


def _script_data(view: ModelView) -> dict[str, Any]:
    """Return what the page's script needs, as plain lists and dictionaries: columns, gates, outputs, classes."""
    network, features = view.network, view.features
    rows = () if view.examples is None else view.examples.rows
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
        **_targets(view),
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
    texts = []
    for gate, read in enumerate(network.read_sources):
        below = set().union(*(leaves[source] for source in read))
        leaves.append(below)
        few = 0 < len(below) <= MOST_LEAVES
        texts.append(in_words(node_tokens(network, network.n_inputs + gate, (), conditions), conditions) if few else "")
    return texts


def _targets(view: ModelView) -> dict[str, Any]:
    outputs: list[dict[str, Any]] = []
    entries = []
    for k, target in enumerate(view.targets):
        places = list(range(len(outputs), len(outputs) + target.n_outputs))
        classes = [str(label) for label in target.classes]
        for place, name, label in zip(places, target.output_names, output_labels(target), strict=True):
            outputs.append(
                {"place": place, "node": int(view.network.outputs[place]), "name": name, "label": label, "target": k}
            )
        entry = {"name": target.name, "classes": classes, "outputs": places}
        if len(places) <= MOST_LISTED:
            every = np.arange(1 << len(places))[:, np.newaxis] >> np.arange(len(places)) & 1
            entry["answers"] = view.decode(k, every.astype(np.bool_)).tolist()
        else:
            entry["words"] = target.encode(np.arange(len(classes))).astype(int).tolist()
        entries.append(entry)
    return {"outputs": outputs, "targets": entries}


def summary_of(network: Network, about: Mapping[str, Any]) -> str:
    """Say in a line what the model is."""
    gates = counted(network.n_gates, "gate")
    rows = about.get("rows")
    learned = f", learned from {counted(rows, 'row')}" if isinstance(rows, int) else ""
    source = about.get("learned_from")
    named = f" of {source}" if learned and isinstance(source, str) else ""
    return f"A circuit of {gates}{learned}{named}."
