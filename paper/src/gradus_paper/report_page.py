"""The report as an HTML page: a single file that loads nothing, with every text escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from gradus.lab import pages, wording
from gradus_paper.claims import Claim, verdict_counts
from gradus_paper.estimates import CLOSE, DIRECTION, DOES_NOT_HOLD, HOLDS, UNDECIDED, VERDICTS, accuracy_by_size
from gradus_paper.figures.style import LABELS
from gradus_paper.gains import STRICTER_LOSSES, gains_by_target
from gradus_paper.learners import METHOD_NAMES
from gradus_paper.paper import GAIN_TABLES, problem_title, problems_of
from gradus_paper.results import Results
from gradus_paper.runs import Standing, versions
from gradus_paper.study import Study

PAPER_TITLE = "Target curricula for Boolean networks: a replication"
OWN_TITLE = "Boolean circuits from few examples: beyond the paper"
LEADING = ("headline", "adder")
"""Figures shown above the claims."""
TABLES = {"tab2": "yeast", "tab3": "ecoli"}
STYLE = """
h2 { margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: 1rem; }
table { width: 100%; font-size: 0.88rem; } .number, .interval { white-space: nowrap; }
.holds, .direction { color: var(--good); font-weight: 600; } .fails { color: var(--bad); font-weight: 600; }
.close { font-weight: 600; } .undecided { color: var(--quiet); }
.highlights { font-size: 1.05rem; max-width: 56rem; padding-left: 1.2rem; }
figure { margin: 1rem 0; width: fit-content; max-width: 100%; overflow-x: auto; background: #fff; border-radius: 6px; }
figure svg { display: block; max-width: 100%; height: auto; } figure circle.point:hover { fill-opacity: .35; }
figure.large, figure.large svg { width: 100%; }
.small { font-size: 0.85rem; color: var(--quiet); }
.warning { background: var(--note); padding: 0.6rem 0.9rem; border-left: 4px solid var(--note-line); }
@media (max-width: 45rem) {
  figure svg { max-width: none; min-width: 44rem; } figure.headline svg { min-width: 30rem; }
  .claims thead { display: none; } .claims tr { display: block; padding: .6rem 0; border-bottom: 2px solid var(--line); }
  .claims td { display: block; border: 0; padding: .1rem 0; }
  .claims [data-name]::before { content: attr(data-name) ": "; color: var(--quiet); font-weight: 400; }
}
"""
VERDICT_CLASS = {HOLDS: "holds", DIRECTION: "direction", CLOSE: "close", UNDECIDED: "undecided", DOES_NOT_HOLD: "fails"}
WORDS = {
    HOLDS: "the whole interval agrees with the statement",
    DOES_NOT_HOLD: "the whole interval contradicts it",
    CLOSE: "the interval lies across the edge of what counts as agreement, and half its width is at most the tolerance",
    DIRECTION: "the effect is there, but the interval is too wide for its size",
    UNDECIDED: "the interval is too wide, or there are fewer than 20 observations",
}
FULL = "full replication"
"""Heading of the column with the published values."""


@dataclass(frozen=True, eq=False)
class Section:
    """One figure or table of the page."""

    name: str
    study: Study
    results: Results
    n_tasks: int
    svg: str
    caption: str = ""


def report_page(
    *,
    claims: Sequence[Claim],
    own_claims: Sequence[Claim] = (),
    published: Sequence[Claim],
    highlights: Sequence[str],
    sections: Sequence[Section],
    standings: Sequence[Standing],
    runs: Sequence[dict[str, Any]],
    damaged: Sequence[str],
) -> str:
    """Return the page."""
    leading = [section for section in sections if section.name in LEADING]
    others = [section for section in sections if section.name not in LEADING]
    tables = {}
    if claims or not own_claims:
        tables["claims", "The paper's statements"] = _claims_table(claims, published)
    if own_claims:
        tables["own-claims", "Statements of our own"] = _claims_table(own_claims, (), expected="expected")
    places = [*_places(leading), *tables, *_places(others), ("methods", "Methods"), ("provenance", "Provenance")]
    links = (f'<a href="#{escape(place)}">{escape(title)}</a>' for place, title in places)
    body = [
        f"<h1>{PAPER_TITLE if claims or not own_claims else OWN_TITLE}</h1>",
        _summary([*claims, *own_claims], highlights, standings, damaged),
        f'<nav class="contents">{"".join(links)}</nav>',
        *(_section(section) for section in leading),
        *(f'<h2 id="{place}">{title}</h2>{table}' for (place, title), table in tables.items()),
        *(_section(section) for section in others),
        '<h2 id="methods">Methods</h2>',
        _methods(sections),
        '<h2 id="provenance">Provenance</h2>',
        _provenance(standings, runs),
    ]
    return pages.html_page("Gradus report", STYLE, body, script=pages.SORTING)


def _places(sections: Sequence[Section]) -> list[tuple[str, str]]:
    return [(section.name, section.study.title) for section in sections]


def _summary(claims: Sequence[Claim], highlights: Sequence[str], standings: Sequence[Standing], damaged: Sequence[str]) -> str:
    if highlights:
        lines = "".join(f"<li>{escape(line)}</li>" for line in highlights)
        text = f'<ul class="highlights">{lines}</ul>'
    else:
        text = f"<p>Of {wording.counted(len(claims), 'statement')} checked, {verdict_counts(claims)}.</p>" if claims else ""
    left = sum(place.left + place.failed for place in standings)
    if left:
        failed = sum(place.failed for place in standings)
        more = f", {failed:,} of them failed" if failed else ""
        said = f"This experiment is not complete: {wording.counted(left, 'task is', 'tasks are')} missing{more}."
        text += f'<p class="warning">{said}</p>'
    if damaged:
        text += f'<p class="warning">Damaged files, whose tasks count as missing: {escape(", ".join(damaged))}.</p>'
    return text


def _claims_table(claims: Sequence[Claim], published: Sequence[Claim], expected: str = "paper") -> str:
    if not claims:
        return "<p>There are no results for any of the paper's statements yet.</p>"
    full = {claim.statement: claim for claim in published}
    ours = "this run" if full else "ours"

    def cell(heading: str, html: str, style: str = "") -> str:
        """Return a cell that also says its heading, for narrow screens."""
        return f'<span data-name="{heading}" class="{style}">{html}</span>'

    rows = []
    for claim in claims:
        cells = [
            f'<span class="number">{escape(claim.number)}</span>',
            escape(claim.statement),
            cell(expected, escape(claim.paper)),
            cell(ours, escape(claim.ours)),
            cell("verdict", escape(claim.verdict), VERDICT_CLASS[claim.verdict]),
        ]
        if full:
            other = full.get(claim.statement)
            cells.append(cell(FULL, f"{escape(other.ours)}: <b>{escape(other.verdict)}</b>" if other else "–"))
        rows.append(cells)
    headings = ["", "statement", expected, ours, "verdict", *([FULL] if full else [])]
    table = pages.html_table(headings, rows, sortable=True)
    return f'<div class="claims">{table}</div>{_claims_note(claims, ours, bool(full))}'


def _claims_note(claims: Sequence[Claim], ours: str, short: bool) -> str:
    """Explain the intervals, the words that occur, and where the full replication is."""
    used = {claim.verdict for claim in claims}
    words = "; ".join(f"<b>{word}</b>: {WORDS[word]}" for word in VERDICTS if word in used)
    note = (
        f"{ours.capitalize()}: the estimate with its 95 % interval (t on paired differences; bootstrap over training sets "
        f"for peaks, shares and sample sizes). {words}."
    )
    if short:
        note += (
            " This run has few training sets. The full replication has up to 1,000 per point: its values are in the last "
            "column, and all of it is in the source folder, paper/results/report.html and docs/results/claims.md."
        )
    return f'<p class="small">{note}</p>'


def _section(section: Section) -> str:
    study, results = section.study, section.results
    published = f" Settings: {escape(_settings_said(study))}." if study.problems(as_published=True) else ""
    parts = [f'<h2 id="{escape(section.name)}">{escape(study.title)}</h2><p>{escape(study.about)}{published}</p>']
    if not section.svg:
        return parts[0] + "<p>There are no results yet.</p>"
    size = f' class="large {section.name}"' if section.name in LEADING else ""
    caption = f"<figcaption>{escape(section.caption)}</figcaption>" if section.caption else ""
    parts.append(f"<figure{size}>{pages.inline_svg(section.svg)}{caption}</figure>")
    if section.name == "baselines":
        parts.append(_method_table(results))
    if section.name in TABLES:
        parts.append(_gain_table(results, TABLES[section.name]))
    if section.n_tasks:
        counts = f"{len(results):,} of {wording.counted(section.n_tasks, 'task')} done"
        counts += f", {results.n_failed:,} failed" if results.n_failed else ""
        if results.n_not_converged:
            ended = wording.counted(results.n_not_converged, "search", "searches")
            counts += f"; {ended} ended with training errors, left out of every mean"
        parts.append(f'<p class="small">{counts}.{_training_sets(results)}</p>')
    return "".join(parts)


def _settings_said(study: Study) -> str:
    """Name the source of a study's settings: the paper's text, or its published configuration files."""
    published, text = (study.problems(as_published=flag) for flag in (True, False))
    if not published:
        return "text of the paper"
    if not text:
        return "published configuration"
    return f"text of the paper; published configuration for the {', '.join(sorted(map(problem_title, published)))}"


def _training_sets(results: Results) -> str:
    """Write how many training sets there are per point of a figure."""
    said = []
    drawn = results.training_sets()
    for problem in filter(drawn.get, problems_of(results)):
        counts: dict[int, list[str]] = {}
        for size, count in drawn[problem].items():
            counts.setdefault(count, []).append(str(size))
        usual = max(counts, key=lambda count: len(counts[count]))
        others = [f"{count:,} at {', '.join(sizes)}" for count, sizes in counts.items() if count != usual]
        exceptions = f" ({'; '.join(others)} examples)" if others else ""
        said.append(f"{escape(problem_title(problem))} {usual:,}{exceptions}")
    return f" Training sets per point: {', '.join(said)}." if said else ""


def _gain_table(results: Results, problem: str) -> str:
    rows = []
    for name, base, gains in gains_by_target(results, problem):
        cells = [escape(name), f"{100 * base.value:.1f} %"]
        for loss in STRICTER_LOSSES:
            gain = gains[loss].scaled(100) if loss in gains else None
            paper = GAIN_TABLES[problem].get(name, {}).get(loss)
            beside = "" if paper is None else f'<br><span class="quiet">paper {paper:+.1f}</span>'
            interval = "–" if gain is None else f"{gain.value:+.2f} [{gain.low:.2f}, {gain.high:.2f}]"
            cells.append(f'<span class="interval">{interval}</span>{beside}')
        rows.append(cells)
    headings = ["target", "accuracy of L<sub>1</sub>", *(f"gain of {_html_label(loss)} (points)" for loss in STRICTER_LOSSES)]
    return pages.html_table(headings, rows, sortable=True)


def _method_table(results: Results) -> str:
    """Return a table of the mean accuracy of every method at every size, the best in bold."""
    columns = {f"network, {_html_label(loss)}": {"method": "network", "loss": loss} for loss in ("l1", "lgh")}
    columns |= {name: {"method": method} for method, name in METHOD_NAMES.items()}
    by_method = {name: results.select(**wanted) for name, wanted in columns.items()}
    by_method = {name: rows for name, rows in by_method.items() if len(rows)}
    table = []
    for problem in problems_of(results):
        means = {name: dict(accuracy_by_size(rows.select(problem=problem))) for name, rows in by_method.items()}
        for size in results.select(problem=problem).sizes:
            found = {name: by_size[size].value for name, by_size in means.items() if size in by_size}
            best = max(found.values(), default=0.0)
            cells = [escape(problem_title(problem)), str(size)]
            for name in by_method:
                text = f"{found[name]:.3f}" if name in found else "–"
                cells.append(f"<b>{text}</b>" if found.get(name) == best else text)
            table.append(cells)
    return pages.html_table(["problem", "examples", *by_method], table, sortable=True)


def _html_label(loss: str) -> str:
    return re.sub(r"_\{?(\w+)\}?", r"<sub>\1</sub>", LABELS[loss].strip("$"))


def _methods(sections: Sequence[Section]) -> str:
    designs = {design for section in sections for design in section.study.designs()}
    networks = [design for design in designs if design.method == "network"]
    settings = [design.settings for design in networks]
    said = "".join(
        f"<li>{escape(key)}: {escape(values)}</li>"
        for key, values in (
            ("gates per target", _numbers(one.gates_per_target for one in settings)),
            ("length of the late-acceptance history", _numbers(one.history for one in settings)),
            ("steps before a restart", _numbers(one.max_iter for one in settings)),
            ("restarts", _numbers(one.n_restarts for one in settings)),
            ("orders", ", ".join(sorted({design.order for design in networks}))),
        )
    )
    return (
        "<p>Networks of NAND gates are trained by late-acceptance hill climbing until every training example is right. "
        "Accuracy is measured on every pattern that was not trained on. A training set depends on the problem, its size "
        "and the number of the sample alone, so that all losses see the same sets and differences are paired. The seed of "
        "a search is a hash of the task itself. Searches that end with training errors are counted and left out of means. "
        "Where several networks learn from one training set, their mean is one observation; only in the leave-one-out "
        "tables every network is one, as in the paper."
        f"</p><ul>{said}</ul>"
    )


def _numbers(values: Iterable[int]) -> str:
    return ", ".join(f"{value:,}" for value in sorted(set(values)))


def _provenance(standings: Sequence[Standing], runs: Sequence[dict[str, Any]]) -> str:
    rows = [
        [
            escape(place.study.name),
            f"{place.done:,} of {place.total:,}",
            *(f"{place.failed:,}", f"{place.not_converged:,}", f"{place.cpu_seconds / 3600:.2f}"),
            escape(_settings_said(place.study)),
        ]
        for place in standings
    ]
    table = pages.html_table(["experiment", "done", "failed", "not converged", "CPU hours", "settings"], rows, sortable=True)
    made = ", ".join(f"{name} {version}" for name, version in versions().items())
    lines = [
        f"<li>{escape(str(run.get('ended', '')))}: {escape(str(run.get('what', '')))}, "
        f"{wording.counted(run.get('done', 0), 'task')} in {run.get('seconds', 0):,.0f} s "
        f"on {escape(str(run.get('engine', '')))}; "
        f"{escape(', '.join(f'{k} {v}' for k, v in dict(run.get('versions', {})).items()))}</li>"
        for run in runs[-20:]
    ]
    said = f'<p class="small">This page was made with {escape(made)}. The latest runs:</p>'
    return f'{table}{said}<ul class="small">{"".join(lines)}</ul>'
