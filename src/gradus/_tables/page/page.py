"""The page of a model: its rules, its scores, its circuit to play with, and the rows that it gets wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._circuit.drawing.diagram import GATE_LABELS, MOST_GATES, blocks, diagram
from gradus._circuit.gate_list import is_constant
from gradus._core.bits import BoolMatrix
from gradus._core.cells import is_unknown
from gradus._core.wording import counted, listed
from gradus._pages.html import page
from gradus._tables.cells import read_cells, shown_date
from gradus._tables.conditions import Condition, in_words, input_conditions, input_label
from gradus._tables.encoding import TableColumn, TableEncoding
from gradus._tables.labels import TargetEncoding, groups_of_equal_rows, output_parts, plain_label
from gradus._tables.readable_rules import coverage_of, how_shown
from gradus._tables.statements import Statement, alternatives, node_tokens
from gradus.errors import DataError

__all__ = ["ModelView", "OddRow", "model_page", "odd_rows"]

Ints = npt.NDArray[np.int64]
Scores = Mapping[str, Sequence[float]]
"""The share of the rows that are right, for each target, under the name of each way to measure it."""
MOST_ROWS = 40  # that a page offers to try
MOST_IN_TITLE = 4  # targets
MOST_ODD_ROWS = 200
LEAST_SPAN = 0.1  # of the accuracies in a picture: smaller differences look small
MOST_ODD_COLUMNS = 8  # whose cells are shown for a row predicted wrongly
MOST_RIVALS = 5
MOST_LISTED = 10  # outputs of a target whose every pattern is listed
MOST_LEAVES = 6  # inputs of a gate whose formula is shown
LEAST = 1e-300
DIGITS = 12  # of a probability: equal ones tie on every machine
TYPES = {"bit": "bit", "above": "number", "after": "date"}


@dataclass(frozen=True, eq=False)
class ModelView:
    """What a page shows of a model."""

    network: Network
    """The best circuit, without gates that it does not need."""
    features: TableEncoding
    targets: tuple[TargetEncoding, ...]
    statements: Sequence[Statement]
    """The rules of the outputs."""
    said: Callable[[int, BoolMatrix], npt.NDArray[np.float64]]
    """From the number of a target and its outputs, shape (n, outputs), to the probabilities of its classes."""
    n_circuits: int
    """How many circuits vote in the model."""
    about: Mapping[str, Any]


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


def model_page(model: ModelView, table: Any, labels: Any, scores: Scores) -> str:
    """Return the page of a model as HTML that opens from disk and loads nothing; table and labels may be None."""
    features, targets = model.features, model.targets
    reads = model.network.cone(range(model.network.n_outputs))[: model.network.n_inputs]
    used: list[int] = np.unique(np.array(features.input_columns, dtype=np.int64)[reads]).tolist()
    rows, odd, odd_entries, has_rows = [], [], [], table is not None and labels is not None
    if has_rows:
        rows = shown_rows(features.columns_by_name(table), [features.columns[j] for j in used])
        inputs = features.encode(table)
        outputs = model.network.predict(inputs)
        answers = [_answer(model.said(k, outputs[:, part])) for k, part in enumerate(output_parts(targets))]
        odd = odd_rows(inputs, class_codes(labels, targets, len(inputs)), answers)
        odd.sort(key=lambda row: (len(row.rivals), row.row))  # those that the rules could get right first
        of_odd = np.array([row.row for row in odd[:MOST_ODD_ROWS]], dtype=np.int64)
        cells = shown_cells(features.columns_by_name(table), [features.columns[j] for j in used[:MOST_ODD_COLUMNS]], of_odd)
        odd_entries = [_odd_row(row, targets[row.target], texts) for row, texts in zip(odd, cells, strict=False)]
    names = ", ".join([target.name for target in targets[:MOST_IN_TITLE]])
    more = f" and {len(targets) - MOST_IN_TITLE} more" if len(targets) > MOST_IN_TITLE else ""
    return page(
        "gradus._tables.page",
        "model_page",
        title=f"What decides {names}{more}",
        summary=_summary(model),
        targets=targets,
        accuracy=scores,
        has_rows=has_rows,
        n_circuits=model.n_circuits,
        rules=_rules(model),
        odd=odd_entries,
        odd_columns=[features.columns[j].name for j in used[:MOST_ODD_COLUMNS]],
        n_odd=len(odd),
        sizes=size_points(model.about.get("size_curve")),
        how_shown=how_shown(targets),
        encoded=() if features.is_plain else features.plan(),
        model=_script_data(model, used, rows),
    )


def _rules(model: ModelView) -> list[dict[str, Any]]:
    """Return the statements as the page shows them: outputs in the order of the targets, then the steps."""
    stated = {said.name: said for said in model.statements}
    steps = [said for said in model.statements if said.is_signal]
    outputs = [stated[name] for target in model.targets for name in target.statement_names]
    entries = [dict(vars(said), alternatives=alternatives(said.tokens), coverage="") for said in (*outputs, *steps)]
    for entry in entries[: len(outputs)]:
        cover = coverage_of(model.about, entry["name"])
        entry["coverage"] = "" if cover is None else str(cover)
    return entries


def _odd_row(row: OddRow, target: TargetEncoding, cells: Sequence[str]) -> list[Any]:
    return [row.row + 1, *cells, target.name, target.classes[row.label], target.classes[row.answer], _why(row)]


def _why(row: OddRow) -> str:
    if not row.rivals:
        return "outvoted: a circuit that gets it right would have to be larger"
    shown = listed([rival + 1 for rival in row.rivals], MOST_RIVALS)
    return f"contradicts {'row' if len(row.rivals) == 1 else 'rows'} {shown}: the same inputs, another label"


def _script_data(model: ModelView, used: Sequence[int], rows: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Return what the page's script needs, as plain lists and dictionaries: columns, gates, outputs, classes."""
    network, features = model.network, model.features
    columns = [_column(features, j) for j in used]
    for place, column in enumerate(columns):
        column["start"] = rows[0][place] if rows else _first_value(column)
        column["seen"] = (
            sorted({row[place] for row in rows} - {*column["options"], ""}) if column["type"] == "category" else []
        )
    where = dict(zip(used, range(len(used)), strict=True))
    inputs = []
    for node, (j, key) in enumerate(features.input_keys):
        name, label = network.input_names[node], input_label(features.columns[j], key)
        first = features.input_columns.index(j) if j in where else 0
        inputs.append({"column": where.get(j, -1), "place": node - first, "name": name, "label": label})
    symbols, drawn = [], diagram(network).gates
    for number in range(network.n_gates):
        gate = drawn[network.n_inputs + number]
        pins = [inverted for _, inverted in gate.pins]
        name = GATE_LABELS[gate.kind, gate.inverted]
        symbols.append({"kind": gate.kind, "pins": pins, "inverted": gate.inverted, "name": name})
    return {
        "columns": columns,
        "inputs": inputs,
        "gates": np.column_stack([network.functions, network.sources]).tolist(),
        "reads": network.read_sources,
        "symbols": symbols,
        "formulas": _formulas(network, input_conditions(features)),
        "blocks": blocks(network),
        "mostGates": MOST_GATES,
        **_targets(model),
        "rows": rows,
    }


