"""How good a model is, target by target, always beside the trivial baseline."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._cli.data import Examples
from gradus._cli.progress import Steps
from gradus.errors import SettingsError

__all__ = ["CrossValidation", "cross_validate", "majority"]


@dataclass(frozen=True)
class CrossValidation:
    """Accuracy on rows left out, by target; `baseline` is that of the majority of the rows trained on."""

    folds: int
    accuracy: tuple[float, ...]
    baseline: tuple[float, ...]
    unfitted: int
    """Folds whose training error is not zero."""


def majority(labels: npt.NDArray[Any]) -> Any:
    """Most frequent label, the first in sorted order of equals.

    Examples
    --------
    >>> str(majority(np.array(["b", "a", "b"])))
    'b'
    """
    values, counts = np.unique(labels, return_counts=True)
    return values[np.argmax(counts)]


def cross_validate(examples: Examples, folds: int, settings: dict[str, Any], *, binarize: Any, seed: int) -> CrossValidation:
    """Learn without each part of the rows in turn, and score on the part left out.

    Parameters
    ----------
    examples : Examples
    folds : int
        Parts; the rows are dealt out at random.
    settings : dict
        As `BooleanNetworkClassifier` takes them.
    binarize
        As `BooleanNetworkClassifier` takes it.
    seed : int

    Returns
    -------
    CrossValidation
    """
    n = len(examples.features)
    if not 2 <= folds <= n:
        raise SettingsError(f"--cv is {folds}; it must be from 2 to the number of rows, {n}.")
    # The estimator needs scikit-learn, which takes a second to import.
    from sklearn.exceptions import ConvergenceWarning

    from gradus._estimator import BooleanNetworkClassifier

    rows = np.random.default_rng(seed).permutation(n)
    right = np.zeros((2, len(examples.targets)))
    unfitted = 0
    with Steps("cross-validation, folds", folds) as step, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for part in np.array_split(rows, folds):
            train = np.setdiff1d(rows, part)
            model = BooleanNetworkClassifier(**settings, binarize=binarize, random_state=seed)
            model.fit(examples.features[train], _side_by_side([column[train] for column in examples.targets]))
            unfitted += not model.converged_
            predicted = np.asarray(model.predict(examples.features[part]), dtype=object).reshape(len(part), -1)
            for k, column in enumerate(examples.targets):
                right[0, k] += (predicted[:, k] == column[part].astype(object)).sum()
                right[1, k] += (column[part] == majority(column[train])).sum()
            step()
    return CrossValidation(folds, tuple((right[0] / n).tolist()), tuple((right[1] / n).tolist()), unfitted)


def _side_by_side(columns: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    if len(columns) == 1:
        return columns[0]
    same_kind = len({column.dtype.kind for column in columns}) == 1
    return np.column_stack(columns if same_kind else [column.astype(object) for column in columns])
