import numpy as np
import pandas as pd
import pytest

import gradus
from gradus.errors import ConflictError, DataError, GradusError, SettingsError

ALL = np.array([[i >> b & 1 for b in range(4)] for i in range(16)], bool)
SUM = np.array([[(i & 3) + (i >> 2) >> b & 1 for b in range(3)] for i in range(16)], bool)


def test_search_finds_a_network_that_is_right_on_every_example():
    result = gradus.search(ALL, SUM, order=None, seed=4)
    assert result.converged
    assert result.loss == 0
    assert np.array_equal(result.network.predict(ALL), SUM)
    assert result.live_gates == result.network.live.sum()
    assert result.curriculum is None


@pytest.mark.parametrize("order", [None, [2, 0, 1], "random", (1, 2, 0), np.array([0, 2, 1])])
def test_predictions_stay_in_the_callers_column_order(order):
    result = gradus.search(ALL, SUM, order=order, seed=4)
    assert np.array_equal(result.network.predict(ALL), SUM)
    assert sorted(result.order) == [0, 1, 2]
    assert all(isinstance(column, int) for column in result.order)


def test_the_same_call_twice_gives_the_same_network():
    one, other = (gradus.search(ALL, SUM, loss="lgh", order=None, seed=7) for _ in range(2))
    assert one.network == other.network
    assert one.iterations == other.iterations
    assert gradus.search(ALL, SUM, loss="lgh", order=None, seed=8).network != one.network


def test_the_loss_of_a_search_that_did_not_converge_is_the_public_loss():
    noise = np.random.default_rng(1).random((16, 3)) < 0.5
    for name in gradus.losses.LOSSES:
        result = gradus.search(ALL, noise, loss=name, order=[1, 2, 0], gates_per_target=1, max_iter=50, n_restarts=1)
        errors = (result.network.predict(ALL) ^ noise)[:, [1, 2, 0]]
        assert result.loss == pytest.approx(gradus.losses.by_name(name)(errors))
        assert not result.converged


def test_names_of_data_frames_become_names_of_the_network():
    X, Y = pd.DataFrame(ALL.astype(int), columns=list("abcd")), pd.DataFrame(SUM, columns=["s0", "s1", "carry"])
    network = gradus.search(X, Y, order=[2, 0, 1]).network
    assert network.input_names == ("a", "b", "c", "d")
    assert network.output_names == ("s0", "s1", "carry")
    assert np.array_equal(network.predict(ALL), SUM)


def test_a_single_target_may_be_one_dimensional_and_one_example_is_enough():
    assert gradus.search([[0], [1]], [1, 0], order=None).network.predict([[0], [1]]).ravel().tolist() == [True, False]
    assert gradus.search([[0]], [1], order=None, gates_per_target=1).converged


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": ALL.astype(float) * np.nan}, "X has a missing value in row 0, column 0"),
        ({"X": ALL * 2}, "X has the value 2 in row 1, column 0"),
        ({"Y": SUM * 3}, "Y has the value 3"),
        ({"X": ALL[:5]}, "X has 5 rows and Y has 16"),
        ({"X": ALL[:0], "Y": SUM[:0]}, "X has no rows"),
        ({"X": ALL[:, :0]}, "X has no columns"),
        ({"Y": SUM[:, :0]}, "Y has no columns"),
        ({"X": pd.DataFrame(ALL, columns=list("abca"))}, "X has two columns named 'a'"),
        ({"Y": np.zeros((16, 65))}, "there are 65 targets"),
        ({"gates_per_target": 0}, "gates_per_target is 0"),
        ({"max_iter": -1}, "max_iter is -1"),
        ({"n_restarts": -1}, "n_restarts is -1"),
        ({"time_limit": -1.0}, "time_limit is -1.0"),
        ({"time_limit": True}, "time_limit is True"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": 1.5}, "seed is 1.5"),
        ({"backend": "tpu"}, "backend is 'tpu'"),
        ({"order": [0, 0, 1]}, "order"),
        ({"order": [0, 1]}, "order"),
        ({"order": "backwards"}, "order"),
    ],
)
def test_bad_input_is_one_sentence_that_names_the_place(change, message):
    with pytest.raises((DataError, SettingsError), match=message) as caught:
        gradus.search(**({"X": ALL, "Y": SUM, "order": None} | change))
    assert isinstance(caught.value, GradusError)
    assert "\n" not in str(caught.value)


def test_conflicting_rows_are_refused_with_a_remedy_that_search_has():
    with pytest.raises(ConflictError, match=r"Rows 0 and 1 have the same inputs.* order=None") as caught:
        gradus.search([[0], [0]], [[0], [1]])
    assert "on_conflict" not in str(caught.value)
    assert not gradus.search([[0], [0]], [[0], [1]], order=None, max_iter=100, n_restarts=1).converged


@pytest.mark.parametrize("order", [None, "auto", "entropy", "random"])
def test_a_time_limit_of_zero_gives_a_network_at_once(order):
    result = gradus.search(ALL, SUM, order=order, gates_per_target=3, time_limit=0, seed=4)
    assert (result.stopped, result.converged, result.iterations) == (True, False, 0)
    assert result.network.predict(ALL).shape == SUM.shape
    errors = (result.network.predict(ALL) ^ SUM)[:, list(result.order)]
    assert result.loss == pytest.approx(gradus.losses.lgh(errors))


def test_a_callback_that_returns_true_stops_the_search_and_anything_else_does_not():
    noise = np.random.default_rng(1).random((16, 3)) < 0.5
    settings = {"order": None, "gates_per_target": 1, "max_iter": 100_000, "n_restarts": 0}
    assert not gradus.search(ALL, noise, callback=lambda progress: 1, **settings).stopped
    result = gradus.search(ALL, noise, callback=lambda progress: True, **settings)
    assert result.stopped
    assert 0 < result.iterations < 100_000
