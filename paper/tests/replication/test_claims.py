"""Claims: made-up results whose truth is known get the verdict that they deserve."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from experiment_helpers import changed, results_of
from gradus_paper.claims import check_claims
from gradus_paper.figures import FIGURES
from gradus_paper.paper import GAIN_TABLES


def verdicts(rows):
    claims = check_claims(results_of(rows))
    return {claim.statement: claim for claim in claims}


def find(claims, words):
    found = [claim for statement, claim in claims.items() if words in statement]
    assert len(found) == 1, words
    return found[0]


def parity(strength, *, samples=60, noise=0.01):
    """Accuracies on parity with gains of so many points at 40 examples; later targets gain more, the last less."""
    rng = np.random.default_rng(5)
    common = rng.normal(0, 0.05, (200, 1))

    def accuracy(loss, size, sample):
        base = {24: 0.60, 40: 0.70, 56: 0.89, 72: 0.99}[size]
        gain = strength[loss] * {24: 0.5, 40: 1.0, 56: 0.6, 72: 0.0}[size]
        shape = np.array([0, 0, 0.5, 1, 1.5, 3, 1]) if size != 72 else np.zeros(7)
        return np.clip(base + gain * shape + common[sample] + rng.normal(0, noise, 7), 0, 1)

    return {"accuracy": accuracy, "sizes": (24, 40, 56, 72), "samples": samples, "m": 7}


PAPER = {"l1": 0.0, "lw": 0.05, "llh": 0.052, "lgh": 0.09}


def test_claims_hold_on_results_like_the_papers(made_up):
    claims = verdicts(made_up("cpar7", **parity(PAPER)))
    for words in ("Peak gain over L1 on 7-bit", "up to 10 points", "sixth target", "The gain rises with every target"):
        assert find(claims, words).verdict == "holds", find(claims, words)


def test_claims_do_not_hold_on_results_against_the_paper(made_up):
    upside_down = {"l1": 0.0, "lw": 0.09, "llh": 0.05, "lgh": 0.01}
    claims = verdicts(made_up("cpar7", **parity(upside_down)))
    for words in ("Peak gain over L1 on 7-bit", "up to 10 points", "not distinguishable"):
        assert find(claims, words).verdict == "does not hold", find(claims, words)


def test_few_or_noisy_samples_decide_nothing(made_up):
    few = verdicts(made_up("cpar7", **parity(PAPER, samples=5)))
    assert {claim.verdict for claim in few.values()} == {"undecided"}
    nothing = {"l1": 0.0, "lw": 0.0, "llh": 0.0, "lgh": 0.003}
    noisy = verdicts(made_up("cpar7", **parity(nothing, noise=0.3)))
    assert find(noisy, "Peak gain over L1").verdict != "holds"
    # That nothing can be seen in noise is no sign that there is nothing.
    assert find(noisy, "not distinguishable").verdict == "undecided"


def test_losses_are_alike_only_where_every_interval_is_narrow(made_up):
    alike = {"l1": 0.0, "lw": 0.05, "llh": 0.05, "lgh": 0.09}
    claims = verdicts(made_up("cpar7", **parity(alike)))
    assert find(claims, "not distinguishable").verdict == "holds"


def test_a_peak_counts_the_training_sets_that_it_rests_on(made_up):
    rows = made_up("cpar7", **parity(PAPER))
    few_at_peak = [row for row in rows if row.n_train != 40 or row.sample < 30]
    assert find(verdicts(few_at_peak), "Peak gain over L1").ours.count("(n = 30)") == 2
    too_few = [row for row in rows if row.n_train != 40 or row.sample < 10]
    elsewhere = find(verdicts(too_few), "Peak gain over L1").ours
    assert "at 40" not in elsewhere
    assert elsewhere.count("(n = 60)") == 2
    few = [row for row in rows if row.sample < 10]
    assert find(verdicts(few), "Peak gain over L1").ours.count("(n = 10)") == 2
    assert find(verdicts(few), "Peak gain over L1").verdict == "undecided"


def test_fewer_examples_are_found_with_their_interval(made_up):
    def accuracy(loss, size, sample):
        shift = 0.84 if loss == "lgh" else 1.0
        return min(1.0, 0.5 + 0.4 * size / (50 * shift) + 0.02 * np.sin(sample))

    rows = made_up("cpar7", accuracy, sizes=tuple(range(8, 113, 8)), samples=60, m=7)
    claim = find(verdicts(rows), "Fewer examples to pass 90 %")
    assert claim.verdict == "holds"
    assert claim.ours.startswith("16 %")


@pytest.mark.parametrize(("kept", "verdict"), [(0.95, "holds"), (0.2, "does not hold")])
def test_the_automatic_order_is_judged_by_the_share_it_keeps(made_up, kept, verdict):
    rng = np.random.default_rng(2)
    size = {"sizes": (8, 16), "samples": 50, "m": 5}

    def accuracy(gain):
        return lambda loss, n, sample: 0.7 + (gain if loss == "lgh" else 0) + 0.05 * np.sin(sample) + rng.normal(0, 0.01)

    for problem, expected in (("cmaj9", verdict), ("cmux15", "holds")):  # on the multiplexer some of it is enough
        rows = made_up(problem, accuracy(0.08), losses=("l1", "lgh"), **size)
        rows += made_up(problem, accuracy(0.08 * kept), losses=("lgh",), order="auto", shuffle=True, **size)
        assert find(verdicts(rows), "The automatic order").verdict == expected


def taught_in_orders(made_up, gain, *, taus=(1.0, 0.6, 0.2, -0.2, -0.6, -1.0), sizes=(8, 16), samples=50, noise=0.01):
    """5-bit addition with L1, and with Lgh in orders of each tau that gain so much."""
    size = {"sizes": sizes, "samples": samples, "m": 5}
    rng = np.random.default_rng(4)
    rows = made_up("add5", lambda *_: 0.7 + rng.normal(0, noise), losses=("l1",), **size)
    for tau in taus:
        mean = 0.7 + gain(tau)
        more = made_up("add5", lambda *_, mean=mean: mean + rng.normal(0, noise), losses=("lgh",), order=f"tau:{tau}", **size)
        rows += changed(more, tau=tau)
    return rows


ABOUT_TAU = ("gain grows with τ", "gain is largest at τ = 1", "as large as the gain")


def test_gain_against_tau_is_judged_on_every_order(made_up):
    rows = taught_in_orders(made_up, lambda tau: 0.05 * tau)
    # Of another figure: the known order at another size, where it gains more.
    other = {"sizes": (12,), "samples": 50, "m": 5}
    rows += made_up("add5", lambda *_: 0.7, losses=("l1",), **other)
    rows += changed(made_up("add5", lambda *_: 0.9, losses=("lgh",), **other), tau=1.0)
    claims = verdicts(rows)
    assert "at 12 examples" not in find(claims, "gain grows with τ").ours
    assert [find(claims, words).verdict for words in ABOUT_TAU] == ["holds"] * 3


@pytest.mark.parametrize(
    ("gain", "expected"),
    [
        (lambda tau: -0.05 * tau, ["does not hold", "does not hold", "holds"]),
        (lambda tau: 0.05 * abs(tau), ["undecided", "holds", "does not hold"]),
    ],
    ids=["falls", "is as large in the reverse order"],
)
def test_gain_against_tau_may_be_otherwise_than_in_the_paper(made_up, gain, expected):
    claims = verdicts(taught_in_orders(made_up, gain))
    assert [find(claims, words).verdict for words in ABOUT_TAU] == expected


@pytest.mark.parametrize(
    ("gain", "how"), [(0.05, {"samples": 5}), (0.005, {"noise": 0.3, "sizes": (16,)})], ids=["few", "noisy"]
)
def test_gain_against_tau_is_not_judged_by_few_or_noisy_samples(made_up, gain, how):
    claims = verdicts(taught_in_orders(made_up, lambda tau: gain * tau, **how))
    assert [find(claims, words).verdict for words in ABOUT_TAU] == ["undecided"] * 3


def test_training_sets_that_share_an_order_are_one_observation(made_up):
    rng = np.random.default_rng(7)
    luck = rng.normal(0, 0.05, 50)  # of an order, shared by its training sets
    rows = taught_in_orders(made_up, lambda tau: 0.05 * tau, taus=(), samples=250)
    rows += made_up("add5", lambda *_: 0.75, losses=("lgh",), sizes=(8, 16), samples=250, m=5)
    for tau in (0.0, -1.0):
        more = made_up("add5", lambda _, n, s, tau=tau: 0.7 + 0.05 * tau + luck[s % 50] * (tau == 0), losses=("lgh",),
                       order=f"tau:{tau:g}/50", sizes=(8, 16), samples=250, m=5)  # fmt: skip
        rows += changed(more, tau=tau)
    claims = verdicts(rows)
    assert find(claims, "gain is none at τ = 0").ours.startswith(f"{100 * luck.mean():+.1f}")
    assert find(claims, "gain is none at τ = 0").training_sets == "50 orders of each τ"
    assert "(n = 50)" in find(claims, "gain grows with τ").ours
    assert "(n = 250)" in find(claims, "as large as the gain").ours


@pytest.mark.parametrize(
    ("gains", "verdict"), [((1, 2, 3, 4, 2), "holds"), ((1, 4, 2, 3, 1), "does not hold"), ((1, 2, 3, 4, 5), "does not hold")]
)
def test_the_gain_must_rise_with_every_target_and_drop_at_the_last(made_up, gains, verdict):
    def accuracy(loss, n, sample):
        return 0.7 + 0.01 * np.sin(sample) + np.array(gains) / 100 * (loss == "lgh")

    claim = find(verdicts(made_up("sub5", accuracy, m=5, samples=40)), "The gain rises with every target")
    assert claim.verdict == verdict, claim


def test_gain_against_tau_is_left_out_without_the_reverse_order(made_up):
    rows = taught_in_orders(made_up, lambda tau: 0.05 * tau, taus=(1.0, 0.6))
    assert not [statement for statement in verdicts(rows) if "τ" in statement]


def test_claims_without_results_are_left_out(made_up):
    assert check_claims(results_of([])) == []
    claims = verdicts(made_up("mammalian", lambda loss, *_: 0.9 if loss == "lgh" else 0.8, order="auto", losses=("lgh",)))
    assert claims == {}


def test_results_of_which_nothing_converged_decide_nothing(made_up):
    size = {"samples": 3, "m": 7}
    rows = made_up("cpar7", lambda *_: 0.7, **size) + made_up("cpar7", lambda *_: 0.7, losses=("lgh",), order="auto", **size)
    rows += made_up("add5", lambda *_: 0.7, losses=("l1",), **size)
    rows += made_up("add5", lambda *_: 0.7, losses=("lgh",), order="tau:1.0", **size)
    rows += made_up("alu74181", lambda *_: 0.7, order="auto", **size)
    rows += made_up("yeast", lambda *_: 0.7, draw="leave-one-out", order="auto", sizes=(8,), targets=tuple("abcdefg"), **size)
    nothing = results_of(changed(rows, converged=False, tau=1.0))
    assert {claim.verdict for claim in check_claims(nothing)} == {"undecided"}
    for name, problem in (("fig6", "add5"), ("tab2", "yeast"), ("fig3", "cpar7"), ("fig5", "cpar7")):
        assert FIGURES[name](nothing.select(problem=problem)).axes


def test_a_size_with_few_training_sets_is_not_a_peak(made_up):
    def accuracy(loss, n, sample):
        return 0.7 + {8: 0.02, 16: 0.05}[n] * (loss == "lgh") + 0.001 * np.sin(sample)

    rows = []
    for size, samples in ((8, 30), (16, 12)):
        for loss, order in (("l1", "none"), ("lgh", "auto")):
            rows += made_up("mammalian", accuracy, losses=(loss,), order=order, sizes=(size,), samples=samples)
    claim = find(verdicts(rows), "Lgh gains on")
    assert claim.verdict == "holds"
    assert claim.ours.endswith("(n = 30) at 8 examples")
    few = [row for row in rows if row.sample < 12]
    assert find(verdicts(few), "Lgh gains on").ours.endswith("(n = 12) at 16 examples")
    assert find(verdicts(few), "Lgh gains on").verdict == "undecided"


def test_rows_with_the_published_settings_do_not_mix_with_those_of_the_text(made_up):
    def rows_with(gain, **settings):
        rows = []
        for loss, order in (("l1", "none"), ("lgh", "auto")):
            more = made_up("mammalian", lambda loss, *_: 0.7 + gain * (loss == "lgh"), losses=(loss,), order=order)
            rows += changed(more, **settings)
        return rows

    text, published = rows_with(0.1), rows_with(-0.3, gates_per_target=41, history=750)
    for rows in (text + published, published + text):
        claim = find(verdicts(rows), "Lgh gains on")
        assert claim.ours.startswith("+10.0 [10.0, 10.0] points (n = 30)"), claim
        assert "gates" not in claim.ours
    alone = find(verdicts(published), "Lgh gains on").ours
    assert alone.startswith("-30.0")
    assert alone.endswith("with 41 gates per target and history 750")


@pytest.mark.parametrize(("before", "verdict"), [(0.8, "holds"), (0.2, "does not hold")])
def test_the_order_must_be_found_before_the_gain_peaks(made_up, before, verdict):
    size = {"sizes": (8, 16, 24), "samples": 30, "m": 5}

    def accuracy(loss, n, sample):
        return 0.7 + (0.1 if n == 24 else 0.01) * (loss == "lgh")

    rows = made_up("cmaj9", accuracy, losses=("l1", "lgh"), **size)
    auto = made_up("cmaj9", accuracy, losses=("lgh",), order="auto", **size)
    rows += [replace(row, tau={8: 0.1, 16: before, 24: 0.9}[row.n_train]) for row in auto]
    claim = find(verdicts(rows), "at the size before the peak of the gain and at the peak")
    assert claim.verdict == verdict, claim
    assert "16 examples" in claim.ours
    assert "24 examples" in claim.ours


@pytest.mark.parametrize(
    ("factors", "verdict"),
    [
        ({"cpar7": 2.0, "cmaj9": 0.5, "sub5": 2.0}, "holds"),
        ({"cpar7": 1.0, "cmaj9": 1.0, "sub5": 1.0}, "holds"),
        ({"cpar7": 2.0, "cmaj9": 3.0, "sub5": 1.5}, "does not hold"),
        ({"cpar7": 0.5, "cmaj9": 0.5, "sub5": 0.5}, "does not hold"),
    ],
)
def test_an_effect_on_steps_is_consistent_if_it_has_one_direction(made_up, factors, verdict):
    rng = np.random.default_rng(6)
    rows = []
    for problem, factor in factors.items():
        for row in made_up(problem, lambda *_: 0.8, losses=("l1", "lgh"), m=7):
            steps = rng.uniform(9000, 11000) * (factor if row.loss == "lgh" else 1.0)
            rows.append(replace(row, iterations=int(steps)))
    claim = find(verdicts(rows), "in no consistent direction")
    assert claim.verdict == verdict, claim
    counts = {2.0: "more at 3 and fewer at 0", 1.0: "more at 0 and fewer at 0", 0.5: "more at 0 and fewer at 3"}
    assert f"cpar7: {counts[factors['cpar7']]} of 3 sizes" in claim.ours
    two_problems = verdicts([row for row in rows if row.problem != "sub5"])
    assert not [statement for statement in two_problems if "in no consistent direction" in statement]


def time_series(made_up, problem, gains, *, samples=2000, spread=0.05):
    """Networks for a time series whose targets gain exactly so many points with each loss, with a known spread."""
    targets = tuple(gains)

    def accuracy(loss, size, sample):
        gain = [gains[target].get(loss, 0.0) for target in targets]
        return 0.7 + np.array(gain) / 100 + (spread * (-1) ** sample if loss != "l1" else 0.0)

    size = {"sizes": (4,), "samples": samples, "m": len(targets), "draw": "leave-one-out", "targets": targets}
    plain = made_up(problem, accuracy, losses=("l1",), order="none", **size)
    return plain + made_up(problem, accuracy, losses=("lw", "llh", "lgh"), order="auto", **size)


def test_tables_never_mix_the_estimated_order_with_others(made_up):
    rows = time_series(made_up, "ecoli", GAIN_TABLES["ecoli"])
    size = {"sizes": (4,), "samples": 50, "draw": "leave-one-out"}
    rows += made_up("ecoli", lambda *_: 0.1, order="none", losses=("lgh",), m=3, targets=tuple(GAIN_TABLES["ecoli"]), **size)
    rows += made_up("ecoli", lambda *_: 0.1, order="auto", m=9, **size)  # all targets as one network
    claims = verdicts(rows)
    assert (
        find(claims, "Table 3: Lgh improves").ours
        == find(verdicts(time_series(made_up, "ecoli", GAIN_TABLES["ecoli"])), "Table 3: Lgh improves").ours
    )


def test_an_undecided_table_names_the_networks_that_would_decide_it(made_up):
    gains = {target: {"lgh": 0.05} for target in GAIN_TABLES["ecoli"]}
    claim = find(verdicts(time_series(made_up, "ecoli", gains, samples=100)), "Table 3: Lgh improves")
    assert claim.verdict == "undecided"
    assert claim.training_sets.startswith("4 folds, 100 networks a loss; decided by about 40,000")


def test_tables_are_judged_target_by_target_against_the_papers_values(made_up):
    as_in_the_paper = time_series(made_up, "ecoli", GAIN_TABLES["ecoli"])
    claims = verdicts(as_in_the_paper)
    for target in ("G2", "G8", "G6"):
        claim = find(claims, f"Table 3, {target}: gains over L1")
        assert claim.verdict == "holds", claim
    assert find(claims, "Table 3, G8: gains over L1").paper == "lw +0.2, llh -0.9, lgh +0.1 points"
    assert find(claims, "the later target G6 of E. coli").verdict == "holds"
    otherwise = time_series(made_up, "ecoli", {**GAIN_TABLES["ecoli"], "G6": {"lw": 0.8, "llh": 1.3, "lgh": -4.0}})
    claims = verdicts(otherwise)
    assert find(claims, "Table 3, G6").verdict == "does not hold"
    assert find(claims, "the later target G6").verdict == "does not hold"
    assert find(claims, "Table 3, G2").verdict == "holds"


@pytest.mark.parametrize(
    ("spread", "expected"), [(0.1, ["close"] * 3), (0.3, ["undecided", "undecided", "direction confirmed"])]
)
def test_a_table_at_the_edge_is_close_if_it_is_known_well_enough(made_up, spread, expected):
    shifted = {target: {loss: gain + 1.0 for loss, gain in gains.items()} for target, gains in GAIN_TABLES["ecoli"].items()}
    claims = verdicts(time_series(made_up, "ecoli", shifted, spread=spread))
    assert [find(claims, f"Table 3, {target}").verdict for target in shifted] == expected


@pytest.mark.parametrize(("problem", "order", "eta"), [("cpar7", "auto-random", "1.000"), ("sub5", "auto", "0.200")])
def test_nesting_is_that_of_sets_drawn_among_all_and_where_networks_have_such_sets_it_is_theirs(made_up, problem, order, eta):
    at, m = {"sizes": (8, 16, 24)}, {"cpar7": 7, "sub5": 5}[problem]
    rows = made_up(problem, lambda loss, *_: 0.5 + 0.1 * (loss == "lgh"), losses=("l1", "lgh"), m=m, **at)
    rows += made_up(problem, lambda *_: 0.6, losses=("lgh",), order=order, shuffle=True, m=m, **at)
    for drawn in ("auto-random", "auto"):  # the second ones are timed, and say nothing of nesting
        sets = made_up(problem, lambda *_: 0.5, losses=("l1",), order=drawn, shuffle=True, m=m, samples=25, **at)
        rows += changed(sets, method="curriculum", loss=None, eta=0.2 if drawn == "auto-random" else 0.4)
    assert f"η = {eta}" in find(verdicts(rows), "τ and η").ours


@pytest.mark.parametrize(("slowest", "verdict"), [(0.009, "holds"), (0.011, "does not hold"), (0.01, "undecided")])
def test_orders_cost_little_where_each_takes_less_than_a_tenth_of_a_training(made_up, slowest, verdict):
    rows = []
    for problem, order, seconds in (("cpar7", "auto-random", 0.001), ("sub5", "auto", 0.002), ("add6", "auto", slowest)):
        at = {"sizes": (8,), "losses": ("lgh",)}
        rows += changed(made_up(problem, lambda *_: 0.5, **at), iterations=2_000_000)  # a tenth of a second
        found = made_up(problem, lambda *_: 0.5, order=order, shuffle=True, **at)
        rows += [
            replace(row, method="curriculum", loss=None, cpu_seconds=seconds * (1 + 0.1 * (-1) ** row.sample)) for row in found
        ]
    claim = find(verdicts(rows), "little time beside training")
    assert claim.verdict == verdict
    assert claim.ours.startswith("cpar7 1 % [1, 1], sub5 2 % [2, 2], add6")
    assert claim.training_sets == "30"
    assert not any("little time" in statement for statement in verdicts(rows[:90]))  # two problems are too few


def test_gain_against_tau_is_judged_where_the_plain_loss_is_halfway(made_up):
    accuracy = {8: 0.55, 16: 0.74, 24: 0.95}
    rows = []
    for row in taught_in_orders(made_up, lambda tau: 0.05 * tau, sizes=tuple(accuracy)):
        value = row.test_accuracy_mean - 0.7 + accuracy[row.n_train]
        best_at_24 = 0.2 if row.n_train == 24 and row.tau == 1.0 and row.loss == "lgh" else 0.0
        rows.append(replace(row, test_accuracy_mean=value + best_at_24))
    assert find(verdicts(rows), "gain grows with τ").ours.endswith("at 16 examples")
