"""Instances that brute force cannot solve: integer programming, planted sets, invariance and bounds under a time limit."""

from __future__ import annotations

import time

import numpy as np
import pytest

import gradus
from gradus._core.run import Run, Stopped
from gradus._curriculum import branch, solver
from gradus._curriculum.coded_examples import code_examples, code_inputs
from gradus._curriculum.masks import collect_masks, reduce_masks
from gradus._curriculum.solver import MASKS_KEPT, beam
from naive_minfs import is_feasible, milp_size, planted


@pytest.mark.parametrize(("rows", "columns", "values"), [(20, 14, 2), (24, 20, 3), (30, 40, 2), (40, 25, 2), (60, 16, 4)])
def test_sizes_are_those_of_integer_programming(rows, columns, values):
    rng = np.random.default_rng(rows)
    for _ in range(4):
        X, y = rng.integers(0, values, (rows, columns)), rng.integers(0, 2, rows)
        found = gradus.minimum_feature_set(X, y, on_conflict="ignore")
        assert found.optimal
        assert found.size == milp_size(X, y)


@pytest.mark.parametrize(("rows", "columns", "size"), [(300, 63, 4), (300, 64, 4), (300, 65, 4), (64, 130, 3), (2000, 40, 6)])
def test_planted_sets_are_found_and_proven(rows, columns, size):
    for seed in range(3):
        X, y, features = planted(rows, columns, size, seed)
        found = gradus.minimum_feature_set(X, y)
        assert found.optimal
        assert found.first
        assert is_feasible(X, y, found.features)
        # The function drawn may not depend on all of the columns that were planted.
        assert found.size <= size
        if found.size == size:
            assert gradus.all_minimum_feature_sets(X, y) == [features]


def test_permuting_rows_changes_nothing_and_permuting_columns_maps_every_set():
    rng = np.random.default_rng(3)
    for _ in range(40):
        X, y = rng.integers(0, 3, (40, 18)), rng.integers(0, 2, 40)
        everything = gradus.all_minimum_feature_sets(X, y)
        rows, columns = rng.permutation(40), rng.permutation(18)
        assert gradus.minimum_feature_set(X[rows], y[rows]) == gradus.minimum_feature_set(X, y)
        moved = gradus.all_minimum_feature_sets(X[:, columns], y)
        assert sorted(tuple(sorted(columns[list(features)].tolist())) for features in moved) == everything
        assert gradus.minimum_feature_set(X[:, columns], y).features == moved[0]


def test_a_duplicate_row_changes_nothing_and_a_new_row_never_makes_the_minimum_smaller():
    rng = np.random.default_rng(4)
    for _ in range(40):
        X, y = rng.integers(0, 2, (30, 20)), rng.integers(0, 2, 30)
        found = gradus.minimum_feature_set(X[:-1], y[:-1], on_conflict="ignore")
        again = np.append(np.arange(29), rng.integers(29))
        assert gradus.minimum_feature_set(X[again], y[again], on_conflict="ignore").features == found.features
        assert gradus.minimum_feature_set(X, y, on_conflict="ignore").size >= found.size


def test_a_copy_of_a_column_takes_its_place_in_every_set():
    rng = np.random.default_rng(5)
    X, y = rng.random((40, 12)) < 0.5, rng.random(40) < 0.5
    everything = gradus.all_minimum_feature_sets(X, y)
    copied = everything[0][0]
    with_copy = gradus.all_minimum_feature_sets(np.column_stack([X, ~X[:, copied]]), y)
    swapped = [tuple(sorted({*features, 12} - {copied})) for features in everything if copied in features]
    assert with_copy == sorted(everything + swapped)


@pytest.mark.parametrize("time_limit", [0, 0.3])
def test_a_time_limit_gives_a_feasible_set_and_a_valid_bound(time_limit):
    X, y, features = planted(100, 1000, 5, 1)
    started = time.monotonic()
    found = gradus.minimum_feature_set(X, y, time_limit=time_limit)
    assert time.monotonic() - started < time_limit + 5
    assert is_feasible(X, y, found.features)
    # With no time at all, how many sizes are refuted in the first compiled call depends on the machine.
    assert (3 if time_limit else 1) <= found.lower_bound <= len(features) <= found.size
    assert not found.optimal
    assert not found.first


