"""Model files: a network, and how features and labels become its inputs and outputs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus import __version__
from gradus._bits import BoolMatrix
from gradus._encoding.features import FeatureColumn, FeatureEncoding
from gradus._encoding.labels import TargetEncoding
from gradus._formats.text import read_text
from gradus._network import Network
from gradus.errors import FormatError

__all__ = ["ABOUT_VERSION", "Model", "load_model"]

ABOUT_VERSION = 1


@dataclass(frozen=True, eq=False)
class Model:
    """A network with the encodings around it and whatever else is worth keeping."""

    network: Network
    features: FeatureEncoding
    targets: tuple[TargetEncoding, ...]
    about: dict[str, Any]

    def predict(self, table: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        """Labels of every target for each row of a table of features."""
        return self.decode(self.network.predict(self.features.encode(table)))

    def decode(self, outputs: BoolMatrix) -> list[npt.NDArray[Any]]:
        """Labels of every target from the network's outputs."""
        labels, start = [], 0
        for encoding in self.targets:
            codes = encoding.decode(outputs[:, start : start + encoding.n_outputs])
            labels.append(np.array(encoding.classes)[codes])
            start += encoding.n_outputs
        return labels

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model so that `load_model`, `Network.load` and people can read it."""
        encoding = {"features": self.features.to_json(), "targets": [one.to_json() for one in self.targets]}
        about = {"version": ABOUT_VERSION, "made_by": f"gradus {__version__}", **self.about, "encoding": encoding}
        self.network.save(path, about=about)


def load_model(path: str | PathLike[str]) -> Model:
    """Read a model; a plain network counts as one whose features and targets are bits.

    Raises
    ------
    FormatError
        If the file is no model, or was written by a newer version.
    """
    text = read_text(path)
    try:
        network = Network.from_json(text)
        about = json.loads(text).get("about")
        if about is None:
            return _plain(network)
        return _with_encodings(network, about)
    except FormatError as error:
        raise FormatError(error.message, path=path, line=error.line, column=error.column) from error


def _plain(network: Network) -> Model:
    features = FeatureEncoding(tuple(FeatureColumn(name, "bit") for name in network.input_names))
    return Model(network, features, tuple(TargetEncoding(name, (0, 1)) for name in network.output_names), {})


def _with_encodings(network: Network, about: Any) -> Model:
    if not isinstance(about, dict):
        raise FormatError("the model's 'about' part must be an object.")
    version = about.get("version", ABOUT_VERSION)
    if not isinstance(version, int) or version > ABOUT_VERSION:
        raise FormatError(
            f"the model's 'about' part has version {version!r} and this Gradus reads up to {ABOUT_VERSION}; update Gradus."
        )
    encoding = about.get("encoding")
    if encoding is None:
        return _plain(network)
    if not isinstance(encoding, dict) or not isinstance(encoding.get("targets"), list):
        raise FormatError("the model's encoding must have features and targets.")
    features = FeatureEncoding.from_json(encoding.get("features"))
    targets = tuple(TargetEncoding.from_json(entry) for entry in encoding["targets"])
    if features.input_names != network.input_names:
        raise FormatError("the model's feature encoding does not give the inputs of its network.")
    if tuple(name for one in targets for name in one.output_names) != network.output_names:
        raise FormatError("the model's target encoding does not give the outputs of its network.")
    return Model(network, features, targets, about)
