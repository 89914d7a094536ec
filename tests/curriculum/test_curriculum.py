"""Curricula: known orders, the paper's sets, ties, overlap, hierarchy, rival orders and Kendall's tau."""

from __future__ import annotations

import itertools
from collections import Counter
from itertools import combinations, pairwise, permutations

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.multioutput import ClassifierChain
from sklearn.tree import DecisionTreeClassifier

import gradus
from gradus import problems
from gradus._curriculum import curriculum as curriculum_module
from gradus._curriculum.orders import conditional_entropies, entropy_order, kendall_tau, linear_order, resolve_order
from gradus.errors import SettingsError
from naive_minfs import all_minimum_sets


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def distinct_rows(rng, n, k):
    """Random rows that are all different, so that no target can conflict."""
    codes = rng.choice(2**k, size=n, replace=False)
    return (codes[:, np.newaxis] >> np.arange(k) & 1).astype(bool)


def feature_names(problem, features):
    return {problem.input_names[column] for column in features}


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("cpar7", range(1, 8)),
        ("cmaj9", range(1, 10, 2)),
        ("add6", range(2, 13, 2)),
        ("sub5", range(2, 11, 2)),
        ("cmux15", range(3, 16, 2)),
    ],
)
def test_the_full_truth_table_gives_the_known_order(name, sizes, rng):
    problem = problems.load(name)
    shuffled = rng.permutation(len(sizes))
    curriculum = gradus.find_curriculum(problem.X, problem.Y[:, shuffled])
    found_order = [int(shuffled[target]) for target in curriculum.order]
    assert kendall_tau(found_order, problem.known_order) == 1
    assert [curriculum.sizes[target] for target in curriculum.order] == list(sizes)
    assert curriculum.nestedness == 1
    assert curriculum.tied_groups == ()
    # One chain: each target's set contains that of the one before.
    after = curriculum.hierarchy()
    assert all(after[a] == (b,) for a, b in pairwise(curriculum.order))
    assert after[curriculum.order[-1]] == ()


PAPER_SETS = [
    ("yeast", "SK", {"start"}),
    ("yeast", "Ste9", {"start", "PP"}),
    ("yeast", "Rum1", {"start", "PP"}),
    ("yeast", "PP", {"Slp1"}),
    ("yeast", "Cdc2/Cdc13", {"Ste9", "Slp1"}),
    ("yeast", "Cdc2/Cdc13", {"Rum1", "Slp1"}),
    ("yeast", "Cdc2/Cdc13*", {"Slp1", "Wee1/Mik1"}),
    ("yeast", "Cdc2/Cdc13*", {"Slp1", "Cdc25"}),
    ("ecoli", "G2", {"G7"}),
    ("ecoli", "G2", {"G10"}),
    ("ecoli", "G8", {"G7"}),
    ("ecoli", "G6", {"G4", "G7"}),
    ("ecoli", "G6", {"G4", "G10"}),
]


@pytest.mark.parametrize(("name", "target", "expected"), PAPER_SETS)
def test_the_sets_printed_in_the_paper_are_among_the_minimum_sets(name, target, expected):
    problem = problems.load(name)
    y = problem.Y[:, problem.target_names.index(target)]
    assert expected in [feature_names(problem, s) for s in gradus.all_minimum_feature_sets(problem.X, y)]


def test_the_paper_hierarchies_of_the_time_series_are_found():
    problem = problems.load("ecoli")
    targets = [problem.target_names.index(name) for name in ("G2", "G8", "G6")]
    curriculum = gradus.find_curriculum(problem.X, problem.Y[:, targets])
    assert curriculum.hierarchy() == {0: (2,), 1: (2,), 2: ()}
    assert curriculum.tied_groups == ((0, 1),)
    assert curriculum.order[-1] == 2


