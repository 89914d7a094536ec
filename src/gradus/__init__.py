"""Learn Boolean circuits from examples by teaching their outputs in order, easiest first.

Everything public is a name in this module; heavy libraries are imported when a name that needs them is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from gradus._version import __version__ as __version__

if TYPE_CHECKING:
    from gradus import errors, losses, problems
    from gradus._curriculum import Curriculum, find_curriculum, kendall_tau
    from gradus._estimator import BooleanNetworkClassifier
    from gradus._formats.series import Series, read_series
    from gradus._formats.table_files import read_table
    from gradus._formats.writers import export
    from gradus._inference import Inference, infer
    from gradus._inference.tolerant_sets import tolerant_feature_sets
    from gradus._lessons.learn import LearnResult, learn
    from gradus._logic.formula import formulas
    from gradus._minfs import FeatureSet, all_minimum_feature_sets, minimum_feature_set
    from gradus._model import Model, load
    from gradus._network import Network
    from gradus._progress import Progress
    from gradus._search.many import search_many
    from gradus._search.search import SearchResult, search
    from gradus.errors import GradusError

_HOME = {
    "BooleanNetworkClassifier": "_estimator",
    "Curriculum": "_curriculum",
    "FeatureSet": "_minfs",
    "GradusError": "errors",
    "Inference": "_inference",
    "LearnResult": "_lessons.learn",
    "Model": "_model",
    "Network": "_network",
    "Progress": "_progress",
    "SearchResult": "_search.search",
    "Series": "_formats.series",
    "all_minimum_feature_sets": "_minfs",
    "export": "_formats.writers",
    "find_curriculum": "_curriculum",
    "formulas": "_logic.formula",
    "infer": "_inference",
    "kendall_tau": "_curriculum",
    "learn": "_lessons.learn",
    "load": "_model",
    "minimum_feature_set": "_minfs",
    "read_series": "_formats.series",
    "read_table": "_formats.table_files",
    "search": "_search.search",
    "search_many": "_search.many",
    "tolerant_feature_sets": "_inference.tolerant_sets",
}
"""The module in which each public name is defined."""
_MODULES = ("errors", "losses", "problems")

__all__ = [
    "BooleanNetworkClassifier",
    "Curriculum",
    "FeatureSet",
    "GradusError",
    "Inference",
    "LearnResult",
    "Model",
    "Network",
    "Progress",
    "SearchResult",
    "Series",
    "all_minimum_feature_sets",
    "errors",
    "export",
    "find_curriculum",
    "formulas",
    "infer",
    "kendall_tau",
    "learn",
    "load",
    "losses",
    "minimum_feature_set",
    "problems",
    "read_series",
    "read_table",
    "search",
    "search_many",
    "tolerant_feature_sets",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"gradus.{name}")
    if name in _HOME:
        value = getattr(importlib.import_module(f"gradus.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'gradus' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
