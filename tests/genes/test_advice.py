"""What the data leave open: candidates, what they disagree about, and the experiments that would decide it."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradus._core.run import Run
from gradus.errors import DataError, SettingsError
from gradus.genes import YEAST_SERIES, Series, infer
from gradus.genes._advice import _few, _question, advise
from gradus.genes._advice_kernel import Choices, Draws, expected_bits
from gradus.genes._candidates import Candidate, candidates, is_settled, open_question, summed_share, weighed_rules
from gradus.genes._edges import EdgePrior
from gradus.genes._learning import learn_genes
from gradus.genes._posterior import NATS_GROWN, search_sets, target_posterior
from gradus.genes._priors import MOST_INPUTS, SHARES, SetPrior, flip_rate, rule_prior
from gradus.genes._results import rests_on
from gradus.genes._transitions import TargetEvidence

QUICK = {"leave_out": False, "attractors": False}


@pytest.fixture(scope="module")
def yeast():
    return infer(YEAST_SERIES, leave_out=False)


def slow_shares(inputs, nexts, rate, k):
    """Posterior of each structured rule of all k inputs among all their rules, one function at a time."""
    prior, cells = rule_prior(k), inputs @ (1 << np.arange(k))
    weights = {}
    for signs in range(1 << k):
        for table, weight in zip(prior.tables.tolist(), prior.weights[:, signs], strict=True):
            turned = sum(1 << (cell ^ signs) for cell in range(1 << k) if table >> cell & 1)
            weights[turned] = weights.get(turned, 0.0) + weight / (1 << k)
    for number in range(1 << (1 << k)):
        weights.setdefault(-1 - number, SHARES["any"] / (1 << (1 << k)))

    def likelihood(table):
        wrong = ((table >> cells) & 1 != nexts).sum()
        return rate**wrong * (1 - rate) ** (len(nexts) - wrong)

    joint = {table: weight * likelihood(table if table >= 0 else -1 - table) for table, weight in weights.items()}
    return {table: value / sum(joint.values()) for table, value in joint.items() if table >= 0}


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 10_000), k=st.integers(1, 3), rate=st.sampled_from([0.01, 0.1]))
def test_shares_of_rules_are_those_of_the_slow_twin(seed, k, rate):
    rng = np.random.default_rng(seed)
    inputs = (rng.random((12, k)) < 0.5).astype(np.uint8)
    nexts = (inputs.any(axis=1) ^ (rng.random(12) < 0.1)).astype(np.uint8)
    target = TargetEvidence(inputs, nexts, np.ones(12, np.int64), 1.0)
    prior = SetPrior(np.arange(k), np.zeros(k), np.zeros((k, 2)))
    posterior = target_posterior(search_sets(target, prior, flip_rate(rate), Run()), Run())
    found, slow = weighed_rules(posterior), slow_shares(inputs, nexts, rate, k)
    for number, ranked in enumerate(posterior.sets):
        if len(ranked.features) == k:
            own = found.sets[: found.listed] == number
            for table, share in zip(found.tables[: found.listed][own], found.shares[: found.listed][own], strict=True):
                assert share / ranked.weight == pytest.approx(slow[int(table)], abs=0.01)
    assert found.shares.sum() == pytest.approx(sum(ranked.weight for ranked in posterior.sets))


def test_the_first_candidate_is_the_rule_that_is_shown(yeast):
    for target, rule in zip(yeast.model.targets, yeast.model.rules, strict=True):
        first, *others = candidates(target)
        assert tuple(yeast.model.genes[g] for g in first.features) == rule.regulators
        assert tuple(first.table >> cell & 1 for cell in range(len(rule.table))) == rule.table
        assert all(first.share >= other.share >= 0.01 for other in others)
        assert first.flips == pytest.approx(yeast.model.flips.rate)
        assert len({(other.features, other.table) for other in candidates(target)}) == 1 + len(others)


def test_frames_say_what_is_decided_and_what_is_open(yeast):
    rules, left = yeast.rules, yeast.candidates
    assert (left[left["rank"] == 1]["rule"].tolist()) == rules["rule"].tolist()
    assert (rules["decided"] == (rules["question"] == "")).all()
    assert left.groupby("target")["share"].sum().max() <= 1 + 1e-9
    many = infer(
        [Series(["a", "b"], np.array(s, float)) for s in itertools.repeat([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]], 9)]
    )
    assert many.rules["decided"].all()
    assert set(many.rules["question"]) == {""}
    assert many.rules["share"].min() > 0.95
    assert many.attractors["rests_on"].tolist() == [""]


def slow_summed_share(target):
    """What the scored sets hold, beside every set near the best one scored in full, one at a time."""
    scored, own = target.scored, set(target.best_rule.features)
    listed = {scored.genes(k): float(mass) for k, mass in enumerate(scored.masses())}
    genes = range(len(scored.tables.gene_odds))
    near = [
        chosen
        for size in range(len(own), MOST_INPUTS + 1)
        for chosen in itertools.combinations(genes, size)
        if own < set(chosen) or (size == len(own) and len(own & set(chosen)) == size - 1)
    ]
    total = sum(mass for chosen, mass in listed.items() if chosen not in near or mass > np.exp(-NATS_GROWN))
    total += sum(scored.summed([chosen])[0] for chosen in near if listed.get(chosen, 0.0) <= np.exp(-NATS_GROWN))
    return sum(listed.values()) / total


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 10_000), rows=st.integers(1, 40), rate=st.sampled_from([0.0, 0.05]))
def test_what_the_search_left_out_is_that_of_the_slow_twin(seed, rows, rate):
    rng = np.random.default_rng(seed)
    inputs = (rng.random((rows, 7)) < 0.5).astype(np.uint8)
    nexts = inputs[:, 0] & ~inputs[:, 1] & 1
    target = TargetEvidence(inputs, nexts, np.ones(rows, np.int64), 1.0)
    prior = SetPrior(np.arange(7), np.zeros(7), np.zeros((7, 2)))
    posterior = target_posterior(search_sets(target, prior, flip_rate(rate), Run()), Run())
    assert summed_share(posterior) == pytest.approx(slow_summed_share(posterior))
    best = posterior.best_rule
    assert candidates(posterior)[0].share == pytest.approx(best.weight * best.table_share * summed_share(posterior))


def test_among_many_genes_some_of_the_sets_left_out_stand_for_all():
    rng = np.random.default_rng(1)
    inputs = (rng.random((16, 40)) < 0.5).astype(np.uint8)
    target = TargetEvidence(inputs, inputs[:, 0] & inputs[:, 1], np.ones(16, np.int64), 1.0)
    prior = SetPrior(np.arange(40), np.zeros(40), np.zeros((40, 2)))
    posterior = target_posterior(search_sets(target, prior, flip_rate(0.0), Run()), Run())
    assert 0 < summed_share(posterior) == summed_share(posterior) < 1
    assert candidates(posterior, stopped=True)[0].share > candidates(posterior)[0].share


def test_large_rules_and_rules_of_noisy_data_are_not_decided():
    assert Candidate((0, 1, 2, 3), 1, 0.99).decided
    assert not Candidate((0, 1, 2, 3), 1, 0.94).decided
    large = Candidate((0, 1, 2, 3, 4), 1, 0.99)
    assert not large.decided
    nothing = TargetEvidence(np.zeros((0, 5), np.uint8), np.zeros(0, np.uint8), np.zeros(0, np.int64), 1.0)
    assert "more than 4 genes" in open_question([large], "abcde", nothing)
    noisy = Candidate((0,), 2, 0.99, 0.06)
    assert not noisy.decided
    assert "noisy" in open_question([noisy], "abcde", nothing)
    assert Candidate((0,), 2, 0.99, 0.04).decided
    assert "many rules" in open_question([Candidate((0,), 2, 0.5)], "abcde", nothing)


A, B, C = range(3)
AND, OR, FIRST = 0b1000, 0b1110, 0b10


@pytest.mark.parametrize(
    ("best", "rival", "seen", "words"),
    [
        (((A,), FIRST), ((A, B), AND), [[1, 1, 0]], "whether b acts with a: no state has shown it"),
        (((A,), FIRST), ((A, B), OR), [[0, 1, 0], [0, 0, 0]], "whether b acts without a: 1 state of 2 bear on it"),
        (((A,), FIRST), ((B,), FIRST), [[1, 1, 0]], "which acts (a or b): no state has shown it"),
        (
            ((A, B), AND),
            ((A, B), OR),
            [[2, 0, 0]],
            "whether it is on, for instance with a and without b: no state has shown it",
        ),
        (((A,), FIRST), ((A, B, C), 0b10000000), [[1, 1, 1]], "whether b and c act with a: no state has shown it"),
    ],
)
def test_what_candidates_disagree_about_is_said_in_words(best, rival, seen, words):
    left = [Candidate(*best, 0.6), Candidate(*rival, 0.4)]
    evidence = TargetEvidence(np.array(seen, np.uint8), np.zeros(len(seen), np.uint8), np.ones(len(seen), np.int64), 1.0)
    assert open_question(left, "abc", evidence) == words
    assert open_question([Candidate(*best, 0.99), left[1]], "abc", evidence) == ""


def test_an_attractor_rests_on_a_rule_only_where_its_candidates_differ():
    left = [Candidate((A,), FIRST, 0.6), Candidate((A, B), OR, 0.4)]
    assert is_settled(left, {A: 1, B: 0})
    assert is_settled(left, {A: 0, B: 0})
    assert not is_settled(left, {A: 0, B: 1})
    assert not is_settled(left, {A: 0})
    assert is_settled([Candidate((), 1, 0.9)], {})


def test_attractors_that_hang_on_an_undecided_rule_are_marked(yeast):
    names = set(yeast.model.genes)
    marks = [set(rests_on(yeast, attractor)) for attractor in yeast.long_run.attractors]
    assert yeast.attractors["rests_on"].map(lambda text: set(text.split())).tolist() == marks
    assert any(marks)
    assert all(mark <= names for mark in marks)


def slow_bits(choices, draws, start, hold, steps, log_error):
    """Expected bits, one network and one rule at a time."""

    def value(gene, c, state):
        cell = sum(int(state[choices.features[gene, c, i]]) << i for i in range(choices.sizes[gene, c]))
        return int(choices.tables[gene, c]) >> cell & 1

    gained = np.zeros(len(start))
    for s, weight in enumerate(draws.weights):
        states = [list(start)]
        for _ in range(steps):
            now = states[-1]
            states.append([now[g] if g == hold else value(g, draws.picks[s, g], now) for g in range(len(start))])
        for g in range(len(start)):
            if g != hold:
                left = 0.0
                for c in range(choices.counts[g]):
                    wrong = sum(value(g, c, before) != after[g] for before, after in itertools.pairwise(states))
                    left += choices.weights[g, c] * np.exp(draws.behind[s, g, c] + wrong * log_error)
                gained[g] += weight * (-np.log2(left) - draws.known[s, g])
    return gained


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10_000), hold=st.integers(-1, 2), log_error=st.sampled_from([-0.5, -2.0, -6.2]))
def test_expected_bits_are_those_of_the_slow_twin(seed, hold, log_error):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 5, 3)
    weights = rng.random((3, 4)) * (np.arange(4) < counts[:, None])
    features = np.argsort(rng.random((3, 4, 6)), axis=2) % 3
    choices = Choices(
        features, rng.integers(0, 3, (3, 4)), rng.integers(0, 16, (3, 4)).astype(np.uint64),
        weights / weights.sum(axis=1, keepdims=True), counts,
    )  # fmt: skip
    picks = np.column_stack([rng.integers(0, count, 6) for count in counts])
    draws = Draws(picks, np.full(6, 1 / 6), np.zeros((6, 3, 4)), np.zeros((6, 3)))
    for _ in range(2):  # the second time beside what the first has decided
        start = (rng.random(3) < 0.5).astype(np.uint8)
        expected, gained = slow_bits(choices, draws, start, hold, 4, log_error), np.zeros(3)
        total = expected_bits(choices, draws, start, np.arange(3) == hold, 4, log_error, gained, True)
        assert gained == pytest.approx(expected, abs=1e-6)
        assert total == pytest.approx(expected.sum(), abs=1e-6)


def test_the_best_of_all_experiments_is_found_where_they_can_be_listed(yeast):
    question, gained = _question(yeast.model, 9), np.zeros(10)
    every = [np.array(state, np.uint8) for state in itertools.product([0, 1], repeat=10)]
    best = max(question.bits(state, -1, gained) for state in every)
    (chosen,) = yeast.next_experiments(1, hold=())
    assert chosen.bits >= 0.97 * best
    assert chosen.held == {}


def test_many_rules_are_drawn_from_evenly(yeast):
    rules = weighed_rules(yeast.model.targets[2])
    kept, weights = _few(rules.shares, np.random.default_rng(0))
    assert len(rules.shares) > 64 >= len(kept)
    assert weights.sum() == 64
    first = rules.shares.argmax()
    assert weights[kept == first][0] == pytest.approx(64 * rules.shares[first] / rules.shares.sum(), abs=2)


def test_experiments_are_the_same_every_time_and_do_not_decide_the_same(yeast):
    chosen = yeast.next_experiments(4)
    assert chosen == infer(YEAST_SERIES, **QUICK).next_experiments(4)
    assert yeast.next_experiments(2) == chosen[:2]
    assert [each.bits for each in chosen] == sorted((each.bits for each in chosen), reverse=True)
    for each in chosen:
        assert set(each.state) == set(yeast.model.genes)
        assert sum(each.genes.values()) <= each.bits + 1e-9
        assert all(each.state[gene] == value for gene, value in each.held.items())
    assert len({(*each.state.values(), *each.held.items()) for each in chosen}) == 4


def test_only_what_is_allowed_is_advised(yeast):
    allowed = pd.DataFrame(YEAST_SERIES.states[:3].astype(int), columns=YEAST_SERIES.genes)
    rows = {tuple(row) for row in allowed.to_numpy().tolist()}
    for each in yeast.next_experiments(3, states=allowed[allowed.columns[::-1]], hold=()):
        assert tuple(each.state.values()) in rows
        assert not each.held
    held = {gene for each in yeast.next_experiments(3, states=allowed, hold=["SK", "PP"]) for gene in each.held}
    assert held <= {"SK", "PP"}
    for row in range(9):
        given = YEAST_SERIES.part(row, row + 1)
        for each in yeast.next_experiments(3, states=given):
            wanted = zip(each.state, given.states[0], strict=True)
            assert {gene for gene, value in wanted if each.state[gene] != value} <= set(each.held)


def test_an_experiment_that_is_done_is_not_advised_again():
    genes, rng = ["a", "b", "c", "d"], np.random.default_rng(3)

    def follow(state, steps=5):
        states = [np.array(state)]
        for _ in range(steps):
            a, b, c, d = states[-1]
            states.append(np.array([not b, a, a and not d, c]))
        return Series(genes, np.array(states, float))

    series = [follow(rng.random(4) < 0.5)]
    bits = []
    for _ in range(4):
        found = infer(series, **QUICK)
        (chosen,) = found.next_experiments(1, hold=())
        bits.append(chosen.bits)
        series.append(follow([value == 1 for value in chosen.state.values()]))
    assert bits[-1] < bits[0] / 2
    assert infer(series, **QUICK).rules["rule"].tolist() == ["!b", "a", "a & !d", "c"]


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ({"n": 0}, SettingsError, "n is 0"),
        ({"steps": 0}, SettingsError, "steps is 0"),
        ({"hold": ["Cdc99"]}, DataError, "'Cdc99' cannot be held"),
        ({"states": pd.DataFrame({"a": [0]})}, DataError, "other genes"),
        ({"states": Series(YEAST_SERIES.genes, np.full((1, 10), np.nan))}, DataError, "without a missing value"),
    ],
)
def test_what_cannot_be_advised_is_said(yeast, asked, error, words):
    with pytest.raises(error, match=words):
        yeast.next_experiments(**asked)


def test_thirty_genes_take_seconds():
    rng = np.random.default_rng(0)
    runs = [Series([f"g{i}" for i in range(30)], (rng.random((11, 30)) < 0.5).astype(float)) for _ in range(3)]
    model = learn_genes(runs, EdgePrior(runs[0].genes), run=Run())
    stages = []
    assert len(advise(model, 5, None, range(30), 10, Run(callback=lambda progress: stages.append(progress.stage)))) == 5
    assert set(stages) <= {"experiments"}
