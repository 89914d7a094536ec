"""Figures beyond the paper: sample complexity, noise, orders and the league of learners."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from gradus_paper import estimates as est
from gradus_paper import learners
from gradus_paper.figures import style
from gradus_paper.open_questions import NOISY
from gradus_paper.open_questions import RATES as FLIPPED
from gradus_paper.paper import by_problem, problems_of
from gradus_paper.results import Results

LINES: dict[str, dict[str, Any]] = {  # lines of learners that are not plain
    **{key: {"linestyle": "--"} for key in ("chain", "forest", "boosting", "mlp")},
    "circuit": {"linestyle": ":", "zorder": 3},  # seen on top of the vote where both agree
    "lessons": {"linewidth": 2.2},
}
OURS = learners.LEARNERS["lessons"].name
ORDER_COLOURS = {name: style.COLOURS[of] for name, of in zip(learners.ORDERS, ("auto", "chain", "lessons"), strict=True)}
PAPER_NAMES = {"l1": "network, $L_1$", "lgh": "network, $L_{gh}$, given order", "auto": "network, $L_{gh}$, found order"}
NOISY_LOSSES = (
    *((loss, False, style.LABELS[loss]) for loss in est.STRICTER_LOSSES),
    ("lgh", True, "$L_{gh}$, 5 % errors tolerated"),
)
SHARES = (-0.6, 1.6)  # shares of a gain that are drawn; others are written


def _draw(panel: Any, points: Sequence[tuple[float, est.Estimate]], key: str) -> None:
    style.band(panel, points, style.COLOURS[key], PAPER_NAMES.get(key, learners.LEARNERS[key].name), **LINES.get(key, {}))


def sample_complexity(results: Results) -> Figure:
    """Draw accuracy against training size for every learner, with the limit that the description of the circuit sets."""

    def draw(panel: Any, part: Results) -> None:
        for key in learners.LEARNERS:
            _draw(panel, est.accuracy_by_size(learners.rows_of_learner(part, key)), key)
        style.limit_accuracy(panel)
        panel.axhline(learners.LEVEL_WANTED, color="#999999", linewidth=0.8, linestyle=":")
        gates = learners.smallest_right_circuit(part)
        if gates is not None:
            at = learners.limit_in_examples(part.problems[0], gates)
            panel.axvline(at, color="#000000", linewidth=1.0, linestyle="-.", label="as many bits as the circuit")

    shown = f"95 % intervals; the dotted line is at {100 * learners.LEVEL_WANTED:.0f} %"
    return style.panel_per_problem(results, draw, y=style.ACCURACY, columns=4, first=OURS, shown=shown)


def noise(results: Results) -> Figure:
    """Draw accuracy on the true labels against the share of training labels that are flipped."""

    def draw(panel: Any, part: Results) -> None:
        for key in learners.LEARNERS:
            rows = learners.LEARNERS[key].select(part).usable_only()
            rates = sorted(set(rows.noise.tolist()))
            _draw(panel, [(100 * rate, est.mean_interval(rows.accuracy[rows.noise == rate])) for rate in rates], key)
        style.limit_accuracy(panel)
        panel.set_title(f"{panel.get_title()}, {', '.join(map(str, part.sizes))} examples", fontsize=9)

    results = results.select(problem=results.select(method="lessons").problems)
    return style.panel_per_problem(results, draw, x="flipped training labels (%)", y=style.ACCURACY, first=OURS)


def wrong_labels(results: Results) -> Figure:
    """Draw the gain of each loss over L1 against the share of flipped labels, and that of Lgh with errors tolerated."""

    def draw(panel: Any, part: Results) -> None:
        base = part.select(loss="l1")
        style.zero_line(panel)
        for loss, tolerated, label in NOISY_LOSSES:
            rows = part.select(loss=loss)
            rows = rows.where((np.nan_to_num(rows.tolerance.astype(float)) > 0) == tolerated)
            rates = {rate: est.gain_as_ended(rows.select(noise=rate), base.select(noise=rate)) for rate in (0.0, *FLIPPED)}
            points = [(100 * rate, gain.scaled(100)) for rate, gain in rates.items()]
            colour = style.COLOURS["lessons" if tolerated else loss]
            style.band(panel, [point for point in points if point[1].n], colour, label)
        panel.set_title(f"{panel.get_title()}, {', '.join(map(str, part.sizes))} examples", fontsize=9)

    results = results.where((results.max_iterations == NOISY["max_iter"]) & (results.method == "network"))
    return style.panel_per_problem(results, draw, x="flipped training labels (%)", y=style.GAIN, every=True)


def orders(results: Results) -> Figure:
    """Draw tau of orders found in three ways, and the share of the gain of Lgh over L1 that each keeps."""
    problems = problems_of(results)
    kept = {problem: learners.gain_kept(part) for problem, part in by_problem(results)}
    taught = any(size for size, _ in kept.values())
    figure, grid = style.rows_of_panels(1 + taught, len(problems), height=5.2 if taught else 3.2)
    for column, problem in enumerate(problems):
        above = grid[0, column]
        for name, rows in learners.orders_found(results.select(problem=problem)).items():
            style.band(above, est.mean_by_size(rows, rows.tau), ORDER_COLOURS[name], name)
        above.set_ylim(-0.25, 1.05)
        style.name_panel(above, problem)
        above.set_xlabel(style.SIZE)
        if taught:
            _draw_gain_kept(grid[1, column], *kept[problem])
    grid[0, 0].set_ylabel(r"$\tau$ with the known order")
    if taught:
        grid[1, 0].set_ylabel("share of the gain kept")
    shown = "95 % intervals" + ("; bars that are cut off have their values written on them" if taught else "")
    return style.finish(figure, results, list(grid.flat), first="self-paced", shown=shown)


def _draw_gain_kept(panel: Any, size: int, kept: dict[str, est.Estimate]) -> None:
    shares = {name: share for name, share in kept.items() if np.isfinite(share.value)}
    low, high = SHARES
    for place, (name, share) in enumerate(shares.items()):
        look = {"facecolor": "white", "hatch": "///"} if share.n < est.FEWEST_PAIRS else {"facecolor": ORDER_COLOURS[name]}
        panel.bar(place, share.value, edgecolor=ORDER_COLOURS[name], alpha=0.6, width=0.7, **look)
        reach = np.nan_to_num(np.maximum(style.error_bars([share]), 0.0), posinf=0.0)
        panel.errorbar(place, share.value, yerr=reach, color="#333333", capsize=3, linewidth=1)
        if not low < share.value < high:  # the bar is cut off
            edge, side = (high, "top") if share.value > 0 else (low, "bottom")
            box = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
            panel.text(place, edge, f"{share.value:.1f}", ha="center", va=side, fontsize=8, bbox=box)
    panel.axhline(1.0, color="#999999", linewidth=0.8, linestyle=":")
    panel.axhline(0.0, color="#333333", linewidth=0.8)
    panel.set_xlim(-0.6, len(learners.ORDERS) - 0.4)
    panel.set_ylim(low, high)
    panel.set_xticks(range(len(shares)), list(shares), fontsize=8)
    panel.set_xlabel(f"order, at {size} examples" if shares else "not measured")


def league(results: Results) -> Figure:
    """Draw the mean accuracy of every learner on every function as a table of colours."""
    rows = learners.league_rows(results)
    keys = learners.learners_of(rows)
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
    panel.set_xticks(range(len(keys)), ["\n".join(textwrap.wrap(learners.LEARNERS[key].name, 10)) for key in keys], fontsize=8)
    panel.xaxis.tick_top()
    panel.set_yticks(range(len(rows)), [f"{row.problem}, {row.size} examples" for row in rows], fontsize=8)
    panel.tick_params(length=0)
    panel.spines[:].set_visible(False)
    few = any(mean.n < est.FEWEST_PAIRS for row in rows for mean in row.accuracy.values())
    shown = "Mean accuracy on unseen rows, the best in bold" + (f"; ° {style.FEW}" if few else "")
    return style.finish(figure, results, [], shown=shown)


def _cell(mean: est.Estimate | None) -> str:
    return "–" if mean is None else f"{mean.value:.3f}{'°' if mean.n < est.FEWEST_PAIRS else ''}"
