"""What was inferred, as files in a folder: tables, models, the report for people, and the signed regulatory graph.

In the graph genes are on an ellipse; arrows activate, bars inhibit, and the width is the probability.
"""

from __future__ import annotations

import csv
import io
import json
import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from gradus._circuit import Network
from gradus._core.files import check_new_folder, make_folder, write_text_whole
from gradus._formats.bnet import file_names, write_bnet
from gradus._formats.sbml import write_sbml
from gradus._pages.html import page, render
from gradus.errors import MissingExtraError
from gradus.genes._advice import Advice
from gradus.genes._attractors import MOST_FOR_CYCLES
from gradus.genes._edges import model_edges
from gradus.genes._model import GeneEdge, GeneModel, rule_tokens
from gradus.genes._posterior import TargetPosterior
from gradus.genes._results import EXPERIMENTS, TABLES, Inference, Table, named_sets, rests_on

__all__ = ["FILES", "as_document", "graph_of", "regulatory_graph", "rules_page", "table_csv", "write_inference"]

FILES = {
    "report.html": "what was found, in plain language",
    "rules.bnet": "the rules as a Boolean model, for BoolNet, PyBoolNet and AEON",
    "rules.sbml": "the same as SBML-qual, for GINsim and CellCollective",
    "rules.csv": "the rules with their probabilities and errors",
    "candidates.csv": "the rules that the data leave to each gene, with their shares of the posterior",
    "experiments.csv": "which experiments would decide most",
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


SIGN_MARKS = {1: "->", -1: "-|", 0: "-?"}
MOST_DRAWN = 300
DIGITS = 6
MOST_ROWS, MOST_SETS_SHOWN, MOST_CANDIDATES_SHOWN, LEAST_SHOWN = 400, 4, 4, 0.2
FEW_TRANSITIONS = 20
HEIGHT, MARGIN, LETTER = 26.0, 24.0, 7.6
"""Pixels: a gene's box, the room around all, and the width of a letter."""
SWEEPS = 40


def write_inference(
    found: Inference, folder: str | PathLike[str], *, title: str, advice: Advice = ()
) -> tuple[list[Path], list[str]]:
    """Write all `FILES`; what needs an extra that is not installed is left out and named."""
    check_new_folder(folder)
    notes, outputs = list(found.notes), found.network.output_names
    nested = [found.model.genes[k] for nest in found.hierarchies for k in nest.targets]
    easy_first = list(dict.fromkeys(name for name in (*nested, *outputs) if name in outputs))
    contents = {f"{name}.csv": table_csv(table, found) for name, table in TABLES.items()}
    contents |= {"experiments.csv": table_csv(EXPERIMENTS, advice)} if advice else {}
    contents |= {
        "rules.bnet": write_bnet(found.network) + _signs(found.network),
        "graph.svg": graph_of(found.model),
        "model.json": found.network.to_json(about={"learned_from": title, "order": easy_first}),
        "summary.json": json.dumps(as_document(found, advice), indent=2, ensure_ascii=False) + "\n",
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
        found, graph=contents["graph.svg"], hierarchy=contents.get("hierarchy.svg"), files=files, title=title, advice=advice
    )
    # Everything is made before anything is written, so that an error leaves no half of a result.
    make_folder(Path(folder))
    for name, content in contents.items():
        write_text_whole(Path(folder) / name, content)
    return [Path(folder) / name for name in FILES if name in contents], notes


def table_csv(table: Table, found: Inference | Advice) -> str:
    r"""Return one of the tables as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(map(_plain, cells) for cells in table.cells(found))
    return text.getvalue()


def _plain(value: Any) -> Any:
    """Round numbers, write yes and no as 1 and 0, and leave unknown cells empty."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float):
        return "" if value != value else round(value, DIGITS)
    return "" if value is None else value


def as_document(found: Inference, advice: Advice = ()) -> dict[str, Any]:
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
        **{name: [_json_row(row) for row in table.rows(found)] for name, table in TABLES.items()},
        "experiments": [asdict(chosen) for chosen in advice],
        "overall": None if overall is None else _json_row({**vars(overall)}),
        "left_out": None if found.scores is None else ("series" if found.scores.whole_series else "blocks"),
        "unexplained": [
            {"gene": gene.gene, "log_evidence": gene.log_evidence, "regulators": list(gene.regulators)}
            for gene in found.model.unexplained
        ],
        "hierarchies": [
            {
                "targets": [genes[k] for k in nest.targets],
                "feature_sets": named_sets(nest, genes),
                "edges": [[genes[a], genes[b]] for a, b in nest.edges],
            }
            for nest in found.hierarchies
        ],
    }