def test_every_target_of_the_pathway_is_proven_and_equal_rules_are_tied():
    problem = problems.load("fabrca")
    rows, _ = problem.sample(96, 0)
    curriculum = gradus.find_curriculum(problem.X[rows], problem.Y[rows])
    assert curriculum.optimal
    assert all(feature_set.first for feature_set in curriculum.feature_sets)
    chk1, chk2 = problem.target_names.index("CHK1"), problem.target_names.index("CHK2")
    assert curriculum.feature_sets[chk1] == curriculum.feature_sets[chk2]
    assert any({chk1, chk2} <= set(group) for group in curriculum.tied_groups)
    assert sorted(curriculum.order) == list(range(28))
    assert list(curriculum.sizes) == [feature_set.size for feature_set in curriculum.feature_sets]


def test_order_follows_sizes_and_seeds_only_decide_ties(rng):
    X, Y = distinct_rows(rng, 20, 8), rng.random((20, 6)) < 0.5
    curricula = [gradus.find_curriculum(X, Y, seed=seed) for seed in range(12)]
    for curriculum in curricula:
        ordered = [curriculum.sizes[target] for target in curriculum.order]
        assert ordered == sorted(ordered)
        assert curriculum.feature_sets == curricula[0].feature_sets
        groups = curriculum.tied_groups
        assert all(len({curriculum.sizes[target] for target in group}) == 1 < len(group) for group in groups)
    assert len({curriculum.order for curriculum in curricula}) > 1
    assert gradus.find_curriculum(X, Y, seed=3) == curricula[3]


def test_a_random_choice_is_uniform_among_all_minimum_sets():
    """The columns are a, b, a xor b and b again: the conjunction of a and b has five minimum sets, two by equal columns."""
    a, b = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    X, y = np.column_stack([a, b, a ^ b, b]), (a & b)[:, np.newaxis]
    everything = all_minimum_sets(X, a & b)
    drawn = Counter(gradus.find_curriculum(X, y, seed=seed, choose="random").feature_sets[0].features for seed in range(1000))
    assert everything == [(0, 1), (0, 2), (0, 3), (1, 2), (2, 3)]
    assert set(drawn) == set(everything)
    assert sum((count - 200) ** 2 / 200 for count in drawn.values()) < 20  # four degrees of freedom: p = 0.0005


def test_overlap_nestedness_and_hierarchy_follow_their_definitions(rng):
    X = rng.random((30, 9)) < 0.5
    Y = np.column_stack([X[:, 0], X[:, 0] & X[:, 1], X[:, 1] ^ X[:, 2], np.ones(30, bool), X[:, :3].all(axis=1), X[:, 5]])
    curriculum = gradus.find_curriculum(X, Y)
    sets = [set(feature_set) for feature_set in curriculum.feature_sets]
    for a, b in np.ndindex(6, 6):
        smaller = min(len(sets[a]), len(sets[b]))
        assert curriculum.overlap[a, b] == (len(sets[a] & sets[b]) / smaller if smaller else 1)
    successive = [curriculum.overlap[a, b] for a, b in pairwise(curriculum.order)]
    assert curriculum.nestedness == pytest.approx(np.mean(successive))
    # Following the arrows reaches exactly the targets with larger sets, and no arrow can be spared.
    arrows = {(a, b) for a, later in curriculum.hierarchy().items() for b in later}
    assert closure(arrows) == {(a, b) for a, b in permutations(range(6), 2) if sets[a] < sets[b]}
    assert all(closure(arrows - {arrow}) != closure(arrows) for arrow in arrows)


def closure(arrows):
    reached = set(arrows)
    while new := {(a, d) for (a, b) in reached for (c, d) in reached if b == c} - reached:
        reached |= new
    return reached


def test_a_single_target_is_nested_in_itself():
    assert gradus.find_curriculum([[0], [1]], [0, 1]).nestedness == 1.0


def test_threads_give_what_one_thread_gives(monkeypatch, rng):
    X, Y = distinct_rows(rng, 60, 12), rng.random((60, 5)) < 0.5
    alone = gradus.find_curriculum(X, Y, choose="random")
    monkeypatch.setattr(curriculum_module, "WORK_FOR_THREADS", 0)
    monkeypatch.setattr(curriculum_module, "usable_cores", lambda: 3)
    assert gradus.find_curriculum(X, Y, choose="random") == alone


