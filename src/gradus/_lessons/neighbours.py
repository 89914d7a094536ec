"""More circuits for the vote: about as small as those that were taught, and with the same answers on every example."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradus._lessons.board import PackedExamples
from gradus._lessons.control import Control
from gradus._lessons.phases import PhaseSettings, scaled, tidy
from gradus._lessons.school_plan import Taught

__all__ = ["neighbours"]

MORE_GATES = 3
WORK = 4  # times that of tidying after a lesson


def neighbours(
    task: PackedExamples, taught: Sequence[Taught], count: int, settings: PhaseSettings, seed: int, control: Control
) -> list[Taught]:
    """Walk on from each exact circuit, through others of at most three gates more, and return `count` of these.

    Each costs a small part of what a circuit of its own would, and they differ where the examples leave a value open. They
    stand for the circuit that they come from, so its description length is theirs.
    """
    settings = scaled(settings, task)
    columns = list(range(len(task.targets)))

    def chain(number: int) -> list[Taught]:
        latest, found = taught[number], []
        free_gates = latest.n_gates + MORE_GATES
        for place in range(count):
            if control.stop():
                break
            entropy = [seed, number, place, len(columns)]
            walk_seed = int(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0])
            work = WORK * settings.tidy_work
            draft = tidy(task, latest.circuit, columns, walk_seed, work, settings, control, free_gates)
            latest = latest._replace(circuit=draft.circuit, n_gates=draft.n_gates)
            found.append(latest)
        return found

    return [one for found in control.map(chain, range(len(taught))) for one in found]
