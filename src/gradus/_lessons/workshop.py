"""`Workshop`: what every part of a school uses: the examples, the prices of circuits, and phases whose work is counted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np

from gradus._circuit.gate_list import GateList
from gradus._lessons.control import Control
from gradus._lessons.description import FUNCTION_BITS, NAND_BITS, error_table, gate_table
from gradus._lessons.packed_examples import PackedExamples
from gradus._lessons.phases import Draft, PhaseSettings, Start, scaled

__all__ = ["FIT", "JOINT", "SCREEN", "TIDY", "TOLERATE", "Workshop"]

FIT, TIDY, TOLERATE, SCREEN, JOINT = range(5)
"""Purposes of a seed."""


class Workshop:
    """The examples of one school, the prices of circuits, and the work done so far."""

    def __init__(self, examples: PackedExamples, settings: PhaseSettings, seed: int, number: int, control: Control) -> None:
        self.examples, self.settings, self.control = examples, scaled(settings, examples), control
        self.seed, self.number = seed, number
        self.known = [int(count) for count in np.bitwise_count(examples.known).sum(axis=1)]
        self.ones = [int(count) for count in np.bitwise_count(examples.targets & examples.known).sum(axis=1)]
        self.minority = [min(one, count - one) for one, count in zip(self.ones, self.known, strict=True)]
        self.work = 0
        self.lock = threading.Lock()
        self._gate_bits = np.zeros(0, dtype=np.int64)

    def gate_bits(self, n_gates: int) -> int:
        """Return the description length of this many gates."""
        table = self._gate_bits  # another thread may replace it meanwhile
        if n_gates >= len(table):
            function_bits = NAND_BITS if self.settings.nand else FUNCTION_BITS
            table = self._gate_bits = gate_table(len(self.examples.inputs), max(64, 2 * n_gates), function_bits)
        return int(table[n_gates])

    def error_bits(self, column: int, errors: int) -> int:
        """Return the description length of this many errors in a column."""
        return int(error_table(self.known[column], self.settings.noise_rate)[errors])

    def label_bits(self, column: int) -> int:
        """Return the description length of a column without a circuit: a constant and its errors."""
        return self.error_bits(column, self.minority[column])

    def length(self, draft: Draft, columns: Sequence[int]) -> int:
        """Return the description length of a draft for some columns."""
        errors = draft.errors.tolist()
        return self.gate_bits(draft.n_gates) + sum(map(self.error_bits, columns, errors))

    def seed_for(self, *place: int) -> int:
        """Return the seed of a walk, which depends on its place in the school: the lesson, and numbers within it."""
        return int(np.random.SeedSequence([self.seed, self.number, *place]).generate_state(1, np.uint64)[0])

    def run(
        self,
        phase: Callable[[Start], Draft],
        circuit: GateList,
        columns: list[int],
        seed: int,
        work: int,
        settings: PhaseSettings | None = None,
    ) -> Draft:
        """Run a phase, with other settings than usual if given, and count its work."""
        draft = phase(Start(self.examples, circuit, columns, seed, work, settings or self.settings, self.control))
        with self.lock:
            self.work += draft.work
        return draft
