"""What each output of a circuit says about the columns of a table; long formulas in steps that have names."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from gradus._circuit import Network
from gradus._circuit.formulas import Formula, formulas, quoted_name
from gradus._core.wording import counted
from gradus._formats.names import fresh_name
from gradus._tables.conditions import Condition, Token, condition_tokens, in_words
from gradus._tables.encoding import TableEncoding
from gradus.errors import FormatError

__all__ = ["Statement", "node_formula", "node_tokens", "statements"]

LONG = 16
"""Conditions of a formula that is still read in one piece."""
STEP = 12
"""Conditions of a step, from which on it gets a name."""
ROOM_FOR_COUNT = 24
"""Characters of " … (99 more conditions)"."""
LEAST_STEP = 3
"""Conditions of something used twice that gets a name."""
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*+"')
"""A name that is quoted already."""


@dataclass(frozen=True)
class Statement:
    """A formula and what it is the formula of."""

    name: str
    """What is stated, or the name of a signal."""
    node: int
    is_signal: bool
    """Whether it is a step on the way and not an output."""
    tokens: tuple[Token, ...]
    columns: tuple[str, ...]
    """The columns that it reads, also through signals."""
    pieces: tuple[str, ...]
    """The formula in pieces of text."""

    @property
    def text(self) -> str:
        """The formula: ``!`` is not, ``&`` and, ``|`` or, ``^`` exclusive or, ``0`` never, ``1`` always."""
        return "".join(self.pieces)

    @property
    def n_conditions(self) -> int:
        """How many conditions the formula has."""
        return sum(not isinstance(token, str) for token in self.tokens)

    def cut(self, most: int) -> str:
        """Return the formula in at most so many characters: its beginning, and how many conditions are left."""
        if len(self.text) <= most:
            return self.text
        kept, shown = "", 0
        for token, piece in zip(self.tokens, self.pieces, strict=True):
            if len(kept) + len(piece) > most - ROOM_FOR_COUNT:
                break
            kept, shown = kept + piece, shown + (not isinstance(token, str))
        return f"{kept.rstrip(' &|^(')} … ({counted(self.n_conditions - shown, 'more condition')})"


def statements(network: Network, features: TableEncoding, names: Sequence[str]) -> list[Statement]:
    """Return what every output says; what is used again comes before the statements that use it."""
    # Steps get names of their own, unless an output states the same.
    pairs = [(column, key) for column in features.columns for key in column.input_keys]
    conditions = {node: Condition(column, key) for node, (column, key) in enumerate(pairs)}
    outputs = network.outputs.tolist()
    whole = {node: _tokens(network, node, conditions) for node in dict.fromkeys(outputs)}
    long = [node for node, tokens in whole.items() if tokens is None]
    signals = _signals(network, long)
    taken = {column.name for column in features.columns} | set(names)
    used_by = _columns_read(network, features)
    found: list[Statement] = []
    # A gene's next value may have the name of the gene, and then cannot stand for a step.
    columns = {quoted_name(column.name) for column in features.columns}
    stated = {node: name for name, node in reversed(list(zip(names, outputs, strict=True))) if name not in columns}
    n_steps = 0
    for node in signals:
        tokens = whole.get(node) or node_tokens(network, node, signals, conditions)
        name = stated.get(node)
        if name is None:
            n_steps += 1
            name = fresh_name(f"s{n_steps}", taken.__contains__)
            taken.add(name)
        conditions[node] = Condition(None, name=name if QUOTED.fullmatch(name) else quoted_name(name))
        found.append(_statement(name, node, node not in stated, tokens, conditions, used_by))
    for name, node in zip(names, outputs, strict=True):
        if node in signals and stated.get(node) == name:
            continue
        tokens = whole[node] or node_tokens(network, node, signals, conditions)
        found.append(_statement(name, node, False, tokens, conditions, used_by))
    return found


def _statement(
    name: str,
    node: int,
    is_signal: bool,
    tokens: Sequence[Token],
    conditions: Mapping[int, Condition],
    columns: Mapping[int, tuple[str, ...]],
) -> Statement:
    pieces = tuple(in_words([token], conditions) for token in tokens)
    return Statement(name, node, is_signal, tuple(tokens), columns[node], pieces)


def node_tokens(network: Network, node: int, cut: Collection[int], conditions: Mapping[int, Condition]) -> list[Token]:
    """Return the formula of a node in pieces, over inputs and the nodes at which it is cut."""
    formula = node_formula(network, node, cut)
    tokens = condition_tokens(formula, conditions)
    if "^" in formula.text and not all(one.column is None or one.column.kind == "bit" for one in conditions.values()):
        # Without ^, conditions that follow from others of the same column can be left out.
        plain = condition_tokens(node_formula(network, node, cut, xor=False), conditions)
        tokens = min(tokens, plain, key=lambda some: len(in_words(some, conditions)))
    return tokens


def _tokens(network: Network, node: int, conditions: Mapping[int, Condition]) -> list[Token] | None:
    """Return the formula of a node over the inputs, or None if it is too long to be read in one piece."""
    try:
        tokens = node_tokens(network, node, (), conditions)
    except FormatError:
        return None
    return tokens if sum(not isinstance(token, str) for token in tokens) <= LONG else None


def node_formula(network: Network, node: int, cut: Collection[int], *, xor: bool = True) -> Formula:
    """Return the formula of a node over names v0, v1 and so on, the numbers of inputs and of the nodes of the cut."""
    gates, leaves = _cone(network, node, set(cut) - {node})
    new = {leaf: place for place, leaf in enumerate(leaves)}
    sources = []
    for gate in gates:
        read = [new[source] for source in network.read_sources[gate - network.n_inputs]] or [0]
        new[gate] = len(new)
        sources.append((read[0], read[-1]))
    functions = [int(network.functions[gate - network.n_inputs]) for gate in gates]
    names = [f"v{leaf}" for leaf in leaves]
    part = Network(len(leaves), sources, [new[node]], functions, input_names=names)
    return next(iter(formulas(part.prune(), xor=xor).values()))


def _cone(network: Network, node: int, cut: Collection[int]) -> tuple[list[int], list[int]]:
    """Return the gates that a node depends on up to the cut, and the inputs and cut nodes that these read."""
    gates: set[int] = set()
    leaves: set[int] = set()
    stack = [node]
    while stack:
        at = stack.pop()
        if at in gates or at in leaves:
            continue
        if at < network.n_inputs or at in cut:
            leaves.add(at)
        else:
            gates.add(at)
            stack += network.read_sources[at - network.n_inputs]
    return sorted(gates), sorted(leaves) or [0]  # a network has at least one input, even for a constant


def _signals(network: Network, outputs: Sequence[int]) -> list[int]:
    """Choose the gates that get names: what is used again, and the steps of what would be long without."""
    inside = sorted({gate for node in outputs for gate in _cone(network, node, ())[0]})
    readers = dict.fromkeys(inside, 0)
    for gate in inside:
        for source in network.read_sources[gate - network.n_inputs]:
            readers[source] = readers.get(source, 0) + 1
    # An output is used once more: it has a statement of its own, which others can name.
    for node in {*network.outputs.tolist()} & readers.keys():
        readers[node] += readers[node] > 0
    chosen: list[int] = []
    length: dict[int, int] = {}
    for gate in inside:
        total = sum(length.get(source, 1) for source in network.read_sources[gate - network.n_inputs])
        if readers[gate] and (total > STEP or (total >= LEAST_STEP and readers[gate] > 1)):
            chosen.append(gate)
            total = 1
        length[gate] = total
    return chosen


def _columns_read(network: Network, features: TableEncoding) -> dict[int, tuple[str, ...]]:
    """Return, for each node, the columns that it depends on, in the order of the table."""
    masks = [1 << column for column in features.input_columns]
    for read in network.read_sources:
        mask = 0
        for source in read:
            mask |= masks[source]
        masks.append(mask)
    names = [column.name for column in features.columns]
    return {node: tuple(name for j, name in enumerate(names) if mask >> j & 1) for node, mask in enumerate(masks)}
