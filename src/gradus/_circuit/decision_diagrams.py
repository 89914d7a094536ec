"""Reduced ordered binary decision diagrams, in which equal functions have equal numbers."""

from __future__ import annotations

from gradus._core.gates import ONE as ALWAYS
from gradus._core.gates import ZERO as NEVER
from gradus._core.gates import fix_a, fix_b, tie

__all__ = ["ONE", "ZERO", "DecisionDiagrams", "TooManyNodesError"]

ZERO, ONE = 0, 1
"""The constant functions."""


class TooManyNodesError(Exception):
    """The diagrams have more nodes than allowed."""


class DecisionDiagrams:
    """Functions of ordered variables, each a number; equal functions have equal numbers."""

    def __init__(self, max_nodes: int = 100_000) -> None:
        self._max_nodes = max_nodes
        # A node is (variable, low, high): "if variable then high else low"; constants have a variable after all others.
        self._nodes: list[tuple[float, int, int]] = [(float("inf"), ZERO, ZERO), (float("inf"), ONE, ONE)]
        self._number: dict[tuple[float, int, int], int] = {}
        self._gates: dict[tuple[int, int, int], int] = {}
        self._negations = {ZERO: ONE, ONE: ZERO}

    def variable(self, level: int) -> int:
        """Return the function that is the variable at this level of the order."""
        return self._node(level, ZERO, ONE)

    def split(self, function: int) -> tuple[int, int, int]:
        """Return a function's first variable, and what remains if it is 0 and if it is 1 (not for constants)."""
        level, low, high = self._nodes[function]
        return int(level), low, high

    def gate(self, table: int, f: int, g: int) -> int:
        """Return a gate function (see `gradus._core.gates`) of two functions."""
        if f in (ZERO, ONE):
            return self._of_one(fix_a(table, f), g)
        if g in (ZERO, ONE):
            return self._of_one(fix_b(table, g), f)
        if f == g:
            return self._of_one(tie(table), f)
        known = self._gates.get((table, f, g))
        if known is None:
            (f_level, f_low, f_high), (g_level, g_low, g_high) = self._nodes[f], self._nodes[g]
            level = min(f_level, g_level)
            if f_level > level:
                f_low = f_high = f
            if g_level > level:
                g_low = g_high = g
            low, high = self.gate(table, f_low, g_low), self.gate(table, f_high, g_high)
            known = self._gates[table, f, g] = self._node(level, low, high)
        return known

    def _of_one(self, table: int, f: int) -> int:
        """Return one of the four functions of the first source alone."""
        if table in (NEVER, ALWAYS):
            return ONE if table else ZERO
        return f if table & 1 == 0 else self.negation(f)

    def negation(self, f: int) -> int:
        """Return NOT f."""
        known = self._negations.get(f)
        if known is None:
            level, low, high = self._nodes[f]
            known = self._negations[f] = self._node(level, self.negation(low), self.negation(high))
            self._negations[known] = f
        return known

    def implies(self, f: int, g: int) -> bool:
        """Return whether g is 1 wherever f is."""
        return self.gate(4, f, g) == ZERO

    def support(self, function: int) -> list[int]:
        """Return the levels of the variables that a function depends on."""
        return sorted({int(self._nodes[node][0]) for node in self.reached(function)})

    def reached(self, function: int, limit: float = float("inf")) -> set[int]:
        """Return the nodes of a function's diagram without constants, or some of them if there are more than the limit."""
        seen: set[int] = set()
        stack = [function]
        while stack and len(seen) <= limit:
            node = stack.pop()
            if node not in seen and node not in (ZERO, ONE):
                seen.add(node)
                stack += self._nodes[node][1:]
        return seen

    def _node(self, level: float, low: int, high: int) -> int:
        if low == high:
            return low
        number = self._number.setdefault((level, low, high), len(self._nodes))
        if number == len(self._nodes):
            if number > self._max_nodes:
                raise TooManyNodesError
            self._nodes.append((level, low, high))
        return number
