"""Suspect measurements: recorded values that the learned rules contradict, and the values that they say instead.

A recorded cell speaks in three places: as itself (rarely flipped), as the next value of its gene (the rule of that gene), and
as an input of the genes it regulates (their rules). The log-odds that it was flipped add up over the three.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gradus.genes._evidence import UNKNOWN, GeneSeries, States
from gradus.genes._posterior import TargetPosterior
from gradus.genes._set_kernel.rule_votes import vote_with_flips
from gradus.genes._set_kernel.set_arrays import PackedSets
from gradus.genes._work_watch import WorkWatch

__all__ = ["Suspect", "SuspectCells", "find_suspects"]

SURE, MOST_SWEEPS, MOST_SETS = 0.01, 12, 25
"""No rule is believed beyond this; sweeps of repair; sets a gene that have a say."""
PROBABLE, DOUBTFUL = 0.75, 0.3
"""From these posteriors on a value is replaced or filled in, and treated as unknown."""


@dataclass(frozen=True)
class Suspect:
    """A recorded value that the rules contradict.

    Attributes
    ----------
    series, row, gene : int
        Which cell: the number of the series, its state and the column.
    recorded : int
        The value in the data.
    probability : float
        Posterior probability that it was recorded wrongly.
    """

    series: int
    row: int
    gene: int
    recorded: int
    probability: float


@dataclass(frozen=True, eq=False)
class SuspectCells:
    """Repaired series, the suspects (most probable first), and the share of known cells that look flipped."""

    series: tuple[GeneSeries, ...]
    suspects: tuple[Suspect, ...]
    flipped_share: float


@dataclass(frozen=True, eq=False)
class _Layout:
    """All states below each other: where each transition begins and ends, what is recorded, and what cannot change."""

    recorded: States
    befores: npt.NDArray[np.int64]
    afters: npt.NDArray[np.int64]
    held: npt.NDArray[np.bool_]
    place: npt.NDArray[np.int64]


def _layout(series: Sequence[GeneSeries]) -> _Layout:
    offsets = np.cumsum([0] + [len(one.states) for one in series])
    pairs = [(offsets[s] + a, offsets[s] + b) for s, one in enumerate(series) for a, b in one.transitions()]
    befores, afters = np.array(pairs, np.int64).reshape(-1, 2).T
    recorded = np.concatenate([one.states for one in series])
    held = np.zeros(recorded.shape, bool)
    for s, one in enumerate(series):
        held[offsets[s] : offsets[s + 1], list(one.held)] = True
    # States of different series are never neighbours.
    place = np.concatenate([np.arange(len(one.states)) + 3 * s + offsets[s] for s, one in enumerate(series)])
    return _Layout(recorded, befores, afters, held, place)


def find_suspects(
    series: Sequence[GeneSeries], targets: Sequence[TargetPosterior], flip_rate: float, watch: WorkWatch | None = None
) -> SuspectCells:
    """Find recorded values that the rules contradict."""
    layout = _layout(series)
    rate = float(np.clip(flip_rate, 1e-4, 0.3))
    missing = layout.recorded == UNKNOWN
    means = np.where(missing, 0, layout.recorded).sum(axis=0) > (~missing).sum(axis=0) / 2
    states = np.where(missing, means, layout.recorded).astype(np.uint8)
    packed = [one.packed(MOST_SETS) for one in targets]
    gains = np.zeros(states.shape)
    watch = WorkWatch() if watch is None else watch
    for sweep in range(MOST_SWEEPS):
        gains = _gains(layout, states, packed, rate, missing)
        if watch.stop("repair", sweep, MOST_SWEEPS):
            return SuspectCells(tuple(series), (), 0.0)
        turn = _apart(layout, gains) | ((gains > 0) & missing)
        if not turn.any():
            break
        states = np.where(turn, 1 - states, states).astype(np.uint8)
    else:
        gains = _gains(layout, states, packed, rate, missing)
    return _described(series, layout, states, gains, missing)


def _gains(
    layout: _Layout, states: States, packed: Sequence[PackedSets], rate: float, missing: npt.NDArray[np.bool_]
) -> npt.NDArray[np.float64]:
    """Log-odds that each cell is the other way round, everything else as it stands."""
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
    return np.clip(np.where(now, ones, 1 - ones), SURE, 1 - SURE)


def _apart(layout: _Layout, gains: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Cells to turn together: the best first, none in a state or beside one where a better one turns."""
    # Two cells can explain one contradiction; turning both would bring it back.
    turn = np.zeros(gains.shape, bool)
    taken: set[int] = set()
    rows, genes = np.nonzero(gains > 0)
    for at in np.argsort(-gains[rows, genes], kind="stable"):
        place = int(layout.place[rows[at]])
        if taken.isdisjoint((place - 1, place, place + 1)):
            taken.add(place)
            turn[rows[at], genes[at]] = True
    return turn


def _described(
    series: Sequence[GeneSeries],
    layout: _Layout,
    states: States,
    gains: npt.NDArray[np.float64],
    missing: npt.NDArray[np.bool_],
) -> SuspectCells:
    turned = 1 / (1 + np.exp(-np.clip(gains, -500, 500)))
    wrong = np.where(states == layout.recorded, turned, 1 - turned)
    wrong[missing | layout.held] = 0.0
    values = np.where(wrong >= PROBABLE, 1 - layout.recorded, np.where(wrong >= DOUBTFUL, UNKNOWN, layout.recorded))
    filled = missing & (turned <= 1 - PROBABLE)
    values = np.where(filled, states, np.where(missing, UNKNOWN, values)).astype(np.uint8)
    offsets = np.cumsum([0] + [len(one.states) for one in series])
    repaired = tuple(one.with_states(values[offsets[s] : offsets[s + 1]]) for s, one in enumerate(series))
    rows, genes = np.nonzero(wrong >= 0.5)
    owner = np.searchsorted(offsets, rows, side="right") - 1
    suspects = [
        Suspect(int(s), int(row - offsets[s]), int(gene), int(layout.recorded[row, gene]), float(wrong[row, gene]))
        for s, row, gene in zip(owner, rows, genes, strict=True)
    ]
    suspects.sort(key=lambda one: (-one.probability, one.series, one.row, one.gene))
    known = max(1, int((~missing & ~layout.held).sum()))
    return SuspectCells(repaired, tuple(suspects), float(wrong.sum() / known))
