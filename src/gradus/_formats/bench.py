"""BENCH, the netlist format of the ISCAS circuits."""

from __future__ import annotations

from gradus._formats.names import NET_NAME
from gradus._formats.netlist import netlist
from gradus._network import Network

__all__ = ["dumps"]


def dumps(network: Network) -> str:
    """Return a network as BENCH; gates that no output depends on are left out.

    Parameters
    ----------
    network : Network

    Returns
    -------
    str
        The text of a ``.bench`` file. Names that are not one plain word are mapped; the map stands in its comments.

    Examples
    --------
    >>> print(dumps(Network(2, [[0, 1], [2, 2]], [3, 0])))
    # NAND network written by Gradus: 2 inputs, 2 outputs, 2 gates
    INPUT(x0)
    INPUT(x1)
    OUTPUT(z0)
    OUTPUT(z1)
    g0 = NAND(x0, x1)
    z0 = NOT(g0)
    z1 = BUFF(x0)
    <BLANKLINE>
    """
    circuit = netlist(network, NET_NAME)
    return "\n".join(
        [
            f"# NAND network written by Gradus: {circuit.counts}",
            *(f"# {line}" for line in circuit.map_lines),
            *(f"INPUT({name})" for name in circuit.inputs),
            *(f"OUTPUT({name})" for name in circuit.outputs),
            *(f"{name} = NOT({a})" if a == b else f"{name} = NAND({a}, {b})" for name, a, b in circuit.gates),
            *(f"{name} = BUFF({source})" for name, source in circuit.copies),
            "",
        ]
    )
