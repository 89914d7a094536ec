"""How well rules predict a transition that they were not learned from, beside the two trivial guesses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gradus._bits import BoolMatrix

__all__ = ["Fold", "LeaveOneOut", "TargetScore", "folds", "score"]


@dataclass(frozen=True)
class Fold:
    """A transition left out."""

    row: int
    """The transition."""
    targets: tuple[int, ...]
    """Targets that still take both values in the others; the rest cannot be learned and is not scored."""


@dataclass(frozen=True)
class TargetScore:
    """Accuracy on transitions left out, for one target.

    Attributes
    ----------
    target : str
    scored : int
        Transitions that it was scored on.
    vote : float
        Accuracy of the majority of the networks.
    single : float
        Mean accuracy of a single network.
    persistence : float
        Accuracy of the guess that the gene stays as it is.
    majority : float
        Accuracy of the guess that it takes its usual next value.
    """

    target: str
    scored: int
    vote: float
    single: float
    persistence: float
    majority: float


@dataclass(frozen=True)
class LeaveOneOut:
    """Scores of every target, and their means over all scored (transition, target) pairs."""

    targets: tuple[TargetScore, ...]
    overall: TargetScore | None
    not_scored: tuple[tuple[int, str], ...]
    """(transition, target) pairs that could not be scored; transitions counted from 0."""


def folds(Y: BoolMatrix) -> list[Fold]:
    """List the transitions that can be left out, with the targets that can then still be learned.

    Examples
    --------
    >>> folds(np.array([[1, 1], [0, 0], [0, 1]], dtype=bool))
    [Fold(row=0, targets=(1,)), Fold(row=1, targets=(0,)), Fold(row=2, targets=(0, 1))]
    """
    found = []
    for row in range(len(Y)):
        rest = np.delete(Y, row, axis=0)
        varying = np.flatnonzero((rest != rest[:1]).any(axis=0)) if len(rest) else np.array([], dtype=np.int64)
        if len(varying):
            found.append(Fold(row, tuple(int(k) for k in varying)))
    return found


def score(
    X: BoolMatrix, Y: BoolMatrix, genes: Sequence[str], targets: Sequence[str], shares: dict[tuple[int, int], float]
) -> LeaveOneOut:
    """Score what ensembles predicted for the transitions they had not seen.

    Parameters
    ----------
    X, Y : ndarray of bool
        All transitions.
    genes, targets : sequence of str
        Names of their columns.
    shares : dict from (row, target) to float
        Part of the networks that predicted 1.
    """
    columns: list[tuple[str, npt.NDArray[np.float64]]] = []
    missed = []
    for k, name in enumerate(targets):
        rows = [row for row in range(len(X)) if (row, k) in shares]
        missed += [(row, name) for row in range(len(X)) if (row, k) not in shares]
        if rows:
            now = X[:, genes.index(name)]
            columns.append((name, np.array([_one(shares[row, k], Y[:, k], now, row) for row in rows])))
    scores = tuple(_mean(name, values) for name, values in columns)
    overall = _mean("all", np.concatenate([values for _, values in columns])) if columns else None
    return LeaveOneOut(scores, overall, tuple(missed))


def _one(share: float, following: BoolMatrix, now: BoolMatrix, row: int) -> list[float]:
    """Accuracy of the vote, a single network, persistence and majority on one transition; an even vote counts half."""
    truth = bool(following[row])
    for_truth = share if truth else 1 - share
    usual = np.delete(following, row).mean()
    return [_even(for_truth), for_truth, float(now[row] == truth), _even(usual if truth else 1 - usual)]


def _even(share: float) -> float:
    return 0.5 if share == 0.5 else float(share > 0.5)


def _mean(name: str, values: npt.NDArray[np.float64]) -> TargetScore:
    vote, single, persistence, majority = (float(mean) for mean in values.mean(axis=0))
    return TargetScore(name, len(values), vote, single, persistence, majority)
