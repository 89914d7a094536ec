import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from gradus import losses
from gradus._search.job import largest_cost
from gradus.errors import DataError, SettingsError
from naive import integer_cost

ERRORS = arrays(np.bool_, array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=9))
EVERY_LOSS = pytest.mark.parametrize("name", losses.LOSSES)


@EVERY_LOSS
@given(E=ERRORS)
def test_every_loss_is_zero_exactly_when_all_outputs_are_right(name, E):
    assert (losses.by_name(name)(E) == 0) == (not E.any())


@EVERY_LOSS
@given(E=ERRORS)
def test_all_wrong_is_one_and_nothing_is_above_it(name, E):
    loss = losses.by_name(name)
    assert loss(np.ones_like(E)) == pytest.approx(1)
    assert 0 <= loss(E) <= 1 + 1e-12


@EVERY_LOSS
@given(E=ERRORS, data=st.data())
def test_one_more_error_never_lowers_the_loss(name, E, data):
    more = E.copy()
    more[data.draw(st.integers(0, E.shape[0] - 1)), data.draw(st.integers(0, E.shape[1] - 1))] = True
    loss = losses.by_name(name)
    assert loss(more) >= loss(E) - 1e-12


@given(E=ERRORS)
def test_the_local_hierarchy_follows_its_recurrence(E):
    n, m = E.shape
    total = 0
    for row in E:
        wrong = False
        for k in range(m):
            wrong = wrong or row[k]
            total += wrong
    assert losses.llh(E) == pytest.approx(total / (n * m))


@given(E=ERRORS)
def test_the_global_hierarchy_follows_its_recurrence(E):
    n, m = E.shape
    total, all_right = 0, True
    for k in range(m):
        total += E[:, k].sum() if all_right else n
        all_right = all_right and not E[:, k].any()
    assert losses.lgh(E) == pytest.approx(total / (n * m))


@EVERY_LOSS
@given(E=ERRORS)
def test_the_integer_cost_is_the_loss_before_it_is_divided(name, E):
    n, m = E.shape
    assert integer_cost(name, E) / largest_cost(name, m, n) == pytest.approx(losses.by_name(name)(E))


def test_an_unknown_loss_is_refused_by_name():
    with pytest.raises(SettingsError, match=f"loss is 'l2'; it must be one of {', '.join(losses.LOSSES)}"):
        losses.by_name("l2")


def test_a_matrix_without_targets_is_refused():
    with pytest.raises(DataError, match="no columns"):
        losses.l1(np.zeros((3, 0)))
