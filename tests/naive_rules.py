"""Rules as they were written before conditions were sets of cells: the longest that they may be now.

Conditions that follow from another one of the same column are left out, and nothing else is done.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from gradus._circuit import Network
from gradus._circuit.count_recognition import count_words, output_count
from gradus._circuit.formula_trees import FALSE, TRUE, FormulaTree, Token, input_tree, joined, tokens
from gradus._circuit.formulas import MAX_LITERALS, forms
from gradus._circuit.network import part_of
from gradus._circuit.weighted_counts import WeightedCount
from gradus._core.wording import quoted_name
from gradus._tables.cells import shown_date
from gradus._tables.encoding import TableColumn
from gradus.errors import FormatError

MOST_SIMPLIFIED = 300

Literals = Sequence[tuple[int, bool]]
"""Inputs, and whether they hold."""


class Condition(NamedTuple):
    """What an input says about its column; a signal of the circuit has a name instead."""

    column: TableColumn | None
    key: Any = None
    """What the input stands for in the column; see `TableColumn.input_keys`."""
    name: str = ""
    """The name of a signal."""

    def text(self, holds: bool = True, *, quoted: bool = True) -> str:
        """Write the condition, or its negation; unless told otherwise, with names quoted that are not plain words."""
        if self.column is None:
            return self.name if holds else f"!{self.name}"
        shown = quoted_name if quoted else str
        column, key, name = self.column, self.key, shown(self.column.name)
        if _is_extra(column, key):
            what = "missing" if key == "missing" else "another"
            return f"{name} is {what}" if holds else f"{name} is not {what}"
        if column.kind == "bit":
            return name if holds else f"!{name}"
        if column.kind in ("above", "after"):
            value = shown_date(key) if column.kind == "after" else str(key)
            if not holds and column.missing:
                return f"!({name} > {value})"  # of a missing cell this is true, and "<=" would not be
            return f"{name} {'>' if holds else '<='} {value}"
        values = [shown(value) for value in _categories(key)]
        if len(values) == 1:
            return f"{name} {'=' if holds else '!='} {values[0]}"
        return f"{name} {'' if holds else 'not '}in {{{', '.join(values)}}}"


def in_words(tokens: Sequence[Token], conditions: Any) -> str:
    """Write a formula as text."""
    return "".join(token if isinstance(token, str) else conditions[token[0]].text(token[1]) for token in tokens)


def simplified(tree: FormulaTree, conditions: Sequence[Condition]) -> FormulaTree:
    """Leave out conditions that follow from others of the same column, and parts that never hold or add nothing."""
    if not tree.parts:
        return tree
    parts = [simplified(part, conditions) for part in tree.parts]
    if tree.operator == "^":
        return joined("^", tree.parts if any(part in (TRUE, FALSE) for part in parts) else parts)
    neutral, absorbing = (TRUE, FALSE) if tree.operator == "&" else (FALSE, TRUE)
    flat = [inner for part in parts for inner in (part.parts if part.operator == tree.operator else (part,))]
    # What follows in an OR of conditions is what follows in the AND of their negations.
    holds = tree.operator == "&"
    literals = [(part.position, (not part.operator) == holds) for part in flat if part.position >= 0]
    kept = _without_implied(literals, conditions)
    if kept is None or absorbing in flat:
        return absorbing
    left = {input_tree(position, value == holds) for position, value in kept}
    flat = [part for part in flat if part != neutral and (part.position < 0 or part in left)]
    alternatives = [_literals_of(part, "|" if holds else "&") for part in flat]
    return joined(
        tree.operator,
        dict.fromkeys(
            part
            for part, mine in zip(flat, alternatives, strict=True)
            if mine is None or not any(other is not None and other < mine for other in alternatives)
        ),
    )


def _literals_of(part: FormulaTree, operator: str) -> frozenset[tuple[int, bool]] | None:
    """Return the literals that an operator joins to a part, or None if there is something else in it."""
    inside = part.parts if part.operator == operator else (part,)
    if any(inner.position < 0 for inner in inside):
        return None
    return frozenset((inner.position, not inner.operator) for inner in inside)


def _is_extra(column: TableColumn, key: Any) -> bool:
    """Tell the inputs "is missing" and "is another" from those that look at the value."""
    return (column.missing and key == "missing") or (column.others and key == "others")


def _categories(key: Any) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) else (key,)


def _without_implied(literals: Literals, conditions: Sequence[Condition]) -> list[tuple[int, bool]] | None:
    """Return the conditions of a product that do not follow from its others; None if no value fulfils them all."""
    kept = []
    for node, holds in literals:
        column, key, _ = conditions[node]
        if column is None:
            kept.append((node, holds))
            continue
        same = [(conditions[other].key, h) for other, h in literals if other != node and conditions[other].column is column]
        true, false = [other for other, h in same if h], [other for other, h in same if not h]
        if any(_excludes(column, key, other) for other in true):
            if holds:
                return None
            continue
        if holds and any(_implies(column, key, other) for other in false):
            return None
        if any(_implies(column, other, key) for other in true) if holds else any(_implies(column, key, o) for o in false):
            continue
        kept.append((node, holds))
    return kept


def _excludes(column: TableColumn, first: Any, second: Any) -> bool:
    """Tell whether two inputs of a column are never true of the same cell."""
    extra = [key for key in (first, second) if _is_extra(column, key)]
    if extra:
        rest = [key for key in (first, second) if not _is_extra(column, key)]
        return "missing" in extra or (column.kind == "group" and len(rest[0]) == 1)
    return column.kind == "group" and not set(_categories(first)) & set(_categories(second))


def _implies(column: TableColumn, first: Any, second: Any) -> bool:
    """Tell whether the second of two inputs of a column is true wherever the first is."""
    if _is_extra(column, first) or _is_extra(column, second):
        return False
    if column.kind in ("above", "after"):
        return bool(first > second)
    return column.kind == "group" and set(_categories(first)) < set(_categories(second))


def node_tokens(network: Network, node: int, cut: Collection[int], conditions: Mapping[int, Condition]) -> list[Token]:
    """Return the shortest formula of a node in pieces, over inputs and the nodes at which it is cut."""
    part, leaves = part_of(network, node, cut)
    known = [conditions[leaf] for leaf in leaves]
    ways, _, _ = forms(part, 0)
    if any(way.tree.has_xor for way in ways) and any(leaf.column is not None and leaf.column.kind != "bit" for leaf in known):
        # Without ^, conditions that follow from others of the same column can be left out.
        ways += forms(part, 0, xor=False)[0]
    found: list[list[Token]] = []
    for way in ways:
        if way.tree.n_literals <= (MAX_LITERALS if way.is_sum else MOST_SIMPLIFIED):
            found.append(tokens(simplified(way.tree, known)))
        elif way.tree.n_literals <= MAX_LITERALS:
            found.append(tokens(way.tree))
    if not found:
        raise FormatError(f"the formula of node {node} would have more than {MAX_LITERALS} conditions.")
    count = output_count(part, 0)
    found += [_count_tokens(count)] if count is not None else []
    shortest = min(found, key=lambda pieces: len(in_words(pieces, known)))
    return [piece if isinstance(piece, str) else (leaves[piece[0]], piece[1]) for piece in shortest]


def _count_tokens(count: WeightedCount) -> list[Token]:
    """Return a count in pieces: "at least 2 of 4: a, !b, c, d"."""
    pieces: list[Token] = [f"{count_words(count)}: "]
    for place, sign in zip(count.columns, count.weights, strict=True):
        pieces += [", "] if len(pieces) > 1 else []
        pieces.append((place, sign > 0))
    return pieces


def _n_conditions(tokens: Sequence[Token]) -> int:
    return len(tokens) - list(map(type, tokens)).count(str)
