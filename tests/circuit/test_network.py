import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradus._circuit import Network
from gradus.errors import DataError, FormatError
from naive import live_gates
from naive import node_values as nand_values


def naive_values(X, network):
    """Value of every node on every row, one row and one gate at a time, from the definition of a truth table."""
    table = []
    for row in X.astype(int).tolist():
        values = list(row)
        for function, (a, b) in zip(network.functions.tolist(), network.sources.tolist(), strict=True):
            values.append(function >> (2 * values[a] + values[b]) & 1)
        table.append(values)
    return np.array(table, dtype=bool)


def matters(network, gate, source):
    """Whether flipping a source (at both pins, if it is read twice) changes the gate for some values."""
    a, b = network.sources[gate].tolist()
    function = int(network.functions[gate])
    cells = [(x, y) for x in (0, 1) for y in (0, 1) if a != b or x == y]
    return any(
        function >> (2 * x + y) & 1 != function >> (2 * (x ^ (a == source)) + (y ^ (b == source))) & 1 for x, y in cells
    )


def naive_live(network):
    """Gates that some output depends on, by a walk from the outputs over the sources that matter."""
    found, todo = set(), network.outputs.tolist()
    while todo:
        gate = todo.pop() - network.n_inputs
        if gate >= 0 and gate not in found:
            found.add(gate)
            todo += [source for source in network.sources[gate].tolist() if matters(network, gate, source)]
    return found


@st.composite
def networks(draw, names=True, functions=True):
    n_inputs = draw(st.integers(1, 6))
    n_gates = draw(st.integers(0, 20))
    tables = draw(st.none() | st.lists(st.integers(0, 15), min_size=n_gates, max_size=n_gates)) if functions else None
    sources = [[draw(st.integers(0, n_inputs + g - 1)) for _ in range(2)] for g in range(n_gates)]
    outputs = draw(st.lists(st.integers(0, n_inputs + n_gates - 1), min_size=1, max_size=4))
    if not (names and draw(st.booleans())):
        return Network(n_inputs, sources, outputs, tables)
    label = st.text(min_size=1, max_size=5)
    return Network(
        n_inputs,
        sources,
        outputs,
        tables,
        input_names=draw(st.lists(label, min_size=n_inputs, max_size=n_inputs, unique=True)),
        output_names=draw(st.lists(label, min_size=len(outputs), max_size=len(outputs), unique=True)),
    )


def all_rows(n_inputs):
    return (np.arange(1 << n_inputs)[:, np.newaxis] >> np.arange(n_inputs) & 1).astype(bool)


def rows(n_inputs, n=70):
    return np.random.default_rng(n_inputs).random((n, n_inputs)) < 0.5


@given(networks(), st.sampled_from([1, 63, 64, 65, 130]))
def test_predict_agrees_with_gate_by_gate_evaluation(network, n):
    X = rows(network.n_inputs, n)
    assert np.array_equal(network.predict(X), naive_values(X, network)[:, network.outputs])


@given(networks(functions=False), st.sampled_from([1, 63, 64, 65]))
def test_gates_are_nand_if_no_functions_are_given(network, n):
    X = rows(network.n_inputs, n)
    assert (network.functions == 7).all()
    assert np.array_equal(network.predict(X), nand_values(X, network.sources.tolist())[:, network.outputs])
    live = live_gates(network.n_inputs, network.sources.tolist(), network.outputs.tolist())
    assert len(live) == network.live.sum()


