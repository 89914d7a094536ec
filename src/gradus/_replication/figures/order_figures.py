"""Figures about the order of targets: given against automatic, and orders at every distance from the known one."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from gradus._experiments.results import Results
from gradus._replication.estimates import gain_by_size, mean_by_size
from gradus._replication.figures.style import COLOURS, GAIN, SIZE, band, finish, tidy_axes
from gradus._replication.gains import gain_by_tau, peak_size, tau_values
from gradus._replication.paper import AUTOMATIC, problem_title, problems_of

__all__ = ["fig5", "fig6"]


def fig5(results: Results) -> Figure:
    """Draw the gain of Lgh with the given and with the automatic order, and tau and eta of the latter."""
    problems = problems_of(results)
    figure = Figure(figsize=(2.7 * len(problems) + 0.4, 5.2), layout="constrained")
    grid = figure.subplots(2, len(problems), squeeze=False, sharex="col", sharey="row")
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
        above.set_title(problem_title(problem), fontsize=9)
        below.set_xlabel(SIZE)
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
    figure = Figure(figsize=(9.2, 4.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    scale = cm.ScalarMappable(colors.Normalize(-1, 1), "coolwarm_r")
    for tau in sorted(set(taus.tolist())):
        pairs = lgh.where(taus == tau).pairs(base)
        points = [(size, gain.scaled(100)) for size, gain in gain_by_size(pairs)]
        left.plot([s for s, _ in points], [g.value for _, g in points], color=scale.to_rgba(tau), linewidth=1.4)
    left.axhline(0, color=COLOURS["l1"], linewidth=0.8)
    left.set_xlabel(SIZE)
    left.set_ylabel(GAIN)
    figure.colorbar(scale, ax=left, label=r"$\tau$ with the known order")
    size = peak_size(results)
    if size is not None:
        _draw_gain_by_tau(right, one, size)
    right.axhline(0, color=COLOURS["l1"], linewidth=0.8)
    right.set_xlabel(r"$\tau$ with the known order")
    tidy_axes((left, right))
    return finish(figure, one, [])


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
