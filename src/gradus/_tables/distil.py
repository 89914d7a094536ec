"""`taught_rows`: the answers of a vote for rows like those of a table, for circuits that are learned from the vote.

From few rows many circuits without an error can be learned, and it is not known which of them is right on other rows; the
vote is right more often. So it labels new rows: pairs of rows which have exchanged some of their columns.
Half of the pairs are of one class, and lie where rows are likely; the others are any two rows, and lie between the classes,
where circuits differ. A circuit learned from these and the real rows is nearly as good as the vote, and can still be read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix
from gradus._tables.model import Model
from gradus._tables.voters import outputs_of

__all__ = ["recombine_rows", "taught_classes", "taught_rows"]

N_ROWS = 750  # of either kind, that a vote labels
EXCHANGED = 0.4  # share of a row's columns that come from another row

Ints = npt.NDArray[np.int64]


def taught_rows(vote: Model, inputs: BoolMatrix, codes: Ints, rng: np.random.Generator) -> tuple[BoolMatrix, npt.NDArray[Any]]:
    """Return inputs and outputs: those of the rows given, and the vote's answers for rows like them."""
    rows, every = taught_classes(vote, inputs, codes, rng)
    return rows, outputs_of(vote.targets, every)


def taught_classes(vote: Model, inputs: BoolMatrix, codes: Ints, rng: np.random.Generator) -> tuple[BoolMatrix, Ints]:
    """Return inputs and the class of each row for each target, as `taught_rows` does."""
    voted = np.column_stack(vote.predict_codes(inputs))
    columns, any_class = np.array(vote.features.input_columns), np.zeros_like(voted)
    more = np.vstack([recombine_rows(inputs, columns, classes, N_ROWS, rng) for classes in (voted, any_class)])
    given = np.where(codes >= 0, codes, voted)
    return np.vstack([inputs, more]), np.vstack([given, np.column_stack(vote.predict_codes(more))])


def recombine_rows(inputs: BoolMatrix, columns: Ints, classes: Ints, n_rows: int, rng: np.random.Generator) -> BoolMatrix:
    """Make rows of two rows of the same classes each; inputs that come from one column (`columns`) stay together."""
    _, group = np.unique(classes, axis=0, return_inverse=True)
    group = group.ravel()
    by_group = np.argsort(group, kind="stable")
    sizes = np.bincount(group)
    starts = np.cumsum(sizes) - sizes
    first = rng.integers(0, len(inputs), n_rows)
    size, start = sizes[group[first]], starts[group[first]]
    second = by_group[start + np.floor(rng.random(n_rows) * size).astype(np.int64)]
    exchanged = rng.random((n_rows, int(columns.max(initial=0)) + 1)) < EXCHANGED
    return np.where(exchanged[:, columns], inputs[second], inputs[first])
