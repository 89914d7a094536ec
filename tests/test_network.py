import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradus._network import Network
from gradus.errors import DataError, FormatError
from naive import live_gates, node_values


@st.composite
def networks(draw, names=True):
    n_inputs = draw(st.integers(1, 6))
    n_gates = draw(st.integers(0, 20))
    sources = [[draw(st.integers(0, n_inputs + g - 1)) for _ in range(2)] for g in range(n_gates)]
    outputs = draw(st.lists(st.integers(0, n_inputs + n_gates - 1), min_size=1, max_size=4))
    if not (names and draw(st.booleans())):
        return Network(n_inputs, sources, outputs)
    label = st.text(min_size=1, max_size=5)
    return Network(
        n_inputs,
        sources,
        outputs,
        input_names=draw(st.lists(label, min_size=n_inputs, max_size=n_inputs, unique=True)),
        output_names=draw(st.lists(label, min_size=len(outputs), max_size=len(outputs), unique=True)),
    )


def rows(n_inputs, n=70):
    return np.random.default_rng(n_inputs).random((n, n_inputs)) < 0.5


@given(networks(), st.sampled_from([1, 63, 64, 65, 130]))
def test_predict_agrees_with_gate_by_gate_evaluation(network, n):
    X = rows(network.n_inputs, n)
    assert np.array_equal(network.predict(X), node_values(X, network.sources.tolist())[:, network.outputs])


def test_predict_on_more_rows_than_are_packed_at_once():
    network = Network(2, [[0, 1]], [2])
    X = rows(2, 70_001)
    assert np.array_equal(network.predict(X)[:, 0], ~(X[:, 0] & X[:, 1]))


@given(networks())
def test_pruning_keeps_the_function_and_exactly_the_gates_that_count(network):
    pruned = network.prune()
    X = rows(network.n_inputs)
    assert np.array_equal(pruned.predict(X), network.predict(X))
    assert pruned.active.all()
    live = live_gates(network.n_inputs, network.sources.tolist(), network.outputs.tolist())
    assert pruned.n_gates == len(live) == network.active.sum()
    assert pruned.prune() == pruned
    assert pruned.depth == network.depth
    assert (pruned.input_names, pruned.output_names) == (network.input_names, network.output_names)


@given(networks())
def test_repr_and_json_and_pickle_give_the_same_value_back(network):
    assert eval(repr(network), {"Network": Network}) == network
    assert Network.from_json(network.to_json(about={"seed": 3})) == network
    again = pickle.loads(pickle.dumps(network))
    assert again == network
    assert hash(again) == hash(network)


def test_a_saved_network_loads_and_reads_like_a_circuit(tmp_path):
    network = Network(2, [[0, 1], [2, 2]], [3], input_names=["Cdc2/Cdc13*", "β"], output_names=["and"])
    network.save(tmp_path / "model.json", about={"order": [0]})
    assert Network.load(tmp_path / "model.json") == network
    document = json.loads((tmp_path / "model.json").read_text())
    assert document["gates"] == [[0, 1], [2, 2]]
    assert document["outputs"] == {"and": 3}
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]


def test_depth_counts_gates_on_the_longest_path_to_an_output():
    assert Network(2, [[0, 1], [2, 2], [0, 3], [0, 0]], [4, 5]).depth == 3
    assert Network(2, [], [0]).depth == 0


def test_a_network_cannot_be_changed():
    network = Network(2, [[0, 1]], [2])
    for array in (network.sources, network.outputs, network.active, pickle.loads(pickle.dumps(network)).sources):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(AttributeError):
        network.n_inputs = 3


def test_networks_with_other_wiring_or_names_differ():
    network = Network(2, [[0, 1]], [2])
    assert network != Network(2, [[1, 0]], [2])
    assert network != Network(2, [[0, 1]], [1])
    assert network != Network(3, [[0, 1]], [2])
    assert network != network.with_names(output_names=["sum"])
    assert network == network.with_names(["x0", "x1"], ["z0"])
    assert network != "a network"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((2, [[0, 2]], [2]), "gate 0 reads node 2, but a gate reads only nodes below its own"),
        ((2, [[0, -1]], [2]), "gate 0 reads node -1"),
        ((2, [[0, 1]], [3]), "output 0 is node 3, but the nodes are 0 to 2"),
        ((2, [[0.5, 1]], [2]), "two integer node ids"),
        ((2, [0, 1, 1], [2]), "two integer node ids"),
        ((2, [[0, 1]], [[2]]), "a list of integer node ids"),
        ((-1, [], []), "cannot be negative"),
    ],
)
def test_impossible_wiring_is_refused_with_its_place(arguments, message):
    with pytest.raises(DataError, match=message):
        Network(*arguments)


def test_names_must_fit_and_be_unique():
    with pytest.raises(DataError, match="1 input names for 2 inputs"):
        Network(2, [], [0], input_names=["a"])
    with pytest.raises(DataError, match="two columns named 'a'"):
        Network(2, [], [0], input_names=["a", "a"])


def test_predict_wants_a_column_for_each_input():
    with pytest.raises(DataError, match="X has 3 columns, but the network reads 2 inputs"):
        Network(2, [], [0]).predict([[0, 1, 1]])


GOOD = {"format": "gradus-network", "version": 1, "inputs": ["a"], "gates": [[0, 0]], "outputs": {"z": 1}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1: not JSON"),
        ("{\n  nonsense", "line 2, column 3: not JSON"),
        ("[1]", "not a Gradus network"),
        (json.dumps(GOOD | {"version": 99}), "version 99 and this Gradus reads up to version 1; update Gradus"),
        (json.dumps(GOOD | {"version": "1"}), "expected a whole number"),
        (json.dumps(GOOD | {"inputs": "a"}), "'inputs' must be a list of names"),
        (json.dumps(GOOD | {"gates": [[0]]}), "'gates' must be a list of pairs"),
        (json.dumps(GOOD | {"gates": [[0, 10**30]]}), "'gates' must be a list of pairs"),
        (json.dumps(GOOD | {"gates": [[0, 5]]}), "gate 0 reads node 5"),
        (json.dumps(GOOD | {"outputs": {"z": True}}), "'outputs' must map"),
        (json.dumps(GOOD).replace('"z": 1', '"z": 1, "z": 0'), "the name 'z' stands twice"),
        ("[" * 100_000, "not a Gradus network|not JSON"),
    ],
)
def test_a_file_that_is_no_network_is_refused_with_its_place(tmp_path, text, message):
    path = tmp_path / "model.json"
    path.write_text(text)
    with pytest.raises(FormatError, match=message) as caught:
        Network.load(path)
    assert str(path) in str(caught.value)


def test_a_missing_or_binary_file_and_an_unwritable_place_are_refused(tmp_path):
    with pytest.raises(FormatError, match="cannot be read"):
        Network.load(tmp_path / "none.json")
    (tmp_path / "junk.json").write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(FormatError, match="cannot be read"):
        Network.load(tmp_path / "junk.json")
    with pytest.raises(FormatError, match="cannot be written"):
        Network(1, [], [0]).save(tmp_path / "no folder" / "model.json")
