"""One circuit for many rows: a weighted sum of cuts and gates, whose gates are learned for what the sum gets wrong.

A single lesson cuts where a gate pays, and a smooth boundary of several numbers leaves it wrong at every cut. A sum evens that
out: each cut adds a little. What no sum of cuts says, such as products, further lessons learn from rows on which the sum is
wrong or in doubt, and their gates join the sum. The sum is built in adders, and kept if the rows are shorter to describe so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._circuit.network import network_of
from gradus._core.bits import BoolMatrix
from gradus._core.run import Run
from gradus._lessons.counts import choose_bits
from gradus._lessons.description import BIT, error_table, gate_table
from gradus._lessons.voting import WeightedVote, joined, rounded_vote
from gradus._tables.encoding import TableEncoding
from gradus._tables.logistic import centred, ridge_logistic
from gradus._tables.readers import NodeValues
from gradus._tables.voters import MOST_ROWS, Learner, TableExamples, even_cuts, only_used, rewired

__all__ = ["Weighed", "learn_weighed"]

CUTS = 31
"""Cuts of each column with equal shares of the rows between them."""
LESSONS = 5
"""The first is about any rows, the others are about those that the sum so far gets wrong."""
READ, ASKED = 45_056, 65_536
"""Rows by which nodes are weighed, and among which those of a lesson are drawn."""
AT_ONCE = 1 << 13  # rows
LEVELS = 31
"""Weights are rounded to this share of the largest."""

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Weighed(NamedTuple):
    """A circuit that is a weighted sum, with the encoding of its inputs."""

    encoding: TableEncoding
    network: Network


def learn_weighed(examples: TableExamples, learner: Learner, seed: int, run: Run) -> Weighed | None:
    """Learn a weighted sum from a table with one target of two classes; None if a first lesson is shorter to describe."""
    encoding = _finer(examples)
    rng = np.random.default_rng([seed, examples.n_rows])
    known = rng.permutation(np.flatnonzero(examples.codes[:, 0] >= 0))
    read, others = known[:READ], known[READ:] if len(known) > 2 * READ else known
    networks: list[Network] = []
    weights = np.zeros(0)
    for number in range(LESSONS):
        asked, labels = _lesson(examples, encoding, others, networks, weights, rng)
        result = learner(asked, labels, seed + number)
        if result.stopped is not None or run.stop():
            return None
        networks.append(result.network)
        weights = _regression(networks, examples, encoding, read)
    network = _circuit_of(networks, weights)
    if not _is_shorter(examples, encoding, networks[0], network, weights):
        return None
    place, reads = encoding.input_keys, network.cone(range(network.n_outputs))
    features = only_used(encoding, [encoding], {key for key, used in zip(place, reads, strict=False) if used})
    return Weighed(features, rewired(network, place, {key: i for i, key in enumerate(features.input_keys)}))


def _finer(examples: TableExamples) -> TableEncoding:
    """Return the encoding with more cuts."""
    columns = list(examples.encoding.columns)
    for j, (column, cells) in enumerate(zip(columns, examples.columns.values(), strict=True)):
        if column.kind in ("above", "after"):
            cuts = even_cuts(column.numbers(cells), CUTS, column.kind == "after")
            columns[j] = replace(column, values=tuple(sorted({*column.values, *cuts})))
    return TableEncoding(tuple(columns))


def _encoded(examples: TableExamples, encoding: TableEncoding, rows: Ints) -> BoolMatrix:
    return encoding.encode(examples.take(rows).columns)


def _lesson(
    examples: TableExamples,
    encoding: TableEncoding,
    others: Ints,
    networks: list[Network],
    weights: Floats,
    rng: np.random.Generator,
) -> tuple[BoolMatrix, Floats]:
    """Draw the rows of a lesson, and their labels: any for the first, then those that the sum gets wrong or doubts."""
    rows = rng.permutation(others)[:ASKED]
    asked, labels = _encoded(examples, encoding, rows), examples.codes[rows, 0]
    worth = examples.weights.of_rows[rows]
    if networks:
        worth = worth * np.sqrt(np.abs(labels - 1 / (1 + np.exp(-_scores(weights, networks, asked)))))
    drawn = _by_weight(worth, MOST_ROWS, rng)
    return np.ascontiguousarray(asked[drawn]), labels[drawn, np.newaxis].astype(np.float64)


def _nodes(networks: Sequence[Network], inputs: BoolMatrix) -> BoolMatrix:
    """Return the inputs and all gates of the circuits, one column each."""
    values = [inputs]
    for network in networks:
        gates = range(network.n_inputs, network.n_inputs + network.n_gates)
        values += [NodeValues.of(network, gates, inputs).of_nodes(gates)] if network.n_gates else []
    return np.hstack(values)


def _regression(networks: Sequence[Network], examples: TableExamples, encoding: TableEncoding, read: Ints) -> Floats:
    """Return a constant and the weight of each node, in logarithms of the odds of the second class."""
    values = _nodes(networks, _encoded(examples, encoding, read))
    varies = np.flatnonzero(values.any(axis=0) & ~values.all(axis=0))
    weights = np.zeros(1 + values.shape[1])
    values = values[:, varies]
    signs, centre = centred(values)
    del values  # the regression takes all the memory that a circuit of many rows may have
    codes, rows = examples.codes[read, 0], examples.weights.of_rows[read]
    level, added = ridge_logistic(signs, codes, rows, np.zeros((len(codes), 2)))
    weights[1 + varies] = added[:, 1] - added[:, 0]
    weights[0] = level[1] - level[0] - centre @ weights[1 + varies]
    return weights


def _scores(weights: Floats, networks: Sequence[Network], inputs: BoolMatrix) -> Floats:
    nodes = _nodes(networks, inputs)
    parts = [nodes[row : row + AT_ONCE] @ weights[1:] for row in range(0, len(nodes), AT_ONCE)]
    return np.asarray(weights[0] + np.concatenate(parts))


def _by_weight(weights: Floats, size: int, rng: np.random.Generator) -> Ints:
    """Draw places with replacement, by their weights."""
    total = np.cumsum(weights)
    return np.asarray(np.minimum(np.searchsorted(total, rng.random(size) * total[-1], side="right"), len(weights) - 1))


def _vote(networks: Sequence[Network], weights: Floats) -> WeightedVote:
    """Return the sum in whole numbers; true and false nodes weigh half as much, with opposite signs."""
    n_inputs, halves = networks[0].n_inputs, weights[1:] / 2
    return rounded_vote(
        float(weights[0] + halves.sum()),
        {(node,): weight for node, weight in enumerate(halves[:n_inputs].tolist())},
        halves[n_inputs:].tolist(),
        LEVELS,
    )


def _circuit_of(networks: Sequence[Network], weights: Floats) -> Network:
    """Build the sum, and whether it is positive, in gates."""
    each = [
        Network(circuit.n_inputs, circuit.sources, [circuit.n_inputs + gate], circuit.functions)
        for circuit in networks
        for gate in range(circuit.n_gates)
    ]
    empty = Network(networks[0].n_inputs, [], [0])
    vote = _vote(networks, weights)
    return network_of(joined(each or [empty], [vote if each else vote._replace(circuits=(0,))]))


def _is_shorter(examples: TableExamples, encoding: TableEncoding, plain: Network, weighed: Network, weights: Floats) -> bool:
    """Return whether the labels of all rows are shorter to describe by the sum than by the circuit of the first lesson."""
    rows = np.flatnonzero(examples.codes[:, 0] >= 0)
    errors = np.zeros(2, dtype=np.int64)
    for begin in range(0, len(rows), READ):  # all rows at once would take much memory
        some = rows[begin : begin + READ]
        inputs, labels = _encoded(examples, encoding, some), examples.codes[some] > 0
        errors += [np.count_nonzero(network.predict(inputs) ^ labels) for network in (plain, weighed)]
    # The adders follow from the weights, so these are what must be said of them.
    used, n_nodes = int(np.count_nonzero(weights[1:])), len(weights) - 1
    price = choose_bits(n_nodes, used) + round(BIT * used * math.log2(2 * LEVELS + 1))
    n_learned, of_errors = n_nodes - len(encoding.input_names), error_table(len(rows))
    of_gates = gate_table(len(encoding.input_names), max(n_learned, plain.n_gates))
    length_of_plain = of_gates[plain.n_gates] + of_errors[errors[0]]
    return bool(price + of_gates[n_learned] + of_errors[errors[1]] < length_of_plain)
