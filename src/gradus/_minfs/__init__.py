"""Minimum feature sets: the fewest columns that determine a target, with proof or with bounds.

`feature_sets` is what users call. `coded_examples` checks and codes their tables, `masks` collects the discordant pairs
and reduces them to a covering problem, `branch` searches it exactly and `beam` greedily, `solver` joins the two and
checks the answer against the rows, `listing` enumerates, and `deadline` keeps every compiled call short.
"""

from gradus._minfs.feature_sets import FeatureSet, all_minimum_feature_sets, minimum_feature_set

__all__ = ["FeatureSet", "all_minimum_feature_sets", "minimum_feature_set"]
