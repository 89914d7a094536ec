"""The registry of formats: which circuits and tables are written and read, by file extension.

Help, messages, the tables of the documentation and the tests that every format has to pass come from here.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["CIRCUITS", "READ", "TABLES", "WRITTEN", "CircuitFormat", "TableFormat"]

Place = tuple[str, str]
"""A module and the name of a function in it, which is imported when it is used."""


class CircuitFormat(NamedTuple):
    """A format of circuits: to add one, write its module, its tests, and its line here."""

    what: str
    used_by: str
    write: Place
    """A function of a network that returns the content of the file."""
    read: Place | None = None
    """A function of the content that returns a network."""
    comment: str | None = None
    """What begins a line of comment; "" where comments are the last lines of a file, None where there are none."""
    is_binary: bool = False
    """Whether its content is read as bytes."""
    is_drawing: bool = False
    is_rule: bool = False
    """Whether it holds the columns and classes of a model too."""


class TableFormat(NamedTuple):
    """A format of tables: to add one, write its module with `read` and perhaps `dumps`, its tests, and its line here."""

    what: str
    module: str
    is_written: bool = False


PICTURE = "a drawing with gate symbols (`pip install pygraphviz`)"
NETWORK, DRAWING = "gradus._circuit.network", "gradus._circuit.drawing.picture"
BLIF, AIGER, BNET, SBML = ("gradus._formats.blif", "gradus._formats.aiger", "gradus._formats.bnet", "gradus._formats.sbml")
CIRCUITS = {
    ".v": CircuitFormat(
        "Verilog, one module with an `assign` for each gate",
        "Yosys and every synthesis tool",
        ("gradus._formats.verilog", "write_verilog"),
        None,
        "//",
    ),
    ".blif": CircuitFormat(
        "BLIF, one `.model` of `.names` tables", "ABC, Yosys, SIS", (BLIF, "write_blif"), (BLIF, "read_blif"), "#"
    ),
    ".bench": CircuitFormat(
        "BENCH, the format of the ISCAS circuits", "ABC, test generation", ("gradus._formats.bench", "write_bench"), None, "#"
    ),
    ".aag": CircuitFormat(
        "AIGER, ASCII", "model checkers, ABC, aigverse", (AIGER, "write_aiger"), (AIGER, "read_aiger"), "", is_binary=True
    ),
    ".aig": CircuitFormat(
        "AIGER, binary",
        "model checkers, ABC, aigverse",
        (AIGER, "write_binary_aiger"),
        (AIGER, "read_aiger"),
        "",
        is_binary=True,
    ),
    ".bnet": CircuitFormat(
        "one Boolean rule per target", "BoolNet, PyBoolNet, AEON", (BNET, "write_bnet"), (BNET, "read_bnet"), "#"
    ),
    ".sbml": CircuitFormat(
        "SBML-qual (`pip install biodivine-aeon`)", "GINsim, CellNOpt, AEON", (SBML, "write_sbml"), (SBML, "read_sbml"), "<!--"
    ),
    ".txt": CircuitFormat("simplified formulas", "people", ("gradus._circuit.formulas", "write_formulas"), None, "#"),
    ".py": CircuitFormat(
        "the rule as a function of a row, with nothing to import",
        "Python",
        ("gradus._formats.python_rule", "write_python"),
        None,
        "#",
        is_rule=True,
    ),
    ".sql": CircuitFormat(
        "the rule as a query of a table",
        "SQLite and other databases",
        ("gradus._formats.sql_rule", "write_sql"),
        None,
        "--",
        is_rule=True,
    ),
    ".c": CircuitFormat(
        "the rule as a function of a row, with nothing to include",
        "C and C++",
        ("gradus._formats.c_rule", "write_c"),
        None,
        "//",
        is_rule=True,
    ),
    ".svg": CircuitFormat(PICTURE, "people", (DRAWING, "svg_picture"), is_drawing=True),
    ".png": CircuitFormat(PICTURE, "people", (DRAWING, "png_picture"), is_drawing=True),
    ".pdf": CircuitFormat(PICTURE, "people", (DRAWING, "pdf_picture"), is_drawing=True),
    ".dot": CircuitFormat(
        "a drawing as GraphViz text", "GraphViz", ("gradus._circuit.drawing.dot", "network_dot"), None, "//", is_drawing=True
    ),
    ".json": CircuitFormat("the network itself", "Gradus", (NETWORK, "Network.to_json"), (NETWORK, "Network.from_json")),
}
"""Every format of circuits, by its extension."""

WRITTEN = tuple(CIRCUITS)
READ = tuple(extension for extension, kind in CIRCUITS.items() if kind.read)

TEXT = "text with any delimiter (detected, or given), with a header or without"
PARQUET = TableFormat("Parquet (`pip install 'gradus-learn[parquet]'`)", "parquet", True)
TABLES = {
    ".csv": TableFormat(TEXT, "csv", True),
    ".tsv": TableFormat(TEXT, "csv", True),
    ".tab": TableFormat(TEXT, "csv"),
    ".txt": TableFormat(TEXT, "csv"),
    ".dat": TableFormat(TEXT, "csv"),
    ".parquet": PARQUET,
    ".pq": PARQUET._replace(is_written=False),
    ".arff": TableFormat("ARFF, dense or sparse; targets from a Mulan `.xml` of the same name or a MEKA `-C` header", "arff"),
    ".pla": TableFormat(
        "Berkeley PLA in every layout of espresso(5): `.type f`, `r`, `fd`, `dr`, `fr` or `fdr`, rows over several lines, "
        "`.p` and `.e` or not",
        "pla",
        True,
    ),
    ".xlsx": TableFormat("the first sheet of an Excel workbook (`pip install 'gradus-learn[excel]'`)", "excel"),
}
"""Every format of tables, by its extension."""
