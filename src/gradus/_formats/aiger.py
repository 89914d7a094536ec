"""AIGER, ASCII (``.aag``) and binary (``.aig``): graphs of AND gates and complemented wires, written and read.

Other gates are expanded when written: an OR is a complemented AND, an XOR is three ANDs. Files with latches are not read.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gradus._circuit import Network
from gradus._circuit.gate_list import GateTable, Literal
from gradus._core.gates import AND, SYMBOLS, ZERO, tie
from gradus._formats.names import restore
from gradus._formats.netlist import built_network, dependency_order, interface_names
from gradus.errors import FormatError

__all__ = ["read_aiger", "write_aiger", "write_binary_aiger"]

# A symbol runs to the end of its line, so only blanks at the ends and what UTF-8 or a line cannot hold are not allowed.
_CHARACTERS = r"[^\x00-\x20\x7f-\xa0\u2028\u2029\ufeff\ud800-\udfff]+"
SYMBOL = re.compile(rf"{_CHARACTERS}(?: +{_CHARACTERS})*")
MOST_VARIABLES = 1 << 22
NUMBER = re.compile(rb"0|[1-9][0-9]{0,9}")
SYMBOL_LINE = re.compile(r"([io])(0|[1-9][0-9]{0,9}) (.*)")


def write_aiger(network: Network) -> str:
    r"""Return a network as ASCII AIGER, without the gates that no output depends on."""
    ands, outputs = _and_graph(network)
    return "\n".join(
        [
            _header_line("aag", network, ands),
            *(str(2 * (i + 1)) for i in range(network.n_inputs)),
            *map(str, outputs),
            *(f"{lhs} {high} {low}" for lhs, high, low in ands),
            _tail(network),
        ]
    )


def write_binary_aiger(network: Network) -> bytes:
    r"""Return a network as binary AIGER, the content of an ``.aig`` file; otherwise as `write_aiger`."""
    ands, outputs = _and_graph(network)
    head = "".join(f"{line}\n" for line in [_header_line("aig", network, ands), *outputs])
    body = b"".join(_delta(lhs - high) + _delta(high - low) for lhs, high, low in ands)
    return head.encode("ascii") + body + _tail(network).encode("utf-8")


def _header_line(magic: str, network: Network, ands: list[tuple[int, int, int]]) -> str:
    return f"{magic} {network.n_inputs + len(ands)} {network.n_inputs} 0 {network.n_outputs} {len(ands)}"


def _and_graph(network: Network) -> tuple[list[tuple[int, int, int]], list[int]]:
    """Return the AND gates, each with its literal and its two sources, the larger first, and the literals of the outputs."""
    pruned = network.prune(absorb=False)
    ands: list[tuple[int, int, int]] = []

    def both(a: int, b: int) -> int:
        ands.append((2 * (pruned.n_inputs + len(ands) + 1), max(a, b), min(a, b)))
        return ands[-1][0]

    literals = [2 * (i + 1) for i in range(pruned.n_inputs)]
    for function, (a, b) in zip(pruned.functions.tolist(), pruned.sources.tolist(), strict=True):
        kind, not_a, not_b, not_out = SYMBOLS[tie(function) if a == b else function]
        # A literal is complemented by its lowest bit.
        first, second = literals[a] ^ not_a, literals[b] ^ not_b
        if kind == "and":
            value = both(first, second)
        elif kind == "or":
            value = both(first ^ 1, second ^ 1) ^ 1
        elif kind == "xor":
            value = both(both(first, second) ^ 1, both(first ^ 1, second ^ 1) ^ 1)
        else:
            value = {"0": 0, "a": first, "b": second}[kind]
        literals.append(value ^ not_out)
    return ands, [literals[node] for node in pruned.outputs.tolist()]


def _delta(number: int) -> bytes:
    """Encode a difference in groups of seven bits, the lowest first, the top bit set on all but the last."""
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def _tail(network: Network) -> str:
    # The format would allow an input and an output of one name, but ABC refuses such files; so they get different names.
    inputs, outputs, map_lines = interface_names(network, SYMBOL)
    return "\n".join(
        [
            *(f"i{i} {name}" for i, name in enumerate(inputs)),
            *(f"o{k} {name}" for k, name in enumerate(outputs)),
            "c",
            "Boolean network written by Gradus",
            *map_lines,
            "",
        ]
    )


class _AigerHeader(NamedTuple):
    binary: bool
    n_variables: int
    n_inputs: int
    n_outputs: int
    n_ands: int


class _AigerBytes:
    """The bytes of a file, and how far they have been read."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.place, self.line = 0, 0

    def error(self, message: str, *, at_line: bool = True) -> FormatError:
        return FormatError(message, line=self.line if at_line else None)

    def next_line(self, what: str) -> bytes:
        self.line += 1
        if self.place >= len(self.data):
            raise self.error(f"the file ends where {what} should be.")
        end = self.data.find(b"\n", self.place)
        if end < 0:
            raise self.error(f"the file ends in the middle of {what}.")
        line = self.data[self.place : end]
        self.place = end + 1
        return line

    def numbers(self, what: str, count: int, largest: int) -> tuple[int, ...]:
        """Read one line of this many numbers."""
        words = self.next_line(what).split(b" ")
        if len(words) != count or not all(NUMBER.fullmatch(word) for word in words):
            raise self.error(f"{what} must be {count} whole number{'s' if count > 1 else ''}.")
        values = tuple(map(int, words))
        if max(values) > largest:
            raise self.error(f"{what} holds {max(values)}, but the largest literal is {largest}.")
        return values

    def delta(self) -> int:
        """Read a difference of the binary form: groups of seven bits, the lowest first."""
        value = shift = 0
        while True:
            if self.place >= len(self.data) or shift > 28:
                raise self.error("the gates are cut short or are not the binary form.", at_line=False)
            byte = self.data[self.place]
            self.place += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value


