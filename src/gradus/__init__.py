"""Learn Boolean circuits from examples by teaching their outputs in order, easiest first.

Everything public is a name in this module; heavy libraries are imported when a name that needs them is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from gradus._core.hooks import HOOKS
from gradus._version import __version__ as __version__

if TYPE_CHECKING:
    from gradus import errors, genes, lab, losses, problems
    from gradus._circuit import Network
    from gradus._circuit.formulas import formulas
    from gradus._core.run import Progress
    from gradus._curriculum.curriculum import Curriculum, find_curriculum
    from gradus._curriculum.feature_sets import FeatureSet, all_minimum_feature_sets, minimum_feature_set
    from gradus._curriculum.orders import kendall_tau
    from gradus._formats.circuits import export, read_network
    from gradus._formats.table_files import read_table
    from gradus._lessons.learn import learn
    from gradus._lessons.result import LearnResult
    from gradus._search.search import SearchResult, search, search_many
    from gradus._tables.classifier import BooleanNetworkClassifier
    from gradus._tables.model import Model, load
    from gradus.errors import GradusError
    from gradus.genes._posterior import tolerant_feature_sets

_HOME = {
    "BooleanNetworkClassifier": "_tables.classifier",
    "Curriculum": "_curriculum.curriculum",
    "FeatureSet": "_curriculum.feature_sets",
    "GradusError": "errors",
    "LearnResult": "_lessons.result",
    "Model": "_tables.model",
    "Network": "_circuit",
    "Progress": "_core.run",
    "SearchResult": "_search.search",
    "all_minimum_feature_sets": "_curriculum.feature_sets",
    "export": "_formats.circuits",
    "find_curriculum": "_curriculum.curriculum",
    "formulas": "_circuit.formulas",
    "kendall_tau": "_curriculum.orders",
    "learn": "_lessons.learn",
    "load": "_tables.model",
    "minimum_feature_set": "_curriculum.feature_sets",
    "read_network": "_formats.circuits",
    "read_table": "_formats.table_files",
    "search": "_search.search",
    "search_many": "_search.search",
    "tolerant_feature_sets": "genes._posterior",
}
"""The module in which each public name is defined."""
HOOKS["draw"] = "gradus._circuit.drawing.picture", "notebook_picture"
_MODULES = ("errors", "genes", "lab", "losses", "problems")

__all__ = [
    "BooleanNetworkClassifier",
    "Curriculum",
    "FeatureSet",
    "GradusError",
    "LearnResult",
    "Model",
    "Network",
    "Progress",
    "SearchResult",
    "all_minimum_feature_sets",
    "errors",
    "export",
    "find_curriculum",
    "formulas",
    "genes",
    "kendall_tau",
    "lab",
    "learn",
    "load",
    "losses",
    "minimum_feature_set",
    "problems",
    "read_network",
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
