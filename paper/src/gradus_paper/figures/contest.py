"""The figure of the contest: mean accuracy against the AND gates that solutions may have."""

from __future__ import annotations

from matplotlib.figure import Figure

from gradus_paper.contest import NAME, OTHERS, curve, entries
from gradus_paper.figures import style
from gradus_paper.results import Results

COLOURS = {NAME: style.COLOURS["lessons"], "team 2": style.COLOURS["forest"], "team 9": style.COLOURS["chain"]}


def contest(results: Results) -> Figure:
    """Draw a curve for our solutions, and one for each set of published ones."""
    figure, (panel,) = style.figure_of_panels(1, 1)
    found = entries(results.table)
    for name in (NAME, *(other for other in OTHERS if other != "best")):
        limits, means = curve(found, name)
        look = {"linewidth": 2.2} if name == NAME else {"linestyle": "--", "linewidth": 1.4}
        colour = COLOURS.get(name, style.COLOURS["mlp"])
        panel.plot(limits, means, drawstyle="steps-post", color=colour, label="lessons" if name == NAME else name, **look)
    panel.set_xscale("log")
    panel.set_xlabel("AND gates allowed")
    panel.set_ylabel("mean test accuracy")
    return style.finish(figure, results, [panel], shown="larger solutions count as one half")
