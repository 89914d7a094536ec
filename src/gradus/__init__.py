"""Learn Boolean circuits from examples by teaching their outputs in order, easiest first.

Everything public is a name in this module; heavy libraries are imported when a name that needs them is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradus import losses, problems
    from gradus.batch import learn_many
    from gradus.curriculum import Curriculum, find_curriculum
    from gradus.errors import GradusError
    from gradus.estimator import BooleanNetworkClassifier
    from gradus.learner import Learned, learn
    from gradus.minfs import FeatureSet, all_minimum_feature_sets, minimum_feature_set
    from gradus.network import Network

__version__ = "0.1.0"

_HOME = {
    "BooleanNetworkClassifier": "gradus.estimator",
    "Curriculum": "gradus.curriculum",
    "FeatureSet": "gradus.minfs",
    "GradusError": "gradus.errors",
    "Learned": "gradus.learner",
    "Network": "gradus.network",
    "all_minimum_feature_sets": "gradus.minfs",
    "find_curriculum": "gradus.curriculum",
    "learn": "gradus.learner",
    "learn_many": "gradus.batch",
    "minimum_feature_set": "gradus.minfs",
}
_MODULES = ("losses", "problems")

__all__ = [
    "BooleanNetworkClassifier",
    "Curriculum",
    "FeatureSet",
    "GradusError",
    "Learned",
    "Network",
    "all_minimum_feature_sets",
    "find_curriculum",
    "learn",
    "learn_many",
    "losses",
    "minimum_feature_set",
    "problems",
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