def _column(features: TableEncoding, j: int) -> dict[str, Any]:
    column = features.columns[j]
    tests = [_test(column, key) for key in column.input_keys]
    options = list(dict.fromkeys([value for test in tests for value in test.get("is", ())]))
    kind = TYPES.get(column.kind, "category")
    if kind == "category" and not options:
        options = ["(any value)"]  # only whether the cell is missing matters
    fill: Any = column.fill
    if isinstance(fill, float | int):
        fill = shown_date(fill) if column.kind == "after" else f"{fill:.12g}"
    others = None
    if kind == "category" and column.kind != "out":
        others = "another"
        while others in options:
            others += "*"
    return {
        "name": column.name,
        "type": kind,
        "tests": tests,
        "nodes": np.flatnonzero(np.array(features.input_columns) == j).tolist(),
        "options": options,
        "others": others,
        "missing": column.missing or column.fill is not None,
        "fill": fill,
    }


def _test(column: TableColumn, key: Any) -> dict[str, Any]:
    """Describe how an input follows from a cell."""
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
    leaves: list[set[int]] = [{node} for node in range(network.n_inputs)]
    texts = []
    for gate, read in enumerate(network.read_sources):
        below = set().union(*map(leaves.__getitem__, read))
        leaves.append(below)
        few = 0 < len(below) <= MOST_LEAVES
        texts.append(in_words(node_tokens(network, network.n_inputs + gate, (), conditions)) if few else "")
    return texts