NAMED = {
    "and": (8, lambda a, b: a & b), "nand": (7, lambda a, b: ~(a & b)), "or": (14, lambda a, b: a | b),
    "nor": (1, lambda a, b: ~(a | b)), "xor": (6, lambda a, b: a ^ b), "xnor": (9, lambda a, b: ~(a ^ b)),
    "!a": (3, lambda a, b: ~a), "!b": (5, lambda a, b: ~b), "a": (12, lambda a, b: a), "b": (10, lambda a, b: b),
    "0": (0, lambda a, b: a & False), "1": (15, lambda a, b: a | True), "a & !b": (4, lambda a, b: a & ~b),
    "!a & b": (2, lambda a, b: ~a & b), "a | !b": (13, lambda a, b: a | ~b), "!a | b": (11, lambda a, b: ~a | b),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_the_number_of_a_function_is_its_truth_table_and_files_have_its_name(name):
    number, meaning = NAMED[name]
    network = Network(2, [[0, 1]], [2], [number])
    X = rows(2, 65)
    assert np.array_equal(network.predict(X)[:, 0], meaning(X[:, 0], X[:, 1]))
    assert json.loads(network.to_json())["gates"] == [[name, 0, 1]]


def test_predict_on_more_rows_than_are_packed_at_once():
    network = Network(2, [[0, 1]], [2])
    X = rows(2, 70_001)
    assert np.array_equal(network.predict(X)[:, 0], ~(X[:, 0] & X[:, 1]))


@given(networks())
def test_dropping_dead_gates_keeps_the_function_and_exactly_the_live_gates(network):
    pruned = network.prune(absorb=False)
    X = rows(network.n_inputs)
    assert np.array_equal(pruned.predict(X), network.predict(X))
    assert set(np.flatnonzero(network.live)) == naive_live(network)
    assert pruned.live.all()
    assert np.array_equal(pruned.functions, network.functions[network.live])
    assert pruned.prune(absorb=False) == pruned
    assert pruned.depth == network.depth
    assert (pruned.input_names, pruned.output_names) == (network.input_names, network.output_names)


@given(networks())
def test_pruning_leaves_gates_of_two_nodes_and_those_that_outputs_need(network):
    pruned = network.prune()
    X = all_rows(network.n_inputs)
    assert np.array_equal(pruned.predict(X), network.predict(X))
    assert pruned.live.all()
    assert pruned.n_gates <= network.live.sum() + 2  # an output may need a constant or a NOT of its own
    read = {source for pair in pruned.sources.tolist() for source in pair}
    for gate, (function, (a, b)) in enumerate(zip(pruned.functions.tolist(), pruned.sources.tolist(), strict=True)):
        if a != b:
            assert matters(pruned, gate, a)
            assert matters(pruned, gate, b)
            continue
        node = pruned.n_inputs + gate
        assert node in pruned.outputs
        if function == 3:  # a NOT: its source is an input, or an output too
            assert a < pruned.n_inputs or a in pruned.outputs
        else:
            assert (function in (0, 15), a) == (True, 0)
        assert node not in read
    assert pruned.prune() == pruned
    assert pruned.depth <= network.depth
    assert (pruned.input_names, pruned.output_names) == (network.input_names, network.output_names)


@given(networks())
def test_to_nand_is_equivalent_and_returns_nand_networks_unchanged(network):
    nands = network.to_nand()
    X = all_rows(network.n_inputs)
    assert (nands.functions == 7).all()
    assert np.array_equal(nands.predict(X), network.predict(X))
    assert nands.to_nand() is nands
    if (network.functions == 7).all():
        assert nands is network
    else:
        assert nands.live.all()
    assert (nands.input_names, nands.output_names) == (network.input_names, network.output_names)


@pytest.mark.parametrize(("function", "gates"), list(enumerate([3, 4, 3, 1, 3, 1, 4, 1, 2, 5, 0, 2, 0, 2, 3, 2])))
def test_each_gate_becomes_few_nands(function, gates):
    assert Network(2, [[0, 1]], [2], [function]).to_nand().n_gates == gates


def test_pruning_a_circuit_by_hand():
    # Two inverters into a NAND are an OR; an XOR with a constant 1 is an inverter; a buffer is a wire.
    network = Network(2, [[0, 0], [1, 1], [2, 3], [4, 4], [4, 5], [6, 1], [6, 0]], [4, 6, 7], [7, 7, 7, 15, 6, 12, 8])
    assert network.prune() == Network(2, [[0, 1], [2, 2]], [2, 3, 3], [14, 3])
    # An inverted output becomes a complemented gate, and its readers adapt.
    assert Network(2, [[0, 1], [2, 2], [2, 0]], [3, 4], [8, 3, 14]).prune() == Network(2, [[0, 1], [0, 2]], [2, 3], [7, 13])
    # Outputs can become inputs, and constants survive, one gate each.
    assert Network(2, [[0, 0], [2, 2]], [3]).prune() == Network(2, [], [0])
    assert Network(2, [[0, 0], [2, 0]], [3, 2, 3], [3, 8]).prune() == Network(2, [[0, 0], [0, 0]], [2, 3, 2], [0, 3])


@given(networks())
def test_repr_json_and_pickle_give_back_an_equal_network(network):
    if network.n_gates <= 8:
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
    assert document["gates"] == [["nand", 0, 1], ["nand", 2, 2]]
    assert document["outputs"] == {"and": 3}
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]


def test_depth_counts_gates_on_the_longest_path_to_an_output():
    assert Network(2, [[0, 1], [2, 2], [0, 3], [0, 0]], [4, 5]).depth == 3
    assert Network(2, [], [0]).depth == 0


