"""Tables 2 and 3 as pictures: leave-one-out gain of each target over L1, with its interval."""

from __future__ import annotations

from matplotlib.figure import Figure

from gradus._experiments.results import Results
from gradus._replication.figures.style import COLOURS, GRID, LABELS, finish
from gradus._replication.stats import Estimate, mean_interval

__all__ = ["tab2", "tab3", "table_rows"]

LOSSES = ("lw", "llh", "lgh")


def table_rows(results: Results, problem: str) -> list[tuple[str, Estimate, dict[str, Estimate]]]:
    """For each target and for their mean: its name, the accuracy of L1, and the gain of each other loss."""
    one = results.select(problem=problem)
    names = target_names(one)
    base = one.select(loss="l1")
    usable = base.usable_only()
    pairs = {loss: one.select(loss=loss).pairs(base) for loss in LOSSES}
    rows = []
    for k, name in enumerate(names):
        gains = {loss: mean_interval(pair.target_gain[:, k]) for loss, pair in pairs.items() if len(pair.gain)}
        rows.append((name, mean_interval(usable.per_target[:, k] if len(usable) else []), gains))
    overall = {loss: mean_interval(pair.gain) for loss, pair in pairs.items()}
    return [*rows, ("mean", mean_interval(usable.accuracy), overall)]


def target_names(results: Results) -> list[str]:
    """Names of the targets that rows are about."""
    named = results.row(0)["targets"]
    return list(named) if named else [f"target {k + 1}" for k in range(results.per_target.shape[1])]


def _table_figure(results: Results, problem: str) -> Figure:
    rows = table_rows(results, problem)
    figure = Figure(figsize=(6.4, 0.5 * len(rows) + 1.4), layout="constrained")
    panel = figure.subplots()
    for shift, loss in zip((-0.2, 0.0, 0.2), LOSSES, strict=True):
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
    """Fission yeast."""
    return _table_figure(results, "yeast")


def tab3(results: Results) -> Figure:
    """E. coli."""
    return _table_figure(results, "ecoli")
