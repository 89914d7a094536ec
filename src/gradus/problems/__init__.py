"""The paper's problems, in any size, further small circuits, and users' own data in the same form."""

from __future__ import annotations

from gradus.problems._from_data import MODELS, from_arrays, from_file, from_model
from gradus.problems._problem import Problem, TrainTest
from gradus.problems._registry import families, further, load, names

__all__ = ["MODELS", "Problem", "TrainTest", "families", "from_arrays", "from_file", "from_model", "further", "load", "names"]
