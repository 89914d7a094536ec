"""`Rewriter`: formulas over the inputs of columns as formulas over comparisons, with as few of these as can be found.

A literal of a formula is a set of cells of one column (`axes`). What follows from other literals is left out, literals of
one column are joined into one comparison where there are words for it, and common terms are factored out. Functions of few
cells are also written as a sum of products from scratch, and as the negation of one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from gradus._circuit.formula_trees import FALSE, TRUE, FormulaTree, input_tree, joined, tokens
from gradus._tables.axes import Axis, Test

__all__ = ["Rewriter"]

Context: TypeAlias = Mapping[int, int]
"""The cells of some axes that are still possible, by the number of the axis."""
NEGATED = {"&": "|", "|": "&"}


class Rewriter:
    """Formulas over some axes; a literal of its trees is a number of a set of cells, and never negated."""

    def __init__(self, axes: Sequence[Axis]) -> None:
        self.axes = axes
        self._sets: list[tuple[int, int]] = []
        self._numbers: dict[tuple[int, int], int] = {}

    def literal(self, axis: int, cells: int) -> FormulaTree:
        """Return the formula that a column is in some cells."""
        if cells in (0, self.axes[axis].full):
            return TRUE if cells else FALSE
        number = self._numbers.setdefault((axis, cells), len(self._sets))
        if number == len(self._sets):
            self._sets.append((axis, cells))
        return input_tree(number)

    def of(self, tree: FormulaTree, leaves: Sequence[int]) -> FormulaTree:
        """Return a formula over inputs, of which these are the nodes, as one over sets of cells."""
        if tree.position >= 0:
            node = leaves[tree.position]
            axis = next(i for i, axis in enumerate(self.axes) if node in axis.nodes)
            cells = self.axes[axis].where(node)
            return self.literal(axis, self.axes[axis].full ^ cells if tree.operator else cells)
        return joined(tree.operator, [self.of(part, leaves) for part in tree.parts]) if tree.parts else tree

    def tokens(self, tree: FormulaTree) -> list[str | Test]:
        """Return a formula in pieces."""
        return [piece if isinstance(piece, str) else self._test(piece[0]) for piece in tokens(tree)]

    def _test(self, number: int) -> Test:
        axis, cells = self._sets[number]
        return self.axes[axis].test(cells)

    def simplified(self, tree: FormulaTree) -> FormulaTree:
        """Rewrite a formula until that makes it no shorter."""
        while True:
            shorter = self._factored(self._simplified(tree, {}))
            if shorter.n_literals >= tree.n_literals:
                return shorter if shorter.n_literals == tree.n_literals else tree
            tree = shorter

    def _simplified(self, tree: FormulaTree, context: Context) -> FormulaTree:
        """Simplify a formula that is asked only where columns are in some cells."""
        if tree.position >= 0:
            axis, cells = self._sets[tree.position]
            possible = context.get(axis, self.axes[axis].full)
            return FALSE if not cells & possible else TRUE if not possible & ~cells else tree
        if tree.operator == "^":
            return self._differ([self._simplified(part, context) for part in tree.parts])
        if not tree.parts:
            return tree
        return self._several(tree.operator, list(tree.parts), context)

    def _several(self, operator: str, parts: list[FormulaTree], context: Context) -> FormulaTree:
        """Simplify the parts of an AND or OR, each where the others leave the value open."""
        neutral, absorbing = (TRUE, FALSE) if operator == "&" else (FALSE, TRUE)
        parts = self._merged(operator, _flat(operator, parts))
        # Long parts first, so that what two parts have in common is removed where it costs most.
        for place in sorted(range(len(parts)), key=lambda i: -parts[i].n_literals):
            others = [part for i, part in enumerate(parts) if i != place]
            parts[place] = self._simplified(parts[place], self._narrowed(operator, others, context))
        parts = self._merged(operator, _flat(operator, parts))
        if absorbing in parts:
            return absorbing
        parts = [part for part in dict.fromkeys(parts) if part != neutral]
        return joined(operator, self._not_absorbed(operator, parts))

    def _narrowed(self, operator: str, others: Sequence[FormulaTree], context: Context) -> Context:
        """Return where a part of an AND or OR matters: where the literals beside it are true, or false."""
        narrowed = dict(context)
        for other in others:
            if other.position >= 0:
                axis, cells = self._sets[other.position]
                full = self.axes[axis].full
                narrowed[axis] = narrowed.get(axis, full) & (cells if operator == "&" else full ^ cells)
        return narrowed

    def _merged(self, operator: str, parts: Sequence[FormulaTree]) -> list[FormulaTree]:
        """Join literals of one column where there are words for all of them together."""
        merged: list[FormulaTree] = []
        for part in parts:
            if part.position < 0:
                merged.append(part)
                continue
            axis, cells = self._sets[part.position]
            for place, other in enumerate(merged):
                if other.position < 0 or self._sets[other.position][0] != axis:
                    continue
                theirs = self._sets[other.position][1]
                both = cells & theirs if operator == "&" else cells | theirs
                if both in (0, self.axes[axis].full) or both in self.axes[axis].words:
                    merged[place] = self.literal(axis, both)
                    break
            else:
                merged.append(part)
        return merged

    def _not_absorbed(self, operator: str, parts: Sequence[FormulaTree]) -> list[FormulaTree]:
        """Leave out products that imply another one, or sums that another one implies."""
        inner = NEGATED[operator]
        boxes = [self._box(part, inner) for part in parts]
        kept: list[int] = []
        for i, mine in enumerate(boxes):
            rivals = [boxes[j] for j in range(len(parts)) if j != i and (j in kept or j > i)]
            if mine is None or not any(other is not None and self._within(mine, other, operator) for other in rivals):
                kept.append(i)
        return [parts[i] for i in kept]

    def _box(self, part: FormulaTree, operator: str) -> dict[int, int] | None:
        """Return the cells of each axis that an operator joins in a part; None if there is something else in it."""
        box: dict[int, int] = {}
        for literal in part.parts if part.operator == operator else (part,):
            if literal.position < 0:
                return None
            axis, cells = self._sets[literal.position]
            if axis in box:
                return None
            box[axis] = cells
        return box

    def _within(self, mine: Mapping[int, int], other: Mapping[int, int], operator: str) -> bool:
        """Return whether a part is implied by another."""
        if operator == "|":
            return all(axis in mine and not mine[axis] & ~cells for axis, cells in other.items())
        return all(axis in mine and not cells & ~mine[axis] for axis, cells in other.items())

    def _differ(self, parts: Sequence[FormulaTree]) -> FormulaTree:
        """Join parts of an exclusive or."""
        left: list[FormulaTree] = []
        inverted = False
        for part in _flat("^", parts):
            if part in (TRUE, FALSE):
                inverted ^= part == TRUE
                continue
            axis, cells = self._sets[part.position] if part.position >= 0 else (-1, 0)
            for place, other in enumerate(left):
                theirs = self._sets[other.position] if other.position >= 0 else (-1, 0)
                if axis == theirs[0] >= 0:
                    either = cells ^ theirs[1]
                    if either in (0, self.axes[axis].full) or either in self.axes[axis].words:
                        del left[place]
                        if either in (0, self.axes[axis].full):
                            inverted ^= either != 0
                        else:
                            left.append(self.literal(axis, either))
                        break
            else:
                left.append(part)
        if inverted and left:
            shortest = min(range(len(left)), key=lambda i: left[i].n_literals)
            left[shortest] = self.negated(left[shortest])
            inverted = False
        return joined("^", left) if left else TRUE if inverted else FALSE

    def negated(self, tree: FormulaTree) -> FormulaTree:
        """Return the negation of a formula, as long as it is."""
        if tree.position >= 0:
            axis, cells = self._sets[tree.position]
            return self.literal(axis, self.axes[axis].full ^ cells)
        if tree.operator == "^":
            return joined("^", (self.negated(tree.parts[0]), *tree.parts[1:]))
        if not tree.parts:
            return FALSE if tree == TRUE else TRUE
        return joined(NEGATED[tree.operator], [self.negated(part) for part in tree.parts])

    def _factored(self, tree: FormulaTree) -> FormulaTree:
        """Take out what several parts have in common."""
        if not tree.parts:
            return tree
        parts = [self._factored(part) for part in tree.parts]
        if tree.operator == "^":
            return joined("^", parts)
        inner = NEGATED[tree.operator]
        inside = [part.parts if part.operator == inner else (part,) for part in parts]
        counts = Counter(literal for literals in inside for literal in set(literals) if literal.n_literals)
        common, times = max(
            counts.items(), key=lambda item: (item[1] * item[0].n_literals, -item[0].position), default=(TRUE, 0)
        )
        if times < 2:
            return joined(tree.operator, parts)
        reduced = [joined(inner, [x for x in literals if x != common]) for literals in inside if common in literals]
        rest = [part for part, literals in zip(parts, inside, strict=True) if common not in literals]
        taken = joined(inner, _flat(inner, [common, self._factored(joined(tree.operator, reduced))]))
        return self._factored(joined(tree.operator, [taken, *rest])) if rest else taken


def _flat(operator: str, parts: Sequence[FormulaTree]) -> list[FormulaTree]:
    """Return parts without brackets that are not needed."""
    return [inner for part in parts for inner in (part.parts if part.operator == operator else (part,))]
