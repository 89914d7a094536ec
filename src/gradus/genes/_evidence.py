"""Series to evidence: weighted transitions with unknown cells, genes that were held, and steady states."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._core.bits import pack
from gradus.errors import DataError
from gradus.genes._set_kernel.set_arrays import PackedTarget

__all__ = ["UNKNOWN", "Evidence", "GeneSeries", "TargetEvidence", "as_states", "gather_evidence", "pack_target"]

UNKNOWN = 2
FRACTIONS = 16
"""Weights that are not whole numbers are rounded to this part of one."""
LONGEST_STEP = 1.5
"""States further apart than this many usual steps are not successive."""
States = npt.NDArray[np.uint8]


def as_states(values: Any, what: str = "The series") -> States:
    """States as bytes 0, 1 and 2 (unknown: NaN, None, masked, or any negative number)."""
    table: npt.NDArray[Any] = np.ma.filled(np.ma.asarray(values, dtype=object), None)
    if table.ndim != 2:
        raise DataError(f"{what} must have rows and columns, but it has {table.ndim} dimensions.")
    return np.array(
        [[_as_state(cell, what, r, c) for c, cell in enumerate(row)] for r, row in enumerate(table)], np.uint8
    ).reshape(table.shape)


def _as_state(cell: Any, what: str, row: int, column: int) -> int:
    if cell is None or str(cell) in ("nan", "<NA>", "NaT", "NaN", ""):
        return UNKNOWN
    try:
        value = float(cell)
    except (TypeError, ValueError):
        value = np.inf
    if value in (0.0, 1.0):
        return int(value)
    if value < 0:
        return UNKNOWN
    raise DataError(f"{what} has the value {cell!r} in row {row}, column {column}; every value must be 0, 1 or missing.")


@dataclass(frozen=True, eq=False)
class GeneSeries:
    """One recorded series.

    Attributes
    ----------
    states : array-like of shape (steps, genes)
        0, 1, or missing.
    name : str
        Which series; replicates share it, and are left out together.
    held : mapping of int to int
        Genes held at a value by a knock-out or over-expression: inputs here, never targets.
    times : sequence of float, optional
        When each state was recorded. Steps longer than 1.5 times the usual one join states that are not successive, so they
        are no transitions.
    steady : bool
        Whether each state is a steady state: it is then followed by itself.
    weight : float
        What one transition of this series counts.
    levels : ndarray of float, shape (steps, genes), optional
        What was measured, before it was made binary; NaN is missing.
    """

    states: Any
    name: str = ""
    held: Mapping[int, int] = field(default_factory=dict)
    times: Sequence[float] | None = None
    steady: bool = False
    weight: float = 1.0
    levels: npt.NDArray[np.float64] | None = None
    usual_step: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        states = as_states(self.states, f"Series {self.name!r}" if self.name else "The series").copy()
        for gene, value in self.held.items():
            if not 0 <= gene < states.shape[1] or value not in (0, 1):
                raise DataError(f"Gene {gene} cannot be held at {value!r} in a series of {states.shape[1]} genes.")
            states[:, gene] = value
        object.__setattr__(self, "states", states)
        if self.times is not None and len(self.times) != len(states):
            raise DataError(f"Series {self.name!r} has {len(states)} states but {len(self.times)} times.")
        if self.times is not None and len(self.times) > 1:
            steps = np.diff(np.asarray(self.times, dtype=np.float64))
            if not (steps > 0).all():
                raise DataError(f"The times of series {self.name!r} must grow from state to state.")
            object.__setattr__(self, "usual_step", float(np.median(steps)))
        if not (np.isfinite(self.weight) and self.weight > 0):
            raise DataError(f"Series {self.name!r} has the weight {self.weight!r}; it must be above 0.")
        if self.levels is not None and np.shape(self.levels) != states.shape:
            raise DataError(
                f"Series {self.name!r} has levels of the shape {np.shape(self.levels)}, but states {states.shape}."
            )

    def with_states(self, states: States) -> GeneSeries:
        """Return the same series with other values; 2 is unknown."""
        other = copy.copy(self)
        object.__setattr__(other, "states", states)
        return other

    def part(self, first: int, end: int) -> GeneSeries:
        """Return the states from `first` to before `end`."""
        other = self.with_states(self.states[first:end])
        object.__setattr__(other, "times", None if self.times is None else tuple(self.times)[first:end])
        object.__setattr__(other, "levels", None if self.levels is None else self.levels[first:end])
        return other

    def transitions(self) -> list[tuple[int, int]]:
        """Rows that follow each other."""
        if self.steady:
            return [(row, row) for row in range(len(self.states))]
        pairs = [(row, row + 1) for row in range(len(self.states) - 1)]
        if self.times is None or not pairs:
            return pairs
        steps = np.diff(np.asarray(self.times, dtype=np.float64))
        return [pair for pair, step in zip(pairs, steps, strict=True) if step <= LONGEST_STEP * self.usual_step]


@dataclass(frozen=True, eq=False)
class TargetEvidence:
    """Transitions of one gene: distinct known inputs and next values, each with its weight in whole units.

    Attributes
    ----------
    inputs : ndarray of uint8, shape (patterns, genes)
        0, 1 or 2 for unknown.
    nexts : ndarray of uint8
    units : ndarray of int64
    unit : float
        What one unit weighs.
    """

    inputs: States
    nexts: States
    units: npt.NDArray[np.int64]
    unit: float

    @property
    def total(self) -> float:
        """Weight of all transitions."""
        return float(self.units.sum() * self.unit)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Transitions of all genes.

    Attributes
    ----------
    genes : tuple of str
    series : tuple of GeneSeries
    targets : tuple of TargetEvidence
        In the order of the genes.
    """

    genes: tuple[str, ...]
    series: tuple[GeneSeries, ...]
    targets: tuple[TargetEvidence, ...]


