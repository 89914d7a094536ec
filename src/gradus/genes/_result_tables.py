"""What was inferred as rows of named values: for CSV files, data frames, JSON and the page alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from gradus._core.wording import counted
from gradus.errors import MissingExtraError
from gradus.genes._evidence import UNKNOWN, GeneSeries
from gradus.genes._gene_model import GeneModel
from gradus.genes._long_run import LongRun
from gradus.genes._rule_circuits import rule_text
from gradus.genes._series import Series
from gradus.genes._series_scores import SeriesScores

__all__ = [
    "COLUMNS",
    "attractor_rows",
    "data_sentences",
    "edge_rows",
    "frame",
    "gene_rows",
    "held_rows",
    "rule_rows",
    "set_rows",
    "suspect_rows",
]

Row = dict[str, Any]
LEAST_EDGE = 0.01
MOST_SETS = 20
COLUMNS = {
    "rules": ("target", "rule", "regulators", "probability", "errors", "transitions", "learned"),
    "edges": ("regulator", "target", "probability", "sign", "sign_probability", "self", "reported"),
    "sets": ("target", "regulators", "probability", "errors"),
    "genes": ("gene", "one_step", "free_run", "constant", "persistence", "persistent_run", "scored", "learned"),
    "suspects": ("series", "state", "line", "gene", "recorded", "probability"),
    "attractors": ("attractor", "states", "on", "off", "changing"),
    "knockouts": ("gene", "held_at", "attractors", "fixed_points", "turned_on", "turned_off", "freed"),
}
"""The columns of each table."""


def frame(rows: tuple[str, list[Row]]) -> Any:
    """Return rows as a DataFrame; needs pandas."""
    try:
        import pandas
    except ImportError as error:
        raise MissingExtraError("tables in Python are data frames; run pip install pandas.") from error
    name, content = rows
    return pandas.DataFrame(content, columns=list(COLUMNS[name]))


def rule_rows(model: GeneModel, scores: SeriesScores | None) -> tuple[str, list[Row]]:
    """List the best rule of each gene that has a transition; `learned` is empty where nothing was left out."""
    learned = {} if scores is None else {one.gene: one.learned for one in scores.genes if one.scored}
    return "rules", [
        {
            "target": rule.target,
            "rule": rule_text(rule),
            "regulators": " ".join(rule.regulators),
            "probability": rule.probability,
            "errors": rule.errors,
            "transitions": rule.total,
            "learned": learned.get(rule.target),
        }
        for rule in model.rules
        if rule.seen
    ]


def edge_rows(model: GeneModel) -> tuple[str, list[Row]]:
    """List the edges, the most probable first; self-edges are marked and stand last."""
    place, likely = {gene: i for i, gene in enumerate(model.genes)}, model.likely_edges()
    rows = [
        {
            "regulator": edge.regulator,
            "target": edge.target,
            "probability": edge.probability,
            "sign": "activating" if edge.rising >= 0.5 else "inhibiting",
            "sign_probability": max(edge.rising, 1 - edge.rising),
            "self": edge.is_self,
            "reported": bool(likely[place[edge.target], place[edge.regulator]]),
        }
        for edge in model.edges(LEAST_EDGE)
    ]
    return "edges", sorted(rows, key=lambda row: bool(row["self"]))


def set_rows(model: GeneModel) -> tuple[str, list[Row]]:
    """List the most probable regulator sets of each gene."""
    return "sets", [
        {
            "target": model.genes[g],
            "regulators": " ".join(model.genes[i] for i in one.features),
            "probability": one.weight,
            "errors": one.errors,
        }
        for g, target in enumerate(model.targets)
        if target.total
        for one in target.sets[:MOST_SETS]
    ]


def gene_rows(scores: SeriesScores | None) -> tuple[str, list[Row]]:
    """List how well each gene is predicted where it was left out; empty if that was not measured."""
    return "genes", [] if scores is None else [{**asdict(one), "learned": one.learned} for one in scores.genes]


def suspect_rows(model: GeneModel, series: Sequence[Series]) -> tuple[str, list[Row]]:
    """List recorded values that the rules contradict; states are counted from 1."""
    rows = []
    for one in model.suspects:
        lines = series[one.series].lines
        rows.append(
            {
                "series": series[one.series].name,
                "state": one.row + 1,
                "line": None if lines is None else lines[one.row],
                "gene": model.genes[one.gene],
                "recorded": one.recorded,
                "probability": one.probability,
            }
        )
    return "suspects", rows


def attractor_rows(found: LongRun | None) -> tuple[str, list[Row]]:
    """List the attractors."""
    return "attractors", [
        {
            "attractor": number,
            "states": one.states,
            "on": " ".join(one.on),
            "off": " ".join(one.off),
            "changing": " ".join(one.changing),
        }
        for number, one in enumerate(() if found is None else found.attractors, start=1)
    ]


def held_rows(found: LongRun | None) -> tuple[str, list[Row]]:
    """List what is predicted for each gene held at 0 and at 1."""
    return "knockouts", [
        {
            "gene": one.gene,
            "held_at": one.value,
            "attractors": one.attractors,
            "fixed_points": one.fixed_points,
            "turned_on": " ".join(one.on),
            "turned_off": " ".join(one.off),
            "freed": " ".join(one.free),
        }
        for one in (() if found is None else found.held)
    ]


def data_sentences(genes: Sequence[str], series: Sequence[GeneSeries], model: GeneModel) -> Iterator[str]:
    """Say what the data are, in plain sentences."""
    runs = [one for one in series if not one.steady]
    n_moves = sum(len(one.transitions()) for one in runs)
    experiments = len({one.name for one in runs})
    of = f" of {counted(experiments, 'experiment')}" if experiments < len(runs) else ""
    yield f"{len(runs)} series{of} of {counted(len(genes), 'gene')} gave {counted(n_moves, 'transition')}."
    steady = sum(len(one.states) for one in series if one.steady)
    if steady:
        yield f"Followed by themselves: {counted(steady, 'steady state')}."
    cells = sum(one.states.size for one in series)
    missing = sum(int((one.states == UNKNOWN).sum()) for one in series)
    if missing:
        yield f"{counted(missing, 'value')} of {cells:,} ({100 * missing / cells:.1f} %) are missing; each costs one cell."
    skipped = sum(len(one.states) - 1 - len(one.transitions()) for one in runs)
    if skipped:
        yield f"{counted(skipped, 'step')} longer than usual join states that are not successive, and do not count."
    held = sorted({genes[gene] for one in series for gene in one.held})
    if held:
        yield f"Held in some series, where they have no rule: {', '.join(held)}."
    unseen = [gene for gene, target in zip(genes, model.targets, strict=True) if not target.total]
    if unseen:
        yield f"Never seen to follow anything, so without a rule: {', '.join(unseen)}."
    rate = "The data look free of errors" if model.flips.clean else f"About {100 * model.flips.rate:.1f} % of the next values"
    yield f"{rate}." if model.flips.clean else f"{rate} differ from what the rules say."
    if model.suspects:
        yield f"{counted(len(model.suspects), 'recorded value')} contradict the rules and may be wrong measurements."
    still = [genes[g] for g in range(len(genes)) if _never_changes(series, g)]
    if still:
        yield f"Never change: {', '.join(still)}."


def _never_changes(series: Sequence[GeneSeries], gene: int) -> bool:
    values = np.unique(np.concatenate([one.states[:, gene] for one in series]))
    return len(values[values != UNKNOWN]) < 2
