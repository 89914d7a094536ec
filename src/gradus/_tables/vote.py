"""`learn_vote`: from a table to a model of voting circuits, with time limits, progress and Ctrl-C."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix
from gradus._core.kernels.clock import work_clock
from gradus._core.run import Callback, Progress
from gradus._lessons.control import Control
from gradus._lessons.learn import LearnResult, Order, learn
from gradus._tables.distilling import distil
from gradus._tables.model import Model
from gradus._tables.voters import TableExamples, Voter, frequent_first, join_voters, learn_voter

__all__ = ["N_VOTERS", "VoteSettings", "learn_vote"]

N_VOTERS = 25
VOTER_NOISE = 0.0001
"""Share of wrong labels that voters expect: so little that a single row of a rare class is worth a gate. Each voter may
overfit in its own way, and the vote evens that out."""
SINGLE_NOISE = 0.005
SINGLE_WORK = 4  # voters that can be learned in the time which the circuit from their vote takes
VOTING_TIME = 0.75
"""Share of a time limit in which voters are learned; the rest is for the circuit that is learned from their vote."""


@dataclass(frozen=True, kw_only=True)
class VoteSettings:
    """How voters are learned; the attributes are those of `gradus.learn`."""

    order: Order
    gates: Literal["any", "nand"]
    noise: float | Literal["auto"]
    n_tries: int
    n_circuits: int | None
    time_limit: float | None
    seed: int
    n_jobs: int


def learn_vote(
    examples: TableExamples, settings: VoteSettings, callback: Callback | None
) -> tuple[Model, tuple[int, ...], str | None]:
    """Learn circuits that vote, and one more from their vote."""
    run = _VoteRun(examples, settings, callback)
    run.learn_voters()
    voters = [run.voters[number] for number in sorted(run.voters)]
    features, networks = join_voters(voters, examples.encoding)
    inputs = features.encode(examples.columns)
    vote = Model.fit(networks, features, examples.targets, inputs, examples.codes)
    single = run.distil(vote)
    if single is not None:
        voters, networks = [single, *voters], [single.network, *networks]
    model = Model.fit(networks, features, examples.targets, inputs, examples.codes)
    best = 0
    if not run.distilled:
        best = int(np.argmin([_errors(model, number, inputs, examples.codes) for number in range(len(networks))]))
    return model.led_by(best), voters[best].order, run.stopped


class _VoteRun:
    """Learns circuits one after another, or in threads, within one time limit and with one callback."""

    def __init__(self, examples: TableExamples, settings: VoteSettings, callback: Callback | None) -> None:
        self.examples, self.settings = examples, settings
        self.n_voters = settings.n_circuits or N_VOTERS
        self.voters: dict[int, Voter] = {}
        self.begin = work_clock()
        self.control = _VoteControl(settings.time_limit, callback, settings.n_jobs, self.n_voters + 1)
        self.out_of_time = False
        self.distilled = False

    @property
    def stopped(self) -> str | None:
        """What ended the work early."""
        return self.control.stopped or ("time_limit" if self.out_of_time else None)

    def learn_voters(self) -> None:
        """Learn as many voters as there is time for, at least one."""
        try:
            self.control.map(self._add_voter, range(self.n_voters))
        except KeyboardInterrupt:
            if not self.voters:
                raise
            self.control.stopped = "interrupted"

    def _add_voter(self, number: int) -> None:
        if self.voters and (self.control.stop() or self.out_of_time):
            return

        def learner(inputs: BoolMatrix, outputs: npt.NDArray[Any], seed: int) -> LearnResult | None:
            result = self._learn(number, inputs, outputs, seed, VOTER_NOISE, 1, VOTING_TIME)
            return None if result.stopped and self.voters else result

        voter = learn_voter(self.examples, learner, self.settings.seed, number)
        if voter is not None:
            self.voters[number] = voter

    def distil(self, vote: Model) -> Voter | None:
        """Learn one circuit from a vote; None if there is no time to begin."""
        if self.control.stop():
            return None

        def learner(inputs: BoolMatrix, outputs: npt.NDArray[Any], seed: int) -> LearnResult | None:
            result = self._learn(self.n_voters, inputs, outputs, seed, SINGLE_NOISE, self.settings.n_tries, 1.0)
            self.distilled = result.stopped is None
            return result

        try:
            return distil(vote, self.examples, learner, self.settings.seed)
        except KeyboardInterrupt:
            self.control.stopped = "interrupted"
            return None

    def _learn(
        self,
        number: int,
        inputs: BoolMatrix,
        outputs: npt.NDArray[Any],
        seed: int,
        noise: float,
        n_tries: int,
        share_of_time: float,
    ) -> LearnResult:
        """Learn a circuit; `share_of_time` is the part of the time limit at whose end it must be there."""
        settings = self.settings
        limit = settings.time_limit
        result = learn(
            inputs,
            outputs,
            order=frequent_first(outputs)
            if isinstance(settings.order, str) and settings.order == "self-paced"
            else settings.order,
            gates=settings.gates,
            noise=noise if settings.noise == "auto" else settings.noise,
            n_tries=n_tries,
            n_circuits=1,
            time_limit=None if limit is None else max(self.begin + share_of_time * limit - work_clock(), 0.0),
            seed=seed,
            callback=lambda progress: self._tell(number, progress),
        )
        self.out_of_time |= result.stopped == "time_limit"
        if result.stopped == "interrupted":
            self.control.stopped = "interrupted"
        learned = Progress(stage="learn", done=1, total=1, errors=int(result.errors.sum()), gates=result.n_gates)
        self.control.report(number, learned, 1.0)
        return result

    def _tell(self, number: int, progress: Progress) -> bool:
        self.control.report(number, progress, progress.fraction or 0.0)
        return self.control.stop()


class _VoteControl(Control):
    """Says how far the voters are, and then the circuit that is learned from their vote."""

    def _progress(self, elapsed: float) -> Progress:
        progress = super()._progress(elapsed)
        *voters, single = self._shares
        share = (sum(voters) + SINGLE_WORK * single) / (len(voters) + SINGLE_WORK)
        eta = elapsed * (1 - share) / share if share > 0 else None
        if eta is not None and self._limit is not None:
            eta = min(eta, self._limit - elapsed)
        number = self._latest[0] + 1
        detail = f"circuit {number} of {len(voters)}" if number <= len(voters) else "one circuit from their vote"
        return replace(progress, eta=eta, detail=detail)


def _errors(model: Model, number: int, inputs: BoolMatrix, codes: npt.NDArray[np.int64]) -> int:
    """Return how many classes one of the circuits gets wrong."""
    alone = replace(model, networks=model.networks[number:][:1], readers=model.readers[number:][:1])
    return int(((np.column_stack(alone.predict_codes(inputs)) != codes) & (codes >= 0)).sum())
