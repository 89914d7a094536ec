"""The paper's losses as weights, prerequisites and tolerated errors."""

from __future__ import annotations

import numpy as np

from gradus._search.structures import Objective
from gradus.errors import SettingsError
from gradus.losses import LossName

__all__ = ["FORMS", "make_objective", "scale"]

FORMS = {"l1": 0, "lw": 0, "llh": 1, "lgh": 3}
ANY_LOCAL, ANY_GLOBAL = 2, 4


def make_objective(loss: LossName, n_targets: int) -> Objective:
    """Return one of the paper's losses for a number of targets.

    Examples
    --------
    >>> make_objective("lgh", 3).needs
    array([0, 1, 3], dtype=uint64)
    """
    if loss not in FORMS:
        raise SettingsError(f"loss is {loss!r}; it must be one of {', '.join(FORMS)}.")
    weights = np.arange(n_targets, 0, -1) if loss == "lw" else np.ones(n_targets)
    chained = loss in ("llh", "lgh")
    needs = [(1 << k) - 1 if chained else 0 for k in range(n_targets)]
    return Objective(
        np.uint64(FORMS[loss]),
        weights.astype(np.uint64),
        np.array(needs, dtype=np.uint64),
        np.zeros(n_targets, dtype=np.uint64),
    )


def scale(loss: LossName, n_targets: int, n_examples: int) -> int:
    """Cost of a network that is wrong everywhere: what the integer cost is divided by to give the public loss.

    Examples
    --------
    >>> scale("lw", 3, 10), scale("l1", 3, 10)
    (60, 30)
    """
    weights = n_targets * (n_targets + 1) // 2 if loss == "lw" else n_targets
    return weights * n_examples