def test_processes_give_what_threads_give_and_a_callback_stops_them(monkeypatch, rng):
    X, Y = distinct_rows(rng, 60, 12), rng.random((60, 3)) < 0.5
    alone = gradus.find_curriculum(X, Y, choose="random")
    monkeypatch.setattr(curriculum_module, "WORK_FOR_THREADS", 0)
    monkeypatch.setattr(curriculum_module, "usable_cores", lambda: 2)
    hard = rng.random((1000, 90)) < 0.5, rng.random((1000, 3)) < 0.5
    calls = itertools.count()
    with joblib.parallel_config("loky"):
        assert gradus.find_curriculum(X, Y, choose="random") == alone
        stopped = gradus.find_curriculum(*hard, callback=lambda _: next(calls) > 10)
    assert not stopped.optimal


def test_a_time_limit_is_shared_and_bounds_stay_valid():
    rng = np.random.default_rng(7)
    X, Y = rng.random((80, 600)) < 0.5, rng.random((80, 2)) < 0.5
    curriculum = gradus.find_curriculum(X, Y, time_limit=0.5)
    assert all(feature_set.lower_bound <= feature_set.size for feature_set in curriculum.feature_sets)


def test_the_order_drives_a_chain_of_classifiers():
    problem = problems.load("cmux15")
    rows, test = problem.sample(140, 0)
    curriculum = gradus.find_curriculum(problem.X[rows], problem.Y[rows])
    chain = ClassifierChain(DecisionTreeClassifier(random_state=0), order=curriculum.order)
    chain.fit(problem.X[rows], problem.Y[rows])
    assert tuple(chain.order_) == curriculum.order
    assert (chain.predict(problem.X[test[:500]]) == problem.Y[test[:500]]).mean() > 0.8


# ---------------------------------------------------------------- resolving the argument `order`


EXAMPLES = (np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=bool), np.array([[0, 0], [0, 0], [0, 1], [1, 1]], dtype=bool))


def test_every_kind_of_order_resolves():
    X, Y = EXAMPLES
    assert resolve_order(X, Y, None) == ((0, 1), None)
    assert resolve_order(X, Y, np.array([1, 0])) == ((1, 0), None)
    order, curriculum = resolve_order(X, Y, "auto")
    assert order == curriculum.order == (1, 0)
    assert curriculum == gradus.find_curriculum(X, Y)
    assert resolve_order(X, Y, "entropy") == ((1, 0), None)
    drawn = {resolve_order(X, Y, "random", seed=seed)[0] for seed in range(20)}
    assert drawn == {(0, 1), (1, 0)}
    assert resolve_order(X, Y, "random", seed=5) == resolve_order(X, Y, "random", seed=5)


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ([0], "order names 1 of 2 targets"),
        ([0, 0], "order names target 0 twice"),
        ([0, 2], "order has 2 at position 1, but the targets are columns 0 to 1"),
        ([-1, 0], "order has -1 at position 0"),
        ([0, True], "order has True at position 1"),
        ([0.0, 1.0], "order has 0.0 at position 0"),
        ("fast", "order is 'fast'; use 'auto'"),
        (3, "order is 3; use 'auto'"),
    ],
)
def test_a_bad_order_is_refused_with_a_reason(order, message):
    with pytest.raises(SettingsError, match=message):
        resolve_order(*EXAMPLES, order)


@pytest.mark.parametrize(("setting", "value"), [("choose", "best"), ("seed", -1), ("seed", 1.5), ("time_limit", -2)])
def test_a_setting_out_of_range_is_refused(setting, value):
    with pytest.raises(SettingsError, match=f"{setting} is {value!r}"):
        gradus.find_curriculum(*EXAMPLES, **{setting: value})


# ---------------------------------------------------------------- rival orders and tau


