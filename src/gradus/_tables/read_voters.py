"""`read_voters`: voters as one model, each read on rows that it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._core.bits import BoolMatrix
from gradus._tables.goals import GOALS
from gradus._tables.importances import column_importances
from gradus._tables.measures import measured, rarest
from gradus._tables.model import Model
from gradus._tables.readers import read_circuit
from gradus._tables.voters import TableExamples, Voter, join_voters

__all__ = ["led_by", "read_voters"]

Floats = npt.NDArray[np.float64]


def read_voters(
    voters: Sequence[Voter], examples: TableExamples, left_out: npt.NDArray[np.bool_] | None = None
) -> tuple[Model, BoolMatrix]:
    """Join voters to a model that reads each by the rows that it has not seen; also the rows as its inputs.

    Rows that are left out count for nothing.
    """
    features, networks = join_voters(voters, examples.encoding)
    inputs, n = features.encode(examples.columns), examples.n_rows
    codes = examples.codes if left_out is None else np.where(left_out[:, np.newaxis], -1, examples.codes)
    names = [name for target in examples.targets for name in target.output_names]
    named = tuple(network.with_names(features.input_names, names) for network in networks)
    shares = [np.zeros((n, len(target.classes))) for target in examples.targets]
    asked, readers, masks = np.zeros(n), [], []
    for voter, network in zip(voters, named, strict=True):
        unseen = np.ones(n, dtype=np.bool_)
        unseen[voter.rows] = False
        masks.append(unseen)
        readers.append(read_circuit(network, examples.targets, inputs, codes, examples.weights, unseen))
        if unseen.any():
            said = Model((network,), features, examples.targets, readers=tuple(readers[-1:])).votes(inputs[unseen])
            for share, more in zip(shares, said, strict=True):
                share[unseen] += more
            asked += unseen
    model = Model(named, features, examples.targets, readers=tuple(readers), goal=examples.goal)
    with np.errstate(invalid="ignore"):
        held_out = [share / asked[:, np.newaxis] for share in shares]  # NaN for rows that every voter has seen
    model = model.with_goals(held_out if asked.any() else model.votes(inputs), codes, examples.weights)
    model.about["unseen"] = _unseen(model, held_out, codes)
    if left_out is None:
        model.about["importances"] = column_importances(model, inputs, codes, masks, len(voters))
    return model, inputs


def _unseen(model: Model, held_out: Sequence[Floats], codes: npt.NDArray[np.int64]) -> list[dict[str, Any]]:
    """Measure, for each target and goal, what the voters say of rows that they have not seen."""
    found = []
    for k, (target, shares) in enumerate(zip(model.targets, held_out, strict=True)):
        asked = ~np.isnan(shares[:, 0]) & (codes[:, k] >= 0)
        entry: dict[str, Any] = {"rows": int(asked.sum())}
        if asked.any():
            mine, tilted = codes[asked, k], shares[asked] * model.goals["accuracy"][k]
            tilted /= tilted.sum(axis=1, keepdims=True)
            rare, entry["rarest_share"] = rarest(mine, len(target.classes))
            entry["rarest"] = target.classes[rare]
            for goal in GOALS:
                weighed = tilted if goal == "accuracy" else tilted * model.goals[goal][k]
                entry[goal] = measured(mine, np.argmax(weighed, axis=1), tilted, len(target.classes), rare)
        found.append(entry)
    return found


def led_by(vote: Model, network: Network, examples: TableExamples, inputs: BoolMatrix) -> Model:
    """Return the model that shows a circuit, read by its outputs alone, while the others vote."""
    shown = network.with_names(vote.features.input_names, vote.output_names)
    alone = read_circuit(shown, examples.targets, inputs, examples.codes, examples.weights)
    return replace(vote, networks=(shown, *vote.networks), readers=(alone, *vote.readers), apart=True)
