"""The vote of a model's circuits as one circuit, for exports."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gradus._circuit.network import given_names, network_of
from gradus._lessons.voting import WeightedVote, joined, majority, rounded_vote
from gradus._tables.readers import NodeValues
from gradus.errors import DataError

if TYPE_CHECKING:
    from gradus._tables.model import Model

__all__ = ["vote_on", "voted"]

LEVELS = 63  # of the weights in a vote that becomes a circuit


def voted(model: Model) -> Model:
    """Return the model whose only circuit says what the vote says; each target must have one output that is read alone."""
    if len(model.networks) == 1:
        return model
    for k, target in enumerate(model.targets):
        if target.n_outputs > 1:
            raise DataError(
                f"target {target.name!r} has {len(target.classes)} classes, and only votes on two classes become one "
                "circuit; use the best circuit."
            )
        if model.readers and any(len(reader[k].nodes[0]) > 1 for reader in model.readers):
            raise DataError(
                f"the vote on {target.name!r} also weighs gates below its outputs and is no circuit; use the one shown."
            )
    voters = replace(model, networks=model.networks[model.apart :], readers=model.readers[model.apart :], apart=False)
    circuit = joined(voters.networks, [vote_on(voters, k) for k in range(len(model.targets))])
    network = network_of(circuit, **given_names(model.network.input_names, model.network.output_names))
    return replace(model, networks=(network,), readers=(), apart=False, goals={})


def vote_on(model: Model, k: int) -> WeightedVote:
    """Return how the circuits vote on a target of one output."""
    if not model.readers or len(model.targets[k].classes) == 1:
        return majority(len(model.networks))
    # The probability that each circuit's output, 0 or 1, gives the second class.
    either = np.array([[False], [True]])
    nodes = [NodeValues({reader[k].nodes[0][0]: 0}, either) for reader in model.readers]
    shares = [reader[k].probabilities(values) for reader, values in zip(model.readers, nodes, strict=True)]
    said = np.array(shares)[:, :, 1]
    return rounded_vote(float((said.mean(axis=1) - 0.5).sum()), {}, ((said[:, 1] - said[:, 0]) / 2).tolist(), LEVELS)
