"""What all figures share: the paper's labels, fixed colours, panels, bands, and the line that says which runs count."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from gradus_paper import estimates as est
from gradus_paper.paper import by_problem, problem_title
from gradus_paper.results import Results

# Colours that people with any kind of colour vision can tell apart (Okabe and Ito; those of lessons are Tol's). A learner has
# the same one in all figures.
COLOURS = {
    "l1": "#4d4d4d", "lw": "#0072B2", "llh": "#E69F00", "lgh": "#D55E00", "auto": "#009E73", "lessons": "#332288",
    "circuit": "#9988DD", "majority": "#999999", "tree": "#0072B2", "chain": "#56B4E9", "forest": "#E69F00",
    "boosting": "#8c564b", "mlp": "#CC79A7",
}  # fmt: skip
SIZE = "training examples"
GAIN = "gain over $L_1$ (points)"
ACCURACY = "test accuracy"
LABELS = {"l1": "$L_1$", "lw": "$L_w$", "llh": "$L_{lh}$", "lgh": "$L_{gh}$"}
PANEL_WIDTH, PANEL_HEIGHT = 3.3, 2.6
LEGEND_MARK, LEGEND_LETTER = 0.65, 0.078  # widths in the legend, in inches: an entry's mark with the gap, and a letter
FEW = f"fewer than {est.FEWEST_PAIRS} training sets"
FEW_LOOK: dict[str, Any] = {"marker": "o", "linestyle": "", "markersize": 5, "markerfacecolor": "white"}
NOTE_SIZE, NOTE_COLOUR = 7, "#555555"  # of the line below a figure
GRID: dict[str, Any] = {"color": "#dddddd", "linewidth": 0.6}


def plain_text(name: str) -> str:
    r"""Escape a name from somebody's data: between two dollar signs Matplotlib would look for a formula, and fail."""
    return name.replace("$", r"\$")


