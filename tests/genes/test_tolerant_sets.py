"""Tolerant feature sets: packed kernels against slow twins, priors, and what noisy data give."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradus._core.run import Run
from gradus.errors import DataError, SettingsError
from gradus.genes import tolerant_feature_sets
from gradus.genes._edges import EdgePrior, KnownEdge, expected_signs, hub_odds
from gradus.genes._posterior import _evidence, search_sets
from gradus.genes._priors import SIZE_PRIOR, UNKNOWN_COST, SetPrior, _log_choices, flip_rate, rule_prior, score_tables
from gradus.genes._scan_kernel import score_sets
from gradus.genes._set_kernel import TopSets, count_cells
from gradus.genes._transitions import TargetEvidence, pack_target


def uniform_prior(n_genes):
    """Every gene may regulate, with either sign."""
    return SetPrior(np.arange(n_genes), np.zeros(n_genes), np.zeros((n_genes, 2)))


def slow_evidence(inputs, nexts, units, genes, rate):
    """Log marginal likelihood of a set, one function at a time."""
    k, prior = len(genes), rule_prior(len(genes))
    cells = (inputs[:, list(genes)] @ (1 << np.arange(k))).astype(int) if k else np.zeros(len(inputs), int)

    def likelihood(values):
        wrong = units[values[cells] != nexts].sum()
        return rate**wrong * (1 - rate) ** (units.sum() - wrong)

    total = 0.0
    for signs in range(1 << k):
        for table, weight in zip(prior.tables.tolist(), prior.weights[:, signs], strict=True):
            values = np.array([(table >> (cell ^ signs)) & 1 for cell in range(1 << k)])
            total += weight / (1 << k) * likelihood(values)
    for number in range(1 << (1 << k)) if prior.any_weight else []:
        values = np.array([(number >> cell) & 1 for cell in range(1 << k)])
        total += prior.any_weight / (1 << (1 << k)) * likelihood(values)
    return np.log(total)


def slow_large_evidence(inputs, nexts, units, genes, rate):
    """The same for sets whose functions without structure are too many to list: their cells are independent."""
    k, prior = len(genes), rule_prior(len(genes))
    numbers = np.arange(1 << k)
    cells = inputs[:, list(genes)] @ (1 << np.arange(k))
    counts = np.array([np.bincount(cells, units * (nexts == value), 1 << k) for value in (0, 1)])
    values = (prior.tables[:, None] >> numbers.astype(np.uint64)) & np.uint64(1) == 1
    total = 0.0
    for signs in range(1 << k):
        wrong = np.where(values, counts[0][numbers ^ signs], counts[1][numbers ^ signs]).sum(axis=1)
        likelihoods = rate**wrong * (1 - rate) ** (units.sum() - wrong)
        total += (prior.weights[:, signs] * likelihoods).sum() / (1 << k)
    free = rate ** counts[0] * (1 - rate) ** counts[1] + rate ** counts[1] * (1 - rate) ** counts[0]
    return np.log(total + prior.any_weight * np.prod(free / 2))


def drawn_target(seed, rows, genes, missing=0.0):
    rng = np.random.default_rng(seed)
    inputs = (rng.random((rows, genes)) < 0.5).astype(np.uint8)
    inputs[rng.random(inputs.shape) < missing] = 2
    return TargetEvidence(inputs, (rng.random(rows) < 0.5).astype(np.uint8), rng.integers(1, 4, rows), 1.0)


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10_000), rows=st.sampled_from([1, 2, 7, 30]), rate=st.sampled_from([0.01, 0.1, 0.3]))
def test_scores_of_all_small_sets_are_those_of_the_slow_twin(seed, rows, rate):
    target = drawn_target(seed, rows, 4)
    found = search_sets(target, uniform_prior(4), flip_rate(rate), Run(), most_inputs=3)
    best = found.scores.max()
    for number, score in enumerate(found.scores):
        if score > best - 3:  # those far behind are only bounded
            genes = found.genes(number)
            slow = slow_evidence(target.inputs, target.nexts, target.units, genes, rate)
            slow += np.log(SIZE_PRIOR[len(genes)] / len(list(combinations(range(4), len(genes)))))
            assert score == pytest.approx(slow, abs=0.05)


@settings(deadline=None, max_examples=12)
@given(seed=st.integers(0, 10_000), size=st.integers(4, 6), rate=st.sampled_from([0.02, 0.2]))
def test_scores_of_larger_sets_are_those_of_the_slow_twin(seed, size, rate):
    rng = np.random.default_rng(seed)
    inputs = (rng.random((40, size)) < 0.5).astype(np.uint8)
    nexts = ((inputs.sum(axis=1) > size // 2) ^ (rng.random(40) < 0.1)).astype(np.uint8)
    target = TargetEvidence(inputs, nexts, rng.integers(1, 4, 40), 1.0)
    tables = score_tables(uniform_prior(size), flip_rate(rate), int(target.units.sum()), target.unit)
    top = TopSets(np.full((1, 6), -1, np.int64), np.full(1, -np.inf), np.zeros(2, np.int64))
    score_sets(pack_target(target), tables, np.arange(size).reshape(1, -1), size, -np.inf, top)
    slow = slow_large_evidence(inputs, nexts, target.units, range(size), rate) + np.log(SIZE_PRIOR[size])
    assert top.scores[0] == pytest.approx(slow, abs=0.05)


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10_000), rows=st.sampled_from([1, 63, 64, 65, 130]), size=st.integers(0, 4))
def test_cells_are_counted_as_the_slow_twin_counts_them(seed, rows, size):
    target = drawn_target(seed, rows, 5, missing=0.1)
    genes = np.random.default_rng(seed).permutation(5)[:size]
    zero, one = np.zeros(64, np.int64), np.zeros(64, np.int64)
    count_cells(pack_target(target), genes.astype(np.int64), zero, one)
    slow = np.zeros((64, 2), int)
    for row, value, units in zip(target.inputs, target.nexts, target.units, strict=True):
        if (row[genes] != 2).all():
            slow[int(row[genes] @ (1 << np.arange(size))), value] += units
    assert np.array_equal(zero, slow[:, 0])
    assert np.array_equal(one, slow[:, 1])


def test_odds_choose_among_sets_of_a_size_without_making_them_larger():
    odds = np.array([2.0, -1.0, 0.5, 0.0])
    logs = _log_choices(odds)
    for k in range(5):
        assert np.exp(logs[k]) == pytest.approx(sum(np.exp(odds[list(s)].sum()) for s in combinations(range(4), k)))


@pytest.mark.parametrize("flips", [0.0, 0.05])
def test_the_true_set_and_rule_are_found(flips):
    rng = np.random.default_rng(3)
    X = rng.random((300, 12)) < 0.5
    y = ((X[:, 1] | X[:, 4]) & ~X[:, 7]) ^ (rng.random(300) < flips)
    best = tolerant_feature_sets(X, y).sets[0]
    assert best.features == (1, 4, 7)
    cells = np.arange(8)
    assert [(best.table >> c) & 1 for c in cells] == [int((c & 1 or c & 2) and not c & 4) for c in cells]
    assert best.rising[0] > 0.9 > 0.1 > best.rising[2]


def test_a_clean_rule_of_five_inputs_is_found():
    rng = np.random.default_rng(4)
    X = rng.random((400, 12)) < 0.5
    y = X[:, 0] & X[:, 3] & ~X[:, 5] | X[:, 8] & ~X[:, 11]
    assert tolerant_feature_sets(X, y, noise=0.0).sets[0].features == (0, 3, 5, 8, 11)


def test_of_two_columns_that_fit_alike_the_one_with_fewer_missing_cells_is_chosen():
    rng = np.random.default_rng(4)
    y = rng.random(60) < 0.5
    X = np.column_stack([y, y, rng.random(60) < 0.5]).astype(float)
    X[rng.random(60) < 0.3, 0] = np.nan
    for weights in (None, np.full(60, 0.5)):
        found = tolerant_feature_sets(X, y, weights=weights)
        assert [ranked.features for ranked in found.sets[:2]] == [(1,), (0,)]
        unknown = np.isnan(X[:, 0]).sum() * (1.0 if weights is None else 0.5)
        assert found.sets[0].score - found.sets[1].score == pytest.approx(UNKNOWN_COST * unknown)


def test_a_coin_toss_has_no_regulators():
    rng = np.random.default_rng(5)
    found = tolerant_feature_sets(rng.random((200, 15)) < 0.5, rng.random(200) < 0.5)
    assert found.sets[0].features == ()
    assert found.features.max() < 0.5


def test_weights_count_as_repeated_rows():
    rng = np.random.default_rng(6)
    X, y = rng.random((40, 5)) < 0.5, rng.random(40) < 0.5
    times = rng.integers(1, 5, 40)
    weighted = tolerant_feature_sets(X, y, weights=times, noise=0.1)
    repeated = tolerant_feature_sets(np.repeat(X, times, axis=0), np.repeat(y, times), noise=0.1)
    assert [(s.features, s.table) for s in weighted.sets] == [(s.features, s.table) for s in repeated.sets]
    assert [s.weight for s in weighted.sets] == pytest.approx([s.weight for s in repeated.sets])


def test_only_allowed_columns_and_known_signs_are_used():
    rng = np.random.default_rng(7)
    X = rng.random((100, 6)) < 0.5
    found = tolerant_feature_sets(X, X[:, 2], allowed=[0, 1, 3])
    assert {gene for s in found.sets for gene in s.features} <= {0, 1, 3}
    assert tolerant_feature_sets(X, X[:, 2], signs={2: 1}).sets[0].rising[0] > 0.99


def test_bad_arguments_are_said():
    with pytest.raises(DataError, match="rows"):
        tolerant_feature_sets([[0, 1]], [0, 1])
    with pytest.raises(SettingsError, match="noise"):
        tolerant_feature_sets([[0, 1]], [0], noise=0.7)
    with pytest.raises(DataError, match="value 7"):
        tolerant_feature_sets([[0, 7]], [0])
    with pytest.raises(SettingsError, match="column 5"):
        tolerant_feature_sets([[0, 1]], [0], allowed=[5])
    with pytest.raises(SettingsError, match="sign of column 1"):
        tolerant_feature_sets([[0, 1]], [0], signs={1: 2})
    with pytest.raises(DataError, match="did you mean 'bcl2'"):
        EdgePrior(("akt", "bcl2"), [KnownEdge("akt", "bcl")])
    with pytest.raises(SettingsError, match="probability"):
        EdgePrior(("a", "b"), [KnownEdge("a", "b", 1.5)])


def test_a_regulator_of_all_others_is_expected_here_too():
    edges = np.full((6, 6), 0.1)
    edges[:, 2] = 0.9
    odds = hub_odds(edges, 4)
    assert odds.argmax() == 2
    assert odds[2] > 0 > odds[0]


def test_a_gene_is_more_probably_regulated_by_one_that_it_regulates():
    edges = np.full((6, 6), 0.1)
    edges[3, 4] = 0.9
    odds = hub_odds(edges, 4)
    assert odds[3] == odds.max() > odds[0]


def test_a_regulator_keeps_its_usual_sign_and_a_gene_activates_itself():
    edges, rising = np.full((5, 5), 0.1), np.full((5, 5), 0.5)
    edges[:3, 1], rising[:3, 1] = 0.9, 0.0
    signs = expected_signs(edges, rising, 4)
    falls, rises = signs[1]
    assert falls > 0 > rises
    assert signs[4, 1] > 0 > signs[4, 0]
    assert np.exp(signs).sum(axis=1) == pytest.approx(2.0)


@pytest.mark.parametrize("missing", [None, np.nan, np.float32("nan"), pandas.NA, "NA", "", "?", np.ma.masked])
def test_a_missing_cell_is_unknown(missing):
    X = np.ma.array([[0], [1], [0], [1], [1]], dtype=object)
    X[4, 0] = missing
    assert _evidence(X, [0, 1, 0, 1, 1], None).inputs[:, 0].tolist() == [0, 1, 0, 1, 2]
    assert _evidence([[0], [1]], [missing if missing is not np.ma.masked else None, 1], None).nexts.tolist() == [1]


@pytest.mark.parametrize("odd", [-1, 2, 0.5, np.inf, "x", "-1"])
def test_a_cell_of_another_value_is_refused_with_its_place(odd):
    with pytest.raises(DataError, match=r"in row 1, column 0; every value must be 0, 1 or missing"):
        tolerant_feature_sets([[0], [odd]], [0, 1])
