"""The headline: accuracy on parity under the plain loss, the paper's strictest one, and lessons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradus._experiments.results import Results
from gradus._replication.estimates import accuracy_by_size
from gradus._replication.figures.style import ACCURACY, COLOURS, SIZE, band, finish, limit_accuracy, tidy_axes
from gradus._replication.highlights import HEADLINE_SIZE, headline_numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["headline"]

CURVES = {
    "l1": ({"loss": "l1", "method": "network"}, "$L_1$: all targets at once"),
    "lgh": ({"loss": "lgh", "method": "network"}, "$L_{gh}$: the paper's curriculum, known order"),
    "lessons": ({"method": "lessons"}, "lessons: ours, no order given"),
}


def headline(results: Results) -> Figure:
    """Draw the accuracy on parity against training size, large, with the gain of Lgh over L1 marked."""
    from matplotlib.figure import Figure

    one = results.select(problem="cpar7")
    figure = Figure(figsize=(9.6, 5.4), layout="constrained")
    panel = figure.subplots()
    tidy_axes([panel])
    for name, (columns, label) in CURVES.items():
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
