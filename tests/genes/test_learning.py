"""Genes learned from series: evidence, missing cells, held genes, priors, repair and scores."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gradus._core.run import Run
from gradus.errors import DataError, SettingsError
from gradus.genes import Series
from gradus.genes._edges import EdgePrior, KnownEdge, level_odds
from gradus.genes._learning import learn_genes as learn_in_run
from gradus.genes._learning import leave_series_out
from gradus.genes._model import best_cut
from gradus.genes._repair import find_suspects
from gradus.genes._series import recorded
from gradus.genes._transitions import gather_evidence

GENES = ("g0", "g1", "g2", "g3", "g4")
RUNS = hnp.arrays(np.float64, st.tuples(st.integers(1, 5), st.just(3)), elements=st.sampled_from([0, 1, np.nan]))


def learn_genes(series, *settings, run=None):
    return learn_in_run(recorded(series), *settings, run=run or Run())


def small_network(states):
    """A feeds B and D, C represses; E keeps its value."""
    a, b, c, _, e = states.T
    return np.column_stack([~c, a & ~e, b, a | b, e])


def simulated(seed, runs=12, steps=8, flips=0.0):
    rng = np.random.default_rng(seed)
    states = [rng.random((runs, 5)) < 0.5]
    for _ in range(steps):
        states.append(small_network(states[-1]))
    true = np.stack(states, axis=1)
    return true, true ^ (rng.random(true.shape) < flips)


def as_series(runs):
    return [Series(GENES, run, name=f"s{i}") for i, run in enumerate(runs)]


def all_states():
    return (np.arange(32)[:, None] >> np.arange(5)) & 1 == 1


@pytest.mark.parametrize("flips", [0.0, 0.02])
def test_the_network_is_learned(flips):
    model = learn_genes(as_series(simulated(0, 20, flips=flips)[1]))
    assert (model.predict(all_states()) == small_network(all_states())).mean() > 0.97
    assert model.rules[3].regulators == ("g0", "g1")
    assert next(edge for edge in model.edges() if edge.is_self).target == "g4"


@pytest.mark.parametrize("seed", range(3))
def test_noise_is_not_explained_by_more_regulators(seed):
    model = learn_genes(as_series(simulated(seed, 20, flips=0.05)[1]))
    true = [{"g2"}, {"g0", "g4"}, {"g1"}, {"g0", "g1"}, {"g4"}]
    assert [set(rule.regulators) - own for rule, own in zip(model.rules, true, strict=True)] == [set()] * 5
    # Next values and what they depend on are both recorded wrongly, so rules seem wrong more often than values are.
    assert 0.05 < model.flips.rate < 0.15


def test_a_missing_cell_costs_one_cell():
    states = np.array([[0, 1], [1, 1], [1, 0]], float)
    states[1, 0] = np.nan
    seen = gather_evidence([Series("ab", states)])
    assert seen[0].inputs.tolist() == [[2, 1]]
    assert seen[1].inputs.tolist() == [[0, 1], [2, 1]]


def test_held_genes_are_inputs_and_never_targets():
    held = Series("ab", [[0, 1], [1, 1], [0, 0]], held={"a": 1})
    seen = gather_evidence(recorded([held, Series("ab", [[0, 0], [1, 1]])]))
    assert seen[0].units.sum() == 1
    assert seen[1].inputs[:, 0].tolist().count(1) == 2


def test_steady_states_follow_themselves_and_replicates_count():
    seen = gather_evidence([Series("ab", [[1, 0]] * 3, steady=True), Series("ab", [[1, 0], [1, 0]])])
    assert seen[0].units.tolist() == [4]


def test_steps_that_are_too_long_are_no_transitions():
    assert gather_evidence([Series("a", [[0], [1], [1], [0]], times=[0, 1, 2, 9])])[0].units.sum() == 2


@settings(deadline=None, max_examples=15)
@given(st.lists(RUNS, min_size=1, max_size=3))
def test_no_data_are_an_error(runs):
    model = learn_in_run([Series("abc", run) for run in runs], run=Run())
    votes = model.predict_proba(np.eye(3))
    assert ((votes >= 0) & (votes <= 1)).all()
    assert len(model.rules) == 3


def test_a_gene_that_cannot_be_explained_is_reported_with_the_evidence():
    model = learn_genes(
        as_series(simulated(1, 20)[1]),
        EdgePrior(GENES, allowed=[KnownEdge("g0", "g0"), KnownEdge("g1", "g0")], forbidden=[KnownEdge("g1", "g2")]),
    )
    assert {gene.gene for gene in model.unexplained} == {"g0", "g2"}
    assert min(gene.log_evidence for gene in model.unexplained) > 3
    assert all(i in (0, 1) for ranked in model.targets[0].sets for i in ranked.features)


def test_a_belief_decides_where_the_data_do_not():
    runs = [np.array([[0, 0, 0], [0, 0, 1], [1, 1, 1], [0, 0, 0]]) == 1] * 2
    for gene in (0, 1):
        model = learn_genes(
            [Series("abc", run) for run in runs], EdgePrior(("a", "b", "c"), [KnownEdge("abc"[gene], "c", 0.95)])
        )
        assert model.targets[2].edges[gene] > model.targets[2].edges[1 - gene]


def test_a_flipped_cell_is_suspect():
    true, _ = simulated(2, 20)
    flipped = true.copy()
    flipped[3, 4, 1] ^= True
    model = learn_genes(as_series(flipped))
    first = find_suspects(as_series(flipped), model.targets, 0.01, Run()).suspects[0]
    assert (first.series, first.row, first.gene) == (3, 4, 1)
    assert first in model.suspects or model.suspects


def test_the_same_data_give_the_same_model():
    series = as_series(simulated(3, 6, flips=0.03)[1])
    one, two = learn_genes(series), learn_genes(list(series))
    assert np.array_equal(one.edge_probabilities, two.edge_probabilities)
    assert one.rules == two.rules


def test_work_ends_when_it_is_told_to():
    series = as_series(simulated(4, 6, flips=0.05)[1])
    started = time.monotonic()
    model = learn_genes(series, run=Run(0))
    assert time.monotonic() - started < 5
    assert model.stopped == "time_limit"
    calls = []
    run = Run(callback=lambda progress: calls.append(progress) or True)
    assert learn_genes(series, run=run).stopped == "callback"
    assert len(calls) == 1


def test_left_out_series_are_scored_beside_constant_and_persistence():
    scores = leave_series_out(as_series(simulated(5, 10)[1]), run=Run())
    assert scores.overall.one_step > max(scores.overall.constant, scores.overall.persistence)
    assert scores.overall.free_run >= scores.overall.constant
    assert scores.genes[4].learned
    assert leave_series_out(as_series(simulated(5, 1)[1]), run=Run()).parts == 8
    with pytest.raises(DataError, match="two"):
        leave_series_out([Series("a", [[0], [1]])], run=Run())


def test_invalid_settings_are_said_before_any_work():
    with pytest.raises(SettingsError, match="noise"):
        learn_genes([Series("a", [[0], [1]])], None, "loud")


@given(st.lists(st.sampled_from([0.0, 0.05, 0.3, 0.5, 0.7, 0.95]), min_size=1, max_size=6))
def test_no_other_choice_of_edges_has_a_higher_expected_score(probabilities):
    values = np.array(probabilities)
    cut = best_cut(values)
    scores = [
        2 * values[list(chosen)].sum() / (len(chosen) + values.sum())
        for size in range(1, len(values) + 1)
        for chosen in itertools.combinations(range(len(values)), size)
    ]
    own = values >= cut
    if values.sum() > 0:
        assert 2 * values[own].sum() / (own.sum() + values.sum()) == pytest.approx(max(scores))
    else:
        assert not own.any()


def test_edges_of_a_small_network_are_reported_with_self_edges_apart():
    model = learn_genes(as_series(simulated(0, 20)[1]))
    assert np.argwhere(model.likely_edges()).tolist() == [[0, 2], [1, 0], [1, 4], [2, 1], [3, 0], [3, 1], [4, 4]]


def test_clean_data_admit_only_rules_without_an_error():
    model = learn_genes(as_series(simulated(3, 6)[1]))
    assert model.flips.clean
    assert [rule.errors for rule in model.rules] == [0.0] * 5


def test_the_rule_shown_is_the_most_probable_single_rule():
    for target in learn_genes(as_series(simulated(4, 2, steps=4)[1])).targets:
        best = target.best_rule
        assert all(ranked.weight * ranked.table_share <= best.weight * best.table_share for ranked in target.sets)
        assert 0 < best.table_share <= 1


def measured(seed, runs=6, spread=0.35):
    true, _ = simulated(seed, runs)
    levels = true + np.random.default_rng(seed + 100).normal(0, spread, true.shape)
    return [Series(GENES, run > 0.5, name=f"s{i}", levels=run) for i, run in enumerate(levels)]


def slow_odds(series, regulator, target):
    """Half the log Bayes factor of one edge by two least-squares fits."""
    pairs = [(single.levels[a], single.levels[b]) for single in series for a, b in single.transitions()]
    now, then = np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])

    def squares(columns):
        ground = np.column_stack([np.ones(len(now)), *(now[:, c] for c in columns)])
        return float(((then[:, target] - ground @ np.linalg.lstsq(ground, then[:, target], rcond=None)[0]) ** 2).sum())

    gain = len(now) * np.log(squares([target]) / squares([target, regulator])) - np.log(len(now))
    return np.clip(gain / 4, -1, 2)


def test_levels_rank_edges_as_the_slow_twin_does():
    series = measured(1)
    odds = level_odds(series)
    assert np.diag(odds).tolist() == [0.0] * 5
    for regulator, target in itertools.permutations(range(5), 2):
        assert odds[target, regulator] == pytest.approx(slow_odds(series, regulator, target), abs=1e-6)
    assert odds[1, 0] > odds[1, 2]
    assert level_odds([Series(GENES, single.states) for single in series]) is None


def test_levels_with_missing_values_and_constant_genes_give_finite_odds():
    levels = np.random.default_rng(0).random((12, 3))
    levels[3, 0], levels[:, 2] = np.nan, 1.0
    odds = level_odds([Series("abc", np.zeros((12, 3)), levels=levels)])
    assert np.isfinite(odds).all()
