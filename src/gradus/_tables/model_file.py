"""A model as one JSON file: the best circuit, and beside it under ``about`` all else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._core.files import read_guard, read_text
from gradus._formats.registry import READ
from gradus._tables.encoding import TableColumn, TableEncoding
from gradus._tables.goals import GOALS, Goal, goals_from_json
from gradus._tables.labels import TargetEncoding
from gradus._tables.readers import OutputReader, readers_from_json
from gradus._version import __version__
from gradus.errors import FormatError

__all__ = ["ModelParts", "about_model", "plain_parts", "read_model"]

VERSION = 6
"""Of the part ``about`` of a model file; no other is read."""
WRITTEN_APART = ("version", "made_by", "encoding", "circuits", "counts", "goals", "goal", "apart")
"""Keys of the part ``about`` that `save` writes itself."""


Floats: TypeAlias = npt.NDArray[np.float64]


class ModelParts(NamedTuple):
    """What a model is made of; see `Model`."""

    networks: tuple[Network, ...]
    features: TableEncoding
    targets: tuple[TargetEncoding, ...]
    about: dict[str, Any]
    readers: tuple[tuple[OutputReader, ...], ...] = ()
    apart: bool = False
    goals: Mapping[str, tuple[Floats, ...]] = {}
    goal: Goal = "accuracy"


def plain_parts(network: Network, about: dict[str, Any] | None = None) -> ModelParts:
    """Return a plain network as a model whose features and targets are 0 and 1."""
    features = TableEncoding(tuple(TableColumn(name, "bit", strict=True) for name in network.input_names))
    targets = tuple(TargetEncoding(name, (0, 1)) for name in network.output_names)
    return ModelParts((network,), features, targets, about or {})


def about_model(model: Any) -> dict[str, Any]:
    """Return the part of a model's file beside the best circuit."""
    head: dict[str, Any] = {"version": VERSION, "made_by": f"gradus {__version__}"}
    head |= {key: value for key, value in model.about.items() if key not in WRITTEN_APART}
    head["encoding"] = {"features": model.features.to_json(), "targets": [target.to_json() for target in model.targets]}
    if len(model.networks) > 1:
        head["circuits"] = [json.loads(network.to_json()) for network in model.networks[1:]]
    if model.apart:
        head["apart"] = True
    if model.readers:
        head["counts"] = [list(map(OutputReader.to_json, row)) for row in model.readers]
    if model.goals:
        head["goals"] = {goal: [multipliers.tolist() for multipliers in several] for goal, several in model.goals.items()}
        head["goal"] = model.goal
    return head


def read_model(path: str | PathLike[str]) -> ModelParts:
    """Read what `Model.save` wrote, or a plain network in any format."""
    if Path(path).suffix.lower() in set(READ) - {".json"}:
        from gradus._formats.circuits import read_network

        return plain_parts(read_network(path))
    with read_guard(path, "a model"):
        text = read_text(path)
        network = Network.from_json(text)
        about = json.loads(text).get("about")
        if not isinstance(about, dict) and about is not None:
            raise FormatError("the model's 'about' part must be an object.")
        return _from_about(network, about or {})


def _from_about(network: Network, about: dict[str, Any]) -> ModelParts:
    version, encoding, circuits = about.get("version"), about.get("encoding"), about.get("circuits", [])
    if version != VERSION and (version is not None or encoding is not None):
        remedy = "update Gradus" if isinstance(version, int) and version > VERSION else "learn it again"
        raise FormatError(f"the model has version {version!r} and this Gradus reads version {VERSION}; {remedy}.")
    if encoding is None:
        return plain_parts(network, about)
    if not isinstance(encoding, dict) or not isinstance(encoding.get("targets"), list) or not encoding["targets"]:
        raise FormatError("the model's encoding must have features and targets.")
    if not isinstance(circuits, list):
        raise FormatError("the model's further circuits must be a list.")
    features = TableEncoding.from_json(encoding.get("features"))
    targets = tuple(TargetEncoding.from_json(entry) for entry in encoding["targets"])
    networks = (network, *(Network.from_json(json.dumps(entry)) for entry in circuits))
    readers = readers_from_json(about.get("counts", []), targets, networks)
    goals, goal = goals_from_json(about.get("goals", {}), targets), about.get("goal", "accuracy")
    if goal not in GOALS:
        raise FormatError(f"the model's goal must be one of {', '.join(GOALS)}.")
    apart = about.get("apart") is True and len(networks) > 1
    return ModelParts(networks, features, targets, about, readers, apart, goals, goal)
