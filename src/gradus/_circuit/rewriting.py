"""Rewrites circuits into equivalent ones: without constants, buffers and inverters, or with NAND gates only."""

from __future__ import annotations

from typing import NamedTuple

from gradus._core.gates import NAND, NOT, ONE, SYMBOLS, ZERO, fix_a, fix_b, flip_a, flip_b, tie

__all__ = ["Wiring", "absorbed", "expanded"]

CONSTANT = -1


class Wiring(NamedTuple):
    """A circuit as plain lists: the function and the two sources of each gate, and the node of each output."""

    functions: list[int]
    sources: list[tuple[int, int]]
    outputs: list[int]


class _Literal(NamedTuple):
    """What an absorbed node is: another node or its complement, or a constant (node `CONSTANT`, inverted for 1)."""

    node: int
    inverted: bool = False


def absorbed(n_inputs: int, wiring: Wiring) -> Wiring:
    """Absorb constants, buffers and inverters into the gates that read them."""
    # What remains are gates that depend on two different nodes. Only outputs keep other gates: one for each constant that is
    # an output, and a NOT for the complement of an input or of a node that is itself an output. Gates that nothing reads any
    # more stay in the list.
    literals = [_Literal(node) for node in range(n_inputs)]
    gates: list[tuple[int, int, int]] = []
    for function, (a, b) in zip(wiring.functions, wiring.sources, strict=True):
        simpler, a, b = _simplified(function, literals[a], literals[b])
        kind, _, _, not_out = SYMBOLS[simpler]
        if kind in ("0", "a", "b"):
            literals.append(_Literal({"0": CONSTANT, "a": a, "b": b}[kind], not_out))
        else:
            literals.append(_Literal(n_inputs + len(gates)))
            gates.append((simpler, a, b))
    outputs = [literals[node] for node in wiring.outputs]
    gates, outputs = _without_inverted_outputs(n_inputs, gates, outputs)
    extra: dict[_Literal, int] = {}
    for literal in outputs:
        if literal not in extra and (literal.inverted or literal.node == CONSTANT):
            extra[literal] = n_inputs + len(gates)
            if literal.node == CONSTANT:
                gates.append((ONE if literal.inverted else ZERO, 0, 0))
            else:
                gates.append((NOT, literal.node, literal.node))
    return Wiring(
        [function for function, _, _ in gates],
        [(a, b) for _, a, b in gates],
        [extra.get(literal, literal.node) for literal in outputs],
    )


def _simplified(function: int, a: _Literal, b: _Literal) -> tuple[int, int, int]:
    """Return the function and sources of a gate on the nodes of two literals; fewer nodes if some are constant or equal."""
    if a.node == CONSTANT:
        # What remains is a function of b, in the place of the first source.
        function, a, b = fix_a(function, a.inverted), b, b
    elif b.node == CONSTANT:
        function, b = fix_b(function, b.inverted), a
    if a.node == CONSTANT:
        return (ONE if function >> 3 * a.inverted & 1 else ZERO), a.node, a.node
    function = flip_a(function) if a.inverted else function
    function = flip_b(function) if b.inverted else function
    return (tie(function) if a.node == b.node else function), a.node, b.node


def _without_inverted_outputs(
    n_inputs: int, gates: list[tuple[int, int, int]], outputs: list[_Literal]
) -> tuple[list[tuple[int, int, int]], list[_Literal]]:
    """Complement the gates of which only the complement is an output, and adapt the functions of their readers."""
    plain = {literal.node for literal in outputs if not literal.inverted}
    turned = {literal.node for literal in outputs if literal.inverted and literal.node >= n_inputs} - plain
    result = []
    for node, (function, a, b) in enumerate(gates, start=n_inputs):
        function = flip_a(function) if a in turned else function
        function = flip_b(function) if b in turned else function
        result.append((function ^ ONE if node in turned else function, a, b))
    return result, [_Literal(node, inverted and node not in turned) for node, inverted in outputs]


def expanded(n_inputs: int, wiring: Wiring) -> Wiring:
    """Rewrite every gate as NAND gates; equal NAND gates are made once, and double inverters are removed."""
    nands = _Nands(n_inputs)
    nodes = list(range(n_inputs))
    for function, (a, b) in zip(wiring.functions, wiring.sources, strict=True):
        nodes.append(nands.gate(function, nodes[a], nodes[b]))
    return Wiring([NAND] * len(nands.sources), nands.sources, [nodes[output] for output in wiring.outputs])


class _Nands:
    """Builds a list of distinct NAND gates."""

    def __init__(self, n_inputs: int) -> None:
        self.sources: list[tuple[int, int]] = []
        self._n_inputs = n_inputs
        self._known: dict[tuple[int, int], int] = {}

    def nand(self, a: int, b: int) -> int:
        if a > b:
            a, b = b, a
        if a == b and a >= self._n_inputs:
            inner, other = self.sources[a - self._n_inputs]
            if inner == other:
                return inner
        node = self._known.setdefault((a, b), self._n_inputs + len(self.sources))
        if node == self._n_inputs + len(self.sources):
            self.sources.append((a, b))
        return node

    def gate(self, function: int, a: int, b: int) -> int:
        kind, not_a, not_b, not_out = SYMBOLS[tie(function) if a == b else function]
        if kind == "xor":
            not_both = self.nand(a, b)
            return self._output(self.nand(self.nand(a, not_both), self.nand(b, not_both)), not_out)
        if kind == "and":
            return self._output(self.nand(self._output(a, not_a), self._output(b, not_b)), not not_out)
        if kind == "or":
            return self._output(self.nand(self._output(a, not not_a), self._output(b, not not_b)), not_out)
        if kind == "0":
            return self._output(self.nand(a, self.nand(a, a)), not not_out)
        return self._output(a if kind == "a" else b, not_out)

    def _output(self, node: int, inverted: bool) -> int:
        return self.nand(node, node) if inverted else node
