"""Factored Boolean expressions: nested brackets, for functions whose sums of products are too long or hide an XOR."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from gradus._circuit import Network
from gradus._circuit.decision_diagrams import ONE, ZERO, DecisionDiagrams, TooManyNodesError
from gradus._circuit.formula_trees import FALSE, TRUE, FormulaTree, input_tree, joined
from gradus._core.gates import SYMBOLS, tie

__all__ = ["FactoredForm", "factored"]

# Decision diagrams are not tried with more inputs: they would take too long, and this bounds their recursion.
MAX_LEVELS = 200
# Splitting on one variable after another gives short expressions for small diagrams only, so it is tried on every gate
# whose diagram has at most MAX_SPLIT nodes, and on an output of any size whose expression is still longer than LONG.
MAX_SPLIT = 100
LONG = 2000


class Dual(NamedTuple):
    """An expression and its negation, built together so that neither has to be unfolded to make the other."""

    true: FormulaTree
    false: FormulaTree

    @property
    def negated(self) -> Dual:
        """The two exchanged."""
        return Dual(self.false, self.true)


class FactoredForm(NamedTuple):
    """A formula, the inputs it depends on, and whether each input is proven to matter."""

    tree: FormulaTree
    support: tuple[int, ...]
    support_proven: bool


CONSTANTS = {ZERO: Dual(FALSE, TRUE), ONE: Dual(TRUE, FALSE)}


def factored(network: Network, output: int, *, xor: bool = True) -> FactoredForm:
    """Express one output with AND, OR, XOR and NOT, as short as the circuit's structure and case splits allow."""
    run = _FactoringRun(network, output, xor)
    try:
        support = run.make_diagrams()
        return FactoredForm(run.shortest_tree(), tuple(sorted(map(run.order.__getitem__, support))), True)
    except TooManyNodesError:
        return FactoredForm(run.unfolded_tree(), tuple(sorted(run.order)), False)


