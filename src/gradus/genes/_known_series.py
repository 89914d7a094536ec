"""Two published time series, and problems made from series."""

from __future__ import annotations

from typing import Any, Literal

from gradus._core.checks import OnConflict
from gradus.genes._series import Series
from gradus.genes._transitions import read_transitions
from gradus.problems import Problem
from gradus.problems._gene_networks import ECOLI, YEAST, fission_yeast_model

__all__ = ["ECOLI_SERIES", "YEAST_SERIES", "fission_yeast_model", "from_series"]

YEAST_SERIES = Series(YEAST.genes, YEAST.states, name="yeast")
ECOLI_SERIES = Series(ECOLI.genes, ECOLI.states, name="ecoli")


def from_series(
    series: Any, *, name: str = "series", binarize: Literal["kmeans"] | float | None = None, on_conflict: OnConflict = "raise"
) -> Problem:
    """Make a problem from time series: each state is an input, and the next state its target.

    Parameters
    ----------
    series : Series, DataFrame, path-like, or iterable of these
    name : str
        Samples depend on it.
    binarize : "kmeans" or float, optional
        How to make values other than 0 and 1 binary: two clusters per gene, or a threshold.
    on_conflict : {"raise", "ignore", "first"}
        What to do if a state is followed by different states: raise an error that names them, leave out all transitions
        from that state, or keep the one that was seen first.

    Returns
    -------
    Problem
        Repeated transitions count once; a gene whose next value never changes is not a target.

    Examples
    --------
    >>> import pandas
    >>> from gradus.genes import from_series
    >>> from_series(pandas.DataFrame({"a": [0, 1, 1], "b": [0, 0, 1]}))
    Problem('series', 2 inputs, 1 target, 2 patterns)
    """
    found = read_transitions(series, binarize=binarize, on_conflict=on_conflict)
    return Problem(name, input_names=found.input_names, target_names=found.target_names, pool=found.X, targets=found.Y)
