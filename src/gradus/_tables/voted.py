"""The vote of a model's circuits as one circuit, for exports."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradus._circuit import Network
from gradus._circuit.network import given_names, network_of
from gradus._lessons.voting import WeightedVote, joined, majority, rounded_vote
from gradus._tables.labels import TargetEncoding
from gradus._tables.readers import NodeValues, OutputReader
from gradus.errors import DataError

__all__ = ["vote_on", "voting_circuit"]

LEVELS = 63  # of the weights in a vote that becomes a circuit
Readers = Sequence[Sequence[OutputReader]]
"""For each circuit, how its outputs for each target are read; none if each is one vote."""


def voting_circuit(networks: Sequence[Network], readers: Readers, targets: Sequence[TargetEncoding]) -> Network:
    """Return the vote as one circuit; each target must have one output that is read alone."""
    for k, target in enumerate(targets):
        if target.n_outputs > 1:
            raise DataError(
                f"target {target.name!r} has {len(target.classes)} classes, and only votes on two classes become one "
                "circuit; use the best circuit."
            )
        if any(len(reader[k].nodes) > 1 for reader in readers):
            raise DataError(f"the vote on {target.name!r} weighs gates and is no circuit; use the one shown.")
    votes = [
        vote_on(len(networks), [reader[k] for reader in readers], len(target.classes)) for k, target in enumerate(targets)
    ]
    return network_of(joined(networks, votes), **given_names(networks[0].input_names, networks[0].output_names))


def vote_on(n_circuits: int, readers: Sequence[OutputReader], n_classes: int) -> WeightedVote:
    """Return how circuits vote on a target of one output."""
    if not readers or n_classes == 1:
        return majority(n_circuits)
    # The probability that each circuit's output, 0 or 1, gives the second class.
    either = np.array([[False], [True]])
    shares = [reader.probabilities(NodeValues({reader.nodes[0]: 0}, either)) for reader in readers]
    said = np.array(shares)[:, :, 1]
    return rounded_vote(float((said.mean(axis=1) - 0.5).sum()), {}, ((said[:, 1] - said[:, 0]) / 2).tolist(), LEVELS)
