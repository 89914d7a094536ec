"""What was inferred, as files in a folder: tables, models, pictures, a document for machines, and the report."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from gradus._core.files import check_new_folder, make_folder, write_text_whole
from gradus._formats.bnet import write_bnet
from gradus._formats.sbml import write_sbml
from gradus.errors import MissingExtraError
from gradus.genes import _result_tables as result_tables
from gradus.genes._inference import Hierarchy, Inference
from gradus.genes._rules_page import graph_of, rules_page

__all__ = ["FILES", "as_document", "table_csv", "write_inference"]

FILES = {
    "report.html": "what was found, in plain language",
    "rules.bnet": "the rules as a Boolean model, for BoolNet, PyBoolNet and AEON",
    "rules.sbml": "the same as SBML-qual, for GINsim and CellCollective",
    "rules.csv": "the rules with their probabilities and errors",
    "edges.csv": "who acts on whom: probability and sign; --prior reads it back",
    "sets.csv": "the most probable regulator sets of each gene",
    "genes.csv": "how well each gene is predicted where data were left out, beside trivial guesses",
    "suspects.csv": "recorded values that the rules contradict",
    "attractors.csv": "states that the rules never leave",
    "knockouts.csv": "what is predicted when a gene is held at 0 or 1",
    "graph.svg": "the regulatory graph",
    "hierarchy.svg": "which genes build on which",
    "model.json": "the rules as a circuit, for gradus predict, export and draw",
    "summary.json": "everything, for machines",
}
DIGITS = 6


def write_inference(found: Inference, folder: str | PathLike[str], *, title: str) -> tuple[list[Path], list[str]]:
    """Write all `FILES`; what needs an extra that is not installed is left out and named."""
    check_new_folder(folder)
    notes = list(found.notes)
    contents = {f"{name}.csv": table_csv(name, rows) for name, rows in _tables(found).items()}
    contents |= {
        "rules.bnet": write_bnet(found.network),
        "graph.svg": graph_of(found.model),
        "model.json": found.network.to_json(about={"learned_from": title, "order": _order(found)}),
        "summary.json": json.dumps(as_document(found), indent=2, ensure_ascii=False) + "\n",
    }
    made: dict[str, Callable[[], str]] = {
        "rules.sbml": lambda: write_sbml(found.network),
        "hierarchy.svg": lambda: _picture(found),
    }
    for name, make in made.items():
        try:
            contents[name] = make()
        except MissingExtraError as error:
            notes.append(f"{name} was not written: {error}")
    files = {name: what for name, what in FILES.items() if name in contents}
    contents["report.html"] = rules_page(
        found, graph=contents["graph.svg"], hierarchy=contents.get("hierarchy.svg"), files=files, title=title
    )
    # Everything is made before anything is written, so that an error leaves no half of a result.
    make_folder(Path(folder))
    for name, content in contents.items():
        write_text_whole(Path(folder) / name, content)
    return [Path(folder) / name for name in FILES if name in contents], notes


def _tables(found: Inference) -> dict[str, list[dict[str, Any]]]:
    return dict(
        [
            result_tables.rule_rows(found.model, found.scores),
            result_tables.edge_rows(found.model),
            result_tables.set_rows(found.model),
            result_tables.gene_rows(found.scores),
            result_tables.suspect_rows(found.model, found.series),
            result_tables.attractor_rows(found.long_run),
            result_tables.held_rows(found.long_run),
        ]
    )


def table_csv(name: str, rows: list[dict[str, Any]]) -> str:
    r"""Return one of the tables as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    columns = result_tables.COLUMNS[name]
    writer.writerow(columns)
    writer.writerows([_plain(row[column]) for column in columns] for row in rows)
    return text.getvalue()


def _plain(value: Any) -> Any:
    """Round numbers, write yes and no as 1 and 0, and leave unknown cells empty."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float):
        return "" if value != value else round(value, DIGITS)
    return "" if value is None else value


def as_document(found: Inference) -> dict[str, Any]:
    """Return everything as dictionaries and lists that JSON can hold."""
    genes = found.model.genes
    overall = None if found.scores is None else found.scores.overall
    return {
        "genes": list(genes),
        "data": list(found.data),
        "notes": list(found.notes),
        "stopped": found.stopped,
        "noise": found.model.flips.rate,
        "clean": found.model.flips.clean,
        **{name: [_json_row(row) for row in rows] for name, rows in _tables(found).items()},
        "overall": None if overall is None else _json_row({**vars(overall)}),
        "left_out": None if found.scores is None else ("series" if found.scores.whole_series else "blocks"),
        "unexplained": [
            {"gene": gene.gene, "log_evidence": gene.log_evidence, "regulators": list(gene.regulators)}
            for gene in found.model.unexplained
        ],
        "hierarchies": [
            {
                "targets": [genes[k] for k in nest.targets],
                "feature_sets": _named_sets(nest, genes),
                "edges": [[genes[a], genes[b]] for a, b in nest.edges],
            }
            for nest in found.hierarchies
        ],
    }


def _named_sets(nest: Hierarchy, genes: Sequence[str]) -> dict[str, list[str]]:
    pairs = zip(nest.targets, nest.feature_sets, strict=True)
    return {genes[target]: [genes[i] for i in features] for target, features in pairs}


def _json_row(row: dict[str, Any]) -> dict[str, Any]:
    """JSON has no NaN."""
    return {name: None if isinstance(value, float) and value != value else value for name, value in row.items()}


def _order(found: Inference) -> list[str]:
    """Return every output, easier genes first, for drawings."""
    taught = [found.model.genes[k] for nest in found.hierarchies for k in nest.targets]
    outputs = found.network.output_names
    return list(dict.fromkeys(name for name in (*taught, *outputs) if name in set(outputs)))


def _picture(found: Inference) -> str:
    from gradus._circuit.drawing.picture import draw_hierarchy

    genes, sets = found.model.genes, {}
    for nest in found.hierarchies:
        sets |= _named_sets(nest, genes)
    edges = [(genes[a], genes[b]) for nest in found.hierarchies for a, b in nest.edges]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hierarchy.svg"
        draw_hierarchy(path, list(sets), sets, edges)
        return path.read_text(encoding="utf-8")
