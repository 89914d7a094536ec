"""The report on inferred rules: one page in plain language that opens from disk and loads nothing."""

from __future__ import annotations

import numpy as np

from gradus._pages.html import page
from gradus.genes._gene_model import GeneModel
from gradus.genes._inference import Inference
from gradus.genes._long_run import MOST_FOR_CYCLES
from gradus.genes._posterior import TargetPosterior
from gradus.genes._regulation import SignedEdge, regulatory_graph
from gradus.genes._result_tables import edge_rows, suspect_rows
from gradus.genes._rule_circuits import rule_tree

__all__ = ["graph_of", "rules_page"]

MOST_DRAWN = 300
MOST_ROWS, MOST_SETS_SHOWN, LEAST_SHOWN = 400, 4, 0.2
FEW_TRANSITIONS = 20
WORDS = {"&": "and", "|": "or", "^": "xor"}


def graph_of(model: GeneModel) -> str:
    """Draw the edges that are reported, see `GeneModel.likely_edges`."""
    chosen = np.argwhere(model.likely_edges()).tolist()
    edges = [SignedEdge(i, g, float(model.targets[g].edges[i]), bool(model.targets[g].rising[i] >= 0.5)) for g, i in chosen]
    edges.sort(key=lambda edge: (-edge.probability, edge.target, edge.regulator))
    edges = edges[:MOST_DRAWN]
    return regulatory_graph(model.genes, edges)


def rules_page(found: Inference, *, graph: str, hierarchy: str | None, files: dict[str, str], title: str) -> str:
    """Return the report as HTML."""
    model, run = found.model, found.long_run
    learned = {} if found.scores is None else {gene.gene: gene.learned for gene in found.scores.genes if gene.scored}
    shown = zip(model.genes, model.targets, strict=True)
    return page(
        "gradus.genes",
        "rules_page",
        title=f"Rules inferred from {title}",
        found=found,
        rules=[(rule, rule_tree(rule.regulators, rule.table)) for rule in model.rules if rule.seen],
        words=WORDS,
        learned=learned,
        few=max((target.total for target in model.targets), default=0) < FEW_TRANSITIONS,
        graph=graph,
        likely_edges=[row for row in edge_rows(model)[1] if row["probability"] >= LEAST_SHOWN],
        least_shown=LEAST_SHOWN,
        most_rows=MOST_ROWS,
        set_lists=[(gene, _regulator_sets(model, target)) for gene, target in shown if target.total],
        suspects=suspect_rows(model, found.series)[1],
        attractors=[] if run is None else list(enumerate(run.attractors, start=1)),
        most_for_cycles=MOST_FOR_CYCLES,
        orders=[[model.genes[k] for k in one.targets] for one in found.hierarchies if len(one.targets) > 1],
        hierarchy=hierarchy,
        files=files,
    )


def _regulator_sets(model: GeneModel, target: TargetPosterior) -> list[tuple[list[str], float]]:
    ranked = target.sets[:MOST_SETS_SHOWN]
    return [([model.genes[i] for i in regulators.features], regulators.weight) for regulators in ranked]
