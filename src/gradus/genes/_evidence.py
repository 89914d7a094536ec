"""What was recorded: the transitions of every gene, and how often next values are recorded wrongly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gradus._core.bits import pack
from gradus.errors import DataError, SettingsError
from gradus.genes._series import UNKNOWN, Codes, Series
from gradus.genes._set_kernel.arrays import PackedTarget

__all__ = [
    "NOISELESS",
    "Evidence",
    "FlipRate",
    "TargetEvidence",
    "flip_rate",
    "gather_evidence",
    "pack_target",
    "pooled_rate",
    "recorded",
]

CLEAN_BELOW, LEAST_RATE, MOST_RATE = 0.002, 0.0005, 0.42
"""Below the first, data count as free of errors; no estimate is outside the other two."""
FIRST_GUESS = 0.1
"""The rate that "auto" starts from: a high one prefers small sets, which do not fit the noise."""
ERRORS_PER_ERROR_SEEN = 1.3
"""Errors in the data for each that the best rule makes, since the best of many rules fits some of the noise (chosen on tuning
seeds)."""


def recorded(series: Sequence[Series]) -> tuple[Series, ...]:
    """Check that series are binary, put their columns in the order of the first one, and set held genes to their values."""
    if not series:
        raise DataError("there is no series.")
    genes = series[0].genes
    prepared = []
    for single in series:
        states = single.binary(genes).copy()
        for gene, value in single.held.items():
            states[:, genes.index(gene)] = value
        levels = None if single.levels is None else np.asarray(single.levels, np.float64)[:, single.places(genes)]
        prepared.append(replace(single, genes=genes, states=states, levels=levels))
    if not any(single.transitions() for single in prepared):
        raise DataError("the series hold no transition: each has only one state; a series needs at least two.")
    return tuple(prepared)


@dataclass(frozen=True, eq=False)
class TargetEvidence:
    """Transitions of one gene: distinct known inputs (0, 1 or 2 for unknown) and next values, each with its weight."""

    inputs: Codes
    nexts: Codes
    units: npt.NDArray[np.int64]
    """The weights in whole units."""
    unit: float
    """What one unit weighs."""

    @property
    def total(self) -> float:
        """Weight of all transitions."""
        return float(self.units.sum() * self.unit)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Recorded series, see `recorded`, and the transitions of each gene in them."""

    series: tuple[Series, ...]
    targets: tuple[TargetEvidence, ...]

    @property
    def genes(self) -> tuple[str, ...]:
        """Names of the genes."""
        return self.series[0].genes


def gather_evidence(series: Sequence[Series]) -> Evidence:
    """Count the distinct transitions of every gene, where it was not held and its next value is known."""
    befores, afters, held = [], [], []
    for single in series:
        rows = np.array(single.transitions(), np.int64).reshape(-1, 2)
        befores.append(single.codes[rows[:, 0]])
        afters.append(single.codes[rows[:, 1]])
        held.append(np.tile(single.is_held, (len(rows), 1)))
    inputs, nexts = np.concatenate(befores), np.concatenate(afters)
    counts = (nexts != UNKNOWN) & ~np.concatenate(held)
    targets = [_target(inputs[used], nexts[used, gene]) for gene, used in enumerate(counts.T)]
    return Evidence(tuple(series), tuple(targets))


def _target(inputs: Codes, nexts: Codes) -> TargetEvidence:
    distinct, counts = np.unique(np.column_stack([inputs, nexts]), axis=0, return_counts=True)
    return TargetEvidence(distinct[:, :-1], distinct[:, -1], counts.astype(np.int64), 1.0)


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


@dataclass(frozen=True)
class FlipRate:
    """Share of the next values that are recorded other than the rule says; one rate for all genes."""

    rate: float

    @property
    def clean(self) -> bool:
        """Whether the data look free of errors."""
        return self.rate < CLEAN_BELOW

    def logs(self, unit: float) -> npt.NDArray[np.float64]:
        """Log-likelihood of a unit that is right and of one that is wrong."""
        return unit * np.array([np.log1p(-self.rate), np.log(self.rate)])

    def log_likelihood(self, total: int, unit: float) -> npt.NDArray[np.float64]:
        """Log-likelihood of 0, 1, ... `total` units of error among `total`."""
        right, wrong = self.logs(unit)
        errors = np.arange(total + 1)
        return np.asarray((total - errors) * right + errors * wrong)


NOISELESS = FlipRate(1e-6)
"""No errors: only rules that fit every transition compete, where there are any."""


def flip_rate(noise: str | float) -> FlipRate:
    """Rate for a setting: the one that is given, or one to start from with "auto"."""
    if noise == "auto":
        return FlipRate(FIRST_GUESS)
    if isinstance(noise, bool) or not isinstance(noise, int | float) or not 0 <= noise < 0.5:
        raise SettingsError(f'noise is {noise!r}; it must be "auto" or a rate from 0 to less than 0.5.')
    return FlipRate(max(float(noise), LEAST_RATE))


def pooled_rate(totals: npt.NDArray[np.float64], errors: npt.NDArray[np.float64]) -> FlipRate:
    """Estimate one rate from the errors of the best rules of all genes."""
    # Were each gene to have its own rate, sets that fit the noise would pass for clean genes.
    rate = ERRORS_PER_ERROR_SEEN * errors.sum() / max(1.0, totals.sum())
    return FlipRate(float(np.clip(rate, LEAST_RATE, MOST_RATE)))
