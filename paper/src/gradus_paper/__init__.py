"""The experiments of Gradus: the paper replicated, what goes past it, and the pieces for a study of your own.

A study is a Python file that makes a `Study` and calls it ``study``; `gradus reproduce my_study.py` runs it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradus_paper.orders import all_taus
    from gradus_paper.study import Study, grid, leave_one_out, load_study
    from gradus_paper.training_sets import own_table

_HOME = {
    "Study": "study",
    "all_taus": "orders",
    "grid": "study",
    "leave_one_out": "study",
    "load_study": "study",
    "own_table": "training_sets",
}
__all__ = ["Study", "all_taus", "grid", "leave_one_out", "load_study", "own_table"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'gradus_paper' has no attribute {name!r}")
    return getattr(importlib.import_module(f"gradus_paper.{_HOME[name]}"), name)
