"""What every part of a school works with: the examples, what a circuit for them costs, and phases whose work is counted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np

from gradus._lessons.board import PackedExamples
from gradus._lessons.control import Control
from gradus._lessons.description import FUNCTION_BITS, NAND_BITS, error_table, gate_table
from gradus._lessons.gate_list import GateList
from gradus._lessons.phases import Draft, PhaseSettings, scaled

__all__ = ["FIT", "JOINT", "SCREEN", "TIDY", "TOLERATE", "Workshop"]

FIT, TIDY, TOLERATE, SCREEN, JOINT = range(5)
"""What a seed is for."""


class Workshop:
    """The examples of one school, the prices of circuits, and the work done so far."""

    def __init__(self, task: PackedExamples, settings: PhaseSettings, seed: int, number: int, control: Control) -> None:
        self.task, self.settings, self.control = task, scaled(settings, task), control
        self.seed, self.number = seed, number
        self.known = [int(count) for count in np.bitwise_count(task.known).sum(axis=1)]
        self.ones = [int(count) for count in np.bitwise_count(task.targets & task.known).sum(axis=1)]
        self.minority = [min(one, count - one) for one, count in zip(self.ones, self.known, strict=True)]
        self.work = 0
        self.lock = threading.Lock()
        self._gate_bits = gate_table(len(task.inputs), 64, self._function_bits)

    @property
    def _function_bits(self) -> float:
        return NAND_BITS if self.settings.nand else FUNCTION_BITS

    def gate_bits(self, n_gates: int) -> int:
        """Return the description length of so many gates."""
        if n_gates >= len(self._gate_bits):
            self._gate_bits = gate_table(len(self.task.inputs), 2 * n_gates, self._function_bits)
        return int(self._gate_bits[n_gates])

    def error_bits(self, column: int, errors: int) -> int:
        """Return the description length of so many errors in a column."""
        return int(error_table(self.known[column], self.settings.noise_rate)[errors])

    def label_bits(self, column: int) -> int:
        """Return the description length of a column without a circuit: a constant and its errors."""
        return self.error_bits(column, self.minority[column])

    def length(self, draft: Draft, columns: Sequence[int]) -> int:
        """Return the description length of a draft for some columns."""
        errors = draft.errors.tolist()
        return self.gate_bits(draft.n_gates) + sum(map(self.error_bits, columns, errors))

    def seed_for(self, *place: int) -> int:
        """Return the seed of a walk, which its place in the school decides: the lesson first."""
        return int(np.random.SeedSequence([self.seed, self.number, *place]).generate_state(1, np.uint64)[0])

    def run(
        self, phase: Callable[..., Draft], circuit: GateList, columns: list[int], seed: int, work: int, settings: PhaseSettings
    ) -> Draft:
        """Run a phase and count its work; the sum does not depend on the order of threads."""
        draft = phase(self.task, circuit, columns, seed, work, settings, self.control)
        with self.lock:
            self.work += draft.work
        return draft
