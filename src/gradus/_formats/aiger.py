"""AIGER, ASCII (``.aag``) and binary (``.aig``): and-inverter graphs, where a NAND is a complemented AND."""

from __future__ import annotations

import re

from gradus._formats.netlist import interface_names
from gradus._network import Network

__all__ = ["dump_bytes", "dumps"]

# A symbol runs to the end of its line, so only blanks at the ends and what UTF-8 or a line cannot hold must go.
_CHARACTERS = r"[^\x00-\x20\x7f-\xa0\u2028\u2029\ufeff\ud800-\udfff]+"
SYMBOL = re.compile(rf"{_CHARACTERS}(?: +{_CHARACTERS})*")


def dumps(network: Network) -> str:
    r"""Return a network as ASCII AIGER; gates that no output depends on are left out.

    Parameters
    ----------
    network : Network

    Returns
    -------
    str
        The text of an ``.aag`` file, with the names as symbols and the map of changed ones in the comment section.

    Examples
    --------
    >>> print(dumps(Network(2, [[0, 1]], [2])))
    aag 3 2 0 1 1
    2
    4
    7
    6 4 2
    i0 x0
    i1 x1
    o0 z0
    c
    NAND network written by Gradus
    <BLANKLINE>
    """
    pruned = network.prune()
    return "\n".join(
        [
            _header("aag", pruned),
            *(str(2 * (i + 1)) for i in range(pruned.n_inputs)),
            *map(str, _outputs(pruned)),
            *(f"{lhs} {high} {low}" for lhs, high, low in _ands(pruned)),
            _tail(network),
        ]
    )


def dump_bytes(network: Network) -> bytes:
    r"""Return a network as binary AIGER, the content of an ``.aig`` file; otherwise as `dumps`.

    Examples
    --------
    >>> dump_bytes(Network(2, [[0, 1]], [2]))
    b'aig 3 2 0 1 1\n7\n\x02\x02i0 x0\ni1 x1\no0 z0\nc\nNAND network written by Gradus\n'
    """
    pruned = network.prune()
    head = "".join(f"{line}\n" for line in [_header("aig", pruned), *_outputs(pruned)])
    body = b"".join(_delta(lhs - high) + _delta(high - low) for lhs, high, low in _ands(pruned))
    return head.encode("ascii") + body + _tail(network).encode("utf-8")


def _header(magic: str, pruned: Network) -> str:
    return f"{magic} {pruned.n_inputs + pruned.n_gates} {pruned.n_inputs} 0 {pruned.n_outputs} {pruned.n_gates}"


def _literal(node: int, n_inputs: int) -> int:
    """Return the literal of a node's value: variable node+1, complemented if the node is a (NAND) gate."""
    return 2 * (node + 1) + (node >= n_inputs)


def _outputs(pruned: Network) -> list[int]:
    return [_literal(node, pruned.n_inputs) for node in pruned.outputs.tolist()]


def _ands(pruned: Network) -> list[tuple[int, int, int]]:
    """Return each gate's AND literal and its two sources, the larger first as the binary form asks."""
    ands = []
    for node, (a, b) in enumerate(pruned.sources.tolist(), start=pruned.n_inputs):
        low, high = sorted((_literal(a, pruned.n_inputs), _literal(b, pruned.n_inputs)))
        ands.append((2 * (node + 1), high, low))
    return ands


def _delta(number: int) -> bytes:
    """Encode a difference in groups of seven bits, the lowest first, the top bit set on all but the last."""
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def _tail(network: Network) -> str:
    # The format would allow an input and an output of one name, but ABC refuses such files; so they are kept apart.
    inputs, outputs, map_lines = interface_names(network, SYMBOL)
    return "\n".join(
        [
            *(f"i{i} {name}" for i, name in enumerate(inputs)),
            *(f"o{k} {name}" for k, name in enumerate(outputs)),
            "c",
            "NAND network written by Gradus",
            *map_lines,
            "",
        ]
    )
