"""One circuit of many rows: a weighted sum in gates, and when it is kept."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradus import Network
from gradus._core.run import Run
from gradus._tables import voters, weighed
from gradus._tables.fit import FitSettings, fit_table
from gradus._tables.weighed import LEVELS, _circuit_of, _nodes, _vote


@st.composite
def sums(draw):
    """A few circuits on the same inputs, and a weight for each node after a constant."""
    n_inputs = draw(st.integers(1, 4))
    networks = []
    for _ in range(draw(st.integers(0, 3))):
        n_gates = draw(st.integers(0, 4))
        sources = [[draw(st.integers(0, n_inputs + gate - 1)) for _ in range(2)] for gate in range(n_gates)]
        functions = [draw(st.integers(0, 15)) for _ in range(n_gates)]
        networks.append(Network(n_inputs, sources, [n_inputs + n_gates - 1], functions))
    networks = networks or [Network(n_inputs, [], [0])]
    n_nodes = n_inputs + sum(one.n_gates for one in networks)
    weights = draw(st.lists(st.floats(-9, 9, width=32), min_size=n_nodes + 1, max_size=n_nodes + 1))
    return networks, np.array(weights)


@given(sums())
def test_the_circuit_says_whether_the_rounded_sum_is_positive(case):
    networks, weights = case
    n_inputs = networks[0].n_inputs
    rows = np.array(list(np.ndindex((2,) * n_inputs)), dtype=bool)
    vote = _vote(networks, weights)
    whole = dict(vote.parities)
    each = [whole.get((node,), 0) for node in range(n_inputs)] + list(vote.circuits)
    said = []
    for row in _nodes(networks, rows):
        total = vote.constant + sum(weight if true else -weight for weight, true in zip(each, row.tolist(), strict=True))
        assert total % 2  # no ties
        said.append(total > 0)
    assert _circuit_of(networks, weights).predict(rows)[:, 0].tolist() == said
    # Each weight is off by at most half a unit, and the constant by one and a half.
    unit = max(abs(weights[0] + weights[1:].sum() / 2), np.abs(weights[1:] / 2).max()) / LEVELS
    exact = weights[0] + _nodes(networks, rows) @ weights[1:]
    clear = np.abs(exact) > unit * (len(each) / 2 + 2)
    assert (np.array(said) == (exact > 0))[clear].all()


def few(monkeypatch):
    """Let tables of more than 800 rows be large ones, and lessons be short."""
    for module in (voters, weighed):
        monkeypatch.setattr(module, "MOST_ROWS", 800)
    monkeypatch.setattr(weighed, "READ", 1500)
    monkeypatch.setattr(weighed, "ASKED", 2000)
    monkeypatch.setattr(weighed, "LESSONS", 2)
    monkeypatch.setattr("gradus._tables.fit.LARGE_GROWTH", 20_000_000)


def rows_of(rule, seed, n=30_000):
    x = np.random.default_rng(seed).normal(size=(3, n))
    return {f"x{j}": column for j, column in enumerate(x)}, rule(x).astype(int)


def learned(rule, **settings):
    """Fit a table, and measure the model on other rows."""
    columns, y = rows_of(rule, 1)
    model = fit_table(columns, {"y": y}, FitSettings(n_circuits=1, seed=2, growth_work=0, **settings), Run())
    columns, y = rows_of(rule, 3)
    return model, float((model.predict(columns) == y).mean())


def test_a_smooth_boundary_becomes_a_sum_and_a_short_rule_stays_short(monkeypatch):
    few(monkeypatch)
    smooth, right = learned(lambda x: x[0] + x[1] + x[2] > 0.2)
    assert smooth.network.n_gates > 200
    assert right > 0.95
    short, right = learned(lambda x: (x[0] > 1) & (x[1] < 0.5))
    assert short.network.n_gates <= 5
    assert right > 0.97


@pytest.mark.parametrize("asked", [{"max_gates": 5}, {"gates": "nand"}, {"noise": 0.05, "max_gates": 3}])
def test_no_sum_where_something_else_is_asked_for(monkeypatch, asked):
    few(monkeypatch)
    monkeypatch.setattr(weighed, "learn_weighed", None)
    monkeypatch.setattr("gradus._tables.fit.learn_weighed", None)  # a call would raise
    model, _ = learned(lambda x: (x[0] > 1) & (x[1] < 0.5), **asked)
    assert model.network.n_gates < 200


def test_the_sum_is_the_same_for_any_number_of_jobs_and_order_of_rows(monkeypatch):
    few(monkeypatch)
    columns, y = rows_of(lambda x: x[0] + x[1] * x[2] > 0.2, 5)
    order = np.random.default_rng(0).permutation(len(y))
    shuffled = {name: column[order] for name, column in columns.items()}
    settings = FitSettings(n_circuits=1, seed=2, growth_work=0)
    one = fit_table(columns, {"y": y}, settings, Run(n_jobs=1))
    other = fit_table(shuffled, {"y": y[order]}, settings, Run(n_jobs=2))
    assert one.network == other.network
    assert one.features == other.features


def test_a_stop_leaves_the_usual_circuit(monkeypatch):
    few(monkeypatch)
    columns, y = rows_of(lambda x: x[0] + x[1] + x[2] > 0.2, 1)
    model = fit_table(columns, {"y": y}, FitSettings(n_circuits=1, seed=2, growth_work=0), Run(0.001))
    assert model.about["stopped"] == "time_limit"
