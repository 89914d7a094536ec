"""Inputs of a circuit as conditions on columns, and sums of their products without what follows from other conditions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from gradus._circuit.formulas import Formula, quoted_name
from gradus._tables.cells import shown_date
from gradus._tables.encoding import TableColumn

__all__ = ["Condition", "Token", "condition_tokens", "in_words"]

Token: TypeAlias = str | tuple[int, bool]
"""A piece of a formula: an operator, a bracket or a constant as text, or a node and whether it holds."""


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


def in_words(tokens: Sequence[Token], conditions: Mapping[int, Condition]) -> str:
    """Write a formula as text."""
    return "".join(token if isinstance(token, str) else conditions[token[0]].text(token[1]) for token in tokens)


def condition_tokens(formula: Formula, conditions: Mapping[int, Condition]) -> list[Token]:
    """Split a formula of names v0, v1 and so on, the numbers of nodes, into its pieces."""
    # From a sum of products the conditions go that follow from others of the same column, and products that never hold.
    if formula.factored or not formula.support:
        pieces = re.split(r"(!?v\d+)", formula.text)
        found = [_literal(piece) if place % 2 else piece for place, piece in enumerate(pieces)]
        return [token for token in found if token]
    products: list[tuple[tuple[int, bool], ...]] = []
    for product in formula.text.split(" | "):
        kept = _without_implied([_literal(word) for word in product.split(" & ")], conditions)
        if kept is not None:
            products.append(tuple(kept))
    shortest = [one for one in products if not any(set(other) < set(one) for other in products)]
    tokens: list[Token] = []
    for one in dict.fromkeys(shortest):
        tokens += [" | "] * bool(tokens)
        for place, literal in enumerate(one):
            tokens += [*[" & "] * bool(place), literal]
    return tokens or ["0"]


def _literal(word: str) -> tuple[int, bool]:
    return int(word.lstrip("!v")), not word.startswith("!")


def _is_extra(column: TableColumn, key: Any) -> bool:
    """Tell the inputs "is missing" and "is another" from those that look at the value."""
    return (column.missing and key == "missing") or (column.others and key == "others")


def _categories(key: Any) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) else (key,)


def _without_implied(
    literals: Sequence[tuple[int, bool]], conditions: Mapping[int, Condition]
) -> list[tuple[int, bool]] | None:
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


def _excludes(column: TableColumn, one: Any, other: Any) -> bool:
    """Tell whether two inputs of a column are never true of the same cell."""
    extra = [key for key in (one, other) if _is_extra(column, key)]
    if extra:
        rest = [key for key in (one, other) if not _is_extra(column, key)]
        return "missing" in extra or (column.kind == "group" and len(rest[0]) == 1)
    return column.kind in ("group", "is") and not set(_categories(one)) & set(_categories(other))


def _implies(column: TableColumn, one: Any, other: Any) -> bool:
    """Tell whether the second of two inputs of a column is true wherever the first is."""
    if _is_extra(column, one) or _is_extra(column, other):
        return False
    if column.kind in ("above", "after"):
        return bool(one > other)
    return column.kind in ("group", "is") and set(_categories(one)) < set(_categories(other))