def _json_row(row: dict[str, Any]) -> dict[str, Any]:
    """JSON has no NaN."""
    return {name: None if isinstance(value, float) and value != value else value for name, value in row.items()}


def _signs(network: Network) -> str:
    """Return who activates and who inhibits whom, as comments for a `.bnet` file, in its names."""
    safe = file_names(network)
    lines = [f"# {safe[edge.regulator]} {SIGN_MARKS[edge.sign]} {safe[edge.target]}" for edge in model_edges(network)]
    return "\n".join(["# Signs: a -> b activates, a -| b inhibits, a -? b does either.", *lines, ""])


def _picture(found: Inference) -> str:
    from gradus._circuit.drawing.picture import draw_hierarchy

    genes = found.model.genes
    sets: dict[str, list[str]] = {}
    for nest in found.hierarchies:
        sets |= named_sets(nest, genes)
    edges = [(genes[a], genes[b]) for nest in found.hierarchies for a, b in nest.edges]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hierarchy.svg"
        draw_hierarchy(path, list(sets), sets, edges)
        return path.read_text(encoding="utf-8")


def graph_of(model: GeneModel) -> str:
    """Draw the edges that are reported, see `GeneModel.likely_edges`."""
    likely, place = model.likely_edges(), {gene: i for i, gene in enumerate(model.genes)}
    edges = [edge for edge in model.edges(0.0) if likely[place[edge.target], place[edge.regulator]]]
    return regulatory_graph(model.genes, edges[:MOST_DRAWN])


def rules_page(
    inference: Inference, *, graph: str, hierarchy: str | None, files: dict[str, str], title: str, advice: Advice = ()
) -> str:
    """Return the report as HTML."""
    model, run = inference.model, inference.long_run
    learned = {} if inference.scores is None else {gene.gene: gene.learned for gene in inference.scores.genes if gene.scored}
    shown = zip(model.genes, model.targets, strict=True)

    def regulator_sets(target: TargetPosterior) -> list[tuple[list[str], float]]:
        return [([model.genes[i] for i in best.features], best.weight) for best in target.sets[:MOST_SETS_SHOWN]]

    return page(
        "gradus.genes",
        "rules_page",
        title=f"Rules inferred from {title}",
        inference=inference,
        rules=[(rule, rule_tokens(rule)) for rule in model.rules if rule.seen],
        certain=TABLES["rules"].rows(inference),
        candidates=TABLES["candidates"].rows(inference),
        most_candidates=MOST_CANDIDATES_SHOWN,
        advice=list(enumerate(advice, start=1)),
        learned=learned,
        few=max((target.total for target in model.targets), default=0) < FEW_TRANSITIONS,
        graph=graph,
        likely_edges=[row for row in TABLES["edges"].rows(inference) if row["probability"] >= LEAST_SHOWN],
        least_shown=LEAST_SHOWN,
        most_rows=MOST_ROWS,
        set_lists=[(gene, regulator_sets(target)) for gene, target in shown if target.total],
        suspects=TABLES["suspects"].rows(inference),
        attractors=[(k, end, rests_on(inference, end)) for k, end in enumerate(run.attractors if run else (), start=1)],
        most_for_cycles=MOST_FOR_CYCLES,
        orders=[[model.genes[k] for k in group.targets] for group in inference.hierarchies if len(group.targets) > 1],
        hierarchy=hierarchy,
        files=files,
    )


class _Box(NamedTuple):
    x: float
    y: float
    half_width: float

    def edge_towards(self, x: float, y: float, gap: float = 0.0) -> tuple[float, float]:
        """Return the point on the border in the direction of (x, y), moved out by a gap."""
        dx, dy = x - self.x, y - self.y
        length = math.hypot(dx, dy) or 1.0
        scale = min(self.half_width / abs(dx) if dx else math.inf, HEIGHT / 2 / abs(dy) if dy else math.inf) + gap / length
        return self.x + dx * scale, self.y + dy * scale


