"""What was inferred, as tables and as one document for machines."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from gradus._inference.pipeline import Inference

__all__ = ["as_document", "edges_csv", "regulators_csv", "rules_csv"]


def rules_csv(found: Inference) -> str:
    """Return the rules as CSV, genes whose next value never changes among them."""
    rows: list[list[Any]] = [
        [rule.target, rule.text, " ".join(rule.regulators), rule.share, round(rule.agreement, 4), int(rule.minimal)]
        for rule in found.rules
    ]
    rows += [[name, int(value), "", "", "", ""] for name, value in found.transitions.constant_targets.items()]
    return _csv(["target", "rule", "regulators", "share_of_networks", "agreement", "fewest_regulators"], rows)


def regulators_csv(found: Inference) -> str:
    """Return the minimum regulator sets as CSV, one a line; `all_listed` is 0 where the target has more than are listed."""
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
