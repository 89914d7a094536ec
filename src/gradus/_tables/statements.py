"""The rules of a circuit's outputs in terms of a table's columns; long formulas in named steps."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._circuit.count_recognition import count_words, output_count
from gradus._circuit.formula_trees import FormulaTree, input_tree, joined
from gradus._circuit.formulas import MAX_LITERALS, forms
from gradus._circuit.network import cone_of, part_of
from gradus._circuit.weighted_counts import WeightedCount
from gradus._core.wording import counted, quoted_name
from gradus._formats.names import fresh_name
from gradus._tables.axes import Test
from gradus._tables.cell_counts import cell_count, cell_table
from gradus._tables.conditions import Condition, axes_of, in_words, input_conditions
from gradus._tables.encoding import TableEncoding
from gradus._tables.rewriting import Rewriter
from gradus._tables.smallest_sums import MOST_CELLS, smallest_sum
from gradus.errors import FormatError

__all__ = ["Piece", "Statement", "alternatives", "node_tokens", "statements"]

Flags: TypeAlias = npt.NDArray[np.bool_]
Piece: TypeAlias = str | Test
"""A piece of a formula: an operator, a bracket or a constant as text, or a comparison."""

LONG = 16
"""Conditions of a formula that is still read in one piece."""
MOST_COUNTED, MOST_WORK = 1 << 16, 1 << 22
"""Combinations of cells among which a count is looked for, and gates times combinations."""
STEP = 12
"""Conditions of a step, from which on it gets a name."""
ROOM_FOR_COUNT = 24
"""Characters of " … (99 more conditions)"."""
MOST_SIMPLIFIED = 300
"""Literals of a nested formula in which conditions are left out that follow from others; this bounds its depth."""
MOST_SHARED, MOST_STEPS, LEAST_SAVED = 16, 4, 2
"""Gates tried as a step that rules share, steps found in this way, and the fewest conditions that each saves."""
LEAST_STEP = 3
"""Conditions of something used twice that gets a name."""
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*+"')
"""A name that is quoted already."""


@dataclass(frozen=True)
class Statement:
    """A formula and the name of what it computes."""

    name: str
    """What is stated, or the name of a signal."""
    node: int
    is_signal: bool
    """Whether it is a step on the way and not an output."""
    tokens: tuple[Piece, ...]
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
        return _n_conditions(self.tokens)

    def cut(self, most: int) -> str:
        """Return the formula in at most this many characters: its beginning, and how many conditions are left."""
        if len(self.text) <= most:
            return self.text
        if self.n_conditions == 1:
            return f"{self.text[: most - 2].rstrip(' ,')} …"
        kept, shown = "", 0
        for token, piece in zip(self.tokens, self.pieces, strict=True):
            if len(kept) + len(piece) > most - ROOM_FOR_COUNT:
                break
            kept, shown = kept + piece, shown + (not isinstance(token, str))
        return f"{kept.rstrip(' &|^(')} … ({counted(self.n_conditions - shown, 'more condition')})"


def statements(network: Network, features: TableEncoding, names: Sequence[str]) -> list[Statement]:
    """Return the rule of every output, and then the steps, each before those that use it."""
    # Steps get names of their own, unless an output states the same.
    conditions = input_conditions(features)
    outputs = network.outputs.tolist()
    whole: dict[int, list[Piece]] = {}  # outputs whose formula over the inputs can be read in one piece
    for node in set(outputs):
        with contextlib.suppress(FormatError):
            tokens = node_tokens(network, node, (), conditions)
            if _n_conditions(tokens) <= LONG or _is_count(tokens):
                whole[node] = tokens
    signals = _shared(network, _signals(network, set(outputs) - whole.keys()), whole, conditions)
    taken = {column.name for column in features.columns} | set(names)
    reads = _columns_read(network, features)
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
        conditions[node] = Condition(None, name=name if QUOTED.fullmatch(name) else quoted_name(name), plain=name)
        found.append(_statement(name, node, node not in stated, tokens, reads))
    for name, node in zip(names, outputs, strict=True):
        if node in signals and stated.get(node) == name:
            continue
        tokens = whole.get(node) or node_tokens(network, node, signals, conditions)
        found.append(_statement(name, node, False, tokens, reads))
    # Outputs first; one that is named in others comes before them.
    return sorted(_read_at_all(found), key=lambda said: said.is_signal)


def _read_at_all(found: Sequence[Statement]) -> list[Statement]:
    """Leave out steps that no output needs in the end."""
    kept: list[Statement] = []
    used: set[int] = set()
    for said in reversed(found):
        if not said.is_signal or said.node in used:
            kept.append(said)
            used.update(node for piece in said.tokens if not isinstance(piece, str) for node in piece.nodes)
    return kept[::-1]


def _shared(
    network: Network, signals: list[int], whole: dict[int, list[Piece]], conditions: Mapping[int, Condition]
) -> list[int]:
    """Add what outputs share to the steps as long as the rules together get shorter; outputs that use steps lose `whole`."""
    outputs = set(network.outputs.tolist())
    if len(outputs) < 2:
        return signals
    # What most outputs depend on is tried first.
    cones = [set(cone_gates(network, [node])) for node in sorted(outputs)]
    readers = Counter(gate for cone in cones for gate in cone if gate not in signals)
    gates = sorted(sorted(readers, key=lambda gate: (-readers[gate], gate))[:MOST_SHARED])
    known = {**conditions, **{gate: Condition(None, name="s1", plain="s1") for gate in (*gates, *signals)}}
    memo: dict[tuple[int, frozenset[int]], list[Piece]] = {}

    def pieces_of(node: int, cut: Collection[int]) -> list[Piece]:
        inside = frozenset(cut_inside(network, node, cut))
        if (node, inside) not in memo:
            memo[node, inside] = node_tokens(network, node, inside, known)
        return min([memo[node, inside], *([whole[node]] if node in whole else [])], key=_n_conditions)

    def total(cut: Collection[int]) -> tuple[int, set[int]]:
        """Return the conditions of all rules, and the steps that they use."""
        waiting, used, conditions_in_all = list(outputs), set(outputs), 0
        while waiting:
            pieces = pieces_of(waiting.pop(), cut)
            conditions_in_all += _n_conditions(pieces)
            read = {piece.nodes[0] for piece in pieces if not isinstance(piece, str) and piece.nodes[0] in cut}
            waiting += read - used
            used |= read
        return conditions_in_all, used

    chosen, (best, used) = set(signals), total(signals)
    for _ in range(MOST_STEPS):
        tried = [(*total(chosen | {gate}), gate) for gate in gates if gate not in chosen]
        least = min(tried, key=lambda one: (one[0], one[2]), default=None)
        if least is None or least[0] > best - LEAST_SAVED:
            break
        best, used = least[:2]
        chosen.add(least[2])
    for node in [node for node in whole if pieces_of(node, chosen) is not whole[node]]:
        del whole[node]
    return sorted(chosen & (used | set(signals)))


def cone_gates(network: Network, outputs: Collection[int]) -> list[int]:
    """Return the gates that some outputs depend on."""
    return sorted(set().union(*(cone_of(network, node, ())[0] for node in outputs)))


def cut_inside(network: Network, node: int, cut: Collection[int]) -> list[int]:
    """Return the nodes of a cut at which the formula of a node ends."""
    return [leaf for leaf in cone_of(network, node, set(cut) - {node})[1] if leaf in cut]


def _statement(name: str, node: int, is_signal: bool, tokens: Sequence[Piece], reads: npt.NDArray[np.object_]) -> Statement:
    pieces = tuple(in_words([token]) for token in tokens)
    return Statement(name, node, is_signal, tuple(tokens), tuple(filter(None, reads[node])), pieces)


def node_tokens(network: Network, node: int, cut: Collection[int], conditions: Mapping[int, Condition]) -> list[Piece]:
    """Return the shortest formula of a node in pieces, over inputs and the nodes at which it is cut."""
    part, leaves = part_of(network, node, cut)
    rewriter = Rewriter(axes_of(leaves, conditions))
    ways, _, _ = forms(part, 0)
    if any(way.tree.has_xor for way in ways) and any(len(axis.cells) > 2 for axis in rewriter.axes):
        # Without ^, conditions that follow from others of the same column can be left out.
        ways += forms(part, 0, xor=False)[0]
    found: list[list[Piece]] = []
    for way in ways:
        if way.tree.n_literals <= (MAX_LITERALS if way.is_sum else MOST_SIMPLIFIED):
            found.append(rewriter.tokens(rewriter.simplified(rewriter.of(way.tree, leaves))))
        elif way.tree.n_literals <= MAX_LITERALS:
            found.append(rewriter.tokens(rewriter.of(way.tree, leaves)))
    if not found:
        raise FormatError(f"the formula of node {node} would have more than {MAX_LITERALS} conditions.")
    count = output_count(part, 0)
    found += [_count_pieces(count, leaves, rewriter)] if count is not None else []
    longest = min(len(in_words(pieces)) for pieces in found)
    table = cell_table(part, leaves, rewriter.axes, min(MOST_COUNTED, MOST_WORK // max(part.n_gates, 1)))
    if table is not None:
        found += map(rewriter.tokens, _sums(table[..., 0], rewriter)) if table.size <= MOST_CELLS else []
        found += filter(None, [_count_of_cells(table[..., 0], leaves, rewriter)])
    texts = [(_n_conditions(pieces), len(in_words(pieces)), place) for place, pieces in enumerate(found)]
    return found[min(text for text in texts if text[1] <= longest)[2]]  # fewer conditions, but never a longer text


def _sums(table: Flags, rewriter: Rewriter) -> Iterator[FormulaTree]:
    """Write a function of few cells as a sum of products from scratch, and as the negation of one."""
    if table.all() or not table.any():
        return
    for wanted in (True, False):
        products = smallest_sum(table == wanted, rewriter.axes)
        if products is None:
            return
        terms = [joined("&", [rewriter.literal(axis, cells) for axis, cells in product.items()]) for product in products]
        tree = joined("|", terms)
        yield rewriter.simplified(tree if wanted else rewriter.negated(tree))


def _count_of_cells(table: Flags, leaves: Sequence[int], rewriter: Rewriter) -> list[Piece]:
    """Return a count in pieces, inside of what decides alone; empty if it is none."""
    found = cell_count(table, leaves, rewriter.axes)
    if found is None:
        return []
    pieces = _count_pieces(found.inner, leaves, rewriter)
    for axis, cells, value in reversed(found.outer):
        literal = rewriter.literal(axis, cells if value else rewriter.axes[axis].full ^ cells)
        pieces = [*rewriter.tokens(literal), " | " if value else " & ", "(", *pieces, ")"]
    return pieces


def _is_count(pieces: Sequence[Piece]) -> bool:
    """Return whether a formula is a list of conditions of which some number is true, and reads easily however long it is."""
    return any(isinstance(piece, str) and piece.endswith(": ") for piece in pieces)


def _count_pieces(count: WeightedCount, leaves: Sequence[int], rewriter: Rewriter) -> list[Piece]:
    """Return a count in pieces: "at least 2 of 4: a, !b, c, d"."""
    pieces: list[Piece] = [f"{count_words(count)}: "]
    for place, sign in zip(count.columns, count.weights, strict=True):
        pieces += [", "] if len(pieces) > 1 else []
        pieces += rewriter.tokens(rewriter.of(input_tree(place, sign > 0), leaves))
    return pieces


def alternatives(tokens: Sequence[Piece]) -> list[list[Piece]]:
    """Cut a formula at each "or" outside brackets."""
    lines: list[list[Piece]] = [[]]
    depth = 0
    for piece in tokens:
        if isinstance(piece, str):
            depth += (piece == "(") - (piece == ")")
        if piece == " | " and depth == 0:
            lines.append([])
        else:
            lines[-1].append(piece)
    return lines


def _n_conditions(tokens: Sequence[Piece]) -> int:
    return len(tokens) - list(map(type, tokens)).count(str)


def _signals(network: Network, outputs: Collection[int]) -> list[int]:
    """Choose the gates that get names: what is used again, and the steps of what would be long without."""
    inside = sorted(set().union(*(cone_of(network, node, ())[0] for node in outputs)))
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


def _columns_read(network: Network, features: TableEncoding) -> npt.NDArray[np.object_]:
    """Return, for each node, the names of the columns that it depends on, and empty texts for the others."""
    columns = np.array(features.input_columns, dtype=np.int64)
    reads = np.zeros((network.n_inputs + network.n_gates, len(features.columns)), dtype=np.bool_)
    reads[np.arange(network.n_inputs), columns] = True
    for gate, sources in enumerate(network.read_sources, start=network.n_inputs):
        reads[gate] = reads[list(sources)].any(axis=0)
    names = np.array([column.name for column in features.columns], dtype=object)
    return np.where(reads, names, "")