def regulatory_graph(genes: Sequence[str], edges: Sequence[GeneEdge]) -> str:
    """Draw genes and their edges; genes without an edge are left out."""
    used = {gene for edge in edges for gene in (edge.regulator, edge.target)}
    order = _circle_order([gene for gene in genes if gene in used], edges)
    widths = [_half_width(gene) for gene in order] or [30.0]
    # An ellipse with room for the names: most at its top and bottom, where they are side by side.
    across, along = max(120.0, sum(2 * width + 18 for width in widths) / 4), max(80.0, 13.0 * len(order))
    width, height = 2 * (across + max(widths) + MARGIN), 2 * (along + HEIGHT + MARGIN)
    boxes = {}
    for place, gene in enumerate(order):
        angle = 2 * math.pi * place / len(order) - math.pi / 2
        boxes[gene] = _Box(width / 2 + across * math.cos(angle), height / 2 + along * math.sin(angle), _half_width(gene))
    centre = (width / 2, height / 2)
    arrows = [_arrow(edge, boxes, centre) for edge in sorted(edges, key=lambda edge: edge.probability)]
    size = {"width": width, "height": height, "tall": HEIGHT}
    return render("gradus.genes", "regulation.svg", arrows=arrows, boxes=list(boxes.items()), **size)


def _half_width(name: str) -> float:
    return max(18.0, LETTER * len(name) / 2 + 9)


def _circle_order(genes: Sequence[str], edges: Sequence[GeneEdge]) -> list[str]:
    """Place genes on the circle so that edges are short: neighbours are exchanged while that helps."""
    order, links = list(genes), [(edge.regulator, edge.target) for edge in edges if not edge.is_self]
    n = len(order)

    def length(places: dict[str, int]) -> int:
        return sum(min((places[a] - places[b]) % n, (places[b] - places[a]) % n) for a, b in links)

    best = length({gene: place for place, gene in enumerate(order)})
    for _ in range(SWEEPS if n <= 64 else 0):
        improved = False
        for i in range(n):
            for j in range(i + 1, n):
                order[i], order[j] = order[j], order[i]
                now = length({gene: place for place, gene in enumerate(order)})
                if now < best:
                    best, improved = now, True
                else:
                    order[i], order[j] = order[j], order[i]
        if not improved:
            break
    return order


def _arrow(edge: GeneEdge, boxes: dict[str, _Box], centre: tuple[float, float]) -> dict[str, Any]:
    rises = edge.rising >= 0.5
    gap = 7 if rises else 4
    path = _loop(boxes[edge.target], centre, gap) if edge.is_self else _bow(edge, boxes, centre, gap)
    verb = "activates" if rises else "inhibits"
    return {
        "kind": "on" if rises else "off",
        "own": edge.is_self,
        "path": path,
        "width": 0.6 + 3.4 * edge.probability**2,
        "opacity": 0.35 + 0.65 * edge.probability,
        "said": f"{edge.regulator} {verb} {edge.target}, probability {edge.probability:.2f}",
    }


def _bow(edge: GeneEdge, boxes: dict[str, _Box], centre: tuple[float, float], gap: int) -> str:
    a, b = boxes[edge.regulator], boxes[edge.target]
    # Edges bend towards the centre, each way a little differently, so that a pair in both directions is seen.
    middle = ((a.x + b.x) / 2, (a.y + b.y) / 2)
    across = ((b.y - a.y) * 0.12, (a.x - b.x) * 0.12)
    bend = [m + 0.25 * (c - m) + s for m, c, s in zip(middle, centre, across, strict=True)]
    x0, y0 = a.edge_towards(bend[0], bend[1])
    x1, y1 = b.edge_towards(bend[0], bend[1], gap=gap)
    return f"M{x0:.1f} {y0:.1f}Q{bend[0]:.1f} {bend[1]:.1f} {x1:.1f} {y1:.1f}"


def _loop(box: _Box, centre: tuple[float, float], gap: int) -> str:
    up = -1 if box.y <= centre[1] else 1
    y = box.y + up * HEIGHT / 2
    ends = f"M{box.x - 9:.1f} {y:.1f}C{box.x - 20:.1f} {y + up * 26:.1f} {box.x + 20:.1f} {y + up * 26:.1f}"
    return f"{ends} {box.x + 9:.1f} {y + up * gap:.1f}"
