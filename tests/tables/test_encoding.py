"""Labels as outputs, and rows that contradict each other."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradus._tables.labels import TargetEncoding, encode_target, refuse_conflicts
from gradus.errors import ConflictError, FormatError


@pytest.mark.parametrize(
    ("label", "name", "value"),
    [("yes", "y = yes", True), (3, "y = 3", True), (1, "y", True), (True, "y", True), (0, "y", False), (False, "y", False)],
)
def test_the_output_of_a_single_class_is_true_to_its_name(label, name, value):
    encoding, classes, codes = encode_target([label] * 3, "y")
    bits = encoding.encode(codes)
    assert encoding.output_names == (name,)
    assert bits.tolist() == [[value]] * 3
    assert classes[encoding.decode(bits)].tolist() == [label] * 3


@pytest.mark.parametrize(
    "document", [None, [], {"name": 1, "classes": [0]}, {"name": "y", "classes": []}, {"name": "y", "classes": [[1]]}]
)
def test_a_target_encoding_that_makes_no_sense_is_refused(document):
    with pytest.raises(FormatError):
        TargetEncoding.from_json(document)


@given(st.lists(st.integers(-5, 30), min_size=1, max_size=60))
def test_labels_come_back_from_their_outputs(labels):
    encoding, classes, codes = encode_target(labels, "y")
    bits = encoding.encode(codes)
    assert bits.shape == (len(labels), len(classes) if len(classes) > 2 else 1)
    assert classes[encoding.decode(bits)].tolist() == labels
    assert TargetEncoding.from_json(json.loads(json.dumps(encoding.to_json()))) == encoding


@given(st.integers(2, 6))
def test_outputs_that_are_no_code_give_the_nearest_class_and_the_lower_of_equals(n_classes):
    encoding = TargetEncoding("y", tuple(range(n_classes)))
    every = np.arange(1 << encoding.n_outputs)
    words = [0, 1] if n_classes == 2 else [1 << k for k in range(n_classes)]
    nearest = [min(range(n_classes), key=lambda c: ((words[c] ^ code).bit_count(), c)) for code in every.tolist()]
    bits = (every[:, np.newaxis] >> np.arange(encoding.n_outputs)) & 1 == 1
    assert encoding.decode(bits).tolist() == nearest


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ([0, 1], ("y",)),
        ([True, False], ("y",)),
        (["no", "yes"], ("y = yes",)),
        ([2, 7], ("y = 7",)),
        ([1, 2, 3], ("y = 1", "y = 2", "y = 3")),
        ([1, 1], ("y",)),
    ],
)
def test_output_names_show_the_encoding(labels, names):
    assert encode_target(labels, "y")[0].output_names == names


@given(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=20).filter(lambda labels: any(labels)))
def test_unknown_labels_have_no_code_and_no_bits(labels):
    encoding, classes, codes = encode_target(np.array(labels, dtype=object), "y")
    assert sorted({label for label in labels if label}) == classes.tolist() == list(encoding.classes)
    bits = encoding.encode(codes)
    for label, code, row in zip(labels, codes.tolist(), bits, strict=True):
        assert (code == -1) == (label is None)
        assert np.isnan(row.astype(float)).all() == (label is None)
        assert label is None or classes[code] == label


def test_rows_in_conflict_are_named_from_1_with_the_number_of_others():
    X = np.array([[0], [1], [0], [0]], dtype=bool)
    refuse_conflicts(X, np.array([[0], [1], [0], [0]]), ["z"], "")
    with pytest.raises(ConflictError, match=r"rows 1 and 3 .* target 'z' \(1 more row is in such a conflict\), go"):
        refuse_conflicts(X, np.array([[0], [1], [1], [1]]), ["z"], "go")
