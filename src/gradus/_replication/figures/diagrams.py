"""Figures 1 and 2: a learned network in layers, and hierarchies of targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from gradus import problems
from gradus._curriculum import find_curriculum
from gradus._experiments.execution import job_of
from gradus._experiments.results import Results
from gradus._experiments.row import Row
from gradus._experiments.training_sets import problem_of
from gradus._network import Network
from gradus._replication.figures.style import plain_text
from gradus._replication.paper import problem_title
from gradus._search.driver import run_search
from gradus._search.search import make_network

__all__ = ["draw_layers", "fig1", "fig2", "learned_again"]

INPUT, GATE, OUTPUT, INK = "#f2b8a0", "#e8e8e8", "#a8d5b5", "#333333"


def fig1(results: Results) -> Figure:
    """Draw the most accurate network, the smallest among equals, learned again from its row."""
    usable = results.usable_only()
    best = min(range(len(usable)), key=lambda k: (-usable.accuracy[k], usable.live_gates[k]))
    network = learned_again(usable.row(best))
    figure = Figure(figsize=(9.5, 5.0), layout="constrained")
    panel = figure.subplots()
    draw_layers(panel, network)
    problem = str(usable.problem[best])
    panel.set_title(
        f"{plain_text(problem_title(problem))}, learned from {usable.n_train[best]} examples: {network.n_gates} NAND gates, "
        f"{100 * usable.accuracy[best]:.1f} % of the other patterns right",
        fontsize=9,
    )
    return figure


def learned_again(row: Row) -> Network:
    """Learn the network of a row again: the row says everything that its search depended on."""
    task = row.to_task()
    job, order = job_of(task)
    problem = problem_of(task.design.problem)
    network = make_network(run_search(job), problem.n_inputs, order.order)
    return network.with_names(problem.input_names, task.design.targets or problem.target_names).prune(absorb=False)


def draw_layers(panel: Any, network: Network) -> None:
    """Draw inputs at the left, each gate one layer after the deepest of its sources, and outputs with their names."""
    level = np.zeros(network.n_inputs + network.n_gates, dtype=np.int64)
    for gate, (a, b) in enumerate(network.sources.tolist()):
        level[network.n_inputs + gate] = 1 + max(level[a], level[b])
    place = _places(network, level)
    for gate, pair in enumerate(network.sources.tolist()):
        node = network.n_inputs + gate
        for source in sorted(set(pair)):
            style = {"color": "#999999", "linewidth": 0.7, "zorder": 1}
            panel.plot([level[source], level[node]], [place[source], place[node]], **style)
    outputs = {int(node): name for node, name in zip(network.outputs, network.output_names, strict=True)}
    for node in range(len(level)):
        is_input = node < network.n_inputs
        colour = INPUT if is_input else OUTPUT if node in outputs else GATE
        text = network.input_names[node] if is_input else outputs.get(node, "")
        inverter = not is_input and len(set(network.sources[node - network.n_inputs].tolist())) == 1
        panel.scatter(
            level[node], place[node], s=190 if text else 60, marker=">" if inverter and not text else "o",
            color=colour, edgecolor=INK, linewidth=0.7, zorder=2,
        )  # fmt: skip
        panel.text(level[node], place[node], plain_text(text), ha="center", va="center", fontsize=7, zorder=3)
    panel.set_axis_off()


def _places(network: Network, level: Any) -> Any:
    """Return the height of each node: evenly spaced within its layer, in the order of the heights of its sources."""
    place = np.zeros(len(level))
    for depth in range(int(level.max()) + 1):
        nodes = np.flatnonzero(level == depth)
        heights = -(np.arange(len(nodes)) + 0.5) / len(nodes)
        if depth:
            wanted = [-place[network.sources[node - network.n_inputs]].mean() for node in nodes]
            nodes = nodes[np.argsort(wanted, kind="stable")]
        place[nodes] = heights
    return place


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
    box = {"boxstyle": "round,pad=0.35", "facecolor": OUTPUT, "edgecolor": INK, "linewidth": 0.7}
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
