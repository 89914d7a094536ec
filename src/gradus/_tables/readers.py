"""What the nodes of a circuit say about the classes of a row, counted on rows that it was not learned from.

An output of a voter is one bit, but the gates just below it tell more: rows on which all of them agree are surer than rows
on which the last gate decides. So a voter is read by the nodes two gates below each output, whose values are one of a few
states; how often each class is in each state is counted on the rows that the voter has not seen, where it does not flatter
itself. Rare states are taken for what the output alone says, and that, where rows are few, for what it was in training.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._core.bits import BoolMatrix
from gradus._tables.goals import Weights
from gradus._tables.labels import UNKNOWN, TargetEncoding, output_parts
from gradus.errors import FormatError

__all__ = ["NodeValues", "OutputReader", "levels_below", "read_circuit", "read_outputs", "readers_from_json"]

DEPTH = 2  # gates below an output by whose sources it is read
MOST_OUTPUTS = 12  # of a target; more are read alone, or there would be more numbers than rows
OWN_ROWS = 8.0  # rows of a state that count as much as what is known without it
SEEN_ROWS = 1.0  # rows that what an output was in training counts for
PSEUDO_ROWS = 0.1
"""Rows of either value, added to the counts so that nothing is taken for certain; few, since a class may have two rows."""
DIGITS = 4  # of a logarithm

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NodeValues:
    """Values of some nodes of a circuit on some rows."""

    place: Mapping[int, int]
    values: BoolMatrix

    @classmethod
    def of(cls, network: Network, nodes: Sequence[int], inputs: BoolMatrix) -> NodeValues:
        """Compute the values of nodes."""
        distinct = sorted(set(nodes))
        watched = Network(network.n_inputs, network.sources, distinct, network.functions)
        return cls(dict(zip(distinct, range(len(distinct)), strict=True)), watched.predict(inputs))

    def states(self, nodes: Sequence[int]) -> Ints:
        """Return the values of some nodes in each row as the bits of a number."""
        states = np.zeros(len(self.values), dtype=np.int64)
        for node in nodes:
            states = 2 * states + self.values[:, self.place[node]]
        return states


def levels_below(network: Network, output: int, depth: int) -> list[tuple[int, ...]]:
    """Return the nodes that an output is, those that it reads, those that these read, and so on; inputs stay what they are."""
    levels: list[tuple[int, ...]] = [(output,)]
    first = network.n_inputs
    for _ in range(depth):
        below: set[int] = set()
        for node in levels[-1]:
            read = network.read_sources[node - first] if node >= first else []
            below.update(read or (node,))
        levels.append(tuple(sorted(below)))
    return levels


@dataclass(frozen=True, eq=False)
class OutputReader:
    """Turns the nodes by which a circuit is read for one target into probabilities of the classes.

    Outputs are taken as independent signs (naive Bayes). A circuit that was right on all rows is believed, one that was
    often wrong is believed less, and an output that never varies says nothing, so that unequal circuits can vote. Rows for
    which no output is true, or several are, have an answer too.
    """

    prior: Floats
    """Logarithms of the shares of the classes."""
    nodes: tuple[tuple[int, ...], ...]
    """The nodes by which each output is read."""
    says: tuple[Floats, ...]
    """For each output, the logarithm of the share of each class's rows that are in each state: shape (classes, states)."""

    def probabilities(self, values: NodeValues) -> Floats:
        """Compute the probability of each class for each row, shape (n, classes)."""
        score = np.repeat(self.prior[np.newaxis], len(values.values), axis=0)
        for nodes, says in zip(self.nodes, self.says, strict=True):
            score += says.T[values.states(nodes)]
        score = np.exp(score - score.max(axis=1, keepdims=True))
        return np.asarray(score / score.sum(axis=1, keepdims=True))

    def to_json(self) -> dict[str, Any]:
        """Return a plain dictionary that JSON can hold."""
        says = [table.tolist() for table in self.says]
        return {"prior": self.prior.tolist(), "nodes": list(map(list, self.nodes)), "says": says}

    @classmethod
    def from_json(cls, document: Any, target: TargetEncoding, n_nodes: int) -> OutputReader:
        """Read what `to_json` returned for a target of a circuit with this number of nodes."""
        entry = document if isinstance(document, dict) else {}
        prior, nodes, says = _numbers(entry.get("prior")), entry.get("nodes"), entry.get("says")
        if (
            not isinstance(nodes, list)
            or not isinstance(says, list)
            or len(nodes) != len(says)
            or len(says) != target.n_outputs
        ):
            raise _misfit(target)
        known = range(n_nodes)
        for some in nodes:
            if not isinstance(some, list) or not 1 <= len(some) <= 1 << DEPTH:
                raise _misfit(target)
            if not all(isinstance(node, int) and not isinstance(node, bool) and node in known for node in some):
                raise _misfit(target)
        tables = tuple(map(_numbers, says))
        shapes = [(len(target.classes), 1 << len(some)) for some in nodes]
        if prior.shape != (len(target.classes),) or [table.shape for table in tables] != shapes:
            raise _misfit(target)
        return cls(prior, tuple(map(tuple, nodes)), tables)


def _misfit(target: TargetEncoding) -> FormatError:
    return FormatError(
        f"the model's counts for {target.name!r} are not those of {len(target.classes)} classes "
        f"and {target.n_outputs} outputs."
    )


