"""Every test bed of the paper, of any size, and users' own data in the same form."""

from __future__ import annotations

from gradus.problems._from_data import from_arrays, from_file, from_model, from_transitions
from gradus.problems._problem import Examples, Problem
from gradus.problems._registry import families, load, names
from gradus.problems._time_series import fission_yeast_model

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
