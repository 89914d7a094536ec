from __future__ import annotations

import numpy as np
import pytest
from circuits import CIRCUITS, random_network
from hypothesis import given, settings
from hypothesis import strategies as st

import gradus
import naive_problems as naive
from gradus import problems
from gradus._formats.blif import read_blif, write_blif
from gradus.errors import FormatError

HEAD = ".model m\n.inputs a b\n.outputs z\n"


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_written_network_is_read_back_as_the_same_function(seed):
    network = random_network(4, 8, 3, seed).with_names(["SK", "a b", "#", "d"], ["SK", "a b", "é"])
    model = read_blif(write_blif(network))
    assert (model.input_names, model.output_names) == (network.input_names, network.output_names)
    X = naive.every_pattern(4)
    np.testing.assert_array_equal(model.predict(X), network.predict(X))


def test_tables_say_where_a_wire_is_one_or_where_it_is_zero():
    text = (
        "# comment\n.model m\n.inputs a \\\n b\n.outputs on off no yes mid\n.names a b on\n1- 1 # row\n-1 1\n"
        ".names a b off\n11 0\n.names no\n.names yes\n1\n.names w a mid\n11 1\n.names b w\n0 1\n.end\n"
    )
    model = read_blif(text)
    a, b = naive.every_pattern(2).T
    expected = np.column_stack([a | b, ~(a & b), a & False, a | True, a & ~b])
    np.testing.assert_array_equal(model.predict(naive.every_pattern(2)), expected)


def test_annotations_of_delays_loads_and_areas_are_skipped():
    text = (
        ".model m\n.inputs a b\n.outputs z\n.default_input_arrival 0.00 0.00\n.input_arrival a 1.0 1.5 b\n"
        ".default_output_required 5 5\n.output_required z 4 4\n.default_input_drive 0.1 0.1\n.input_drive a 0.2 0.2\n"
        ".default_output_load 2\n.output_load z 2\n.default_max_input_load 9\n.max_input_load a 9\n.area 464\n"
        ".wire_load_slope 0.5\n.wire 0 1 \\\n 2 3\n.delay a INV 1 999 0.9 0.3 0.9 0.3\n"
        ".names a b z\n11 1\n.attr src top\n.cname gate\n.end\n"
    )
    assert read_blif(text).predict(naive.every_pattern(2)).ravel().tolist() == [False, False, False, True]


def test_long_chains_need_no_recursion():
    wires = "".join(f".names w{i + 1} w{i}\n1 1\n" for i in range(20_000))
    model = read_blif(f".model m\n.inputs w20000\n.outputs w0\n{wires}.end")
    np.testing.assert_array_equal(model.predict([[0], [1]]).ravel(), [False, True])


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("", None, "no .model"),
        (".inputs a\n", 1, "expected .model"),
        (HEAD, None, "not defined"),
        (HEAD + ".names a b z\n1 1\n", 5, "2 signs"),
        (HEAD + ".names a b z\n12 1\n", 5, "signs 0, 1 and -"),
        (HEAD + ".names a b z\n11 1\n00 0\n", 6, "all say"),
        (HEAD + ".names a b z\n11\n", 5, "2 signs"),
        (HEAD + "11 1\n", 4, "expected a keyword"),
        (HEAD + ".names a z\n1 1\n.names b z\n1 1\n", 6, "defined twice"),
        (HEAD + ".names b a\n1 1\n.names a z\n1 1\n", 4, "input 'a' is defined"),
        (HEAD + ".names q z\n1 1\n.names z q\n1 1\n", 4, "depends on itself"),
        (HEAD + ".names z z\n1 1\n", 4, "depends on itself"),
        (HEAD + ".names q z\n1 1\n", 4, "'q' is read"),
        (HEAD + ".latch a z 0\n", 4, "is not read"),
        (HEAD + ".exdc\n", 4, "is not read"),
        (HEAD + ".names\n", 4, "name of a wire"),
        (HEAD + ".end\n.model two\n", 5, "after .end"),
        (HEAD + ".model two\n", 4, "second .model"),
        (".model m\n.inputs a a\n.outputs z\n", None, "twice in .inputs"),
        (HEAD + ".names a b \\", 4, "middle of a line"),
    ],
)
def test_errors_name_file_and_line(text, line, says, tmp_path):
    path = tmp_path / "m.blif"
    path.write_text(text)
    with pytest.raises(FormatError, match=says) as caught:
        gradus.read_network(path)
    assert caught.value.line == line
    assert str(caught.value).startswith(str(path))


def test_a_blif_file_is_a_problem(tmp_path):
    path = tmp_path / "and.blif"
    path.write_text(HEAD + ".names a b z\n11 1\n.end\n")
    assert problems.from_file(path).Y.ravel().tolist() == [False, False, False, True]


@pytest.mark.parametrize("network", CIRCUITS.values(), ids=CIRCUITS)
def test_every_kind_of_circuit_survives_a_round_trip(network):
    X = np.random.default_rng(1).integers(0, 2, (300, network.n_inputs)).astype(bool)
    model = read_blif(write_blif(network))
    assert (model.input_names, model.output_names) == (network.input_names, network.output_names)
    np.testing.assert_array_equal(model.predict(X), network.predict(X))
