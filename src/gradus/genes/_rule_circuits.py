"""Truth tables of learned rules as formulas that read like biology, and as one circuit.

Inputs that decide alone are taken off one at a time: "not repressor and (activator or other activator)".
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus.genes._gene_model import GeneRule

__all__ = ["RuleTree", "rule_network", "rule_text", "rule_tree"]

Table = npt.NDArray[np.bool_]
PLAIN = re.compile(r"[^\W\d]\w*")
ZERO, NOT, XOR, AND, OR, ONE = 0, 3, 6, 8, 14, 15
"""Truth tables of gates, see `gradus._core.gates`."""


class RuleTree(NamedTuple):
    """A formula: "&", "|" or "^" of parts, the input `name` (negated or not), or a constant ("0", "1")."""

    operator: str
    parts: tuple[RuleTree, ...] = ()
    name: str = ""
    negated: bool = False


def rule_tree(names: Sequence[str], table: Sequence[int]) -> RuleTree:
    """Find a short nested formula for a truth table."""
    return _tree(np.asarray(table, np.bool_).reshape((2,) * len(names)).transpose(), list(names))


def _tree(table: Table, names: list[str]) -> RuleTree:
    """Write a table with one axis for each name as a formula."""
    if table.all() or not table.any():
        return RuleTree("1" if table.all() else "0")
    for axis, name in enumerate(names):
        low, high = _halves(table, axis)
        others = names[:axis] + names[axis + 1 :]
        if (low == high).all():
            return _tree(low, others)
        for negated, off, on in ((False, low, high), (True, high, low)):
            literal = RuleTree("", name=name, negated=negated)
            if not off.any():
                return literal if on.all() else _join("&", _tree(on, others), literal)
            if on.all():
                return _join("|", _tree(off, others), literal)
        if (low != high).all():
            return _join("^", _tree(low, others), RuleTree("", name=name))
    return _shared(table, names)


def _halves(table: Table, axis: int) -> tuple[Table, Table]:
    """Return the table where one input is 0, and where it is 1."""
    return np.asarray(table.take(0, axis)), np.asarray(table.take(1, axis))


def _shared(table: Table, names: list[str]) -> RuleTree:
    """Split on the input that leaves the shortest halves, where none decides alone."""
    found = []
    for axis, name in enumerate(names):
        low, high = _halves(table, axis)
        others = names[:axis] + names[axis + 1 :]
        yes, no = RuleTree("", name=name), RuleTree("", name=name, negated=True)
        falls, rises = not (high & ~low).any(), not (low & ~high).any()
        when_high = _tree(high, others) if falls else _join("&", yes, _tree(high, others))
        when_low = _tree(low, others) if rises else _join("&", no, _tree(low, others))
        found.append(_join("|", when_high, when_low))
    return min(found, key=_size)


def _size(tree: RuleTree) -> int:
    return sum(map(_size, tree.parts)) if tree.parts else 1


def _join(operator: str, *trees: RuleTree) -> RuleTree:
    parts = [part for tree in trees for part in (tree.parts if tree.operator == operator else (tree,))]
    # As people write rules: activators first, repressors last, and longer parts of a sum after plain ones.
    parts.sort(key=lambda part: (bool(part.parts) and operator == "|", part.negated, bool(part.parts), part.name))
    return RuleTree(operator, tuple(parts))


def rule_text(tree: RuleTree) -> str:
    """Return a formula as text: ``!`` not, ``&`` and, ``|`` or, ``^`` exclusive or; odd names are in quotes."""
    if not tree.parts:
        name = tree.name if PLAIN.fullmatch(tree.name) else json.dumps(tree.name, ensure_ascii=False)
        return f"{'!' * tree.negated}{name}" if tree.name else tree.operator
    return f" {tree.operator} ".join(f"({rule_text(part)})" if part.parts else rule_text(part) for part in tree.parts)


def rule_network(genes: Sequence[str], rules: Sequence[GeneRule]) -> Network:
    """Join rules to one circuit; genes without a transition are left out, so that they keep their value."""
    gates = _Gates({name: node for node, name in enumerate(genes)})
    taught = [rule for rule in rules if rule.seen]
    outputs = [gates.node(rule_tree(rule.regulators, rule.table)) for rule in taught]
    sources = np.array([gate[:2] for gate in gates.gates], np.int64).reshape(-1, 2)
    functions = [gate[2] for gate in gates.gates]
    names = [rule.target for rule in taught]
    return Network(len(genes), sources, outputs, functions, input_names=list(genes), output_names=names).prune()


class _Gates:
    """Gates made so far; equal ones are made once."""

    def __init__(self, place: dict[str, int]) -> None:
        self.place = place
        self.gates: list[tuple[int, int, int]] = []
        self._known: dict[tuple[int, int, int], int] = {}

    def _gate(self, a: int, b: int, function: int) -> int:
        key = (a, b, function)
        if key not in self._known:
            self._known[key] = len(self.place) + len(self.gates)
            self.gates.append(key)
        return self._known[key]

    def node(self, tree: RuleTree) -> int:
        if tree.parts:
            nodes = [self.node(part) for part in tree.parts]
            function = {"&": AND, "|": OR, "^": XOR}[tree.operator]
            whole = nodes[0]
            for other in nodes[1:]:
                whole = self._gate(whole, other, function)
            return whole
        if tree.name:
            node = self.place[tree.name]
            return self._gate(node, node, NOT) if tree.negated else node
        return self._gate(0, 0, ONE if tree.operator == "1" else ZERO)
