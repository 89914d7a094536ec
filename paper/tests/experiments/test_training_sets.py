"""Flipped labels: which ones, and that nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest

from gradus._core.bits import unpack
from gradus_paper.tasks import Design, Task
from gradus_paper.training_sets import training_set

RATES = (0.01, 0.02, 0.05, 0.1, 0.2)


def drawn(noise, problem="cpar7", size=64, sample=0, **design):
    return training_set(Task(Design(problem, noise=noise, **design), size, sample).set_key)


def test_every_method_sees_the_same_flipped_labels():
    first = drawn(0.1)
    for design in ({"method": "lessons", "shuffle": True}, {"method": "forest"}, {"order": "auto", "shuffle": True}):
        np.testing.assert_array_equal(drawn(0.1, **design).Y, first.Y)


@pytest.mark.parametrize("problem", ["cpar7", "add12"])  # the patterns of the second are drawn, not listed
def test_flips_leave_the_patterns_and_what_is_tested_alone_and_grow_with_the_rate(problem):
    clean = drawn(0.0, problem)
    before = np.zeros_like(clean.Y)
    for rate in RATES:
        noisy = drawn(rate, problem)
        np.testing.assert_array_equal(noisy.X, clean.X)
        for name in ("inputs", "targets", "test_mask"):
            np.testing.assert_array_equal(getattr(noisy, name), getattr(clean, name))
        flipped = noisy.Y ^ clean.Y
        assert not (before & ~flipped).any()
        before = flipped


def test_the_share_of_flipped_labels_is_the_rate_and_differs_between_sets():
    for rate in RATES:
        flips = np.array([drawn(rate, sample=k).Y ^ drawn(0.0, sample=k).Y for k in range(100)])
        spread = np.sqrt(rate * (1 - rate) / flips.size)
        assert abs(flips.mean() - rate) < 4 * spread
        assert len({labels.tobytes() for labels in flips}) > 1 + 90 * (rate > 0.01)


def test_scores_are_against_the_true_labels():
    noisy = drawn(0.2)
    n_patterns = len(noisy.test_mask) * 64
    np.testing.assert_array_equal(
        unpack(noisy.targets, n_patterns)[:128], np.logical_xor.accumulate(unpack(noisy.inputs, n_patterns)[:128], axis=1)
    )
