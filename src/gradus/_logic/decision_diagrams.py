"""Reduced ordered binary decision diagrams: small, so that equal functions can be told by equal numbers."""

from __future__ import annotations

__all__ = ["ONE", "ZERO", "Diagrams", "TooManyNodesError"]

ZERO, ONE = 0, 1
"""The constant functions."""


class TooManyNodesError(Exception):
    """The diagrams outgrew the limit; the caller must do without."""


class Diagrams:
    """Functions of ordered variables; every function is a number, and equal functions have equal numbers.

    Parameters
    ----------
    max_nodes : int
        Raise `TooManyNodesError` beyond this many.

    Examples
    --------
    >>> diagrams = Diagrams()
    >>> a, b = diagrams.variable(0), diagrams.variable(1)
    >>> diagrams.negation(diagrams.negation(a)) == a
    True
    >>> diagrams.nand(a, diagrams.negation(a)) == ONE
    True
    >>> diagrams.support(diagrams.nand(a, b))
    [0, 1]
    """

    def __init__(self, max_nodes: int = 100_000) -> None:
        self._max_nodes = max_nodes
        # Node k is "if variable then high else low"; the constants read a variable below all others.
        self._nodes: list[tuple[float, int, int]] = [(float("inf"), ZERO, ZERO), (float("inf"), ONE, ONE)]
        self._number: dict[tuple[float, int, int], int] = {}
        self._nands: dict[tuple[int, int], int] = {}

    def variable(self, level: int) -> int:
        """Return the function that is the variable at this level of the order."""
        return self._node(level, ZERO, ONE)

    def split(self, function: int) -> tuple[int, int, int]:
        """Return a function's first variable, and what remains if it is 0 and if it is 1 (not for constants)."""
        level, low, high = self._nodes[function]
        return int(level), low, high

    def nand(self, f: int, g: int) -> int:
        """Return NOT (f AND g)."""
        if f > g:
            f, g = g, f
        if f == ZERO:
            return ONE
        if f == ONE:
            return ZERO if g == ONE else self.negation(g)
        known = self._nands.get((f, g))
        if known is None:
            (f_level, f_low, f_high), (g_level, g_low, g_high) = self._nodes[f], self._nodes[g]
            level = min(f_level, g_level)
            if f_level > level:
                f_low = f_high = f
            if g_level > level:
                g_low = g_high = g
            known = self._nands[f, g] = self._node(level, self.nand(f_low, g_low), self.nand(f_high, g_high))
        return known

    def negation(self, f: int) -> int:
        """Return NOT f."""
        return 1 - f if f in (ZERO, ONE) else self.nand(f, f)

    def implies(self, f: int, g: int) -> bool:
        """Say whether g is 1 wherever f is."""
        return self.nand(f, self.negation(g)) == ONE

    def support(self, function: int) -> list[int]:
        """Return the levels of the variables that a function really depends on."""
        return sorted({int(self._nodes[node][0]) for node in self._reached(function)})

    def is_small(self, function: int, limit: int) -> bool:
        """Say whether a function's diagram has at most this many nodes, constants not counted."""
        return len(self._reached(function, limit)) <= limit

    def _reached(self, function: int, limit: float = float("inf")) -> set[int]:
        """Return the nodes of a function's diagram, or some of them if there are more than the limit."""
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
