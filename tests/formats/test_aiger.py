from __future__ import annotations

import numpy as np
import pytest
from circuits import CIRCUITS, random_network
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_problems as naive
from gradus import problems
from gradus._formats.aiger import read_aiger, write_aiger, write_binary_aiger
from gradus.errors import FormatError

NAND = b"aag 3 2 0 1 1\n2\n4\n7\n6 4 2\n"


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n_gates=st.sampled_from([0, 1, 8, 90]))
def test_a_written_network_is_read_back_from_both_forms(seed, n_gates):
    network = random_network(4, n_gates, 3, seed).with_names(["SK", "a b", "\t", "c"], ["SK", "i0", "é"])
    X = naive.every_pattern(4)
    for data in (write_aiger(network).encode(), write_binary_aiger(network)):
        model = read_aiger(data)
        assert (model.input_names, model.output_names) == (network.input_names, network.output_names)
        np.testing.assert_array_equal(model.predict(X), network.predict(X))


def test_constants_repeated_outputs_and_gates_in_any_order():
    model = read_aiger(b"aag 5 2 0 5 2\n4\n2\n0\n1\n10\n10\n5\n10 8 4\n8 2 3\ni0 second\n")
    assert model.input_names == ("second", "x1")
    assert model.output_names == ("z0", "z1", "z2", "z3", "z4")
    expected = [[False, True, False, False, not first] for first in (False, True, False, True)]
    np.testing.assert_array_equal(model.predict(naive.every_pattern(2)), expected)


def test_long_chains_need_no_recursion():
    n = 20_000
    gates = "".join(f"{2 * v} {2 * v - 2} {2 * v - 2}\n" for v in range(n, 1, -1))
    model = read_aiger(f"aag {n} 1 0 1 {n - 1}\n2\n{2 * n}\n{gates}".encode())
    np.testing.assert_array_equal(model.predict([[0], [1]]).ravel(), [False, True])


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "ends where the header"),
        (b"aag 3 2 0 1 1", "middle of the header"),
        (b"hello\n", "expected a header"),
        (b"aag 3 2 0 1\n", "counts M I L O A"),
        (b"aag 3 2 0 1 x\n", "counts M I L O A"),
        (b"aag 3 2 0 01 1\n", "counts M I L O A"),
        (b"aag 3 2 1 1 0\n", "latches"),
        (b"aag 3 2 0 1 1 1\n", "latches"),
        (b"aag 3 2 0 1 2\n", "do not fit"),
        (b"aig 4 2 0 1 1\n7\n\x02\x02", "do not fit"),
        (b"aig 9999999999 9999999999 0 0 0\n", "at most"),
        (b"aag 1 1 0 9999999999 0\n", "at most"),
        (b"aig 4000000 0 0 0 4000000\n", "cut short"),
        (b"aag 3 2 0 1 1\n2\n4\n", "ends where an output"),
        (b"aag 3 2 0 1 1\n2\n4\n8\n6 4 2\n", "largest literal"),
        (b"aag 3 2 0 1 1\n3\n4\n6\n6 4 2\n", "complemented"),
        (b"aag 3 2 0 1 1\n2\n2\n6\n6 4 2\n", "already"),
        (b"aag 3 2 0 1 1\n2\n4\n6\n4 2 2\n", "already"),
        (b"aag 3 2 0 1 1\n2\n4\n6\n6 4\n", "3 whole numbers"),
        (b"aag 4 2 0 1 1\n2\n4\n6\n6 8 2\n", "not defined"),
        (b"aag 4 2 0 1 2\n2\n4\n6\n6 8 2\n8 6 2\n", "depends on itself"),
        (b"aag 2 1 0 1 1\n2\n4\n4 4 2\n", "depends on itself"),
        (b"aig 2 1 0 1 1\n4\n\x00\x02", "not below"),
        (b"aig 2 1 0 1 1\n4\n\x02\x7f", "not below"),
        (b"aig 2 1 0 1 1\n4\n\xff\xff\xff\xff\xff\xff\x01\x00", "binary form"),
        (NAND + b"i5 name\n", "symbol"),
        (NAND + b"i0 a\ni0 b\n", "symbol"),
        (NAND + b"junk\n", "symbol"),
        (NAND + b"i0 \xff\n", "UTF-8"),
        (NAND + b"c\ngradus-name: nothing\n", "gradus-name"),
    ],
)
def test_malformed_files_are_refused_with_the_reason(data, says):
    with pytest.raises(FormatError, match=says):
        read_aiger(data)


def test_an_output_that_nothing_defines_is_refused():
    with pytest.raises(FormatError, match="not defined"):
        read_aiger(b"aag 3 2 0 1 0\n2\n4\n6\n")


def test_an_aiger_file_is_a_problem(tmp_path):
    for name, data in (("n.aag", NAND), ("n.aig", b"aig 3 2 0 1 1\n7\n\x02\x02")):
        (tmp_path / name).write_bytes(data)
        assert problems.from_file(tmp_path / name).Y.ravel().tolist() == [True, True, True, False]


@pytest.mark.parametrize("network", CIRCUITS.values(), ids=CIRCUITS)
def test_every_kind_of_circuit_survives_a_round_trip(network):
    X = np.random.default_rng(1).integers(0, 2, (300, network.n_inputs)).astype(bool)
    for data in (write_aiger(network).encode(), write_binary_aiger(network)):
        model = read_aiger(data)
        assert (model.input_names, model.output_names) == (network.input_names, network.output_names)
        np.testing.assert_array_equal(model.predict(X), network.predict(X))
