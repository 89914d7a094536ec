"""Lessons: circuits of two-input gates, taught one target at a time from few and noisy examples.

A walk (`kernel`) prices changes of a circuit on packed examples and accepts them late; `phases` sets it up to fit, tidy, or
weigh gates against errors (`description`); `school` chooses what is taught next; `learn` is the call in front of it all.
"""

from gradus._lessons.learn import LearnResult, learn, learn_whole

__all__ = ["LearnResult", "learn", "learn_whole"]
