"""Suspect measurements: recorded values that the learned rules contradict, and the values that the rules predict.

There are three sources of evidence about a recorded cell: the cell itself (rarely flipped), the rule of its gene, and the
rules of the genes it regulates. Their log-odds that it was flipped add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gradus._core.run import Progress, Run
from gradus.genes._posterior import TargetPosterior
from gradus.genes._scan_kernel import vote_with_flips
from gradus.genes._series import UNKNOWN, Codes, Series
from gradus.genes._set_kernel import PackedSets

__all__ = ["Suspect", "SuspectCells", "find_suspects"]

LEAST_DOUBT = 0.01
"""Probabilities of rules are at most 1 minus this."""
MOST_SWEEPS = 12
SETS_VOTING = 25
"""Sets of each gene whose rules count."""
REPLACED_FROM, UNKNOWN_FROM = 0.75, 0.3
"""A value that was recorded wrongly with the first probability is replaced, and one with the second is treated as unknown; a
missing one that is known with the first is filled in."""


@dataclass(frozen=True)
class Suspect:
    """A recorded value that the rules contradict."""

    series: int
    row: int
    gene: int
    """Which cell: the number of the series, its state and the column."""
    recorded: int
    """The value in the data."""
    probability: float
    """Posterior probability that it was recorded wrongly."""


@dataclass(frozen=True, eq=False)
class SuspectCells:
    """Repaired series, the suspects (most probable first), and the share of known cells that look flipped."""

    series: tuple[Series, ...]
    suspects: tuple[Suspect, ...]
    flipped_share: float


@dataclass(frozen=True, eq=False)
class _Layout:
    """All states below each other: where each transition begins and ends, what is recorded, and what cannot change."""

    recorded: Codes
    befores: npt.NDArray[np.int64]
    afters: npt.NDArray[np.int64]
    held: npt.NDArray[np.bool_]
    place: npt.NDArray[np.int64]


def _layout(series: Sequence[Series]) -> _Layout:
    lengths = [len(single.codes) for single in series]
    offsets = np.cumsum([0, *lengths])
    pairs = [(offsets[s] + a, offsets[s] + b) for s, single in enumerate(series) for a, b in single.transitions()]
    befores, afters = np.array(pairs, np.int64).reshape(-1, 2).T
    recorded = np.concatenate([single.codes for single in series])
    held = np.repeat([single.is_held for single in series], lengths, axis=0)
    # States of different series are never neighbours.
    place = np.concatenate([np.arange(length) + 3 * s + offsets[s] for s, length in enumerate(lengths)])
    return _Layout(recorded, befores, afters, held, place)


def find_suspects(series: Sequence[Series], targets: Sequence[TargetPosterior], flip_rate: float, run: Run) -> SuspectCells:
    """Find recorded values that the rules contradict."""
    layout = _layout(series)
    rate = float(np.clip(flip_rate, 1e-4, 0.3))
    missing = layout.recorded == UNKNOWN
    means = np.where(missing, 0, layout.recorded).sum(axis=0) > (~missing).sum(axis=0) / 2
    states = np.where(missing, means, layout.recorded).astype(np.uint8)
    packed = [target.packed(SETS_VOTING) for target in targets]
    for sweep in range(MOST_SWEEPS + 1):
        gains = _gains(layout, states, packed, rate, missing)
        if sweep == MOST_SWEEPS:
            break
        if run.stop(Progress(stage="repair", done=sweep, total=MOST_SWEEPS)):
            return SuspectCells(tuple(series), (), 0.0)
        turn = _cells_to_turn(layout, gains) | ((gains > 0) & missing)
        if not turn.any():
            break
        states = np.where(turn, 1 - states, states).astype(np.uint8)
    return _repaired(series, layout, states, gains, missing)


def _gains(
    layout: _Layout, states: Codes, packed: Sequence[PackedSets], rate: float, missing: npt.NDArray[np.bool_]
) -> npt.NDArray[np.float64]:
    """Log-odds that each cell is flipped, given all other cells."""
    inputs = states[layout.befores]
    own = np.log(rate / (1 - rate)) * np.where(states == layout.recorded, 1.0, -1.0)
    gains: npt.NDArray[np.float64] = np.where(missing, 0.0, own)
    for gene, sets in enumerate(packed):
        base, flipped = np.zeros(len(inputs)), np.zeros(inputs.shape)
        vote_with_flips(inputs, sets, base, flipped)
        now = states[layout.afters, gene] == 1
        bound = ~layout.held[layout.afters, gene]
        right = _agreement(base, now)
        np.add.at(gains[:, gene], layout.afters[bound], (np.log(1 - right) - np.log(right))[bound])
        other = np.log(_agreement(flipped, now[:, None])) - np.log(right)[:, None]
        np.add.at(gains, layout.befores[bound], other[bound])
    gains[layout.held] = -np.inf
    return gains


def _agreement(ones: npt.NDArray[np.float64], now: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    return np.clip(np.where(now, ones, 1 - ones), LEAST_DOUBT, 1 - LEAST_DOUBT)


def _cells_to_turn(layout: _Layout, gains: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Cells to flip together: the best first, and no two in one state or in neighbouring ones."""
    # Two cells can explain one contradiction; flipping both would restore it.
    turn = np.zeros(gains.shape, bool)
    taken: set[int] = set()
    rows, genes = np.nonzero(gains > 0)
    for at in np.argsort(-gains[rows, genes], kind="stable"):
        place = int(layout.place[rows[at]])
        if taken.isdisjoint((place - 1, place, place + 1)):
            taken.add(place)
            turn[rows[at], genes[at]] = True
    return turn


def _repaired(
    series: Sequence[Series], layout: _Layout, states: Codes, gains: npt.NDArray[np.float64], missing: npt.NDArray[np.bool_]
) -> SuspectCells:
    turned = 1 / (1 + np.exp(-np.clip(gains, -500, 500)))
    wrong = np.where(states == layout.recorded, turned, 1 - turned)
    wrong[missing | layout.held] = 0.0
    values = np.where(wrong >= REPLACED_FROM, 1 - layout.recorded, np.where(wrong >= UNKNOWN_FROM, UNKNOWN, layout.recorded))
    filled = missing & (turned <= 1 - REPLACED_FROM)
    values = np.where(filled, states, np.where(missing, UNKNOWN, values))
    offsets = np.cumsum([0] + [len(single.codes) for single in series])
    new_states = np.split(np.where(values == UNKNOWN, np.nan, values), offsets[1:-1])
    repaired = tuple(replace(single, states=part) for single, part in zip(series, new_states, strict=True))
    rows, genes = np.nonzero(wrong >= 0.5)
    owner = np.searchsorted(offsets, rows, side="right") - 1
    suspects = [
        Suspect(int(s), int(row - offsets[s]), int(gene), int(layout.recorded[row, gene]), float(wrong[row, gene]))
        for s, row, gene in zip(owner, rows, genes, strict=True)
    ]
    suspects.sort(key=lambda cell: (-cell.probability, cell.series, cell.row, cell.gene))
    known = max(1, int((~missing & ~layout.held).sum()))
    return SuspectCells(repaired, tuple(suspects), float(wrong.sum() / known))
