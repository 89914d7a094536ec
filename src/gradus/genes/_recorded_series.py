"""Series of named genes as the learner takes them: columns in one order, genes held, times, steady states."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradus.errors import DataError
from gradus.genes._evidence import GeneSeries
from gradus.genes._series import Series
from gradus.genes._transitions import states_of

__all__ = ["recorded_series"]


def recorded_series(
    runs: Sequence[Series], steady: Sequence[Series] = (), measured: Sequence[Series] | None = None
) -> tuple[tuple[str, ...], tuple[GeneSeries, ...]]:
    """Turn series and steady states into what the learner takes."""
    several = [*runs, *steady]
    if not several:
        raise DataError("there is no series.")
    genes = several[0].genes
    place = {gene: column for column, gene in enumerate(genes)}
    found = []
    for number, one in enumerate(several):
        states = states_of(one, genes)
        held = {place[gene]: value for gene, value in one.held.items()}
        found.append(
            GeneSeries(
                np.where(np.isnan(states), -1, states),
                name=one.experiment or (f"{one.name} {number + 1}" if one.name == "series" else one.name),
                held=held,
                times=one.times,
                steady=number >= len(runs),
                levels=None if measured is None else measured[number].in_order(genes),
            )
        )
    if not any(one.transitions() for one in found):
        raise DataError("the series hold no transition: each has only one state; a series needs at least two.")
    return genes, tuple(found)
