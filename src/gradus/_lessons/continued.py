"""`ContinuedLearner`: continues from a circuit that was learned from earlier rows."""

from __future__ import annotations

import numpy as np

from gradus._circuit import Network
from gradus._circuit.gate_list import GateList, cleaned, constant_outputs
from gradus._core.gates import NAND, ONE, ZERO
from gradus._core.run import Run
from gradus._core.wording import counted
from gradus._lessons.circuit_learner import MAX_FIT_WORK, CircuitLearner
from gradus._lessons.description import LearnedCircuit, Lengths, Solution, judged, selected
from gradus._lessons.further_inputs import with_inputs
from gradus._lessons.packed_examples import PackedExamples
from gradus._lessons.walks import LessonSettings
from gradus.errors import SettingsError

__all__ = ["ContinuedLearner", "checked_start", "gate_list_of", "not_longer"]

START = 5  # a purpose of seeds, as in `circuit_learner`


def not_longer(learned: LearnedCircuit, start: GateList, examples: PackedExamples, settings: LessonSettings) -> LearnedCircuit:
    """Return what was learned, or the start if that is shorter with its errors."""
    solution = judged(cleaned(with_inputs(start, len(examples.inputs)), nand=settings.nand), examples)
    length = Lengths(examples, settings.nand, settings.noise).whole(solution)
    # An exact circuit is kept, although a start with errors may be shorter.
    comparable = solution.reached or learned.tolerant or learned.solution.errors.any()
    if not comparable or length >= learned.length:
        return learned
    kept = learned._replace(solution=solution, length=length, tolerant=not solution.reached)
    return kept._replace(order=tuple(solution.columns))


def checked_start(network: Network | None, n_inputs: int, n_targets: int, *, nand: bool) -> GateList | None:
    """Check a circuit to continue from."""
    if network is None:
        return None
    if not isinstance(network, Network):
        raise SettingsError(f"start is a {type(network).__name__}; give a Network, such as the network of an earlier result.")
    if network.n_inputs != n_inputs:
        raise SettingsError(f"start reads {counted(network.n_inputs, 'input')}, but X has {counted(n_inputs, 'column')}.")
    if network.n_outputs != n_targets:
        raise SettingsError(
            f"start has {counted(network.n_outputs, 'output')}, but Y has {counted(n_targets, 'column')}; give a circuit that "
            "has one for each, in their order."
        )
    if nand and not np.isin(network.functions, (NAND, ZERO, ONE)).all():
        raise SettingsError("start has gates that are not NAND; give start.to_nand(), or let gates be 'any'.")
    return gate_list_of(network)


def gate_list_of(network: Network) -> GateList:
    """Return the gates of a network."""
    return GateList(network.n_inputs, network.functions, network.sources, network.outputs)


class ContinuedLearner(CircuitLearner):
    """Repairs a circuit for all targets at once; if that fails, it learns the wrong ones again, on top of the others."""

    def __init__(
        self, examples: PackedExamples, settings: LessonSettings, seed: int, number: int, run: Run, start: GateList
    ) -> None:
        super().__init__(examples, settings, seed, number, run)
        self.start = judged(cleaned(start, nand=settings.nand), examples)

    def learn(self) -> LearnedCircuit:
        """Continue from the start."""
        # Until the first step is done, the best so far is the start.
        self.solution, self.remaining = self.start, []
        left: list[int] = []
        try:
            self.solution, left = self._mended()
        except KeyboardInterrupt:
            self.run.interrupt()
            self.solution = self.start
        self._teach_again(left)
        return super().learn()

    def _mended(self) -> tuple[Solution, list[int]]:
        """Return the start without its errors, or with as few of their bits as possible, and the targets to learn again."""
        solution, work = self.start, self.settings.fit_work
        while not (solution.reached or self.tolerant or self.run.stop()):
            solution = self._counted(self.walks.fit(self.start, self._seed(START, work), work))
            work *= 4
            if work > min(MAX_FIT_WORK, self.settings.cheap_try):
                break
        if self.settings.exact is None and solution.reached and not self.start.reached:
            self.solution = selected(solution, solution.columns[:-1])
            checked = self._noise_checked(solution)
            self.tolerant, solution = checked is None, checked or self.start
        if self.tolerant:
            # Constants may now be learned, and more gates may now pay.
            wrong = np.flatnonzero(self.start.errors).tolist()
            return self._grown(self.start), [column for column in constant_outputs(self.start.circuit) if column in wrong]
        return (solution, []) if solution.reached else (self.start, np.flatnonzero(self.start.errors).tolist())

    def _teach_again(self, left: list[int]) -> None:
        """Learn some targets by lessons, on top of the others."""
        kept = [column for column in self.solution.columns if column not in left]
        self.solution, self.remaining = selected(self.solution, kept), left
        if self.settings.order is not None:
            order = (*kept, *(column for column in self.settings.order if column in left))
            self.settings = self.settings._replace(order=order)
