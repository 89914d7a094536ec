"""Counts in circuits, recognised by what a node computes, however it is built: "at least 5 of 9: a, !b, …"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradus._circuit.decision_diagrams import ONE, ZERO, DecisionDiagrams, TooManyNodesError
from gradus._circuit.network import Network, cone_of
from gradus._circuit.weighted_counts import WeightedCount
from gradus._core.gates import tie
from gradus._core.wording import quoted_name

__all__ = ["count_of", "count_words", "output_count", "output_counts"]

MOST_GATES, MOST_LEAVES = 1000, 64
"""Inputs of a node that is examined; more take too long."""
MOST_NODES = 20_000
FEWEST = 3
"""Columns of a count; functions of two have names of their own."""


def output_counts(network: Network) -> dict[str, str]:
    """Describe the outputs that are counts, by name: which count, and of which inputs."""
    said = {}
    for output, name in enumerate(network.output_names):
        count = output_count(network, output)
        if count is not None:
            literals = zip(count.columns, count.weights, strict=True)
            inputs = [f"{'' if sign > 0 else '!'}{quoted_name(network.input_names[column])}" for column, sign in literals]
            said[name] = f"{count_words(count)}: {', '.join(inputs)}"
    return said


def output_count(network: Network, output: int) -> WeightedCount | None:
    """Return the count of inputs that an output is; None if it is none, or too simple or too large to be looked at."""
    root = int(network.outputs[output])
    if root < network.n_inputs:
        return None
    gates: dict[int, tuple[int, int, int]] = {}
    for node in cone_of(network, root)[0]:
        read = network.read_sources[node - network.n_inputs] or [-1]
        a, b = network.sources[node - network.n_inputs].tolist() if len(read) == 2 else (read[0], read[0])
        gates[node] = int(network.functions[node - network.n_inputs]), a, b
    return count_of(gates, root)


def count_of(gates: Mapping[int, tuple[int, int, int]], root: int) -> WeightedCount | None:
    """Return the count of leaves that a node is; a gate is its function and two sources, whatever else is read is a leaf."""
    order = _in_order(gates, root)
    leaves = sorted({source for node in order for source in gates[node][1:] if source not in gates and source >= 0})
    if not FEWEST <= len(leaves) <= MOST_LEAVES or len(order) > MOST_GATES:
        return None
    diagrams = DecisionDiagrams(MOST_NODES)
    values = {-1: ZERO, **{leaf: diagrams.variable(level) for level, leaf in enumerate(leaves)}}
    try:
        for node in order:
            function, a, b = gates[node]
            values[node] = diagrams.gate(tie(function) if a == b else function, values[a], values[b])
    except TooManyNodesError:
        return None
    return _counted(diagrams, values[root], leaves)


def _in_order(gates: Mapping[int, tuple[int, int, int]], root: int) -> list[int]:
    """Return the gates that a node depends on, sources before their readers."""
    done: dict[int, None] = {}
    stack = [root]
    while stack:
        node = stack[-1]
        waits = [source for source in gates[node][1:] if source in gates and source not in done] if node in gates else []
        if waits:
            stack += waits
        else:
            done[stack.pop()] = None
    return [node for node in done if node in gates]


def _counted(diagrams: DecisionDiagrams, function: int, leaves: Sequence[int]) -> WeightedCount | None:
    """Go through the leaves one by one: what is left of a count depends on how many literals were true."""
    layer = [function]
    columns, signs = [], []
    for level in diagrams.support(function):
        halves = [_halves(diagrams, node, level) for node in layer]
        lows, highs = [low for low, _ in halves], [high for _, high in halves]
        if highs[:-1] == lows[1:]:
            layer, sign = [*lows, highs[-1]], 1
        elif lows[:-1] == highs[1:]:
            layer, sign = [*highs, lows[-1]], -1
        else:
            return None
        columns.append(leaves[level])
        signs.append(sign)
    table = [node == ONE for node in layer]
    if sum(signs) < 0:  # as few complements as possible
        signs, table = [-sign for sign in signs], table[::-1]
    count = WeightedCount(tuple(columns), tuple(signs), tuple(table))
    plain = count.n_changes == 1 and (table[0] != table[1] or table[-2] != table[-1])  # an AND or an OR
    return None if len(columns) < FEWEST or plain else count


def _halves(diagrams: DecisionDiagrams, function: int, level: int) -> tuple[int, int]:
    """Return what is left of a function, which depends on no variable before a level, if that one is 0, and if it is 1."""
    if function in (ZERO, ONE):
        return function, function
    first, low, high = diagrams.split(function)
    return (low, high) if first == level else (function, function)


def count_words(count: WeightedCount) -> str:
    """Describe when a count is true: "at least 5 of 9", "2 or at most 3 of 8", "parity of 4"."""
    size = len(count.columns)
    if count.is_parity:
        return f"{'even parity' if count.table[0] else 'parity'} of {size}"
    runs: list[list[int]] = []
    for number, value in enumerate(count.table):
        if value and runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        elif value:
            runs.append([number, number])
    return f"{' or '.join(_range_words(low, high, size) for low, high in runs)} of {size}"


def _range_words(low: int, high: int, size: int) -> str:
    if low == 0 and high:
        return f"at most {high}"
    if high == size and low < high:
        return f"at least {low}"
    return f"exactly {low}" if low == high else f"{low} to {high}"