def _numbers(values: Any) -> Floats:
    """Return finite numbers as an array; an empty one if they are something else."""
    try:
        numbers = np.array(values)
    except ValueError:
        numbers = np.empty(0)
    good = numbers.dtype.kind in "if" and bool(np.isfinite(numbers).all())
    return numbers.astype(np.float64) if good else np.empty(0)


def read_circuit(
    network: Network,
    targets: Sequence[TargetEncoding],
    inputs: BoolMatrix,
    codes: Ints,
    weights: Weights,
    unseen: npt.NDArray[np.bool_] | None = None,
) -> tuple[OutputReader, ...]:
    """Count, for every target, how the outputs of a circuit go with its classes; see `read_outputs`."""
    nodes, found = network.outputs.tolist(), []
    for k, part in enumerate(output_parts(targets)):
        found.append(read_outputs(network, nodes[part], inputs, codes[:, k], weights.of_target(k), unseen))
    return tuple(found)


def read_outputs(
    network: Network,
    outputs: Sequence[int],
    inputs: BoolMatrix,
    codes: Ints,
    weights: tuple[Floats, Floats],
    unseen: npt.NDArray[np.bool_] | None = None,
) -> OutputReader:
    """Count how a circuit's outputs for one target go with its classes; `weights` are those of the rows and of the classes.

    With rows that were not seen in learning, outputs are read by the nodes below them; without, alone.
    """
    of_rows, of_classes = weights
    n_classes, known = len(of_classes), codes != UNKNOWN
    member = (codes[:, np.newaxis] == np.arange(n_classes)) * of_rows[:, np.newaxis]
    depth = 0 if unseen is None or len(outputs) > MOST_OUTPUTS else DEPTH
    trees = [levels_below(network, output, depth) for output in outputs]
    values = NodeValues.of(network, [node for levels in trees for level in levels for node in level], inputs)
    rows = member.sum(axis=0) + PSEUDO_ROWS
    prior = np.log(rows / rows.sum())
    counted = known if unseen is None else known & unseen
    says = []
    for levels in trees:
        alone = _alone(values.states(levels[0]), member, counted, unseen is not None)
        says.append(np.round(_refined(alone, prior, levels, values, member * counted[:, np.newaxis]), DIGITS))
    weighted = prior + np.log(np.maximum(of_classes, np.finfo(np.float64).tiny))
    return OutputReader(np.round(weighted, DIGITS), tuple(levels[-1] for levels in trees), tuple(says))


def _counts(states: Ints, n_states: int, member: Floats) -> Floats:
    """Return the weight of the rows of each class in each state, shape (classes, states)."""
    return np.array([np.bincount(states, column, n_states) for column in member.T])


def _alone(states: Ints, member: Floats, counted: npt.NDArray[np.bool_], some_unseen: bool) -> Floats:
    """Return the logarithms of the shares of each class's rows on which an output is false and true."""
    everywhere = _counts(states, 2, member) + PSEUDO_ROWS
    shares = everywhere / everywhere.sum(axis=1, keepdims=True)
    if some_unseen:
        counts = _counts(states, 2, member * counted[:, np.newaxis]) + SEEN_ROWS * shares
        shares = counts / counts.sum(axis=1, keepdims=True)
    return np.asarray(np.log(shares))


def _refined(alone: Floats, prior: Floats, levels: Sequence[tuple[int, ...]], values: NodeValues, member: Floats) -> Floats:
    """Refine an output by the nodes below it, level by level."""
    says, above = alone, levels[0]
    for nodes in levels[1:]:
        parent = _parents(values, above, nodes)
        expected = np.exp(says[:, parent] + prior[:, np.newaxis])
        expected /= expected.sum(axis=0)
        counts = _counts(values.states(nodes), 1 << len(nodes), member)
        share = (counts + OWN_ROWS * expected) / (counts.sum(axis=0) + OWN_ROWS)
        says, above = says[:, parent] + np.log(share / expected), nodes
    return says


def _parents(values: NodeValues, above: Sequence[int], nodes: Sequence[int]) -> Ints:
    """Return which state of the nodes above each state of some nodes leads to; one that never occurs leads to the first."""
    parent = np.zeros(1 << len(nodes), dtype=np.int64)
    parent[values.states(nodes)] = values.states(above)
    return parent


def readers_from_json(
    counts: Any, targets: Sequence[TargetEncoding], networks: Sequence[Network]
) -> tuple[tuple[OutputReader, ...], ...]:
    """Read the counts of every circuit and target."""
    if not isinstance(counts, list) or not all(isinstance(row, list) and len(row) == len(targets) for row in counts):
        raise FormatError("the model's counts must be a list per circuit, with an entry per target.")
    found = []
    for row, network in zip(counts, networks, strict=False):
        n_nodes = network.n_inputs + network.n_gates
        found.append(tuple(OutputReader.from_json(entry, target, n_nodes) for entry, target in zip(row, targets, strict=True)))
    _check_best(found, networks[0], targets)
    return tuple(found)


def _check_best(readers: Sequence[tuple[OutputReader, ...]], network: Network, targets: Sequence[TargetEncoding]) -> None:
    """Refuse a model whose best circuit is not read by its outputs alone: pages and exports say what these mean."""
    for row in readers[:1]:
        for reader, part in zip(row, output_parts(targets), strict=True):
            if reader.nodes != tuple((node,) for node in network.outputs[part].tolist()):
                raise FormatError("the model's first circuit must be read by its outputs alone.")
