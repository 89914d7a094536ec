"""Prior over rules: prototypes, a slow twin of peeling, and majorities."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest

from gradus.genes._edges import MAJORITY_SHARES, expected_majorities
from gradus.genes._priors import ACTIVATOR_AND, PAIRED, REPRESSOR_AND, REPRESSOR_FIRST, _peeled, is_majority, rule_prior


@pytest.mark.parametrize("k", range(1, 7))
def test_every_prototype_is_monotone_and_depends_on_all_inputs(k):
    prior = rule_prior(k)
    cells = np.arange(1 << k)
    values = (prior.tables[:, None] >> cells.astype(np.uint64)) & np.uint64(1)
    for i in range(k):
        low = cells[(cells >> i) & 1 == 0]
        assert (values[:, low] <= values[:, low | (1 << i)]).all()
        assert (values[:, low] < values[:, low | (1 << i)]).any(axis=1).all()
    assert prior.weights.sum(axis=0) + prior.any_weight == pytest.approx(np.ones(1 << k))


def ways_to_peel(inputs, negated):
    """Yield every way of peeling inputs off, as its probability and a function of the values of all inputs."""
    if len(inputs) == 1:
        yield 1.0, lambda cell: cell[inputs[0]]
        return
    pairs = [pair for pair in combinations(inputs, 2) if len(inputs) > 2 and negated[pair[0]] == negated[pair[1]]]
    for groups, chance in (([(i,) for i in inputs], 1 - PAIRED if pairs else 1.0), (pairs, PAIRED)):
        pulls = [np.prod([REPRESSOR_FIRST if negated[i] else 1.0 for i in group]) for group in groups]
        for group, pull in zip(groups, pulls, strict=True):
            share = chance * pull / sum(pulls)
            both = REPRESSOR_AND if negated[group[0]] else ACTIVATOR_AND
            for probability, rest in ways_to_peel([i for i in inputs if i not in group], negated):
                yield share * both * probability, lambda cell, g=group, r=rest: any(cell[i] for i in g) and r(cell)
                yield share * (1 - both) * probability, lambda cell, g=group, r=rest: all(cell[i] for i in g) or r(cell)


@pytest.mark.parametrize("negated", [mask for k in (1, 2, 3, 4) for mask in product((False, True), repeat=k)])
def test_peeling_is_that_of_the_slow_twin(negated):
    k = len(negated)
    cells = [[number >> i & 1 == 1 for i in range(k)] for number in range(1 << k)]
    slow = Counter()
    for probability, rule in ways_to_peel(list(range(k)), negated):
        slow[sum(1 << number for number, cell in enumerate(cells) if rule(cell))] += probability
    fast = dict(_peeled(k, (1 << k) - 1, sum(1 << i for i, is_negated in enumerate(negated) if is_negated)))
    assert fast == pytest.approx(dict(slow))


def test_repressors_that_act_together_are_more_probable_than_most_rules():
    values = [(a or b) and not (c and d) for d in (0, 1) for c in (0, 1) for b in (0, 1) for a in (0, 1)]
    prior = rule_prior(4)
    table = sum(1 << (cell ^ 0b1100) for cell, value in enumerate(values) if value)
    weights = prior.weights[:, 0b1100]
    assert weights[prior.tables.tolist().index(table)] > 5 * np.median(weights)


@pytest.mark.parametrize("k", range(7))
def test_another_share_of_majorities_leaves_the_rest_in_proportion(k):
    prior = rule_prior(k)
    for share in MAJORITY_SHARES:
        weights = prior.with_majorities(share)
        assert weights.sum(axis=0) == pytest.approx(prior.weights.sum(axis=0))
        if prior.majorities.any():
            assert weights[prior.majorities].sum(axis=0) == pytest.approx(np.full(1 << k, share))
            ratios = weights[~prior.majorities] / np.where(prior.weights > 0, prior.weights, 1)[~prior.majorities]
            assert np.ptp(np.where(ratios > 0, ratios, ratios.max(axis=0)), axis=0) == pytest.approx(np.zeros(1 << k))
    assert prior.majorities.any() == (k > 2)


def test_a_majority_is_one_with_any_inputs_negated():
    bits = np.array([[number >> i & 1 for i in range(5)] for number in range(32)])
    for negated in range(32):
        values = (bits ^ bits[negated]).sum(axis=1) >= 3
        assert is_majority(sum(1 << int(cell) for cell in np.flatnonzero(values)), 5)
    assert not is_majority(1 << 31, 5)


def test_majorities_are_expected_where_other_genes_have_them():
    rules = np.ones(8)
    few, many = np.zeros(8), np.array([0, 1, 1, 1, 0, 0, 0, 0.0])
    assert expected_majorities(rules, few, 0) < expected_majorities(rules, many, 0)
    own = np.eye(8)[0]
    assert expected_majorities(rules, few, 0) == expected_majorities(rules, own, 0)  # a gene does not confirm itself