class _FactoringRun:
    """The state of factoring one output: its gates in order, and the shortest known expression of each function."""

    def __init__(self, network: Network, output: int, xor: bool) -> None:
        cone = network.cone([output])
        self.node = int(network.outputs[output])
        self.order = _visit_order(network, self.node)
        self.xor = xor
        self.gates: list[tuple[int, int, int, int]] = []
        self.ignored: list[int] = []
        """Sources outside the cone, which their gates ignore; any constant will do for them."""
        gates = zip(network.functions.tolist(), network.sources.tolist(), strict=True)
        for node, (table, (a, b)) in enumerate(gates, start=network.n_inputs):
            if cone[node]:
                self.gates.append((node, tie(table) if a == b else table, a, b))
                self.ignored += [a] * (not cone[a]) + [b] * (not cone[b])
        self.diagrams = DecisionDiagrams()
        self.functions = dict.fromkeys(self.ignored, ZERO)
        self.shortest = dict(CONSTANTS)

    def make_diagrams(self) -> list[int]:
        """Make the decision diagram of every node, and return the levels that the output depends on."""
        if len(self.order) > MAX_LEVELS:
            raise TooManyNodesError
        for level, node in enumerate(self.order):
            self.functions[node] = self.diagrams.variable(level)
            self.shortest[self.functions[node]] = _literal(node)
        for node, table, a, b in self.gates:
            self.functions[node] = self.diagrams.gate(table, self.functions[a], self.functions[b])
        return self.diagrams.support(self.functions[self.node])

    def unfolded_tree(self) -> FormulaTree:
        """Write the circuit out gate by gate."""
        built = {**dict.fromkeys(self.ignored, CONSTANTS[ZERO]), **{node: _literal(node) for node in self.order}}
        for node, table, a, b in self.gates:
            built[node] = self._gate(table, built[a], built[b])
        return built[self.node].true

    def _gate(self, table: int, a: Dual, b: Dual) -> Dual:
        kind, not_a, not_b, not_out = SYMBOLS[table]
        a, b = a.negated if not_a else a, b.negated if not_b else b
        if kind in ("and", "or"):
            dual = _dual("&" if kind == "and" else "|", a, b)
        elif kind == "xor":
            dual = self._differ(a, b)
        else:
            dual = {"0": CONSTANTS[ZERO], "a": a, "b": b}[kind]
        return dual.negated if not_out else dual

    def _differ(self, a: Dual, b: Dual) -> Dual:
        if not self.xor:
            return _dual("|", _dual("&", a, b.negated), _dual("&", a.negated, b))
        if {a.true.operator, b.true.operator} & {"0", "1"}:
            a, b = (a, b) if a.true.operator in ("0", "1") else (b, a)
            return b.negated if a.true.operator == "1" else b
        # The negation of an XOR negates one operand: preferably a literal, which gets no longer.
        if b.true.parts and not a.true.parts:
            return Dual(_joined("^", a.true, b.true), _joined("^", a.false, b.true))
        return Dual(_joined("^", a.true, b.true), _joined("^", a.true, b.false))

    def _learn(self, function: int, dual: Dual) -> None:
        known = self.shortest.get(function)
        if known is None or dual.true.n_literals < known.true.n_literals:
            self.shortest[function], self.shortest[self.diagrams.negation(function)] = dual, dual.negated

    def shortest_tree(self) -> FormulaTree:
        """Keep for every function the shortest of: the known expression, its gate written out, and its case split."""
        for level, node in enumerate(self.order):
            self._learn(self.diagrams.negation(self.diagrams.variable(level)), _literal(node).negated)
        for node, table, a, b in self.gates:
            function = self.functions[node]
            self._learn(function, self._gate(table, self.shortest[self.functions[a]], self.shortest[self.functions[b]]))
            if len(self.diagrams.reached(function, MAX_SPLIT)) <= MAX_SPLIT:
                self._learn(function, self._split(function))
        whole = self.functions[self.node]
        if self.shortest[whole].true.n_literals > LONG:
            with suppress(TooManyNodesError):
                self._learn(whole, self._split(whole))
        return self.shortest[whole].true

    def _split(self, function: int) -> Dual:
        """Split a function into the two cases of its first variable, in the shortest form that they allow."""
        if function in CONSTANTS:
            return CONSTANTS[function]
        level, low, high = self.diagrams.split(function)
        for case in (low, high):
            if case not in self.shortest:
                self._learn(case, self._split(case))
        variable, if_zero, if_one = _literal(self.order[level]), self.shortest[low], self.shortest[high]
        if self.xor and high == self.diagrams.negation(low):
            return self._differ(variable, if_zero)
        if self.diagrams.implies(low, high):
            return _dual("|", _dual("&", variable, if_one), if_zero)
        if self.diagrams.implies(high, low):
            return _dual("|", _dual("&", variable.negated, if_zero), if_one)
        return _dual("|", _dual("&", variable, if_one), _dual("&", variable.negated, if_zero))


def _visit_order(network: Network, output: int) -> list[int]:
    """Return the inputs that a node depends on in depth-first order, which keeps inputs that are used together close."""
    order: list[int] = []
    seen: set[int] = set()
    stack = [output]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node < network.n_inputs:
            order.append(node)
        else:
            stack += reversed(network.read_sources[node - network.n_inputs])
    return order


def _literal(node: int) -> Dual:
    return Dual(input_tree(node), input_tree(node, False))


def _dual(operator: str, first: Dual, second: Dual) -> Dual:
    """Join two expressions by "&" or "|", and their negations by the other."""
    other = "|" if operator == "&" else "&"
    return Dual(_joined(operator, first.true, second.true), _joined(other, first.false, second.false))


def _joined(operator: str, first: FormulaTree, second: FormulaTree) -> FormulaTree:
    if operator != "^":
        neutral, absorbing = ("1", "0") if operator == "&" else ("0", "1")
        if first is second or second.operator == neutral or first.operator == absorbing:
            return first
        if first.operator == neutral or second.operator == absorbing:
            return second
    return joined(operator, (first, second))
