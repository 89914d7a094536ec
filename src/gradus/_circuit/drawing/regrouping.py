"""Sums of several nodes, regrouped so that known parts show: (a ^ b) ^ c is a ^ (b ^ c), and b ^ c may be a carry."""

from __future__ import annotations

import itertools
from typing import NamedTuple

from gradus._circuit.drawing.recognition import Box, Logic, boxes_in, covered

__all__ = ["BoxedCircuit", "boxed"]

XOR, XNOR = 6, 9
MOST_TERMS = 8
MOST_GATES = 150
"""Larger circuits are not looked through."""


class BoxedCircuit(NamedTuple):
    """A circuit of the same function and size, and the parts in it."""

    logic: Logic
    boxes: list[Box]


class _Sum(NamedTuple):
    """An exclusive or of several terms, made by gates that nothing else uses."""

    root: int
    gates: tuple[int, ...]
    """The root is the last."""
    terms: tuple[int, ...]
    inverted: bool


def boxed(logic: Logic, outputs: frozenset[int]) -> BoxedCircuit | None:
    """Find the known parts of a circuit; None where they do not cover most of it, so that boxes would not help a reader."""
    # Sums of more than two terms are added up in the order that shows the most. The number of gates stays.
    if len(logic) > MOST_GATES:
        return None
    found = boxes_in(logic, outputs)
    improved = True
    while improved:
        improved = False
        for one in _sums(logic, outputs):
            for first in itertools.combinations(one.terms, 2):
                other = {**logic, **_added_up(one, first)}
                boxes = boxes_in(other, outputs)
                if covered(boxes) > covered(found):
                    logic, found, improved = other, boxes, True
    inside = sum(len(box.inside) for box in found)
    return BoxedCircuit(logic, found) if len(found) > 1 and 3 * inside >= 2 * len(logic) else None


def _sums(logic: Logic, outputs: frozenset[int]) -> list[_Sum]:
    """Return the sums of three terms or more."""
    readers: dict[int, int] = {}
    for _, *sources in logic.values():
        for source in sources:
            readers[source] = readers.get(source, 0) + 1

    def adds(node: int) -> bool:
        return node in logic and logic[node][0] in (XOR, XNOR) and logic[node][1] != logic[node][2]

    def is_inner(node: int) -> bool:
        return adds(node) and readers.get(node, 0) == 1 and node not in outputs

    used = {source for node in logic if adds(node) for source in logic[node][1:] if is_inner(source)}
    found = []
    for root in sorted(node for node in logic if adds(node) and node not in used):
        gates: list[int] = []
        terms: list[int] = []
        stack = [root]
        while stack:
            node = stack.pop()
            gates.append(node)
            for source in logic[node][1:]:
                (stack if is_inner(source) else terms).append(source)
        inverted = sum(logic[node][0] == XNOR for node in gates) % 2 == 1
        if 3 <= len(terms) <= MOST_TERMS and len(set(terms)) == len(terms):
            found.append(_Sum(root, tuple(sorted(gates, key=lambda gate: gate == root)), tuple(sorted(terms)), inverted))
    return found


def _added_up(one: _Sum, first: tuple[int, ...]) -> dict[int, tuple[int, int, int]]:
    """Return the gates of a sum that adds two of its terms before the others."""
    last, *others = [*first, *(term for term in one.terms if term not in first)]
    gates = {}
    for gate, term in zip(one.gates, others, strict=True):
        gates[gate] = (XNOR if gate == one.root and one.inverted else XOR, last, term)
        last = gate
    return gates