def read_aiger(data: bytes) -> Network:
    r"""Read the content of an AIGER file of either form, without latches."""
    # Inputs and outputs without a symbol are named ``x0, x1, …`` and ``z0, z1, …``; names that Gradus had to change when it
    # wrote the file are changed back.
    content = _AigerBytes(data)
    header = _read_header(content)
    largest = 2 * header.n_variables + 1
    if header.binary:
        inputs = tuple(range(2, 2 * header.n_inputs + 2, 2))
    else:
        inputs = tuple(content.numbers("an input", 1, largest)[0] for _ in range(header.n_inputs))
    outputs = tuple(content.numbers("an output", 1, largest)[0] for _ in range(header.n_outputs))
    ands = _binary_ands(content, header) if header.binary else _ascii_ands(content, header, inputs, outputs)
    input_names, output_names = _read_symbols(content, header)
    gates = GateTable(header.n_inputs)
    values: dict[int, Literal] = {literal // 2: (node, False) for node, literal in enumerate(inputs)}
    values[0] = gates.gate(ZERO, 0, 0), False

    def signed(literal: int) -> Literal:
        node, inverted = values[literal // 2]
        return node, inverted ^ bool(literal & 1)

    for gate, left, right in ands:
        values[gate // 2] = gates.of(AND, signed(left), signed(right))
    return built_network(gates, [signed(literal) for literal in outputs], input_names, output_names)


def _read_header(content: _AigerBytes) -> _AigerHeader:
    words = content.next_line("the header").split(b" ")
    if words[0] not in (b"aag", b"aig"):
        raise content.error("expected a header such as 'aag 3 2 0 1 1'.")
    if not 6 <= len(words) <= 10 or not all(NUMBER.fullmatch(word) for word in words[1:]):
        raise content.error("the header must hold the counts M I L O A.")
    variables, inputs, latches, outputs, ands, *others = map(int, words[1:])
    if latches or any(others):
        raise content.error("latches and properties are not read: only combinational circuits are.")
    if variables > MOST_VARIABLES or outputs > MOST_VARIABLES:
        raise content.error(f"{max(variables, outputs)} variables or outputs; at most {MOST_VARIABLES} are read.")
    binary = words[0] == b"aig"
    if inputs + ands > variables or (binary and inputs + ands != variables):
        raise content.error(f"{inputs} inputs and {ands} gates do not fit the {variables} variables.")
    return _AigerHeader(binary, variables, inputs, outputs, ands)


def _binary_ands(content: _AigerBytes, header: _AigerHeader) -> list[tuple[int, int, int]]:
    ands = []
    for variable in range(header.n_inputs + 1, header.n_variables + 1):
        gate = 2 * variable
        left = gate - content.delta()
        right = left - content.delta()
        if not 0 <= right <= left < gate:
            raise content.error(f"gate {gate} reads literals that are not below it.", at_line=False)
        ands.append((gate, left, right))
    return ands


def _ascii_ands(
    content: _AigerBytes, header: _AigerHeader, inputs: tuple[int, ...], outputs: tuple[int, ...]
) -> list[tuple[int, int, int]]:
    defined = {0: "the constant"}
    for literal in inputs:
        _define(content, defined, literal, "an input")
    gates: dict[int, tuple[int, int, int]] = {}
    for _ in range(header.n_ands):
        gate, left, right = content.numbers("a gate", 3, 2 * header.n_variables + 1)
        _define(content, defined, gate, "a gate")
        gates[gate // 2] = gate, left, right
    missing = [literal for literal in outputs if literal // 2 not in defined]
    if missing:
        raise content.error(f"output {missing[0]} is not defined.", at_line=False)
    order = dependency_order(
        gates,
        [variable for variable in defined if variable not in gates],
        {variable: (left // 2, right // 2) for variable, (_, left, right) in gates.items()},
        lambda variable, _: content.error(f"variable {variable} is read but not defined.", at_line=False),
        lambda variable: content.error(f"gate {2 * variable} depends on itself.", at_line=False),
    )
    return [gates[variable] for variable in order]


def _define(content: _AigerBytes, defined: dict[int, str], literal: int, what: str) -> None:
    if literal & 1:
        raise content.error(f"{what} is the complemented literal {literal}.")
    if literal // 2 in defined:
        raise content.error(f"literal {literal} is {defined[literal // 2]} already.")
    defined[literal // 2] = what


def _read_symbols(content: _AigerBytes, header: _AigerHeader) -> tuple[tuple[str, ...], tuple[str, ...]]:
    try:
        tail = content.data[content.place :].decode("utf-8")
    except UnicodeDecodeError as error:
        raise content.error("the symbols are not UTF-8 text.", at_line=False) from error
    names = {"i": [f"x{i}" for i in range(header.n_inputs)], "o": [f"z{k}" for k in range(header.n_outputs)]}
    named: set[str] = set()
    symbols, _, comments = ("\n" + tail).partition("\nc\n")
    for line in symbols.split("\n"):
        match = SYMBOL_LINE.fullmatch(line.rstrip("\r"))
        if not line or line == "c":
            continue
        if not match or int(match[2]) >= len(names[match[1]]) or match[1] + match[2] in named:
            raise content.error(f"{line[:40]!r} is not a symbol of an input or output.", at_line=False)
        named.add(match[1] + match[2])
        names[match[1]][int(match[2])] = match[3]
    try:
        return tuple(restore(names["i"], comments)), tuple(restore(names["o"], comments))
    except FormatError as error:
        raise content.error(error.message, at_line=False) from error
