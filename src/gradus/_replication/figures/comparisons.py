"""Figures beyond the paper: sample complexity, noise, orders and the league of learners."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from gradus._experiments.results import Results
from gradus._replication.estimates import Estimate, accuracy_by_size, mean_by_size, mean_interval
from gradus._replication.figures.style import (
    ACCURACY,
    COLOURS,
    FEW,
    SIZE,
    band,
    figure_of_panels,
    finish,
    limit_accuracy,
    plain_text,
    tidy_axes,
)
from gradus._replication.gains import FEWEST_PAIRS
from gradus._replication.league import gain_kept, league_rows, learners_of, orders_found
from gradus._replication.learners import LEARNERS, LEVEL_WANTED, limit_in_examples, rows_of_learner, smallest_right_circuit
from gradus._replication.paper import KNOWN_ORDER, REAL_WORLD, problem_title, problems_of

__all__ = ["league", "noise", "orders", "sample_complexity"]

LOOKS: dict[str, dict[str, Any]] = {
    "l1": {"color": COLOURS["l1"]},
    "lgh": {"color": COLOURS["lgh"]},
    "auto": {"color": COLOURS["auto"]},
    "chain": {"color": COLOURS["chain"], "linestyle": "--"},
    "forest": {"color": COLOURS["forest"], "linestyle": "--"},
    "boosting": {"color": COLOURS["boosting"], "linestyle": "--"},
    "mlp": {"color": COLOURS["mlp"], "linestyle": "--"},
    "circuit": {"color": COLOURS["lessons"], "linestyle": ":"},
    "lessons": {"color": COLOURS["lessons"], "linewidth": 2.2},
}
OURS = "lessons, vote"
ORDER_NAMES = {"minimum sets": COLOURS["auto"], "entropy": COLOURS["chain"], "self-paced": COLOURS["lessons"]}
PAPER_NAMES = {"l1": "network, $L_1$", "lgh": "network, $L_{gh}$, given order", "auto": "network, $L_{gh}$, found order"}


def _draw(panel: Any, points: Sequence[tuple[float, Estimate]], key: str) -> None:
    look = dict(LOOKS[key])
    band(panel, points, look.pop("color"), PAPER_NAMES.get(key, LEARNERS[key].name), **look)


def sample_complexity(results: Results) -> Figure:
    """Draw accuracy against training size for every learner, with the limit that the description of the circuit sets."""
    problems = problems_of(results, (*KNOWN_ORDER, *REAL_WORLD))
    columns = 4 if len(problems) > 3 else len(problems)
    figure, panels = figure_of_panels(len(problems), columns)
    for panel, problem in zip(panels, problems, strict=True):
        one = results.select(problem=problem)
        for key in LEARNERS:
            _draw(panel, accuracy_by_size(rows_of_learner(one, key)), key)
        limit_accuracy(panel)
        panel.axhline(LEVEL_WANTED, color="#999999", linewidth=0.8, linestyle=":")
        gates = smallest_right_circuit(one)
        if gates is not None:
            panel.axvline(
                limit_in_examples(problem, gates),
                color="#000000",
                linewidth=1.0,
                linestyle="-.",
                label="as many bits as the circuit",
            )
        panel.set_title(plain_text(problem_title(problem)), fontsize=9)
        panel.set_xlabel(SIZE)
    for panel in panels[::columns]:
        panel.set_ylabel(ACCURACY)
    return finish(figure, results, panels, first=OURS)


def noise(results: Results) -> Figure:
    """Draw accuracy on the true labels against the share of training labels that are flipped."""
    problems = problems_of(results.select(method="lessons"))
    figure, panels = figure_of_panels(len(problems), min(3, max(1, len(problems))))
    for panel, problem in zip(panels, problems, strict=True):
        one = results.select(problem=problem)
        for key in LEARNERS:
            rows = LEARNERS[key].select(one).usable_only()
            rates = sorted(set(rows.noise.tolist()))
            _draw(panel, [(100 * rate, mean_interval(rows.accuracy[rows.noise == rate])) for rate in rates], key)
        limit_accuracy(panel)
        sizes = ", ".join(map(str, one.sizes))
        panel.set_title(f"{plain_text(problem_title(problem))}, {sizes} examples", fontsize=9)
        panel.set_xlabel("flipped training labels (%)")
        panel.set_ylabel(ACCURACY)
    return finish(figure, results, panels, first=OURS)


def orders(results: Results) -> Figure:
    """Draw tau of orders found in three ways, and the share of the gain of Lgh over L1 that each keeps."""
    problems = problems_of(results)
    taught = any(gain_kept(results.select(problem=problem))[0] for problem in problems)
    figure = Figure(figsize=(2.7 * len(problems) + 0.4, 5.2 if taught else 3.2), layout="constrained")
    grid = figure.subplots(1 + taught, len(problems), squeeze=False, sharey="row")
    for column, problem in enumerate(problems):
        one = results.select(problem=problem)
        above = grid[0, column]
        for name, rows in orders_found(one).items():
            band(above, mean_by_size(rows, rows.tau), ORDER_NAMES[name], name)
        above.set_ylim(-0.25, 1.05)
        above.set_title(plain_text(problem_title(problem)), fontsize=9)
        above.set_xlabel(SIZE)
        if taught:
            _draw_gain_kept(grid[1, column], one)
    tidy_axes(grid.flat)
    grid[0, 0].set_ylabel(r"$\tau$ with the known order")
    grid[-1, 0].set_ylabel("share of the gain kept" if taught else r"$\tau$ with the known order")
    return finish(figure, results, list(grid.flat), first="self-paced")


def _draw_gain_kept(panel: Any, one: Results) -> None:
    size, kept = gain_kept(one)
    shares = {name: share for name, share in kept.items() if np.isfinite(share.value)}
    for place, (name, share) in enumerate(shares.items()):
        low, high = (
            max(0.0, side) if np.isfinite(side) else 0.0 for side in (share.value - share.low, share.high - share.value)
        )
        look = {"facecolor": "white", "hatch": "///"} if share.n < FEWEST_PAIRS else {"facecolor": ORDER_NAMES[name]}
        panel.bar(place, share.value, edgecolor=ORDER_NAMES[name], alpha=0.6, width=0.7, **look)
        panel.errorbar(place, share.value, yerr=[[low], [high]], color="#333333", capsize=3, linewidth=1)
    panel.axhline(1.0, color="#999999", linewidth=0.8, linestyle=":")
    panel.axhline(0.0, color="#333333", linewidth=0.8)
    panel.set_xlim(-0.6, len(ORDER_NAMES) - 0.4)
    panel.set_ylim(-0.6, 1.6)
    panel.set_xticks(range(len(shares)), list(shares), fontsize=8)
    panel.set_xlabel(f"order, at {size} examples" if shares else "not measured")


def league(results: Results) -> Figure:
    """Draw the mean accuracy of every learner on every function as a table of colours."""
    rows = league_rows(results)
    keys = learners_of(rows)
    values = np.array([[row.accuracy[key].value if key in row.accuracy else np.nan for key in keys] for row in rows])
    figure = Figure(figsize=(9.0, 0.3 * len(rows) + 1.6), layout="constrained")
    panel = figure.subplots()
    panel.imshow(values, cmap="viridis", vmin=0.5, vmax=1.0, aspect="auto")
    for i, row in enumerate(rows):
        best = max(mean.value for mean in row.accuracy.values())
        for j, key in enumerate(keys):
            mean = row.accuracy.get(key)
            weight = "bold" if mean and round(mean.value, 3) == round(best, 3) else "normal"
            colour = "white" if mean and mean.value <= 0.8 else "black"
            panel.text(j, i, _cell(mean), ha="center", va="center", fontsize=8, color=colour, weight=weight)
    panel.set_xticks(range(len(keys)), ["\n".join(textwrap.wrap(LEARNERS[key].name, 10)) for key in keys], fontsize=8)
    panel.xaxis.tick_top()
    panel.set_yticks(range(len(rows)), [f"{row.problem}, {row.size} examples" for row in rows], fontsize=8)
    panel.tick_params(length=0)
    panel.spines[:].set_visible(False)
    few = any(mean.n < FEWEST_PAIRS for row in rows for mean in row.accuracy.values())
    shown = "Mean accuracy on unseen rows, the best in bold" + (f"; ° {FEW}" if few else "")
    return finish(figure, results, [], shown=shown)


def _cell(mean: Estimate | None) -> str:
    return "–" if mean is None else f"{mean.value:.3f}{'°' if mean.n < FEWEST_PAIRS else ''}"
