"""`Model`: the same predictions from the estimator, from its file and from the command line."""

from __future__ import annotations

import csv
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gradus import BooleanNetworkClassifier, Network, export, read_network
from gradus._circuit.network import without_idle_inputs
from gradus._cli.main import run
from gradus._tables.encoding import TableColumn, TableEncoding
from gradus._tables.labels import TargetEncoding
from gradus._tables.model import Model, load
from gradus.errors import DataError, FormatError

THINGS = pd.DataFrame(
    [(size, colour, on) for size in (1.5, 2.5, 8.5, 9.5) for colour in ("red", "blue", "green") for on in (0, 1)],
    columns=["size", "colour", "on"],
)
KIND = pd.Series(
    ["big" if size > 5 else "odd" if colour == "red" else "small" for size, colour, _ in THINGS.to_numpy()], name="kind"
)
WARM = pd.Series([int(size > 5 and on == 1) for size, _, on in THINGS.to_numpy()], name="warm")
TARGETS = pd.concat([KIND, WARM], axis=1)


def fitted(y=TARGETS, **settings):
    return BooleanNetworkClassifier(**{"noise": 0, "random_state": 3, **settings}).fit(THINGS, y)


def predictions(path):
    with path.open() as file:
        return list(csv.reader(file))


@pytest.mark.parametrize("y", [KIND, WARM, TARGETS])
@pytest.mark.parametrize("n_circuits", [1, 3])
def test_an_estimator_its_file_and_the_command_line_predict_the_same(tmp_path, y, n_circuits):
    model = fitted(y, n_circuits=n_circuits)
    model.save(tmp_path / "m.json")
    new = THINGS.sample(frac=1, random_state=1)[["on", "colour", "size"]].assign(size=lambda table: table["size"] + 0.3)
    new.to_csv(tmp_path / "new.csv", index=False)
    wanted = model.predict(new[["size", "colour", "on"]])
    loaded = load(tmp_path / "m.json")
    assert loaded.predict(new).tolist() == wanted.tolist()
    assert loaded.predict(new.to_dict("list")).tolist() == wanted.tolist()
    assert loaded.predict(new[["size", "colour", "on"]].to_numpy()).tolist() == wanted.tolist()
    assert run(["predict", str(tmp_path / "m.json"), str(tmp_path / "new.csv"), "-o", str(tmp_path / "out.csv")]) == 0
    header, *rows = predictions(tmp_path / "out.csv")
    assert header == (["kind", "warm"] if y is TARGETS else [y.name])
    assert rows == [[str(label) for label in np.atleast_1d(row)] for row in wanted]
    mine, theirs = loaded.predict_proba(new), model.predict_proba(new[["size", "colour", "on"]])
    for one, other in zip(mine, theirs, strict=True):
        assert np.array_equal(one, other)


def test_gradus_learn_writes_the_network_of_the_estimator(tmp_path):
    pd.concat([THINGS, TARGETS], axis=1).to_csv(tmp_path / "things.csv", index=False)
    words = ["learn", str(tmp_path / "things.csv"), "--targets", "kind,warm", "--seed", "3", "--noise", "0", "--cv", "0"]
    assert run([*words, "-o", str(tmp_path / "cli.json")]) == 0
    model = fitted()
    model.save(tmp_path / "estimator.json")
    cli, estimator = load(tmp_path / "cli.json"), load(tmp_path / "estimator.json")
    assert cli.network == estimator.network == model.network_
    assert cli.features == estimator.features
    assert cli.targets == estimator.targets
    assert cli.about.pop("learned_from") == "things.csv"
    assert cli.about == estimator.about
    assert cli.predict(THINGS).tolist() == TARGETS.to_numpy(dtype=object).tolist()


def test_rules_are_true_statements_about_the_columns():
    rules = fitted().rules()
    assert list(rules) == ["kind = big", "kind = odd", "kind = small", "warm"]
    assert rules["kind = big"] == "size > 6"
    for k, row in THINGS.iterrows():
        for statement, formula in rules.items():
            target, _, label = statement.partition(" = ")
            truth = TARGETS[target][k] == (label or 1)
            assert holds(formula, row) == truth, (statement, formula)


