"""What was inferred, as files in a folder: tables, models, pictures, a document for machines, and the report."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import tempfile
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from gradus._core.files import write_text_whole
from gradus._formats.bnet import write_bnet
from gradus._formats.sbml import write_sbml
from gradus.errors import FormatError, MissingExtraError
from gradus.genes import _result_tables as result_tables
from gradus.genes._inference import Inference
from gradus.genes._rules_page import graph_of, rules_page

__all__ = ["FILES", "as_document", "check_folder", "table_csv", "write_inference"]

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


def check_folder(folder: str | PathLike[str]) -> None:
    """Raise an error if a folder cannot be made or written, without making it: call this before the work."""
    try:
        place = Path(folder).absolute()
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            Path(folder).lstat()  # raises where the name is longer than names may be
    except OSError as error:
        raise FormatError(f"cannot be written: {error.strerror or error}.", path=folder) from error
    while not os.path.lexists(place):
        place = place.parent
    if not place.is_dir():
        raise FormatError(f"cannot be written: {place} is not a folder.", path=folder)
    try:
        # Only a trial tells: permissions say nothing of read-only disks, nor of what an administrator may do.
        os.rmdir(tempfile.mkdtemp(prefix=".gradus-", dir=place))
    except OSError as error:
        raise FormatError(f"cannot be written: nothing may be written in {place}.", path=folder) from error


def write_inference(found: Inference, folder: str | PathLike[str], *, title: str) -> tuple[list[Path], list[str]]:
    """Write all `FILES`; what needs an extra that is not installed is left out and named."""
    check_folder(folder)
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
    _make(Path(folder))
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
            {"gene": one.gene, "log_evidence": one.log_evidence, "regulators": list(one.regulators)}
            for one in found.model.unexplained
        ],
        "hierarchies": [
            {
                "targets": [genes[k] for k in one.targets],
                "feature_sets": {
                    genes[k]: [genes[i] for i in features] for k, features in zip(one.targets, one.feature_sets, strict=True)
                },
                "edges": [[genes[a], genes[b]] for a, b in one.edges],
            }
            for one in found.hierarchies
        ],
    }


def _json_row(row: dict[str, Any]) -> dict[str, Any]:
    """JSON has no NaN."""
    return {name: None if isinstance(value, float) and value != value else value for name, value in row.items()}


def _order(found: Inference) -> list[str]:
    """Return every output, easier genes first, for drawings."""
    taught = [found.model.genes[k] for one in found.hierarchies for k in one.targets]
    outputs = found.network.output_names
    return list(dict.fromkeys(name for name in (*taught, *outputs) if name in set(outputs)))


def _picture(found: Inference) -> str:
    from gradus._circuit.drawing.picture import draw_hierarchy

    genes, order, sets, edges = found.model.genes, [], {}, []
    for one in found.hierarchies:
        order += [genes[k] for k in one.targets]
        edges += [(genes[a], genes[b]) for a, b in one.edges]
        for k, features in zip(one.targets, one.feature_sets, strict=True):
            sets[genes[k]] = [genes[i] for i in features]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hierarchy.svg"
        draw_hierarchy(path, order, sets, edges)
        return path.read_text(encoding="utf-8")


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FormatError(f"cannot be written: {error.strerror or error}.", path=folder) from error
