"""Minimum feature sets, and the order in which targets are taught: found from them, by another rule, or given.

`feature_sets` is what users call for the fewest columns that determine a target, with proof or with bounds. `coded_examples`
checks and codes their tables, `masks` collects the discordant pairs and reduces them to a covering problem, `branch` searches
it exactly, and `solver` joins that with a greedy search and checks the answer against the rows.
"""

from gradus._curriculum.curriculum import Curriculum, curriculum_of, find_curriculum
from gradus._curriculum.feature_sets import FeatureSet, all_minimum_feature_sets, minimum_feature_set
from gradus._curriculum.orders import check_order, kendall_tau, resolve_order

__all__ = [
    "Curriculum",
    "FeatureSet",
    "all_minimum_feature_sets",
    "check_order",
    "curriculum_of",
    "find_curriculum",
    "kendall_tau",
    "minimum_feature_set",
    "resolve_order",
]
