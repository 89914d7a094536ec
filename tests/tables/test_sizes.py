"""Circuits of several sizes: how good each is on rows not seen, which one is shown, and that the vote stays what predicts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import gradus
from gradus import BooleanNetworkClassifier, Network
from gradus._tables.sizes import Sized, n_gates, shown_place

N = 200


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"size": rng.normal(size=N).round(2), "age": rng.integers(18, 80, N), "kind": rng.choice(list("abc"), N)}
    )
    labels = np.where((table["size"] > 0.2) & (table["age"] > 40), "yes", "no")
    return table, np.where(rng.random(N) < 0.1, "yes", labels)


@pytest.fixture(scope="module")
def learned(frame):
    return BooleanNetworkClassifier(n_circuits=10, random_state=0).fit(*frame)


def test_sizes_grow_and_exactly_one_is_shown(learned):
    curve = learned.size_curve_
    gates = [size["gates"] for size in curve[:-1]]
    assert gates == sorted(set(gates))
    assert [size["gates"] for size in curve if size["shown"]] == [n_gates(learned.network_)]
    assert all(0.5 < size["accuracy"] <= 1 for size in curve)
    shown = next(size for size in curve if size["shown"])
    assert shown["conditions"] == sum(said.n_conditions for said in learned.model_.statements) <= 4


@pytest.mark.parametrize("most", [1, 2, 6])
def test_another_size_changes_what_is_shown_and_not_what_is_predicted(frame, learned, most):
    other = BooleanNetworkClassifier(n_circuits=10, max_gates=most, random_state=0).fit(*frame)
    assert n_gates(other.network_) <= most
    assert np.array_equal(other.predict_proba(frame[0]), learned.predict_proba(frame[0]))
    assert other.networks_[1:] == learned.networks_[1:]


def test_a_vote_without_the_circuit_that_is_shown_survives_its_file(learned, frame, tmp_path):
    learned.save(tmp_path / "model.json")
    model = gradus.load(tmp_path / "model.json")
    assert model.apart
    assert np.array_equal(model.predict_proba(frame[0]), learned.predict_proba(frame[0]))
    assert model.about["size_curve"] == learned.size_curve_
    assert model.rules() == learned.rules()
    assert not model.single().apart


def test_what_rules_cover_is_counted_on_the_rows_learned_from(learned, frame):
    table, labels = frame
    row = learned.rules(as_frame=True).iloc[0]
    holds = learned.network_.predict(learned.model_.features.encode(table))[:, 0]
    assert row["rows"] == holds.sum()
    assert row["right"] == pytest.approx((labels[holds] == "yes").mean())
    text = learned.rules(as_text=True)
    assert text.startswith("if ")
    assert f"then y = yes ({holds.sum()} rows, " in text
    assert text.endswith("otherwise y = no")


def one(gates, right, clear=None):
    network = Network(2, [[0, 1]] * gates, [1 + gates], [8] * gates)
    right = np.array(right, dtype=bool)
    return Sized(network, (0,), True, right, right if clear is None else np.array(clear, dtype=bool))


def test_the_smallest_that_is_nearly_as_good_is_shown():
    bad, good = [True] * 50 + [False] * 50, [True] * 90 + [False] * 10
    assert shown_place([one(1, bad), one(2, good), one(5, good)]) == 1
    assert shown_place([one(1, bad), one(2, good), one(5, good)], most=1) == 0
    assert shown_place([one(1, bad), one(2, good), one(5, good)], most=9) == 2
    unclear = one(1, good, clear=bad)
    assert shown_place([unclear, one(3, good)]) == 1  # rules that hold for no class, or for several, are not good ones
    assert shown_place([one(2, []), one(5, [])]) == 1  # nothing was scored


def test_plain_bits_have_a_size_too():
    X = np.random.default_rng(0).integers(0, 2, (64, 5))
    y = X[:, 0] ^ X[:, 1] ^ X[:, 2] ^ X[:, 3]
    full = BooleanNetworkClassifier(random_state=0).fit(X, y)
    small = BooleanNetworkClassifier(random_state=0, max_gates=1).fit(X, y)
    assert [size["shown"] for size in full.size_curve_] == [True]
    assert n_gates(small.network_) <= 1 < n_gates(full.network_)
    assert (small.predict(X) == y).all()  # the circuits without errors predict
