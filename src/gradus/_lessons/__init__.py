"""Lessons: circuits of two-input gates that learn one target at a time from few and noisy examples.

A walk (`kernel`) prices changes to a circuit on packed examples and accepts them late. `walks` uses it to remove errors, to
remove gates, or to weigh both (`description`); `circuit_learner` chooses what is learned next, among many targets by sets of
nodes (`next_target`) and from the tables of these (`table_lesson`), and makes large circuits smaller by `windows`. `ensemble`
decides how many circuits vote, and `learn` is what users call.
"""

from gradus._lessons.learn import LearnSettings, learn, learn_whole, learn_with
from gradus._lessons.result import LearnResult

__all__ = ["LearnResult", "LearnSettings", "learn", "learn_whole", "learn_with"]
