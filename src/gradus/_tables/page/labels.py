"""Short labels for the inputs and outputs of a model in drawings, and sentences for the comments of exported files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradus._circuit.drawing.diagram import Group, Grouping
from gradus._core.wording import quoted_name
from gradus._tables.conditions import Condition
from gradus._tables.encoding import TableColumn, TableEncoding
from gradus._tables.labels import TargetEncoding

__all__ = ["class_notes", "input_label", "model_grouping", "output_labels", "statement_names"]


def input_label(column: TableColumn, key: Any) -> str:
    """Say what an input tests, without the name of its column unless it is the column itself."""
    if column.kind == "bit" and key == "bit":
        return column.name
    text = Condition(column, key).text(quoted=False).removeprefix(f"{column.name} ").removeprefix("is ")
    return text.removeprefix("= ") if column.kind in ("group", "is") else text


def output_labels(target: TargetEncoding) -> tuple[str, ...]:
    """Say what each output of a target stands for: a class, if each has an output of its own."""
    one_each = target.n_outputs == len(target.classes) > 1
    return tuple(str(label) for label in target.classes) if one_each else target.output_names


def statement_names(target: TargetEncoding) -> list[str]:
    """Say what each output of a target states."""
    name = quoted_name(target.name)
    if target.n_outputs == 1:
        return [name if target.are_bits else f"{name} = {quoted_name(target.classes[-1])}"]
    if target.n_outputs < len(target.classes):
        return [quoted_name(output) for output in target.output_names]
    return [f"{name} = {quoted_name(label)}" for label in target.classes]


def model_grouping(features: TableEncoding, targets: Sequence[TargetEncoding]) -> Grouping:
    """Put the bits of a column, and the outputs of a target, into one box each."""
    inputs: list[list[tuple[int, str]]] = [[] for _ in features.columns]
    for node, (j, key) in enumerate(features.input_keys):
        inputs[j].append((node, input_label(features.columns[j], key)))
    outputs, place = [], 0
    for target in targets:
        labels = output_labels(target)
        outputs.append(Group(target.name, tuple(enumerate(labels, start=place))))
        place += len(labels)
    columns = zip(features.columns, inputs, strict=True)
    return Grouping(tuple(Group(column.name, tuple(members)) for column, members in columns if members), tuple(outputs))


def class_notes(targets: Sequence[TargetEncoding]) -> list[str]:
    """Say, for targets that are not 0 and 1, what the outputs mean."""
    notes = []
    for target in targets:
        if (target.are_bits and target.n_outputs == 1) or len(target.classes) < 2:
            continue
        name, outputs = quoted_name(target.name), [repr(output) for output in target.output_names]
        if target.n_outputs == len(target.classes):
            listed = ", ".join(f"{output} for {quoted_name(c)}" for output, c in zip(outputs, target.classes, strict=True))
            notes.append(f"{name} has an output for each class, 1 where it holds: {listed}")
            continue
        for label, word in zip(target.classes, target.encode(np.arange(len(target.classes))), strict=True):
            bits = ", ".join(f"{output} is {int(bit)}" for output, bit in zip(outputs, word, strict=True))
            notes.append(f"{name} is {quoted_name(label)} where {bits}")
    return notes
