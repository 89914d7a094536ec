"""Figures of accuracy, gains and steps against training size or order, and tables 2 and 3 as pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from gradus_paper import estimates as est
from gradus_paper.figures import style
from gradus_paper.paper import AUTOMATIC, GAIN_TABLES, problems_of
from gradus_paper.results import Results
from gradus_paper.tasks import BY_COLUMN

HEADLINE_CURVES = {
    "l1": ({"loss": "l1", "method": "network"}, "$L_1$: all targets at once"),
    "lgh": ({"loss": "lgh", "method": "network"}, "$L_{gh}$: the paper's curriculum, known order"),
    "lessons": ({"method": "lessons"}, "lessons: ours, no order given"),
}
MILLION = 1e6
TAU_TICKS = (-1.0, -0.5, 0.0, 0.5, 1.0)
VARIED = ("method", "loss", "order", "gates_per_target", "history")
TIE_RULES: tuple[tuple[Any, str, str], ...] = (
    ("known", "lgh", "given order"),
    (AUTOMATIC, "auto", "found order, ties drawn"),
    (BY_COLUMN, "lw", "found order, ties in column order"),
)
TAU_COLOURS = ("#B2182B", "#808080", "#2166AC")  # of the reverse, an unrelated and the known order; all seen on white


def headline(results: Results) -> Figure:
    """Draw the accuracy on parity against training size, large, with the gain of Lgh over L1 marked."""
    part = results.select(problem="cpar7")
    figure = Figure(figsize=(9.6, 5.4), layout="constrained")
    panel = figure.subplots()
    style.tidy_axes([panel])
    for name, (columns, label) in HEADLINE_CURVES.items():
        points = est.accuracy_by_size(part.select(**columns))
        style.band(panel, points, style.COLOURS[name], label, linewidth=2.4, markersize=5)
    style.limit_accuracy(panel)
    _mark_gain(panel, part)
    panel.set_xlabel(style.SIZE + " (of 128 patterns)", fontsize=12)
    panel.set_ylabel(style.ACCURACY + " on unseen patterns", fontsize=12)
    panel.tick_params(labelsize=11)
    return style.finish(figure, part, [panel])


def _mark_gain(panel: Any, part: Results) -> None:
    """Mark the distance between the two losses at the size that the page sums up."""
    numbers = est.headline_numbers(part)
    if numbers is None:
        return
    accuracy, gain = numbers
    low, high = accuracy["L1"].value, accuracy["Lgh"].value
    arrow = {"arrowstyle": "<|-|>", "color": "#333333", "linewidth": 1.2, "shrinkA": 3, "shrinkB": 3}
    panel.annotate("", xy=(est.HEADLINE_SIZE, high), xytext=(est.HEADLINE_SIZE, low), arrowprops=arrow)
    points = gain.scaled(100)
    said = f"{points.value:+.1f} points\n[{points.low:.1f}, {points.high:.1f}]"
    panel.text(est.HEADLINE_SIZE + 1, low - 0.03, said, va="top", fontsize=12, color="#333333")


def _draw_gain(panel: Any, gains: Sequence[tuple[float, est.Estimate]], colour: Any, label: str) -> None:
    """Draw a curve of gains in points."""
    style.band(panel, [(at, gain.scaled(100)) for at, gain in gains], colour, label)


def _draw_gains(panel: Any, results: Results) -> None:
    """Draw the gains over L1 of one problem."""
    base = results.select(loss="l1")
    style.zero_line(panel)
    series = [est.gain_by_size(results.select(loss=loss).pairs(base)) for loss in est.STRICTER_LOSSES]
    sizes = {size for points in series for size, _ in points}
    for place, (loss, points) in enumerate(zip(est.STRICTER_LOSSES, series, strict=True)):
        # With a single size the intervals would cover each other.
        aside = 0.1 * (place - (len(est.STRICTER_LOSSES) - 1) / 2) if len(sizes) == 1 else 0.0
        _draw_gain(panel, [(size + aside, gain) for size, gain in points], style.COLOURS[loss], style.LABELS[loss])
    if len(sizes) == 1:
        (size,) = sizes
        panel.set_xticks([size])
        panel.set_xlim(size - 1, size + 1)


def fig3(results: Results) -> Figure:
    """Draw the accuracy on cascaded parity for the four losses, and the gain of each target."""
    part = results.select(problem="cpar7")
    figure, panels = style.figure_of_panels(1 + part.per_target.shape[1], 4)
    first, *targets = panels
    for loss, label in style.LABELS.items():
        style.band(first, est.accuracy_by_size(part.select(loss=loss)), style.COLOURS[loss], label)
    style.limit_accuracy(first)
    first.set_title("mean over targets", fontsize=9)
    first.set_ylabel(style.ACCURACY)
    base = part.select(loss="l1")
    for loss in est.STRICTER_LOSSES:
        gains = est.target_gain_by_size(part.select(loss=loss).pairs(base))
        for panel, points in zip(targets, gains, strict=False):  # none without pairs
            _draw_gain(panel, points, style.COLOURS[loss], style.LABELS[loss])
    limits = [panel.get_ylim() for panel in targets]
    for k, panel in enumerate(targets):
        panel.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
        style.zero_line(panel)
        panel.set_title(f"target {k + 1}", fontsize=9)
        if k == 0 or k % 4 == 3:  # at the left, or beside the panel of accuracies
            panel.set_ylabel(style.GAIN)
    for panel in panels:
        panel.set_xlabel(style.SIZE)
    return style.finish(figure, part, panels)


def fig4(results: Results) -> Figure:
    """Draw gains over L1 on every problem."""
    return style.panel_per_problem(results, _draw_gains, y=style.GAIN)


def fig5(results: Results) -> Figure:
    """Draw the gain of Lgh with the given and with the automatic order, and tau and eta of the latter."""

    def draw(above: Any, below: Any, base: Results, lgh: Results) -> None:
        found = lgh.select(order=AUTOMATIC)
        _draw_gain(above, est.gain_by_size(lgh.select(order="known").pairs(base)), style.COLOURS["lgh"], "given order")
        _draw_gain(above, est.gain_by_size(found.pairs(base)), style.COLOURS["auto"], "automatic order")
        style.band(below, est.mean_by_size(found, found.tau), "#0072B2", r"$\tau$")
        style.band(below, est.mean_by_size(found, found.eta), "#CC79A7", r"$\eta$")
        below.axhline(0.5, color="#999999", linewidth=0.8, linestyle=":")

    return _gains_above_orders(results, draw, r"$\tau$ and $\eta$")


def ties(results: Results) -> Figure:
    """Draw the gain of Lgh with ties drawn and in column order, beside the given order, and tau of both."""

    def draw(above: Any, below: Any, base: Results, lgh: Results) -> None:
        for words, colour, label in TIE_RULES:
            rows = lgh.select(order=words)
            _draw_gain(above, est.gain_by_size(rows.pairs(base)), style.COLOURS[colour], label)
            if words != "known":
                style.band(below, est.mean_by_size(rows, rows.tau), style.COLOURS[colour], label)

    return _gains_above_orders(results, draw, r"$\tau$ with the known order")


def _gains_above_orders(results: Results, draw: Callable[..., None], y: str) -> Figure:
    """Draw a column for each problem: gains over L1, and below how the orders compare with the known one."""
    problems = problems_of(results)
    figure, grid = style.rows_of_panels(2, len(problems), height=5.6)
    for (above, below), problem in zip(grid.T, problems, strict=True):
        part = results.select(problem=problem)
        style.name_panel(above, problem)
        style.zero_line(above)
        draw(above, below, part.select(loss="l1"), part.select(loss="lgh"))
        below.set_ylim(-0.05, 1.05)
        below.set_xlim(above.get_xlim())
        for panel in (above, below):
            panel.set_xlabel(style.SIZE)
    grid[0, 0].set_ylabel(style.GAIN)
    grid[1, 0].set_ylabel(y)
    return style.finish(figure, results, list(grid.flat))


def fig6(results: Results) -> Figure:
    """Draw the gain of Lgh over L1 on addition, for orders at every Kendall distance from the known one."""
    from matplotlib import cm, colors

    part = results.select(problem=results.problems[0])
    figure = Figure(figsize=(9.6, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    colours = colors.LinearSegmentedColormap.from_list("tau", TAU_COLOURS)
    for tau, pairs in est.pairs_by_tau(part):
        points = [(size, gain.scaled(100)) for size, gain in est.gain_by_size(pairs)]
        style.curve(left, points, colours((1 + tau) / 2), f"τ = {tau:.1f}")
    left.set_xlabel(style.SIZE)
    scale = cm.ScalarMappable(colors.Normalize(-1, 1), colours)
    figure.colorbar(scale, ax=left, location="top", aspect=40, ticks=TAU_TICKS, label=r"$\tau$ with the known order")
    size = est.middle_size(part)
    if size is not None:
        found = {tau: est.mean_interval(100 * pairs.gain) for tau, pairs in est.pairs_by_tau(part.select(n_train=size))}
        taus, gains = list(found), list(found.values())
        look: dict[str, Any] = {"color": style.COLOURS["lgh"], "marker": "o", "markersize": 3, "linewidth": 1.2, "capsize": 2}
        right.errorbar(taus, [gain.value for gain in gains], yerr=style.error_bars(gains), **look)
        right.set_title(f"{size} training examples", fontsize=9)
    right.set_xlabel(r"$\tau$ with the known order")
    right.set_xticks(TAU_TICKS)
    for panel in (left, right):
        style.zero_line(panel)
        panel.set_ylabel(style.GAIN)
    style.tidy_axes((left, right))
    return style.finish(figure, part, [], shown="95 % intervals at the right")


def fig7(results: Results) -> Figure:
    """Draw the same on the real-world models."""
    return fig4(results)


def figA1(results: Results) -> Figure:  # noqa: N802 - the figure's name
    """Draw the gain of each loss over L1, target by target, on additions of growing width."""
    from matplotlib import colormaps

    problems = problems_of(results)
    most = max(results.select(problem=problem).per_target.shape[1] for problem in problems)
    figure, grid = style.rows_of_panels(len(est.STRICTER_LOSSES), len(problems), height=7.2)
    for column, problem in enumerate(problems):
        part = results.select(problem=problem)
        base = part.select(loss="l1")
        style.name_panel(grid[0, column], problem)
        for panel, loss in zip(grid[:, column], est.STRICTER_LOSSES, strict=True):
            style.zero_line(panel)
            panel.set_xlabel(style.SIZE)
            for k, points in enumerate(est.target_gain_by_size(part.select(loss=loss).pairs(base))):
                _draw_gain(panel, points, colormaps["viridis"](0.9 * k / max(1, most - 1)), f"target {k + 1}")
    for panel, loss in zip(grid[:, 0], est.STRICTER_LOSSES, strict=True):
        panel.set_ylabel(f"gain of {style.LABELS[loss]} (points)")
    return style.finish(figure, results, list(grid.flat))


def figA2(results: Results) -> Figure:  # noqa: N802 - the figure's name
    """Draw the mean number of steps to zero training error."""

    def draw(panel: Any, part: Results) -> None:
        for loss, label in style.LABELS.items():
            usable = part.select(loss=loss).usable_only()
            steps = usable.iterations.astype(np.float64) / MILLION
            points = [(size, est.mean_interval(steps[usable.n_train == size])) for size in usable.sizes]
            style.band(panel, points, style.COLOURS[loss], label)
        panel.set_ylim(bottom=0)

    return style.panel_per_problem(results, draw, y="steps to zero error (millions)")


def accuracy(results: Results) -> Figure:
    """Draw accuracy against training size for everything that was varied: the figure of users' own specs."""
    axes = [name for name in VARIED if len(set(getattr(results, name).tolist())) > 1]

    def draw(panel: Any, part: Results) -> None:
        variants = sorted({tuple(row) for row in zip(*(getattr(part, name).tolist() for name in axes), strict=True)}, key=str)
        for k, variant in enumerate(variants or [()]):
            rows = part.select(**dict(zip(axes, variant, strict=True)))
            label = ", ".join(_setting(name, value) for name, value in zip(axes, variant, strict=True)) or "all"
            name = style.LABELS.get(label, style.plain_text(label))
            style.band(panel, est.accuracy_by_size(rows), style.COLOURS.get(label, f"C{k}"), name)
        style.limit_accuracy(panel)

    return style.panel_per_problem(results, draw, y=style.ACCURACY)


