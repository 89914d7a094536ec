"""From time series to the rules of a gene network: regulator sets with posteriors, rules, edges, and how far to trust them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradus.genes._inference import Inference, infer
    from gradus.genes._known_series import ECOLI_SERIES, YEAST_SERIES, fission_yeast_model, from_series
    from gradus.genes._series import Series, read_series
    from gradus.genes._tolerant_sets import tolerant_feature_sets

_HOME = {
    "ECOLI_SERIES": "_known_series",
    "Inference": "_inference",
    "Series": "_series",
    "YEAST_SERIES": "_known_series",
    "fission_yeast_model": "_known_series",
    "from_series": "_known_series",
    "infer": "_inference",
    "read_series": "_series",
    "tolerant_feature_sets": "_tolerant_sets",
}
"""The module in which each public name is defined."""

__all__ = [
    "ECOLI_SERIES",
    "YEAST_SERIES",
    "Inference",
    "Series",
    "fission_yeast_model",
    "from_series",
    "infer",
    "read_series",
    "tolerant_feature_sets",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f"gradus.genes.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'gradus.genes' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
