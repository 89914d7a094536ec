"""The report on inferred rules: one page in plain language that opens from disk and loads nothing."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np

from gradus._core.wording import counted
from gradus._pages.html import SORTING, html_page, inline_svg
from gradus._version import __version__
from gradus.genes._gene_model import GeneModel
from gradus.genes._inference import Inference
from gradus.genes._long_run import MOST_FOR_CYCLES
from gradus.genes._page_pieces import STYLE, Cell, bar, bullets, cell, percent, sortable, spelled
from gradus.genes._regulation import SignedEdge, regulatory_graph
from gradus.genes._result_tables import edge_rows, suspect_rows
from gradus.genes._rule_circuits import rule_tree
from gradus.genes._series_scores import GeneScore

__all__ = ["graph_of", "rules_page"]

MOST_DRAWN = 300
MOST_ROWS, MOST_SETS_SHOWN, LEAST_SHOWN = 400, 4, 0.2
FEW_TRANSITIONS = 20


def graph_of(model: GeneModel) -> str:
    """Draw the edges that are reported, see `GeneModel.likely_edges`."""
    chosen = np.argwhere(model.likely_edges()).tolist()
    edges = [SignedEdge(i, g, float(model.targets[g].edges[i]), bool(model.targets[g].rising[i] >= 0.5)) for g, i in chosen]
    edges.sort(key=lambda edge: (-edge.probability, edge.target, edge.regulator))
    edges = edges[:MOST_DRAWN]
    return regulatory_graph(model.genes, edges)


def rules_page(found: Inference, *, graph: str, hierarchy: str | None, files: dict[str, str], title: str) -> str:
    """Return the report as HTML."""
    sections = {
        "data": ("The data", [bullets((*found.data, *found.notes))]),
        "rules": ("The rules", _rules(found)),
        "graph": ("Who acts on whom", _graph(found, graph)),
        "edges": ("How sure is each edge?", _edges(found)),
        "scores": ("How well are left-out data predicted?", _scores(found)),
        "regulators": ("Which genes could be the regulators?", _sets(found)),
        "unexplained": ("What the allowed regulators cannot explain", _unexplained(found)),
        "suspects": ("Suspect measurements", _suspects(found)),
        "long-run": ("Where the rules lead", _attractors(found)),
        "knockouts": ("Predicted knock-outs and over-expressions", _knockouts(found)),
        "hierarchies": ("Which genes are easy, and which build on them?", _hierarchies(found, hierarchy)),
        "files": ("Files", [_files(files)]),
    }
    kept = {name: section for name, section in sections.items() if section[1]}
    contents = "".join(f'<li><a href="#{name}">{html.escape(heading)}</a></li>' for name, (heading, _) in kept.items())
    parts = [
        f"<h1>Rules inferred from {html.escape(title)}</h1>",
        _summary(found),
        f'<nav aria-label="Contents"><ul>{contents}</ul></nav>',
        *(f'<h2 id="{name}">{html.escape(heading)}</h2>\n' + "\n".join(body) for name, (heading, body) in kept.items()),
        f'<p class="quiet">Made by gradus {__version__}; the same data and settings give the same page. '
        "A heading of a table sorts it.</p>",
    ]
    return html_page(f"Rules of {title}", STYLE, parts, script=SORTING)


def _name(gene: str) -> Cell:
    return f"<b>{html.escape(gene)}</b>", gene


def _verdict(learned: bool | None) -> Cell:
    # The words stay together, so that narrow screens do not make the row taller.
    return {True: ("learned", None), False: ("not&nbsp;learned", None), None: ("–", None)}[learned]


def _summary(found: Inference) -> str:
    n = sum(rule.seen for rule in found.model.rules)
    text = f"{counted(n, 'gene')} got a rule. "
    scores = found.scores
    if scores is not None:
        overall, learned = scores.overall, sum(one.learned for one in scores.genes if one.scored)
        best = max(overall.constant, overall.persistence)
        verdict = "better than" if overall.one_step > best else "no better than"
        text += (
            f"Where data were left out, {percent(overall.one_step)[0]} of the next values are predicted, {verdict} the best "
            f"trivial guess ({percent(best)[0]}). {counted(learned, 'rule')} beat both trivial guesses or made no mistake; "
            f"the others are marked <b>not learned</b>. "
        )
    if found.stopped:
        text += f"The work ended early ({html.escape(found.stopped)}): this is the best by then. "
    few = max((target.total for target in found.model.targets), default=0) < FEW_TRANSITIONS
    caution = (
        "<b>With so few transitions many rules fit equally well: read them as hypotheses to be tested.</b>" if few else ""
    )
    return f'<p class="lead">{text}{caution}</p>'


def _rules(found: Inference) -> list[str]:
    learned = {} if found.scores is None else {one.gene: one.learned for one in found.scores.genes if one.scored}
    rows = [
        [
            _name(rule.target),
            (spelled(rule_tree(rule), rule.regulators), None),
            _verdict(learned.get(rule.target)),
            bar(rule.probability),
            cell(f"{rule.errors:g} of {rule.total:g}", rule.errors / rule.total),
        ]
        for rule in found.model.rules
        if rule.seen
    ]
    return [
        "<p>The most probable rule for the next value of each gene. <b>Probability</b> is that of exactly these regulators; "
        "<b>contradicted</b> says how many recorded transitions differ from the rule. A gene is <b>learned</b> if its rules "
        "predict data that were left out better than its usual value and its present value do, or without a mistake.</p>",
        sortable(["gene", "is on next if", "verdict", "probability", "contradicted"], rows, frozenset({4})),
    ]


def _graph(found: Inference, graph: str) -> list[str]:
    return [
        "<p>The edges to believe: as many of the most probable ones as make the expected F1 score highest. Arrows (blue) "
        "activate, bars (red) inhibit; the wider, the more probable. Dashed loops are genes that act on themselves: a gene "
        "that merely changes slowly looks the same, so believe them less.</p>",
        f'<div class="picture">{inline_svg(graph)}</div>',
    ]


def _edges(found: Inference) -> list[str]:
    every = edge_rows(found.model)[1]
    parts = []
    for own, heading in ((False, "regulator"), (True, "gene that acts on itself")):
        rows = [
            [
                cell(row["regulator"]),
                *([] if own else [_name(row["target"])]),
                bar(row["probability"]),
                ("↑&nbsp;activating" if row["sign"] == "activating" else "⊣&nbsp;inhibiting", row["sign"]),
                percent(row["sign_probability"]),
            ]
            for row in every
            if row["self"] == own and row["probability"] >= LEAST_SHOWN
        ][:MOST_ROWS]
        if rows:
            heads = [heading, *([] if own else ["target"]), "probability", "sign", "sign's probability"]
            parts.append(sortable(heads, rows, frozenset({len(heads) - 1})))
    intro = "<p>The probability of each edge, over all regulator sets and rules that explain the data. Less probable ones"
    return [f"{intro} than {percent(LEAST_SHOWN)[0]} are in edges.csv.</p>", *parts] if parts else []


def _scores(found: Inference) -> list[str]:
    scores = found.scores
    if scores is None:
        return ["<p>This was not measured.</p>"]
    if scores.whole_series:
        how = f"Each of {counted(scores.parts, 'series', 'series')} was left out in turn (replicates together)"
    else:
        how = f"There is only one series, so each of {counted(scores.parts, 'block')} of its steps was left out in turn"
    rows = [_score_row(one) for one in (*scores.genes, scores.overall)]
    return [
        f"<p>{how}, everything was learned again from the rest, and the rules predicted what was left out: from one state to "
        "the next, and as a <b>free run</b> from the first state alone. Beside them stand the guesses that a gene takes its "
        "usual value, and that it stays as it is.</p>",
        sortable(
            ["gene", "one step", "usual value", "stays as it is", "verdict", "free run", "first value", "values"],
            rows,
            frozenset({1, 2, 3, 5, 6, 7}),
        ),
        *(['<p class="note">Stopped early: not every part was left out.</p>'] if scores.stopped else []),
    ]


def _score_row(one: GeneScore) -> list[Cell]:
    best = max(one.one_step, one.constant, one.persistence)
    cells = [
        (f'<span class="best">{percent(v)[0]}</span>', v) if v == best else percent(v)
        for v in (one.one_step, one.constant, one.persistence)
    ]
    name = "all together" if one.gene == "all" else one.gene
    verdict = _verdict(one.learned if one.scored else None)
    return [_name(name), *cells, verdict, percent(one.free_run), percent(one.persistent_run), cell(one.scored)]


def _sets(found: Inference) -> list[str]:
    rows = []
    for gene, target in zip(found.model.genes, found.model.targets, strict=True):
        if not target.total:
            continue
        shown = [
            (" + ".join(html.escape(found.model.genes[i]) for i in one.features) or "none") + f" ({percent(one.weight)[0]})"
            for one in target.sets[:MOST_SETS_SHOWN]
        ]
        rows.append([_name(gene), ("<br>".join(shown), None)])
    return [
        "<p>The most probable regulator sets of each gene. Where several are about equally probable, the data cannot say "
        "which is right; sets.csv has more of them.</p>",
        sortable(["gene", "regulator sets"], rows),
    ]


def _unexplained(found: Inference) -> list[str]:
    if not found.model.unexplained:
        return []
    rows = [
        [_name(one.gene), cell(f"{one.log_evidence:.1f}", one.log_evidence), cell(", ".join(one.regulators) or "none")]
        for one in found.model.unexplained
    ]
    return [
        "<p>The regulators that were allowed explain these genes much worse than others would. The evidence is the natural "
        "logarithm of how many times more probable the data are with the other regulators.</p>",
        sortable(["gene", "evidence", "better regulators"], rows, frozenset({1})),
    ]


def _suspects(found: Inference) -> list[str]:
    every = suspect_rows(found.model, found.series)[1]
    if not every:
        return []
    rows = [
        [cell(row["series"]), cell(row["state"]), _name(row["gene"]), cell(row["recorded"]), bar(row["probability"])]
        for row in every[:MOST_ROWS]
    ]
    return [
        "<p>Recorded values that the rules contradict, before or after. They may be wrong measurements, or the rules are "
        "wrong there.</p>",
        sortable(["series", "state", "gene", "recorded", "probably wrong"], rows, frozenset({1, 3})),
    ]


def _genes(names: Sequence[str], n: int) -> Cell:
    return cell("all" if len(names) == n and n > 1 else ", ".join(names) or "–")


def _attractors(found: Inference) -> list[str]:
    run, n = found.long_run, len(found.model.genes)
    if run is None:
        return []
    rows = [
        [cell(k), cell(f"{one.states:,}", float(one.states)), _genes(one.on, n), _genes(one.off, n), _genes(one.changing, n)]
        for k, one in enumerate(run.attractors, start=1)
    ]
    found_in_time = "" if run.cyclic else " (a search for other attractors was begun, but it did not end in time)"
    what = counted(run.count, "attractor" if run.cyclic else "fixed point") + found_in_time
    more = f" The first {len(rows)} are listed." if run.count > len(rows) else ""
    table = [sortable(["no.", "states", "on", "off", "changing"], rows, frozenset({0, 1}))] if rows else []
    return [
        f"<p>States that the rules never leave, one gene being updated at a time in any order: {what}, "
        f"{run.fixed_points:,} of them a single state.{more}</p>",
        *table,
    ]


def _knockouts(found: Inference) -> list[str]:
    run, n = found.long_run, len(found.model.genes)
    if run is None or not run.held:
        return []
    rows = [
        [
            _name(one.gene),
            cell("knock-out" if one.value == 0 else "over-expression"),
            cell(one.attractors, float(one.attractors)),
            _genes(one.on, n),
            _genes(one.off, n),
            _genes(one.free, n),
        ]
        for one in run.held
    ]
    by_points = " (from the fixed points alone, since there are many genes)" if n > MOST_FOR_CYCLES else ""
    return [
        "<p>What the rules say of the long run when one gene is held: genes that then always end on, always end off, or may "
        f"end either way, unlike without the change{by_points}.</p>",
        sortable(["gene", "held", "attractors", "then always on", "then always off", "then open"], rows, frozenset({2})),
    ]


def _hierarchies(found: Inference, picture: str | None) -> list[str]:
    genes = found.model.genes
    together = [one for one in found.hierarchies if len(one.targets) > 1]
    if not together:
        return []
    source = "the smallest sets of genes that explain every transition" if found.exact_sets else "the regulators of its rule"
    parts = [
        f"<p>For each gene, {source}. Where one gene's set lies inside another's, the easier gene is taught first, and the "
        "harder one can build on it: the hierarchies of the paper.</p>",
        bullets(f"In this order: {', '.join(genes[k] for k in one.targets)}." for one in together),
    ]
    if picture is not None:
        parts.append(f'<div class="picture paper">{inline_svg(picture)}</div>')
    return parts


def _files(files: dict[str, str]) -> str:
    items = "".join(f'<li><a href="{html.escape(n)}">{html.escape(n)}</a>: {html.escape(w)}</li>' for n, w in files.items())
    return f"<ul>{items}</ul>"