def _setting(name: str, value: Any) -> str:
    return str(value) if name in ("method", "loss", "order") else f"{name.replace('_', ' ')} {value}"


def tab3(results: Results) -> Figure:
    """Draw the same for E. coli."""
    return tab2(results, "ecoli")


def tab2(results: Results, problem: str = "yeast") -> Figure:
    """Draw leave-one-out gains over L1 for a time series, target by target."""
    rows = est.gains_by_target(results, problem)
    figure = Figure(figsize=(6.4, 0.5 * len(rows) + 1.4), layout="constrained")
    panel = figure.subplots()
    for shift, loss in zip((-0.2, 0.0, 0.2), est.STRICTER_LOSSES, strict=True):
        places = [place + shift for place, (_, _, gains) in enumerate(rows) if loss in gains]
        found = [gains[loss].scaled(100) for _, _, gains in rows if loss in gains]
        look: dict[str, Any] = {"fmt": "o", "markersize": 4, "capsize": 2, "color": style.COLOURS[loss]}
        look["label"] = style.LABELS[loss]
        panel.errorbar([gain.value for gain in found], places, xerr=style.error_bars(found), **look)
        paper = GAIN_TABLES[problem]
        there = [(paper[name][loss], place + shift) for place, (name, _, _) in enumerate(rows) if name in paper]
        panel.plot(*zip(*there, strict=True), "D", markersize=4, markerfacecolor="white", markeredgecolor=style.COLOURS[loss])
    panel.plot([], [], "D", markersize=4, markerfacecolor="white", markeredgecolor="#333333", label="the paper's value")
    panel.axvline(0, color=style.COLOURS["l1"], linewidth=0.8)
    style.tidy_axes([panel])
    panel.yaxis.grid(False)
    panel.set_yticks(range(len(rows)), [f"{style.plain_text(name)}  ({100 * base.value:.1f} %)" for name, base, _ in rows])
    panel.invert_yaxis()
    panel.set_xlabel("leave-one-out gain over $L_1$ (points); in brackets the accuracy of $L_1$")
    return style.finish(figure, results.select(problem=problem), [panel])
