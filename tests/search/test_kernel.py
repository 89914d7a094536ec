"""The compiled search gives the networks, costs and step counts of its naive twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradus._circuit import Network
from gradus._search.driver import run_search
from gradus._search.job import Job, Settings, generator_state
from gradus.losses import LOSSES
from naive import NaiveSearch, live_gates

SIZES = (1, 2, 7, 30, 63, 64, 65, 128, 129, 256, 257, 513)
"""Examples on both sides of every change of compiled code: 1, 2, 4, 8 and any number of words."""


@st.composite
def problems(draw, sizes=SIZES):
    """Random examples, of a random network or noise, sometimes with repeated rows and constant columns."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, inputs, m = draw(st.sampled_from(sizes)), draw(st.integers(1, 6)), draw(st.integers(1, 5))
    X = rng.random((n, inputs)) < draw(st.sampled_from([0.5, 0.5, 0.1]))
    if draw(st.booleans()):
        gates = draw(st.integers(m, 8))
        sources = [rng.integers(0, inputs + g, 2) for g in range(gates)]
        return X, Network(inputs, sources, rng.integers(0, inputs + gates, m)).predict(X)
    return X, rng.random((n, m)) < 0.5


@st.composite
def searches(draw, **fixed):
    drawn = {
        "loss": draw(st.sampled_from(LOSSES)),
        "gates_per_target": draw(st.integers(1, 8)),
        "history": draw(st.integers(1, 20)),
        "max_iter": draw(st.integers(1, 200)),
        "n_restarts": draw(st.integers(0, 2)),
    }
    return drawn | fixed


def compare(X, Y, chosen, seed):
    found = run_search(Job(X, Y, Settings(**chosen), seed))
    naive = NaiveSearch(X, Y, words=generator_state(seed), **chosen)
    sources, cost, iterations, restarts = naive.run()
    assert found.sources.tolist() == sources
    assert (found.cost, found.iterations, found.restarts) == (cost, iterations, restarts)
    assert found.live_gates == len(live_gates(naive.l, sources, naive.outputs))
    assert found.converged == (cost == 0)


@settings(max_examples=250)
@given(problems(), searches(), st.integers(0, 2**40))
def test_the_kernel_gives_the_network_of_the_naive_search(examples, chosen, seed):
    compare(*examples, chosen, seed)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", [63, 64, 65, 128, 129, 513])
def test_every_loss_agrees_across_word_boundaries(loss, n):
    rng = np.random.default_rng(n)
    X = rng.random((n, 4)) < 0.5
    Y = np.c_[X[:, 0] & X[:, 1], X[:, 0] ^ X[:, 2], rng.random(n) < 0.5]
    chosen = {"loss": loss, "gates_per_target": 7, "history": 15, "max_iter": 300, "n_restarts": 1}
    compare(X, Y, chosen, seed=n)


@settings(max_examples=12)
@given(problems(sizes=(20, 70)), st.sampled_from(LOSSES), st.integers(0, 99))
def test_more_gates_than_a_word_of_the_bit_sets(examples, loss, seed):
    chosen = {"loss": loss, "gates_per_target": 80, "history": 10, "max_iter": 150, "n_restarts": 0}
    compare(*examples, chosen, seed)


def test_sixty_four_targets():
    rng = np.random.default_rng(5)
    X = rng.random((20, 6)) < 0.5
    for loss in LOSSES:
        chosen = {"loss": loss, "gates_per_target": 2, "history": 7, "max_iter": 150, "n_restarts": 0}
        compare(X, rng.random((20, 64)) < 0.5, chosen, 3)


@pytest.mark.parametrize(("rows", "gates_per_target"), [(1_000_000, 2), (3, 10_000)])
def test_the_largest_sizes_run(rows, gates_per_target):
    X = np.random.default_rng(0).random((rows, 3)) < 0.5
    chosen = Settings(loss="l1", gates_per_target=gates_per_target, max_iter=40, n_restarts=0)
    found = run_search(Job(X, X[:, :1] ^ X[:, 1:2], chosen, 1))
    network = Network(3, found.sources, [2 + len(found.sources)])
    assert found.cost == (network.predict(X) != (X[:, :1] ^ X[:, 1:2])).sum()
