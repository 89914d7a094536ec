"""BLIF: one ``.model`` of ``.names`` tables."""

from __future__ import annotations

from gradus._formats.names import NET_NAME
from gradus._formats.netlist import netlist
from gradus._network import Network

__all__ = ["dumps"]

NAMES_A_LINE = 10


def dumps(network: Network) -> str:
    """Return a network as BLIF; gates that no output depends on are left out.

    Parameters
    ----------
    network : Network

    Returns
    -------
    str
        The text of a ``.blif`` file. Names that are not one plain word are mapped; the map stands in its comments.

    Examples
    --------
    >>> print(dumps(Network(2, [[0, 1]], [2])))
    # NAND network written by Gradus: 2 inputs, 1 output, 1 gate
    .model gradus_network
    .inputs x0 x1
    .outputs z0
    .names x0 x1 z0
    0- 1
    -0 1
    .end
    <BLANKLINE>
    """
    circuit = netlist(network, NET_NAME)
    return "\n".join(
        [
            f"# NAND network written by Gradus: {circuit.counts}",
            *(f"# {line}" for line in circuit.map_lines),
            ".model gradus_network",
            _wrapped(".inputs", circuit.inputs),
            _wrapped(".outputs", circuit.outputs),
            *(_nand(*gate) for gate in circuit.gates),
            *(f".names {source} {name}\n1 1" for name, source in circuit.copies),
            ".end\n",
        ]
    )


def _nand(name: str, a: str, b: str) -> str:
    # A table must not read one wire twice, so NAND(a, a) is written as what it is: NOT a.
    return f".names {a} {name}\n0 1" if a == b else f".names {a} {b} {name}\n0- 1\n-0 1"


def _wrapped(keyword: str, names: tuple[str, ...]) -> str:
    """Break long lists with the backslash that BLIF has for it: some readers have a longest line."""
    rows = [" ".join(names[i : i + NAMES_A_LINE]) for i in range(0, len(names), NAMES_A_LINE)]
    return " ".join([keyword, " \\\n  ".join(rows)]).rstrip()
