"""Lessons: circuits of two-input gates, taught one target at a time from few and noisy examples.

A walk (`kernel`) prices changes to a circuit on packed examples and accepts them late. `phases` runs it to fit, to tidy, or
to weigh gates against errors (`description`), `school` chooses what is taught next, and `learn` is what users call.
"""

from gradus._lessons.learn import LearnResult, learn, learn_whole

__all__ = ["LearnResult", "learn", "learn_whole"]