def test_a_network_cannot_be_changed():
    network = Network(2, [[0, 1]], [2])
    for array in (
        network.sources,
        network.outputs,
        network.functions,
        network.live,
        pickle.loads(pickle.dumps(network)).sources,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(AttributeError):
        network.n_inputs = 3


def test_networks_with_different_wiring_or_names_are_not_equal():
    network = Network(2, [[0, 1]], [2])
    assert network != Network(2, [[1, 0]], [2])
    assert network != Network(2, [[0, 1]], [1])
    assert network != Network(2, [[0, 1]], [2], [8])
    assert network == Network(2, [[0, 1]], [2], [7])
    assert hash(network) != hash(Network(2, [[0, 1]], [2], [8]))
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
        ((2, [[0, 1]], [2], [16]), "gate 0 has the function 16; a function is a number from 0 to 15"),
        ((2, [[0, 1]], [2], [-1]), "gate 0 has the function -1"),
        ((2, [[0, 1]], [2], [7, 7]), "a whole number for each of the 1 gates"),
        ((2, [[0, 1]], [2], [0.5]), "a whole number for each of the 1 gates"),
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


def test_predict_needs_one_column_per_input():
    with pytest.raises(DataError, match="X has 3 columns, but the network reads 2 inputs"):
        Network(2, [], [0]).predict([[0, 1, 1]])


def test_a_long_network_has_a_short_repr():
    assert repr(Network(12, [[0, 1]] * 24, [12])) == "Network(12 inputs, 24 gates, 1 output)"


def test_files_of_version_1_are_read_as_nand_networks(tmp_path):
    (tmp_path / "old.json").write_text(json.dumps(GOOD | {"reads_as": "whatever", "about": {}}))
    assert Network.load(tmp_path / "old.json") == Network(1, [[0, 0]], [1], input_names=["a"], output_names=["z"])


GOOD = {"format": "gradus-network", "version": 1, "inputs": ["a"], "gates": [[0, 0]], "outputs": {"z": 1}}
GOOD_2 = GOOD | {"version": 2, "gates": [["xor", 0, 0]]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1: not JSON"),
        ("{\n  nonsense", "line 2, column 3: not JSON"),
        ("[1]", "not a Gradus network"),
        (json.dumps(GOOD | {"version": 99}), "version 99 and this Gradus reads up to version 2; update Gradus"),
        (json.dumps(GOOD | {"version": "1"}), "expected a whole number"),
        (json.dumps(GOOD | {"inputs": "a"}), "'inputs' must be a list of names"),
        (json.dumps(GOOD | {"gates": [[0]]}), "'gates' must be a list of pairs"),
        (json.dumps(GOOD | {"gates": [[0, 10**30]]}), "'gates' must be a list of pairs"),
        (json.dumps(GOOD | {"gates": [[0, 5]]}), "gate 0 reads node 5"),
        (json.dumps(GOOD | {"outputs": {"z": True}}), "'outputs' must map"),
        (json.dumps(GOOD_2 | {"gates": [[0, 0]]}), "'gates' must be a list of gates such as"),
        (json.dumps(GOOD_2 | {"gates": [["xor", 0]]}), "'gates' must be a list of gates such as"),
        (json.dumps(GOOD_2 | {"gates": ["xor"]}), "'gates' must be a list of gates such as"),
        (
            json.dumps(GOOD_2 | {"gates": [["majority", 0, 0]]}),
            "gate 0 has the unknown function 'majority'; use one of 0, nor",
        ),
        (json.dumps(GOOD_2 | {"gates": [[6, 0, 0]]}), "gate 0 has the unknown function 6"),
        (json.dumps(GOOD_2 | {"gates": [["xor", 0, 1]]}), "gate 0 reads node 1"),
        (json.dumps(GOOD).replace('"z": 1', '"z": 1, "z": 0'), "the name 'z' occurs twice"),
        ("[" * 100_000, "not a Gradus network|not JSON"),
    ],
)
def test_an_invalid_network_file_is_refused_with_the_place(tmp_path, text, message):
    path = tmp_path / "model.json"
    path.write_text(text)
    with pytest.raises(FormatError, match=message) as caught:
        Network.load(path)
    assert str(path) in str(caught.value)


def test_a_missing_or_binary_file_and_an_unwritable_place_are_refused(tmp_path):
    with pytest.raises(FormatError, match="cannot be read"):
        Network.load(tmp_path / "none.json")
    with pytest.raises(FormatError, match="cannot be written"):
        Network(1, [], [0]).save(tmp_path / "no folder" / "model.json")
