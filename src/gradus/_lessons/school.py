"""`School`: teaches one circuit all targets, one lesson at a time, the cheapest target first."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradus._circuit.gate_list import GateList, cleaned, empty_circuit, select_outputs
from gradus._core.bits import unpack
from gradus._core.gates import ONE, ZERO
from gradus._core.run import Progress
from gradus._lessons.control import Control
from gradus._lessons.description import BIT
from gradus._lessons.joint import joint_drafts
from gradus._lessons.packed_examples import PackedExamples
from gradus._lessons.phases import Draft, PhaseSettings, fit, screen, tidy, tolerate
from gradus._lessons.workshop import FIT, JOINT, SCREEN, TIDY, TOLERATE, Workshop

__all__ = ["School", "SchoolPlan", "SchoolResult"]

MAX_FIT_WORK = 6_000_000_000  # word operations: about two seconds
MAX_TIDY_WORK = 8_000_000_000
HARD_LESSON = 1_000_000_000
JOINT_STARTS = 2  # per try of a lesson
MORE_GATES = 10  # how many gates more than the circuit it competes with a joint start may use


class SchoolPlan(NamedTuple):
    """Settings of a school; the numbers were chosen on training sets that are not reported."""

    order: tuple[int, ...] | None
    """None: self-paced."""
    exact: bool | None
    """Whether errors are forbidden; None: as the examples suggest."""
    n_tries: int = 3
    cheap_try: int = 200_000_000
    """Work of a fit up to which a lesson gets all tries; in harder lessons time is better spent on tidying."""
    width: int = 8
    """Targets that are tried in one lesson."""
    contenders: int = 1
    """Targets of a lesson that get all tries."""
    first_rounds: int = 6
    """Rounds of fits in the first lesson; each further lesson has one more, up to `rounds`."""
    rounds: int = 7
    """Each round gives the fits of a lesson four times the work of the one before."""
    doubt: float = 33.0
    """How strong the evidence of noise must be before errors are tolerated, see `School._in_doubt`."""
    few: int = 4
    trust: float = 0.1
    """For each target taught exactly beyond the first `few`, the evidence must be stronger by this share."""
    least_saving: float = 2.5
    """What allowing errors must save at least, in square roots of the length of the exact circuit (both in bits)."""
    margin: int = 4 * 1024
    """What a circuit must save over a constant, in 1024ths of a bit."""


class SchoolResult(NamedTuple):
    """A circuit that was taught all targets; everything but `order` is in the order of the columns."""

    circuit: GateList
    errors: npt.NDArray[np.int64]
    order: tuple[int, ...]
    length: int
    """Description length in 1024ths of a bit."""
    n_gates: int
    tolerant: bool
    unsolved: bool
    """Whether errors are left although nothing suggests wrong labels: another start may avoid them."""
    work: int
    """Word operations: how long it took, measured without a clock."""


class School:
    """One run through all targets."""

    def __init__(
        self, examples: PackedExamples, plan: SchoolPlan, settings: PhaseSettings, seed: int, number: int, control: Control
    ) -> None:
        self.shop = Workshop(examples, settings, seed, number, control)
        self.plan, self.control = plan, control
        self.taught: list[int] = []
        self.remaining = list(range(len(examples.targets)))
        self.tolerant = plan.exact is False or _contradictory(examples)
        self.draft = Draft(empty_circuit(len(examples.inputs)), np.zeros(0, np.int64), True)
        self.n_mends = 0
        self.unsolved = False
        self._fallback: tuple[tuple[int, int, int], Draft] | None = None
        """The best trial of the latest lesson: its rank (see `_attempt`) and the draft."""

    def run(self) -> SchoolResult:
        """Teach every target, then tidy the circuit."""
        try:
            while self.remaining and not self.control.stop():
                self._lesson()
            if not self.control.stop():
                self._finish()
        except KeyboardInterrupt:
            self.control.stopped = "interrupted"
        self._leave_out()
        return self._result()

    # One lesson.

    def _seed(self, *place: int) -> int:
        return self.shop.seed_for(len(self.taught), *place)

    def _lesson(self) -> None:
        residual = screen(self.shop.examples, self.draft.circuit, self.remaining, self._seed(SCREEN))
        cheap = [t for t, errors in zip(self.remaining, residual.tolist(), strict=True) if errors[1] == 0]
        if self.plan.order is not None:
            candidates = [self.plan.order[len(self.taught)]]
        elif cheap and not self.tolerant:
            candidates = cheap[:1]
        else:
            rank = {t: self._rank(t, int(errors[1])) for t, errors in zip(self.remaining, residual, strict=True)}
            candidates = sorted(self.remaining, key=lambda t: (rank[t], t))[: self.plan.width]
        if not self.tolerant:
            chosen = self._exact_lesson(candidates, easy=bool(candidates[0] in cheap))
            if chosen is not None:
                return self._teach(*chosen)
            if self.control.stop():
                return None
            self.tolerant = True
        return self._teach(*self._tolerant_lesson(candidates))

    def _rank(self, column: int, errors: int) -> float:
        """Bits left by one gate, as a share of the bits that a constant leaves."""
        constant = self.shop.label_bits(column)
        return self.shop.error_bits(column, min(errors, self.shop.minority[column])) / constant if constant else 0.0

    def _teach(self, column: int, draft: Draft) -> None:
        self.taught.append(column)
        self.remaining.remove(column)
        self.draft = draft

    def _tell(self, target: int | None, errors: int, stage: str = "teach") -> None:
        done, n = len(self.taught), len(self.shop.known)
        share = 0.9 * (done * (done + 1)) / (n * (n + 1)) if stage == "teach" else 0.95
        gates = self.draft.n_gates
        progress = Progress(stage=stage, done=done, total=n, target=target, errors=errors, gates=gates)
        self.control.report(self.shop.number, progress, share)

    def _attempt(self, column: int, attempt: int, work: int, spare: int | None = None) -> Draft:
        """Try to teach a column on top of the present circuit; the best trial is kept in case of an early stop."""
        draft = self._try(column, attempt, work, spare)
        columns = [*self.taught, column]
        rank = (
            -len(columns),
            self.shop.length(draft, columns) - self.shop.length(self._with_constant(column), columns),
            column,
        )
        with self.shop.lock:
            if rank[1] < 0 and (self._fallback is None or rank < self._fallback[0]):
                self._fallback = (rank, draft)
        return draft

    def _try(self, column: int, attempt: int, work: int, spare: int | None) -> Draft:
        settings = self.shop.settings if spare is None else self.shop.settings._replace(spare_gates=spare)
        self._tell(column, self.shop.minority[column])
        columns = [*self.taught, column]
        start = select_outputs(self.draft.circuit, [*range(len(self.taught)), -1])
        draft = self.shop.run(fit, start, columns, self._seed(FIT, column, attempt, work), work, settings)
        self._tell(column, int(draft.errors[-1]))
        if self.tolerant:
            seed = self._seed(TOLERATE, column, attempt, work)
            return self.shop.run(tolerate, draft.circuit, columns, seed, settings.tolerate_work, settings)
        if draft.reached and spare is None:
            seed = self._seed(TIDY, column, attempt, work)
            small = self.shop.run(tidy, draft.circuit, columns, seed, settings.tidy_work)
            return small._replace(reached=True)
        return draft

    def _exact_lesson(self, candidates: list[int], easy: bool) -> tuple[int, Draft] | None:
        """Teach the candidate that needs the fewest gates, without errors; None if labels seem to be wrong."""
        if easy:
            draft = self._attempt(candidates[0], 0, self.shop.settings.fit_work, spare=1)
            if draft.reached:
                return candidates[0], draft
        field, solved, work, before = candidates, [], 0, self.shop.work
        # Every target taught exactly suggests that labels are clean, so the next one gets more rounds.
        for round_number in range(min(self.plan.first_rounds + len(self.taught), self.plan.rounds)):
            work = min(self.shop.settings.fit_work * 4**round_number, MAX_FIT_WORK)
            drafts = self.control.map(lambda t, work=work: self._attempt(t, 0, work), field)  # type: ignore[misc]
            if self.control.stop():
                return None
            solved = [(self._price(t, draft), t, draft) for t, draft in zip(field, drafts, strict=True) if draft.reached]
            if solved:
                break
            left = sorted((int(draft.errors[-1]), place) for place, draft in enumerate(drafts))
            left = left[: max(2, len(field) // 2)]  # the closest ones continue
            field, drafts = [field[place] for _, place in left], [drafts[place] for _, place in left]
        if not solved:
            return self._unsolved_lesson(field, drafts)
        front = [t for _, t, _ in sorted(solved, key=lambda entry: entry[:2])[: self.plan.contenders]]
        n_tries = 1 if work > self.plan.cheap_try else self.plan.n_tries
        trials = [(t, attempt) for t in front for attempt in range(1, n_tries)]
        more = self.control.map(lambda trial: self._attempt(trial[0], trial[1], work), trials)
        every = [entry for entry in solved if entry[1] in front]
        every += [(self._price(t, draft), t, draft) for (t, _), draft in zip(trials, more, strict=True) if draft.reached]
        _, column, best = min(every, key=lambda entry: entry[:2])
        best = self._tidied([*self.taught, column], best, self.shop.work - before)
        checked = self._noise_checked([*self.taught, column], best) if self.plan.exact is None else best
        return None if checked is None else (column, checked)

    def _unsolved_lesson(self, field: list[int], drafts: list[Draft]) -> tuple[int, Draft] | None:
        """Choose the target that came closest, unless its errors look like noise; later lessons may help to fix them."""
        _, place = min((int(draft.errors.sum()), place) for place, draft in enumerate(drafts))
        column, draft = field[place], drafts[place]
        # Each target that was taught exactly makes wrong labels less likely.
        doubt = self.plan.doubt * (1 + len(self.taught))
        noisy = self.plan.exact is None and self._in_doubt([*self.taught, column], draft, 0, doubt)
        return None if noisy else (column, draft)

    def _tidied(self, columns: list[int], draft: Draft, work: int) -> Draft:
        """Tidy after a hard lesson for as long as it took: every needless gate makes the next lesson harder."""
        if work < HARD_LESSON or self.control.stop():
            return draft
        work = min(work, MAX_TIDY_WORK) // 2
        mended = self._mended(columns, draft, work, (JOINT,))
        if not mended.reached:
            return draft
        small = self.shop.run(tidy, mended.circuit, columns, self._seed(TIDY, JOINT), work // 4)
        return small._replace(reached=True) if small.n_gates < draft.n_gates else draft

    def _mended(self, columns: list[int], draft: Draft, work: int, place: tuple[int, ...]) -> Draft:
        """Shorten a circuit with errors allowed, then mend these: this reaches smaller circuits than tidying alone."""
        short = self.shop.run(tolerate, draft.circuit, columns, self._seed(TOLERATE, *place), work)
        return self.shop.run(fit, short.circuit, columns, self._seed(FIT, JOINT, *place), work)

    def _price(self, column: int, draft: Draft) -> float:
        """Return the bits of gates that a column adds, per bit of its labels: rare values prove little."""
        added = self.shop.gate_bits(draft.n_gates) - self.shop.gate_bits(self.draft.n_gates)
        return added / max(self.shop.label_bits(column), 1)

    def _noise_checked(self, columns: list[int], draft: Draft) -> Draft | None:
        """Return an exact circuit, tidied further if it is in doubt, or None if it is so long that labels must be wrong."""
        if not self._in_doubt(columns, draft, 0):
            return draft
        work = 10 * self.shop.settings.tidy_work
        drafts = self.control.map(
            lambda k: self.shop.run(tidy, draft.circuit, columns, self._seed(TIDY, SCREEN, k), work), range(2)
        )
        smaller = min(drafts, key=lambda found: found.n_gates)._replace(reached=True)
        # With many targets there are many chances of a false alarm, and those taught exactly suggest clean labels.
        doubt = self.plan.doubt * (1 + self.plan.trust * max(len(self.taught) - self.plan.few, 0))
        return None if self._in_doubt(columns, smaller, 1, doubt) else smaller

    def _in_doubt(self, columns: list[int], draft: Draft, attempt: int, doubt: float | None = None) -> bool:
        """Return whether allowing errors saves so much that the errors must be noise."""
        # A flipped label costs an exact circuit many gates, but few bits as an error; on clean examples, allowing an error
        # saves little. So the evidence is the bits saved, times the bits saved per error, over the square root of the length
        # (longer circuits leave more to chance). On training sets that are not reported it was at most 22 for clean examples
        # of the paper's problems, and at least 34 with 5 % of the labels flipped; some tiny tables exceed it by mistake.
        work, seed = self.shop.settings.tolerate_work // 2, self._seed(TOLERATE, SCREEN, attempt)
        rival = self.shop.run(tolerate, draft.circuit, columns, seed, work)
        length = self.shop.length(draft, columns) / BIT
        saved, errors = length - self.shop.length(rival, columns) / BIT, int(rival.errors.sum())
        chance = math.sqrt(length)
        return saved > self.plan.least_saving * chance and saved * saved > (doubt or self.plan.doubt) * chance * errors

    def _tolerant_lesson(self, candidates: list[int]) -> tuple[int, Draft]:
        """Teach the candidate with the shortest description, relative to that of its labels."""
        base = self.shop.length(self.draft, self.taught)

        def score(column: int, draft: Draft) -> float:
            added = self.shop.length(draft, [*self.taught, column]) - base
            return added / max(self.shop.label_bits(column), 1)

        work = self.shop.settings.noisy_fit_work
        drafts = self.control.map(lambda t: self._attempt(t, 0, work), candidates)
        scored = [(score(t, draft), t, draft) for t, draft in zip(candidates, drafts, strict=True)]
        front = [t for _, t, _ in sorted(scored, key=lambda entry: entry[:2])[: self.plan.contenders]]
        trials = [(t, attempt) for t in front for attempt in range(1, self.plan.n_tries)]
        more = self.control.map(lambda trial: self._attempt(trial[0], trial[1], work), trials)
        scored += [(score(t, draft), t, draft) for (t, _), draft in zip(trials, more, strict=True)]
        _, column, best = min(scored, key=lambda entry: entry[:2])
        constant = self._with_constant(column)
        columns = [*self.taught, column]
        if self.shop.length(best, columns) + self._margin(best.circuit, -1) > self.shop.length(constant, columns):
            return column, constant
        return column, best

    def _margin(self, circuit: GateList, place: int) -> int:
        """By how much an output must be shorter to describe than its constant."""
        is_input = circuit.outputs[place] < circuit.n_inputs
        # A gate pays for the choice of its sources; an input that is the output was chosen among all of them, too.
        return self.plan.margin + (round(BIT * math.log2(circuit.n_inputs)) if is_input else 0)

    def _with_constant(self, column: int) -> Draft:
        """Return the present circuit with a constant for one more column."""
        one = 2 * self.shop.ones[column] > self.shop.known[column]
        circuit = self.draft.circuit
        node = circuit.n_inputs + len(circuit.functions)
        grown = GateList(
            circuit.n_inputs,
            np.append(circuit.functions, np.uint8(ONE if one else ZERO)),
            np.concatenate([circuit.sources, np.zeros((1, 2), np.int64)]),
            np.append(circuit.outputs, node),
        )
        errors = np.append(self.draft.errors, self.shop.minority[column])
        return Draft(cleaned(grown, nand=self.shop.settings.nand), errors, False)

    # The end.

    def _finish(self) -> None:
        """Tidy the whole circuit for longer than after a lesson."""
        self._tell(None, int(self.draft.errors.sum()), "tidy")
        if not self.tolerant:
            if self.draft.errors.any() and self._close():
                self._mend()
            self._compete()
            self.tolerant = bool(self.draft.errors.any())
        work = self.shop.settings.tolerate_work if self.tolerant else self.shop.settings.tidy_work
        work = max(2 * work, self.shop.work // 40)

        def again(attempt: int) -> Draft:
            draft, phase = self.draft, tolerate if self.tolerant else tidy
            if not self.tolerant and work >= self.shop.settings.long_walk:
                mended = self._mended(self.taught, draft, work, (JOINT, attempt))
                draft = mended if mended.reached else draft
            return self.shop.run(phase, draft.circuit, self.taught, self._seed(JOINT, attempt), work)

        drafts = [self.draft, *self.control.map(again, range(self.plan.n_tries))]
        self.draft = min(drafts, key=lambda draft: self.shop.length(draft, self.taught))
        if self.tolerant:
            self._back_to_constants()

    def _mend(self) -> None:
        """Mend the errors that unsolved lessons left, now that the circuit can be shortened for all targets together."""
        start = best = self.draft
        idle = -1  # the first time, shortening the circuit may well add errors
        while not best.reached and idle < 2 and not self.control.stop():
            self.draft = self._mended(self.taught, self.draft, MAX_TIDY_WORK, (JOINT, self.n_mends))
            self.n_mends += 1
            better = idle < 0 or self.draft.errors.sum() < best.errors.sum() or self.draft.reached
            best, idle = (self.draft, 0) if better else (best, idle + 1)
        # After an early stop the circuit may be worse than at the start.
        self.draft = best if best.reached else min(start, best, key=lambda draft: self.shop.length(draft, self.taught))
        self.unsolved = self._close() and not best.reached

    def _compete(self) -> None:
        """Let joint starts compete if the lessons failed: errors are left, or the circuit is longer than the labels."""
        failed = bool(self.draft.errors.any())
        labels = sum(map(self.shop.label_bits, self.taught))
        if self.control.stop() or not (failed or self.shop.length(self.draft, self.taught) > labels):
            return
        most_gates = self.draft.n_gates + (self.shop.settings.spare_gates if failed else MORE_GATES)
        rivals = joint_drafts(self.shop, self.taught, most_gates, JOINT_STARTS * self.plan.n_tries)
        if rivals:
            best = min(rivals, key=lambda draft: draft.n_gates)
            self.draft = best if failed or best.n_gates < self.draft.n_gates else self.draft
            self.unsolved = False

    def _close(self) -> bool:
        """Return whether so few labels are wrong that mending is worth the time."""
        return int(self.draft.errors.sum()) * 20 <= sum(self.shop.known)

    def _back_to_constants(self) -> None:
        """Replace the circuit of a target by a constant if that is hardly longer: naming an output's node is not free."""
        for place, column in enumerate(self.taught):
            others = [k for k in range(len(self.taught)) if k != place]
            whole, taught = self.draft, self.taught
            self.taught = [taught[k] for k in others]
            self.draft = Draft(select_outputs(whole.circuit, others), whole.errors[others], False)
            constant = self._with_constant(column)
            back = [*range(place), len(others), *range(place, len(others))]
            self.taught = taught
            plain = Draft(select_outputs(constant.circuit, back), constant.errors[back], False)
            shorter = self.shop.length(plain, taught) <= self.shop.length(whole, taught) + self._margin(whole.circuit, place)
            self.draft = plain if shorter else whole

    def _leave_out(self) -> None:
        """Give the targets that were not taught in time the best trial so far, or a constant."""
        if self._fallback is not None and self._fallback[0][0] == -len(self.taught) - 1:
            self._teach(self._fallback[0][2], self._fallback[1])
        for column in list(self.remaining):
            self._teach(column, self._with_constant(column))

    def _result(self) -> SchoolResult:
        places = [self.taught.index(column) for column in range(len(self.taught))]
        circuit = cleaned(select_outputs(self.draft.circuit, places), nand=self.shop.settings.nand)
        return SchoolResult(
            circuit=circuit,
            errors=self.draft.errors[places],
            order=tuple(self.taught),
            length=self.shop.length(self.draft, self.taught),
            n_gates=self.draft.n_gates,
            tolerant=self.tolerant,
            unsolved=self.unsolved,
            work=self.shop.work,
        )


def _contradictory(examples: PackedExamples) -> bool:
    """Return whether rows with equal inputs have different known values of a target, so that no circuit is exact."""
    n = examples.n_examples
    _, group = np.unique(unpack(examples.inputs, n), axis=0, return_inverse=True)
    targets, known = unpack(examples.targets, n), unpack(examples.known, n)
    for column, there in zip(targets.T, known.T, strict=True):
        ones, all_known = np.bincount(group[there & column]), np.bincount(group[there])
        if (ones != 0).any() and ((ones > 0) & (ones < all_known[: len(ones)])).any():
            return True
    return False
