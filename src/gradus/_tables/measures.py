"""How good predicted classes are, where some classes are rare: recall, precision, balanced accuracy, area under the curve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._tables.labels import UNKNOWN, TargetEncoding

__all__ = ["RARE", "UNEVEN", "measured", "rarest", "said_of_goals", "said_of_rare"]

UNEVEN, RARE = 0.25, 0.10
"""Shares of the rarest class below which more than accuracy is printed, and what other goals would give."""

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Measures = Mapping[str, Any]


def rarest(codes: Ints, n_classes: int) -> tuple[int, float]:
    """Return the class with the fewest rows, and its share."""
    rows = np.bincount(codes[codes != UNKNOWN], minlength=n_classes)
    rare = int(np.argmin(np.where(rows > 0, rows, rows.sum() + 1)))
    return rare, float(rows[rare] / max(rows.sum(), 1))


def measured(codes: Ints, said: Ints, shares: Floats | None, n_classes: int, rare: int) -> dict[str, float]:
    """Measure predictions for rows of known classes; `shares` are probabilities, for the area under the curve."""
    known = codes != UNKNOWN
    codes, said = codes[known], said[known]
    rows = np.bincount(codes, minlength=n_classes)
    hits = np.bincount(codes[codes == said], minlength=n_classes)
    named = int((said == rare).sum())
    found = {
        "accuracy": float((codes == said).mean()),
        "balanced_accuracy": float((hits[rows > 0] / rows[rows > 0]).mean()),
        "recall": float(hits[rare] / max(rows[rare], 1)),
        "precision": float(hits[rare] / named) if named else 0.0,
    }
    if shares is not None and n_classes == 2:
        found["auc"] = _area(codes, shares[known, 1])
    return {name: round(value, 6) for name, value in found.items()}


def _area(codes: Ints, second: Floats) -> float:
    """Return how often a row of the second class gets a larger probability than one of the first; equal ones count half."""
    _, place = np.unique(np.round(second, 12), return_inverse=True)
    above, below = np.bincount(place[codes == 1]), np.bincount(place[codes == 0])
    n = max(len(above), len(below))
    above, below = np.pad(above, (0, n - len(above))), np.pad(below, (0, n - len(below)))
    wins = float((above * (np.cumsum(below) - below / 2)).sum())
    pairs = float(above.sum()) * float(below.sum())
    return wins / pairs if pairs else 0.5


def said_of_rare(target: TargetEncoding, rare: int, share: float, of: Mapping[str, Measures]) -> list[str]:
    """Describe what each method finds of a rare class."""
    lines = [f"{target.name} = {target.classes[rare]} has {_percent(share)} of the rows:"]
    for name, found in of.items():
        area = f", area under the curve {found['auc']:.3f}" if "auc" in found else ""
        told = f"finds {_percent(found['recall'])} of them, right in {_percent(found['precision'])} of those it names"
        lines.append(
            f"  {name}: {told if found['recall'] else 'finds none of them'}; "
            f"balanced accuracy {_percent(found['balanced_accuracy'])}{area}"
        )
    return lines


def said_of_goals(goal: str, found: Mapping[str, Measures]) -> list[str]:
    """Describe what other goals would give, and how they are chosen."""
    lines = []
    for other, values in found.items():
        if other != goal:
            told = f"finds {_percent(values['recall'])}, right in {_percent(values['precision'])}"
            lines.append(
                f"  with --goal {other}: {told if values['recall'] else 'finds none'}; "
                f"balanced accuracy {_percent(values['balanced_accuracy'])}, accuracy {_percent(values['accuracy'])}"
            )
    return lines


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
