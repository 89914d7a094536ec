"""Figures of accuracy, gains and steps against training size or order, and tables 2 and 3 as pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from gradus._experiments.results import Results
from gradus._experiments.tasks import BASELINES
from gradus._replication.estimates import accuracy_by_size, gain_by_size, mean_by_size, mean_interval, target_gain_by_size
from gradus._replication.figures.style import (
    ACCURACY,
    COLOURS,
    GAIN,
    GRID,
    LABELS,
    SIZE,
    band,
    curve,
    figure_of_panels,
    finish,
    label_axes,
    limit_accuracy,
    plain_text,
    tidy_axes,
)
from gradus._replication.gains import STRICTER_LOSSES, gain_by_tau, gains_by_target, middle_size, tau_values
from gradus._replication.highlights import HEADLINE_SIZE, headline_numbers
from gradus._replication.paper import AUTOMATIC, GAIN_TABLES, KNOWN_ORDER, REAL_WORLD, problem_title, problems_of

__all__ = ["accuracy", "baselines", "fig3", "fig4", "fig5", "fig6", "fig7", "figA1", "figA2", "headline", "tab2", "tab3"]

HEADLINE_CURVES = {
    "l1": ({"loss": "l1", "method": "network"}, "$L_1$: all targets at once"),
    "lgh": ({"loss": "lgh", "method": "network"}, "$L_{gh}$: the paper's curriculum, known order"),
    "lessons": ({"method": "lessons"}, "lessons: ours, no order given"),
}
MILLION = 1e6
TAU_TICKS = (-1.0, -0.5, 0.0, 0.5, 1.0)
VARIED = ("method", "loss", "order", "gates_per_target", "history")
METHOD_NAMES = {
    "tree": "decision tree",
    "chain": "chain of trees",
    "forest": "random forest",
    "boosting": "gradient boosting",
    "mlp": "small MLP",
}


def headline(results: Results) -> Figure:
    """Draw the accuracy on parity against training size, large, with the gain of Lgh over L1 marked."""
    one = results.select(problem="cpar7")
    figure = Figure(figsize=(9.6, 5.4), layout="constrained")
    panel = figure.subplots()
    tidy_axes([panel])
    for name, (columns, label) in HEADLINE_CURVES.items():
        points = accuracy_by_size(one.select(**columns))
        band(panel, points, COLOURS[name], label, linewidth=2.4, markersize=5)
    limit_accuracy(panel)
    _mark_gain(panel, one)
    panel.set_xlabel(SIZE + " (of 128 patterns)", fontsize=12)
    panel.set_ylabel(ACCURACY + " on unseen patterns", fontsize=12)
    panel.tick_params(labelsize=11)
    return finish(figure, one, [panel])


def _mark_gain(panel: Any, one: Results) -> None:
    """Mark the distance between the two losses at the size that the page sums up."""
    numbers = headline_numbers(one)
    if numbers is None:
        return
    accuracy, gain = numbers
    low, high = accuracy["L1"].value, accuracy["Lgh"].value
    arrow = {"arrowstyle": "<|-|>", "color": "#333333", "linewidth": 1.2, "shrinkA": 3, "shrinkB": 3}
    panel.annotate("", xy=(HEADLINE_SIZE, high), xytext=(HEADLINE_SIZE, low), arrowprops=arrow)
    points = gain.scaled(100)
    said = f"{points.value:+.1f} points\n[{points.low:.1f}, {points.high:.1f}]"
    panel.text(HEADLINE_SIZE + 1, low - 0.03, said, va="top", fontsize=12, color="#333333")


def draw_gains(panel: Any, results: Results) -> None:
    """Draw gains over L1, in points, of one problem."""
    base = results.select(loss="l1")
    panel.axhline(0, color=COLOURS["l1"], linewidth=0.8)
    series = [gain_by_size(results.select(loss=loss).pairs(base)) for loss in STRICTER_LOSSES]
    sizes = {size for points in series for size, _ in points}
    for place, (loss, points) in enumerate(zip(STRICTER_LOSSES, series, strict=True)):
        # With a single size the intervals would cover each other.
        aside = 0.1 * (place - (len(STRICTER_LOSSES) - 1) / 2) if len(sizes) == 1 else 0.0
        in_points = [(size + aside, gain.scaled(100)) for size, gain in points]
        band(panel, in_points, COLOURS[loss], LABELS[loss])
    if len(sizes) == 1:
        (size,) = sizes
        panel.set_xticks([size])
        panel.set_xlim(size - 1, size + 1)


def fig3(results: Results) -> Figure:
    """Draw the accuracy on cascaded parity for the four losses, and the gain of each target."""
    one = results.select(problem="cpar7")
    m = one.per_target.shape[1]
    figure, panels = figure_of_panels(1 + m, 4)
    for loss, label in LABELS.items():
        band(panels[0], accuracy_by_size(one.select(loss=loss)), COLOURS[loss], label)
    limit_accuracy(panels[0])
    panels[0].set_title("mean over targets", fontsize=9)
    panels[0].set_ylabel(ACCURACY)
    base = one.select(loss="l1")
    for loss in STRICTER_LOSSES:
        by_size = target_gain_by_size(one.select(loss=loss).pairs(base))
        for k in range(m):
            points = [(size, gains[k].scaled(100)) for size, gains in by_size.items()]
            band(panels[1 + k], points, COLOURS[loss], LABELS[loss])
    _level([panels[1 + k] for k in range(m)])
    for k in range(m):
        panels[1 + k].axhline(0, color=COLOURS["l1"], linewidth=0.8)
        panels[1 + k].set_title(f"target {k + 1}", fontsize=9)
        if k == 0 or k % 4 == 3:  # at the left, or beside the panel of accuracies
            panels[1 + k].set_ylabel(GAIN)
    for panel in panels:
        panel.set_xlabel(SIZE)
    return finish(figure, one, panels)


def _level(panels: Sequence[Any]) -> None:
    """Give panels the same vertical range."""
    low = min(panel.get_ylim()[0] for panel in panels)
    high = max(panel.get_ylim()[1] for panel in panels)
    for panel in panels:
        panel.set_ylim(low, high)


def _panel_per_problem(
    results: Results, problems: Sequence[str], y: str, draw: Callable[[Any, Results], None], columns: int = 3
) -> Figure:
    """Draw one panel for each problem, of its rows alone."""
    figure, panels = figure_of_panels(len(problems), columns)
    for panel, problem in zip(panels, problems, strict=True):
        draw(panel, results.select(problem=problem))
        panel.set_title(plain_text(problem_title(problem)), fontsize=9)
    label_axes(panels, columns, SIZE, y)
    return finish(figure, results, panels)


def fig4(results: Results) -> Figure:
    """Draw gains over L1 on the problems with a known order."""
    return _panel_per_problem(results, problems_of(results, KNOWN_ORDER), GAIN, draw_gains)


def fig5(results: Results) -> Figure:
    """Draw the gain of Lgh with the given and with the automatic order, and tau and eta of the latter."""
    problems = problems_of(results)
    figure = Figure(figsize=(2.7 * len(problems) + 0.4, 5.6), layout="constrained")
    grid = figure.subplots(2, len(problems), squeeze=False, sharey="row")
    for column, problem in enumerate(problems):
        one = results.select(problem=problem)
        base, lgh = one.select(loss="l1"), one.select(loss="lgh")
        found = lgh.select(order=AUTOMATIC)
        above, below = grid[:, column]
        above.axhline(0, color=COLOURS["l1"], linewidth=0.8)
        for rows, colour, label in (
            (lgh.select(order="known"), COLOURS["lgh"], "given order"),
            (found, COLOURS["auto"], "automatic order"),
        ):
            points = [(size, gain.scaled(100)) for size, gain in gain_by_size(rows.pairs(base))]
            band(above, points, colour, label)
        for values, colour, label in ((found.tau, "#0072B2", r"$\tau$"), (found.eta, "#CC79A7", r"$\eta$")):
            band(below, mean_by_size(found, values), colour, label)
        below.axhline(0.5, color="#999999", linewidth=0.8, linestyle=":")
        below.set_ylim(-0.05, 1.05)
        above.set_title(plain_text(problem_title(problem)), fontsize=9)
        below.set_xlim(above.get_xlim())
        for panel in (above, below):
            panel.set_xlabel(SIZE)
    tidy_axes(grid.flat)
    grid[0, 0].set_ylabel(GAIN)
    grid[1, 0].set_ylabel(r"$\tau$ and $\eta$")
    return finish(figure, results, list(grid.flat))


def fig6(results: Results) -> Figure:
    """Draw the gain of Lgh over L1 on addition, for orders at every Kendall distance from the known one."""
    from matplotlib import cm, colors

    one = results.select(problem=results.problems[0])
    base, lgh = one.select(loss="l1"), one.select(loss="lgh")
    taus = tau_values(lgh)
    figure = Figure(figsize=(9.6, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    scale = cm.ScalarMappable(colors.Normalize(-1, 1), "coolwarm_r")
    for tau in sorted(set(taus.tolist())):
        pairs = lgh.where(taus == tau).pairs(base)
        points = [(size, gain.scaled(100)) for size, gain in gain_by_size(pairs)]
        curve(left, points, scale.to_rgba(tau), f"τ = {tau:.1f}")
    left.axhline(0, color=COLOURS["l1"], linewidth=0.8)
    left.set_xlabel(SIZE)
    left.set_ylabel(GAIN)
    figure.colorbar(scale, ax=left, location="top", aspect=40, ticks=TAU_TICKS, label=r"$\tau$ with the known order")
    size = middle_size(one)
    if size is not None:
        _draw_gain_by_tau(right, one, size)
    right.axhline(0, color=COLOURS["l1"], linewidth=0.8)
    right.set_xlabel(r"$\tau$ with the known order")
    right.set_xticks(TAU_TICKS)
    right.set_ylabel(GAIN)
    tidy_axes((left, right))
    return finish(figure, one, [], shown="95 % intervals at the right")


def _draw_gain_by_tau(panel: Any, one: Results, size: int) -> None:
    """Draw the gain at one training size against tau."""
    by_tau = gain_by_tau(one, size)
    panel.errorbar(
        [tau for tau, _ in by_tau],
        [gain.value for _, gain in by_tau],
        yerr=[[g.value - g.low for _, g in by_tau], [g.high - g.value for _, g in by_tau]],
        color=COLOURS["lgh"], marker="o", markersize=3, linewidth=1.2, capsize=2,
    )  # fmt: skip
    panel.set_title(f"{size} training examples", fontsize=9)


def fig7(results: Results) -> Figure:
    """Draw gains over L1 on the real-world models, with automatic orders."""
    return _panel_per_problem(results, problems_of(results, REAL_WORLD), GAIN, draw_gains)


def figA1(results: Results) -> Figure:  # noqa: N802 - the figure's name
    """Draw the gain of Lgh over L1, target by target, on additions of growing width."""
    from matplotlib import colormaps

    problems = problems_of(results, ("add3", "add4", "add5", "add6"))
    most = max(results.select(problem=problem).per_target.shape[1] for problem in problems)

    def draw(panel: Any, one: Results) -> None:
        by_size = target_gain_by_size(one.select(loss="lgh").pairs(one.select(loss="l1")))
        panel.axhline(0, color=COLOURS["l1"], linewidth=0.8)
        for k in range(one.per_target.shape[1]):
            points = [(size, gains[k].scaled(100)) for size, gains in by_size.items()]
            band(panel, points, colormaps["viridis"](0.9 * k / max(1, most - 1)), f"target {k + 1}")

    return _panel_per_problem(results, problems, "gain of $L_{gh}$ over $L_1$ (points)", draw, columns=2)


def figA2(results: Results) -> Figure:  # noqa: N802 - the figure's name
    """Draw the mean number of steps to zero training error."""

    def draw(panel: Any, one: Results) -> None:
        for loss, label in LABELS.items():
            usable = one.select(loss=loss).usable_only()
            steps = usable.iterations.astype(np.float64) / MILLION
            points = [(size, mean_interval(steps[usable.n_train == size])) for size in usable.sizes]
            band(panel, points, COLOURS[loss], label)
        panel.set_ylim(bottom=0)

    return _panel_per_problem(results, problems_of(results), "steps to zero error (millions)", draw)


def baselines(results: Results) -> Figure:
    """Draw the accuracy of plain classifiers beside that of networks and of lessons."""

    def draw(panel: Any, one: Results) -> None:
        for method in BASELINES:
            points = accuracy_by_size(one.select(method=method))
            band(panel, points, COLOURS[method], METHOD_NAMES.get(method, method), linestyle="--")
        for loss in ("l1", "lgh"):
            points = accuracy_by_size(one.select(method="network", loss=loss))
            band(panel, points, COLOURS[loss], f"network, {LABELS[loss]}")
        band(panel, accuracy_by_size(one.select(method="lessons")), COLOURS["lessons"], "lessons", linewidth=2.2)
        limit_accuracy(panel)

    return _panel_per_problem(results, problems_of(results), ACCURACY, draw)


def accuracy(results: Results) -> Figure:
    """Draw accuracy against training size for everything that was varied: the figure of users' own specs."""
    problems = problems_of(results)
    axes = [name for name in VARIED if len(set(getattr(results, name).tolist())) > 1]

    def draw(panel: Any, one: Results) -> None:
        variants = sorted({tuple(row) for row in zip(*(getattr(one, name).tolist() for name in axes), strict=True)}, key=str)
        for k, variant in enumerate(variants or [()]):
            rows = one.select(**dict(zip(axes, variant, strict=True)))
            label = ", ".join(_say(name, value) for name, value in zip(axes, variant, strict=True)) or "all"
            band(panel, accuracy_by_size(rows), COLOURS.get(label, f"C{k}"), LABELS.get(label, plain_text(label)))
        limit_accuracy(panel)

    return _panel_per_problem(results, problems, ACCURACY, draw, columns=min(3, max(1, len(problems))))


