"""The goal of a model: weights of rows and classes, and the cut of the vote.

Probabilities of a vote are cut where the goal is best served: at the largest one for accuracy, at the largest one beside
the share of its class for balanced accuracy. Another cut is taken only if it is better by more than chance on rows held out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from gradus._core.cells import is_unknown
from gradus._tables.labels import UNKNOWN, TargetEncoding
from gradus.errors import DataError, FormatError, SettingsError

__all__ = ["GOALS", "Goal", "Weights", "class_weights", "goal_multipliers", "goals_from_json", "row_weights"]

Goal = Literal["accuracy", "balanced_accuracy", "f1"]
GOALS: tuple[Goal, ...] = get_args(Goal)
MOST_CUTS = 200  # that are tried
ERRORS_BEYOND_CHANCE = 2.0  # standard errors by which another cut must be better
TINY = 1e-6

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Weights:
    """How much each row counts, and each class of each target."""

    of_rows: Floats
    of_classes: tuple[Floats, ...]

    @classmethod
    def equal(cls, n_rows: int, targets: Sequence[TargetEncoding]) -> Weights:
        """Let all count alike."""
        return cls(np.ones(n_rows), tuple(np.ones(len(target.classes)) for target in targets))

    def of_target(self, k: int) -> tuple[Floats, Floats]:
        """Return the weights of the rows, and of the classes of one target."""
        return self.of_rows, self.of_classes[k]

    def of(self, rows: npt.NDArray[Any]) -> Weights:
        """Return the weights of some rows."""
        return Weights(self.of_rows[rows], self.of_classes)

    def of_cells(self, codes: Ints) -> list[Floats]:
        """Return the weight of each row for each target, by its own and by its class."""
        return [
            self.of_rows * weights[np.maximum(column, 0)] for weights, column in zip(self.of_classes, codes.T, strict=True)
        ]


def row_weights(given: Any, n_rows: int) -> Floats:
    """Check the weights of rows."""
    weights = np.asarray(given, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise DataError(f"sample_weight has the shape {weights.shape}; give one number for each of the {n_rows} rows.")
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise DataError("sample_weight must hold numbers from 0, and not only zeros.")
    return weights


def class_weights(asked: Any, target: TargetEncoding, codes: Ints, of_rows: Floats) -> Floats:
    """Return the weight of each class: all the same, "balanced", or by a mapping."""
    n_classes = len(target.classes)
    if asked is None:
        return np.ones(n_classes)
    if isinstance(asked, str):
        if asked != "balanced":
            raise SettingsError(f"class_weight is {asked!r}; use 'balanced', None or a dict of weights by class.")
        known = codes != UNKNOWN
        rows = np.bincount(codes[known], of_rows[known], n_classes)
        return np.asarray(rows.sum() / (n_classes * np.maximum(rows, TINY)))
    if not isinstance(asked, Mapping):
        raise SettingsError(f"class_weight is {asked!r:.40}; use 'balanced', None or a dict of weights by class.")
    unknown = [label for label in asked if label not in target.classes]
    if unknown:
        shown = ", ".join(map(repr, target.classes[:10]))
        raise SettingsError(f"class_weight names {unknown[0]!r}, which is no class of {target.name!r}; classes are {shown}.")
    weights = np.array([asked.get(label, 1.0) for label in target.classes], dtype=np.float64)
    if not np.isfinite(weights).all() or (weights <= 0).any():
        raise SettingsError("class_weight must hold numbers above 0.")
    return weights


def goal_multipliers(shares: Floats, codes: Ints, weights: Floats) -> dict[Goal, Floats]:
    """Choose, for each goal, what probabilities of classes are multiplied with before the largest is taken.

    `shares` are probabilities of rows that were held out, and `codes` their classes. Those for "accuracy" tilt the
    probabilities themselves, and the others come on top of them.
    """
    known = (codes != UNKNOWN) & (weights > 0) & ~is_unknown(shares[:, 0])
    shares, codes, weights = shares[known], codes[known], weights[known]
    n_classes = shares.shape[1]
    rows = np.asarray(np.bincount(codes, weights, n_classes) + TINY, dtype=np.float64)
    even, usual = np.ones(n_classes), rows.sum() / (n_classes * rows)
    if n_classes != 2 or not len(codes):
        return {"accuracy": even, "balanced_accuracy": usual, "f1": np.sqrt(usual)}
    cuts = _cuts(shares[:, 1])
    tilt = _chosen(shares[:, 1], codes, weights, even, cuts)
    tilted: Floats = shares * tilt
    tilted /= tilted.sum(axis=1, keepdims=True)
    balanced = _chosen(tilted[:, 1], codes, weights * usual[codes], usual, _cuts(tilted[:, 1]))
    return {"accuracy": tilt, "balanced_accuracy": balanced, "f1": _best_f1(tilted[:, 1], codes, weights, rows)}


def _cuts(second: Floats) -> Floats:
    """Return probabilities of the second class between those that occur."""
    distinct = np.unique(second)
    if len(distinct) > MOST_CUTS:
        distinct = np.unique(np.quantile(distinct, np.linspace(0, 1, MOST_CUTS)))
    return np.clip((distinct[1:] + distinct[:-1]) / 2, TINY, 1 - TINY)


def _as_multipliers(cut: float) -> Floats:
    """Return multipliers that make the second class the larger one above a probability."""
    return np.array([1.0, round((1 - cut) / cut, 6)])


def _chosen(second: Floats, codes: Ints, worth: Floats, usual: Floats, cuts: Floats) -> Floats:
    """Return the multipliers of the best cut, or the usual ones if it is not better than those by more than chance."""
    cut = float(usual[0] / usual.sum())
    right = (second > cut) == codes
    found, most = usual, 0.0
    for other in cuts.tolist():
        change = worth * (((second > other) == codes).astype(np.float64) - right)
        gain = float(change.sum()) - ERRORS_BEYOND_CHANCE * float(np.sqrt((change**2).sum()))
        if gain > most + TINY:
            found, most = _as_multipliers(other), gain
    return found


def _best_f1(second: Floats, codes: Ints, weights: Floats, rows: Floats) -> Floats:
    """Return the multipliers of the cut with the best F1 of the rarer class."""
    rare = int(rows[1] <= rows[0])
    is_rare = codes == rare
    best, most = np.ones(2), -1.0
    for cut in [0.5, *_cuts(second).tolist()]:
        said = (second > cut) == bool(rare)
        hits = float(weights[said & is_rare].sum())
        score = 2 * hits / max(float(weights[said].sum() + weights[is_rare].sum()), TINY)
        if score > most + TINY:
            best, most = _as_multipliers(cut), score
    return best


def goals_from_json(document: Any, targets: Sequence[TargetEncoding]) -> dict[str, tuple[Floats, ...]]:
    """Read the multipliers of every goal and target."""
    if not isinstance(document, dict) or not all(goal in GOALS and isinstance(row, list) for goal, row in document.items()):
        raise FormatError(f"the model's goals must be lists of numbers by goal; goals are {', '.join(GOALS)}.")
    found = {}
    for goal, row in document.items():
        try:
            several = tuple(np.array(numbers, dtype=np.float64) for numbers in row)
        except (TypeError, ValueError):
            several = ()
        if [numbers.shape for numbers in several] != [(len(target.classes),) for target in targets] or not all(
            bool((np.isfinite(numbers) & (numbers > 0)).all()) for numbers in several
        ):
            raise FormatError(f"the model's goal {goal!r} must have a number above zero for every class.")
        found[goal] = several
    return found
