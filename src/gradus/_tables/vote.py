"""`learn_vote`: from a table to a model of voting circuits, and one short circuit that imitates them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._circuit import Network
from gradus._core.bits import BoolMatrix
from gradus._core.plain import digest_of
from gradus._core.run import Run
from gradus._lessons.learn import LearnSettings, learn_with
from gradus._lessons.result import LearnResult
from gradus._tables.model import Model
from gradus._tables.pairs import are_pairs_tried, learn_pairs, recoded
from gradus._tables.read_voters import led_by, read_voters
from gradus._tables.sizes import Sized, SizesTask, learn_sizes, shown_place, size_curve
from gradus._tables.voters import Learner, TableExamples, Voter, folds_of_rows, frequent_first, learn_voter

__all__ = ["LARGE_GROWTH", "N_VOTERS", "VOTER_NOISE", "learn_vote", "learner_of"]

N_VOTERS, LARGE_VOTERS = 25, 10
"""Circuits that vote, and on large tables, where each is better and takes longer."""
MOST_READ = 32_768
"""Rows by which voters are read and circuits from their vote are learned."""
VOTER_NOISE = 0.0001
"""Share of wrong labels that voters expect: few enough that a single row of a rare class is worth a gate. Each voter may
overfit in its own way, and the vote evens that out."""
VOTER_GROWTH = 0
"""Work of a voter's growth: one of many, it need not be the best."""
LARGE_GROWTH = 300_000_000
"""The same for large tables, where a circuit of usual size leaves most unexplained."""
SINGLE_NOISE = 0.005
READING_WORK, SINGLE_WORK = 25, 50
"""Voters that can be learned in the time which reading them takes, and in that of the circuits from their vote."""
VOTING_TIME = 0.75
"""Share of the time left in which voters are learned; the rest is for the circuit that is learned from their vote."""


def learn_vote(
    examples: TableExamples, settings: LearnSettings, run: Run, most: int | None = None
) -> tuple[Model, tuple[int, ...], str | None]:
    """Learn circuits that vote, and one from their vote that is shown; also the order of its outputs and what stopped it.

    `most` is the largest number of gates of the one that is shown.
    """
    usual = LARGE_VOTERS if examples.is_large else N_VOTERS
    n_voters, left = settings.n_circuits or usual, run.seconds_left()
    run.expect(n_voters + READING_WORK + SINGLE_WORK)
    voting = run.part(seconds=None if left is None else VOTING_TIME * left, weight=n_voters)
    voters = _learn_voters(examples, settings, voting, n_voters)
    folds = folds_of_rows(examples.codes, settings.seed)
    if examples.n_rows > MOST_READ:
        rows = (np.arange(MOST_READ) * examples.n_rows) // MOST_READ
        voters = [replace(voter, rows=np.flatnonzero(np.isin(rows, voter.rows))) for voter in voters]
        examples, folds = examples.take(rows), folds[rows]
    voting.complete()
    reading = run.part(weight=READING_WORK)
    vote, inputs = read_voters(voters, examples, reading)
    reading.complete()
    task = SizesTask(voters, vote, examples, folds, settings.seed, settings.gates == "nand", most)
    sized = _learn_sizes(task, settings, run)
    stopped = run.stopped or voting.stopped
    if not sized or not sized[-1].complete:
        best, order = _fewest_errors(vote, sized, voters, examples, inputs)
        return led_by(vote, best, examples, inputs), order, stopped
    place, targets = shown_place(sized, most), examples.targets
    coded = sized[place].target
    if coded is not None:
        vote, examples = recoded(vote, coded), replace(examples, targets=(coded,))
    model = led_by(vote, sized[place].network, examples, inputs)
    model.about["size_curve"] = size_curve(sized, place, model, targets)
    return model, sized[place].order, stopped


def _fewest_errors(
    vote: Model, sized: Sequence[Sized], voters: Sequence[Voter], examples: TableExamples, inputs: BoolMatrix
) -> tuple[Network, tuple[int, ...]]:
    """Return the circuit that is right most often by itself, where there was no time for one from the vote."""
    networks = [*(entry.network for entry in sized), *vote.networks]
    orders = [*(entry.order for entry in sized), *(voter.order for voter in voters)]
    errors = []
    for network in networks:
        alone = Model.fit([network], vote.features, examples.targets, inputs, examples.codes, examples.weights)
        codes = np.column_stack(alone.predict_codes(inputs))
        errors.append(int(((codes != examples.codes) & (examples.codes >= 0)).sum()))
    best = int(np.argmin(errors))
    return networks[best], orders[best]


def _learn_voters(examples: TableExamples, settings: LearnSettings, run: Run, n_voters: int) -> list[Voter]:
    """Learn as many voters as there is time for, at least one."""
    growth = LARGE_GROWTH if examples.is_large else VOTER_GROWTH

    of_all: list[str] = []

    def key(number: int) -> str:  # only where there is a checkpoint: digests of large tables take long
        if not of_all:
            of_all.append(digest_of("voter", examples.digest, settings))
        return digest_of(of_all[0], number)

    def learn_one(number: int) -> Voter | None:
        if number and run.stop():
            return None
        part = run.part(weight=1, describe=_described(f"circuit {number + 1} of {n_voters}"))
        try:
            learner = learner_of(settings, part, noise=VOTER_NOISE, n_tries=1, growth=growth)
            return _recalled(part, partial(key, number), partial(learn_voter, examples, learner, settings.seed, number))
        except KeyboardInterrupt:  # those that are complete vote
            run.interrupt()
            return None

    run.expect(n_voters)
    voters = [voter for voter in run.map(learn_one, range(n_voters)) if voter is not None]
    if not voters:  # none had come back before a stop
        voters = [
            learn_voter(examples, learner_of(settings, run, noise=VOTER_NOISE, n_tries=1, growth=growth), settings.seed, 0)
        ]
    return [voter for voter in voters if voter.complete] or voters[:1]


def _learn_sizes(task: SizesTask, settings: LearnSettings, run: Run) -> list[Sized]:
    """Learn circuits from a vote, small ones first; none if there is no time to begin."""
    if run.stop():
        return []
    part = run.part(weight=SINGLE_WORK, describe=_described("circuits from their vote"))
    sized: list[Sized] = []
    try:
        sized = learn_sizes(task, partial(learner_of, settings, noise=SINGLE_NOISE), part)
        if are_pairs_tried(task, sized):
            run.expect(len(task.voters) + READING_WORK + 2 * SINGLE_WORK)
            part = run.part(weight=SINGLE_WORK, describe=_described("comparisons of classes"))
            pairs = learn_pairs(task, sized[-1], partial(learner_of, replace(settings, order=None), noise=SINGLE_NOISE), part)
            return [*sized, *pairs]
        return sized
    except KeyboardInterrupt:
        run.interrupt()
        return sized


def _recalled(run: Run, key: Callable[[], str], learn: Callable[[], Voter]) -> Voter:
    """Return a voter from the checkpoint, or learn it."""
    new: list[Voter] = []

    def document() -> dict[str, Any]:
        new.append(learn())
        return new[0].to_json()

    known = run.recall(key, document, fits=Voter.from_json)
    run.complete()
    return new[0] if new else Voter.from_json(known)


def _described(detail: str) -> Any:
    return lambda progress: replace(progress, detail=detail)


def learner_of(settings: LearnSettings, run: Run, *, noise: float, n_tries: int, growth: int = VOTER_GROWTH) -> Learner:
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
            growth_work=growth,
        )
        return learn_with(inputs, outputs, alone, run)

    return learn_one
