"""`learn_vote`: from a table to a model of voting circuits, and one circuit that says what they say.

From few rows many circuits without an error can be learned, and nothing tells which of them is right on other rows; the
vote knows better. So it is asked about rows that might have been: pairs of rows which have exchanged some of their columns.
Half of the pairs are of one class, and lie where rows are likely; the others are any two rows, and lie between the classes,
where circuits differ. A circuit learned from these and the real rows is nearly as good as the vote, and can still be read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gradus._core.bits import BoolMatrix
from gradus._core.run import Run
from gradus._lessons.learn import LearnResult, LearnSettings, learn_with
from gradus._tables.model import Model
from gradus._tables.voters import Learner, TableExamples, Voter, frequent_first, join_voters, learn_voter, outputs_of

__all__ = ["N_VOTERS", "distil", "learn_vote", "recombine_rows"]

N_VOTERS = 25
VOTER_NOISE = 0.0001
"""Share of wrong labels that voters expect: so little that a single row of a rare class is worth a gate. Each voter may
overfit in its own way, and the vote evens that out."""
VOTER_GROWTH = 0
"""Work of a voter's growth: one of many, it need not be the best."""
SINGLE_NOISE = 0.005
SINGLE_WORK = 4  # voters that can be learned in the time which the circuit from their vote takes
VOTING_TIME = 0.75
"""Share of the time left in which voters are learned; the rest is for the circuit that is learned from their vote."""
N_ROWS = 750  # of either kind, that a vote is asked about
EXCHANGED = 0.4  # share of a row's columns that come from another row

Ints = npt.NDArray[np.int64]


def learn_vote(examples: TableExamples, settings: LearnSettings, run: Run) -> tuple[Model, tuple[int, ...], str | None]:
    """Learn circuits that vote, and one more from their vote; returns also the order of its outputs and what stopped it."""
    n_voters, left = settings.n_circuits or N_VOTERS, run.seconds_left()
    run.expect(n_voters + SINGLE_WORK)
    voting = run.part(seconds=None if left is None else VOTING_TIME * left, weight=n_voters)
    voters = _learn_voters(examples, settings, voting, n_voters)
    features, networks = join_voters(voters, examples.encoding)
    inputs = features.encode(examples.columns)
    vote = Model.fit(networks, features, examples.targets, inputs, examples.codes)
    single = _learn_single(vote, examples, settings, run)
    if single is not None:
        voters, networks = [single, *voters], [single.network, *networks]
    model = Model.fit(networks, features, examples.targets, inputs, examples.codes)
    best = 0
    if single is None or not single.complete:
        best = int(np.argmin([_errors(model, number, inputs, examples.codes) for number in range(len(networks))]))
    return model.with_best(best), voters[best].order, run.stopped or voting.stopped


def _learn_voters(examples: TableExamples, settings: LearnSettings, run: Run, n_voters: int) -> list[Voter]:
    """Learn as many voters as there is time for, at least one."""

    def learn_one(number: int) -> Voter | None:
        if number and run.stop():
            return None
        part = run.part(weight=1, describe=_described(f"circuit {number + 1} of {n_voters}"))
        try:
            return learn_voter(examples, _learner(settings, part, VOTER_NOISE, 1), settings.seed, number)
        except KeyboardInterrupt:  # those that are complete vote
            run.interrupt()
            return None

    run.expect(n_voters)
    voters = [voter for voter in run.map(learn_one, range(n_voters)) if voter is not None]
    if not voters:  # none was handed in before a stop
        voters = [learn_voter(examples, _learner(settings, run, VOTER_NOISE, 1), settings.seed, 0)]
    return [voter for voter in voters if voter.complete] or voters[:1]


def _learn_single(vote: Model, examples: TableExamples, settings: LearnSettings, run: Run) -> Voter | None:
    """Learn one circuit from a vote; None if there is no time to begin."""
    if run.stop():
        return None
    part = run.part(weight=SINGLE_WORK, describe=_described("one circuit from their vote"))
    try:
        return distil(vote, examples, _learner(settings, part, SINGLE_NOISE, settings.n_tries), settings.seed)
    except KeyboardInterrupt:
        run.interrupt()
        return None


def _described(detail: str) -> Any:
    return lambda progress: replace(progress, detail=detail)


def _learner(settings: LearnSettings, run: Run, noise: float, n_tries: int) -> Learner:
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
            growth_work=VOTER_GROWTH,
        )
        return learn_with(inputs, outputs, alone, run)

    return learn_one


def _errors(model: Model, number: int, inputs: BoolMatrix, codes: npt.NDArray[np.int64]) -> int:
    """Return how many classes one of the circuits gets wrong."""
    alone = replace(model, networks=model.networks[number:][:1], readers=model.readers[number:][:1])
    return int(((np.column_stack(alone.predict_codes(inputs)) != codes) & (codes >= 0)).sum())


def distil(model: Model, examples: TableExamples, learner: Learner, seed: int) -> Voter:
    """Learn one circuit from the rows of a table and from what a vote says about rows like them."""
    rng = np.random.default_rng([seed, len(model.networks)])
    inputs = model.features.encode(examples.columns)
    voted = np.column_stack(model.predict_codes(inputs))
    columns, any_class = np.array(model.features.input_columns), np.zeros_like(voted)
    more = np.vstack([recombine_rows(inputs, columns, classes, N_ROWS, rng) for classes in (voted, any_class)])
    given = np.where(examples.codes >= 0, examples.codes, voted)
    codes = np.vstack([given, np.column_stack(model.predict_codes(more))])
    result = learner(np.vstack([inputs, more]), outputs_of(model.targets, codes), int(rng.integers(0, 1 << 31)))
    return Voter(model.features, result.network, result.order, result.stopped is None)


def recombine_rows(inputs: BoolMatrix, columns: Ints, classes: Ints, n_rows: int, rng: np.random.Generator) -> BoolMatrix:
    """Make rows of two rows of the same classes each; inputs that come from one column (`columns`) stay together."""
    _, group = np.unique(classes, axis=0, return_inverse=True)
    group = group.ravel()
    by_group = np.argsort(group, kind="stable")
    sizes = np.bincount(group)
    starts = np.cumsum(sizes) - sizes
    first = rng.integers(0, len(inputs), n_rows)
    size, start = sizes[group[first]], starts[group[first]]
    second = by_group[start + np.floor(rng.random(n_rows) * size).astype(np.int64)]
    exchanged = rng.random((n_rows, int(columns.max(initial=0)) + 1)) < EXCHANGED
    return np.where(exchanged[:, columns], inputs[second], inputs[first])
