"""Everything that was inferred, as files in a folder."""

from __future__ import annotations

import json
import os
import tempfile
from os import PathLike
from pathlib import Path

from gradus._files import write_text_whole
from gradus._formats import bnet, sbml
from gradus._inference.page import page
from gradus._inference.pipeline import Inference
from gradus._inference.tables import as_document, edges_csv, regulators_csv, rules_csv
from gradus.errors import FormatError, MissingExtraError

__all__ = ["FILES", "Written", "check_folder", "write_inference"]

FILES = {
    "report.html": "what was found, in plain language",
    "rules.bnet": "the rules as a Boolean model",
    "rules.sbml": "the same as SBML-qual",
    "rules.csv": "the rules with their shares of the networks",
    "regulators.csv": "the smallest regulator sets, and whether all are listed",
    "edges.csv": "who acts on whom, how often and with which sign",
    "hierarchy.svg": "which genes are learned together",
    "model.json": "the rules as a circuit, for gradus predict, export and draw",
    "summary.json": "everything, for machines",
}

Written = tuple[list[Path], list[str]]
"""Files, and sentences about those that could not be made."""


def check_folder(folder: str | PathLike[str]) -> None:
    """Refuse a folder that cannot be made or written, before work is spent on what should go there; make nothing yet."""
    place = Path(folder).absolute()
    while not os.path.lexists(place):
        place = place.parent
    if not place.is_dir():
        raise FormatError(f"cannot be written: {place} is not a folder.", path=folder)
    try:
        # Only a trial tells: permissions say nothing of read-only disks, nor of what an administrator may do.
        os.rmdir(tempfile.mkdtemp(prefix=".gradus-", dir=place))
    except OSError as error:
        raise FormatError(f"cannot be written: nothing may be written in {place}.", path=folder) from error


def write_inference(found: Inference, folder: str | PathLike[str], *, title: str) -> Written:
    """Write all `FILES`; what needs an extra that is not installed is left out and named.

    Parameters
    ----------
    found : Inference
    folder : path-like
        Is made if it is not there.
    title : str
        What the data are called in the report.

    Returns
    -------
    files : list of Path
    notes : list of str
    """
    check_folder(folder)
    notes: list[str] = []
    contents = {
        "rules.bnet": bnet.dumps(found.network),
        "rules.csv": rules_csv(found),
        "regulators.csv": regulators_csv(found),
        "edges.csv": edges_csv(found),
        "model.json": found.network.to_json(about={"learned_from": title, "order": _order(found)}),
        "summary.json": json.dumps(as_document(found), indent=2, ensure_ascii=False) + "\n",
    }
    try:
        contents["rules.sbml"] = sbml.dumps(found.network)
    except MissingExtraError as error:
        notes.append(f"rules.sbml was not written: {error}")
    try:
        contents["hierarchy.svg"] = _picture(found)
    except MissingExtraError as error:
        notes.append(f"hierarchy.svg was not written: {error}")
    listed = [f"{name}: {what}" for name, what in FILES.items() if name in contents]
    contents["report.html"] = page(found, picture=contents.get("hierarchy.svg"), files=listed, title=title)
    # Everything is made before anything is written, so that an error leaves no half of a result.
    _make(Path(folder))
    for name in contents:
        write_text_whole(Path(folder) / name, contents[name])
    return [Path(folder) / name for name in FILES if name in contents], notes


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FormatError(f"cannot be written: {error.strerror or error}.", path=folder) from error


def _order(found: Inference) -> list[str]:
    """Return every output in the order taught, for drawings."""
    taught = [found.transitions.target_names[k] for one in found.hierarchies for k in one.targets]
    return [*taught, *found.transitions.constant_targets]


def _picture(found: Inference) -> str:
    from gradus._drawing.picture import draw_hierarchy

    targets, genes = found.transitions.target_names, found.transitions.input_names
    order = [targets[k] for one in found.hierarchies for k in one.targets]
    sets = {
        targets[k]: [genes[i] for i in features]
        for one in found.hierarchies
        for k, features in zip(one.targets, one.feature_sets, strict=True)
    }
    edges = [(targets[a], targets[b]) for one in found.hierarchies for a, b in one.edges]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hierarchy.svg"
        draw_hierarchy(path, order, sets, edges)
        return path.read_text(encoding="utf-8")
