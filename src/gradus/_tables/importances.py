"""Which columns matter: the bits that each saves on rows not seen, and columns that decide a target alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix
from gradus._tables.cells import Cells
from gradus._tables.encoding import TableEncoding
from gradus._tables.labels import UNKNOWN, TargetEncoding
from gradus._tables.model import Model

__all__ = ["column_importances", "telling_columns", "with_telling_columns"]

MANY_COLUMNS, FEWEST_KEPT = 100, 20
"""Columns above which those that are not informative by themselves are left out, and how many are kept at least."""

MOST_ROWS = 1000  # that are measured
LEAST_SHARE = 1e-4  # probability of the right class, below which no further bits are lost
FEWEST_ROWS = 20  # of other classes than the most frequent, that a column must recognise to decide alone
WRONG = 0.005  # share of these that may be wrong

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


def column_importances(model: Model, inputs: BoolMatrix, codes: Ints, unseen: Sequence[Flags], seed: int) -> dict[str, float]:
    """Return, for each column that circuits read, the bits per row that it saves.

    That is by how many bits the classes of rows are longer to describe, by the predictions of circuits that have not seen
    them, if the column's values are shuffled.
    """
    rng = np.random.default_rng([seed, len(inputs)])
    rows = np.sort(rng.permutation(len(inputs))[:MOST_ROWS])
    columns, table = np.array(model.features.input_columns), inputs[rows]
    masks = [mask[rows] for mask in unseen]
    alone = [_alone(model, number) for number in range(len(model.networks))]
    said = [voter.votes(table) for voter in alone]
    reads = [network.cone(range(network.n_outputs))[: network.n_inputs] for network in model.networks]
    whole = _bits(said, masks, codes[rows])
    found = {}
    for j in np.unique(columns).tolist():
        mine = columns == j
        dealt = np.where(mine, table[rng.permutation(len(table))], table)
        changed = []
        for voter, before, read in zip(alone, said, reads, strict=True):
            changed.append(voter.votes(dealt) if (read & mine).any() else before)
        found[model.features.columns[j].name] = round(_bits(changed, masks, codes[rows]) - whole, 6)
    return found


def _alone(model: Model, number: int) -> Model:
    """Return the model of one circuit."""
    return Model((model.networks[number],), model.features, model.targets, readers=(model.readers[number],))


def _bits(said: Sequence[Sequence[npt.NDArray[np.float64]]], masks: Sequence[Flags], codes: Ints) -> float:
    """Return the bits per row that the classes take to describe, summed over the targets."""
    total = 0.0
    asked = np.sum(masks, axis=0)
    for k, column in enumerate(codes.T):
        known = (column != UNKNOWN) & (asked > 0)
        if not known.any():
            continue
        shares = sum(one[k] * mask[:, np.newaxis] for one, mask in zip(said, masks, strict=True))
        right = np.asarray(shares)[known, column[known]] / asked[known]
        total -= float(np.log2(np.maximum(right, LEAST_SHARE)).mean())
    return total


def telling_columns(
    features: TableEncoding, targets: Sequence[TargetEncoding], inputs: BoolMatrix, codes: Ints
) -> list[dict[str, str]]:
    """Return the columns that decide a target alone, which may not be known beforehand, each with a condition if one does."""
    names, found = features.input_names, []
    columns = np.array(features.input_columns)
    for target, labels in zip(targets, codes.T, strict=True):
        known = labels != UNKNOWN
        rows = np.bincount(labels[known], minlength=len(target.classes))
        others = int(rows.sum() - rows.max())
        if others < FEWEST_ROWS or (len(targets) > 1 and features.is_plain):
            continue
        for j in np.unique(columns).tolist():
            places = np.flatnonzero(columns == j)
            if _wrong(inputs[known][:, places], labels[known]) > WRONG * others:
                continue
            single = [place for place in places if _wrong(inputs[known][:, [place]], labels[known]) <= WRONG * others]
            says = names[single[0]] if single else features.columns[j].name
            found.append({"target": target.name, "column": features.columns[j].name, "says": says})
    return found


def with_telling_columns(encoding: TableEncoding, cells: Mapping[str, Cells], codes: Ints) -> TableEncoding:
    """Leave out, of very many columns, those that are not informative about the targets by themselves."""
    used = [j for j, column in enumerate(encoding.columns) if column.input_names]
    if len(used) <= MANY_COLUMNS:
        return encoding
    saved = np.array([_saved_bits(encoding.columns[j].encode(cells[encoding.columns[j].name]), codes) for j in used])
    kept = {
        used[place] for rank, place in enumerate(np.argsort(-saved, kind="stable")) if rank < FEWEST_KEPT or saved[place] > 0
    }
    told = f"one of {len(used) - len(kept)} that tell little by themselves"
    columns = [
        column
        if j in kept or not column.input_names
        else replace(column, kind="out", values=(), others=False, missing=False, reason=told)
        for j, column in enumerate(encoding.columns)
    ]
    return TableEncoding(tuple(columns))


def _saved_bits(inputs: BoolMatrix, codes: Ints) -> float:
    """Return how many bits a column saves in describing the classes of the rows, less those that describe how."""
    _, group = np.unique(np.packbits(inputs, axis=1), axis=0, return_inverse=True)
    saved = 0.0
    for labels in codes.T:
        known = labels != UNKNOWN
        n, n_classes = int(known.sum()), int(labels.max(initial=0)) + 1
        counts = np.bincount(
            group.ravel()[known] * n_classes + labels[known], minlength=(int(group.max(initial=0)) + 1) * n_classes
        )
        counts = counts.reshape(-1, n_classes)
        whole, parts = _bits_of(counts.sum(axis=0)[np.newaxis]), _bits_of(counts)
        # Half a logarithm for each share, and one for where a column is cut.
        saved += whole - parts - (len(counts) - 1) * (n_classes / 2 + 0.5) * float(np.log2(max(n, 2)))
    return saved


def _bits_of(counts: Ints) -> float:
    """Return the bits that the classes take, row of counts by row."""
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return float(-(counts * np.log2(np.where(counts > 0, share, 1.0))).sum())


def _wrong(inputs: BoolMatrix, labels: Ints) -> int:
    """Return how many rows have another class than most rows with the same inputs."""
    _, group = np.unique(np.packbits(inputs, axis=1), axis=0, return_inverse=True)
    n_classes = int(labels.max(initial=0)) + 1
    counts = np.bincount(group.ravel() * n_classes + labels, minlength=(int(group.max(initial=0)) + 1) * n_classes)
    return int(len(labels) - counts.reshape(-1, n_classes).max(axis=1).sum())