def _targets(model: ModelView) -> dict[str, Any]:
    outputs: list[dict[str, Any]] = []
    entries = []
    for k, target in enumerate(model.targets):
        places = list(range(len(outputs), len(outputs) + target.n_outputs))
        for place, name, label in zip(places, target.output_names, target.output_labels, strict=True):
            outputs.append(
                {"place": place, "node": int(model.network.outputs[place]), "name": name, "label": label, "target": k}
            )
        entry = {"name": target.name, "classes": list(map(str, target.classes)), "outputs": places}
        if len(places) <= MOST_LISTED:
            patterns = np.arange(1 << len(places))[:, np.newaxis] >> np.arange(len(places)) & 1
            shares = model.said(k, patterns.astype(np.bool_))
            answers = _answer(shares)
            entry["answers"] = answers.tolist()
            entry["shares"] = np.round(shares[np.arange(len(shares)), answers], 4).tolist()
        else:
            # The logarithm of a probability is a sum over the outputs, but for what all classes share.
            few = np.vstack([np.zeros((1, len(places)), dtype=np.bool_), np.eye(len(places), dtype=np.bool_)])
            logs = np.log(np.maximum(model.said(k, few), LEAST))
            logs -= logs[:, :1]
            entry["scores"] = np.round(np.vstack([logs[:1], logs[1:] - logs[0]]).T, 6).tolist()
        entries.append(entry)
    return {"outputs": outputs, "targets": entries}


def _answer(shares: npt.NDArray[np.float64]) -> Ints:
    """Return the likeliest class of each row."""
    return np.asarray(np.argmax(np.round(shares, DIGITS), axis=1))


def size_points(curve: Any) -> list[dict[str, Any]]:
    """Return the sizes of a curve with their places in a picture of 100 by 100, if their accuracy is known."""
    points = [dict(size) for size in curve or () if size.get("accuracy") is not None]
    if len(points) < 2:
        return []
    high = max(size["accuracy"] for size in points)
    low = min(*(size["accuracy"] for size in points), high - LEAST_SPAN)
    widest = max(np.log2(1 + size["gates"]) for size in points) or 1.0
    for size in points:
        size["x"] = round(100 * float(np.log2(1 + size["gates"]) / widest), 1)
        size["y"] = round(100 * (high - size["accuracy"]) / (high - low), 1)
    return points


def _summary(model: ModelView) -> str:
    """Describe the model in a line."""
    rows, source = model.about.get("rows"), model.about.get("learned_from")
    gates = counted(int((~is_constant(model.network.functions)).sum()), "gate")
    if not isinstance(rows, int):
        return f"A circuit of {gates}."
    named = f" of {source}" if isinstance(source, str) else ""
    return f"A circuit of {gates}, learned from {counted(rows, 'row')}{named}.{_accuracy(model)}"


def _accuracy(model: ModelView) -> str:
    """Write how often the rules, the vote and the most frequent class are right on rows not seen, if that was measured."""
    held_out = model.about.get("held_out")
    shares = held_out.get("accuracy", {}) if isinstance(held_out, dict) else {}
    said = {"circuit": "the rules", "model": "the vote"} if model.n_circuits > 1 else {"model": "the rules"}
    said["majority"] = "the most frequent class"
    parts = [f"{words} {100 * float(np.mean(shares[name])):.1f} %" for name, words in said.items() if name in shares]
    return f" Right on rows not seen: {', '.join(parts)}." if parts else ""


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
        number = dict(zip(target.classes, range(len(target.classes)), strict=True))
        unknown = is_unknown(column)
        codes = [-1 if gone else number.get(plain_label(label), -1) for label, gone in zip(column, unknown, strict=True)]
        classes.append(np.array(codes, dtype=np.int64))
    return classes


def _plain(number: float) -> str:
    return "" if np.isnan(number) else f"{number:.12g}"


def shown_rows(table: Mapping[str, Any], columns: Sequence[TableColumn]) -> list[list[str]]:
    """Return rows from all over a table as texts that the page's form can hold; a missing cell is empty."""
    if not columns:
        return []
    n_rows = len(table[columns[0].name])
    return shown_cells(table, columns, np.unique(np.linspace(0, n_rows - 1, min(n_rows, MOST_ROWS)).astype(np.int64)))


def shown_cells(table: Mapping[str, Any], columns: Sequence[TableColumn], rows: Ints) -> list[list[str]]:
    """Return the cells of some rows as texts."""
    if not columns:
        return [[] for _ in rows]
    shown = []
    for column in columns:
        cells = read_cells(table[column.name])
        texts = list(cells.texts())
        if column.kind == "after":
            days = cells.value_dates(column.reading)
            texts = ["" if np.isnan(day) else shown_date(float(day)) for day in days]
        elif column.kind in ("bit", "above"):
            texts = [_plain(number) for number in cells.value_numbers(column.reading)]
        elif column.fold:
            known = {text.casefold(): text for group in column.values for text in group}
            texts = [known.get(text.casefold(), text) for text in texts]
        shown.append(np.where(cells.missing_values, "", np.array(texts, dtype=object))[cells.place[rows]])
    rows_of_texts: list[list[str]] = np.column_stack(shown).tolist()
    return rows_of_texts
