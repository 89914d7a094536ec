"""Every test bed of the paper, of any size, and users' own data in the same form."""

from __future__ import annotations

from gradus.problems.from_data import from_arrays, from_file, from_model, from_transitions
from gradus.problems.problem import Examples, Problem
from gradus.problems.registry import families, load, names
from gradus.problems.time_series import fission_yeast_model

__all__ = [
    "Examples",
    "Problem",
    "families",
    "fission_yeast_model",
    "from_arrays",
    "from_file",
    "from_model",
    "from_transitions",
    "load",
    "names",
]
