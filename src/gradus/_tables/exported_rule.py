"""`rule_program`: the circuit that a model shows, as programs in other languages need it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._core.bits import BoolMatrix
from gradus._formats.rule_program import MOST_LISTED, RuleColumn, RuleProgram, RuleTarget, RuleTest
from gradus._tables.encoding import TableColumn, TableEncoding
from gradus._tables.labels import TargetEncoding, output_parts

__all__ = ["rule_program"]

SCALE = 1 << 20
"""Scores are whole numbers of this part of a nat, so that every language adds them alike."""
LEAST = 1e-300
DIGITS = 12  # of a probability, as in `Model`
Said = Callable[[int, BoolMatrix], npt.NDArray[np.float64]]
"""From the number of a target and outputs for it to the probabilities of its classes."""


def rule_program(network: Network, features: TableEncoding, targets: Sequence[TargetEncoding], said: Said) -> RuleProgram:
    """Return a circuit with the columns that it reads and the classes that it predicts."""
    network = network.prune(absorb=False)
    reads = network.cone(range(network.n_outputs))
    found: dict[int, list[RuleTest]] = {}
    for node, (j, key) in enumerate(features.input_keys):
        if reads[node]:
            found.setdefault(j, []).append(_test(features.columns[j], node, key))
    columns = [_column(features.columns[j], tests) for j, tests in found.items()]
    parts = zip(targets, output_parts(targets), strict=True)
    answers = [_target(target, part, partial(said, k)) for k, (target, part) in enumerate(parts)]
    return RuleProgram(network, tuple(columns), tuple(answers))


def _column(column: TableColumn, tests: list[RuleTest]) -> RuleColumn:
    kind: Any = {"above": "number", "bit": "number", "after": "date"}.get(column.kind, "text")
    days = column.day_format or RuleColumn.day_format
    return RuleColumn(column.name, kind, tuple(tests), column.fill, column.comma, column.unit, days, column.fold)


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
    return tuple(text.casefold() if column.fold else text for text in texts)


def _target(target: TargetEncoding, part: slice, said: Callable[[BoolMatrix], npt.NDArray[np.float64]]) -> RuleTarget:
    n, places = target.n_outputs, tuple(range(part.start, part.stop))
    if n <= MOST_LISTED:
        patterns = (np.arange(1 << n)[:, np.newaxis] >> np.arange(n) & 1).astype(np.bool_)
        answers = np.argmax(np.round(said(patterns), DIGITS), axis=1)
        return RuleTarget(target.name, target.classes, places, tuple(answers.tolist()))
    # The logarithm of a probability is a sum over the outputs, but for what all classes share.
    patterns = np.vstack([np.zeros((1, n), dtype=np.bool_), np.eye(n, dtype=np.bool_)])
    logs = np.log(np.maximum(said(patterns), LEAST))
    logs -= logs[:, :1]
    scores = np.rint(SCALE * np.vstack([logs[:1], logs[1:] - logs[0]])).astype(np.int64).T
    return RuleTarget(target.name, target.classes, places, scores=tuple(map(tuple, scores.tolist())))
