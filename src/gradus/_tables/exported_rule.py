"""`rule_program`: the circuit that a model shows, as programs in other languages need it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradus._formats.rule_program import MOST_LISTED, RuleColumn, RuleProgram, RuleTarget, RuleTest
from gradus._tables.encoding import TableColumn
from gradus._tables.labels import TargetEncoding, output_parts

if TYPE_CHECKING:
    from gradus._tables.model import Model

__all__ = ["rule_program"]

SCALE = 1 << 20
"""Scores are whole numbers of this part of a nat, so that every language adds them alike."""
LEAST = 1e-300
FIELDS = ("fill", "comma", "unit", "fold")


def rule_program(model: Model) -> RuleProgram:
    """Return a circuit with the columns that it reads and the classes that it predicts."""
    network = model.network.prune(absorb=False)
    reads = network.cone(range(network.n_outputs))
    found: dict[int, list[RuleTest]] = {}
    for node, (j, key) in enumerate(model.features.input_keys):
        if reads[node]:
            found.setdefault(j, []).append(_test(model.features.columns[j], node, key))
    columns = [_column(model.features.columns[j], tests) for j, tests in found.items()]
    targets = [
        _target(model, k, target, part)
        for k, (target, part) in enumerate(zip(model.targets, output_parts(model.targets), strict=True))
    ]
    return RuleProgram(network, tuple(columns), tuple(targets))


def _column(column: TableColumn, tests: list[RuleTest]) -> RuleColumn:
    kind: Any = {"above": "number", "bit": "number", "after": "date"}.get(column.kind, "text")
    options = {name: getattr(column, name) for name in FIELDS if getattr(column, name, None) not in (None, "", False)}
    if column.day_format:
        options["day_format"] = column.day_format
    return RuleColumn(column.name, kind, tuple(tests), **options)


def _test(column: TableColumn, node: int, key: Any) -> RuleTest:
    if column.missing and key == "missing":
        return RuleTest(node, "missing")
    if column.kind == "bit":
        return RuleTest(node, "above", 0.5)
    if column.kind in ("above", "after"):
        return RuleTest(node, "above", key)
    if column.others and key == "others":
        return RuleTest(node, "not in", _texts(column, [group[0] for group in column.values if len(group) == 1]))
    return RuleTest(node, "in", _texts(column, key))


def _texts(column: TableColumn, texts: Any) -> tuple[str, ...]:
    return tuple(text.casefold() if getattr(column, "fold", False) else text for text in texts)


def _target(model: Model, k: int, target: TargetEncoding, part: slice) -> RuleTarget:
    n = target.n_outputs
    places = tuple(range(part.start, part.stop))
    if n <= MOST_LISTED:
        patterns = (np.arange(1 << n)[:, np.newaxis] >> np.arange(n) & 1).astype(np.bool_)
        return RuleTarget(target.name, target.classes, places, tuple(model.answer(k, patterns).tolist()))
    # The logarithm of a probability is a sum over the outputs, but for what all classes share.
    patterns = np.vstack([np.zeros((1, n), dtype=np.bool_), np.eye(n, dtype=np.bool_)])
    logs = np.log(np.maximum(model.said(k, patterns), LEAST))
    logs -= logs[:, :1]
    scores = np.rint(SCALE * np.vstack([logs[:1], logs[1:] - logs[0]])).astype(np.int64).T
    return RuleTarget(target.name, target.classes, places, scores=tuple(map(tuple, scores.tolist())))
