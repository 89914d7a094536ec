"""Inputs of a circuit as conditions on columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gradus._circuit.drawing.diagram import Group, Grouping
from gradus._tables.axes import Axis, Test, column_axis, signal_axis
from gradus._tables.encoding import TableColumn, TableEncoding
from gradus._tables.labels import TargetEncoding

__all__ = ["Condition", "axes_of", "in_words", "input_conditions", "input_label", "model_grouping"]


class Condition(NamedTuple):
    """The condition that an input stands for; a signal of the circuit has a name instead."""

    column: TableColumn | None
    key: Any = None
    """What the input stands for in the column; see `TableColumn.input_keys`."""
    name: str = ""
    """The name of a signal, quoted if it is not a plain word."""
    plain: str = ""
    """The name as it is."""


def input_conditions(features: TableEncoding) -> dict[int, Condition]:
    """Return the condition of each input, by its node."""
    return {node: Condition(features.columns[j], key) for node, (j, key) in enumerate(features.input_keys)}


def input_label(column: TableColumn, key: Any) -> str:
    """Describe what an input tests, without the name of its column unless it is the column itself."""
    if column.kind == "bit" and key == "bit":
        return column.name
    axis = column_axis(column, [0], [key])
    text = axis.test(axis.where(0)).plain.removeprefix(f"{column.name} ").removeprefix("is ")
    return text.removeprefix("= ") if column.kind == "group" else text


def model_grouping(features: TableEncoding, targets: Sequence[TargetEncoding]) -> Grouping:
    """Put the bits of a column, and the outputs of a target, into one box each."""
    inputs: list[list[tuple[int, str]]] = [[] for _ in features.columns]
    for node, (j, key) in enumerate(features.input_keys):
        inputs[j].append((node, input_label(features.columns[j], key)))
    outputs, place = [], 0
    for target in targets:
        outputs.append(Group(target.name, tuple(enumerate(target.output_labels, start=place))))
        place += target.n_outputs
    columns = zip(features.columns, inputs, strict=True)
    return Grouping(tuple(Group(column.name, tuple(members)) for column, members in columns if members), tuple(outputs))


def in_words(tokens: Sequence[str | Test]) -> str:
    """Write a formula as text."""
    return "".join(token if isinstance(token, str) else token.text for token in tokens)


def axes_of(leaves: Sequence[int], conditions: Mapping[int, Condition]) -> list[Axis]:
    """Return an axis for each column that some nodes are inputs of, and for each step."""
    columns: dict[int, list[int]] = {}
    for leaf in leaves:
        column = conditions[leaf].column
        columns.setdefault(-leaf - 1 if column is None else id(column), []).append(leaf)
    return [_axis(nodes, conditions) for nodes in columns.values()]


def _axis(nodes: Sequence[int], conditions: Mapping[int, Condition]) -> Axis:
    first = conditions[nodes[0]]
    if first.column is None:
        return signal_axis(nodes[0], first.name, first.plain)
    return column_axis(first.column, nodes, [conditions[node].key for node in nodes])