def entropy_by_counting(a, b=None):
    counts = Counter(a if b is None else zip(a, b, strict=True))
    return -sum(count / len(a) * np.log2(count / len(a)) for count in counts.values())


def test_conditional_entropies_are_those_of_counting(rng):
    Y = rng.random((40, 5)) < 0.3
    Y[:, 4] = True
    left = conditional_entropies(Y)
    for i, j in np.ndindex(5, 5):
        expected = entropy_by_counting(Y[:, i].tolist(), Y[:, j].tolist()) - entropy_by_counting(Y[:, i].tolist())
        assert left[i, j] == pytest.approx(expected, abs=1e-9)


def cost_of(order, costs):
    return sum(costs[a, b] for a, b in combinations(order, 2))


@given(st.integers(1, 6), st.integers(0, 10_000))
def test_the_linear_order_is_as_good_as_the_best_of_all_orders(m, seed):
    costs = np.random.default_rng(seed).integers(0, 10, (m, m)).astype(float)
    order = linear_order(costs)
    assert sorted(order) == list(range(m))
    assert cost_of(order, costs) == min(cost_of(other, costs) for other in permutations(range(m)))


def test_the_linear_order_of_many_targets_cannot_be_improved_by_moving_one(rng):
    costs = rng.random((15, 15))
    order = linear_order(costs)
    assert sorted(order) == list(range(15))
    for item in order:
        rest = [other for other in order if other != item]
        moved = (cost_of([*rest[:place], item, *rest[place:]], costs) for place in range(15))
        assert min(moved) >= cost_of(order, costs) - 1e-9


@pytest.mark.parametrize("m", [4, 12, 20])
def test_the_entropy_order_never_puts_a_more_certain_target_before_a_less_certain_one(m, rng):
    """H(b|a) - H(a|b) = H(b) - H(a): estimated from one sample, so the best order is by falling entropy."""
    Y = rng.random((50, m)) < rng.random(m)
    entropies = [entropy_by_counting(Y[:, target].tolist()) for target in entropy_order(Y, rng)]
    assert all(a >= b - 1e-9 for a, b in pairwise(entropies))


def test_equally_good_entropy_orders_are_drawn_by_the_seed():
    X = np.zeros((4, 1), dtype=bool)
    Y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=bool)
    assert {resolve_order(X, Y, "entropy", seed=seed)[0] for seed in range(20)} == {(0, 1), (1, 0)}


def test_tau_takes_every_value_between_reversal_and_identity():
    """Five targets: 11 values, as many as there can be discordant pairs and one more."""
    values = {round(kendall_tau(order, range(5)), 9) for order in permutations(range(5))}
    assert values == {round(1 - 2 * discordant / 10, 9) for discordant in range(11)}
    assert kendall_tau([0], [0]) == 1.0
    with pytest.raises(SettingsError, match="order names 2 of 3 targets"):
        kendall_tau([0, 1, 2], [0, 1])


def test_learning_with_the_automatic_order_keeps_the_curriculum():
    problem = problems.load("add3")
    learned = gradus.search(problem.X, problem.Y[:, [2, 0, 1]], order="auto", max_iter=2000, n_restarts=0)
    assert learned.order == learned.curriculum.order == (1, 2, 0)
    assert learned.curriculum.sizes == (6, 2, 4)


def test_an_error_in_one_thread_stops_the_others(monkeypatch, rng):
    X, Y = distinct_rows(rng, 60, 12), rng.random((60, 5)) < 0.5
    runs = []

    def fail_at_the_third(examples, run, rng):
        runs.append(run)
        if len(runs) == 3:
            raise MemoryError
        return gradus.FeatureSet((), 0, True)

    monkeypatch.setattr(curriculum_module, "WORK_FOR_THREADS", 0)
    monkeypatch.setattr(curriculum_module, "usable_cores", lambda: 2)
    monkeypatch.setattr(curriculum_module, "find_feature_set", fail_at_the_third)
    with pytest.raises(MemoryError):
        gradus.find_curriculum(X, Y)
    assert all(run.stopped == "error" for run in runs)
