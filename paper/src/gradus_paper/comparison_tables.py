"""Results beyond the paper as Markdown tables."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gradus._core.wording import two_digits
from gradus_paper.estimates import Estimate, accuracy_by_size, mean_by_size, mean_interval, size_at_level
from gradus_paper.learners import (
    LEARNERS,
    LEVEL_WANTED,
    ORDERS,
    PUBLISHED_SPEED,
    Effort,
    effort,
    gain_kept,
    league_rows,
    learners_of,
    limit_in_examples,
    orders_found,
    rows_of_learner,
    smallest_right_circuit,
)
from gradus_paper.paper import problem_title, problems_of
from gradus_paper.results import Results
from gradus_paper.verdicts import as_share

__all__ = ["tables_in_markdown"]

NOTHING = "–"
TIMED = ("auto", "chain", "forest", "boosting", "mlp", "lessons")
"""Learners whose CPU seconds are shown in the league."""


def tables_in_markdown(results: dict[str, Results]) -> str:
    """Write every table that there are rows for."""
    made = []
    for name, (title, table) in TABLES.items():
        rows = results.get(name)
        if rows is not None and len(rows):
            made.append(f"## {title}\n\n{table(rows)}")
    return "\n".join(made)


def _markdown(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def examples_to_level(results: Results) -> str:
    """Return the training size at which each learner passes 99 %, and the limit by the description of the circuit."""
    rows = []
    for problem in problems_of(results):
        one = results.select(problem=problem)
        cells = [_size(rows_of_learner(one, key)) for key in LEARNERS]
        gates = smallest_right_circuit(one)
        limit = NOTHING if gates is None else f"{limit_in_examples(problem, gates):.0f} ({gates} gates)"
        rows.append([problem_title(problem), *cells, limit])
    return _markdown(["", *(learner.name for learner in LEARNERS.values()), "bits of the circuit"], rows)


def _size(rows: Results) -> str:
    """Write the size at which a curve passes 99 %, or what is known of it, and on how many training sets it rests."""
    usable = rows.usable_only()
    points = accuracy_by_size(usable)
    if not points:
        return NOTHING
    at = size_at_level(usable, LEVEL_WANTED)
    fewest = min(estimate.n for _, estimate in points)
    if math.isnan(at.value):
        return f"> {points[-1][0]} ({points[-1][1].value:.3f}; n = {points[-1][1].n})"
    if at.value <= points[0][0]:
        return f"≤ {points[0][0]} (n = {fewest})"
    interval = f" [{at.low:.0f}, {at.high:.0f}]" if math.isfinite(at.low + at.high) else ""
    return f"{at.value:.0f}{interval} (n = {fewest})"


def accuracy_with_noise(results: Results) -> str:
    """Return the mean accuracy of each learner at each share of flipped labels."""
    results = results.select(problem=results.select(method="lessons").problems)
    keys = [key for key in LEARNERS if len(LEARNERS[key].select(results))]
    rows = []
    for problem in problems_of(results):
        one = results.select(problem=problem)
        sizes = ", ".join(map(str, one.sizes))
        for rate in sorted(set(one.noise.tolist())):
            found = {key: LEARNERS[key].select(one.select(noise=rate)).usable_only() for key in keys}
            means = {key: mean_interval(these.accuracy) for key, these in found.items() if len(these)}
            rows.append([f"{problem_title(problem)}, {sizes}", f"{100 * rate:g} %", *_best_in_bold(means, keys)])
    return _markdown(["problem, examples", "flipped", *(LEARNERS[key].name for key in keys)], rows)


def _best_in_bold(means: dict[str, Estimate], keys: Sequence[str]) -> list[str]:
    """Write mean accuracies, the highest to three digits in bold, and the number of training sets if it differs."""
    best = max((round(mean.value, 3) for mean in means.values()), default=0.0)
    most = max((mean.n for mean in means.values()), default=0)
    cells = []
    for key in keys:
        if key not in means:
            cells.append(NOTHING)
            continue
        text = f"{means[key].value:.3f}"
        text = f"**{text}**" if round(means[key].value, 3) == best else text
        cells.append(text if means[key].n == most else f"{text} (n = {means[key].n})")
    return cells


def agreement_of_orders(results: Results) -> str:
    """Return tau at each size for orders found in different ways."""
    rows = []
    for problem in problems_of(results):
        found = orders_found(results.select(problem=problem))
        taus = {name: dict(mean_by_size(these, these.tau)) for name, these in found.items()}
        for size in sorted(taus.get("self-paced", {})):
            cells = [_tau(taus[name][size]) if size in taus.get(name, {}) else NOTHING for name in ORDERS]
            rows.append([problem_title(problem), str(size), *cells])
    return _markdown(["", "examples", *ORDERS], rows)


def _tau(estimate: Estimate) -> str:
    return f"{estimate.value:.2f} ± {estimate.high - estimate.value:.2f} (n = {estimate.n})"


def gains_kept(results: Results) -> str:
    """Return the share of the gain of Lgh over L1 that found orders keep."""
    rows = []
    for problem in problems_of(results):
        size, kept = gain_kept(results.select(problem=problem))
        if size:
            cells = [f"{as_share(kept[name])} (n = {kept[name].n})" if name in kept else NOTHING for name in ORDERS]
            rows.append([problem_title(problem), str(size), *cells])
    return _markdown(["", "examples", *ORDERS], rows)


def _orders(results: Results) -> str:
    kept = gains_kept(results)
    said = f"\nShare of the gain of Lgh over L1 that is kept:\n\n{kept}" if kept.count("\n") > 2 else ""
    return agreement_of_orders(results) + said


def the_league(results: Results) -> str:
    """Return the mean accuracy of all learners on all functions, the lead of lessons, and CPU seconds."""
    compared = league_rows(results)
    keys = learners_of(compared)
    rows, times = [], []
    for row in compared:
        name = f"{row.problem}/{row.size}"
        lead = row.lead.scaled(100)
        said = f"{lead.value:+.1f} [{lead.low:.1f}, {lead.high:.1f}]"
        rows.append([name, *_best_in_bold(row.accuracy, keys), f"{said} ({LEARNERS[row.best_other].name}, n = {lead.n})"])
        seconds = {key: value for key, value in row.seconds.items() if not math.isnan(value)}
        times.append([name, *(two_digits(seconds[key]) if key in seconds else NOTHING for key in TIMED)])
    headings = ["function/examples", *(LEARNERS[key].name for key in keys), "lead of the vote over the best other (points)"]
    clock = _markdown(["function/examples", *(LEARNERS[key].name for key in TIMED)], times)
    return f"{_markdown(headings, rows)}\nMedian CPU seconds of a fit and its scoring:\n\n{clock}"


def seconds_to_level(results: Results) -> str:
    """Return examples and CPU seconds to 99 %: the published code's, from its measured speed, and ours."""
    rows = []
    for problem, speed in PUBLISHED_SPEED.items():
        one = results.select(problem=problem)
        theirs = [effort(rows_of_learner(one, key), speed) for key in ("l1", "lgh")]
        ours = effort(rows_of_learner(one, "lessons"))
        if ours is None or not any(theirs):
            continue
        saved = NOTHING if theirs[1] is None else f"{theirs[1].seconds.value / ours.seconds.value:.0f}"
        rows.append([problem_title(problem), *map(_effort, (*theirs, ours)), saved])
    return _markdown(["", "published code, L1", "published code, Lgh, order given", "lessons", "times fewer (Lgh)"], rows)


def _effort(found: Effort | None) -> str:
    return NOTHING if found is None else f"{found.size} examples, {two_digits(found.seconds.value)} s"


def _examples_and_seconds(results: Results) -> str:
    said = "CPU seconds of a fit at the first size measured with 99 %:"
    return f"{examples_to_level(results)}\n{said}\n\n{seconds_to_level(results)}"


TABLES = {
    "sample_complexity": ("Examples to 99 % of the unseen bits", _examples_and_seconds),
    "noise": ("Accuracy with flipped labels", accuracy_with_noise),
    "orders": ("Orders: τ with the known one", _orders),
    "league": ("The league", the_league),
}
