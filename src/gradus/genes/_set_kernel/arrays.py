"""Records of arrays that the kernels share."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "MOST_CELLS",
    "Floats",
    "Ints",
    "PackedSets",
    "PackedTarget",
    "ScoreTables",
    "Scratch",
    "TableParts",
    "TopSets",
    "Words",
]

MOST_CELLS = 64
Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Words: TypeAlias = npt.NDArray[np.uint64]


class PackedTarget(NamedTuple):
    """Transitions of one target as bit rows over the transitions.

    `ones` and `zeros` (genes, words) say where a gene is known to be 1 and 0; `next_ones` and `next_zeros` (planes, words)
    where the next value is, once for each binary digit of the weights.
    """

    ones: npt.NDArray[np.uint64]
    zeros: npt.NDArray[np.uint64]
    next_ones: npt.NDArray[np.uint64]
    next_zeros: npt.NDArray[np.uint64]
    total: int


class TableParts(NamedTuple):
    """The distinct halves of the prototypes and the distinct quarters of these, so that errors in each are counted once.

    Prototypes of k inputs have halves number `low` and `high`, counted from ``half_start[k]``; a half has quarters number
    `half_low` and `half_high`, counted from ``quarter_start[k]``. There are none for less than four inputs.
    """

    low: Ints
    high: Ints
    half_low: Ints
    half_high: Ints
    half_start: Ints
    quarters: Words
    quarter_start: Ints


class ScoreTables(NamedTuple):
    """What scoring needs beside the data.

    `log_likelihood[e]` is the log-likelihood of e units of error, `flips` that of one unit that is right and of one that is
    wrong, `unknown` what a unit costs one of whose inputs is unknown. `tables` and `weights` (a column for each choice of
    negated inputs) hold the prototypes of k inputs in ``start[k]:start[k + 1]``, and `parts` their halves and quarters;
    `log_any[k]` is the log share of unstructured functions. `log_size[k]` is the log prior of one set of k genes, `gene_odds`
    what each gene adds to it, `sign_odds` (genes, 2) the log probability of the signs - and + relative to one half.
    """

    log_likelihood: npt.NDArray[np.float64]
    flips: npt.NDArray[np.float64]
    unknown: float
    tables: npt.NDArray[np.uint64]
    weights: npt.NDArray[np.float64]
    start: npt.NDArray[np.int64]
    parts: TableParts
    log_any: npt.NDArray[np.float64]
    log_size: npt.NDArray[np.float64]
    gene_odds: npt.NDArray[np.float64]
    sign_odds: npt.NDArray[np.float64]


class PackedSets(NamedTuple):
    """Averaged sets of one target: genes padded to six, sizes, weights, and the probability of 1 in each cell."""

    features: Ints
    sizes: Ints
    weights: Floats
    probabilities: Floats


class TopSets(NamedTuple):
    """The best sets seen so far, -1 where a set has fewer genes; `state` holds how many there are and the lowest place."""

    sets: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]
    state: npt.NDArray[np.int64]


class Scratch(NamedTuple):
    """Room for what is computed of one set after the other.

    `masks` holds the transitions in each cell, `zero` and `one` the units of next value 0 and 1 there, `bounds` the fewest
    errors with each sign, `chunk` those of every choice of values in four cells; `in_quarters`, `in_halves` and `errors` are
    for the prototypes.
    """

    masks: Words
    zero: Ints
    one: Ints
    bounds: Ints
    chunk: Ints
    in_quarters: Ints
    in_halves: Ints
    errors: Ints
