"""Joint starts: all targets fitted at once from an empty circuit, in competition with the lessons.

If targets share no simple parts (multipliers), each lesson only lengthens the circuit, and one that is fitted to all
targets from the beginning can be shorter.
"""

from __future__ import annotations

from gradus._circuit.gate_list import empty_circuit
from gradus._lessons.phases import Draft, fit, tidy
from gradus._lessons.workshop import FIT, JOINT, TIDY, Workshop

__all__ = ["joint_drafts"]

SHARE_OF_LESSONS = 0.75
MOST_WORK = 4_000_000_000  # word operations


def joint_drafts(shop: Workshop, columns: list[int], most_gates: int, n_starts: int) -> list[Draft]:
    """Return the circuits without errors that joint starts find, with at most this many gates."""
    # Each start may spend three quarters of the work of all lessons on fitting, up to a limit, and as much again on tidying;
    # most need far less.
    nothing = empty_circuit(len(shop.examples.inputs), len(columns))
    work = min(int(SHARE_OF_LESSONS * shop.work), MOST_WORK)
    roomy = shop.settings._replace(spare_gates=most_gates)

    def start(number: int) -> Draft:
        seed = shop.seed_for(len(columns), FIT, JOINT, number, most_gates)
        draft = shop.run(fit, nothing, columns, seed, work, roomy)
        if not draft.reached or shop.control.stop():
            return draft
        seed = shop.seed_for(len(columns), TIDY, JOINT, number, most_gates)
        return shop.run(tidy, draft.circuit, columns, seed, work)._replace(reached=True)

    return [draft for draft in shop.control.map(start, range(n_starts)) if draft.reached]
