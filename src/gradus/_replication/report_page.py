"""The report as an HTML page: one file that loads nothing, every text escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from gradus._experiments.plans import Plan
from gradus._experiments.results import Results
from gradus._experiments.run import versions
from gradus._experiments.standings import Standing
from gradus._experiments.tasks import BASELINES
from gradus._html import SORTING, html_page, inline_svg
from gradus._replication.claims import Claim
from gradus._replication.estimates import accuracy_by_size
from gradus._replication.figures.style import LABELS
from gradus._replication.gains import STRICTER_LOSSES, gains_by_target
from gradus._replication.paper import problem_title
from gradus._wording import counted

__all__ = ["Section", "report_page"]

TABLES = {"tab2": "yeast", "tab3": "ecoli"}
STYLE = """
h2 { margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: 1rem; }
table { width: 100%; font-size: 0.88rem; } td.number { white-space: nowrap; }
.holds { color: var(--good); font-weight: 600; } .fails { color: var(--bad); font-weight: 600; }
.unsure { color: var(--quiet); }
figure { margin: 1rem 0; overflow-x: auto; background: #fff; border-radius: 6px; }
figure svg { max-width: 100%; height: auto; } figure circle.point:hover { fill-opacity: .35; }
.small { font-size: 0.85rem; color: var(--quiet); }
.warning { background: var(--note); padding: 0.6rem 0.9rem; border-left: 4px solid var(--note-line); }
@media (max-width: 45rem) {
  figure svg { max-width: none; }
  .claims thead { display: none; } .claims tr { display: block; padding: .6rem 0; border-bottom: 2px solid var(--line); }
  .claims td { display: block; border: 0; padding: .1rem 0; }
  .claims td[data-name]::before { content: attr(data-name) ": "; color: var(--quiet); font-weight: 400; }
}
"""
COUNTED = {"holds": "hold", "does not hold": "do not hold", "not enough samples": "cannot be decided with these samples"}
VERDICT_CLASS = {"holds": "holds", "does not hold": "fails", "not enough samples": "unsure"}


@dataclass(frozen=True, eq=False)
class Section:
    """One figure or table of the page."""

    name: str
    plan: Plan
    results: Results
    n_tasks: int
    svg: str


def report_page(
    *,
    claims: Sequence[Claim],
    own_claims: Sequence[Claim] = (),
    sections: Sequence[Section],
    standings: Sequence[Standing],
    runs: Sequence[dict[str, Any]],
    damaged: Sequence[str],
) -> str:
    """Return the page."""
    body = [
        "<h1>Target curricula for Boolean networks: a replication</h1>",
        _summary([*claims, *own_claims], standings, damaged),
        _contents(sections),
        '<h2 id="claims">Claims</h2>',
        *([_claims_table(claims)] if claims or not own_claims else []),
        *([_claims_table(own_claims, "expected")] if own_claims else []),
        *(_section(section) for section in sections),
        '<h2 id="methods">Methods</h2>',
        _methods(sections),
        '<h2 id="provenance">Provenance</h2>',
        _provenance(standings, runs),
    ]
    return html_page("Gradus report", STYLE, body, script=SORTING)


def _contents(sections: Sequence[Section]) -> str:
    places = [("claims", "Claims"), *((one.name, one.plan.title) for one in sections)]
    places += [("methods", "Methods"), ("provenance", "Provenance")]
    links = (f'<a href="#{escape(place)}">{escape(title)}</a>' for place, title in places)
    return f'<nav class="contents">{"".join(links)}</nav>'


def _summary(claims: Sequence[Claim], standings: Sequence[Standing], damaged: Sequence[str]) -> str:
    counts = [f"{sum(claim.verdict == verdict for claim in claims)} {said}" for verdict, said in COUNTED.items()]
    text = f"<p>Of {counted(len(claims), 'statement')} checked, {', '.join(counts)}.</p>"
    left = sum(place.left + place.failed for place in standings)
    if left:
        failed = sum(place.failed for place in standings)
        said = f"This experiment is not complete: {counted(left, 'task is', 'tasks are')} missing, {failed:,} of them failed."
        text += f'<p class="warning">{said}</p>'
    if damaged:
        text += f'<p class="warning">Damaged files, whose tasks count as missing: {escape(", ".join(damaged))}.</p>'
    return text


def _claims_table(claims: Sequence[Claim], expected: str = "paper") -> str:
    if not claims:
        return "<p>There are no results for any of the paper's statements yet.</p>"
    rows = [
        [
            f'<td class="number">{escape(claim.number)}</td>',
            f"<td>{escape(claim.statement)}</td>",
            f'<td data-name="{expected}">{escape(claim.paper)}</td>',
            f'<td data-name="ours">{escape(claim.ours)}</td>',
            f'<td data-name="verdict" class="{VERDICT_CLASS[claim.verdict]}">{escape(claim.verdict)}</td>',
        ]
        for claim in claims
    ]
    note = (
        '<p class="small">Ours: the estimate with its 95 % interval (t on paired differences; bootstrap over training '
        "sets for peaks, shares and sample sizes). A statement holds, or does not, only if the interval says so.</p>"
    )
    table = _table(["", "statement", expected, "ours", "verdict"], ["".join(row) for row in rows])
    return f'<div class="claims">{table}</div>{note}'


def _table(headings: Sequence[str], rows: Sequence[str]) -> str:
    head = "".join(f'<th><button type="button">{heading}</button></th>' for heading in headings)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _section(section: Section) -> str:
    plan, results = section.plan, section.results
    published = f" Settings: {escape(_settings_said(plan))}." if plan.problems(as_published=True) else ""
    parts = [f'<h2 id="{escape(section.name)}">{escape(plan.title)}</h2><p>{escape(plan.about)}{published}</p>']
    if not section.svg:
        return parts[0] + "<p>There are no results yet.</p>"
    parts.append(f"<figure>{inline_svg(section.svg)}</figure>")
    if section.name == "baselines":
        parts.append(_method_table(results))
    if section.name in TABLES:
        parts.append(_gain_table(results, TABLES[section.name]))
    if section.n_tasks:
        counts = f"{len(results):,} of {counted(section.n_tasks, 'task')} done"
        counts += f", {results.n_failed:,} failed" if results.n_failed else ""
        ended = counted(results.n_not_converged, "search", "searches")
        counts += f"; {ended} ended with training errors, left out of every mean"
        parts.append(f'<p class="small">{counts}.{_training_sets(results)}</p>')
    return "".join(parts)


def _settings_said(plan: Plan) -> str:
    """Name the source of a plan's settings: the paper's text, or its published configuration files.

    Examples
    --------
    >>> from gradus._replication.paper import load_spec
    >>> _settings_said(load_spec("fig7")), _settings_said(load_spec("fig7", as_published=True))
    ('text of the paper', 'published configuration')
    """
    published, text = (plan.problems(as_published=flag) for flag in (True, False))
    if not published:
        return "text of the paper"
    if not text:
        return "published configuration"
    return f"text of the paper; published configuration for the {', '.join(sorted(map(problem_title, published)))}"


def _training_sets(results: Results) -> str:
    """Write how many training sets there are per point of a figure."""
    said = []
    for problem, by_size in results.training_sets().items():
        counts: dict[int, list[str]] = {}
        for size, count in by_size.items():
            counts.setdefault(count, []).append(str(size))
        usual = max(counts, key=lambda count: len(counts[count]))
        others = [f"{count:,} at {', '.join(sizes)}" for count, sizes in counts.items() if count != usual]
        exceptions = f" ({'; '.join(others)} examples)" if others else ""
        said.append(f"{escape(problem_title(problem))} {usual:,}{exceptions}")
    return f" Training sets per point: {', '.join(said)}." if said else ""


def _gain_table(results: Results, problem: str) -> str:
    rows = []
    for name, base, gains in gains_by_target(results, problem):
        cells = [f"<td>{escape(name)}</td>", f"<td>{100 * base.value:.1f} %</td>"]
        for loss in STRICTER_LOSSES:
            gain = gains[loss].scaled(100) if loss in gains else None
            cells.append("<td>–</td>" if gain is None else f"<td>{gain.value:+.2f} [{gain.low:.2f}, {gain.high:.2f}]</td>")
        rows.append("".join(cells))
    headings = ["target", "accuracy of L<sub>1</sub>", *(f"gain of {_html_label(loss)} (points)" for loss in STRICTER_LOSSES)]
    return _table(headings, rows)


def _method_table(results: Results) -> str:
    """Return a table of the mean accuracy of every method at every size."""
    methods = [*BASELINES, "l1", "lgh"]
    rows = []
    for problem in results.problems:
        one = results.select(problem=problem)
        by_method = {
            method: dict(accuracy_by_size(one.select(**{"loss" if method in LABELS else "method": method})))
            for method in methods
        }
        for size in one.sizes:
            found = {method: by_method[method][size].value for method in methods if size in by_method[method]}
            best = max(found.values(), default=0.0)
            cells = [f"<td>{escape(problem_title(problem))}</td><td>{size}</td>"]
            for method in methods:
                text = f"{found[method]:.3f}" if method in found else "–"
                cells.append(f"<td>{f'<b>{text}</b>' if found.get(method) == best else text}</td>")
            rows.append("".join(cells))
    names = [*BASELINES, "network, L<sub>1</sub>", "network, L<sub>gh</sub>"]
    return _table(["problem", "examples", *names], rows)


def _html_label(loss: str) -> str:
    return re.sub(r"_\{?(\w+)\}?", r"<sub>\1</sub>", LABELS[loss].strip("$"))


def _methods(sections: Sequence[Section]) -> str:
    designs = {design for section in sections for design in section.plan.designs()}
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
        f"<td>{escape(place.plan.name)}</td><td>{place.done:,} of {place.total:,}</td><td>{place.failed:,}</td>"
        f"<td>{place.not_converged:,}</td><td>{place.cpu_seconds / 3600:.2f}</td>"
        f"<td>{escape(_settings_said(place.plan))}</td>"
        for place in standings
    ]
    table = _table(["experiment", "done", "failed", "not converged", "CPU hours", "settings"], rows)
    made = ", ".join(f"{name} {version}" for name, version in versions().items())
    lines = [
        f"<li>{escape(str(run.get('ended', '')))}: {escape(str(run.get('what', '')))}, "
        f"{counted(run.get('done', 0), 'task')} in {run.get('seconds', 0):,.0f} s on {escape(str(run.get('engine', '')))}; "
        f"{escape(', '.join(f'{k} {v}' for k, v in dict(run.get('versions', {})).items()))}</li>"
        for run in runs[-20:]
    ]
    said = f'<p class="small">This page was made with {escape(made)}. The latest runs:</p>'
    return f'{table}{said}<ul class="small">{"".join(lines)}</ul>'
