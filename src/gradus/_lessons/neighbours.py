"""Neighbours: more circuits for the vote, about as small as those that were taught and as right on every example."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradus._lessons.control import Control
from gradus._lessons.packed_examples import PackedExamples
from gradus._lessons.phases import PhaseSettings, Start, scaled, tidy
from gradus._lessons.school import SchoolResult

__all__ = ["neighbours"]

MORE_GATES = 3
WORK = 4  # times the work of tidying after a lesson


def neighbours(
    examples: PackedExamples, taught: Sequence[SchoolResult], count: int, settings: PhaseSettings, seed: int, control: Control
) -> list[SchoolResult]:
    """Walk on from each exact circuit through others with at most three gates more, and return `count` of these."""
    # A neighbour takes a small part of the work of teaching another circuit, and differs where the examples do not decide a
    # value. It gets the description length of the circuit that it comes from.
    settings = scaled(settings, examples)
    columns = list(range(len(examples.targets)))

    def chain(number: int) -> list[SchoolResult]:
        latest, found = taught[number], []
        free_gates = latest.n_gates + MORE_GATES
        for place in range(count):
            if control.stop():
                break
            entropy = [seed, number, place, len(columns)]
            walk_seed = int(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0])
            start = Start(examples, latest.circuit, columns, walk_seed, WORK * settings.tidy_work, settings, control)
            draft = tidy(start, free_gates)
            latest = latest._replace(circuit=draft.circuit, n_gates=draft.n_gates)
            found.append(latest)
        return found

    return [one for found in control.map(chain, range(len(taught))) for one in found]
