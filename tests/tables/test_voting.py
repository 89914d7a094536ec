"""Circuits that vote about a table, and the one circuit that is learned from their vote."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from types import SimpleNamespace

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import gradus
from gradus import BooleanNetworkClassifier, Network
from gradus._core.run import Run
from gradus._lessons import LearnSettings
from gradus._tables import distil, vote
from gradus._tables.cells import read_cells
from gradus._tables.column_kinds import column_kinds
from gradus._tables.cuts import encode_table
from gradus._tables.distil import recombine_rows, taught_rows
from gradus._tables.fit import FitSettings, fit_table
from gradus._tables.goals import Weights
from gradus._tables.labels import TargetEncoding, encode_target
from gradus._tables.model import Model
from gradus._tables.voted import vote_on
from gradus._tables.voters import LEFT_OUT, POOL, TableExamples, join_voters, learn_voter, unneeded_columns

N = 120


def best_inputs(inputs, outputs, seed):
    """A learner without gates: each output is the input that agrees with it most often."""
    agree = [(np.asarray(column, float)[:, np.newaxis] == inputs).sum(axis=0) for column in outputs.T]
    wires = [int(np.argmax(row)) for row in agree]
    return SimpleNamespace(network=Network(inputs.shape[1], [], wires), order=tuple(range(len(wires))), stopped=None)


def stopped_early(inputs, outputs, seed):
    return SimpleNamespace(**{**vars(best_inputs(inputs, outputs, seed)), "stopped": "time_limit"})


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    size, colour = rng.normal(size=N), rng.choice(["red", "green", "blue"], N)
    age = rng.integers(0, 90, N).astype(object)
    age[::5] = None
    table = {"no": np.arange(N), "size": size, "colour": colour, "age": age, "noise": rng.normal(size=N)}
    labels = np.where(colour == "red", "stop", np.where(size > 0.3, "go", "wait"))
    return pd.DataFrame(table), pd.Series(labels, name="sign")


@pytest.fixture(scope="module")
def examples(frame):
    table, labels = frame
    cells = {name: read_cells(table[name]) for name in table}
    target, _, codes = encode_target(labels, "sign")
    kinds = column_kinds(cells)
    codes = codes[:, np.newaxis]
    weights = Weights.equal(N, [target])
    return TableExamples(cells, codes, (target,), kinds, "category", encode_table(cells, codes, kinds=kinds), weights)


@pytest.fixture(scope="module")
def voted(frame):
    return BooleanNetworkClassifier(n_circuits=3, random_state=5).fit(*frame)


def joined(examples, n_voters=5, seed=0):
    voters = [learn_voter(examples, best_inputs, seed, number) for number in range(n_voters)]
    features, networks = join_voters(voters, examples)
    return voters, Model.fit(networks, features, examples.targets, features.encode(examples.columns), examples.codes)


def test_a_joined_circuit_says_what_it_said_by_itself(examples):
    voters, model = joined(examples)
    inputs = model.features.encode(examples.columns)
    for voter, network in zip(voters, model.networks, strict=True):
        assert np.array_equal(network.predict(inputs), voter.network.predict(voter.encoding.encode(examples.columns)))


def test_inputs_by_which_voters_are_read_are_kept_and_no_id_is_among_them(examples):
    voters, model = joined(examples, 7)
    read = set().union(*(voter.read(examples) for voter in voters))
    others = [name for name, key in zip(model.features.input_names, model.features.input_keys, strict=True) if key not in read]
    assert all(name.startswith("colour") for name in others)  # "is another" depends on the categories that are named
    assert "no" not in model.feature_names
    assert (
        np.array(model.predict(examples.columns)) == np.array(model.targets[0].classes)[examples.codes[:, 0]]
    ).mean() > 0.85


def test_voters_draw_cuts_from_those_that_share_out_the_rows_evenly(examples):
    pool = dict(zip(examples.columns, examples.pool.columns, strict=True))["size"]
    sizes = np.sort(pool.numbers(examples.columns["size"]))
    below = np.searchsorted(sizes, pool.values, side="right")
    assert len(pool.values) == POOL
    assert np.abs(np.diff([0, *below, N]) - N / (POOL + 1)).max() <= 2


def test_voters_depend_on_the_seed_and_their_number_alone(examples):
    voter, again = learn_voter(examples, best_inputs, 1, 2), learn_voter(examples, best_inputs, 1, 2)
    assert voter.encoding == again.encoding
    assert voter.network == again.network
    assert voter.encoding != learn_voter(examples, best_inputs, 1, 3).encoding
    assert voter.complete
    assert not learn_voter(examples, stopped_early, 1, 2).complete


def outvoted(rows, codes):
    """Rows whose class is not the most frequent one among the rows equal to them."""
    groups = {}
    for row, code in zip(map(tuple, rows.tolist()), map(tuple, codes.tolist()), strict=True):
        groups.setdefault(row, []).append(code)
    return sum(len(group) - max(map(group.count, group)) for group in groups.values())


@given(st.integers(1, 12), st.integers(1, 8), st.integers(1, 2), st.integers(0, 1000))
def test_a_voter_goes_without_columns_only_if_classes_stay_apart(n_rows, n_columns, n_targets, seed):
    rng = np.random.default_rng(seed)
    columns = np.sort(np.append(np.arange(n_columns), rng.integers(0, n_columns, 3)))
    inputs, codes = rng.random((n_rows, len(columns))) < 0.5, rng.integers(-1, 3, (n_rows, n_targets))
    unneeded = unneeded_columns(inputs, columns, codes, rng)
    kept, known = ~np.isin(columns, unneeded), (codes >= 0).all(axis=1)
    wrong = outvoted(inputs[known], codes[known])
    assert outvoted(inputs[known][:, kept], codes[known]) <= wrong
    assert len(set(unneeded)) == len(unneeded) <= LEFT_OUT * n_columns
    if len(unneeded) < int(LEFT_OUT * n_columns):  # no other could go
        for j in set(range(n_columns)) - set(unneeded):
            assert outvoted(inputs[known][:, kept & (columns != j)], codes[known]) > wrong


def test_a_table_that_tells_nothing_gives_the_majority():
    y = ["no"] * 20 + ["yes"] * 10
    model = BooleanNetworkClassifier(n_circuits=2, random_state=0).fit(pd.DataFrame({"a": ["x", "y", "z"] * 10}), y)
    assert set(model.predict(pd.DataFrame({"a": ["x", "q"]}))) == {"no"}


def test_rows_to_learn_from_are_those_of_the_table_and_others_that_the_vote_labels(examples):
    _, model = joined(examples)
    own = model.features.encode(examples.columns)
    inputs, outputs = taught_rows(model, own, examples.codes, np.random.default_rng(0))
    assert np.array_equal(inputs[:N], own)
    assert np.array_equal(outputs[:N], model.targets[0].encode(examples.codes[:, 0]))
    assert np.array_equal(outputs[N:], model.targets[0].encode(model.predict_codes(inputs[N:])[0]))


def test_half_of_the_rows_that_a_vote_is_asked_about_may_lie_between_classes(examples, monkeypatch):
    _, model = joined(examples)
    calls = []

    def spy(inputs, columns, classes, n_rows, rng):
        calls.append((classes[:, 0], n_rows))
        return recombine_rows(inputs, columns, classes, n_rows, rng)

    monkeypatch.setattr(distil, "recombine_rows", spy)
    taught_rows(model, model.features.encode(examples.columns), examples.codes, np.random.default_rng(0))
    (same, n_same), (mixed, n_mixed) = calls
    assert np.array_equal(same, model.predict_codes(model.features.encode(examples.columns))[0])
    assert len(set(mixed.tolist())) == 1
    assert n_same == n_mixed


def test_recombined_rows_take_each_column_from_a_row_of_the_same_class():
    rng = np.random.default_rng(3)
    inputs = rng.random((40, 6)) < 0.5
    columns, classes = np.array([0, 0, 1, 2, 2, 2]), rng.integers(0, 3, (40, 1))
    inputs[:, 2] = classes[:, 0] == 1
    rows = recombine_rows(inputs, columns, classes, 300, rng)
    halves = {label: [inputs[classes[:, 0] == label][:, columns == k] for k in range(3)] for label in range(3)}
    for row in rows:
        assert any(
            all((row[columns == k] == part).all(axis=1).any() for k, part in enumerate(halves[label])) for label in halves
        )
    assert len(recombine_rows(inputs, columns, classes, 0, rng)) == 0


def test_a_vote_is_the_same_for_any_number_of_threads_and_survives_its_file(frame, voted, tmp_path):
    table, labels = frame
    again = BooleanNetworkClassifier(n_circuits=3, random_state=5, n_jobs=2).fit(table, labels)
    assert again.networks_ == voted.networks_
    assert len(voted.networks_) == 4
    voted.save(tmp_path / "vote.json")
    loaded = gradus.load(tmp_path / "vote.json")
    assert np.array_equal(loaded.predict_proba(table), voted.predict_proba(table))
    assert loaded.predict(table).tolist() == voted.predict(table).tolist()
    assert (voted.predict(table) == labels).mean() > 0.95
    assert len(loaded.single().networks) == 1
    assert (loaded.single().predict(table) == labels).mean() > 0.9


def test_columns_of_one_bit_are_learned_by_lessons_alone():
    rng = np.random.default_rng(1)
    bits = rng.random((60, 4)) < 0.5
    y = bits[:, 0] ^ bits[:, 1]
    model = BooleanNetworkClassifier(random_state=2).fit(pd.DataFrame(np.where(bits, "on", "off")), y)
    learned = gradus.learn(bits, y, seed=2)
    assert [network.with_names() for network in model.networks_] == list(learned.circuits[: learned.n_voting])
    assert (model.predict(pd.DataFrame(np.where(bits, "on", "off"))) == y).all()


def test_labels_that_say_little_are_voted_on_by_the_best_circuit_and_the_vote():
    rng = np.random.default_rng(7)
    X = rng.random((400, 6)) < 0.5
    y = X[:, 0] ^ X[:, 1] ^ (rng.random(400) < 0.38)
    model, learned = BooleanNetworkClassifier(random_state=2).fit(X, y), gradus.learn(X, y, seed=2)
    assert learned.leanings[0] is not None
    assert [network.with_names() for network in model.networks_] == [learned.network, learned.voting_network()]
    assert (model.predict(X) == (X[:, 0] ^ X[:, 1])).mean() > 0.9


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("counted", [True, False])
def test_a_vote_as_one_circuit_says_the_same_unless_it_is_nearly_tied(seed, counted):
    rng = np.random.default_rng(seed)
    rows = np.array(list(np.ndindex(2, 2, 2, 2)), dtype=bool)
    networks = [
        Network(4, [rng.integers(4, size=2), rng.integers(5, size=2), rng.integers(6, size=2)], [5, 6], rng.integers(1, 15, 3))
        for _ in range(rng.integers(2, 8))
    ]
    plain = Model.of_bits(networks[0])
    targets = (plain.targets[0], TargetEncoding("z1", ("no", "yes")))
    codes = rng.integers(0, 2, (40, 2))
    model = Model.fit(networks, plain.features, targets, rng.random((40, 4)) < 0.5, codes)
    model = model if counted else replace(model, readers=())
    voted = model.voted()
    assert len(voted.networks) == 1
    for k, (said, shares) in enumerate(zip(voted.predict_codes(rows), model.votes(rows), strict=True)):
        beyond = np.abs(shares[:, 1] - 0.5) * len(networks)
        sure = (
            beyond > (len(networks) / 2 + 1.5) * vote_on(len(networks), [reader[k] for reader in model.readers], 2).unit
            if counted
            else np.ones(len(rows), dtype=bool)
        )
        assert (said == model.predict_codes(rows)[k])[sure].all()


@pytest.mark.parametrize(("low", "n_networks"), [(1, 2), (None, 3)])
def test_numbers_are_cut_in_many_ways_unless_there_are_only_two(low, n_networks):
    rng = np.random.default_rng(1)
    size = rng.random(60)
    y = size > 0.5  # one cut is enough
    column = size if low is None else np.where(y, low + 1.5, low)
    model = BooleanNetworkClassifier(random_state=2, n_circuits=2).fit(column[:, np.newaxis], y)
    assert len(model.networks_) == n_networks


@pytest.mark.parametrize("settings", [{"n_circuits": 1}, {"noise": 0}])
def test_one_circuit_or_no_error_means_no_vote(frame, settings):
    table, labels = frame
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = BooleanNetworkClassifier(**settings, n_tries=1, time_limit=1, random_state=0).fit(table, labels)
    assert model.model_.features.plan()[1].startswith("size: number, cut at")
    assert len(model.networks_) <= 5


@pytest.mark.parametrize("limit", [0, 0.5])
def test_a_time_limit_holds_and_what_is_there_votes(frame, voted, limit):
    table, labels = frame
    classifier = BooleanNetworkClassifier(n_circuits=500, time_limit=limit, random_state=0)
    begin = time.monotonic()
    with pytest.warns(ConvergenceWarning, match="ended early"):
        classifier.fit(table, labels)
    assert time.monotonic() - begin < limit + 2.5  # the machine may be busy
    assert classifier.stopped_ == "time_limit"
    assert 1 <= len(classifier.networks_) < 500
    assert len(classifier.predict(table)) == N


def test_voters_learned_in_other_processes_are_the_same(frame, voted):
    with joblib.parallel_config(backend="loky"):
        elsewhere = BooleanNetworkClassifier(n_circuits=3, random_state=5, n_jobs=2).fit(*frame)
    assert elsewhere.networks_ == voted.networks_


def test_ctrl_c_in_a_voter_keeps_those_that_are_complete(examples, monkeypatch):
    learn_one = vote.learn_voter

    def interrupted(examples, learner, seed, number):
        if number == 2:
            raise KeyboardInterrupt
        return learn_one(examples, best_inputs, seed, number)

    monkeypatch.setattr(vote, "learn_voter", interrupted)
    run = Run()
    model, _, stopped = vote.learn_vote(examples, LearnSettings(n_circuits=5), run)
    assert stopped == run.stopped == "interrupted"
    assert len(model.networks) == 3  # the better one is shown, and both vote
    assert model.apart


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_callback_may_end_the_work_and_sees_how_far_it_is(frame, n_jobs):
    table, labels = frame
    seen = []
    columns = {name: table[name] for name in table}
    run = Run(callback=lambda progress: seen.append(progress) or len(seen) == 4, n_jobs=n_jobs)
    model = fit_table(columns, {"y": labels.to_numpy()}, FitSettings(n_circuits=500), run)
    assert model.about["stopped"] == "callback"
    assert len(seen) == 4
    assert "circuit" in seen[-1].detail
    assert 1 <= len(model.networks) < 500
