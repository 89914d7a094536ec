"""Circuits that compare classes in pairs: the class that wins most comparisons, and files, exports and rules that agree."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradus
from gradus import BooleanNetworkClassifier, Model, Network
from gradus._circuit.network import network_of
from gradus._lessons.voting import stacked
from gradus._tables.goals import Weights
from gradus._tables.labels import TargetEncoding
from gradus._tables.logistic import ridge_logistic, shares_of_scores
from gradus._tables.pairs import in_pairs, recoded
from gradus._tables.readable_rules import how_shown, rule_coverage
from gradus._tables.readers import NodeValues, read_circuit


def target_of(n_classes):
    return in_pairs(TargetEncoding("y", tuple(f"c{k}" for k in range(n_classes))))


def wires(n_outputs):
    return Network(n_outputs, [], list(range(n_outputs)))


@given(st.integers(4, 6), st.integers(0, 1000))
def test_comparisons_are_weighed_by_a_ridge_regression_on_the_rows(n_classes, seed):
    rng = np.random.default_rng(seed)
    target = target_of(n_classes)
    codes = rng.integers(-1, n_classes, (30, 1))
    outputs = rng.random((30, target.n_outputs)) < 0.5
    (reader,) = read_circuit(wires(target.n_outputs), [target], outputs, codes, Weights.equal(30, [target]))
    known = codes[:, 0] >= 0
    rows = np.bincount(codes[known, 0], minlength=n_classes) + 0.1
    signs = outputs[known] - outputs[known].mean(axis=0)
    prior = np.tile(np.log(rows / rows.sum()), (len(signs), 1))
    level, weights = ridge_logistic(signs, codes[known, 0], np.ones(len(signs)), prior)
    wanted = shares_of_scores(prior + level + signs @ weights)
    said = reader.probabilities(NodeValues({k: k for k in range(target.n_outputs)}, outputs))[known]
    assert np.allclose(said, wanted, atol=5e-3)


@given(st.integers(4, 7), st.integers(0, 1000))
def test_without_weights_the_class_that_wins_most_comparisons_is_said(n_classes, seed):
    target = target_of(n_classes)
    outputs = np.random.default_rng(seed).random((20, target.n_outputs)) < 0.5
    assert target.decode(outputs).tolist() == [naive_winner(row, n_classes) for row in outputs]


def naive_winner(row, n_classes):
    wins = [0] * n_classes
    for value, (a, b) in zip(row, combinations(range(n_classes), 2), strict=True):
        wins[a if value else b] += 1
    return wins.index(max(wins))


@given(st.integers(0, 1000))
def test_stacked_circuits_say_what_each_says(seed):
    rng = np.random.default_rng(seed)

    def circuit():
        sources = [sorted(rng.integers(0, 3 + g, 2).tolist()) for g in range(3)]
        return Network(3, sources, rng.integers(0, 6, 2).tolist(), rng.integers(0, 16, 3).tolist())

    circuits = [circuit() for _ in range(4)]
    inputs = np.arange(8)[:, np.newaxis] >> np.arange(3) & 1 == 1
    assert (network_of(stacked(circuits)).predict(inputs) == np.hstack([one.predict(inputs) for one in circuits])).all()


def test_a_target_in_pairs_survives_its_file_and_names_its_pairs():
    target = target_of(4)
    assert target.pairs == list(combinations(range(4), 2))
    assert target.output_names[0] == "y = c0 rather than c1"
    assert TargetEncoding.from_json(json.loads(json.dumps(target.to_json()))) == target
    assert not TargetEncoding("y", ("a", "b", "c")).pairs


def test_rows_of_other_classes_are_not_counted_for_a_comparison():
    target = target_of(4)
    codes = np.array([[0], [1], [2], [-1]])
    counts = rule_coverage(np.ones((4, 6), dtype=bool), [target], codes)
    assert counts["y = c0 rather than c1"] == [2, 1]
    assert counts["y = c2 rather than c3"] == [1, 1]


@given(st.integers(0, 1000))
def test_a_vote_says_the_same_when_its_circuits_have_an_output_for_each_pair(seed):
    rng = np.random.default_rng(seed)
    target, features = TargetEncoding("y", ("a", "b", "c", "d")), Model.of_bits(wires(5)).features
    circuits = [
        Network(5, rng.integers(0, 5, (3, 2)), rng.integers(0, 8, 4).tolist(), rng.integers(0, 16, 3).tolist())
        for _ in range(3)
    ]
    inputs, codes = rng.random((40, 5)) < 0.5, rng.integers(0, 4, (40, 1))
    vote = Model.fit(circuits, features, [target], inputs, codes)
    assert np.array_equal(recoded(vote, in_pairs(target)).votes(inputs)[0], vote.votes(inputs)[0])


@pytest.fixture(scope="module")
def prototypes():
    """Six classes around points of many columns: no few columns tell a class from all others."""
    rng = np.random.default_rng(0)
    y = np.arange(240) % 6
    X = rng.normal(size=(6, 12))[y] + rng.normal(size=(240, 12))
    return pd.DataFrame(X.round(1), columns=[f"x{k}" for k in range(12)]), y


@pytest.fixture(scope="module")
def learned(prototypes):
    return BooleanNetworkClassifier(n_circuits=10, n_tries=1, random_state=0).fit(*prototypes)


def test_pairs_are_shown_where_an_output_for_each_class_is_far_behind_the_vote(prototypes, learned):
    table, y = prototypes
    target = learned.model_.targets[0]
    assert len(target.pairs) == learned.network_.n_outputs == 15
    curve = learned.size_curve_
    assert curve[-1]["shown"]
    assert curve[-1]["accuracy"] > max(size["accuracy"] for size in curve[:-1])
    assert {network.output_names for network in learned.networks_} == {target.output_names}
    alone = learned.model_.single()
    assert np.mean(alone.predict(table) == y) > 0.9
    assert set(alone.predict(table)) == set(range(6))
    for said, (holds, right) in zip(learned.model_.statements, learned.model_.about["coverage"].values(), strict=False):
        assert 0 <= right <= holds, said.name


def test_the_same_rows_give_the_same_pairs_for_any_number_of_threads(prototypes, learned):
    other = BooleanNetworkClassifier(n_circuits=10, n_tries=1, random_state=0, n_jobs=2).fit(*prototypes)
    assert other.networks_ == learned.networks_


def test_a_model_in_pairs_is_kept_exported_and_explained(prototypes, learned, tmp_path):
    table, _ = prototypes
    learned.save(tmp_path / "model.json")
    model = gradus.load(tmp_path / "model.json")
    assert np.array_equal(model.predict_proba(table), learned.predict_proba(table))
    assert (model.single().predict(table) == learned.model_.single().predict(table)).all()
    gradus.export(model, tmp_path / "rule.py")
    space = {}
    exec(compile((tmp_path / "rule.py").read_text(encoding="utf-8"), "rule.py", "exec"), space)
    said = [space["predict"](row) for row in table.to_dict("records")]
    assert said == model.single().predict(table).tolist()
    text = model.rules(as_text=True)
    assert "then y = 0 rather than 1 (" in text
    assert how_shown(model.targets).startswith("Shown is a circuit that compares classes in pairs")
    assert "y is the class that these comparisons make likeliest" in text
