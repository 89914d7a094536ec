"""Minimum feature sets: the fewest columns that determine a target, with proof or with bounds.

`table` codes the examples, `pairs` collects the discordant pairs as bit rows, `cover` reduces them, `branch` searches
them exactly and `heuristics` greedily, `deepening` closes the gap between the two, `listing` enumerates, and `solver`
joins them.
"""

from gradus._minfs.front import FeatureSet, all_minimum_feature_sets, minimum_feature_set

__all__ = ["FeatureSet", "all_minimum_feature_sets", "minimum_feature_set"]
