"""The experiments of Gradus: the paper replicated, what goes past it, and the pieces for a study of your own.

A study is a Python file that makes a `Study` and calls it ``study``; `gradus reproduce my_study.py` runs it.
"""

from gradus_paper.orders import all_taus
from gradus_paper.study import Study, grid, leave_one_out, load_study
from gradus_paper.training_sets import own_table

__all__ = ["Study", "all_taus", "grid", "leave_one_out", "load_study", "own_table"]
