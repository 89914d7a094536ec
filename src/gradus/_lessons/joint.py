"""Joint starts: all targets fitted at once from an empty circuit, in competition with the lessons.

Where targets share no simple parts (multipliers), each lesson only lengthens the circuit of the one before, and a circuit
that serves all targets from the beginning can be shorter.
"""

from __future__ import annotations

import numpy as np

from gradus._lessons.gate_list import GateList
from gradus._lessons.phases import Draft, fit, tidy
from gradus._lessons.workshop import FIT, JOINT, TIDY, Workshop

__all__ = ["joint_drafts"]

SHARE_OF_LESSONS = 0.75
MOST_WORK = 4_000_000_000  # word operations


def joint_drafts(shop: Workshop, columns: list[int], most_gates: int, n_starts: int) -> list[Draft]:
    """Return the circuits without error that joint starts find, of at most so many gates.

    Each start may work three quarters as much as the lessons did to fit, up to a limit, and as much again to tidy; most
    need far less.
    """
    inputs = len(shop.task.inputs)
    nothing = GateList(inputs, np.zeros(0, np.uint8), np.zeros((0, 2), np.int64), np.full(len(columns), -1, np.int64))
    work = min(int(SHARE_OF_LESSONS * shop.work), MOST_WORK)
    roomy = shop.settings._replace(spare_gates=most_gates)

    def start(number: int) -> Draft:
        seed = shop.seed_for(len(columns), FIT, JOINT, number, most_gates)
        draft = shop.run(fit, nothing, columns, seed, work, roomy)
        if not draft.reached or shop.control.stop():
            return draft
        seed = shop.seed_for(len(columns), TIDY, JOINT, number, most_gates)
        return shop.run(tidy, draft.circuit, columns, seed, work, shop.settings)._replace(reached=True)

    return [draft for draft in shop.control.map(start, range(n_starts)) if draft.reached]
