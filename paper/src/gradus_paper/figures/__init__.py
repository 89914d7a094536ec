"""All figures: one function each, from results to a matplotlib `Figure` or a `Drawing`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gradus.errors import SettingsError
from gradus_paper.figures import curves
from gradus_paper.figures.circuit_figures import Drawing, adder, fig1, fig2
from gradus_paper.figures.comparisons import league, noise, orders, sample_complexity, wrong_labels
from gradus_paper.figures.contest import contest
from gradus_paper.figures.curves import accuracy, fig3, fig4, fig5, fig6, fig7, figA1, figA2, headline, tab2, tab3

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gradus_paper.results import Results

FIGURES: dict[str, Callable[[Results], Figure | Drawing]] = {
    figure.__name__: figure
    for figure in (
        *(headline, adder, fig1, fig2, fig3, fig4, fig5, curves.ties, fig6, fig7, tab2, tab3, figA1, figA2),
        *(sample_complexity, noise, orders, league, wrong_labels, contest, accuracy),
    )
}
OWN_FIGURES = tuple(
    figure.__name__ for figure in (sample_complexity, noise, orders, league, wrong_labels)
)  # those beyond the paper


def check_figure(name: str) -> None:
    """Raise `SettingsError` if there is no such figure."""
    if name not in FIGURES:
        raise SettingsError(f"there is no figure {name!r}; there are {', '.join(FIGURES)}.")
