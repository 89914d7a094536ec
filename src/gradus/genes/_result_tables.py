"""What was inferred as rows of named values: for CSV files, data frames, JSON and the page alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from gradus._core.wording import counted
from gradus.errors import MissingExtraError
from gradus.genes._gene_model import GeneModel
from gradus.genes._learning import SeriesScores, experiments
from gradus.genes._long_run import LongRun
from gradus.genes._rule_circuits import rule_text, rule_tree
from gradus.genes._series import UNKNOWN, Series

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
    learned = {} if scores is None else {score.gene: score.learned for score in scores.genes if score.scored}
    return "rules", [
        {
            "target": rule.target,
            "rule": rule_text(rule_tree(rule.regulators, rule.table)),
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
    """List the edges, the most probable first, and self-edges after the others."""
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
            "regulators": " ".join(model.genes[i] for i in ranked.features),
            "probability": ranked.weight,
            "errors": ranked.errors,
        }
        for g, target in enumerate(model.targets)
        if target.total
        for ranked in target.sets[:MOST_SETS]
    ]


def gene_rows(scores: SeriesScores | None) -> tuple[str, list[Row]]:
    """List how well each gene is predicted where it was left out; empty if that was not measured."""
    return "genes", [] if scores is None else [{**asdict(score), "learned": score.learned} for score in scores.genes]


def suspect_rows(model: GeneModel, series: Sequence[Series]) -> tuple[str, list[Row]]:
    """List recorded values that the rules contradict; states are counted from 1."""
    rows = []
    for cell in model.suspects:
        place = series[cell.series].step(cell.row)
        rows.append(
            {
                "series": place.series,
                "state": cell.row + 1,
                "line": place.line,
                "gene": model.genes[cell.gene],
                "recorded": cell.recorded,
                "probability": cell.probability,
            }
        )
    return "suspects", rows


def attractor_rows(long_run: LongRun | None) -> tuple[str, list[Row]]:
    """List the attractors."""
    return "attractors", [
        {
            "attractor": number,
            "states": attractor.states,
            "on": " ".join(attractor.on),
            "off": " ".join(attractor.off),
            "changing": " ".join(attractor.changing),
        }
        for number, attractor in enumerate(() if long_run is None else long_run.attractors, start=1)
    ]


def held_rows(long_run: LongRun | None) -> tuple[str, list[Row]]:
    """List what is predicted for each gene held at 0 and at 1."""
    return "knockouts", [
        {
            "gene": held.gene,
            "held_at": held.value,
            "attractors": held.attractors,
            "fixed_points": held.fixed_points,
            "turned_on": " ".join(held.on),
            "turned_off": " ".join(held.off),
            "freed": " ".join(held.free),
        }
        for held in (() if long_run is None else long_run.held)
    ]


def data_sentences(series: Sequence[Series], model: GeneModel) -> list[str]:
    """Describe the data in plain sentences, without those that would count or list nothing."""
    runs = [single for single in series if not single.steady]
    codes, genes = np.concatenate([single.codes for single in series]), np.array(model.genes)
    n_transitions = sum(len(single.transitions()) for single in runs)
    n_experiments, n_missing = len(set(experiments(runs))), int((codes == UNKNOWN).sum())
    of = f" of {counted(n_experiments, 'experiment')}" if n_experiments < len(runs) else ""
    steady = sum(len(single.codes) for single in series if single.steady)
    long_steps = sum(len(single.codes) - 1 for single in runs) - n_transitions
    held = sorted({gene for single in series for gene in single.held})
    without_rule = genes[[target.total == 0 for target in model.targets]]
    constant = genes[~((codes == 0).any(axis=0) & (codes == 1).any(axis=0))]
    clean, rate, share = model.flips.clean, 100 * model.flips.rate, 100 * n_missing / codes.size
    sentences = [
        (1, f"{len(runs)} series{of} of {counted(len(genes), 'gene')} gave {counted(n_transitions, 'transition')}."),
        (steady, f"{counted(steady, 'steady state')} counted as followed by the same state."),
        (n_missing, f"{counted(n_missing, 'value')} of {codes.size:,} ({share:.1f} %) are missing; each costs one cell."),
        (
            long_steps,
            f"{counted(long_steps, 'step')} longer than usual join states that are not successive, and do not count.",
        ),
        (len(held), f"Genes that were held in some series, and have no rule there: {', '.join(held)}."),
        (len(without_rule), f"Genes without any transition, and so without a rule: {', '.join(without_rule)}."),
        (clean, "The data look free of errors."),
        (not clean, f"About {rate:.1f} % of the next values differ from what the rules say."),
        (
            model.suspects,
            f"{counted(len(model.suspects), 'recorded value')} contradict the rules and may be wrong measurements.",
        ),
        (len(constant), f"Genes that never change: {', '.join(constant)}."),
    ]
    return [sentence for applies, sentence in sentences if applies]