def holds(formula, row):
    """Evaluate a rule as a reader would, product by product."""
    return any(all(_literal(word, row) for word in product.split(" & ")) for product in formula.split(" | "))


def _literal(text, row):
    if " " not in text:
        return bool(int(text)) if text in "01" else bool(row[text.lstrip("!")]) != text.startswith("!")
    name, sign, value = text.split(" ")
    actual = row[name]
    return {
        ">": lambda: actual > float(value),
        "<=": lambda: actual <= float(value),
        "=": lambda: actual == value,
        "!=": lambda: actual != value,
    }[sign]()


def test_names_that_are_not_plain_words_are_quoted_in_rules():
    frame = pd.DataFrame({"my size": [1, 5], "Cdc2/Cdc13*": ["low dose", "high"]})
    rules = BooleanNetworkClassifier(noise=0, random_state=0).fit(frame[["my size"]], ["no way", "yes"]).rules()
    assert rules == {"y = yes": '"my size" > 3'}
    rules = BooleanNetworkClassifier(noise=0, random_state=0).fit(frame[["Cdc2/Cdc13*"]], [0, 1]).rules()
    assert rules == {"y": '"Cdc2/Cdc13*" != "low dose"'}


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6))
def test_a_circuit_without_idle_inputs_computes_the_same_from_those_that_it_reads(seed):
    rng = np.random.default_rng(seed)
    gates, inputs = int(rng.integers(0, 6)), int(rng.integers(1, 9))
    sources = [rng.integers(0, inputs + g, 2).tolist() for g in range(gates)]
    network = Network(inputs, sources, rng.integers(0, inputs + gates, 2).tolist(), rng.integers(0, 16, gates).tolist())
    small = without_idle_inputs(network)
    X = rng.random((64, inputs)) < 0.5
    columns = [network.input_names.index(name) for name in small.input_names]
    assert (small.predict(X[:, columns]) == network.predict(X)).all()
    read = small.cone(range(2))[: small.n_inputs]
    assert read.all() or small.n_inputs == 1


def test_an_exported_model_has_no_inputs_of_its_voters(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({name: rng.normal(size=120).round(2) for name in "abc"})
    model = BooleanNetworkClassifier(n_circuits=5, random_state=0).fit(table, (table["a"] > 0) & (table["b"] > 0)).model_
    export(model, tmp_path / "circuit.blif")
    circuit = read_network(tmp_path / "circuit.blif")
    assert len(circuit.input_names) < model.network.n_inputs
    inputs = model.features.encode(table)[:, [model.network.input_names.index(name) for name in circuit.input_names]]
    assert (circuit.predict(inputs) == model.network.predict(model.features.encode(table))).all()


def test_a_plain_network_is_a_model_of_bits(tmp_path):
    network = Network(2, [[0, 1], [0, 0]], [2, 3])
    network.save(tmp_path / "plain.json")
    model = load(tmp_path / "plain.json")
    assert model.network == network
    assert model.predict([[0, 1], [1, 1]]).tolist() == [[1, 1], [0, 0]]
    assert model.predict({"x1": [1, 1], "x0": [0, 1]}).tolist() == [[1, 1], [0, 0]]
    assert model.rules() == {"z0": "!x0 | !x1", "z1": "!x0"}
    with pytest.raises(DataError, match="value 7"):
        model.predict([[0, 7]])


def test_a_model_survives_saving_with_all_its_circuits(tmp_path):
    first, second = Network(1, [[0, 0]], [1]), Network(1, [[0, 0], [1, 1]], [2])
    plain = Model.of_bits(first)
    model = Model((first, second, second), plain.features, plain.targets, {"rows": 7})
    model.save(tmp_path / "three.json")
    loaded = Model.load(tmp_path / "three.json")
    assert loaded.networks == model.networks
    assert loaded.about["rows"] == 7
    assert loaded.predict([[0], [1]]).tolist() == [0, 1]
    assert np.allclose(loaded.predict_proba([[0]]), [[2 / 3, 1 / 3]])
    assert Network.load(tmp_path / "three.json") == first
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "three.json").read_text()


Z0 = [{"name": "z0", "classes": [0, 1]}]