def _say(name: str, value: Any) -> str:
    return str(value) if name in ("method", "loss", "order") else f"{name.replace('_', ' ')} {value}"


def _table_figure(results: Results, problem: str) -> Figure:
    rows = gains_by_target(results, problem)
    figure = Figure(figsize=(6.4, 0.5 * len(rows) + 1.4), layout="constrained")
    panel = figure.subplots()
    for shift, loss in zip((-0.2, 0.0, 0.2), STRICTER_LOSSES, strict=True):
        known = [(place + shift, gains[loss].scaled(100)) for place, (_, _, gains) in enumerate(rows) if loss in gains]
        panel.errorbar(
            [gain.value for _, gain in known],
            [place for place, _ in known],
            xerr=[[g.value - g.low for _, g in known], [g.high - g.value for _, g in known]],
            fmt="o", markersize=4, capsize=2, color=COLOURS[loss], label=LABELS[loss],
        )  # fmt: skip
        paper = GAIN_TABLES[problem]
        there = [(paper[name][loss], place + shift) for place, (name, _, _) in enumerate(rows) if name in paper]
        panel.plot(*zip(*there, strict=True), "D", markersize=4, markerfacecolor="white", markeredgecolor=COLOURS[loss])
    panel.plot([], [], "D", markersize=4, markerfacecolor="white", markeredgecolor="#333333", label="the paper's value")
    panel.axvline(0, color=COLOURS["l1"], linewidth=0.8)
    panel.set_yticks(range(len(rows)), [f"{plain_text(name)}  ({100 * base.value:.1f} %)" for name, base, _ in rows])
    panel.invert_yaxis()
    panel.set_xlabel("leave-one-out gain over $L_1$ (points); in brackets the accuracy of $L_1$")
    panel.xaxis.grid(**GRID)
    panel.set_axisbelow(True)
    panel.spines[["top", "right"]].set_visible(False)
    return finish(figure, results.select(problem=problem), [panel])


def tab2(results: Results) -> Figure:
    """Draw leave-one-out gains over L1 for fission yeast, target by target."""
    return _table_figure(results, "yeast")


def tab3(results: Results) -> Figure:
    """Draw leave-one-out gains over L1 for E. coli, target by target."""
    return _table_figure(results, "ecoli")
