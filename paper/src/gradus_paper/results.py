"""A results table as arrays, and pairs of rows that share a training set."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gradus_paper.row import DONE, SCHEMA, Row, conform

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Rows of two variants with the same training set, where both reached zero training error."""

    n_train: npt.NDArray[np.int64]
    sample: npt.NDArray[np.int64]
    first: Floats
    second: Floats
    first_targets: Floats
    second_targets: Floats

    @property
    def gain(self) -> Floats:
        """Accuracy of the first minus that of the second."""
        return self.first - self.second

    @property
    def target_gain(self) -> Floats:
        """The same for each target, shape (n, m)."""
        return self.first_targets - self.second_targets

    @property
    def sizes(self) -> list[int]:
        """Training sizes, ascending."""
        return sorted(set(self.n_train.tolist()))

    def by_training_set(self) -> Pairs:
        """Average the repetitions of each training set, which are not independent observations."""
        both = np.stack([self.n_train, self.sample], axis=1)
        sets, place = np.unique(both, axis=0, return_inverse=True)
        place = place.reshape(-1)
        counts = np.bincount(place, minlength=len(sets))

        def mean(values: Floats) -> Floats:
            total = np.zeros((len(sets), *values.shape[1:]))
            np.add.at(total, place, values)
            return total / counts.reshape(-1, *[1] * (values.ndim - 1))

        means = [mean(values) for values in (self.first, self.second, self.first_targets, self.second_targets)]
        return Pairs(sets[:, 0], sets[:, 1], *means)


class Results:
    """Rows of a results table."""

    def __init__(self, table: pa.Table) -> None:
        table = conform(table)
        done = np.asarray(table.column("status").to_numpy(zero_copy_only=False) == DONE)
        self.n_failed = int((~done).sum())
        self._table = table.filter(pa.array(done)) if self.n_failed else table

    @classmethod
    def _of(cls, table: pa.Table) -> Results:
        made = cls.__new__(cls)
        made.n_failed, made._table = 0, table
        return made

    def __len__(self) -> int:
        return len(self._table)

    @property
    def table(self) -> pa.Table:
        """The rows."""
        return self._table

    def __getattr__(self, name: str) -> Any:
        if name not in SCHEMA.names:
            raise AttributeError(name)
        values = self._table.column(name).to_numpy(zero_copy_only=False)
        object.__setattr__(self, name, values)
        return values

    @cached_property
    def accuracy(self) -> Floats:
        """Mean test accuracy over the targets."""
        return np.asarray(self.test_accuracy_mean, dtype=np.float64)

    @cached_property
    def per_target(self) -> Floats:
        """Test accuracy of each target, shape (n, m), NaN where nothing was tested; of one problem only."""
        lists = self._table.column("test_accuracy").combine_chunks()
        lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        accuracy = np.full((len(self), int(lengths.max(initial=0))), np.nan)
        if accuracy.size:
            values = np.asarray(lists.flatten().to_numpy(zero_copy_only=False), dtype=np.float64)
            accuracy[lengths > 0] = values.reshape(-1, accuracy.shape[1])
        return accuracy

    @cached_property
    def usable(self) -> npt.NDArray[np.bool_]:
        """Rows that count in means: those tested, except searches that ended with training errors."""
        tested = np.nan_to_num(np.asarray(self.n_test, dtype=np.float64)) > 0
        return self._finished & tested & ~np.isnan(self.accuracy)

    @property
    def _finished(self) -> npt.NDArray[np.bool_]:
        return np.asarray((self.method != "network") | (self.converged == True))  # noqa: E712 - nulls are not True

    @property
    def n_not_converged(self) -> int:
        """Searches that ended with training errors left."""
        return int((~self._finished).sum())

    @property
    def named_targets(self) -> npt.NDArray[np.bool_]:
        """Rows of networks for some targets that were named, not for all that there are."""
        return np.asarray(self._table.column("targets").is_valid().to_numpy(zero_copy_only=False), dtype=np.bool_)

    @property
    def problems(self) -> list[str]:
        """Names of the problems."""
        return sorted(set(self.problem.tolist()))

    @property
    def sizes(self) -> list[int]:
        """Training sizes, ascending."""
        return sorted(set(self.n_train.tolist()))

    def select(self, **wanted: Any) -> Results:
        """Return the rows whose columns have these values; a collection means any of them."""
        keep = np.ones(len(self), dtype=np.bool_)
        for name, value in wanted.items():
            column = getattr(self, name)
            keep &= np.isin(column, list(value)) if isinstance(value, set | list | tuple) else column == value
        return self.where(keep)

    def where(self, keep: npt.NDArray[np.bool_]) -> Results:
        """Return the rows where a mask is true."""
        return Results._of(self._table.filter(pa.array(np.asarray(keep, dtype=np.bool_))))

    def scored_by(self, column: str) -> Results:
        """Return the same rows with another column as their accuracy; accuracies of single targets are left out."""
        table, unknown = self._table, pa.nulls(len(self), SCHEMA.field("test_accuracy").type)
        for name, values in (("test_accuracy_mean", table.column(column)), ("test_accuracy", unknown)):
            table = table.set_column(SCHEMA.get_field_index(name), SCHEMA.field(name), values)
        return Results._of(table)

    def row(self, number: int) -> Row:
        """Return one row with all its columns."""
        return Row(**self._table.slice(number, 1).to_pylist()[0])

    def usable_only(self) -> Results:
        """Return the rows that count in a mean."""
        return self.where(self.usable)

    def pairs(self, other: Results) -> Pairs:
        """Pair the rows of two variants of one problem by training set, repetition, gates and history."""
        mine, theirs = self.usable_only(), other.usable_only()
        shared, i, j = np.intersect1d(mine._keys(), theirs._keys(), return_indices=True)
        size, sample = (column[i].astype(np.int64) for column in (mine.n_train, mine.sample))
        nothing = np.empty((0, 0))
        first, second = (mine.per_target[i], theirs.per_target[j]) if len(shared) else (nothing, nothing)
        return Pairs(size, sample, mine.accuracy[i], theirs.accuracy[j], first, second)

    def _keys(self) -> npt.NDArray[np.void]:
        """Return one value per row: what the two rows of a pair must share, the size of the search included."""
        names = ("n_train", "sample", "repeat", "gates_per_target", "history")
        keys = np.zeros(len(self), dtype=[(name, np.int64) for name in names])
        for name in names:
            # Tables of other methods may have neither gates nor history.
            keys[name] = np.nan_to_num(np.asarray(getattr(self, name), dtype=np.float64)).astype(np.int64)
        return keys
