"""The paper's problems, in any size, further small circuits, and users' own data in the same form."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradus._formats import MODELS
    from gradus.problems._from_data import from_arrays, from_file, from_model
    from gradus.problems._problem import Problem, TrainTest
    from gradus.problems._registry import families, further, load, names

_HOME = {
    "MODELS": "_formats",
    "Problem": "problems._problem",
    "TrainTest": "problems._problem",
    "families": "problems._registry",
    "from_arrays": "problems._from_data",
    "from_file": "problems._from_data",
    "from_model": "problems._from_data",
    "further": "problems._registry",
    "load": "problems._registry",
    "names": "problems._registry",
}
"""The module in which each public name is defined."""

__all__ = ["MODELS", "Problem", "TrainTest", "families", "from_arrays", "from_file", "from_model", "further", "load", "names"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f"gradus.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'gradus.problems' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