def test_a_time_limit_gives_a_feasible_set_where_not_all_pairs_are_held():
    X, y, _ = planted(3000, 300, 9, 0)
    found = gradus.minimum_feature_set(X, y, time_limit=0.2)
    assert is_feasible(X, y, found.features)
    assert found.lower_bound <= found.size


def test_giving_up_the_proof_of_being_first_is_reported_and_affects_neither_the_size_nor_its_proof(monkeypatch):
    X, y, features = planted(80, 120, 5, 2)
    proven = gradus.minimum_feature_set(X, y)
    monkeypatch.setattr(branch, "ROUND_WORK", 1 << 12)
    monkeypatch.setattr(solver, "FIRST_WORK", 0)
    found = gradus.minimum_feature_set(X, y)
    assert (proven.first, found.first) == (True, False)
    assert found.optimal
    assert found.size == proven.size == len(features)
    assert is_feasible(X, y, found.features)


def test_every_beam_gives_a_feasible_set_and_wide_ones_give_smaller_sets_on_the_whole():
    sizes = {1: 0, 512: 0}
    for seed in range(4):
        X, y, _ = planted(80, 400, 5, seed)
        examples = code_examples(code_inputs(X), y)
        masks, _ = collect_masks(examples, keep=MASKS_KEPT, work=1 << 30, run=Run())
        cover = reduce_masks(masks, 400, Run())
        for width in sizes:
            found = beam(cover.covers, cover.n_pairs, width, longest=20, run=Run())
            assert is_feasible(X, y, cover.columns[list(found)])
            sizes[width] += len(found)
    assert sizes[512] < sizes[1]


def test_a_beam_gives_up_at_its_length_and_at_its_time_limit():
    covers = np.array([[0b01], [0b10]], dtype=np.uint64)
    assert beam(covers, 2, 1, longest=2, run=Run()) == (0, 1)
    assert beam(covers, 2, 1, longest=1, run=Run()) is None
    with pytest.raises(Stopped):
        beam(covers, 2, 1, longest=2, run=Run(0))
    assert beam(covers, 2, 1, longest=2, run=Run(0), grace=True) == (0, 1)


def test_more_masks_are_held_when_answers_keep_failing():
    """Random labels leave many almost feasible sets, so more masks have to be held until the answer is feasible."""
    rng = np.random.default_rng(8)
    X, y = rng.random((200, 30)) < 0.5, rng.random(200) < 0.5
    examples = code_examples(code_inputs(X), y)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solver, "MASKS_KEPT", 64)
        patch.setattr(solver, "MASKS_ADDED", 8)
        patched = solver.Solver(examples, Run())
        grown = patched.minimum()
    assert patched.keep > 64
    assert grown.features == gradus.minimum_feature_set(X, y).features


def test_the_masks_held_are_bounded_whatever_the_number_of_rows():
    X, y, _ = planted(3000, 100, 6, 0)
    examples = code_examples(code_inputs(X), y)
    masks, complete = collect_masks(examples, keep=100, work=1 << 22, run=Run())
    assert not complete
    assert 0 < len(masks) <= 2 * 100 + 3000


def test_columns_that_alone_separate_a_pair_are_all_forced_however_many_they_are():
    rng = np.random.default_rng(6)
    inputs = np.vstack([np.zeros((1, 300), dtype=bool), np.eye(300, dtype=bool), rng.random((20, 300)) < 0.5])
    X, y = np.hstack([rng.random((321, 30)) < 0.5, inputs]), np.arange(321) > 0
    X[:301, :30] = False
    assert gradus.minimum_feature_set(X, y).features == tuple(range(30, 330))
    assert gradus.all_minimum_feature_sets(X, y) == [tuple(range(30, 330))]
