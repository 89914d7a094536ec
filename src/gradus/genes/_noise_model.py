"""`FlipRate`: how often a recorded next value is not what the rule says; one rate for all genes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gradus.errors import SettingsError

__all__ = ["NOISELESS", "FlipRate", "flip_rate", "pooled_rate"]

CLEAN, LEAST, MOST = 0.002, 0.0005, 0.42
"""Below the first, data count as free of errors; no estimate lies outside the other two."""
FIRST_GUESS = 0.1
"""The rate that "auto" starts from: a high one prefers small sets, which do not fit the noise."""
HIDDEN = 1.3
"""So many errors for each that the best rule makes: the best of many rules fits some of the noise (chosen on tuning seeds)."""


@dataclass(frozen=True)
class FlipRate:
    """Share of the next values that are recorded other than the rule says.

    Attributes
    ----------
    rate : float
    """

    rate: float

    @property
    def clean(self) -> bool:
        """Whether the data look free of errors."""
        return self.rate < CLEAN

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
    return FlipRate(max(float(noise), LEAST))


def pooled_rate(totals: npt.NDArray[np.float64], errors: npt.NDArray[np.float64]) -> FlipRate:
    """Estimate one rate from the errors of the best rules of all genes."""
    # Were each gene to have its own rate, sets that fit the noise would pass for clean genes.
    return FlipRate(float(np.clip(HIDDEN * errors.sum() / max(1.0, totals.sum()), LEAST, MOST)))
