"""Formulas as trees: short ones for truth tables, as text in pieces, and as gates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import attrgetter
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from gradus._circuit.gate_list import GateTable, Literal
from gradus._core.gates import AND, ONE, OR, XOR, ZERO

__all__ = ["FALSE", "TRUE", "FormulaTree", "Token", "build", "input_tree", "joined", "render", "short_tree", "tokens"]

MOST_SEARCHED = 6
"""Inputs of which none decides alone, up to which every order of splitting on them is tried."""
GATES = {"&": AND, "|": OR, "^": XOR}

Token: TypeAlias = str | tuple[int, bool]
"""A piece of a formula: an operator, a bracket or a constant as text, or an input and whether it holds."""


class FormulaTree(NamedTuple):
    """A tree of operators over literals; subtrees may be shared, so the text can be far larger than the tree in memory."""

    operator: str
    """One of "&", "|" and "^"; "0" or "1" for a constant; "" or "!" for an input as it is or negated."""
    parts: tuple[FormulaTree, ...] = ()
    """The operands of "&", "|" and "^"."""
    n_literals: int = 0
    """How many literals it has when it is written out."""
    position: int = -1
    """The input of a literal."""
    has_xor: bool = False
    """Whether there is a "^" in it."""


FALSE, TRUE = FormulaTree("0"), FormulaTree("1")


def input_tree(position: int, holds: bool = True) -> FormulaTree:
    """Return an input as it is, or negated."""
    return FormulaTree("" if holds else "!", (), 1, position)


def joined(operator: str, parts: Iterable[FormulaTree]) -> FormulaTree:
    """Join parts by an operator; a single part is returned as it is, and "0" or "1" for none."""
    operands = tuple(parts)
    if len(operands) < 2:
        return operands[0] if operands else TRUE if operator == "&" else FALSE
    n_literals, has_xor = 0, operator == "^"
    for part in operands:
        n_literals += part.n_literals
        has_xor |= part.has_xor
    return FormulaTree(operator, operands, n_literals, has_xor=has_xor)


def short_tree(
    table: npt.NDArray[np.bool_], inputs: Sequence[int] | None = None, *, xor: bool = True, most_searched: int = MOST_SEARCHED
) -> FormulaTree:
    """Find a short nested formula for a truth table with an axis for each of some inputs, in rising order."""
    bits = np.packbits(table.transpose().reshape(-1), bitorder="little").tobytes()
    search = _TreeSearch(range(table.ndim) if inputs is None else inputs, xor, most_searched)
    return search.tree(int.from_bytes(bits, "little"))


class _TreeSearch:
    """Takes off inputs that decide alone, one at a time; "not repressor and (activator or other activator)"."""

    # A function is a number: bit i is its value where input j has the value of bit j of i. What is left of it when inputs are
    # fixed no longer depends on them, but keeps their places, so that equal functions are equal numbers.

    def __init__(self, inputs: Sequence[int], xor: bool, most_searched: int) -> None:
        self.inputs, self.xor, self.most_searched = inputs, xor, most_searched
        n_inputs = len(inputs)
        self.full = (1 << (1 << n_inputs)) - 1
        self.masks = [self.full // ((1 << (2 << j)) - 1) * ((1 << (1 << j)) - 1) << (1 << j) for j in range(n_inputs)]
        """The places where an input is 1."""
        self.trees = {0: FALSE, self.full: TRUE}

    def halves(self, function: int, j: int) -> tuple[int, int]:
        """Return what remains if an input is 0, and if it is 1."""
        high = function & self.masks[j]
        low = function ^ high
        return low | low << (1 << j), high | high >> (1 << j)

    def tree(self, function: int) -> FormulaTree:
        if function not in self.trees:
            self.trees[function] = self._decided(function) or self._split(function)
        return self.trees[function]

    def _decided(self, function: int) -> FormulaTree | None:
        """Take off the first input that decides alone."""
        for j, position in enumerate(self.inputs):
            low, high = self.halves(function, j)
            if low == high:
                continue
            for holds, off, on in ((True, low, high), (False, high, low)):
                if off == 0:
                    return _sorted("&", self.tree(on), input_tree(position, holds))
                if on == self.full:
                    return _sorted("|", self.tree(off), input_tree(position, holds))
            if self.xor and low ^ high == self.full:
                return _sorted("^", self.tree(low), input_tree(position))
        return None

    def _split(self, function: int) -> FormulaTree:
        """Split on the input that leaves the shortest halves, where none decides alone."""
        halves = self._all_halves(function)
        if len(halves) > self.most_searched:  # the one that leaves the fewest inputs, as trying all would take too long
            j = min(halves, key=lambda j: sum(len(self._all_halves(half)) for half in halves[j]))
            halves = {j: halves[j]}
        trees = []
        for j, (low, high) in halves.items():
            # If one half implies the other, its literal can be left out.
            literal, negated = input_tree(self.inputs[j]), input_tree(self.inputs[j], False)
            when_high = self.tree(high) if not high & ~low else _sorted("&", literal, self.tree(high))
            when_low = self.tree(low) if not low & ~high else _sorted("&", negated, self.tree(low))
            trees.append(_sorted("|", when_high, when_low))
        return min(trees, key=attrgetter("n_literals"))

    def _all_halves(self, function: int) -> dict[int, tuple[int, int]]:
        """Return the halves for every input that a function depends on."""
        halves = {}
        for j in range(len(self.inputs)):
            low, high = self.halves(function, j)
            if low != high:
                halves[j] = low, high
        return halves


def _sorted(operator: str, *trees: FormulaTree) -> FormulaTree:
    neutral = "1" if operator == "&" else "0"
    parts: list[FormulaTree] = []
    for tree in trees:
        parts += tree.parts if tree.operator == operator else (tree,) if tree.operator != neutral else ()
    # As people write rules: activators first, repressors last, and longer parts of a sum after plain ones.
    parts.sort(key=lambda p: (bool(p.parts) and operator == "|", p.operator == "!", bool(p.parts), p.position))
    return joined(operator, parts)


def tokens(tree: FormulaTree) -> list[Token]:
    """Return a formula in pieces, with brackets wherever operators differ, except around an AND inside an OR."""
    pieces: list[Token] = []
    # A stack instead of recursion: circuits can be thousands of gates deep.
    stack: list[tuple[FormulaTree, str] | str] = [(tree, "")]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            pieces.append(item)
            continue
        (operator, parts, _, position, _), outer = item
        if not parts:
            pieces.append(operator if position < 0 else (position, not operator))
            continue
        bracketed = outer not in ("", operator) and (outer, operator) != ("|", "&")
        stack += [")"] * bracketed
        for part in reversed(parts):
            stack += [(part, operator), f" {operator} "]
        stack.pop()
        stack += ["("] * bracketed
    return pieces


def render(tree: FormulaTree, names: Sequence[str]) -> str:
    """Write a formula as text; `names` are those of the inputs."""
    return "".join(
        piece if isinstance(piece, str) else f"{'' if piece[1] else '!'}{names[piece[0]]}" for piece in tokens(tree)
    )


def build(tree: FormulaTree, gates: GateTable, inputs: Sequence[Literal]) -> Literal:
    """Build a tree of no great depth of gates."""
    if tree.parts:
        parts = (build(part, gates, inputs) for part in tree.parts)
        return reduce(lambda a, b: gates.of(GATES[tree.operator], a, b), parts)
    if tree.position < 0:
        return gates.gate(ONE if tree.operator == "1" else ZERO, 0, 0), False
    node, inverted = inputs[tree.position]
    return node, inverted ^ (tree.operator == "!")
