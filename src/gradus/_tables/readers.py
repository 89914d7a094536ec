"""From the nodes of a circuit to the probabilities of the classes of a row, as measured on other rows.

The circuit that is shown is read by its outputs, which count as independent signs (naive Bayes). A voter is more informative:
the inputs that it was offered and all of its gates are weighed by a logistic regression on rows that it has not seen, where it
is not too optimistic. Where these are few, the weights stay near those of the outputs alone.
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
from gradus._tables.logistic import centred, ridge_logistic, shares_of_scores
from gradus.errors import FormatError

__all__ = ["NodeValues", "OutputReader", "read_circuit", "readers_from_json"]

MOST_CLASSES = 20  # of a target; with more, outputs are read alone, or there would be more numbers than rows
SEEN_ROWS = 1.0  # rows that the training counts of an output are worth
PSEUDO_ROWS = 0.1
"""Rows of either value, added to the counts so that nothing is certain; few, since a class may have two rows."""
DIGITS = 4  # of a weight
AT_ONCE = 1 << 14  # rows

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


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

    def of_nodes(self, nodes: Sequence[int]) -> BoolMatrix:
        """Return the values of some nodes, shape (n, nodes)."""
        return self.values[:, [self.place[node] for node in nodes]]


@dataclass(frozen=True, eq=False)
class OutputReader:
    """Turns the nodes by which a circuit is read for one target into probabilities of the classes.

    A circuit that was right on all rows weighs most, one that was often wrong weighs less, and a node that never varies
    weighs nothing, so that unequal circuits can vote. Rows for which no output is true, or several are, have an answer too.
    """

    prior: Floats
    """Score of each class where no node is true."""
    nodes: tuple[int, ...]
    """The nodes by which it is read."""
    weights: Floats
    """What a true node adds to the score of each class, shape (nodes, classes); scores are logarithms of odds."""

    def probabilities(self, values: NodeValues) -> Floats:
        """Compute the probability of each class for each row, shape (n, classes)."""
        signs, unit = values.of_nodes(self.nodes), 10.0**DIGITS
        # Sums of whole numbers are the same in whatever order they are added.
        prior, weights = np.rint(self.prior * unit), np.rint(self.weights * unit)
        parts = [signs[begin : begin + AT_ONCE] @ weights for begin in range(0, len(signs), AT_ONCE)]
        return shares_of_scores((prior + np.vstack([np.zeros((0, len(prior))), *parts])) / unit)

    def to_json(self) -> dict[str, Any]:
        """Return a plain dictionary that JSON can hold."""
        return {"prior": self.prior.tolist(), "nodes": list(self.nodes), "weights": self.weights.tolist()}

    @classmethod
    def from_json(cls, document: Any, target: TargetEncoding, n_nodes: int) -> OutputReader:
        """Read what `to_json` returned for a target of a circuit with this number of nodes."""
        entry = document if isinstance(document, dict) else {}
        prior, nodes, weights = _numbers(entry.get("prior")), entry.get("nodes"), _numbers(entry.get("weights"))
        known, n_classes = range(n_nodes), len(target.classes)
        if (
            not isinstance(nodes, list)
            or not nodes
            or not all(isinstance(node, int) and not isinstance(node, bool) and node in known for node in nodes)
            or prior.shape != (n_classes,)
            or weights.shape != (len(nodes), n_classes)
        ):
            raise FormatError(f"the model's weights for {target.name!r} are not those of {n_classes} classes.")
        return cls(prior, tuple(nodes), weights)


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
    unseen: Flags | None = None,
    offered: Sequence[int] = (),
) -> tuple[OutputReader, ...]:
    """Find, for every target, how a circuit is read for its classes.

    With rows that were not seen in learning, it is read on these by its gates and the inputs that it was offered; without, by
    its outputs alone.
    """
    outputs = network.outputs.tolist()
    used = [] if unseen is None else np.flatnonzero(network.cone(range(network.n_outputs))).tolist()
    values = NodeValues.of(network, [*outputs, *used, *offered], inputs)
    found = []
    for k, part in enumerate(output_parts(targets)):
        if targets[k].pairs:
            reader = _of_pairs(outputs[part], values, codes[:, k], weights.of_target(k))
            found.append(_weighted(reader, weights.of_classes[k]))
            continue
        reader = _alone(outputs[part], values, codes[:, k], weights.of_target(k), unseen)
        if unseen is not None and 1 < len(targets[k].classes) <= MOST_CLASSES:
            nodes = tuple(sorted({*outputs[part], *used, *offered}))
            reader = _refined(reader, nodes, values, codes[:, k], weights.of_rows, unseen)
        found.append(_weighted(reader, weights.of_classes[k]))
    return tuple(found)


def _alone(
    outputs: Sequence[int], values: NodeValues, codes: Ints, weights: tuple[Floats, Floats], unseen: Flags | None
) -> OutputReader:
    """Read outputs as independent signs: by how often each is true of the rows of each class."""
    of_rows, of_classes = weights
    member = (codes[:, np.newaxis] == np.arange(len(of_classes))) * of_rows[:, np.newaxis]
    rows = member.sum(axis=0) + PSEUDO_ROWS
    prior, added = np.log(rows / rows.sum()), []
    for true in values.of_nodes(outputs).T:
        shares = _shares(true, member, np.full((2, 1), PSEUDO_ROWS))
        if unseen is not None:
            shares = _shares(true[unseen], member[unseen], SEEN_ROWS * shares)
        says = np.log(shares)
        prior = prior + says[0]
        added.append(says[1] - says[0])
    return OutputReader(prior, tuple(outputs), np.array(added))


def _of_pairs(outputs: Sequence[int], values: NodeValues, codes: Ints, weights: tuple[Floats, Floats]) -> OutputReader:
    """Weigh comparisons of classes on the rows given: one between two classes also says something about the others."""
    of_rows, of_classes = weights
    rows = np.bincount(codes[codes != UNKNOWN], of_rows[codes != UNKNOWN], len(of_classes)) + PSEUDO_ROWS
    start = OutputReader(np.log(rows / rows.sum()), tuple(outputs), np.zeros((len(outputs), len(of_classes))))
    return _refined(start, start.nodes, values, codes, of_rows, np.ones(len(codes), dtype=np.bool_))


def _shares(true: Flags, member: Floats, known: Floats) -> Floats:
    """Return the share of each class's rows on which a node is false and true, after some rows that are counted beforehand."""
    counts = np.array([member[~true].sum(axis=0), member[true].sum(axis=0)]) + known
    return np.asarray(counts / counts.sum(axis=0))