def figure_of_panels(n: int, columns: int) -> tuple[Figure, list[Any]]:
    """Make a figure with n panels in a given number of columns; the remaining places stay empty."""
    rows = max(1, math.ceil(n / columns))
    # A single panel is as wide as two, or the legend would take more room than the curves.
    width = PANEL_WIDTH * max(2, columns)
    figure = Figure(figsize=(width, PANEL_HEIGHT * rows + (0.5 if columns > 1 else 1.0)), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    panels = [panel for row in grid for panel in row]
    for empty in panels[n:]:
        empty.set_axis_off()
    tidy_axes(panels[:n])
    return figure, panels[:n]


def rows_of_panels(rows: int, columns: int, height: float) -> tuple[Figure, Any]:
    """Make a figure with a column of panels per problem; the panels of a row share their vertical axis."""
    figure = Figure(figsize=(2.7 * columns + 0.4, height), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, sharey="row")
    tidy_axes(grid.flat)
    return figure, grid


def panel_per_problem(
    results: Results, draw: Callable[[Any, Results], None], *, y: str, x: str = SIZE, columns: int = 3, **finishing: Any
) -> Figure:
    """Draw one panel for each problem, from its rows alone."""
    problems = list(by_problem(results))
    columns = min(columns, max(1, len(problems)))
    figure, panels = figure_of_panels(len(problems), columns)
    for place, (panel, (problem, part)) in enumerate(zip(panels, problems, strict=True)):
        name_panel(panel, problem)
        panel.set_xlabel(x)
        if place % columns == 0:
            panel.set_ylabel(y)
        draw(panel, part)
    return finish(figure, results, panels, **finishing)


def name_panel(panel: Any, problem: str) -> None:
    """Give a panel the name of its problem as title."""
    panel.set_title(plain_text(problem_title(problem)), fontsize=9)


def tidy_axes(panels: Iterable[Any]) -> None:
    """Give panels a light grid behind the curves, and no frame at the top and at the right."""
    for panel in panels:
        panel.grid(**GRID)
        panel.set_axisbelow(True)
        panel.spines[["top", "right"]].set_visible(False)


def zero_line(panel: Any) -> None:
    """Mark where there is no gain over L1."""
    panel.axhline(0, color=COLOURS["l1"], linewidth=0.8)


def error_bars(estimates: Sequence[est.Estimate]) -> list[list[float]]:
    """Return how far intervals reach below and above their values."""
    return [[mean.value - mean.low for mean in estimates], [mean.high - mean.value for mean in estimates]]


def curve(panel: Any, points: Sequence[tuple[float, est.Estimate]], colour: Any, label: str | None, **line: Any) -> None:
    """Draw a curve of means; points with fewer than `est.FEWEST_PAIRS` training sets have empty marks."""
    x, y = [at for at, _ in points], [estimate.value for _, estimate in points]
    look: dict[str, Any] = {"color": colour, "label": label, "linewidth": 1.4, "marker": "o", "markersize": 2.5, **line}
    (drawn,) = panel.plot(x, y, **look)
    drawn.set_gid(f"curve-{sum(len(axes.lines) for axes in panel.figure.axes)}")
    drawn.said = [_said(label, at, estimate) for at, estimate in points]
    few = [(at, estimate.value) for at, estimate in points if estimate.n < est.FEWEST_PAIRS]
    if few:
        panel.plot(*zip(*few, strict=True), label=f"_{FEW}", markeredgecolor=colour, zorder=3, **FEW_LOOK)


def band(panel: Any, points: Sequence[tuple[float, est.Estimate]], colour: Any, label: str | None, **line: Any) -> None:
    """Draw a curve of means with their 95 % intervals as a band."""
    if not points:
        return
    curve(panel, points, colour, label, **line)
    x, low, high = (np.array(values) for values in zip(*((at, e.low, e.high) for at, e in points), strict=True))
    bounded = np.isfinite(low) & np.isfinite(high)
    if len(points) == 1:  # the band has no width
        panel.vlines(x[bounded], low[bounded], high[bounded], color=colour, alpha=0.4)
    panel.fill_between(x, low, high, where=bounded.tolist(), color=colour, alpha=0.18, linewidth=0)


def _said(label: str | None, at: float, estimate: est.Estimate) -> str:
    name = "" if label is None else _letters(label) + ": "
    interval = f" [{estimate.low:.4g}, {estimate.high:.4g}]" if math.isfinite(estimate.low + estimate.high) else ""
    return f"{name}{estimate.value:.4g}{interval} at {at:g}, n = {estimate.n:,}"


def _letters(label: str) -> str:
    return re.sub(r"[${}_\\]", "", label)


def with_hover(svg: str, figure: Figure) -> str:
    """Return the SVG of a figure with a tooltip on each point of its curves."""
    for line in (line for axes in figure.axes for line in axes.lines if hasattr(line, "said")):
        start = svg.find(f'<g id="{line.get_gid()}">')
        end = svg.find('<g id="', start + 1)
        part = svg[start:end]
        marks = re.findall(r'<use [^>]*?x="([\d.-]+)" y="([\d.-]+)"[^>]*/>', part)
        if start < 0 or len(marks) != len(line.said):
            continue
        # Discs larger than the marks are easier to hit.
        discs = "".join(
            f'<circle class="point" cx="{x}" cy="{y}" r="6" fill-opacity="0"><title>{escape(said)}</title></circle>'
            for (x, y), said in zip(marks, line.said, strict=True)
        )
        closing = part.rindex("</g>")
        svg = svg[: start + closing] + discs + svg[start + closing :]
    return svg


def limit_accuracy(panel: Any) -> None:
    """Limit the vertical axis to the accuracies drawn and to 1, however wide their bands."""
    values = [value for line in panel.lines for value in line.get_ydata()]
    if values:
        panel.set_ylim(max(0.0, min(values) - 0.05), 1.02)


def finish(
    figure: Figure, results: Results, panels: Sequence[Any], *, first: str = "", shown: str = "95 % intervals",
    every: bool = False,
) -> Figure:  # fmt: skip
    """Add one legend for all panels, and the line that says which runs the figure shows: `every` one, or those that ended."""
    handles: dict[str, Any] = {}
    for panel in panels:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    # Losses go from the mildest to the strictest, even if the first panel does not have all of them.
    rank = {label: place for place, label in enumerate((first, *LABELS.values()))}
    handles = dict(sorted(handles.items(), key=lambda item: rank.get(item[0], len(rank))))
    if any(line.get_label() == f"_{FEW}" for panel in panels for line in panel.lines):
        handles[FEW] = Line2D([], [], markeredgecolor="#333333", **FEW_LOOK)
    if handles:
        columns = _legend_columns(list(handles), figure.get_figwidth())
        figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=columns, frameon=False)
    left_out, excluded = results.n_not_converged, f"all {len(results):,} runs count"
    if left_out and every:
        excluded += f", {left_out:,} with training errors left among them"
    elif left_out:
        are = "is" if left_out == 1 else "are"
        excluded = f"{left_out:,} of {len(results):,} searches ended with training errors and {are} left out"
    figure.supxlabel(f"{shown}; {excluded}.", fontsize=NOTE_SIZE, color=NOTE_COLOUR)
    return figure


def _legend_columns(labels: Sequence[str], room: float) -> int:
    """Return the number of columns with which a legend has the fewest lines and is no wider than the figure."""
    widths = [LEGEND_MARK + LEGEND_LETTER * len(_letters(label)) for label in labels]
    for lines in range(1, len(labels)):
        columns = [widths[start : start + lines] for start in range(0, len(labels), lines)]
        if sum(map(max, columns)) <= room:
            return len(columns)
    return 1
