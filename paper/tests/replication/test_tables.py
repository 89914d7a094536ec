"""Tables that pages have between their marks: made of rows whose truth is known, and nothing else of the page moves."""

from __future__ import annotations

import numpy as np
import pytest

from experiment_helpers import changed, results_of
from gradus.lab import wording
from gradus_paper.open_questions import NOISY
from gradus_paper.paper import GAIN_TABLES
from gradus_paper.tables import agreement, answers, price_of_the_74181, random_functions, ways_of_the_tables, with_tables

PAGE = "before\n<!-- table: gradus report FOLDER --export PAGES ({}) -->\nold\n<!-- /table -->\nafter"


def lines_of(table):
    headings, rows = table
    return {row[0]: dict(zip(headings[1:], row[1:], strict=True)) for row in rows}


def level(values):
    """Accuracy by loss, a little different on each training set."""
    return lambda loss, size, sample: values.get(loss, 0.5) + 1e-4 * (sample % 3)


@pytest.fixture
def asked(made_up):
    """Parity where 5 % of the labels are flipped, and with 81 gates per target, of which the last target gains 20 points."""
    at = {"sizes": (40,), "m": 7}
    gains = {"l1": 0.6, "lw": 0.61, "llh": 0.59, "lgh": 0.7}
    rows = changed(made_up("cpar7", level(gains), **at), noise=0.05, max_iterations=NOISY["max_iter"], converged=False)
    tolerant = changed(made_up("cpar7", level({"lgh": 0.75}), losses=("lgh",), **at), noise=0.05, tolerance=0.05)
    rows += changed(tolerant, max_iterations=NOISY["max_iter"], converged=False)

    def last(loss, size, sample):
        return 0.6 + np.array([0.0] * 6 + [0.2]) * (loss == "lgh") + 1e-4 * (sample % 3)

    rows += changed(made_up("cpar7", last, losses=("l1", "lgh"), **at), gates_per_target=81)
    for order, value in (("random", 0.6), ("self-paced", 0.65)):
        chains = made_up("cpar7", level({"l1": value}), losses=("l1",), order=order, **at)
        rows += changed(chains, method="chains", loss=None)
    curricula = changed(made_up("cpar7", level({}), losses=("l1",), order="auto-random", **at), method="curriculum", loss=None)
    return rows + changed(curricula, set_sizes=[1, 2, 3, 4, 5, 6, 7], tau=0.5, eta=0.25)


def test_answers_are_the_differences_that_the_rows_were_made_with(asked):
    found = lines_of(answers(results_of(asked)))
    parity = {question: cells["7-bit cascaded parity"] for question, cells in found.items()}
    assert parity["gain of Lgh, 5 % of the labels flipped"] == "+10.0 [10.0, 10.0]"
    assert parity["gain of Llh, 5 % of the labels flipped"] == "-1.0 [-1.0, -1.0]"
    assert parity["gain of Lgh, 1 % of the labels flipped"] == "–"
    assert parity["Lgh with errors tolerated, against Lgh as it is, 5 % flipped"] == "+5.0 [5.0, 5.0]"
    assert parity["gain of Lgh for the last target, 81 gates per target"] == "+20.0 [20.0, 20.0]"
    assert parity["ensembles of chains in the self-paced order, against random orders"] == "+5.0 [5.0, 5.0]"
    assert parity["mean size of a minimum set, 0 % flipped"] == "4.00 [4.00, 4.00]"
    assert found["η, 0 % flipped"]["training sets"] == "30"
    assert found["η, 0 % flipped"]["5-bit subtraction"] == "–"


def test_the_best_order_of_random_functions_is_chosen_on_other_training_sets_than_it_is_judged_on(made_up):
    rows = []
    for name in ("disjoint1", "disjoint2"):
        rows += made_up(name, level({}), losses=("l1",), order="none", m=4)
        for order, even, odd in (("given:0,1,2,3", 0.1, -0.1), ("given:1,0,2,3", 0.0, 0.1)):
            tempting = lambda loss, size, sample, even=even, odd=odd: 0.5 + (odd if sample % 2 else even)  # noqa: E731
            rows += made_up(name, tempting, losses=("lgh",), order=order, m=4)
        rows += changed(made_up(name, level({}), losses=("lgh",), order="auto", m=4), eta=0.5)
    ((said, eta, best, _),) = random_functions(results_of(rows))[1]
    assert said == "2 whose targets share no inputs"
    assert (eta, best) == ("0.50 [0.50, 0.50]", "-5.0 [-5.0, -5.0]")