def gather_evidence(series: Sequence[GeneSeries], genes: Sequence[str] | None = None) -> Evidence:
    """Count what was seen to follow what, for every gene."""
    if not series:
        raise DataError("There is no series; give at least one.")
    widths = sorted({one.states.shape[1] for one in series})
    if len(widths) > 1:
        raise DataError(f"The series have different numbers of genes: {widths[0]} and {widths[-1]}.")
    names = tuple(f"g{i}" for i in range(widths[0])) if genes is None else tuple(str(gene) for gene in genes)
    if len(names) != widths[0]:
        raise DataError(f"There are {len(names)} names for {widths[0]} genes.")
    rows = [(s, before, after) for s, one in enumerate(series) for before, after in one.transitions()]
    befores = np.array([series[s].states[before] for s, before, _ in rows], np.uint8).reshape(len(rows), widths[0])
    afters = np.array([series[s].states[after] for s, _, after in rows], np.uint8).reshape(len(rows), widths[0])
    weights = np.array([series[s].weight for s, _, _ in rows])
    held = np.array([[gene in series[s].held for gene in range(widths[0])] for s, _, _ in rows], bool).reshape(befores.shape)
    targets = tuple(
        _target(befores[known], afters[known, gene], weights[known])
        for gene in range(widths[0])
        for known in [(afters[:, gene] != UNKNOWN) & ~held[:, gene]]
    )
    return Evidence(names, tuple(series), targets)


def whole_units(weights: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.int64], float]:
    """Weights as whole units, and what one unit weighs."""
    whole = bool((weights == np.round(weights)).all())
    unit = 1.0 if whole else 1 / FRACTIONS
    return np.round(weights / unit).astype(np.int64), unit


def _target(inputs: States, nexts: States, weights: npt.NDArray[np.float64]) -> TargetEvidence:
    units, unit = whole_units(weights)
    both = np.column_stack([inputs, nexts])
    distinct, places = np.unique(both, axis=0, return_inverse=True)
    counts = np.zeros(len(distinct), np.int64)
    np.add.at(counts, places.reshape(-1), units)
    return TargetEvidence(distinct[:, :-1], distinct[:, -1], counts, unit)


def pack_target(target: TargetEvidence) -> PackedTarget:
    """Bit rows of one gene's transitions, one plane for each binary digit of the weights."""
    planes = max(1, int(target.units.max(initial=1)).bit_length())
    digits = (target.units[:, None] >> np.arange(planes)) & 1 == 1
    rising = (target.nexts == 1)[:, None]
    if len(target.nexts) == 0:
        empty = np.zeros((target.inputs.shape[1], 1), np.uint64)
        return PackedTarget(empty, empty, empty[:1], empty[:1], 0)
    return PackedTarget(
        pack(target.inputs == 1),
        pack(target.inputs == 0),
        pack(digits & rising),
        pack(digits & ~rising),
        int(target.units.sum()),
    )
