"""Figures of learned circuits: figure 1, and the adder of the quick run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradus._bits import unpack
from gradus._experiments.execution import job_of
from gradus._experiments.results import Results
from gradus._experiments.row import Row
from gradus._experiments.training_sets import problem_of, training_set
from gradus._lessons import learn
from gradus._network import Network
from gradus._replication.figures.lanes import draw_lanes
from gradus._replication.figures.style import plain_text
from gradus._replication.paper import problem_title
from gradus._search.driver import run_search
from gradus._search.search import make_network
from gradus._wording import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["adder", "fig1", "learned_again"]


def fig1(results: Results) -> Figure:
    """Draw the most accurate network, the smallest among equals, learned again from its row."""
    usable = results.usable_only()
    best = min(range(len(usable)), key=lambda k: (-usable.accuracy[k], usable.live_gates[k]))
    return _drawing(usable.row(best), gate="NAND gate", lane="target")


def adder(results: Results) -> Figure:
    """Draw what lessons learned from the first training set."""
    return _drawing(results.row(int(np.argmin(results.sample))), gate="gate", lane="lesson")


def _drawing(row: Row, *, gate: str, lane: str) -> Figure:
    network = learned_again(row)
    wrong, tested = _unseen_errors(row, network)
    right = f"all {tested:,} others" if not wrong else f"{tested - wrong:,} of the {tested:,} others"
    title = (
        f"{plain_text(problem_title(row.problem))}, learned from {row.n_train} examples: "
        f"{counted(network.n_gates, gate)}, right on {right}"
    )
    return draw_lanes(network, row.learned_order or range(network.n_outputs), title, lane)


def learned_again(row: Row) -> Network:
    """Learn the circuit of a row again: the row says everything that learning depended on."""
    task = row.to_task()
    problem = problem_of(task.design.problem)
    if task.design.method == "lessons":
        data = training_set(task.set_key)
        network = learn(data.X, data.Y, seed=task.search_seed, n_jobs=1).network
    else:
        job, order = job_of(task)
        network = make_network(run_search(job), problem.n_inputs, order.order).prune(absorb=False)
    return network.with_names(problem.input_names, task.design.targets or problem.target_names)


def _unseen_errors(row: Row, network: Network) -> tuple[int, int]:
    """Count the unseen patterns on which any output is wrong, and all unseen patterns."""
    data = training_set(row.to_task().set_key)
    n_patterns = len(data.test_mask) * 64
    unseen = unpack(data.test_mask[np.newaxis], n_patterns)[:, 0]
    X, Y = unpack(data.inputs, n_patterns)[unseen], unpack(data.targets, n_patterns)[unseen]
    return int((network.predict(X) != Y).any(axis=1).sum()), len(X)
