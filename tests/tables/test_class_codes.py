"""Codes that many classes share: every pair is told apart, classes come back, and files keep them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradus import BooleanNetworkClassifier
from gradus._tables.class_codes import coded
from gradus._tables.labels import TargetEncoding
from gradus._tables.model import load
from gradus.errors import FormatError


def target_of(n_classes):
    return TargetEncoding("y", tuple(range(n_classes)))


@given(st.integers(21, 40), st.integers(0, 1000))
def test_a_code_tells_every_pair_of_classes_apart(n_classes, seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_classes, 30 * n_classes)
    inputs = (codes[:, np.newaxis] > rng.integers(0, n_classes, 6)) ^ (rng.random((len(codes), 6)) < 0.05)
    target = coded(target_of(n_classes), codes, inputs, [f"x > {j}" for j in range(6)])
    words = target.codewords.astype(float)
    for one in range(n_classes):
        for other in range(one):
            assert (np.abs(words[one] - words[other]) == 1).any() or not target.bits
    assert TargetEncoding.from_json(json.loads(json.dumps(target.to_json()))) == target


def test_classes_in_order_along_columns_share_the_outputs_that_cut_them():
    codes = np.repeat(np.arange(24), 5)
    inputs = np.column_stack([codes // 4 > k for k in range(5)] + [codes % 4 > k for k in range(3)])
    names = [f"a > {k}" for k in range(5)] + [f"b > {k}" for k in range(3)]
    target = coded(target_of(24), codes, inputs, names)
    assert target.output_names == tuple(f"y goes with {name}" for name in names)
    assert target.decode(inputs).tolist() == codes.tolist()
    assert not target.has_output_per_class


def test_few_classes_keep_an_output_each_and_so_do_those_that_no_input_tells_apart():
    codes = np.arange(60) % 20
    assert not coded(target_of(20), codes, codes[:, np.newaxis] > 5, ["x > 5"]).bits
    noise = np.random.default_rng(0).random((300, 4)) < 0.5
    assert not coded(target_of(30), np.arange(300) % 30, noise, list("abcd")).bits


@pytest.mark.parametrize("code", [3, [["a"]], [["a", "01x"]], [["a", "01"]], [[1, "010"]]])
def test_codes_that_do_not_fit_are_refused(code):
    with pytest.raises(FormatError, match="code"):
        TargetEncoding.from_json({"name": "y", "classes": [1, 2, 3], "code": code})


def test_a_table_of_many_classes_is_learned_whole(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 14, (1200, 2))
    y = 7 * (X[:, 0] // 2) + X[:, 1] // 2
    classifier = BooleanNetworkClassifier(n_circuits=2, n_tries=1, random_state=0).fit(X, y)
    assert classifier.score(X, y) == 1.0
    assert classifier.network_.n_outputs == 12
    assert (classifier.model_.single().predict(X) == y).all()
    classifier.save(tmp_path / "m.json")
    assert (load(tmp_path / "m.json").predict(X) == y).all()
    classifier.model_.save_page(tmp_path / "m.html", table=X, labels=y)
    assert '"scores"' in (tmp_path / "m.html").read_text(encoding="utf-8")
