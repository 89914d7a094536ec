"""`FeatureSets`: small sets of nodes that decide the targets still to be learned, found anew as a circuit grows.

A lesson among many targets is short if some target depends on few nodes: inputs, or gates that earlier lessons made. A set
that decides a target keeps doing so as nodes are added, so an answer is only asked for again where a smaller one is of use.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._circuit.gate_list import GateList, empty_circuit
from gradus._circuit.network import network_of
from gradus._core.bits import n_words, pack, unpack
from gradus._core.run import Run
from gradus._lessons.description import BIT, Lengths, Solution
from gradus._lessons.kernel.feature_sets import (
    HINT_NODES,
    MAX_SET,
    UNKNOWN,
    Hints,
    collect_hints,
    determined_nodes,
    smallest_set,
)
from gradus._lessons.packed_examples import PackedExamples, pack_examples
from gradus._lessons.walks import LessonSettings, Walks, seed_from

__all__ = ["Cells", "FeatureSets", "add_circuit", "learn_cells"]

N_HINTS = 8  # for each target
HINT_WORK = 1 << 34  # word operations for all hints of all targets
HINT_ROWS = 1024  # hints need no more rows; sets are checked on all
BELIEF = 16 * BIT  # how much shorter a set and its table must be than the labels: the chance of a set that means nothing

Ints = npt.NDArray[np.int64]


class Cells(NamedTuple):
    """A target as a table over a set of nodes: one row for each cell that examples have."""

    examples: PackedExamples
    nodes: list[int]
    """The nodes of the circuit that the inputs of these examples are: the set, then all other nodes that it decides."""


class FeatureSets:
    """Hints and sets for every target, over the inputs and the gates of a circuit."""

    def __init__(self, examples: PackedExamples, lengths: Lengths, run: Run) -> None:
        self.examples, self.lengths, self.run = examples, lengths, run
        n, m = examples.n_examples, len(examples.targets)
        targets, known = unpack(examples.targets, n), unpack(examples.known, n)
        self._labels = np.ascontiguousarray(np.where(known, targets, UNKNOWN).astype(np.uint8).T)
        some = np.unique(np.linspace(0, n - 1, min(n, HINT_ROWS)).astype(np.int64))
        self._some, self._targets, self._known = some, pack(targets[some]), pack(known[some])
        # Beyond this many nodes parities of three are too many.
        self._paired = int((6 * HINT_WORK / (m * n_words(len(some)))) ** (1 / 3))
        self._forget()

    def _forget(self) -> None:
        """Start again: the circuit has lost some of its nodes."""
        m = len(self.examples.targets)
        self._places: dict[bytes, int] = {}
        self._columns = np.zeros((self._targets.shape[1], 1), dtype=np.uint64)
        self._rows = np.zeros((self.examples.n_examples, 0), dtype=np.uint64)
        self._hints = [Hints(np.zeros((N_HINTS, HINT_NODES), np.int64), np.full(N_HINTS, -1)) for _ in range(m)]
        self._scanned = [1] * m
        self._sets: dict[int, tuple[int, ...]] = {}

    def read(self, circuit: GateList) -> None:
        """Take over the nodes of a circuit; nodes with equal or opposite values count as the same."""
        everything = self.examples.everything
        values = network_of(circuit._replace(outputs=np.zeros(1, np.int64))).node_words(self.examples.inputs) & everything
        opposite = (values[:, 0] & 1).astype(np.bool_)
        values[opposite] ^= everything
        nodes: dict[bytes, int] = {}
        for node, value in enumerate(values):
            if value.any():
                nodes.setdefault(value.tobytes(), node)
        if not self._places.keys() <= nodes.keys():
            self._forget()
        new = [value for value in nodes if value not in self._places]
        for value in new:
            self._places[value] = len(self._places)
        self._nodes = [nodes[value] for value in self._places]
        self._opposite = opposite[self._nodes]
        if new:
            self._append(values[[nodes[value] for value in new]])

    def _append(self, values: npt.NDArray[np.uint64]) -> None:
        """Add nodes to the columns that hints are taken from, and to the rows that sets are checked on."""
        bits = unpack(values, self.examples.n_examples)
        self._columns = np.ascontiguousarray(np.hstack([self._columns, pack(bits[self._some]).T]))
        before = len(self._places) - len(values)
        rows = np.zeros((len(self._rows), n_words(len(self._places))), dtype=np.uint64)
        rows[:, : self._rows.shape[1]] = self._rows
        shifted = np.zeros((len(rows), before % 64 + len(values)), dtype=np.bool_)
        shifted[:, before % 64 :] = bits
        rows[:, before // 64 :] |= pack(shifted.T)
        self._rows = rows

    def smallest(self, columns: list[int]) -> list[int]:
        """Return the columns that the smallest sets decide, of those whose sets cannot be chance."""
        limit, easiest = MAX_SET, []
        for column in sorted(columns, key=lambda column: (len(self._sets.get(column, range(MAX_SET + 1))), column)):
            if self.run.stop():
                break
            size = self._ask(column, limit)
            if size <= limit and self._is_believed(column):
                easiest = [column] if size < limit else [*easiest, column]
                limit = size
        return sorted(easiest)

    def _ask(self, column: int, limit: int) -> int:
        """Return the size of the smallest set that is found for a column, if it is at most the limit."""
        known = len(self._sets.get(column, range(MAX_SET + 1)))
        target, hints, end = self._targets[column], self._hints[column], self._columns.shape[1]
        collect_hints(self._columns, target, self._known[column], self._scanned[column], end, self._paired, hints)
        self._scanned[column] = end
        best = np.zeros(MAX_SET, dtype=np.int64)
        n_hints = int(np.count_nonzero(hints.strengths >= 0))
        size = smallest_set(self._rows, self._labels[column], hints.nodes[:n_hints], min(limit, known - 1), best)
        if size < known and size <= limit:
            self._sets[column] = tuple(best[:size].tolist())
        return min(size, known)

    def _is_believed(self, column: int) -> bool:
        """Return whether a set and its table are much shorter than the labels."""
        size, n = len(self._sets[column]), len(self._places)
        if size == 0:
            return True
        n_cells = min(1 << size, self.lengths.known[column])
        which = math.lgamma(n + 1) - math.lgamma(size + 1) - math.lgamma(n - size + 1)
        return BIT * (which / math.log(2) + n_cells) + BELIEF < self.lengths.labels(column)

    def cells(self, column: int) -> Cells:
        """Return the table of a column over its set, with all nodes that the set decides as inputs."""
        known = np.flatnonzero(self._labels[column] != UNKNOWN)
        rows, labels, chosen = self._rows[known], self._labels[column, known], self._sets[column]
        bits = unpack(rows, len(self._places)).T
        _, firsts, cells = np.unique(bits[:, chosen], axis=0, return_index=True, return_inverse=True)
        decided = unpack(determined_nodes(rows, cells.reshape(-1), firsts)[np.newaxis], len(self._places))[:, 0]
        decided[list(chosen)] = False
        places = [*chosen, *np.flatnonzero(decided).tolist()]
        table, answers = bits[np.ix_(firsts, places)] ^ self._opposite[places], labels[firsts, np.newaxis] == 1
        return Cells(pack_examples(table, answers, np.ones_like(answers)), [self._nodes[place] for place in places])


def learn_cells(cells: Cells, settings: LessonSettings, seed: int, run: Run) -> Solution:
    """Learn a table without errors, several times, and return the smallest circuit."""
    walks = Walks(cells.examples, settings, run)
    nothing = Solution(empty_circuit(len(cells.nodes), 1), [0], np.zeros(1, np.int64))
    best, work = nothing, 0
    for attempt in range(settings.n_tries):
        fitted = walks.fit(nothing, seed_from(seed, attempt), walks.settings.noisy_fit_work)
        work += fitted.work
        if fitted.reached:
            small = walks.minimise_gates(fitted, seed_from(seed, attempt), walks.settings.gates_work)
            work += small.work
            best = small if not best.reached or small.n_gates < best.n_gates else best
            best = best._replace(reached=True)
    return best._replace(work=work)


def add_circuit(circuit: GateList, part: GateList, nodes: list[int]) -> GateList:
    """Add the gates and the output of a circuit that reads some nodes of another."""
    first = circuit.n_inputs + len(circuit.functions)
    place = np.array([*nodes, *range(first, first + len(part.functions))], dtype=np.int64)
    return GateList(
        circuit.n_inputs,
        np.append(circuit.functions, part.functions),
        np.concatenate([circuit.sources, place[part.sources]]),
        np.append(circuit.outputs, place[part.outputs]),
    )
