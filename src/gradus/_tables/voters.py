"""Voters: circuits that are learned from different draws of the rows and with different cuts.

A single small circuit is the best explanation of a table, but on numeric tables not the best predictor: where exactly a
column is cut is chance. Circuits that see other rows (a bootstrap sample), a few random cuts besides their own, and not all
of the columns err in different places, and their vote is as good as a random forest's with a hundredth of its nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._core.bits import BoolMatrix
from gradus._core.plain import digest_of
from gradus._lessons.result import LearnResult
from gradus._tables.cells import Cells
from gradus._tables.column_kinds import ColumnKind
from gradus._tables.cuts import FEW_VALUES, MAX_CUTS, Missing, cut_column, cuts_between
from gradus._tables.encoding import TableColumn, TableEncoding
from gradus._tables.goals import Goal, Weights
from gradus._tables.labels import TargetEncoding

__all__ = [
    "Learner",
    "TableExamples",
    "Voter",
    "even_cuts",
    "folds_of_rows",
    "frequent_first",
    "join_voters",
    "learn_voter",
    "only_used",
    "outputs_of",
    "rewired",
    "rows_by_weight",
    "unneeded_columns",
    "widened",
]

POOL, LARGE_POOL = 24, 96
"""Cuts of each column, with equal shares of the rows between, of which voters draw some besides those that are chosen."""
DRAWN, LARGE_DRAWN, LEAST_DRAWN, DRAWN_OF_ALL = 8, 24, 3, 480
"""Cuts that a voter draws of one column: fewer where there are many columns, more of large tables, whose rows tell near ones
apart."""
LARGE_CUTS = 15
"""The most cuts that a voter of a large table chooses itself; each must pay for its description."""
MOST_ROWS = 16_384
"""Rows that a voter is learned from; of larger tables every voter sees others."""
N_FOLDS = 5
"""Every voter leaves out one of this many folds of the rows; those of one fold can teach circuits that are scored on it."""
FEWEST_TO_FOLD = 40
LEFT_OUT = 0.4
"""Largest share of the columns that a circuit goes without: if several are nearly the same, voters would be alike. On large
tables, where voters see different rows anyway, every circuit is offered all columns."""

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Learner = Callable[[BoolMatrix, npt.NDArray[Any], int], LearnResult]
"""Learns a circuit from inputs, outputs (NaN where unknown) and a seed."""


@dataclass(frozen=True, eq=False)
class TableExamples:
    """A table to learn from."""

    columns: Mapping[str, Cells]
    codes: Ints
    """Class of each row for each target, shape (n, targets), -1 where it is unknown."""
    targets: tuple[TargetEncoding, ...]
    kinds: Sequence[ColumnKind]
    missing: Missing
    encoding: TableEncoding
    """How the columns become inputs, with the cuts that all rows suggest."""
    weights: Weights
    goal: Goal = "accuracy"

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    @property
    def is_large(self) -> bool:
        """Whether voters see only some of the rows."""
        return self.n_rows > MOST_ROWS

    @cached_property
    def pool(self) -> TableEncoding:
        """The encoding with the cuts that voters may draw in place of its own."""
        size = LARGE_POOL if self.is_large else POOL
        return TableEncoding(
            tuple(
                replace(column, values=even_cuts(column.numbers(cells), size, column.kind == "after"))
                if column.kind in ("above", "after")
                else column
                for column, cells in zip(self.encoding.columns, self.columns.values(), strict=True)
            )
        )

    def take(self, rows: Ints) -> TableExamples:
        """Return some rows, with the cuts that all suggest."""
        # Nobody asks for rows of columns that are left out, of which there may be thousands.
        pairs = zip(self.columns.items(), self.encoding.columns, strict=True)
        cells = {name: cells if column.is_left_out else cells.take(rows) for (name, cells), column in pairs}
        return replace(self, columns=cells, codes=self.codes[rows], weights=self.weights.of(rows))

    @cached_property
    def digest(self) -> str:
        """A digest of the table."""
        return digest_of(dict(self.columns), self.codes, list(self.kinds), self.missing, self.weights, self.goal)


@dataclass(frozen=True, eq=False)
class Voter:
    """A circuit with an encoding of its own, and the order in which its outputs were learned."""

    encoding: TableEncoding
    network: Network
    order: tuple[int, ...]
    complete: bool
    """Whether learning was not stopped."""
    rows: Ints
    """The rows that it was learned from."""
    fold: int = -1
    """The fold of rows that it has not seen; see `folds_of_rows`."""

    def to_json(self) -> dict[str, Any]:
        """Return a plain dictionary that JSON can hold, of a voter that is complete."""
        learned_from = {"rows": self.rows.tolist(), "fold": self.fold}
        return {
            "encoding": self.encoding.to_json(), "network": self.network.to_json(), "order": list(self.order), **learned_from
        }  # fmt: skip

    @classmethod
    def from_json(cls, document: Any) -> Voter:
        """Read what `to_json` returned."""
        encoding, network = TableEncoding.from_json(document["encoding"]), Network.from_json(document["network"])
        rows, fold = np.array(document["rows"], dtype=np.int64), int(document["fold"])
        return cls(encoding, network, tuple(map(int, document["order"])), True, rows, fold)

    @property
    def used(self) -> set[tuple[int, Any]]:
        """Keys of the inputs that the circuit uses."""
        reads = self.network.cone(range(self.network.n_outputs))
        return {key for key, read in zip(self.encoding.input_keys, reads, strict=False) if read}

    def read(self, examples: TableExamples) -> set[tuple[int, Any]]:
        """Return the keys of the inputs by which the voter is read: those that it uses, or has in common with others."""
        common = {*examples.encoding.input_keys, *examples.pool.input_keys}
        return self.used | (common & set(self.encoding.input_keys))


def outputs_of(targets: Sequence[TargetEncoding], codes: Ints) -> npt.NDArray[Any]:
    """Return classes as outputs of a circuit, NaN where they are unknown."""
    return np.hstack(list(map(TargetEncoding.encode, targets, codes.T)))


def frequent_first(outputs: npt.NDArray[Any]) -> list[int]:
    """Order outputs by how often they are true: frequent ones are learned from most rows, and rare ones can read them."""
    share = np.nanmean(outputs.astype(np.float64), axis=0)
    return [int(k) for k in np.argsort(-share, kind="stable")]


def folds_of_rows(codes: Ints, seed: int) -> Ints:
    """Put each row into one of `N_FOLDS` folds, every class evenly; few rows into none (-1)."""
    n = len(codes)
    if n < FEWEST_TO_FOLD:
        return np.full(n, -1, dtype=np.int64)
    rows = np.random.default_rng([seed, n]).permutation(n)
    folds = np.empty(n, dtype=np.int64)
    folds[rows[np.lexsort(codes[rows].T)]] = np.arange(n) % N_FOLDS
    return folds


def learn_voter(examples: TableExamples, learner: Learner, seed: int, number: int) -> Voter:
    """Learn one voter from a bootstrap sample: as many rows, drawn with replacement from all but one fold."""
    # It depends on the examples, the learner, the seed and its own number alone.
    rng = np.random.default_rng([seed, number])
    fold = number % N_FOLDS
    rows = _draw_rows(np.flatnonzero(folds_of_rows(examples.codes, seed) != fold), examples, rng)
    sample = examples.take(rows)
    encoding = _varied(examples, sample, rng)
    inputs = encoding.encode(sample.columns)
    tried = _inputs_to_try(examples, encoding, rng)
    outputs = outputs_of(examples.targets, sample.codes)
    result = learner(np.ascontiguousarray(inputs[:, tried]), outputs, int(rng.integers(0, 1 << 31)))
    network = widened(result.network, tried, inputs.shape[1])
    return Voter(encoding, network, result.order, result.stopped is None, rows, fold)


def widened(network: Network, kept: Ints, n_inputs: int) -> Network:
    """Return a circuit over some of the inputs as one over all."""
    node = np.concatenate([kept, n_inputs + np.arange(network.n_gates)])
    return Network(n_inputs, node[network.sources].reshape(-1, 2), node[network.outputs], network.functions)


def _draw_rows(seen: Ints, examples: TableExamples, rng: np.random.Generator) -> Ints:
    """Draw rows with replacement, by their weights; of a large table as many as a voter is learned from."""
    size, weights = min(examples.n_rows, MOST_ROWS), examples.weights.of_rows[seen]
    if (weights == weights[0]).all():
        return np.asarray(seen[rng.integers(0, len(seen), size)])
    total = np.cumsum(weights)
    return np.asarray(seen[np.minimum(np.searchsorted(total, rng.random(size) * total[-1], side="right"), len(seen) - 1)])


def rows_by_weight(examples: TableExamples, size: int, among: npt.NDArray[np.bool_] | None = None) -> Ints:
    """Return at most this many rows, among those given, each as often as it and its classes weigh, without chance."""
    rows = np.arange(examples.n_rows) if among is None else np.flatnonzero(among)
    weights = np.mean(examples.weights.of_cells(examples.codes), axis=0)[rows]
    if size >= len(rows) and (weights == weights[0]).all():
        return rows
    total = np.cumsum(weights)
    marks = (np.arange(min(size, len(rows))) + 0.5) * (total[-1] / min(size, len(rows)))
    return np.asarray(rows[np.minimum(np.searchsorted(total, marks), len(rows) - 1)])


def _varied(examples: TableExamples, sample: TableExamples, rng: np.random.Generator) -> TableEncoding:
    """Return an encoding with the cuts that a sample of the rows suggests, and some that are drawn."""
    numeric = [j for j, column in enumerate(examples.encoding.columns) if column.kind in ("above", "after")]
    of_one, most = (LARGE_DRAWN, LARGE_CUTS) if examples.is_large else (DRAWN, MAX_CUTS)
    n_drawn = max(LEAST_DRAWN, min(of_one, DRAWN_OF_ALL // max(len(numeric), 1)))
    varied = list(examples.encoding.columns)
    for j in numeric:
        column, pool = varied[j], np.array(examples.pool.columns[j].values)
        numbers = column.numbers(sample.columns[column.name])
        own = cut_column(numbers, sample.codes, max_cuts=most, days=column.kind == "after")
        drawn = rng.permutation(len(pool))[:n_drawn]
        varied[j] = replace(column, values=tuple(sorted({*own, *pool[drawn].tolist()})) or column.values)
    return TableEncoding(tuple(varied))


def _inputs_to_try(examples: TableExamples, encoding: TableEncoding, rng: np.random.Generator) -> Ints:
    """Return the inputs that a circuit may read: those of all columns but some that are not needed."""
    columns = np.array(encoding.input_columns)
    if examples.is_large:
        return np.arange(len(columns))
    unneeded = unneeded_columns(encoding.encode(examples.columns), columns, examples.codes, rng)
    return np.flatnonzero(~np.isin(columns, unneeded))


def unneeded_columns(inputs: BoolMatrix, columns: Ints, codes: Ints, rng: np.random.Generator) -> list[int]:
    """Draw columns without which rows of different classes are distinguished as well as with them."""
    # Columns may matter only together, and then none of them is left out.
    known = (codes >= 0).all(axis=1)
    _, classes = np.unique(codes[known], axis=0, return_inverse=True)
    used = np.unique(columns)
    # A row is the sum of the random numbers of its true inputs: unequal rows hardly ever have equal sums.
    numbers = rng.integers(0, 1 << 63, len(columns))
    parts = {int(j): inputs[known][:, columns == j] @ numbers[columns == j] for j in used}
    sums = np.sum(list(parts.values()), axis=0)
    clashes = _clashes(sums, classes.ravel())
    unneeded: list[int] = []
    for j in rng.permutation(used).tolist():
        if len(unneeded) == int(LEFT_OUT * len(used)):
            break
        if _clashes(sums - parts[j], classes.ravel()) <= clashes:
            sums = sums - parts[j]
            unneeded.append(j)
    return unneeded


def _clashes(rows: Ints, classes: Ints) -> int:
    """Return how many rows have another class than most of the rows equal to them."""
    if not len(rows):
        return 0
    _, group = np.unique(rows, return_inverse=True)
    n_classes = int(classes.max()) + 1
    pairs, counts = np.unique(group * n_classes + classes, return_counts=True)
    most = np.zeros(int(group.max()) + 1, dtype=np.int64)
    np.maximum.at(most, pairs // n_classes, counts)
    return int(len(rows) - most.sum())


def even_cuts(numbers: Floats, size: int, days: bool) -> tuple[float | int, ...]:
    """Return cuts with about equal shares of the rows between them."""
    known = numbers[~np.isnan(numbers)]
    distinct, place = np.unique(known, return_inverse=True)
    if len(distinct) <= FEW_VALUES:
        return ()  # cut everywhere already
    ranks = np.sort(place.ravel())[(np.arange(1, size + 1) * len(known)) // (size + 1)]
    return tuple(cuts_between(distinct, np.unique(np.maximum(ranks, 1)).tolist(), days=days))


def join_voters(voters: Sequence[Voter], examples: TableExamples) -> tuple[TableEncoding, list[Network]]:
    """Give all circuits one encoding that has the inputs by which any of them is read."""
    base, used = examples.encoding, set().union(*(voter.read(examples) for voter in voters))
    encoding = only_used(base, [voter.encoding for voter in voters], used)
    if not encoding.input_names:
        encoding = base  # every output is constant; a circuit needs an input all the same
    place = {key: i for i, key in enumerate(encoding.input_keys)}
    return encoding, [rewired(voter.network, voter.encoding.input_keys, place) for voter in voters]


def only_used(base: TableEncoding, encodings: Sequence[TableEncoding], used: set[tuple[int, Any]]) -> TableEncoding:
    """Return an encoding with those inputs of several that are used."""
    columns = [[one.columns[j] for one in encodings] for j in range(len(base.columns))]
    return TableEncoding(
        tuple(
            _only_used(column, j, several, used) for j, (column, several) in enumerate(zip(base.columns, columns, strict=True))
        )
    )


def _only_used(column: TableColumn, j: int, several: Sequence[TableColumn], used: set[tuple[int, Any]]) -> TableColumn:
    """Return a column with the inputs of several, without those that are not used."""
    others, missing = (j, "others") in used, (j, "missing") in used
    values = dict.fromkeys(value for one in several for value in one.values)
    # What is "another" category depends on all that are named.
    kept = [value for value in values if (j, value) in used or others]
    if column.kind in ("above", "after"):
        kept.sort()
    if column.kind == "out" or kept or others or (j, "bit") in used:
        return replace(column, values=tuple(kept), others=others, missing=missing)
    return replace(column, kind="out", values=(), others=False, missing=missing, reason="no circuit uses it")


def rewired(old: Network, keys: Sequence[tuple[int, Any]], place: Mapping[tuple[int, Any], int]) -> Network:
    """Return a circuit with its inputs at the places of their keys; one that it does not use may be any."""
    moved = [place.get(key, 0) for key in keys]
    nodes = np.array([*moved, *range(len(place), len(place) + old.n_gates)], dtype=np.int64)
    return Network(len(place), nodes[old.sources].reshape(-1, 2), nodes[old.outputs], old.functions)
