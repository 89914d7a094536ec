"""Known parts of a circuit, found by what they compute: adders, multiplexers and majorities of three nodes.

The function of a gate over every set of at most three nodes that it can be computed from is followed through the circuit (its
cuts, as in logic synthesis), so that a part is found however it is built.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

__all__ = ["Box", "Logic", "boxes_in", "covered", "inner_gates"]

Logic = Mapping[int, tuple[int, int, int]]
"""The function and the two sources of each gate, by node; whatever else is read is an input."""
Cut = tuple[int, ...]
MOST_CUTS = 80  # of a gate; further ones are not followed
LEAVES = 3


class Box(NamedTuple):
    """A part of a circuit that is drawn as one box."""

    kind: str
    """One of "FA" and "HA" (full and half adder), "MAJ", "MUX" and "XOR"."""
    pins: tuple[tuple[int, bool], ...]
    """The nodes that it reads, and whether they are complemented; of a MUX the selector, then what 1 and what 0 selects."""
    outs: tuple[tuple[int, bool], ...]
    """The nodes that it computes, and whether they are complements; of an adder the sum, then the carry."""
    inside: frozenset[int]
    """The gates that it stands for."""


Function = Callable[[list[int]], int]
Form = tuple[tuple[int, ...], tuple[bool, ...], tuple[bool, ...]]
"""Which leaf is at each pin, which pins are complemented, and which outputs."""


def _forms(functions: tuple[Function, ...], n: int, orders: list[tuple[int, ...]]) -> dict[tuple[int, ...], Form]:
    """Return, for the tables of the outputs of a part over sorted leaves, how the leaves are wired with the fewest bubbles."""
    found: dict[tuple[int, ...], Form] = {}
    signs = [*itertools.product((False, True), repeat=n + len(functions))]
    # Bit i of a table belongs to the values of the leaves that are the binary digits of i.
    rows = [[index >> place & 1 for place in range(n)] for index in range(2**n)]
    for flips in sorted(signs, key=lambda some: (sum(some), some)):
        for order in orders:
            wired = [[row[leaf] ^ flip for leaf, flip in zip(order, flips, strict=False)] for row in rows]
            tables = tuple(
                sum((function(values) ^ inverted) << index for index, values in enumerate(wired))
                for function, inverted in zip(functions, flips[n:], strict=True)
            )
            found.setdefault(tables, (order, flips[:n], flips[n:]))
    return found


def _sum(row: list[int]) -> int:
    return sum(row) & 1


def _carry(row: list[int]) -> int:
    return int(sum(row) >= 2)


def _selected(row: list[int]) -> int:
    return row[1] if row[0] else row[2]


FORMS = {
    "FA": _forms((_sum, _carry), 3, [(0, 1, 2)]),
    "MAJ": _forms((_carry,), 3, [(0, 1, 2)]),
    "MUX": _forms((_selected,), 3, [*itertools.permutations(range(3))]),
    "XOR": _forms((_sum,), 3, [(0, 1, 2)]),
    "HA": _forms((_sum, _carry), 2, [(0, 1)]),
}
"""The parts, best first where two would cover equally many gates."""


def boxes_in(logic: Logic, outputs: frozenset[int]) -> list[Box]:
    """Return parts of a circuit that do not overlap: large ones first, and of a part only its outputs are used elsewhere."""
    # Half adders and sums of three without a carry only mean something beside a full adder.
    readers: dict[int, set[int]] = {}
    for node, (_, *sources) in logic.items():
        for source in sources:
            readers.setdefault(source, set()).add(node)
    rank = {kind: place for place, kind in enumerate(FORMS)}
    found = [box for box in _candidates(logic) if _is_closed(box, readers, outputs)]
    found.sort(key=lambda box: (-len(box.inside), rank[box.kind], box.outs, box.pins))
    taken: set[int] = set()
    chosen: list[Box] = []
    for box in found:
        beside = box.kind not in ("HA", "XOR") or any(one.kind == "FA" for one in chosen)
        if beside and taken.isdisjoint(box.inside):
            taken |= box.inside
            chosen.append(box)
    return chosen


def covered(boxes: list[Box]) -> int:
    """Return how many gates boxes stand for, less the boxes themselves: what a drawing is spared."""
    return sum(len(box.inside) - 1 for box in boxes)


def inner_gates(logic: Logic, outs: tuple[int, ...], leaves: Cut) -> frozenset[int]:
    """Return the gates between the leaves and the nodes computed from them."""
    inside: set[int] = set()
    stack = [node for node in outs if node not in leaves]
    while stack:
        node = stack.pop()
        if node not in inside:
            inside.add(node)
            stack += [source for source in logic[node][1:] if source not in leaves]
    return frozenset(inside)


def _is_closed(box: Box, readers: Mapping[int, set[int]], outputs: frozenset[int]) -> bool:
    hidden = box.inside - {node for node, _ in box.outs}
    return not hidden & outputs and all(readers.get(node, set()) <= box.inside for node in hidden)


def _candidates(logic: Logic) -> Iterator[Box]:
    by_leaves: dict[Cut, dict[int, list[int]]] = {}
    for node, cuts in _cuts(logic).items():
        for leaves, table in cuts.items():
            if node not in leaves:
                by_leaves.setdefault(leaves, {}).setdefault(table, []).append(node)
    for leaves, tables in by_leaves.items():
        for kind, forms in FORMS.items():
            for wanted, (order, flips, inverted) in forms.items():
                if len(order) != len(leaves) or any(table not in tables for table in wanted):
                    continue
                for nodes in itertools.product(*(tables[table] for table in wanted)):
                    inside = inner_gates(logic, nodes, leaves)
                    # A leaf may lie behind another one only; then the part would read what nothing in it reads.
                    read = {source for node in inside for source in logic[node][1:]} - inside
                    if len(inside) > 1 and read == set(leaves):
                        pins = tuple((leaves[k], flip) for k, flip in zip(order, flips, strict=True))
                        yield Box(kind, pins, tuple(zip(nodes, inverted, strict=True)), inside)


def _cuts(logic: Logic) -> dict[int, dict[Cut, int]]:
    """Return, for each gate, the sets of at most three nodes that it is a function of, with the table of the function."""
    found: dict[int, dict[Cut, int]] = {}
    for node in _in_order(logic):
        function, a, b = logic[node]
        mine: dict[Cut, int] = {(node,): 0b10}
        for (left, f), (right, g) in itertools.product(*(found.get(source, {(source,): 0b10}).items() for source in (a, b))):
            leaves = tuple(sorted({*left, *right}))
            if len(leaves) <= LEAVES and leaves not in mine and len(mine) <= MOST_CUTS:
                mine[leaves] = _combined(function, (left, f), (right, g), leaves)
        found[node] = mine
    return found


def _in_order(logic: Logic) -> list[int]:
    """Return the gates such that sources come before their readers; the numbers of nodes need not say so."""
    done: dict[int, None] = {}
    for root in sorted(logic):
        stack = [root]
        while stack:
            waits = [source for source in logic[stack[-1]][1:] if source in logic and source not in done]
            if waits:
                stack += waits
            else:
                done[stack.pop()] = None
    return list(done)


def _combined(function: int, left: tuple[Cut, int], right: tuple[Cut, int], leaves: Cut) -> int:
    table = 0
    for index in range(2 ** len(leaves)):
        a, b = (
            some >> sum((index >> leaves.index(leaf) & 1) << place for place, leaf in enumerate(cut)) & 1
            for cut, some in (left, right)
        )
        table |= (function >> (2 * a + b) & 1) << index
    return table
