"""`FlipRates`: how often a recorded next value is not what the rule says, as a few rates with weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gradus.errors import SettingsError

__all__ = ["GRID", "NOISELESS", "FlipRates", "flip_rates", "update_rates"]

GRID = (0.0005, 0.003, 0.01, 0.02, 0.04, 0.07, 0.11, 0.16, 0.23, 0.32, 0.42)
"""Rates that "auto" weighs; the first stands for clean data, where any error speaks against a rule."""
START = (0.15, 0.1, 0.15, 0.15, 0.15, 0.1, 0.08, 0.05, 0.03, 0.02, 0.02)
CLEAN = 0.002


@dataclass(frozen=True, eq=False)
class FlipRates:
    """Possible rates at which a rule's outcome is recorded wrongly, and how probable each is.

    Attributes
    ----------
    rates, weights : ndarray of float
        The heaviest first.

    Examples
    --------
    >>> flips = flip_rates(0.05)
    >>> flips.mean, flips.clean
    (0.05, False)
    """

    rates: npt.NDArray[np.float64]
    weights: npt.NDArray[np.float64]

    @property
    def mean(self) -> float:
        """Expected rate."""
        return float(self.rates @ self.weights)

    @property
    def clean(self) -> bool:
        """Whether the data look free of errors."""
        return float(self.weights[self.rates < CLEAN].sum()) > 0.5

    def log_likelihood(self, total: int, unit: float) -> npt.NDArray[np.float64]:
        """Log-likelihood of 0, 1, ... `total` units of error among `total`."""
        errors = np.arange(total + 1) * unit
        logs = (total * unit - errors)[:, None] * np.log1p(-self.rates) + errors[:, None] * np.log(self.rates)
        logs += np.log(self.weights)
        high = logs.max(axis=1)
        value: npt.NDArray[np.float64] = high + np.log(np.exp(logs - high[:, None]).sum(axis=1))
        return value

    def table(self, unit: float) -> npt.NDArray[np.float64]:
        """Rows of log weight, log(1 - rate), log(rate) and unit, as the kernels take them."""
        return np.column_stack(
            [np.log(self.weights), np.log1p(-self.rates), np.log(self.rates), np.full(len(self.rates), unit)]
        )


NOISELESS = FlipRates(np.array([1e-6]), np.ones(1))
"""No errors: only rules that fit every transition compete, where there are any."""


def flip_rates(noise: str | float) -> FlipRates:
    """Rates for a setting: one rate that is given, or the whole grid to start from with "auto".

    Examples
    --------
    >>> len(flip_rates("auto").rates)
    11
    """
    if noise == "auto":
        return _ordered(np.array(GRID), np.array(START))
    if isinstance(noise, bool) or not isinstance(noise, int | float) or not 0 <= noise < 0.5:
        raise SettingsError(f'noise is {noise!r}; it must be "auto" or a rate from 0 to less than 0.5.')
    return FlipRates(np.array([max(float(noise), GRID[0])]), np.ones(1))


def update_rates(totals: npt.NDArray[np.float64], errors: npt.NDArray[np.float64]) -> FlipRates:
    """Weigh the grid anew from the errors of the best rules of all genes together.

    Parameters
    ----------
    totals, errors : ndarray of float
        Weight of the transitions of each gene and of those that its best rule gets wrong.

    Examples
    --------
    >>> update_rates(np.full(20, 100.0), np.full(20, 4.0)).rates[0]
    np.float64(0.04)
    """
    grid = np.array(GRID)
    logs = errors[:, None] * np.log(grid) + (totals - errors)[:, None] * np.log1p(-grid)
    weights = np.array(START)
    for _ in range(50):
        shares = weights * np.exp(logs - logs.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        # Half a gene's worth of the first guess keeps every rate possible.
        weights = (shares.sum(axis=0) + 0.5 * np.array(START)) / (len(totals) + 0.5)
    return _ordered(grid, weights)


def _ordered(rates: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]) -> FlipRates:
    order = np.argsort(-weights, kind="stable")
    return FlipRates(rates[order], weights[order] / weights.sum())
