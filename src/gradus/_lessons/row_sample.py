"""Many rows: circuits are learned from some of them, and then shortened, constants included, by the errors on all.

The cost of a walk grows with the rows, and what it learns does not: a circuit of a hundred gates is well determined by tens
of thousands of rows.
"""

from __future__ import annotations

import numpy as np

from gradus._core.bits import WordMatrix, pack, tail_mask, unpack
from gradus._core.run import Run
from gradus._lessons.circuit_learner import CircuitLearner
from gradus._lessons.description import LearnedCircuit
from gradus._lessons.packed_examples import PackedExamples
from gradus._lessons.walks import LessonSettings

__all__ = ["MANY_ROWS", "refined", "sampled"]

MANY_ROWS = 1 << 15


def sampled(examples: PackedExamples, seed: int) -> PackedExamples:
    """Return `MANY_ROWS` of the rows, drawn at random; all of them if there are no more."""
    if examples.n_examples <= MANY_ROWS:
        return examples
    rows = np.sort(np.random.default_rng(seed).choice(examples.n_examples, MANY_ROWS, replace=False))

    def some(words: WordMatrix) -> WordMatrix:
        return pack(unpack(words, examples.n_examples)[rows])

    return PackedExamples(MANY_ROWS, some(examples.inputs), some(examples.targets), some(examples.known), tail_mask(MANY_ROWS))


def refined(
    learned: LearnedCircuit, examples: PackedExamples, settings: LessonSettings, seed: int, run: Run
) -> LearnedCircuit:
    """Return a circuit learned from a few examples with its errors on all of them."""
    # Nothing more is learned, so contradictions and feature sets are not looked for among all rows.
    return CircuitLearner(examples, settings._replace(exact=False), seed, 0, run).refine(learned)