@pytest.mark.parametrize(
    ("about", "message"),
    [
        (7, "must be an object"),
        ({"version": 99}, "update Gradus"),
        ({"version": 3, "encoding": {}}, "version 3 and this Gradus reads version 6; learn it again"),
        ({"encoding": {}}, "version None and this Gradus reads version 6; learn it again"),
        ({"version": 6, "encoding": 3}, "features and targets"),
        ({"version": "x"}, "learn it again"),
        ({"version": 6, "encoding": {"features": [], "targets": []}}, "features and targets"),
        ({"version": 6, "encoding": {"features": [], "targets": Z0}}, "inputs of its network"),
        ({"version": 6, "encoding": {"features": 3, "targets": Z0}}, "list of columns"),
        ({"version": 6, "circuits": 3, "encoding": {"features": [], "targets": Z0}}, "circuits"),
        ({"version": 6, "circuits": [3], "encoding": {"features": [], "targets": Z0}}, "network"),
    ],
)
def test_files_that_are_not_models_are_refused_with_their_name(tmp_path, about, message):
    Network(1, [[0, 0]], [1]).save(tmp_path / "odd.json", about=about)
    with pytest.raises(FormatError, match=rf"odd\.json.*{message}"):
        load(tmp_path / "odd.json")


def test_labels_that_json_cannot_hold_are_refused_before_anything_is_written(tmp_path):
    model = fitted(WARM)
    odd = Model(model.model_.networks, model.model_.features, model.model_.targets[:1])
    object.__setattr__(odd, "targets", (type(odd.targets[0])("warm", (0j, 1j)),))
    with pytest.raises(DataError, match="neither a text nor a number"):
        odd.save(tmp_path / "m.json")
    assert not (tmp_path / "m.json").exists()


COLUMNS = (
    TableColumn("age", "above", (18, 65), missing=True),
    TableColumn("colour", "group", (("red",), ("blue", "green"), ("blue",)), others=True, missing=True),
    TableColumn("on", "bit"),
    TableColumn("size", "above", (2.5, 4), fill=3.0),
)
CELLS = {
    "age": ("", "10", "18", "18.5", "66"),
    "colour": ("", "red", "blue", "green", "white"),
    "on": ("0", "1"),
    "size": ("", "2", "2.5", "2.6", "5"),
}
CONDITION = re.compile(r"(\w+) (?:(<=|>|=|!=) ([\w.]+)|(not )?in \{([^}]*)\}|is (not )?(missing|another))")


def truth(formula, row):
    """Evaluate a rule of the columns above as a reader would, condition by condition."""

    def condition(match):
        name, sign, value, not_in, group, is_not, what = match.groups()
        cell = row[name] or ("3" if name == "size" else "")
        if what == "missing":
            found = (cell == "") != bool(is_not)
        elif what == "another":
            found = (cell not in ("", "red", "blue")) != bool(is_not)
        elif group is not None:
            found = (cell in group.split(", ")) != bool(not_in)
        elif sign in ("=", "!="):
            found = (cell == value) == (sign == "=")
        else:
            above = cell != "" and float(cell) > float(value)
            found = above if sign == ">" else cell != "" and not above
        return str(int(found))

    text = re.sub(r"\bon\b", row["on"], CONDITION.sub(condition, formula)).replace("!", "~")
    return bool(eval(text, {}) & 1)


@given(st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_rules_agree_with_the_circuit_on_missing_cells_groups_and_cuts(seed):
    rng = np.random.default_rng(seed)
    features = TableEncoding(COLUMNS)
    n, n_gates = len(features.input_names), 8
    sources = [rng.integers(0, n + gate, 2).tolist() for gate in range(n_gates)]
    outputs = rng.integers(n, n + n_gates, 2).tolist()
    names = {"input_names": features.input_names, "output_names": ["p", "q"]}
    network = Network(n, sources, outputs, rng.integers(0, 16, n_gates).tolist(), **names)
    model = Model((network,), features, (TargetEncoding("p", (0, 1)), TargetEncoding("q", (0, 1))))
    table = {name: rng.choice(cells, 40) for name, cells in CELLS.items()}
    wanted = network.predict(features.encode(table))
    assume(len(model.rules()) == 2)  # steps of long rules are tested with the statements
    for formula, column in zip(model.rules().values(), wanted.T, strict=True):
        found = [truth(formula, {name: table[name][i] for name in table}) for i in range(40)]
        assert found == column.tolist(), formula
