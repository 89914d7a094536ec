"""BENCH, the netlist format of the ISCAS circuits."""

from __future__ import annotations

from gradus._circuit import Network
from gradus._core.gates import SYMBOLS
from gradus._formats.names import NET_NAME
from gradus._formats.netlist import Gate, Netlist, netlist

__all__ = ["write_bench"]


def write_bench(network: Network) -> str:
    """Return a network as BENCH, without the gates that no output depends on."""
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
        wire = circuit.inputs[0]
        opposite = inverted(wire)
        lines.append(f"{gate.wire} = {'OR' if not_out else 'AND'}({wire}, {opposite})")
        return lines
    if len(gate.sources) == 1:
        lines.append(f"{gate.wire} = {'NOT' if not_out else 'BUFF'}({gate.sources[0]})")
        return lines
    a, b = gate.sources
    a, b = inverted(a) if not_a else a, inverted(b) if not_b else b
    name = {"and": "NAND", "or": "NOR", "xor": "XNOR"}[kind] if not_out else kind.upper()
    lines.append(f"{gate.wire} = {name}({a}, {b})")
    return lines
