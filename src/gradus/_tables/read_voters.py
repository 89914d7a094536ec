"""`read_voters`: voters as one model, each read on rows that it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._core.bits import BoolMatrix
from gradus._core.run import Run
from gradus._tables.encoding import TableEncoding
from gradus._tables.goals import GOALS
from gradus._tables.importances import column_importances
from gradus._tables.measures import measured, rarest
from gradus._tables.model import Model
from gradus._tables.readers import OutputReader, read_circuit
from gradus._tables.voters import TableExamples, Voter, join_voters

__all__ = ["led_by", "read_voters"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


def read_voters(
    voters: Sequence[Voter], examples: TableExamples, run: Run, left_out: Flags | None = None
) -> tuple[Model, BoolMatrix]:
    """Join voters to a model that reads each by the rows that it has not seen; also the rows as its inputs.

    Rows that are left out count for nothing. After a stop, voters are read by their outputs alone.
    """
    features, networks = join_voters(voters, examples)
    inputs, n = features.encode(examples.columns), examples.n_rows
    codes = examples.codes if left_out is None else np.where(left_out[:, np.newaxis], -1, examples.codes)
    names = [name for target in examples.targets for name in target.output_names]
    place = {key: i for i, key in enumerate(features.input_keys)}
    tasks = []
    for voter, network in zip(voters, networks, strict=True):
        unseen = np.ones(n, dtype=np.bool_)
        unseen[voter.rows] = False
        offered = sorted(place[key] for key in voter.read(examples) if key in place)
        tasks.append(_Reading(network.with_names(features.input_names, names), offered, unseen))
    readers = tuple(task.readers(inputs, codes, examples, None if run.stop() else task.unseen) for task in tasks)
    model = Model(tuple(task.network for task in tasks), features, examples.targets, readers=readers, goal=examples.goal)
    if left_out is not None or run.stop():
        return model, inputs
    masks = [task.unseen for task in tasks]
    model.about["importances"] = column_importances(model, inputs, codes, masks, len(voters))
    held_out = _held_out(tasks, features, inputs, codes, examples)
    asked = ~np.isnan(held_out[0][:, 0]).all()
    model = model.with_goals(held_out if asked else model.votes(inputs), codes, examples.weights)
    model.about["unseen"] = _unseen(model, held_out, codes)
    return model, inputs


class _Reading(NamedTuple):
    """A voter to be read."""

    network: Network
    offered: list[int]
    """The inputs by which it is read besides its own."""
    unseen: Flags

    def readers(
        self, inputs: BoolMatrix, codes: Ints, examples: TableExamples, rows: Flags | None
    ) -> tuple[OutputReader, ...]:
        """Read the voter by some rows that it has not seen."""
        return read_circuit(self.network, examples.targets, inputs, codes, examples.weights, rows, self.offered)


def _held_out(
    tasks: Sequence[_Reading], features: TableEncoding, inputs: BoolMatrix, codes: Ints, examples: TableExamples
) -> list[Floats]:
    """Return the mean prediction of voters for rows used neither to learn nor to read them; NaN where there are none."""
    # Every voter is read once by either half of the rows that it has not seen, and predicts the other.
    totals = [np.zeros((len(inputs), len(target.classes))) for target in examples.targets]
    asked, half = np.zeros((len(inputs), 1)), np.random.default_rng(len(inputs)).random(len(inputs)) < 0.5
    for task in tasks:
        for mine in (half, ~half):
            rows = task.unseen & ~mine
            if not rows.any():
                continue
            readers = task.readers(inputs, codes, examples, task.unseen & mine)
            said = Model((task.network,), features, examples.targets, readers=(readers,)).votes(inputs[rows])
            for total, share in zip(totals, said, strict=True):
                total[rows] += share
            asked += rows[:, np.newaxis]
    with np.errstate(invalid="ignore"):
        return [total / asked for total in totals]


def _unseen(model: Model, held_out: Sequence[Floats], codes: npt.NDArray[np.int64]) -> list[dict[str, Any]]:
    """Measure, for each target and goal, the predictions of the voters for rows that they have not seen."""
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
