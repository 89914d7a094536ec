"""Figure 2: hierarchies of targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from gradus import problems
from gradus._curriculum import find_curriculum
from gradus._experiments.results import Results
from gradus._replication.figures.style import plain_text
from gradus._replication.paper import problem_title

__all__ = ["fig2"]

BOX, INK = "#a8d5b5", "#333333"


def fig2(results: Results) -> Figure:
    """Draw the hierarchies of the two time series: which targets may be learned after which."""
    figure = Figure(figsize=(10.0, 4.6), layout="constrained")
    panels = figure.subplots(1, 2, width_ratios=(3, 2))
    for panel, name in zip(panels, ("yeast", "ecoli"), strict=True):
        problem = problems.load(name)
        curriculum = find_curriculum(problem.X, problem.Y)
        sets = ["{" + ", ".join(problem.input_names[k] for k in found.features) + "}" for found in curriculum.feature_sets]
        _draw_hierarchy(panel, problem.target_names, sets, curriculum.sizes, curriculum.hierarchy())
        panel.set_title(f"{plain_text(problem_title(name))}: a target and the inputs it needs", fontsize=9)
    return figure


def _draw_hierarchy(
    panel: Any, names: Sequence[str], sets: Sequence[str], sizes: Sequence[int], after: Mapping[int, Sequence[int]]
) -> None:
    """Draw targets in columns by the size of their sets, with an arrow to each that may be learned after."""
    levels = sorted(set(sizes))
    place: dict[int, tuple[float, float]] = {}
    for column, size in enumerate(levels):
        nodes = sorted((k for k in range(len(names)) if sizes[k] == size), key=lambda k: _hierarchy_key(k, place, after))
        for row, k in enumerate(nodes):
            place[k] = (column, -(row + 0.5) / len(nodes))
    box = {"boxstyle": "round,pad=0.35", "facecolor": BOX, "edgecolor": INK, "linewidth": 0.7}
    boxes = {}
    for k, (x, y) in place.items():
        text = panel.text(x, y, plain_text(f"{names[k]}\n{sets[k]}"), ha="center", va="center", fontsize=8, bbox=box, zorder=2)
        boxes[k] = text.get_bbox_patch()
    for first, followers in after.items():
        for second in followers:
            ends = {"patchA": boxes[first], "patchB": boxes[second], "shrinkA": 1, "shrinkB": 1}
            arrow = {"arrowstyle": "-|>", "color": "#555555", **ends}
            panel.annotate("", xy=place[second], xytext=place[first], zorder=3, arrowprops=arrow)
    panel.set_xlim(-0.45, len(levels) - 0.55)
    panel.set_ylim(-1.0, 0.0)
    panel.set_axis_off()


def _hierarchy_key(k: int, place: Mapping[int, tuple[float, float]], after: Mapping[int, Sequence[int]]) -> tuple[Any, ...]:
    """Return the sort key of a target: beside those it follows; those that nothing follows go last."""
    before = [place[first][1] for first, followers in after.items() if k in followers and first in place]
    return (not before, -float(np.mean(before)) if before else 0.0, not after.get(k))
