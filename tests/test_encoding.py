"""Features as inputs, labels as outputs, and rows that contradict each other."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gradus._encoding.conflicts import refuse_conflicts
from gradus._encoding.features import FeatureEncoding, encode_features
from gradus._encoding.labels import TargetEncoding, encode_target
from gradus.errors import ConflictError, DataError, FormatError, SettingsError


@pytest.mark.parametrize(
    ("label", "name", "value"),
    [("yes", "y=yes", True), (3, "y=3", True), (1, "y", True), (True, "y", True), (0, "y", False), (False, "y", False)],
)
def test_the_output_of_a_single_class_is_true_to_its_name(label, name, value):
    encoding, classes, codes = encode_target([label] * 3, "y")
    bits = encoding.encode(codes)
    assert encoding.output_names == (name,)
    assert bits.tolist() == [[value]] * 3
    assert classes[encoding.decode(bits)].tolist() == [label] * 3


def through_json(encoding: FeatureEncoding) -> FeatureEncoding:
    return FeatureEncoding.from_json(json.loads(json.dumps(encoding.to_json())))


@given(hnp.arrays(np.bool_, st.tuples(st.integers(1, 9), st.integers(1, 5))), st.sampled_from([None, "quantile", 0.3]))
def test_a_table_of_bits_stays_as_it_is_whatever_binarize_says(table, binarize):
    encoding = encode_features(table.astype(int), binarize=binarize)
    assert np.array_equal(encoding.encode(table), table)
    assert encoding.input_names == tuple(f"x{j}" for j in range(table.shape[1]))


@given(hnp.arrays(np.float64, st.integers(1, 40), elements=st.floats(-1e6, 1e6)))
def test_cuts_split_a_column_between_its_values_and_their_names_are_the_numbers_used(column):
    encoding = encode_features(column[:, np.newaxis], ["size"])
    bits = encoding.encode(column[:, np.newaxis])
    for j, name in enumerate(encoding.input_names):
        if encoding.columns[0].kind == "above":
            assert np.array_equal(bits[:, j], column > float(name.removeprefix("size>")))
            if len(np.unique(column)) > 1:
                assert 0 < bits[:, j].sum() < len(column)
    if len(np.unique(column)) <= 4:
        assert len(np.unique(bits, axis=0)) == len(np.unique(column))


def test_many_numbers_are_cut_at_the_quartiles():
    column = np.arange(100.0)[:, np.newaxis]
    assert encode_features(column).encode(column).sum(axis=0).tolist() == [75, 50, 25]


def test_categories_become_one_input_each_and_two_of_them_only_one():
    table = np.array([["b", "no"], ["a", "yes"], ["c", "no"]])
    encoding = encode_features(table, ["kind", "alive"])
    assert encoding.input_names == ("kind=a", "kind=b", "kind=c", "alive=yes")
    assert encoding.encode(table).astype(int).tolist() == [[0, 1, 0, 0], [1, 0, 0, 1], [0, 0, 1, 0]]


def test_numbers_that_only_name_categories_are_not_compared():
    table = np.array([[3], [1], [7]])
    assert encode_features(table, categories=[0]).input_names == ("x0=1", "x0=3", "x0=7")


def test_an_unknown_category_differs_from_the_known_ones_and_a_warning_says_so():
    encoding = encode_features(np.array([["a"], ["b"], ["c"]]))
    with pytest.warns(UserWarning, match="'d', which was not there in training"):
        assert not encoding.encode(np.array([["d"]])).any()


def test_columns_that_never_vary_are_left_out_unless_none_varies():
    table = np.array([[5, 1], [5, 0]])
    assert encode_features(table).input_names == ("x1",)
    assert encode_features(table[:, :1]).input_names == ("x0>5",)
    assert encode_features(np.array([["a"], ["a"]])).input_names == ("x0=a",)


def test_an_encoding_survives_json():
    table = np.array([[0, 2.25, "red"], [1, 3.5, "blue"], [1, 9.0, "green"]], dtype=object)
    encoding = encode_features(table, ["on", "size", "colour"])
    assert through_json(encoding) == encoding
    assert np.array_equal(through_json(encoding).encode(table), encoding.encode(table))


@pytest.mark.parametrize(
    ("table", "binarize", "error", "message"),
    [
        ([[0], [2]], None, DataError, "column 'x0' has the value 2 in row 1.*binarize"),
        ([[0], [1]], "median", SettingsError, "binarize is 'median'"),
        ([[0], [1]], True, SettingsError, "binarize is True"),
        ([[0], [1]], float("nan"), SettingsError, "binarize is nan"),
        ([0, 1], None, DataError, "1 dimensions"),
        (np.empty((0, 2)), None, DataError, "no rows"),
        (np.array([["a"], [None]], dtype=object), None, DataError, "missing value"),
        (np.array([["a"], [{}]], dtype=object), None, TypeError, "string or a real number"),
    ],
)
def test_tables_and_settings_that_cannot_be_used_are_refused(table, binarize, error, message):
    with pytest.raises(error, match=message):
        encode_features(table, binarize=binarize)


def test_new_rows_must_look_like_the_old_ones():
    numbers = encode_features(np.array([[0.5], [2.5]]))
    with pytest.raises(DataError, match="held numbers in training"):
        numbers.encode(np.array([["a"]]))
    with pytest.raises(DataError, match="trained on 1 columns"):
        numbers.encode(np.zeros((2, 3)))
    with pytest.raises(DataError, match="value 3 in row 0"):
        encode_features(np.array([[0], [1]]), binarize=None).encode(np.array([[3]]))
    assert encode_features(np.array([[0], [1]]), binarize="quantile").encode(np.array([[3]])).all()


@pytest.mark.parametrize(
    "document",
    [
        None,
        {},
        [1],
        [{"name": "x"}],
        [{"name": "x", "kind": "no", "values": [], "strict": True}],
        [{"name": "x", "kind": "above", "values": ["a"], "strict": True}],
    ],
)
def test_a_feature_encoding_that_makes_no_sense_is_refused(document):
    with pytest.raises(FormatError):
        FeatureEncoding.from_json(document)


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
    assert bits.shape == (len(labels), max(1, int(np.ceil(np.log2(len(set(labels)))))))
    assert classes[encoding.decode(bits)].tolist() == labels
    assert TargetEncoding.from_json(json.loads(json.dumps(encoding.to_json()))) == encoding


@given(st.integers(2, 40))
def test_outputs_that_are_no_code_give_the_nearest_class_and_the_lower_of_equals(n_classes):
    encoding = TargetEncoding("y", tuple(range(n_classes)))
    every = np.arange(1 << encoding.n_outputs)
    nearest = [min(range(n_classes), key=lambda c: ((c ^ code).bit_count(), c)) for code in every.tolist()]
    bits = (every[:, np.newaxis] >> np.arange(encoding.n_outputs)) & 1 == 1
    assert encoding.decode(bits).tolist() == nearest


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ([0, 1], ("y",)),
        ([True, False], ("y",)),
        (["no", "yes"], ("y=yes",)),
        ([2, 7], ("y=7",)),
        ([1, 2, 3], ("y[0]", "y[1]")),
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


@given(st.integers(2, 40))
def test_the_codes_of_a_class_are_those_that_are_decoded_as_it(n_classes):
    encoding = TargetEncoding("y", tuple(range(n_classes)))
    found = [code for label in range(n_classes) for code in encoding.codes_of(label)]
    assert sorted(found) == list(range(1 << encoding.n_outputs))
    assert all(label in encoding.codes_of(label) for label in range(n_classes))


def test_named_columns_are_found_by_name_and_others_by_position():
    encoding = encode_features(np.array([[0, 5.0], [1, 9.0]]), ["on", "size"], binarize=6)
    wanted = [[False, True], [True, False]]
    for table in (
        pd.DataFrame({"size": [7, 3], "other": ["u", "v"], "on": [0, 1]}),
        {"on": [0, 1], "size": [7, 3]},
        [[0, 7], [1, 3]],
        pd.DataFrame([[0, 7], [1, 3]]),
    ):
        assert encoding.encode_any(table).tolist() == wanted
    unnamed = encode_features(np.array([[0, 5.0], [1, 9.0]]), binarize=6)
    assert unnamed.encode_any(pd.DataFrame({"p": [0, 1], "q": [7, 3]})).tolist() == wanted


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"on": [0, 1]}, "no column 'size', which the model reads; it reads on, size"),
        ({"on": [0, 1], "size": [1]}, "same length"),
        ([[0, 1, 1]], "trained on 2 columns"),
        ([[0, 1], [1]], "different lengths"),
        ({"on": [0, 1], "size": [1, float("nan")]}, "column 'size' has a missing value"),
        ({"on": [0, 1], "size": [1, None]}, "column 'size'"),
    ],
)
def test_tables_that_a_model_cannot_read_are_refused(table, message):
    encoding = encode_features(np.array([[0, 5.0], [1, 9.0]]), ["on", "size"], binarize=6)
    with pytest.raises(DataError, match=message):
        encoding.encode_any(table)


def test_rows_in_conflict_are_named_from_1_with_the_number_of_others():
    X = np.array([[0], [1], [0], [0]], dtype=bool)
    refuse_conflicts(X, np.array([[0], [1], [0], [0]]), ["z"], "")
    with pytest.raises(ConflictError, match=r"rows 1 and 3 .* target 'z' \(1 more row is in such a conflict\), go"):
        refuse_conflicts(X, np.array([[0], [1], [1], [1]]), ["z"], "go")
