"""Known parts of a circuit, found by what they compute: counts, adders, multiplexers and majorities of three nodes.

The function of a gate over every set of at most three nodes that it can be computed from is followed through the circuit (its
cuts, as in logic synthesis), so that a part is found however it is built. Sums of several nodes are regrouped so that parts
show: (a ^ b) ^ c is a ^ (b ^ c), and b ^ c may be needed for a carry.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from gradus._circuit.count_recognition import count_of, count_words

__all__ = ["Box", "BoxedCircuit", "Logic", "boxed", "boxes_in"]

Logic = Mapping[int, tuple[int, int, int]]
"""The function and the two sources of each gate, by node; whatever else is read is an input."""
Cut = tuple[int, ...]
MOST_CUTS = 80  # of a gate; further ones are not followed
LEAVES = 3
XOR, XNOR = 6, 9
MOST_TERMS = 8
FEWEST_COUNTED = 5
"""Gates of a count, from which on it is a box."""
MOST_GATES = 150
"""Larger circuits are not looked through."""


class Box(NamedTuple):
    """A part of a circuit that is drawn as one box."""

    kind: str
    """One of "FA" and "HA" (full and half adder), "MAJ", "MUX" and "XOR", or in words what a count is: "at least 5 of 9"."""
    pins: tuple[tuple[int, bool], ...]
    """The nodes that it reads, and whether they are complemented; of a MUX the selector, then what 1 and what 0 selects."""
    outs: tuple[tuple[int, bool], ...]
    """The nodes that it computes, and whether they are complements; of an adder the sum, then the carry."""
    inside: frozenset[int]
    """The gates that it replaces."""


class BoxedCircuit(NamedTuple):
    """A circuit of the same function and size, and the parts in it."""

    logic: Logic
    boxes: list[Box]


class _Sum(NamedTuple):
    """An exclusive or of several terms, made by gates that nothing else uses."""

    root: int
    gates: tuple[int, ...]
    """The root is the last."""
    terms: tuple[int, ...]
    inverted: bool


Function = Callable[[list[int]], int]
Form = tuple[tuple[int, ...], tuple[bool, ...], tuple[bool, ...]]
"""Which leaf is at each pin, which pins are complemented, and which outputs."""


def _forms(functions: tuple[Function, ...], n: int, orders: list[tuple[int, ...]]) -> dict[tuple[int, ...], Form]:
    """Return, for the tables of the outputs of a part over sorted leaves, how the leaves are wired with the fewest bubbles."""
    wiring_of: dict[tuple[int, ...], Form] = {}
    choices = [*itertools.product((False, True), repeat=n + len(functions))]
    # Bit i of a table belongs to the values of the leaves that are the binary digits of i.
    rows = [[index >> place & 1 for place in range(n)] for index in range(2**n)]
    for flips in sorted(choices, key=lambda signs: (sum(signs), signs)):
        for order in orders:
            wired = [[row[leaf] ^ flip for leaf, flip in zip(order, flips, strict=False)] for row in rows]
            tables = tuple(
                sum((function(values) ^ inverted) << index for index, values in enumerate(wired))
                for function, inverted in zip(functions, flips[n:], strict=True)
            )
            wiring_of.setdefault(tables, (order, flips[:n], flips[n:]))
    return wiring_of


@cache
def _parts() -> dict[str, dict[tuple[int, ...], Form]]:
    """Return the forms of every part, best first where two would cover equally many gates."""

    def is_odd(row: list[int]) -> int:
        return sum(row) & 1

    def carry(row: list[int]) -> int:
        return int(sum(row) >= 2)

    def selected(row: list[int]) -> int:
        return row[1] if row[0] else row[2]

    return {
        "FA": _forms((is_odd, carry), 3, [(0, 1, 2)]),
        "MAJ": _forms((carry,), 3, [(0, 1, 2)]),
        "MUX": _forms((selected,), 3, [*itertools.permutations(range(3))]),
        "XOR": _forms((is_odd,), 3, [(0, 1, 2)]),
        "HA": _forms((is_odd, carry), 2, [(0, 1)]),
    }


def boxed(logic: Logic, outputs: frozenset[int]) -> BoxedCircuit | None:
    """Find the known parts of a circuit; None where they do not cover most of it, so that boxes would not help a reader."""
    # Sums of more than two terms are added up in the order that shows the most. The number of gates stays.
    if len(logic) > MOST_GATES:
        return None
    counts = _count_boxes(logic, outputs)
    counted = {node for box in counts for node in box.inside}
    rest: Logic = {node: gate for node, gate in logic.items() if node not in counted}
    best = boxes_in(rest, outputs)
    improved = True
    while improved:
        improved = False
        for total in _sums(rest, outputs):
            for first in itertools.combinations(total.terms, 2):
                other = {**rest, **_added_up(total, first)}
                boxes = boxes_in(other, outputs)
                if _covered(boxes) > _covered(best):
                    rest, best, improved = other, boxes, True
    inside = sum(len(box.inside) for box in [*counts, *best])
    helps = (counts or len(best) > 1) and 3 * inside >= 2 * len(logic)
    return BoxedCircuit({**logic, **rest}, [*counts, *best]) if helps else None


def _count_boxes(logic: Logic, outputs: frozenset[int]) -> list[Box]:
    """Return the outputs that are counts and share no gate with anything else."""
    readers = _readers(logic)
    leaves = tuple({source for _, *sources in logic.values() for source in sources if source not in logic})
    boxes = []
    for root in sorted(outputs & logic.keys()):
        count = count_of(logic, root)
        if count is not None:
            pins = tuple((column, sign < 0) for column, sign in zip(count.columns, count.weights, strict=True))
            box = Box(count_words(count), pins, ((root, False),), _inner_gates(logic, (root,), leaves))
            if len(box.inside) >= FEWEST_COUNTED and _is_closed(box, readers, outputs):
                boxes.append(box)
    return boxes


def _readers(logic: Logic) -> dict[int, set[int]]:
    """Return the gates that read each node."""
    readers: dict[int, set[int]] = {}
    for node, (_, *sources) in logic.items():
        for source in sources:
            readers.setdefault(source, set()).add(node)
    return readers


def boxes_in(logic: Logic, outputs: frozenset[int]) -> list[Box]:
    """Return parts of a circuit that do not overlap: large ones first, and of a part only its outputs are used elsewhere."""
    # Half adders and sums of three without a carry only mean something beside a full adder.
    readers = _readers(logic)
    rank = {kind: place for place, kind in enumerate(_parts())}
    candidates = [box for box in _candidates(logic) if _is_closed(box, readers, outputs)]
    candidates.sort(key=lambda box: (-len(box.inside), rank[box.kind], box.outs, box.pins))
    taken: set[int] = set()
    chosen: list[Box] = []
    for box in candidates:
        beside = box.kind not in ("HA", "XOR") or any(other.kind == "FA" for other in chosen)
        if beside and taken.isdisjoint(box.inside):
            taken |= box.inside
            chosen.append(box)
    return chosen


def _covered(boxes: list[Box]) -> int:
    """Return how many gates boxes replace, less the boxes themselves."""
    return sum(len(box.inside) - 1 for box in boxes)


def _inner_gates(logic: Logic, outs: tuple[int, ...], leaves: Cut) -> frozenset[int]:
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
        for kind, forms in _parts().items():
            for wanted, (order, flips, inverted) in forms.items():
                if len(order) != len(leaves) or any(table not in tables for table in wanted):
                    continue
                for nodes in itertools.product(*(tables[table] for table in wanted)):
                    inside = _inner_gates(logic, nodes, leaves)
                    # A leaf may lie behind another one only; then the part would read what nothing in it reads.
                    read = {source for node in inside for source in logic[node][1:]} - inside
                    if len(inside) > 1 and read == set(leaves):
                        pins = tuple((leaves[k], flip) for k, flip in zip(order, flips, strict=True))
                        yield Box(kind, pins, tuple(zip(nodes, inverted, strict=True)), inside)


def _cuts(logic: Logic) -> dict[int, dict[Cut, int]]:
    """Return, for each gate, the sets of at most three nodes that it is a function of, with the table of the function."""
    cuts: dict[int, dict[Cut, int]] = {}
    for node in _in_order(logic):
        function, a, b = logic[node]
        mine: dict[Cut, int] = {(node,): 0b10}
        for (left, f), (right, g) in itertools.product(*(cuts.get(source, {(source,): 0b10}).items() for source in (a, b))):
            leaves = tuple(sorted({*left, *right}))
            if len(leaves) <= LEAVES and leaves not in mine and len(mine) <= MOST_CUTS:
                mine[leaves] = _combined(function, (left, f), (right, g), leaves)
        cuts[node] = mine
    return cuts


def _in_order(logic: Logic) -> list[int]:
    """Return the gates such that sources come before their readers; the numbers of nodes may be in another order."""
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
            cut_table >> sum((index >> leaves.index(leaf) & 1) << place for place, leaf in enumerate(cut)) & 1
            for cut, cut_table in (left, right)
        )
        table |= (function >> (2 * a + b) & 1) << index
    return table


def _sums(logic: Logic, outputs: frozenset[int]) -> list[_Sum]:
    """Return the sums of three terms or more."""
    readers: dict[int, int] = {}
    for _, *sources in logic.values():
        for source in sources:
            readers[source] = readers.get(source, 0) + 1

    def adds(node: int) -> bool:
        return node in logic and logic[node][0] in (XOR, XNOR) and logic[node][1] != logic[node][2]

    def is_inner(node: int) -> bool:
        return adds(node) and readers.get(node, 0) == 1 and node not in outputs

    used = {source for node in logic if adds(node) for source in logic[node][1:] if is_inner(source)}
    sums = []
    for root in sorted(node for node in logic if adds(node) and node not in used):
        gates: list[int] = []
        terms: list[int] = []
        stack = [root]
        while stack:
            node = stack.pop()
            gates.append(node)
            for source in logic[node][1:]:
                (stack if is_inner(source) else terms).append(source)
        inverted = sum(logic[node][0] == XNOR for node in gates) % 2 == 1
        if 3 <= len(terms) <= MOST_TERMS and len(set(terms)) == len(terms):
            sums.append(_Sum(root, tuple(sorted(gates, key=lambda gate: gate == root)), tuple(sorted(terms)), inverted))
    return sums


def _added_up(total: _Sum, first: tuple[int, ...]) -> dict[int, tuple[int, int, int]]:
    """Return the gates of a sum that adds two of its terms before the others."""
    last, *others = [*first, *(term for term in total.terms if term not in first)]
    gates = {}
    for gate, term in zip(total.gates, others, strict=True):
        gates[gate] = (XNOR if gate == total.root and total.inverted else XOR, last, term)
        last = gate
    return gates
