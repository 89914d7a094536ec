"""The report as an HTML page: a single file that loads nothing, with every text escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradus.lab import pages, wording
from gradus_paper import estimates as est
from gradus_paper.figures.style import LABELS
from gradus_paper.learners import METHOD_NAMES
from gradus_paper.paper import by_problem, problem_title
from gradus_paper.results import Results
from gradus_paper.runs import Standing, versions
from gradus_paper.statements import Claim, verdict_counts
from gradus_paper.study import Study
from gradus_paper.tasks import METHOD_VERSIONS, SELF_PACED, Design

PAPER_TITLE = "Target curricula for Boolean networks: a replication"
OWN_TITLE = "Boolean circuits from few examples: beyond the paper"
LEADING = ("headline", "adder")  # figures shown above the claims
MEANINGS = {  # the style and the meaning of every verdict, from the best to the worst
    est.HOLDS: ("holds", "the whole interval agrees with the statement"),
    est.CLOSE: (
        "close",
        "the interval lies across the edge of what counts as agreement, and half its width is at most the tolerance",
    ),
    est.DIRECTION: ("direction", "the effect is there, but the interval is too wide for its size"),
    est.UNDECIDED: ("undecided", "the interval is too wide, or there are fewer than 20 observations"),
    est.DOES_NOT_HOLD: ("fails", "the whole interval contradicts it"),
}
MOST_RUNS = 20


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
    *, claims: Sequence[Claim], own_claims: Sequence[Claim] = (), published: Sequence[Claim], highlights: Sequence[str],
    headlines: Sequence[Any] = (), sections: Sequence[Section], standings: Sequence[Standing],
    runs: Sequence[dict[str, Any]], damaged: Sequence[str],
) -> str:  # fmt: skip
    """Return the page."""
    facts = {
        "claims": [*claims], "own_claims": [*own_claims], "published": {claim.statement: claim for claim in published},
        "meanings": MEANINGS, "counts": verdict_counts([*claims, *own_claims]), "highlights": highlights,
        "headlines": headlines,
        "figures": list(map(_figure, sections)), "settings": _settings(sections), "stricter": est.STRICTER_LOSSES,
        "losses": {loss: re.findall(r"\w+", label.replace("_", " ")) for loss, label in LABELS.items()},
    }  # fmt: skip
    record = {
        "left": sum(place.left + place.failed for place in standings), "failed": sum(place.failed for place in standings),
        "earlier": sum(place.earlier for place in standings),
        "standings": standings, "settings_said": _settings_said, "damaged": damaged,
        "made_with": _named_versions(versions()), "runs": [_run_said(run) for run in runs[-MOST_RUNS:]],
    }  # fmt: skip
    heading = PAPER_TITLE if claims else OWN_TITLE if own_claims else next((place.study.title for place in standings), "")
    return pages.page("gradus_paper", "report_page", title="Gradus report", heading=heading, **facts, **record)


def _figure(section: Section) -> dict[str, Any]:
    study = section.study
    return {
        **{"name": section.name, "title": study.title, "about": study.about, "svg": section.svg, "caption": section.caption},
        "leads": section.name in LEADING,
        "settings": _settings_said(study) if study.problems(as_published=True) else "",
        "counts": _counts(section) if section.n_tasks else "",
    }


def _counts(section: Section) -> str:
    results = section.results
    said = f"{len(results):,} of {wording.counted(section.n_tasks, 'task')} done"
    said += f", {results.n_failed:,} failed" if results.n_failed else ""
    if results.n_not_converged:
        ended = wording.counted(results.n_not_converged, "search", "searches")
        said += f"; {ended} ended with training errors, left out of every mean"
    return f"{said}.{_versions_said(results)}{_training_sets(results)}"


def _versions_said(results: Results) -> str:
    """Write which version of a method made which rows, for those that have changed since the first rows."""
    numbers = np.nan_to_num(np.asarray(results.method_version, dtype=np.float64), nan=1)
    learners = np.where(results.order == SELF_PACED, "lessons", results.method)
    said = []
    for name, newest in METHOD_VERSIONS.items():
        counts = {version: int(((learners == name) & (numbers == version)).sum()) for version in range(newest, 0, -1)}
        made = [f"{count:,} by version {version} of {METHOD_NAMES[name]}" for version, count in counts.items() if count]
        said += [f" Rows: {', '.join(made)}."] if made else []
    return "".join(said)


def _settings_said(study: Study) -> str:
    """Name the source of a study's settings: the paper's text, or its published configuration files."""
    published, text = (study.problems(as_published=flag) for flag in (True, False))
    if not _networks([study]):
        return "–"
    if not published:
        return "text of the paper"
    if not text:
        return "published configuration"
    return f"text of the paper; published configuration for the {', '.join(sorted(map(problem_title, published)))}"


def _training_sets(results: Results) -> str:
    """Write how many training sets there are per point of a figure, for each problem."""
    said = []
    for problem, part in by_problem(results.select(draw="random")):
        counts = sorted({sets.n for _, sets in est.mean_by_size(part, part.n_train)})
        said.append(
            f"{problem_title(problem)} {' to '.join(f'{count:,}' for count in dict.fromkeys((counts[0], counts[-1])))}"
        )
    return f" Training sets per point: {', '.join(said)}." if said else ""


def _settings(sections: Sequence[Section]) -> dict[str, str]:
    """Write the settings with which the networks of the page were trained; empty if there are none."""
    networks = _networks(section.study for section in sections)
    settings = [design.settings for design in networks]
    if not networks:
        return {}
    return {
        "gates per target": _numbers(each.gates_per_target for each in settings),
        "length of the late-acceptance history": _numbers(each.history for each in settings),
        "steps before a restart": _numbers(each.max_iter for each in settings),
        "restarts": _numbers(each.n_restarts for each in settings),
        "orders": ", ".join(sorted({design.order for design in networks})),
    }


def _networks(studies: Iterable[Study]) -> list[Design]:
    designs = {design for study in studies for design in study.designs()}
    return [design for design in designs if design.method == "network"]


def _numbers(values: Iterable[int]) -> str:
    return ", ".join(f"{value:,}" for value in sorted(set(values)))


def _run_said(run: dict[str, Any]) -> str:
    done, seconds = wording.counted(run.get("done", 0), "task"), f"{run.get('seconds', 0):,.0f} s"
    made = _named_versions(dict(run.get("versions", {})))
    return f"{run.get('ended', '')}: {run.get('what', '')}, {done} in {seconds} on {run.get('engine', '')}; {made}"


def _named_versions(made_with: dict[str, Any]) -> str:
    return ", ".join(f"{name} {version}" for name, version in made_with.items())