def test_each_way_to_teach_the_tables_has_its_own_networks(made_up):
    targets = tuple(GAIN_TABLES["ecoli"])
    at = {"sizes": (4,), "m": 3, "draw": "leave-one-out", "targets": targets}
    rows = made_up("ecoli", level({}), losses=("l1",), order="none", **at)
    for order, gates, value in (("auto", 21, 0.6), ("none", 21, 0.4), ("auto", 38, 0.55)):
        rows += changed(made_up("ecoli", level({"lgh": value}), losses=("lgh",), order=order, **at), gates_per_target=gates)
    rows += changed(made_up("ecoli", level({}), losses=("l1",), order="none", **at), gates_per_target=38)
    gains = {way: each for _, way, _, each in ways_of_the_tables(results_of(rows))[1]}
    found = {way: each.split("; ")[0] for way, each in gains.items()}
    assert {way: float(text.split()[1]) for way, text in found.items()} == {
        "as in the table": 10.0, "in the order listed": -10.0, "with 38 gates per target": 5.0,
    }  # fmt: skip


def test_the_price_of_the_rest_is_its_trainings_with_the_steps_of_their_like(made_up):
    at = {"sizes": (192,), "samples": 20, "m": 8}
    steps = {"l1": 3_000_000, "lgh": 1_000_000}
    rows = [
        row for loss in steps for row in changed(made_up("alu74181", level({}), losses=(loss,), **at), iterations=steps[loss])
    ]
    ((where, missing, billions, minutes, hours),) = price_of_the_74181(results_of(rows))[1]
    assert (where, missing) == ("192 examples", str(80 + 80 + 100 + 100))
    # 80 of three million, 80 of one, and 200 of two million, as losses that were not run are taken to need the mean.
    assert billions == wording.two_digits(0.08 * 3 + 0.08 + 0.2 * 2)
    assert (minutes, hours) == (wording.two_digits(0.72 / 60), wording.two_digits(0.72e9 / 2e7 / 3600))


def test_the_distance_to_the_published_code_is_in_standard_errors(made_up):
    rows = made_up("cmaj9", lambda loss, size, sample: 0.92 + 1e-3 * (sample % 3 - 1), sizes=(96,), m=5)
    lines = [line for line in agreement(results_of(rows))[1] if line[0].startswith("9-bit") and line[1] == "Lgh"]
    ours = np.array([row.test_accuracy_mean for row in rows if row.loss == "lgh"])
    expected = (ours.mean() - 0.923) / np.hypot(0.002 / 1.96, ours.std(ddof=1) / np.sqrt(len(ours)))
    assert float(lines[0][4]) == pytest.approx(expected, abs=0.1)  # a t interval is a little wider than a normal one


def test_intervals_are_not_cut_in_two_at_the_end_of_a_line(asked):
    made = with_tables(PAGE.format("answers"), {"wrong_labels": results_of(asked)})
    assert "+10.0 [10.0,\N{NO-BREAK SPACE}10.0]" in made
    assert "gain of Lgh, 5\N{NO-BREAK SPACE}% of the labels flipped" in made


def test_only_what_is_between_the_marks_changes_and_only_with_rows(asked):
    page = PAGE.format("answers")
    assert with_tables(page, {"wrong_labels": results_of([])}) == page
    assert with_tables("no marks", {"wrong_labels": results_of(asked)}) == "no marks"
    made = with_tables(page, {"wrong_labels": results_of(asked)})
    assert made.startswith(page[: page.index("old")])
    assert made.endswith(page[page.index("<!-- /table -->") :])
    assert "old" not in made
    assert with_tables(made, {"wrong_labels": results_of(asked)}) == made
