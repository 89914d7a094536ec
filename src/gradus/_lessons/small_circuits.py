"""`fit_small`: for each of some sizes, the circuit of at most that many gates with the fewest errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._circuit.gate_list import GateList, cleaned, empty_circuit
from gradus._circuit.network import network_of
from gradus._core.bits import BoolMatrix
from gradus._core.run import Run
from gradus._lessons.description import Solution, judged
from gradus._lessons.packed_examples import PackedExamples, pack_examples, read_targets
from gradus._lessons.walks import LessonSettings, Walks, seed_from

__all__ = ["fit_small", "trimmed"]

LEAST_SHARE = 0.004
"""A gate that corrects fewer labels than this share of the examples is left out."""
ONE_SOURCE = (0, 15, 12, 3, 10, 5)
"""Functions of two sources that depend on at most one: constants, a source, or its complement."""
WORK_SHARE = 4
"""A small circuit takes this part of the work of a lesson in which errors are allowed."""


def fit_small(
    X: BoolMatrix, Y: npt.NDArray[Any], sizes: Sequence[int], *, n_tries: int, seed: int, run: Run, nand: bool = False
) -> list[Network]:
    """Learn all targets at once with at most this many gates; sizes not begun before a stop are left out."""
    targets, known = read_targets(Y)
    walks = Walks(pack_examples(X, targets, known), LessonSettings(exact=False, nand=nand), run)
    found = []
    run.expect(max(len(sizes), 1))
    for size in sizes:
        if run.stop():
            break
        tries = filter(None, run.map(partial(_fitted, walks, targets.shape[1], size, seed), range(n_tries)))
        best = min(tries, key=lambda solution: (int(solution.errors.sum()), solution.n_gates), default=None)
        if best is not None:
            found.append(network_of(trimmed(best.circuit, walks.examples, int(LEAST_SHARE * len(X)), nand)))
    return found


def _fitted(walks: Walks, n_targets: int, size: int, seed: int, attempt: int) -> Solution:
    """Fit a circuit of some size from nothing."""
    circuit = empty_circuit(len(walks.examples.inputs), n_targets)
    start = Solution(circuit, list(range(n_targets)), np.zeros(n_targets, dtype=np.int64))
    work, place = walks.settings.noisy_fit_work // WORK_SHARE, seed_from(seed, size, attempt)
    return walks.fit(start, place, work, size)


def trimmed(circuit: GateList, examples: PackedExamples, least: int, nand: bool = False) -> GateList:
    """Leave out gates, one after another, as long as each adds at most this many errors."""

    def wrong(circuit: GateList) -> int:
        return int(judged(circuit, examples).errors.sum())

    errors = wrong(circuit)
    while True:
        shorter = [(wrong(other), place, other) for place, other in enumerate(_without_a_gate(circuit, nand))]
        if not shorter:
            break
        fewest, _, best = min(shorter, key=lambda one: one[:2])
        if fewest > errors + least:
            break
        circuit, errors = best, fewest
    return circuit


def _without_a_gate(circuit: GateList, nand: bool) -> Iterator[GateList]:
    """Yield the circuits in which one gate reads only one of its sources, or none."""
    for gate, function in product(np.flatnonzero(_needs_both(circuit)), ONE_SOURCE):
        functions = circuit.functions.copy()
        functions[gate] = function
        other = cleaned(circuit._replace(functions=functions), nand=nand)
        if _needs_both(other).sum() < _needs_both(circuit).sum():
            yield other


def _needs_both(circuit: GateList) -> npt.NDArray[np.bool_]:
    """Return which gates depend on two sources: complements and constants cost a reader nothing."""
    return np.asarray(~np.isin(circuit.functions, ONE_SOURCE) & (circuit.sources[:, 0] != circuit.sources[:, 1]))
