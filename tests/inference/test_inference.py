"""`infer` as a whole, and leave-one-out against a slow twin."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from gradus._inference.leave_one_out import folds, score
from gradus._inference.result_files import as_document, edges_csv, regulators_csv, rules_csv
from gradus._inference.rules_page import rules_page
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gradus._formats.series import Series
from gradus._formats.transitions import transitions
from gradus._inference import Prior, infer
from gradus._search.many import search_many
from gradus.errors import ConflictError, SettingsError
from gradus.problems import YEAST_SERIES


@pytest.fixture(scope="module")
def yeast():
    return infer(transitions(YEAST_SERIES), n_networks=10, seed=1)


def test_every_rule_fits_every_transition(yeast):
    moves = yeast.transitions
    predicted = yeast.network.predict(moves.X)
    columns = [yeast.network.output_names.index(name) for name in moves.target_names]
    assert np.array_equal(predicted[:, columns], moves.Y)
    assert yeast.network.input_names == yeast.network.output_names == moves.input_names
    assert not predicted[:, moves.input_names.index("start")].any()


def test_all_minimum_sets_are_those_of_the_paper(yeast):
    sets = {name: {frozenset(one) for one in found} for name, found in yeast.minimum_sets.items()}
    assert sets["SK"] == {frozenset({"start"})}
    assert sets["Ste9"] == sets["Rum1"] == {frozenset({"start", "PP"})}
    assert sets["Cdc2/Cdc13"] == {frozenset({"Ste9", "Slp1"}), frozenset({"Rum1", "Slp1"})}
    assert sets["Cdc2/Cdc13*"] == {frozenset({"Slp1", "Wee1/Mik1"}), frozenset({"Slp1", "Cdc25"})}


def test_the_same_seed_gives_the_same_result_with_any_number_of_workers(yeast):
    again = infer(transitions(YEAST_SERIES), n_networks=10, seed=1, n_jobs=2)
    assert as_document(again) == as_document(yeast)
    assert again.network == yeast.network


def test_leaving_one_out_says_what_could_not_be_scored(yeast):
    scores = yeast.leave_one_out
    assert scores.not_scored == ((0, "SK"),)
    assert {one.target: one.scored for one in scores.targets} == {
        name: 8 if name == "SK" else 9 for name in yeast.transitions.target_names
    }
    assert scores.overall.persistence == pytest.approx(63 / 80)


def test_networks_may_be_kept_to_the_minimum_sets():
    found = infer(transitions(YEAST_SERIES), n_networks=5, regulators="minimum", leave_one_out=False)
    assert found.leave_one_out is None
    for rule in found.rules:
        hierarchy = next(
            one for one in found.hierarchies if rule.target in [found.transitions.target_names[k] for k in one.targets]
        )
        readable = {found.transitions.input_names[i] for features in hierarchy.feature_sets for i in features}
        assert set(rule.regulators) <= readable


def test_no_network_uses_a_forbidden_edge():
    prior = Prior(allow=(("start", "SK"), ("Slp1", "PP")), forbid=(("Wee1/Mik1", "Cdc2/Cdc13*"),))
    found = infer(transitions(YEAST_SERIES), n_networks=10, prior=prior, leave_one_out=False)
    used = {(edge.regulator, edge.target) for edge in found.edges if edge.frequency}
    assert ("Wee1/Mik1", "Cdc2/Cdc13*") not in used
    assert {regulator for regulator, target in used if target == "SK"} == {"start"}
    assert {regulator for regulator, target in used if target == "PP"} == {"Slp1"}


def test_names_cannot_break_the_page_or_the_tables():
    name = '<script>alert("x")</script>,"\n'
    states = [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]
    found = infer(transitions(Series([name, "b"], states)), n_networks=3)
    shown = rules_page(found, picture=None, files=[name], title=name)
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown
    assert rules_csv(found).count("\n") >= 3
    assert edges_csv(found).startswith("regulator,target,")
    assert regulators_csv(found).startswith("target,size,")


@pytest.mark.parametrize(
    "settings_",
    [{"n_networks": 0}, {"regulators": "some"}, {"n_networks": True}, {"time_limit": True}, {"binarize": "median"}],
)
def test_settings_are_checked(settings_):
    with pytest.raises(SettingsError):
        infer(YEAST_SERIES, **settings_)


def test_a_search_that_never_fits_is_told(monkeypatch):
    monkeypatch.setattr("gradus._inference.inference.MAX_ITERATIONS", 1000)
    found = infer(transitions(YEAST_SERIES), n_networks=2, gates_per_target=1, leave_one_out=False)
    assert found.unfitted["Ste9"] == 2
    assert "do not fit all transitions" in rules_page(found, picture=None, files=[], title="t")


@settings(max_examples=40)
@given(st.data())
def test_scores_are_what_counting_one_by_one_gives(data):
    n = data.draw(st.integers(2, 6))
    X = data.draw(hnp.arrays(np.bool_, (n, 2)))
    Y = data.draw(hnp.arrays(np.bool_, (n, 2)))
    genes = targets = ("a", "b")
    shares = {(fold.row, k): data.draw(st.sampled_from([0.0, 0.25, 0.5, 1.0])) for fold in folds(Y) for k in fold.targets}
    found = score(X, Y, genes, targets, shares)
    for one in found.targets:
        k = targets.index(one.target)
        vote = single = stays = usual = 0.0
        rows = [row for row in range(n) if (row, k) in shares]
        for row in rows:
            rest = [bool(Y[i, k]) for i in range(n) if i != row]
            assert len(set(rest)) == 2
            share = shares[row, k]
            right = share if Y[row, k] else 1 - share
            vote += 0.5 if share == 0.5 else (share > 0.5) == Y[row, k]
            single += right
            stays += X[row, k] == Y[row, k]
            ones = sum(rest)
            usual += 0.5 if 2 * ones == len(rest) else (2 * ones > len(rest)) == Y[row, k]
        assert (one.scored, one.vote, one.single, one.persistence, one.majority) == pytest.approx(
            (len(rows), vote / len(rows), single / len(rows), stays / len(rows), usual / len(rows))
        )
    assert len(found.not_scored) + len(shares) == 2 * n


def test_more_minimum_sets_than_are_listed_are_told(monkeypatch):
    monkeypatch.setattr("gradus._inference.inference.MOST_SETS", 1)
    found = infer(transitions(YEAST_SERIES), n_networks=2, leave_one_out=False)
    assert "Cdc2/Cdc13" in found.cut
    assert "SK" not in found.cut  # has exactly one
    assert len(found.minimum_sets["Cdc2/Cdc13"]) == 1
    lines = regulators_csv(found).splitlines()
    assert lines[0] == "target,size,regulators,all_listed"
    assert {line.split(",")[0]: line[-1] for line in lines}["Cdc2/Cdc13"] == "0"
    assert {line.split(",")[0]: line[-1] for line in lines}["SK"] == "1"
    assert as_document(found)["more_minimum_sets_than_listed"] == list(found.cut)
    assert "more sets than could be listed for" in rules_page(found, picture=None, files=[], title="t")


def test_networks_that_do_not_fit_have_no_vote_on_what_was_left_out(monkeypatch):
    def scores(second):
        """Scores of pairs of networks of which the second is changed."""

        def in_pairs(jobs, **settings_):
            results = search_many(jobs, **settings_)
            for first, other in zip(results, results, strict=True):
                yield first
                yield second(first, other)

        monkeypatch.setattr("gradus._inference.inference.search_many", in_pairs)
        return infer(transitions(YEAST_SERIES), n_networks=2, n_left_out_networks=2, seed=1).leave_one_out

    first_alone = scores(lambda first, _: first)
    assert scores(lambda _, other: other) != first_alone
    assert scores(lambda _, other: replace(other, converged=False)) == first_alone


def test_series_frames_and_files_give_the_same_rules(tmp_path):
    frame = pd.DataFrame(YEAST_SERIES.states.astype(int), columns=YEAST_SERIES.genes)
    frame.to_csv(tmp_path / "yeast.csv", index=False)
    settings_ = {"n_networks": 3, "leave_one_out": False}
    expected = rules_csv(infer(transitions(YEAST_SERIES), **settings_))
    for source in (YEAST_SERIES, [YEAST_SERIES], frame, tmp_path / "yeast.csv"):
        assert rules_csv(infer(source, **settings_)) == expected
    for binarize in ("kmeans", 1.5):
        assert rules_csv(infer(2 * frame, binarize=binarize, **settings_)) == expected


def test_contradictory_states_are_raised_left_out_or_settled_by_the_first():
    states = [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0], [1, 1]]
    with pytest.raises(ConflictError, match="on_conflict='ignore'"):
        infer(Series(["a", "b"], states))
    assert infer(Series(["a", "b"], states), on_conflict="ignore", n_networks=2).transitions.left_out == 2
    first = infer(Series(["a", "b"], states), on_conflict="first", n_networks=2)
    assert [rule.text for rule in first.rules] == ["!b", "a"]


def test_progress_counts_every_network_and_a_callback_that_returns_true_keeps_the_rules_so_far():
    seen = []
    found = infer(YEAST_SERIES, n_networks=2, n_left_out_networks=1, callback=seen.append)
    assert (seen[-1].stage, seen[-1].done) == ("networks", seen[-1].total)
    assert not found.stopped
    stopped = infer(YEAST_SERIES, n_networks=2, n_left_out_networks=1, callback=lambda progress: True)
    assert stopped.stopped
    assert stopped.leave_one_out is None
    assert 0 < len(stopped.rules) < len(found.rules)
    constant = list(found.transitions.constant_targets)
    assert set(stopped.network.output_names) == {*constant, *(rule.target for rule in stopped.rules)}
    assert "was stopped" in rules_page(stopped, picture=None, files=[], title="t")


def test_a_time_limit_keeps_the_networks_trained_by_then():
    infer(YEAST_SERIES, n_networks=1, leave_one_out=False)  # compile first
    begin = time.process_time()
    found = infer(YEAST_SERIES, n_networks=100_000, leave_one_out=False, time_limit=0.3)
    assert found.stopped
    assert found.rules
    assert time.process_time() - begin < 5
