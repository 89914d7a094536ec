"""`learn_vote`: from a table to a model of voting circuits, and one circuit that says in short what they say."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix
from gradus._core.run import Run
from gradus._lessons.learn import LearnResult, LearnSettings, learn_with
from gradus._tables.model import Model
from gradus._tables.sizes import Sized, SizesTask, learn_sizes, shown_place, size_curve
from gradus._tables.voters import Learner, TableExamples, Voter, frequent_first, join_voters, learn_voter

__all__ = ["N_VOTERS", "learn_vote"]

N_VOTERS = 25
VOTER_NOISE = 0.0001
"""Share of wrong labels that voters expect: so little that a single row of a rare class is worth a gate. Each voter may
overfit in its own way, and the vote evens that out."""
SINGLE_NOISE = 0.005
SINGLE_WORK = 4  # voters that can be learned in the time which the circuit from their vote takes
VOTING_TIME = 0.75
"""Share of the time left in which voters are learned; the rest is for the circuit that is learned from their vote."""


def learn_vote(
    examples: TableExamples, settings: LearnSettings, run: Run, most: int | None = None
) -> tuple[Model, tuple[int, ...], str | None]:
    """Learn circuits that vote, and one from their vote that is shown; also the order of its outputs and what stopped it.

    `most` is the largest number of gates of the one that is shown.
    """
    n_voters, left = settings.n_circuits or N_VOTERS, run.seconds_left()
    run.expect(n_voters + SINGLE_WORK)
    voting = run.part(seconds=None if left is None else VOTING_TIME * left, weight=n_voters)
    voters = _learn_voters(examples, settings, voting, n_voters)
    features, networks = join_voters(voters, examples.encoding)
    inputs = features.encode(examples.columns)
    vote = Model.fit(networks, features, examples.targets, inputs, examples.codes)
    sized = _learn_sizes(SizesTask(voters, vote, examples, settings.seed, settings.gates == "nand", most), settings, run)
    stopped = run.stopped or voting.stopped
    if not sized or not sized[-1].complete:
        networks = [one.network for one in sized] + networks
        model = Model.fit(networks, features, examples.targets, inputs, examples.codes)
        best = int(np.argmin([_errors(model, number, inputs, examples.codes) for number in range(len(networks))]))
        orders = [*(one.order for one in sized), *(voter.order for voter in voters)]
        return model.with_best(best), orders[best], stopped
    place = shown_place(sized, most)
    shown = [sized[place].network, *networks]
    model = replace(Model.fit(shown, features, examples.targets, inputs, examples.codes), apart=True)
    model.about["size_curve"] = size_curve(sized, place, model)
    return model, sized[place].order, stopped


def _learn_voters(examples: TableExamples, settings: LearnSettings, run: Run, n_voters: int) -> list[Voter]:
    """Learn as many voters as there is time for, at least one."""

    def learn_one(number: int) -> Voter | None:
        if number and run.stop():
            return None
        part = run.part(weight=1, describe=_described(f"circuit {number + 1} of {n_voters}"))
        try:
            return learn_voter(examples, _learner(settings, part, noise=VOTER_NOISE, n_tries=1), settings.seed, number)
        except KeyboardInterrupt:  # those that are complete vote
            run.interrupt()
            return None

    run.expect(n_voters)
    voters = [voter for voter in run.map(learn_one, range(n_voters)) if voter is not None]
    if not voters:  # none was handed in before a stop
        voters = [learn_voter(examples, _learner(settings, run, noise=VOTER_NOISE, n_tries=1), settings.seed, 0)]
    return [voter for voter in voters if voter.complete] or voters[:1]


def _learn_sizes(task: SizesTask, settings: LearnSettings, run: Run) -> list[Sized]:
    """Learn circuits from a vote, small ones first; none if there is no time to begin."""
    if run.stop():
        return []
    part = run.part(weight=SINGLE_WORK, describe=_described("circuits from their vote"))
    try:
        return learn_sizes(task, partial(_learner, settings, noise=SINGLE_NOISE), part)
    except KeyboardInterrupt:
        run.interrupt()
        return []


def _described(detail: str) -> Any:
    return lambda progress: replace(progress, detail=detail)


def _learner(settings: LearnSettings, run: Run, *, noise: float, n_tries: int) -> Learner:
    """Return what learns one circuit."""

    def learn_one(inputs: BoolMatrix, outputs: npt.NDArray[Any], seed: int) -> LearnResult:
        self_paced = isinstance(settings.order, str) and settings.order == "self-paced"
        alone = replace(
            settings,
            order=frequent_first(outputs) if self_paced else settings.order,
            noise=noise if settings.noise == "auto" else settings.noise,
            n_tries=n_tries,
            n_circuits=1,
            seed=seed,
        )
        return learn_with(inputs, outputs, alone, run)

    return learn_one


def _errors(model: Model, number: int, inputs: BoolMatrix, codes: npt.NDArray[np.int64]) -> int:
    """Return how many classes one of the circuits gets wrong."""
    alone = replace(model, networks=model.networks[number:][:1], readers=model.readers[number:][:1])
    return int(((np.column_stack(alone.predict_codes(inputs)) != codes) & (codes >= 0)).sum())
