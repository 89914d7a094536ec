"""Figures that are drawings: learned circuits (figure 1, and the adder of the quick run) and hierarchies (figure 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from gradus import Network, find_curriculum, problems
from gradus.lab import learn_whole, make_network, run_search, wording
from gradus_paper.execution import job_of
from gradus_paper.figures.style import NOTE_COLOUR, NOTE_SIZE, plain_text
from gradus_paper.paper import problem_title
from gradus_paper.results import Results
from gradus_paper.row import Row
from gradus_paper.training_sets import problem_of, training_set

BOX = "#a8d5b5"
ARROWS = "An arrow leads to a target that may be learned after: it needs the same inputs, and more."


@dataclass(frozen=True)
class Drawing:
    """A circuit that the library draws, with the order in which its targets were taught."""

    network: Network
    order: Sequence[int]
    caption: str


def fig1(results: Results) -> Drawing:
    """Draw the most accurate network, the smallest among equals, learned again from its row."""
    usable = results.usable_only()
    best = min(range(len(usable)), key=lambda k: (-usable.accuracy[k], usable.live_gates[k]))
    return _drawing(usable.row(best), gate="NAND gate")


def adder(results: Results) -> Drawing:
    """Draw the circuit that lessons learned from the first training set."""
    return _drawing(results.row(int(np.argmin(results.sample))), gate="gate")


def _drawing(row: Row, *, gate: str) -> Drawing:
    """Learn a row's circuit again and write how often it is right."""
    network = learned_again(row)
    X, Y = training_set(row.to_task().set_key).test_patterns()
    wrong, tested = int((network.predict(X) != Y).any(axis=1).sum()), len(X)
    right = f"all {tested:,} others" if not wrong else f"{tested - wrong:,} of the {tested:,} others"
    said = (
        f"{wording.counted(network.n_gates, gate)}, right on {right}. A gate has the colour of the first target that uses it."
    )
    caption = f"{problem_title(row.problem)}, learned from {row.n_train} examples: {said}"
    return Drawing(network, row.learned_order or range(network.n_outputs), caption)


def learned_again(row: Row) -> Network:
    """Learn the circuit of a row again; the row has everything that the result depends on."""
    task = row.to_task()
    problem = problem_of(task.design.problem)
    if task.design.method == "lessons":
        data = training_set(task.set_key)
        network = learn_whole(data.X, data.Y, seed=task.search_seed, n_jobs=1).network
    else:
        job, order = job_of(task)
        network = make_network(run_search(job), problem.n_inputs, order.order).prune(absorb=False)
    return network.with_names(problem.input_names, task.design.targets or problem.target_names)


def fig2(results: Results) -> Figure:
    """Draw the hierarchies of the two time series: which targets may be learned after which."""
    figure = Figure(figsize=(10.0, 4.6), layout="constrained")
    panels = figure.subplots(1, 2, width_ratios=(3, 2))
    for panel, name in zip(panels, ("yeast", "ecoli"), strict=True):
        problem = problems.load(name)
        curriculum = find_curriculum(problem.X, problem.Y)
        names = [[problem.input_names[k] for k in minimum.features] for minimum in curriculum.feature_sets]
        sets = ["{" + ", ".join(inputs) + "}" for inputs in names]
        _draw_hierarchy(panel, problem.target_names, sets, curriculum.sizes, curriculum.hierarchy())
        panel.set_title(f"{plain_text(problem_title(name))}: a target and the inputs it needs", fontsize=9)
    figure.supxlabel(ARROWS, fontsize=NOTE_SIZE, color=NOTE_COLOUR)
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
    box = {"boxstyle": "round,pad=0.35", "facecolor": BOX, "edgecolor": "#333333", "linewidth": 0.7}
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
