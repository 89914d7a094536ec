"""From time series to the rules of a gene network: regulator sets with posteriors, rules, edges, and how far to trust them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradus.genes._advice import Experiment
    from gradus.genes._attractors import Attractor, HeldGene, LongRun
    from gradus.genes._inference import infer
    from gradus.genes._learning import GeneScore, SeriesScores
    from gradus.genes._model import GeneEdge, GeneModel, GeneRule, Unexplained
    from gradus.genes._posterior import RankedSet, TargetPosterior, TolerantSets, tolerant_feature_sets
    from gradus.genes._repair import Suspect
    from gradus.genes._results import Hierarchy, Inference
    from gradus.genes._series import ECOLI_SERIES, YEAST_SERIES, Series, read_series
    from gradus.genes._transitions import from_series
    from gradus.problems._gene_networks import fission_yeast_model

_PUBLIC = {
    "genes._advice": "Experiment",
    "genes._attractors": "Attractor HeldGene LongRun",
    "genes._inference": "infer",
    "genes._learning": "GeneScore SeriesScores",
    "genes._model": "GeneEdge GeneModel GeneRule Unexplained",
    "genes._posterior": "RankedSet TargetPosterior TolerantSets tolerant_feature_sets",
    "genes._repair": "Suspect",
    "genes._results": "Hierarchy Inference",
    "genes._series": "ECOLI_SERIES Series YEAST_SERIES read_series",
    "genes._transitions": "from_series",
    "problems._gene_networks": "fission_yeast_model",
}
"""The public names of each module."""
_HOME = {name: module for module, names in _PUBLIC.items() for name in names.split()}

__all__ = [
    "ECOLI_SERIES",
    "YEAST_SERIES",
    "Attractor",
    "Experiment",
    "GeneEdge",
    "GeneModel",
    "GeneRule",
    "GeneScore",
    "HeldGene",
    "Hierarchy",
    "Inference",
    "LongRun",
    "RankedSet",
    "Series",
    "SeriesScores",
    "Suspect",
    "TargetPosterior",
    "TolerantSets",
    "Unexplained",
    "fission_yeast_model",
    "from_series",
    "infer",
    "read_series",
    "tolerant_feature_sets",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f"gradus.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'gradus.genes' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
