"""Lgh in stages: with one target a stage it is the library's search; a stage blocks the next until all of it is learned."""

from __future__ import annotations

import numpy as np
import pytest

from gradus import problems
from gradus.lab import Job, Settings, make_network, run_search
from gradus_paper.execution import run_task
from gradus_paper.random_functions import random_functions
from gradus_paper.stages import search_in_stages
from gradus_paper.tasks import Design, Task


def job_of(name, size, seed=1, **settings):
    known = problems.load(name)
    rows = known.sample(size, seed)[0]
    return Job(X=known.X[rows], Y=np.ascontiguousarray(known.Y[rows]), settings=Settings(**settings), seed=seed)


@pytest.mark.parametrize(("name", "size"), [("add3", 30), ("cpar7", 70), ("sub5", 40), ("cmaj3", 5)])
def test_with_one_target_a_stage_it_is_the_search_of_the_library_move_by_move(name, size):
    job = job_of(name, size, max_iter=6000, n_restarts=2, history=40)
    ours, theirs = search_in_stages(job, [1] * job.Y.shape[1], 0.0), run_search(job)
    assert (ours.cost, ours.iterations, ours.restarts) == (theirs.cost, theirs.iterations, theirs.restarts)
    assert ours.live_gates == theirs.live_gates
    assert np.array_equal(ours.sources, theirs.sources)


def cost_in_stages(wrong, stages, allowed):
    """The slow twin: the errors of the first stage with a target that is not learned, and all examples of later targets."""
    begin, errors = 0, wrong.sum(axis=0)
    for size in stages:
        if (errors[begin : begin + size] > allowed).any():
            return int(errors[begin : begin + size].sum()) + len(wrong) * (wrong.shape[1] - begin - size)
        begin += size
    return 0


@pytest.mark.parametrize(("stages", "tolerance"), [([1, 2, 2], 0.0), ([5], 0.0), ([2, 3], 0.1), ([1] * 5, 0.2)])
def test_the_cost_of_the_network_found_is_that_of_the_slow_twin(stages, tolerance):
    for seed in range(3):
        job = job_of("sub5", 40, seed, max_iter=3000, n_restarts=0)
        found = search_in_stages(job, stages, tolerance)
        wrong = make_network(found, job.X.shape[1], tuple(range(5))).predict(job.X) != job.Y
        assert found.cost == cost_in_stages(wrong, stages, int(tolerance * len(wrong)))


def test_tied_targets_are_one_stage_and_a_tolerance_ends_the_search_with_errors_left():
    together = Design("disjoint1", settings=Settings(loss="lgh"), order="auto-together")
    row = run_task(Task(together, 40, 0))
    assert (row.converged, row.order) == (True, "auto-together")
    assert len(row.set_sizes) == 4
    noisy = Design("sub5", settings=Settings(loss="lgh", max_iter=200_000, n_restarts=0), noise=0.05, tolerance=0.4)
    assert run_task(Task(noisy, 52, 0)).converged


@pytest.mark.parametrize(("name", "sizes"), [("disjoint3", (3, 3, 3, 3)), ("nested3", (3, 5, 7, 9))])
def test_random_functions_depend_on_all_of_their_inputs(name, sizes):
    from gradus import find_curriculum

    known = random_functions(name)
    curriculum = find_curriculum(known.X, known.Y)
    assert curriculum.sizes == sizes
    assert curriculum.nestedness == float(name.startswith("nested"))
    assert random_functions("nested0") is None
    assert random_functions("add3") is None
