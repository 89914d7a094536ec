"""What the estimator and the command line do unless told otherwise.

`gradus.search` itself keeps the settings of the paper; these are for people who want a good network of their own data
and an answer in reasonable time even where their data cannot be fitted.
"""

from __future__ import annotations

__all__ = [
    "DEFAULT_ATTEMPTS",
    "DEFAULT_LEFT_OUT_NETWORKS",
    "DEFAULT_MAX_ITER",
    "DEFAULT_NETWORKS",
    "DEFAULT_RESTARTS",
    "DEFAULT_SHRINK",
]

DEFAULT_SHRINK = 1_000_000
"""Steps spent on finding a smaller network once every example is right.

Five times as many make networks only a gate or so smaller on the beds of ``benchmarks/shrink_study.py``.
"""
DEFAULT_ATTEMPTS = 7
"""Independent searches, of which the smallest network without error is kept.

With shrinking, the smallest of seven is right on 0.5 to 6.5 points more of the unseen patterns than the first one, on each of
the five beds of ``benchmarks/shrink_study.py``.
"""
DEFAULT_MAX_ITER = 20_000_000
"""Steps after which a search that has not reached zero error starts again."""
DEFAULT_RESTARTS = 0
"""How many times it may start again: the attempts are fresh starts already."""
DEFAULT_NETWORKS = 100
"""Networks that `gradus infer` trains for each hierarchy."""
DEFAULT_LEFT_OUT_NETWORKS = 20
"""Networks that it trains for each hierarchy without a transition, to predict that one."""
