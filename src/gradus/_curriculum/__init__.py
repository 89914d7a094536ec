"""Minimum feature sets, and the order in which targets are taught: found from them, by another rule, or given.

`feature_sets` is what users call for the fewest columns that determine a target, with proof or with bounds. `coded_examples`
checks and codes their tables, `masks` collects the discordant pairs and reduces them to a covering problem, `branch` searches
it exactly, and `solver` joins that with a greedy search and checks the answer against the rows.
"""
