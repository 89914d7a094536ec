"""The registry of circuit formats: what can be written and what can be read, by file extension."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["CIRCUITS", "READ", "WRITTEN", "CircuitFormat"]

Place = tuple[str, str]
"""A module and the name of a function in it, which is imported when it is used."""


class CircuitFormat(NamedTuple):
    """A format of circuits: to add one, write its module, its line here and its line in docs/formats.md."""

    what: str
    write: Place
    """A function of a network that returns the content of the file."""
    read: Place | None = None
    """A function of the content that returns a network."""
    comment: str | None = None
    """What begins a line of comment; "" where comments are the last lines of a file, None where there are none."""
    is_binary: bool = False
    """Whether its content is read as bytes."""
    is_drawing: bool = False


CIRCUITS = {
    ".v": CircuitFormat("Verilog", ("gradus._formats.verilog", "write_verilog"), None, "//"),
    ".blif": CircuitFormat("BLIF", ("gradus._formats.blif", "write_blif"), ("gradus._formats.blif", "read_blif"), "#"),
    ".bench": CircuitFormat("BENCH", ("gradus._formats.bench", "write_bench"), None, "#"),
    ".aag": CircuitFormat(
        "AIGER", ("gradus._formats.aiger", "write_aiger"), ("gradus._formats.aiger", "read_aiger"), "", is_binary=True
    ),
    ".aig": CircuitFormat(
        "AIGER", ("gradus._formats.aiger", "write_binary_aiger"), ("gradus._formats.aiger", "read_aiger"), "", is_binary=True
    ),
    ".bnet": CircuitFormat(".bnet", ("gradus._formats.bnet", "write_bnet"), ("gradus._formats.bnet", "read_bnet"), "#"),
    ".sbml": CircuitFormat("SBML", ("gradus._formats.sbml", "write_sbml"), ("gradus._formats.sbml", "read_sbml"), "<!--"),
    ".dot": CircuitFormat("a picture", ("gradus._circuit.drawing.dot", "network_dot"), None, "//", is_drawing=True),
    ".txt": CircuitFormat("formulas", ("gradus._circuit.formulas", "write_formulas"), None, "#"),
    ".svg": CircuitFormat("a picture", ("gradus._circuit.drawing.picture", "svg_picture"), is_drawing=True),
    ".png": CircuitFormat("a picture", ("gradus._circuit.drawing.picture", "png_picture"), is_drawing=True),
    ".pdf": CircuitFormat("a picture", ("gradus._circuit.drawing.picture", "pdf_picture"), is_drawing=True),
    ".json": CircuitFormat(
        "JSON", ("gradus._circuit.network", "Network.to_json"), ("gradus._circuit.network", "Network.from_json")
    ),
}
"""Every format, by its extension."""

WRITTEN = tuple(CIRCUITS)
READ = tuple(extension for extension, kind in CIRCUITS.items() if kind.read)
