"""Continuous time series made binary: two clusters per gene, or a threshold."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gradus._core.wording import listed
from gradus.errors import DataError, SettingsError
from gradus.genes._series import Series

__all__ = ["BinarySeries", "binarize", "two_means_boundary"]

SHOWN = 8


@dataclass(frozen=True, eq=False)
class BinarySeries:
    """Binary series and how they were made."""

    series: tuple[Series, ...]
    """A value is 1 if it lay above its gene's boundary, 0 if not, and missing if it was missing."""
    boundaries: Mapping[str, float]
    """The boundary of each gene; NaN for a gene with a single value, which became 0 everywhere."""
    notes: tuple[str, ...]
    """The same in sentences, for `transitions(..., notes=...)`."""


def binarize(series: Series | Iterable[Series], how: Literal["kmeans"] | float = "kmeans") -> BinarySeries:
    """Make continuous series binary; each gene has one boundary for all series."""
    several = [series] if isinstance(series, Series) else list(series)
    if not several:
        raise DataError("there is no series.")
    threshold = None if how == "kmeans" else _checked_threshold(how)
    genes = several[0].genes
    values = [_finite(one, genes) for one in several]
    together = np.concatenate(values)
    if threshold is not None:
        bounds = np.full(len(genes), threshold)
    else:
        bounds = np.array([two_means_boundary(column) for column in together.T])
    with np.errstate(invalid="ignore"):
        bits = [np.where(np.isnan(states), np.nan, states > bounds) for states in values]
    made = tuple(replace(one, genes=genes, states=states) for one, states in zip(several, bits, strict=True))
    return BinarySeries(made, dict(zip(genes, bounds.tolist(), strict=True)), _notes(genes, bounds, threshold))


def _checked_threshold(how: Any) -> float:
    if isinstance(how, bool) or not isinstance(how, numbers.Real) or not np.isfinite(float(how)):
        raise SettingsError(f"binarize is {how!r}; it must be 'kmeans', a finite number or None.")
    return float(how)


def two_means_boundary(values: npt.NDArray[np.float64]) -> float:
    """Return the value halfway between the two tightest clusters, or NaN if there is one value only."""
    known = np.sort(values[~np.isnan(values)])
    if len(known) < 2 or known[0] == known[-1]:
        return float("nan")
    # Scaled to [0, 1], so that squares neither overflow nor drown in a large mean.
    spread = known[-1] / 2 - known[0] / 2
    scaled = (known / 2 - known[0] / 2) / spread
    sums = np.cumsum(scaled)
    sizes = np.arange(1, len(known))
    # The sum of squares within is smallest where the sum of squares between is largest.
    between = sums[:-1] ** 2 / sizes + (sums[-1] - sums[:-1]) ** 2 / (len(known) - sizes)
    between[known[1:] == known[:-1]] = -np.inf  # equal values are never separated
    split = int(np.argmax(between))
    return float(known[split] / 2 + known[split + 1] / 2)


def _finite(series: Series, genes: tuple[str, ...]) -> npt.NDArray[np.float64]:
    states = series.in_order(genes)
    infinite = np.isinf(states)
    if infinite.any():
        time, column = (int(i) for i in np.argwhere(infinite)[0])
        raise DataError(f"{series.name} row {time + 1} has an infinite value for {genes[column]!r}.")
    return states


def _notes(genes: tuple[str, ...], bounds: npt.NDArray[np.float64], threshold: float | None) -> tuple[str, ...]:
    if threshold is not None:
        return (f"Values above {threshold:g} were made 1, all others 0.",)
    shown = [f"{gene} {bound:.4g}" for gene, bound in zip(genes, bounds, strict=True) if not np.isnan(bound)]
    single = [gene for gene, bound in zip(genes, bounds, strict=True) if np.isnan(bound)]
    notes = [f"Each gene's values were split in two clusters; 1 is above: {listed(shown, SHOWN)}."] if shown else []
    return (*notes, *([f"Genes with a single value became 0: {listed(single, SHOWN)}."] if single else []))
