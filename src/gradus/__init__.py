"""Learn Boolean circuits from examples by teaching their outputs in order, easiest first.

Everything public is a name in this module; heavy libraries are imported when a name that needs them is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradus import losses, problems
    from gradus._curriculum import Curriculum, find_curriculum
    from gradus._estimator import BooleanNetworkClassifier
    from gradus._minfs import FeatureSet, all_minimum_feature_sets, minimum_feature_set
    from gradus._network import Network
    from gradus._search.learner import SearchResult, search
    from gradus._search.many import search_many
    from gradus.errors import GradusError

__version__ = "0.1.0"

_HOME = {
    "BooleanNetworkClassifier": "gradus._estimator",
    "Curriculum": "gradus._curriculum",
    "FeatureSet": "gradus._minfs",
    "GradusError": "gradus.errors",
    "SearchResult": "gradus._search.learner",
    "Network": "gradus._network",
    "all_minimum_feature_sets": "gradus._minfs",
    "find_curriculum": "gradus._curriculum",
    "search": "gradus._search.learner",
    "search_many": "gradus._search.many",
    "minimum_feature_set": "gradus._minfs",
}
_MODULES = ("losses", "problems")

__all__ = [
    "BooleanNetworkClassifier",
    "Curriculum",
    "FeatureSet",
    "GradusError",
    "Network",
    "SearchResult",
    "all_minimum_feature_sets",
    "find_curriculum",
    "losses",
    "minimum_feature_set",
    "problems",
    "search",
    "search_many",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"gradus.{name}")
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'gradus' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