def _refined(
    alone: OutputReader, nodes: tuple[int, ...], values: NodeValues, codes: Ints, of_rows: Floats, unseen: Flags
) -> OutputReader:
    """Weigh nodes by rows that were not seen, beginning with the weights of the outputs alone."""
    rows = np.flatnonzero(unseen & (codes != UNKNOWN))
    weights = np.zeros((len(nodes), len(alone.prior)))
    for node, added in zip(alone.nodes, alone.weights, strict=True):
        weights[nodes.index(node)] += added
    signs = values.of_nodes(nodes)[rows]
    varies = np.flatnonzero(signs.any(axis=0) & ~signs.all(axis=0))
    if not varies.size:
        return alone
    moved, centre = centred(signs[:, varies])
    level, more = ridge_logistic(moved, codes[rows], of_rows[rows], alone.prior + signs @ weights)
    weights[varies] += more
    return OutputReader(alone.prior + level - centre @ more, nodes, weights)


def _weighted(reader: OutputReader, of_classes: Floats) -> OutputReader:
    """Let classes weigh as asked, and round."""
    prior = reader.prior + np.log(np.maximum(of_classes, np.finfo(np.float64).tiny))
    return OutputReader(np.round(prior, DIGITS), reader.nodes, np.round(reader.weights, DIGITS))


def readers_from_json(
    counts: Any, targets: Sequence[TargetEncoding], networks: Sequence[Network]
) -> tuple[tuple[OutputReader, ...], ...]:
    """Read the weights of every circuit and target."""
    if not isinstance(counts, list) or not all(isinstance(row, list) and len(row) == len(targets) for row in counts):
        raise FormatError("the model's counts must be a list per circuit, with an entry per target.")
    found = []
    for row, network in zip(counts, networks, strict=False):
        n_nodes = network.n_inputs + network.n_gates
        found.append(tuple(OutputReader.from_json(entry, target, n_nodes) for entry, target in zip(row, targets, strict=True)))
    _check_best(found, networks[0], targets)
    return tuple(found)


def _check_best(readers: Sequence[tuple[OutputReader, ...]], network: Network, targets: Sequence[TargetEncoding]) -> None:
    """Refuse a model whose best circuit is not read by its outputs alone: pages and exports describe these."""
    for row in readers[:1]:
        for reader, part in zip(row, output_parts(targets), strict=True):
            if reader.nodes != tuple(network.outputs[part].tolist()):
                raise FormatError("the model's first circuit must be read by its outputs alone.")
