"""The paper's hierarchies of genes."""

from __future__ import annotations

from gradus._core.run import Run
from gradus.genes import ECOLI_SERIES, YEAST_SERIES
from gradus.genes._inference import find_hierarchies, nested_hierarchies
from gradus.genes._transitions import transitions


def hierarchies(series):
    moves = transitions(series)
    return moves, find_hierarchies(moves.X, moves.Y, Run())


def named(moves, found):
    return [
        ({moves.target_names[k] for k in nest.targets}, {tuple(moves.target_names[k] for k in edge) for edge in nest.edges})
        for nest in found
    ]


def test_the_yeast_series_has_the_two_hierarchies_of_the_paper():
    moves, found = hierarchies(YEAST_SERIES)
    together = [nest for nest in named(moves, found) if len(nest[0]) > 1]
    assert together == [
        ({"SK", "Ste9", "Rum1"}, {("SK", "Ste9"), ("SK", "Rum1")}),
        ({"PP", "Cdc2/Cdc13", "Cdc2/Cdc13*"}, {("PP", "Cdc2/Cdc13"), ("PP", "Cdc2/Cdc13*")}),
    ]
    assert {next(iter(names)) for names, _ in named(moves, found) if len(names) == 1} == {"Slp1", "Wee1/Mik1", "Cdc25"}
    for nest in found:
        if len(nest.targets) > 1:
            assert moves.target_names[nest.targets[0]] in ("SK", "PP")


def test_the_ecoli_series_has_the_hierarchy_of_the_paper():
    moves, found = hierarchies(ECOLI_SERIES)
    together = [nest for nest in named(moves, found) if len(nest[0]) > 1]
    assert together == [({"G2", "G8", "G6"}, {("G2", "G6"), ("G8", "G6")})]


def test_the_sets_are_those_that_the_paper_prints():
    moves, found = hierarchies(YEAST_SERIES)
    sets = {
        moves.target_names[k]: {moves.input_names[i] for i in features}
        for nest in found
        for k, features in zip(nest.targets, nest.feature_sets, strict=True)
    }
    assert sets["SK"] == {"start"}
    assert sets["Ste9"] == sets["Rum1"] == {"start", "PP"}
    assert sets["PP"] == {"Slp1"}
    assert sets["Cdc2/Cdc13"] == {"Ste9", "Slp1"}
    assert sets["Cdc2/Cdc13*"] == {"Slp1", "Wee1/Mik1"}


def test_sets_between_two_others_stand_between_them():
    found = nested_hierarchies([(0, 1, 2), (0,), (0, 1), (3,), ()])
    assert [nest.targets for nest in found] == [(1, 2, 0), (3,), (4,)]
    assert found[0].edges == ((1, 2), (2, 0))
