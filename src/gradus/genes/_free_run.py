"""Free runs: a series predicted from its first state alone, and which genes are predicted better than by a constant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from gradus.genes._evidence import UNKNOWN, GeneSeries
from gradus.genes._work_watch import WorkWatch

if TYPE_CHECKING:
    from gradus.genes._gene_model import GeneModel

__all__ = ["free_run_matches", "most_frequent", "trusted_genes"]

Bits: TypeAlias = npt.NDArray[np.bool_]

MARGIN = 0.01
"""A rule must beat the constant by so much on the series it was learned from, since it was fitted to them."""


def most_frequent(series: Sequence[GeneSeries]) -> npt.NDArray[np.bool_]:
    """Value that each gene has most often after the first state of a series; 1 on a tie."""
    states = np.concatenate([one.states if one.steady else one.states[1:] for one in series])
    ones, zeros = (states == 1).sum(axis=0), (states == 0).sum(axis=0)
    return np.asarray(ones >= zeros)


def free_run_matches(model: GeneModel, runs: Sequence[GeneSeries]) -> list[tuple[Bits, Bits]]:
    """Run freely from the first state of each series; where each run agrees, and where that can be said: (steps, genes)."""
    states = np.array([np.where(one.states[0] == UNKNOWN, model.constants, one.states[0] == 1) for one in runs])
    held = np.array([[gene in one.held for gene in range(states.shape[1])] for one in runs])
    first, rows = states, []
    for _ in range(max(len(one.states) for one in runs) - 1):
        states = np.where(held, first, np.where(model.trusted, model.predict(states), model.constants))
        rows.append(states)
    compared = []
    for r, one in enumerate(runs):
        after = one.states[1:]
        told = (after != UNKNOWN) & ~held[r]
        run = np.array([row[r] for row in rows[: len(after)]], bool).reshape(after.shape)
        compared.append(((run == (after == 1)) & told, told))
    return compared


def trusted_genes(model: GeneModel, series: Sequence[GeneSeries], watch: WorkWatch) -> Bits:
    """Genes whose rules beat the constant in free runs of the series; the others are set aside until all that stay do."""
    # The gain over the constant must exceed its standard error over the series, since rules were fitted to these series.
    runs = [one for one in series if not one.steady and len(one.states) > 1]
    trusted = np.ones(len(model.genes), np.bool_)
    for done in range(len(trusted) if runs else 0):
        if watch.stop("free runs", done, len(trusted)):
            break
        compared = free_run_matches(replace(model, trusted=trusted), runs)
        right = np.array([matches.sum(axis=0) for matches, _ in compared])
        told = np.array([known.sum(axis=0) for _, known in compared])
        constant = np.array(
            [
                (((one.states[1:] == 1) == model.constants) & known).sum(axis=0)
                for one, (_, known) in zip(runs, compared, strict=True)
            ]
        )
        gains = right - constant
        spread = gains.std(axis=0) * len(runs) ** 0.5
        worse = trusted & (gains.sum(axis=0) < spread + MARGIN * told.sum(axis=0)) & (right < told).any(axis=0)
        if not worse.any():
            break
        trusted = trusted & ~worse
    return trusted
