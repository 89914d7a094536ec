"""BENCH, the netlist format of the ISCAS circuits."""

from __future__ import annotations

from gradus._circuit import Network
from gradus._core.gates import SYMBOLS
from gradus._formats.names import NET_NAME
from gradus._formats.netlist import Gate, Netlist, netlist

__all__ = ["write_bench"]


def write_bench(network: Network) -> str:
    """Return a network as BENCH, without the gates that no output depends on.

    Returns
    -------
    str
        The text of a ``.bench`` file. Names that are not one plain word are mapped; comments hold the map. A gate that
        reads the complement of a wire reads a NOT of it, since the format has no such gates; nor has it constants.

    Examples
    --------
    >>> print(write_bench(Network(2, [[0, 1], [2, 1]], [3, 0], [6, 4])))
    # Boolean network written by Gradus: 2 inputs, 2 outputs, 2 gates
    INPUT(x0)
    INPUT(x1)
    OUTPUT(z0)
    OUTPUT(z1)
    g0 = XOR(x0, x1)
    x1_not = NOT(x1)
    z0 = AND(g0, x1_not)
    z1 = BUFF(x0)
    <BLANKLINE>
    """
    circuit = netlist(network, NET_NAME)
    inverters: dict[str, str] = {}
    return "\n".join(
        [
            f"# Boolean network written by Gradus: {circuit.counts}",
            *(f"# {line}" for line in circuit.map_lines),
            *(f"INPUT({name})" for name in circuit.inputs),
            *(f"OUTPUT({name})" for name in circuit.outputs),
            *(line for gate in circuit.gates for line in _gate_lines(circuit, gate, inverters)),
            "",
        ]
    )


def _gate_lines(circuit: Netlist, gate: Gate, inverters: dict[str, str]) -> list[str]:
    """Write a gate, after the inverters that it needs and that no gate before it did."""
    lines = []

    def inverted(name: str) -> str:
        if name not in inverters:
            inverters[name] = circuit.fresh_wire(f"{name}_not")
            lines.append(f"{inverters[name]} = NOT({name})")
        return inverters[name]

    kind, not_a, not_b, not_out = SYMBOLS[gate.function]
    if not gate.sources:
        some = circuit.inputs[0]
        opposite = inverted(some)
        lines.append(f"{gate.wire} = {'OR' if not_out else 'AND'}({some}, {opposite})")
        return lines
    if len(gate.sources) == 1:
        lines.append(f"{gate.wire} = {'NOT' if not_out else 'BUFF'}({gate.sources[0]})")
        return lines
    a, b = gate.sources
    a, b = inverted(a) if not_a else a, inverted(b) if not_b else b
    name = {"and": "NAND", "or": "NOR", "xor": "XNOR"}[kind] if not_out else kind.upper()
    lines.append(f"{gate.wire} = {name}({a}, {b})")
    return lines
