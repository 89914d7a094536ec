import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from gradus._core.bits import as_bits, n_words, pack, tail_mask, unpack
from gradus.errors import DataError, GradusError

MATRICES = arrays(np.bool_, array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=140))


@given(MATRICES, st.integers(0, 3))
def test_unpacking_gives_back_what_was_packed(bits, spare_words):
    words = pack(bits, n_words(len(bits)) + spare_words)
    assert np.array_equal(unpack(words, len(bits)), bits)


@given(MATRICES)
def test_example_i_is_bit_i_modulo_64_of_word_i_over_64(bits):
    words = pack(bits)
    for column in range(bits.shape[1]):
        whole = sum(int(word) << (64 * w) for w, word in enumerate(words[column]))
        assert whole == sum(int(bit) << i for i, bit in enumerate(bits[:, column]))


@pytest.mark.parametrize("n", [1, 63, 64, 65, 128, 129])
def test_the_mask_has_a_bit_for_each_example_and_no_other(n):
    assert unpack(tail_mask(n)[np.newaxis], 64 * n_words(n)).sum() == n
    assert tail_mask(n, 5)[n_words(n) :].sum() == 0


def test_too_few_words_are_refused():
    with pytest.raises(ValueError, match="do not fit"):
        pack(np.ones((65, 1), bool), 1)


@pytest.mark.parametrize(
    "make",
    [np.array, lambda v: np.array(v, np.uint8), lambda v: np.array(v, float), lambda v: np.array(v, bool), list,
     pd.DataFrame, lambda v: pd.DataFrame(v).astype("Int64"), lambda v: np.array(v, object)],
)  # fmt: skip
def test_every_kind_of_zero_and_one_is_accepted(make):
    values = [[0, 1, 1], [1, 0, 1]]
    assert np.array_equal(as_bits(make(values)), np.array(values, bool))


def test_a_single_column_may_be_flat():
    assert as_bits([0, 1, 1]).shape == (3, 1)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[0, 1], [np.nan, 1]], "X has a missing value in row 1, column 0; every value must be 0 or 1."),
        ([[0, 1], [1, None]], "X has a missing value in row 1, column 1; every value must be 0 or 1."),
        ([[0, 1], [1, 0.5]], "X has the value 0.5 in row 1, column 1; every value must be 0 or 1."),
        ([[0, -1]], "X has the value -1 in row 0, column 1; every value must be 0 or 1."),
        ([["0", "1"]], "X has the value '0' in row 0, column 0; every value must be 0 or 1."),
        ([[0, 1], [1]], "X is not a table: its rows have different lengths."),
        (np.zeros((0, 3)), "X has no rows; give at least one example."),
        (np.zeros((2, 2, 2)), "X must have rows and columns, but it has 3 dimensions."),
        (pd.DataFrame({"a": [0, 1], "b": [1, 7]}), "X has the value 7 in row 1, column 'b'; every value must be 0 or 1."),
        (pd.DataFrame([[0, 1]], columns=["a", "a"]), "X has two columns named 'a' (columns 0 and 1); rename one of them."),
        (pd.DataFrame({"a": [pd.NA, 1]}), "X has a missing value in row 0, column 'a'; every value must be 0 or 1."),
    ],
)
def test_a_bad_value_is_named_with_its_row_and_column(values, message):
    with pytest.raises(DataError) as caught:
        as_bits(values)
    assert str(caught.value) == message
    assert isinstance(caught.value, GradusError)
