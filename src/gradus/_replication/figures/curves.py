"""Figures of accuracy, gains and steps against training size, and tables 2 and 3 as pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from gradus._experiments.results import Results
from gradus._experiments.tasks import BASELINES
from gradus._replication.estimates import accuracy_by_size, gain_by_size, mean_interval, target_gain_by_size
from gradus._replication.figures.style import (
    ACCURACY,
    COLOURS,
    GAIN,
    GRID,
    LABELS,
    SIZE,
    band,
    figure_of_panels,
    finish,
    label_axes,
    limit_accuracy,
)
from gradus._replication.gains import STRICTER_LOSSES, gains_by_target
from gradus._replication.paper import KNOWN_ORDER, REAL_WORLD, problem_title, problems_of

__all__ = ["accuracy", "baselines", "beyond", "fig3", "fig4", "fig7", "figA1", "figA2", "tab2", "tab3"]

MILLION = 1e6
VARIED = ("method", "loss", "order", "gates_per_target", "history")
METHOD_NAMES = {"tree": "decision tree", "chain": "chain of trees", "forest": "random forest", "mlp": "small MLP"}


def draw_gains(panel: Any, results: Results, losses: Sequence[str] = STRICTER_LOSSES) -> None:
    """Draw gains over L1, in points, of one problem."""
    base = results.select(loss="l1")
    panel.axhline(0, color=COLOURS["l1"], linewidth=0.8)
    series = [gain_by_size(results.select(loss=loss).pairs(base)) for loss in losses]
    sizes = {size for points in series for size, _ in points}
    for place, (loss, points) in enumerate(zip(losses, series, strict=True)):
        # With a single size the intervals would cover each other.
        aside = 0.1 * (place - (len(losses) - 1) / 2) if len(sizes) == 1 else 0.0
        band(panel, [(size + aside, gain.scaled(100)) for size, gain in points], COLOURS[loss], LABELS[loss])
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
        if k % 4 in (0, 3):
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


def _gains_of(results: Results, wanted: Sequence[str]) -> Figure:
    problems = problems_of(results, wanted)
    figure, panels = figure_of_panels(len(problems), 3)
    for panel, problem in zip(panels, problems, strict=True):
        draw_gains(panel, results.select(problem=problem))
        panel.set_title(problem_title(problem), fontsize=9)
    label_axes(panels, 3, SIZE, GAIN)
    return finish(figure, results, panels)


def fig4(results: Results) -> Figure:
    """Draw gains over L1 on the problems with a known order."""
    return _gains_of(results, KNOWN_ORDER)


def fig7(results: Results) -> Figure:
    """Draw gains over L1 on the real-world models, with automatic orders."""
    return _gains_of(results, REAL_WORLD)


def figA1(results: Results) -> Figure:  # noqa: N802 - the figure's name
    """Draw the gain of Lgh over L1, target by target, on additions of growing width."""
    problems = problems_of(results, ("add3", "add4", "add5", "add6"))
    figure, panels = figure_of_panels(len(problems), 2)
    most = max(results.select(problem=problem).per_target.shape[1] for problem in problems)
    for panel, problem in zip(panels, problems, strict=True):
        one = results.select(problem=problem)
        by_size = target_gain_by_size(one.select(loss="lgh").pairs(one.select(loss="l1")))
        panel.axhline(0, color=COLOURS["l1"], linewidth=0.8)
        for k in range(one.per_target.shape[1]):
            points = [(size, gains[k].scaled(100)) for size, gains in by_size.items()]
            band(panel, points, _sequential(k, most), f"target {k + 1}")
        panel.set_title(problem_title(problem), fontsize=9)
    label_axes(panels, 2, SIZE, "gain of $L_{gh}$ over $L_1$ (points)")
    return finish(figure, results, panels)


def _sequential(k: int, count: int) -> Any:
    from matplotlib import colormaps

    return colormaps["viridis"](0.9 * k / max(1, count - 1))


def figA2(results: Results) -> Figure:  # noqa: N802 - the figure's name
    """Draw the mean number of steps to zero training error."""
    problems = problems_of(results)
    figure, panels = figure_of_panels(len(problems), 3)
    for panel, problem in zip(panels, problems, strict=True):
        for loss, label in LABELS.items():
            usable = results.select(problem=problem, loss=loss).usable_only()
            steps = usable.iterations.astype(np.float64) / MILLION
            points = [(size, mean_interval(steps[usable.n_train == size])) for size in usable.sizes]
            band(panel, points, COLOURS[loss], label)
        panel.set_title(problem_title(problem), fontsize=9)
        panel.set_ylim(bottom=0)
    label_axes(panels, 3, SIZE, "steps to zero error (millions)")
    return finish(figure, results, panels)


def baselines(results: Results) -> Figure:
    """Draw the accuracy of plain classifiers beside that of networks."""
    return _methods(results, ())


def beyond(results: Results) -> Figure:
    """Draw the accuracy of lessons beside that of networks and of plain classifiers."""
    return _methods(results, ("lessons",))


def _methods(results: Results, ours: Sequence[str]) -> Figure:
    problems = problems_of(results)
    figure, panels = figure_of_panels(len(problems), 3)
    for panel, problem in zip(panels, problems, strict=True):
        one = results.select(problem=problem)
        for method in BASELINES:
            points = accuracy_by_size(one.select(method=method))
            band(panel, points, COLOURS[method], METHOD_NAMES.get(method, method), linestyle="--")
        for loss in ("l1", "lgh"):
            points = accuracy_by_size(one.select(method="network", loss=loss))
            band(panel, points, COLOURS[loss], f"network, {LABELS[loss]}")
        for method in ours:
            band(panel, accuracy_by_size(one.select(method=method)), COLOURS[method], method)
        panel.set_title(problem_title(problem), fontsize=9)
        limit_accuracy(panel)
    label_axes(panels, 3, SIZE, ACCURACY)
    return finish(figure, results, panels)


def accuracy(results: Results) -> Figure:
    """Draw accuracy against training size for everything that was varied: the figure of users' own specs."""
    problems = problems_of(results)
    columns = min(3, max(1, len(problems)))
    figure, panels = figure_of_panels(len(problems), columns)
    axes = [name for name in VARIED if _varies(results, name)]
    for panel, problem in zip(panels, problems, strict=True):
        one = results.select(problem=problem)
        variants = sorted({tuple(row) for row in zip(*(getattr(one, name).tolist() for name in axes), strict=True)}, key=str)
        for k, variant in enumerate(variants or [()]):
            rows = one.select(**dict(zip(axes, variant, strict=True)))
            label = ", ".join(_say(name, value) for name, value in zip(axes, variant, strict=True)) or "all"
            band(panel, accuracy_by_size(rows), COLOURS.get(label, f"C{k}"), LABELS.get(label, label))
        panel.set_title(problem_title(problem), fontsize=9)
        limit_accuracy(panel)
    label_axes(panels, columns, SIZE, ACCURACY)
    return finish(figure, results, panels)


def _varies(results: Results, name: str) -> bool:
    return len(set(getattr(results, name).tolist())) > 1


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
    panel.axvline(0, color=COLOURS["l1"], linewidth=0.8)
    panel.set_yticks(range(len(rows)), [f"{name}  ({100 * base.value:.1f} %)" for name, base, _ in rows])
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
