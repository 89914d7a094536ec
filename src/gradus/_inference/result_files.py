"""What was inferred, as files in a folder: tables, models, a document for machines, and the report."""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any

from gradus._files import write_text_whole
from gradus._formats.bnet import write_bnet
from gradus._formats.sbml import write_sbml
from gradus._inference.inference import Inference
from gradus._inference.rules_page import rules_page
from gradus.errors import FormatError, MissingExtraError

__all__ = ["FILES", "as_document", "check_folder", "edges_csv", "regulators_csv", "rules_csv", "write_inference"]

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


def check_folder(folder: str | PathLike[str]) -> None:
    """Raise an error if a folder cannot be made or written, without making it: call this before the work."""
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


def write_inference(found: Inference, folder: str | PathLike[str], *, title: str) -> tuple[list[Path], list[str]]:
    """Write all `FILES`; what needs an extra that is not installed is left out and named.

    Parameters
    ----------
    folder : path-like
        Is made if it does not exist.
    title : str
        Name of the data in the report.

    Returns
    -------
    notes : list of str
        Sentences about the files that could not be made.
    """
    check_folder(folder)
    notes: list[str] = []
    contents = {
        "rules.bnet": write_bnet(found.network),
        "rules.csv": rules_csv(found),
        "regulators.csv": regulators_csv(found),
        "edges.csv": edges_csv(found),
        "model.json": found.network.to_json(about={"learned_from": title, "order": _order(found)}),
        "summary.json": json.dumps(as_document(found), indent=2, ensure_ascii=False) + "\n",
    }
    try:
        contents["rules.sbml"] = write_sbml(found.network)
    except MissingExtraError as error:
        notes.append(f"rules.sbml was not written: {error}")
    try:
        contents["hierarchy.svg"] = _picture(found)
    except MissingExtraError as error:
        notes.append(f"hierarchy.svg was not written: {error}")
    listed = [f"{name}: {what}" for name, what in FILES.items() if name in contents]
    contents["report.html"] = rules_page(found, picture=contents.get("hierarchy.svg"), files=listed, title=title)
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
    outputs = set(found.network.output_names)
    return [name for name in (*taught, *found.transitions.constant_targets) if name in outputs]


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


def rules_csv(found: Inference) -> str:
    """Return the rules as CSV, genes whose next value never changes among them."""
    rows: list[list[Any]] = [
        [rule.target, rule.text, " ".join(rule.regulators), rule.share, round(rule.agreement, 4), int(rule.minimal)]
        for rule in found.rules
    ]
    rows += [[name, int(value), "", "", "", ""] for name, value in found.transitions.constant_targets.items()]
    return _csv(["target", "rule", "regulators", "share_of_networks", "agreement", "fewest_regulators"], rows)


def regulators_csv(found: Inference) -> str:
    """Return the minimum regulator sets as CSV, one per line; `all_listed` is 0 where the target has more than are listed."""
    rows = [
        [target, len(one), " ".join(one), int(target not in found.cut)]
        for target, sets in found.minimum_sets.items()
        for one in sets
    ]
    return _csv(["target", "size", "regulators", "all_listed"], rows)


def edges_csv(found: Inference) -> str:
    """Return the edges as CSV; `gradus infer --allow` reads it back."""
    headings = ["regulator", "target", "frequency", "sign", "activating", "inhibiting", "both", "in_minimum_sets"]
    rows = [
        [e.regulator, e.target, e.frequency, e.sign or "", e.activating, e.inhibiting, e.both, e.in_minimum_sets]
        for e in found.edges
    ]
    return _csv(headings, rows)


def as_document(found: Inference) -> dict[str, Any]:
    """Return everything as dictionaries and lists that JSON can hold."""
    targets, genes = found.transitions.target_names, found.transitions.input_names
    return {
        "genes": list(genes),
        "transitions": len(found.transitions.X),
        "data": found.transitions.report(),
        "constant_targets": {name: int(value) for name, value in found.transitions.constant_targets.items()},
        "networks": found.n_networks,
        "seed": found.seed,
        "stopped": found.stopped,
        "unfitted": found.unfitted,
        "hierarchies": [
            {
                "targets": [targets[k] for k in one.targets],
                "feature_sets": {
                    targets[k]: [genes[i] for i in features] for k, features in zip(one.targets, one.feature_sets, strict=True)
                },
                "edges": [[targets[a], targets[b]] for a, b in one.edges],
            }
            for one in found.hierarchies
        ],
        "rules": [
            {
                "target": rule.target,
                "rule": rule.text,
                "regulators": list(rule.regulators),
                "share": rule.share,
                "agreement": rule.agreement,
                "fewest_regulators": rule.minimal,
                "most_frequent": [{"rule": text, "share": share} for text, share in rule.alternatives],
            }
            for rule in found.rules
        ],
        "minimum_regulator_sets": {name: [list(one) for one in sets] for name, sets in found.minimum_sets.items()},
        "more_minimum_sets_than_listed": list(found.cut),
        "edges": [asdict(edge) for edge in found.edges],
        "leave_one_out": _scores(found),
    }


def _scores(found: Inference) -> dict[str, Any] | None:
    scores = found.leave_one_out
    if scores is None:
        return None
    return {
        "overall": None if scores.overall is None else asdict(scores.overall),
        "targets": [asdict(one) for one in scores.targets],
        "not_scored": [{"transition": row + 1, "target": target} for row, target in scores.not_scored],
    }


def _csv(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(headings)
    writer.writerows(rows)
    return text.getvalue()
