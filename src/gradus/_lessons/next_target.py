"""`FeatureSets`: small sets of nodes that decide the targets still to be learned, found anew as a circuit grows.

With many targets, the next one is the one that depends on the fewest nodes: inputs, or gates that earlier lessons made. A set
that decides a target keeps doing so as nodes are added, so each lesson only looks for a smaller one, and no further than the
smallest of the lesson.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from gradus._circuit.gate_list import GateList
from gradus._circuit.network import network_of
from gradus._core.bits import BoolMatrix, WordMatrix, pack, unpack
from gradus._core.plain import digest_of
from gradus._core.run import Run
from gradus._lessons.description import BIT, Lengths
from gradus._lessons.kernel.feature_sets import HINT_NODES, MAX_SET, UNKNOWN, Hints, collect_hints, decided_nodes, smallest_set
from gradus._lessons.packed_examples import PackedExamples, pack_examples

__all__ = ["FeatureSets"]

N_HINTS = 8  # per target
HINT_ROWS = 1024  # enough to tell strong parities from weak ones; sets are checked on all rows
HINT_WORK = 1 << 34  # word operations for the hints of all targets: more nodes than that allows form no parities of three
CALL_WORK = 1 << 27
WORD_BITS = 64
BELIEF = 24 * BIT  # how much shorter than the labels a set and its table must be: it is chance once in 2^24 questions


class FeatureSets:
    """The smallest known set of nodes for every target; equal or opposite nodes count as the same."""

    def __init__(self, examples: PackedExamples, lengths: Lengths, run: Run) -> None:
        self.examples, self.lengths, self.run = examples, lengths, run
        n, m = examples.n_examples, len(examples.targets)
        targets, known = unpack(examples.targets, n), unpack(examples.known, n)
        self._labels = np.ascontiguousarray(np.where(known, targets, UNKNOWN).astype(np.uint8).T)
        self._sample = np.linspace(0, n - 1, min(n, HINT_ROWS)).astype(np.int64)
        self._targets, self._known = pack(targets[self._sample]), pack(known[self._sample])
        self._most_paired = int((6 * HINT_WORK / (m * self._targets.shape[1])) ** (1 / 3))
        self._forget()

    def _forget(self) -> None:
        """Begin without nodes, hints and sets."""
        m = len(self.examples.targets)
        self._places: dict[bytes, int] = {}
        self._state = digest_of(self._labels, self._targets.shape)  # and of all columns in their order, as they come
        self._columns = np.zeros((self._targets.shape[1], 1), dtype=np.uint64)
        self._rows = np.zeros((self.examples.n_examples, 0), dtype=np.uint64)
        self._hints = [Hints(np.zeros((N_HINTS, HINT_NODES), np.int64), np.full(N_HINTS, -1)) for _ in range(m)]
        self._met = [1] * m  # how many columns have been considered for the hints of each target
        self._sets: dict[int, tuple[int, ...]] = {}

    def read(self, circuit: GateList) -> None:
        """Take over the nodes of a circuit; if any that were there are gone, begin again."""
        everything = self.examples.everything
        values = network_of(circuit).node_words(self.examples.inputs) & everything
        opposite = (values[:, 0] & 1).astype(np.bool_)
        values[opposite] ^= everything
        nodes: dict[bytes, int] = {}
        for node, value in enumerate(values):
            if value.any():
                nodes.setdefault(value.tobytes(), node)
        if not self._places.keys() <= nodes.keys():
            self._forget()
        new = [value for value in nodes if value not in self._places]
        for start in range(0, len(new), WORD_BITS):
            self._append(values[[nodes[value] for value in new[start : start + WORD_BITS]]])
        for value in new:
            self._places[value] = len(self._places)
        self._nodes = np.array([nodes[value] for value in self._places], dtype=np.int64)
        self._opposite = opposite[self._nodes]

    def _append(self, values: WordMatrix) -> None:
        """Add up to 64 nodes to the columns that hints are taken from, and to the rows that sets are checked on."""
        self._state = digest_of(self._state, values)
        bits = unpack(values, self.examples.n_examples)
        word, bit = divmod(self._columns.shape[1] - 1, WORD_BITS)
        self._columns = np.ascontiguousarray(np.hstack([self._columns, pack(bits[self._sample]).T]))
        new = pack(np.vstack([np.zeros((bit, len(bits)), dtype=np.bool_), bits.T]))
        rows = np.zeros((len(bits), word + new.shape[1]), dtype=np.uint64)
        rows[:, : self._rows.shape[1]] = self._rows
        rows[:, word:] |= new
        self._rows = rows

    def easiest(self, columns: Sequence[int]) -> list[int]:
        """Return the columns that the smallest sets decide, of those whose sets cannot be chance."""
        limit = MAX_SET
        easiest: list[int] = []
        for column in sorted(columns, key=lambda column: (self.size(column), column)):
            if self.run.stop():
                break
            if self._ask(column, limit) <= limit and self._is_believed(column):
                easiest = [column] if self.size(column) < limit else [*easiest, column]
                limit = self.size(column)
        return sorted(easiest)

    def size(self, column: int) -> int:
        """Return the size of the smallest set known for a column; if none is known, one more than any may have."""
        return len(self._sets[column]) if column in self._sets else MAX_SET + 1

    def _ask(self, column: int, limit: int) -> int:
        """Look for a smaller set of at most `limit` nodes for a column; returns the size of the smallest one known."""
        limit = min(limit, self.size(column) - 1)
        n_nodes, key = len(self._places), partial(digest_of, self._state, column, limit)
        places = self.run.recall(
            key,
            lambda: self._smaller_set(column, limit),
            fits=lambda known: known is None or (len(known) <= limit and all(0 <= place < n_nodes for place in known)),
        )
        if places is not None:
            self._sets[column] = tuple(places)
        return self.size(column)

    def _smaller_set(self, column: int, limit: int) -> list[int] | None:
        """Return a set of at most `limit` nodes that decides a column, if there is one."""
        self._collect_hints(column)
        hints, best = self._hints[column], np.zeros(MAX_SET, dtype=np.int64)
        known = hints.nodes[: np.count_nonzero(hints.strengths >= 0)]
        size = smallest_set(self._rows, self._labels[column], known, limit, best)
        return best[:size].tolist() if size <= limit else None

    def _collect_hints(self, column: int) -> None:
        """Meet the parities of the nodes that are new to a column, in compiled calls of bounded work."""
        n_columns = self._columns.shape[1]
        at_once = max(1, CALL_WORK // (len(self._columns) * min(n_columns, self._most_paired) ** 2))
        target, known = self._targets[column], self._known[column]
        while self._met[column] < n_columns and not self.run.stop():
            end = min(self._met[column] + at_once, n_columns)
            collect_hints(self._columns, target, known, self._met[column], end, self._most_paired, self._hints[column])
            self._met[column] = end

    def _is_believed(self, column: int) -> bool:
        """Return whether a set and its table are so much shorter than the labels that the set means something."""
        size, n = self.size(column), len(self._places)
        which = math.lgamma(n + 1) - math.lgamma(size + 1) - math.lgamma(n - size + 1)
        bits = which / math.log(2) + min(1 << size, self.lengths.known[column])
        return round(BIT * bits) + BELIEF < self.lengths.labels(column)

    def table(self, column: int) -> tuple[PackedExamples, list[int]]:
        """Return a column as a table over its set, one row per cell, and the nodes that its inputs are."""
        # Its inputs are the set, then all other nodes that are functions of the set: what they offer costs no gates.
        known = np.flatnonzero(self._labels[column] != UNKNOWN)
        chosen, rows = self._sets[column], self._rows[known]
        _, firsts, cells = np.unique(_bits(rows, chosen), axis=0, return_index=True, return_inverse=True)
        decided = unpack(decided_nodes(rows, cells.reshape(-1), firsts)[np.newaxis], len(self._places))[:, 0]
        decided[list(chosen)] = False
        places = [*chosen, *np.flatnonzero(decided).tolist()]
        answers = self._labels[column, known[firsts], np.newaxis] == 1
        examples = pack_examples(_bits(rows[firsts], places) ^ self._opposite[places], answers, np.ones_like(answers))
        return examples, self._nodes[places].tolist()


def _bits(rows: WordMatrix, places: Sequence[int]) -> BoolMatrix:
    """Return the values of some nodes on packed rows."""
    where = np.array(places, dtype=np.uint64)
    values: npt.NDArray[np.uint64] = rows[:, (where >> np.uint64(6)).astype(np.int64)] >> (where & np.uint64(63)) & np.uint64(
        1
    )
    return values.astype(np.bool_)
