"""Factored Boolean expressions of functions that have too many variables for a sum of products."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._logic.decision_diagrams import ONE, ZERO, Diagrams, TooManyNodesError
from gradus._network import Network

__all__ = ["Expression", "Factored", "factored", "render"]

# Beyond this many inputs the diagrams are not tried: they would hardly end, and their recursion is as deep as this.
MAX_LEVELS = 200
# Splitting on variables one by one gives short expressions for small diagrams only, so every gate with one is tried;
# an output whose expression is still longer than this is tried whatever its size.
MAX_SPLIT = 100
LONG = 2000


class Expression(NamedTuple):
    """A tree of ANDs and ORs over literals; subtrees may be shared, so it can be far larger written out than held.

    Attributes
    ----------
    operator : str
        "&" or "|"; "0" or "1" for a constant; "" or "!" for an input as it is or negated.
    parts : tuple of Expression
        What "&" and "|" join: two of them.
    n_literals : int
        How many literals it has when it is written out.
    position : int
        The input of a literal.
    """

    operator: str
    parts: tuple[Expression, ...]
    n_literals: int
    position: int = -1


class Dual(NamedTuple):
    """An expression and its negation, grown together so that neither ever has to be unfolded to make the other."""

    true: Expression
    false: Expression

    @property
    def negated(self) -> Dual:
        """The two exchanged."""
        return Dual(self.false, self.true)


class Factored(NamedTuple):
    """What `factored` found: an expression, the inputs it depends on, and whether each is proven to matter."""

    expression: Expression
    support: tuple[int, ...]
    support_proven: bool


_FALSE, _TRUE = Expression("0", (), 0), Expression("1", (), 0)
CONSTANTS = {ZERO: Dual(_FALSE, _TRUE), ONE: Dual(_TRUE, _FALSE)}


def factored(network: Network, output: int) -> Factored:
    """Express one output with AND, OR and NOT, as short as the circuit's own structure and case splits give it.

    Parameters
    ----------
    network : Network
    output : int
        Position of the output.

    Returns
    -------
    Factored

    Examples
    --------
    >>> xor = Network(2, [[0, 1], [0, 2], [1, 2], [3, 4]], [5])
    >>> print(render(factored(xor, 0).expression, xor.input_names))
    x0 & !x1 | !x0 & x1
    """
    cone = network.cone([output])
    node = int(network.outputs[output])
    order = _visit_order(network, node)
    try:
        if len(order) > MAX_LEVELS:
            raise TooManyNodesError
        diagrams = Diagrams()
        functions = _functions(network, cone, order, diagrams)
        support = tuple(sorted(order[level] for level in diagrams.support(functions[node])))
        return Factored(_shortest(network, cone, node, order, diagrams, functions), support, True)
    except TooManyNodesError:
        return Factored(_unfolded(network, cone, node).true, tuple(sorted(order)), False)


def _visit_order(network: Network, output: int) -> list[int]:
    """Return the inputs below a node as a walk from it meets them, which puts together what is used together."""
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
            stack += reversed(network.sources[node - network.n_inputs].tolist())
    return order


def _functions(network: Network, cone: npt.NDArray[np.bool_], order: list[int], diagrams: Diagrams) -> dict[int, int]:
    """Return the function, a number of the diagrams, of every node in a cone."""
    functions = {node: diagrams.variable(level) for level, node in enumerate(order)}
    for node, (a, b) in enumerate(network.sources.tolist(), start=network.n_inputs):
        if cone[node]:
            functions[node] = diagrams.nand(functions[a], functions[b])
    return functions


def _unfolded(network: Network, cone: npt.NDArray[np.bool_], output: int) -> Dual:
    """Write the circuit out as it stands."""
    built = {node: _literal(node) for node in range(network.n_inputs)}
    for node, (a, b) in enumerate(network.sources.tolist(), start=network.n_inputs):
        if cone[node]:
            built[node] = built[a].negated if a == b else _either(built[a].negated, built[b].negated)
    return built[output]


def _shortest(
    network: Network, cone: npt.NDArray[np.bool_], output: int, order: list[int], diagrams: Diagrams, functions: dict[int, int]
) -> Expression:
    """Keep for every function met the shortest of: what is known of it, its gate written out, and its case split."""
    shortest = {**CONSTANTS, **{functions[node]: _literal(node) for node in order}}

    def learn(function: int, dual: Dual) -> None:
        known = shortest.get(function)
        if known is None or dual.true.n_literals < known.true.n_literals:
            shortest[function], shortest[diagrams.negation(function)] = dual, dual.negated

    for level in range(len(order)):
        learn(diagrams.negation(diagrams.variable(level)), _literal(order[level]).negated)
    for node, (a, b) in enumerate(network.sources.tolist(), start=network.n_inputs):
        if cone[node]:
            function = functions[node]
            first, second = shortest[functions[a]].negated, shortest[functions[b]].negated
            learn(function, _either(first, second))
            if diagrams.is_small(function, MAX_SPLIT):
                learn(function, _split(function, order, diagrams, shortest, learn))
    if shortest[functions[output]].true.n_literals > LONG:
        with suppress(TooManyNodesError):
            learn(functions[output], _split(functions[output], order, diagrams, shortest, learn))
    return shortest[functions[output]].true


def _split(
    function: int, order: list[int], diagrams: Diagrams, shortest: dict[int, Dual], learn: Callable[[int, Dual], None]
) -> Dual:
    """Tell the two cases of the first variable apart, in the shortest form that the two cases allow."""
    if function in CONSTANTS:
        return CONSTANTS[function]
    level, low, high = diagrams.split(function)
    for case in (low, high):
        if case not in shortest:
            learn(case, _split(case, order, diagrams, shortest, learn))
    variable, if_zero, if_one = _literal(order[level]), shortest[low], shortest[high]
    if diagrams.implies(low, high):
        return _either(_both(variable, if_one), if_zero)
    if diagrams.implies(high, low):
        return _either(_both(variable.negated, if_zero), if_one)
    return _either(_both(variable, if_one), _both(variable.negated, if_zero))


def _literal(node: int) -> Dual:
    return Dual(Expression("", (), 1, node), Expression("!", (), 1, node))


def _either(first: Dual, second: Dual) -> Dual:
    return Dual(_joined("|", first.true, second.true), _joined("&", first.false, second.false))


def _both(first: Dual, second: Dual) -> Dual:
    return Dual(_joined("&", first.true, second.true), _joined("|", first.false, second.false))


def _joined(operator: str, first: Expression, second: Expression) -> Expression:
    neutral, absorbing = ("1", "0") if operator == "&" else ("0", "1")
    if first is second or second.operator == neutral or first.operator == absorbing:
        return first
    if first.operator == neutral or second.operator == absorbing:
        return second
    return Expression(operator, (first, second), first.n_literals + second.n_literals)


def render(expression: Expression, names: tuple[str, ...]) -> str:
    """Write an expression out, with brackets only where an OR stands inside an AND.

    Parameters
    ----------
    expression : Expression
    names : tuple of str
        A name for each input, quoted already where it must be.

    Returns
    -------
    str
    """
    pieces: list[str] = []
    # A stack instead of recursion: circuits can be thousands of gates deep.
    stack: list[tuple[Expression, bool] | str] = [(expression, False)]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            pieces.append(item)
            continue
        (operator, parts, _, position), in_and = item
        if parts:
            bracketed = operator == "|" and in_and
            first, second = ((part, operator == "&") for part in parts)
            stack += [*[")"] * bracketed, second, f" {operator} ", first, *["("] * bracketed]
        else:
            pieces.append(operator if position < 0 else operator + names[position])
    return "".join(pieces)
